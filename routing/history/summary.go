package history

import (
	"cmp"
	"slices"
	"time"
)

// Observation is how a test ended in a run.
type Observation struct {
	Case   string // key of the case that the run is of
	Base   bool   // the case is a branch's
	Run    string // id of the run
	URL    string
	SHA    string
	At     time.Time
	Status Status
	Steps  uint8 // duration, see StepsOf
	Timed  bool  // Steps is known

	Incident bool // the run was on hold for an incident
}

// Duration returns about how long the run of the test took.
func (o Observation) Duration() time.Duration { return DurationOf(o.Steps) }

// DurationOf returns about how long steps are: what StepsOf counts as that many begins there.
func DurationOf(steps uint8) time.Duration {
	if steps == 0 {
		return 0
	}
	return time.Millisecond << (min(steps, 40) - 1)
}

// Summary is what the observations of a test come to.
type Summary struct {
	Runs    int // that ran it, without those that skipped it
	Passed  int
	Failed  int
	Flaked  int // failed and passed within the run
	Skipped int

	Incident int // of Failed, in runs that were on hold for an incident

	Commits int // that ran it
	Flaky   int // of these, on which it failed and passed

	Median time.Duration // of the runs that tell, about
	Trend  int           // steps by which the newest third takes longer than the oldest; each is a doubling

	First, Last  Observation
	FirstFailing Observation // see Summarize; zero if it never failed
	Failing      bool        // in the newest run that ran it
}

// PassRate returns the share of runs that passed, 0 without any.
func (s Summary) PassRate() float64 { return share(s.Passed, s.Runs) }

// FlakeRate returns the share of commits on which the test failed and passed, 0 without any.
func (s Summary) FlakeRate() float64 { return share(s.Flaky, s.Commits) }

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Summarize sums up the observations of one test, which it sorts by time. FirstFailing is the oldest
// failure since the test last passed, on a branch if it fails there; of a test that passes, the oldest
// failure that is known.
func Summarize(obs []Observation) Summary {
	slices.SortStableFunc(obs, func(a, b Observation) int { return a.At.Compare(b.At) })
	var s Summary
	type ends struct{ failed, passed bool }
	commits := map[string]ends{}
	var steps []uint8
	var onBase, series Observation // the oldest failure since the test last passed: on a branch, and anywhere
	for _, o := range obs {
		if o.Status == Skipped {
			s.Skipped++
			continue
		}
		if s.Runs++; s.Runs == 1 {
			s.First = o
		}
		s.Last = o
		at := commits[o.SHA]
		switch o.Status {
		case Passed:
			s.Passed++
			at.passed = true
		case Failed:
			s.Failed++
			at.failed = true
			if o.Incident {
				s.Incident++
			}
			if s.FirstFailing.At.IsZero() {
				s.FirstFailing = o
			}
		case Flaky:
			s.Flaked++
			at.passed, at.failed = true, true
		}
		since(&series, o)
		if o.Base {
			since(&onBase, o)
		}
		commits[o.SHA] = at
		if o.Timed {
			steps = append(steps, o.Steps)
		}
	}
	switch {
	case !onBase.At.IsZero():
		s.FirstFailing = onBase
	case !series.At.IsZero():
		s.FirstFailing = series
	}
	s.Failing = s.Runs > 0 && s.Last.Status == Failed
	s.Commits = len(commits)
	for _, at := range commits {
		if at.failed && at.passed {
			s.Flaky++
		}
	}
	s.Median = DurationOf(median(steps))
	if third := len(steps) / 3; third > 0 {
		s.Trend = int(median(steps[len(steps)-third:])) - int(median(steps[:third]))
	}
	return s
}

// since notes the first of the failures that o continues, or that there are none.
func since(first *Observation, o Observation) {
	switch {
	case o.Status != Failed:
		*first = Observation{}
	case first.At.IsZero():
		*first = o
	}
}

// median returns that of durations, which it leaves as they are.
func median(steps []uint8) uint8 {
	if len(steps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(steps))
	return sorted[len(sorted)/2]
}

// Ranked is a test with what it is ranked by.
type Ranked struct {
	Test ID
	Summary
}

// Slowest returns the tests that take longest in their median run, at most n.
func Slowest(all []Ranked, n int) []Ranked {
	return top(all, n, func(r Ranked) bool { return r.Median > 0 }, func(a, b Ranked) int { return cmp.Compare(b.Median, a.Median) })
}

// Flakiest returns the tests that failed and passed on one commit, those on most commits first, at
// most n.
func Flakiest(all []Ranked, n int) []Ranked {
	return top(all, n, func(r Ranked) bool { return r.Flaky > 0 }, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Flaky, a.Flaky), cmp.Compare(b.FlakeRate(), a.FlakeRate()))
	})
}

func top(all []Ranked, n int, counts func(Ranked) bool, order func(a, b Ranked) int) []Ranked {
	var out []Ranked
	for _, r := range all {
		if counts(r) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Ranked) int { return cmp.Or(order(a, b), cmp.Compare(a.Test, b.Test)) })
	return out[:min(n, len(out))]
}

// Observe returns how a test ended in a run, false if the run did not run it, or may not have. Where
// several places of a run list it, the worst counts.
func (r Run) Observe(test ID) (Status, uint8, bool, bool) {
	of := r.Inventory.Of(test)
	steps := uint8(0)
	for _, t := range of {
		steps = max(steps, t.Steps)
	}
	switch ended(r, test) {
	case broke:
		return Failed, steps, true, true
	case wavered:
		return Flaky, steps, true, true
	case held:
		return Passed, steps, len(of) > 0, true
	}
	if len(of) > 0 {
		return Skipped, 0, false, true
	}
	return Passed, 0, false, false
}
