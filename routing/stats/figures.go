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
	TakenBack int // turns that a human's answer took back
	Flaky     int // runs that gave evidence of flakiness

	// Failing is how many failing runs the rules acted upon (returned for a fix, or
	// called a human for), and Wrong of how many of these a human said that they
	// were taken for the wrong class.
	Failing, Wrong int

	// Followed is how many hand-backs were followed by a turn on another commit,
	// and Unchanged how many of these had the very same failures.
	Followed, Unchanged int

	// A trouble begins with a turn that failed, on a checkpoint that was green or
	// new, and ends with the next green one. Everything about it belongs to where
	// it began. Troubles that are neither green nor called for a human are open.
	Troubles int
	Green    int // that ended green
	Alone    int // of those: without any human, called or not
	Called   int // that called a human, or in which one acted; green or not

	Turns Spread // hand-backs until green, of those that ended green
	Time  Spread // seconds until green, as Rounded
	First int    // runs that passed with no trouble before

	// By checkpoint of a case, whether its newest feedback was effective.
	Effective, Ineffective, NoFeedback int
}

// Reworks returns how often work was returned for a fix.
func (f *Figures) Reworks() int { return f.Decisions[routing.KindRetry] }

// Escalations returns how often a human was called.
func (f *Figures) Escalations() int {
	n := 0
	for k, x := range f.Decisions {
		if k.Escalates() {
			n += x
		}
	}
	return n
}

// AloneShare returns the share of settled troubles, in whole percent rounded
// down, that were fixed without a human. A trouble is settled if it is green
// or has called a human. ok is false if none is.
func (f *Figures) AloneShare() (percent int, ok bool) { return share(f.Alone, f.Alone+f.Called) }

// UnchangedShare returns the share of hand-backs that changed nothing.
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
		{&f.Cases, o.Cases}, {&f.Runs, o.Runs}, {&f.TakenBack, o.TakenBack}, {&f.Flaky, o.Flaky}, {&f.Failing, o.Failing}, {&f.Wrong, o.Wrong},
		{&f.Followed, o.Followed}, {&f.Unchanged, o.Unchanged}, {&f.Troubles, o.Troubles}, {&f.Green, o.Green}, {&f.Alone, o.Alone},
		{&f.Called, o.Called}, {&f.First, o.First}, {&f.Effective, o.Effective}, {&f.Ineffective, o.Ineffective}, {&f.NoFeedback, o.NoFeedback},
	} {
		*x.to += x.from
	}
	for k, n := range o.Decisions {
		f.decide(k, n)
	}
	f.Turns.merge(o.Turns)
	f.Time.merge(o.Time)
}

// empty reports whether nothing is counted.
func (f *Figures) empty() bool {
	return f.Cases == 0 && f.Runs == 0 && len(f.Decisions) == 0 && f.Troubles == 0 && f.Failing == 0 && f.TakenBack == 0 &&
		f.Followed == 0 && f.Effective+f.Ineffective+f.NoFeedback == 0
}

// clone returns a copy that shares nothing.
func (f *Figures) clone() *Figures {
	out := *f
	out.Decisions, out.Turns.counts, out.Time.counts = maps.Clone(f.Decisions), maps.Clone(f.Turns.counts), maps.Clone(f.Time.counts)
	return &out
}
