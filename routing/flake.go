package routing

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// RerunOn says for which failures failed jobs run again before anything is returned.
type RerunOn string

// The values. With transient also what the environment did in passing.
const (
	RerunNever     RerunOn = "never"
	RerunFlaky     RerunOn = "flaky"
	RerunTransient RerunOn = "transient"
)

// MaxRerunsOfRun is how often the failed jobs of one run are run again.
const MaxRerunsOfRun = 1

// mostFlaky bounds the names that a decision holds.
const mostFlaky = 100

// redoRefused decides a run anew whose failed jobs could not be run again.
const redoRefused HumanAction = "rerun-refused"

// refused is what the reference of a rerun begins with that GitHub refused.
const refused = "refused"

// Refused returns the reference of an effect that could not be carried out, and will not be.
func Refused(why error) string { return refused + ": " + why.Error() }

// RefusedEffect reports whether e says that an effect could not be carried out, and will not be.
func (e Event) RefusedEffect() bool {
	done, err := PayloadOf[EffectDone](e)
	return e.Type == EventEffect && err == nil && strings.HasPrefix(done.Ref, refused)
}

// flakes are the tests of a checkpoint that failed and passed on one commit.
type flakes struct {
	here map[history.ID]string // on the commit of the present run, with their names
	ever map[history.ID]bool   // on any commit
}

// TestName is a test as people read it.
func TestName(suite, name string) string {
	if suite == "" {
		return name
	}
	return suite + " › " + name
}

// flakesOf returns the flakes among the recorded runs of a checkpoint and those of the present one.
func flakesOf(cp Checkpoint, now []Verdict) flakes {
	type leg struct{ sha, part string } // what one leg of a matrix passes another may fail
	legs := map[leg][]Verdict{}
	add := func(v Verdict) {
		if v.Run.SHA != "" && !v.Result.Silent() && v.Review == nil {
			at := leg{v.Run.SHA, v.Run.Part}
			legs[at] = append(legs[at], v)
		}
	}
	for _, v := range now {
		add(v)
	}
	for _, key := range recordedRuns(cp) {
		if key == now[0].Run.Key() {
			continue
		}
		for _, part := range sortedKeys(cp.Runs[key].Parts) {
			add(cp.Runs[key].Parts[part])
		}
	}
	out := flakes{here: map[history.ID]string{}, ever: map[history.ID]bool{}}
	for at, runs := range legs {
		for id, f := range flipped(runs) {
			out.ever[id] = true
			if at.sha == now[0].Run.SHA {
				out.here[id] = TestName(f.Suite, f.Name)
			}
		}
	}
	return out
}

// Flip is a test that failed and passed on one commit.
type Flip struct {
	TestRef
	Failed, Passed Run       // the same where it passed when it was repeated within the run
	At             time.Time // when the later of the runs was recorded
}

// Flips returns the tests of a checkpoint that failed and passed on one commit, by their commit and
// name, of the runs that still have their inventories.
func Flips(cp Checkpoint) []Flip {
	type leg struct{ sha, part string }
	legs := map[leg][]Verdict{}
	for _, key := range recordedRuns(cp) {
		for _, part := range sortedKeys(cp.Runs[key].Parts) {
			if v := cp.Runs[key].Parts[part]; v.Run.SHA != "" && !v.Result.Silent() && v.Review == nil {
				legs[leg{v.Run.SHA, part}] = append(legs[leg{v.Run.SHA, part}], v)
			}
		}
	}
	var out []Flip
	for _, runs := range legs {
		for _, f := range flipped(runs) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b Flip) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Failed.SHA, b.Failed.SHA), cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Failed.Part, b.Failed.Part))
	})
	return out
}

// flipped returns the tests that failed in one of the runs of a commit, and passed in another.
func flipped(runs []Verdict) map[history.ID]Flip {
	failed := map[history.ID]Flip{}
	out := map[history.ID]Flip{}
	for _, v := range runs {
		for _, f := range v.Failures {
			if f.Comparable() && !noTest[f.Kind] {
				id := history.TestID(v.Checkpoint, f.Suite, f.Name)
				if failed[id] = (Flip{TestRef{v.Checkpoint, f.Suite, f.Name, f.File}, v.Run, v.Run, v.At}); f.Flaky {
					out[id] = failed[id]
				}
			}
		}
		for _, f := range v.Cut {
			if f.comparable() && !noTest[f.Kind] {
				failed[history.TestID(v.Checkpoint, f.Suite, f.Name)] = Flip{TestRef{v.Checkpoint, f.Suite, f.Name, ""}, v.Run, v.Run, v.At}
			}
		}
	}
	if len(failed) == 0 || len(runs) < 2 {
		return out
	}
	for _, v := range runs {
		inv, err := history.Unpack(v.Inventory)
		known := err == nil
		for id, f := range failed {
			if passedIn(v, inv, known, id) {
				if f.Passed = v.Run; v.At.After(f.At) {
					f.At = v.At
				}
				out[id] = f
			}
		}
	}
	return out
}

// passedIn reports whether a test passed in a run: as its inventory says, or where that does not
// hold the test, as the run as a whole did.
func passedIn(v Verdict, inv history.Inventory, known bool, id history.ID) bool {
	if known {
		of := inv.Of(id)
		if len(of) > 0 {
			passed := slices.ContainsFunc(of, func(t history.Test) bool { return t.Status == history.Passed || t.Status == history.Flaky })
			failed := slices.ContainsFunc(of, func(t history.Test) bool { return t.Status == history.Failed })
			return passed && !failed
		}
		if !inv.Partial {
			return false // it did not run
		}
	}
	return v.Result == Pass
}

// names returns the tests that flaked on the present commit, sorted.
func (f flakes) names() []string {
	out := make([]string, 0, len(f.here))
	for _, name := range f.here {
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// markFlaky gives the standing to failures of tests that are named.
func (v Verdict) markFlaky(names []string) Verdict {
	if len(names) == 0 {
		return v
	}
	v.Failures = slices.Clone(v.Failures)
	for i := range v.Failures {
		f := &v.Failures[i]
		if f.Standing != history.StandingPreExisting && slices.Contains(names, TestName(f.Suite, f.Name)) {
			f.Standing = history.StandingFlaky
		}
	}
	return v
}

// rerunnable returns the names of the tests for which the failed jobs are to be run again, false
// where they are not: the failures are not all of tests with flake evidence, or the run, the case or
// the policy allows no more.
func (s input) rerunnable() (names []string, transient, ok bool) {
	if s.p.Rerun == RerunNever || s.p.Rerun == "" || s.cp.NoRerun || s.m.During != "" || s.m.Review != nil || s.m.Unlisted() > 0 || !s.complete() {
		return nil, false, false
	}
	if _, err := strconv.ParseInt(s.v.Run.ID, 10, 64); err != nil || s.v.Run.Job != "" {
		return nil, false, false // a run that goes on cannot be run again
	}
	if ofRun, ofCase := rerunsBefore(s); ofRun >= MaxRerunsOfRun || ofCase >= s.p.MaxReruns {
		return nil, false, false
	}
	if s.p.Rerun == RerunTransient && s.m.Result == Fail && s.m.Class == EnvIssue {
		return nil, true, true
	}
	if s.m.Result != Fail && s.m.Result != TimedOut {
		return nil, false, false
	}
	for _, f := range s.m.Failures {
		if f.Quarantined || f.Standing == history.StandingPreExisting {
			continue
		}
		id := history.TestID(s.v.Checkpoint, f.Suite, f.Name)
		if !f.Comparable() || noTest[f.Kind] || !s.flakes.ever[id] && !f.Flaky && f.Class != Flaky {
			return nil, false, false
		}
		names = append(names, TestName(f.Suite, f.Name))
	}
	for _, f := range s.m.Cut {
		if !f.Quarantined && !f.PreExisting && !s.flakes.ever[history.TestID(s.v.Checkpoint, f.Suite, f.Name)] {
			return nil, false, false
		}
	}
	return names, false, len(names) > 0
}

// rerunsBefore counts the reruns of the present run and those of the case.
func rerunsBefore(s input) (ofRun, ofCase int) {
	for _, name := range s.c.Names() {
		for _, rs := range s.c.Checkpoints[name].Runs {
			if rs.Decision.Kind != KindRerun {
				continue
			}
			ofCase++
			for _, v := range rs.Parts {
				if name == s.v.Checkpoint && v.Run.ID == s.v.Run.ID && v.Run.Repository == s.v.Run.Repository {
					ofRun++
					break
				}
			}
		}
	}
	return ofRun, ofCase
}

// decideRerun runs failed jobs again where that may be all that is needed. No attempt is spent.
func decideRerun(s input) (Decision, bool) {
	names, transient, ok := s.rerunnable()
	if !ok || s.cp.Returned[s.m.Run.SHA] > 0 {
		return Decision{}, false
	}
	d := Decision{Kind: KindRerun, Iteration: s.cp.Retries, Flaky: names}
	d.Reason = fmt.Sprintf("the failed jobs are run again: %s failed and passed on one commit before", list(names, 3))
	if transient {
		d.Reason = "the failed jobs are run again: " + orElse(s.m.Reason, "the environment failed")
	}
	run := s.v.Run
	d.Effects = []Effect{{
		Kind: EffectRerun, Key: fmt.Sprintf("%s/%s/%s/rerun", s.c.Key, s.v.Checkpoint, run.Key()), Slot: s.v.Checkpoint + "/" + string(EffectRerun),
		Checkpoint: s.v.Checkpoint, Iteration: s.cp.Retries, SHA: run.SHA, Target: fmt.Sprintf("%s/%d", run.ID, max(run.Attempt, 1)),
	}}
	return d, true
}

// decideFlakyCommit spends no attempt where all that failed passed on the commit too: there is
// nothing in it to fix.
func decideFlakyCommit(s input) (Decision, bool) {
	if s.m.Result != Fail || s.m.Review != nil || len(s.flakes.here) == 0 || s.m.Unlisted() > 0 || !s.complete() {
		return Decision{}, false
	}
	fresh, _ := s.m.Standings()
	for _, f := range fresh {
		if f.Standing != history.StandingFlaky || noTest[f.Kind] {
			return Decision{}, false
		}
	}
	for _, f := range s.m.Cut {
		if _, flaked := s.flakes.here[history.TestID(s.v.Checkpoint, f.Suite, f.Name)]; !flaked && !f.PreExisting && !f.Quarantined {
			return Decision{}, false
		}
	}
	d := none("all that failed also passed on commit %s: flaky; no attempt is spent", truncate.ShortSHA(s.m.Run.SHA))
	d.Again = len(fresh) > 0 && s.sameAsLastTurn()
	return d, len(fresh) > 0
}

// passedOverOther is true for a run whose failed jobs were to be run again, and of which a further
// part fails for another reason.
func (s input) passedOverOther() bool {
	if !s.run.Decided || s.run.Decision.Kind != KindRerun || s.m.Result == Pass {
		return false
	}
	return slices.ContainsFunc(s.m.Failures, func(f Failure) bool {
		return !f.Quarantined && f.Standing != history.StandingPreExisting && !slices.Contains(s.run.Decision.Flaky, TestName(f.Suite, f.Name))
	})
}

// returnedHere returns the fix attempt that the present commit was returned for, 0 if it was not, or
// not as the newest.
func (s input) returnedHere() int {
	if n := s.cp.Returned[s.m.Run.SHA]; s.m.Run.SHA != "" && n > 0 && n == s.cp.Retries {
		return n
	}
	return 0
}

// refusedRerun notes that the failed jobs of the newest run cannot be run again, and wants the run
// decided without.
func refusedRerun(c Case, e Effect) {
	cp, ok := c.Checkpoints[e.Checkpoint]
	run := cp.newestRun()
	if !ok || run.Decision.Kind != KindRerun && run.Decision.Kind != KindIncident || e.Target != fmt.Sprintf("%s/%d", cp.Last.ID, max(cp.Last.Attempt, 1)) {
		return
	}
	cp = cp.clone()
	cp.NoRerun = true
	cp.ask(&Redo{Action: redoRefused})
	c.Checkpoints[e.Checkpoint] = cp
}

func flakyReason(v Verdict, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("; flaky, having failed and passed on %s: %s", truncate.ShortSHA(v.Run.SHA), list(names, 5))
}
