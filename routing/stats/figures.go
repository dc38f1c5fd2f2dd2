package stats

import (
	"maps"

	"github.com/switchback-ci/switchback/routing"
)

// Figures are counts over what was recorded. All of them are additive.
type Figures struct {
	Cases     int // streams in which anything of it occurred
	Runs      int // runs that were analyzed, each attempt for itself
	Decisions map[routing.Kind]int
	Saved     int // fix attempts that were left when attempts stopped for want of progress
	Undone    int // attempts that a person's answer undid
	Flaky     int // runs that gave evidence of flakiness

	PreExisting int // failures of runs that stand on the base too
	Quarantined int // failures of runs that did not count

	// Failing is how many failing runs the rules acted upon (returned for a fix, or
	// escalated), and Wrong of how many of these a person said that they
	// were taken for the wrong class.
	Failing, Wrong int

	// Followed is how many retries were followed by a run of another commit,
	// and Unchanged how many of these had the very same failures.
	Followed, Unchanged int

	// A streak begins with an attempt that failed, on a checkpoint that was green or
	// new, and ends with the next green one. Everything about it belongs to where
	// it began. A streak that is neither green nor escalated is open.
	Streaks     int
	Green       int // that ended green
	Unescalated int // of those: without an escalation or an answer
	Escalated   int // or answered by a person; green or not

	Attempts Spread // retries until green, of those that ended green
	Time     Spread // seconds until green, as Rounded
	First    int    // runs that passed with no open streak

	// By checkpoint of a case, whether its newest feedback was effective.
	Effective, Ineffective, NoFeedback int
}

// Retries returns how often work was returned for a fix.
func (f *Figures) Retries() int { return f.Decisions[routing.KindRetry] }

// Escalations returns how many escalations opened.
func (f *Figures) Escalations() int {
	n := 0
	for k, x := range f.Decisions {
		if k.Escalates() {
			n += x
		}
	}
	return n
}

// UnescalatedShare returns the share of settled streaks, in whole percent rounded
// down, that were fixed without an escalation. A streak is settled if it is green
// or escalated. ok is false if none is.
func (f *Figures) UnescalatedShare() (percent int, ok bool) {
	return share(f.Unescalated, f.Unescalated+f.Escalated)
}

// UnchangedShare returns the share of retries that changed nothing.
func (f *Figures) UnchangedShare() (percent int, ok bool) { return share(f.Unchanged, f.Followed) }

// Precision returns the share of failing runs of which nobody said that they
// were taken for the wrong class.
func (f *Figures) Precision() (percent int, ok bool) { return share(f.Failing-f.Wrong, f.Failing) }

func share(part, all int) (percent int, ok bool) {
	if all == 0 {
		return 0, false
	}
	return part * 100 / all, true
}

// decide counts a decision n times.
func (f *Figures) decide(k routing.Kind, n int) {
	if f.Decisions == nil {
		f.Decisions = map[routing.Kind]int{}
	}
	if f.Decisions[k] += n; f.Decisions[k] == 0 {
		delete(f.Decisions, k)
	}
}

// merge adds o.
func (f *Figures) merge(o *Figures) {
	for _, x := range []struct {
		to   *int
		from int
	}{
		{&f.Cases, o.Cases}, {&f.Runs, o.Runs}, {&f.Undone, o.Undone}, {&f.Saved, o.Saved}, {&f.Flaky, o.Flaky}, {&f.PreExisting, o.PreExisting}, {&f.Quarantined, o.Quarantined}, {&f.Failing, o.Failing}, {&f.Wrong, o.Wrong},
		{&f.Followed, o.Followed}, {&f.Unchanged, o.Unchanged}, {&f.Streaks, o.Streaks}, {&f.Green, o.Green}, {&f.Unescalated, o.Unescalated},
		{&f.Escalated, o.Escalated}, {&f.First, o.First}, {&f.Effective, o.Effective}, {&f.Ineffective, o.Ineffective}, {&f.NoFeedback, o.NoFeedback},
	} {
		*x.to += x.from
	}
	for k, n := range o.Decisions {
		f.decide(k, n)
	}
	f.Attempts.merge(o.Attempts)
	f.Time.merge(o.Time)
}

// empty reports whether nothing is counted.
func (f *Figures) empty() bool {
	return f.Cases == 0 && f.Runs == 0 && len(f.Decisions) == 0 && f.Streaks == 0 && f.Failing == 0 && f.Undone == 0 &&
		f.Followed == 0 && f.Effective+f.Ineffective+f.NoFeedback == 0
}

// clone returns a copy that shares nothing.
func (f *Figures) clone() *Figures {
	out := *f
	out.Decisions, out.Attempts.counts, out.Time.counts = maps.Clone(f.Decisions), maps.Clone(f.Attempts.counts), maps.Clone(f.Time.counts)
	return &out
}
