package routing

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing/history"
)

// OnHoldForBase reports whether the newest run of a checkpoint has nothing but failures of its base,
// and the base has not been seen to pass since.
func OnHoldForBase(cp Checkpoint) bool {
	n := len(cp.Attempts)
	if n == 0 || cp.State != InProgress || cp.Paused || cp.Skipped {
		return false
	}
	last := cp.Attempts[n-1]
	return last.Kind == KindPreExisting && last.Streak == cp.Streak && !last.Undone && last.BaseFixed == "" && cp.ofNewest(last)
}

// BaseFixed returns the commit of the newest run of a base that passes every test whose failure puts
// the checkpoint on hold. It reports false where nothing is on hold, and as long as one of them fails
// there, was not run, or may still fail in a leg that has not reported.
func BaseFixed(cp Checkpoint, base Case) (sha string, ok bool) {
	if !OnHoldForBase(cp) {
		return "", false
	}
	run, known := newestWhole(base.Checkpoints[cp.Name], Run{})
	if !known {
		return "", false
	}
	held := cp.Attempts[len(cp.Attempts)-1].Verdict
	_, old := held.Standings()
	for _, f := range old {
		legs := cp.Runs[held.Run.Key()].failingIn(f)
		if len(legs) == 0 {
			legs = []Run{{}} // it failed in a leg that was not run again
		}
		for _, leg := range legs {
			if of, known := newestWhole(base.Checkpoints[cp.Name], leg); !known || !of.passes(cp.Name, f) {
				return "", false
			}
		}
	}
	return run.SHA, len(old) > 0
}

// baseRun is a run of a base of which all legs have reported.
type baseRun struct {
	history.Run
	green bool // it passed as a whole
}

// newestWhole returns the newest run of a checkpoint of a base, and of it what is said of the leg that
// a run is of.
func newestWhole(cp Checkpoint, of Run) (baseRun, bool) {
	runs := cp.Runs[cp.Last.Key()]
	parts := make([]Verdict, 0, len(runs.Parts))
	for _, name := range sortedKeys(runs.Parts) {
		parts = append(parts, runs.Parts[name])
	}
	if len(parts) == 0 || len(parts) < parts[0].Run.Parts {
		return baseRun{}, false
	}
	all := TestRuns(ofLeg(Checkpoint{Runs: map[string]RunState{cp.Last.Key(): runs}}, of))
	if len(all) != 1 {
		return baseRun{}, false
	}
	return baseRun{all[0], merge(parts).green()}, true
}

// passes reports whether the test of a failure passed. A test that a green run does not have is gone
// from the base.
func (r baseRun) passes(checkpoint string, f Failure) bool {
	tests := r.Inventory.Of(history.TestID(checkpoint, f.Suite, f.Name))
	for _, t := range tests {
		if t.Status == history.Failed || t.Status == history.Skipped {
			return false
		}
	}
	return len(tests) > 0 || r.green
}

// PassesTest reports whether the newest run of a checkpoint, of which all legs have reported, passes a
// test. One that a green run does not have is gone.
func PassesTest(cp Checkpoint, suite, name string) bool {
	run, known := newestWhole(cp, Run{})
	return known && run.passes(cp.Name, Failure{Suite: suite, Name: name})
}

// Fixes reports whether the newest run of a checkpoint no longer fails what the run before it failed.
func Fixes(cp Checkpoint) bool {
	for _, v := range cp.Runs[cp.Last.Key()].Parts {
		runs := TestRuns(ofLeg(cp, v.Run))
		n := len(runs)
		if n < 2 {
			continue
		}
		for _, t := range runs[n-2].Inventory.Tests {
			if t.Status == history.Failed && !failsTest(runs[n-1].Inventory, t.ID) {
				return true
			}
		}
	}
	return false
}

func failsTest(inv history.Inventory, id history.ID) bool {
	for _, t := range inv.Of(id) {
		if t.Status == history.Failed {
			return true
		}
	}
	return false
}

// BasePassed is the payload of EventBase: the base passes what a checkpoint is on hold for.
type BasePassed struct {
	Checkpoint string `json:"checkpoint"`
	Base       string `json:"base"`             // name of the base
	SHA        string `json:"sha"`              // commit of the base that passes
	Closed     bool   `json:"closed,omitempty"` // the pull request is closed: nobody is asked
	Lease      *Lease `json:"lease,omitempty"`  // of the process that saw it, where effects are pending
}

// BaseEvent returns the event that records that a base passes.
func BaseEvent(caseKey string, p BasePassed, now time.Time) Event {
	return Event{Type: EventBase, At: now, Stream: caseKey, Data: p}
}

// applyBase notes that the base passes, and asks for what follows: once for a run that is on hold.
func applyBase(c Case, e BasePassed, at time.Time) (Case, error) {
	cp, known := c.Checkpoints[e.Checkpoint]
	if !known {
		return c, unknownCheckpoint(c, e.Checkpoint)
	}
	if !OnHoldForBase(cp) || e.SHA == "" {
		return c, nil
	}
	cp = cp.clone()
	last := &cp.Attempts[len(cp.Attempts)-1]
	last.BaseFixed, cp.Updated = e.SHA, at
	c.Checkpoints[cp.Name] = cp
	if e.Closed {
		return c, nil
	}
	run := last.Verdict.Run
	mk := func(kind EffectKind) Effect {
		return Effect{
			Kind: kind, Key: fmt.Sprintf("%s/%s/%s/%s", c.Key, cp.Name, orElse(run.SHA, run.Key()), kind),
			Slot: cp.Name + "/" + string(kind), Checkpoint: cp.Name, Iteration: cp.Retries, SHA: run.SHA, Target: e.SHA,
		}
	}
	c.queue([]Effect{mk(EffectComment), mk(EffectUpdate)})
	return c, nil
}
