package routing

import (
	"fmt"
	"time"
)

// Redo says that the newest run of a checkpoint is to be decided anew, for what
// a human did. It is set and carried out in one append, but for a checkpoint
// that is paused, where it waits until that is resumed.
type Redo struct {
	Action   HumanAction `json:"action"`
	Phase    Phase       `json:"phase,omitempty"`
	By       string      `json:"by,omitempty"`
	Resolved Kind        `json:"resolved,omitempty"` // the escalation that the act resolved
	Why      string      `json:"why,omitempty"`      // of workers who did not answer
}

// Release returns the events that follow from the state of a case by
// themselves, and the case after them: runs that a human's act has decided
// anew, and verdicts that waited for what is done now.
func Release(c Case, policy func(checkpoint string) Policy, now time.Time) (Case, []Event, error) {
	var events []Event
	for again := true; again; {
		again = false
		for _, name := range c.Names() {
			for _, v := range due(c, name, now) {
				d := Decide(c, v, policy(name), now)
				if d.Repeated || d.Held {
					continue
				}
				e := RunEvent(c.Key, v, d, now)
				next, err := c.Apply(e)
				if err != nil {
					return c, events, err
				}
				c, events, again = next, append(events, e), true
			}
		}
	}
	return c, events, nil
}

// due returns the verdicts of a checkpoint that may be decided now.
func due(c Case, name string, now time.Time) []Verdict {
	cp := c.Checkpoints[name]
	if cp.Redo == nil || cp.Paused {
		return cp.Held
	}
	parts := cp.newestRun().Parts
	t := c.treatment(now, nil)
	best := ""
	for i, p := range sortedKeys(parts) {
		if i == 0 || gravity(t.of(parts[p])) > gravity(t.of(parts[best])) {
			best = p
		}
	}
	v := parts[best]
	v.Head = "" // it was the head's when it was analyzed
	return []Verdict{v}
}

// redoes reports whether v is the verdict that is to be decided anew.
func redoes(cp Checkpoint, v Verdict) bool {
	_, known := cp.Runs[v.Run.Key()].Parts[v.Run.Part]
	return cp.Redo != nil && !cp.Paused && known && v.Run.Key() == cp.Last.Key()
}

// undone returns cp as it was before its newest run was decided. A turn is
// taken back only where the human said that the decision was wrong, or where
// nobody has been started for it yet.
func (cp Checkpoint) undone(a HumanAction) Checkpoint {
	cp = cp.clone()
	run := cp.newestRun()
	run.Decision, run.Decided = Decision{}, false
	cp.Runs[cp.Last.Key()] = run
	wrong := a == HumanWrong || a == HumanQuarantine || a == redoRefused
	if wrong && cp.leftAlone() {
		return cp
	}
	if wrong && cp.State == Escalated {
		cp.State, cp.Escalation, cp.LastError, cp.WontFix, cp.Skipped = InProgress, nil, "", nil, false
	}
	if wrong || cp.Waiting {
		cp.takeBack()
	}
	return cp
}

// leftAlone reports whether a human does without the checkpoint, or leaves it
// as it is. What is said of its failures changes that only if it passes then.
func (cp Checkpoint) leftAlone() bool {
	return cp.State == Escalated && (cp.WontFix != nil || cp.Skipped && cp.Escalation == nil)
}

// takeBack undoes what was decided on the newest run, and the turn if that was
// a rework: also one that a graver part of the run has stopped since.
func (cp *Checkpoint) takeBack() {
	for i := len(cp.Attempts) - 1; i >= 0 && cp.ofNewest(cp.Attempts[i]) && cp.Attempts[i].Kind != KindPass; i-- {
		t := cp.Attempts[i]
		if cp.Attempts[i].Undone = true; i < len(cp.History) {
			cp.History[i].Undone = true
		}
		if t.Kind == KindRetry && t.Iteration == cp.Retries {
			cp.takeBackTurn(t.Iteration)
			return
		}
	}
}

func (cp *Checkpoint) takeBackTurn(n int) {
	if i := len(cp.Iterations) - 1; i >= 0 && cp.Iterations[i].Iteration == n && cp.Iterations[i].Streak == cp.Streak {
		cp.Iterations = cp.Iterations[:i]
		cp.Notes = cp.Notes[:max(0, len(cp.Notes)-1)]
	}
	for sha, turn := range cp.Returned {
		if turn == n {
			delete(cp.Returned, sha)
		}
	}
	cp.Retries = n - 1
	cp.wait(Decision{})
	cp.Undone++
}

// takeBackFlaky undoes the attempt that the commit was returned for: it failed and passed, so that
// it was not to blame.
func takeBackFlaky(cp *Checkpoint, d Decision) {
	from := len(cp.Attempts)
	cp.takeBack()
	for i := range cp.Attempts[:from] {
		if t := &cp.Attempts[i]; t.Undone && t.Streak == cp.Streak && t.Verdict.Run.SHA == cp.Last.SHA && len(t.Flaky) == 0 {
			t.Flaky = d.Flaky
		}
	}
}

// ofNewest reports whether a turn of this streak is about the newest run, or
// about another of its commit, and stands.
func (cp Checkpoint) ofNewest(t Attempt) bool {
	r := t.Verdict.Run
	same := r.Key() == cp.Last.Key() || (cp.Last.SHA != "" && r.SHA == cp.Last.SHA)
	return same && t.Streak == cp.Streak && !t.Undone
}

// decidedOnNewest returns the newest turn if it is a decision k on the newest run.
func decidedOnNewest(cp Checkpoint, k Kind) (Attempt, bool) {
	n := len(cp.Attempts)
	if n == 0 || cp.Attempts[n-1].Kind != k || !cp.ofNewest(cp.Attempts[n-1]) {
		return Attempt{}, false
	}
	return cp.Attempts[n-1], true
}

// decideAnswered decides what a human returned for a fix; a green run passes in any
// case.
func decideAnswered(s input) (Decision, bool) {
	if s.redo == nil || s.m.green() || s.m.Result == Errored {
		return Decision{}, false
	}
	switch s.redo.Action {
	case HumanRerun:
		return none("its failed jobs are run again; that attempt decides"), true
	case HumanReset:
		timeout := s.m.Result == TimedOut || s.m.Class == Timeout
		if !timeout && (s.m.Result != Fail || (!s.m.Class.Fixable() && s.m.Class != DesignMismatch)) {
			return none("begun again by %s; the next run decides", orElse(s.redo.By, "a person")), true
		}
	case HumanExtend, HumanPhase:
	default:
		return Decision{}, false
	}
	if s.cp.Retries >= s.limit {
		return Decision{}, false
	}
	d := retry(s)
	d.Manual = d.Approval // the answer was the call, but names no commit
	if s.redo.Phase != "" {
		d.Phase = s.redo.Phase
	}
	d.Reason = fmt.Sprintf("%s; returned for a fix %d/%d by %s", orElse(s.m.Reason, string(s.m.Class)), d.Iteration, s.limit, orElse(s.redo.By, "a person"))
	return d, true
}

// unchanged replaces a decision that says again what was decided: nobody is
// started or called a second time for what stands already.
func (s input) unchanged(d Decision) Decision {
	if s.redo == nil || d.Held {
		return d
	}
	if s.redo.Action == HumanResume && d.Kind.Escalates() && d.Kind == s.redo.Resolved {
		return none("resumed by %s; the next run decides", orElse(s.redo.By, "a person"))
	}
	if s.redo.Action != HumanWrong && s.redo.Action != HumanQuarantine {
		return d
	}
	before := s.before
	t, ok := decidedOnNewest(before, d.Kind)
	switch {
	case ok && d.Kind == KindRetry && (t.Phase == d.Phase || t.Rule == "answered"):
		d.Reason = fmt.Sprintf("as decided before (%d/%d)", before.Retries, s.limit)
	case ok && d.Kind.Escalates() && before.Escalation != nil && before.Escalation.Kind == d.Kind:
		d = none("as decided before (%s)", d.Kind)
	default:
		return d
	}
	d.Again, d.Kept, d.Iteration = true, true, before.Retries
	return d
}
