package routing

import (
	"fmt"
	"strings"
	"time"
)

// transition carries out on a checkpoint what was decided of a run at a time. Its methods change
// cp, which has to be a clone.
type transition struct {
	cp Checkpoint
	d  Decision
	at time.Time
}

// to moves the checkpoint to a state.
func (t *transition) to(next State) error {
	cp, err := t.cp.to(next)
	t.cp = cp
	return err
}

// begin moves a checkpoint that was not under way to in progress.
func (t *transition) begin() error {
	if t.cp.State == InProgress || t.cp.State == Escalated {
		return nil
	}
	return t.to(InProgress)
}

// hold keeps v until what it waits for is done; of an older run nothing stays.
func (t *transition) hold(v Verdict) error {
	kept := t.cp.Held[:0:0]
	for _, h := range t.cp.Held {
		if h.Run.Key() == v.Run.Key() && h.Run.Part != v.Run.Part {
			kept = append(kept, h)
		}
	}
	t.cp.Held = append(kept, v)
	if v.Run.Key() != t.cp.Last.Key() {
		t.cp.Redo = nil // a newer run waits, which is decided instead
	}
	if t.cp.State == "" {
		return t.to(Pending)
	}
	return nil
}

// without returns verdicts without that of v's part of its run.
func without(held []Verdict, v Verdict) []Verdict {
	kept := held[:0:0]
	for _, h := range held {
		if h.Run.Key() != v.Run.Key() || h.Run.Part != v.Run.Part {
			kept = append(kept, h)
		}
	}
	return kept
}

// record notes the run and carries out the decision.
func (t *transition) record(v Verdict, treat treatment) error {
	cp, d := &t.cp, t.d
	cp.Held = without(cp.Held, v)
	if d.Redo != "" && !d.Kept {
		*cp = cp.undone(d.Redo)
	}
	if d.Redo != "" || !cp.Paused {
		cp.Redo = nil
	}
	rs := cp.Runs[v.Run.Key()]
	all := treat.all(append([]Verdict{v}, otherParts(cp.Runs, v)...))
	parts := make(map[string]Verdict, len(rs.Parts)+1)
	for k, p := range rs.Parts {
		parts[k] = p
	}
	parts[v.Run.Part] = slim(v)
	rs.Parts = parts
	if rs.Seq == 0 {
		rs.Seq, rs.Streak = len(cp.Runs)+1, cp.Streak
	}
	stale := d.Rule == "stale-commit" || d.Rule == "stale-run"
	if !rs.Decided || d.Kind != KindNone {
		rs.Decision, rs.Decided, rs.At = d, true, t.at
		rs.Decision.Effects, rs.Decision.Withheld, rs.Decision.Workers = nil, nil, nil
	}
	cp.Runs[v.Run.Key()] = rs
	forgetInventories(cp)
	if stale || v.Result.Silent() {
		if cp.State == "" {
			return t.to(Pending)
		}
		return nil
	}
	cp.Last = v.Run
	t.d.Verdict = merge(all).markFlaky(d.Flaky)
	return t.carry()
}

// slim drops from a verdict kept for merging what only its own turn shows.
func slim(v Verdict) Verdict {
	v.Partial = v.Partial || len(v.Notes) > 0
	v.Notes = nil
	return v
}

// carry applies a decision that counts.
func (t *transition) carry() error {
	t.deliver()
	switch {
	case t.d.Again:
		t.refresh()
		if t.cp.State == "" {
			return t.to(InProgress)
		}
		return nil
	case t.d.Kind == KindPass:
		return t.pass()
	case t.d.Kind == KindRetry:
		return t.retry()
	case t.d.Kind == KindPreExisting, t.d.Kind == KindRerun:
		return t.spendNothing()
	case t.d.Kind.Escalates():
		return t.escalate()
	case t.cp.State == "" || t.cp.State == Pending:
		return t.to(InProgress)
	}
	return nil
}

// deliver marks the phases done that lead to a run: a run of a commit means
// that its implementation was delivered.
func (t *transition) deliver() {
	for _, p := range []Phase{Research, Plan, Implement} {
		t.cp.Phases[p] = true
	}
	if t.d.Verdict.Review != nil {
		t.cp.Phases[Review] = true
	}
}

// refresh brings the last turn's failures up to date without a new turn.
func (t *transition) refresh() {
	if n := len(t.cp.Attempts); n > 0 && t.cp.Attempts[n-1].Streak == t.cp.Streak {
		t.cp.Attempts[n-1].Verdict, t.cp.Attempts[n-1].Flaky = t.d.Verdict, t.d.Flaky
	}
}

// turn adds the decision to the attempts and the history.
func (t *transition) turn() {
	cp, d := &t.cp, t.d
	cp.Attempts = append(cp.Attempts, Attempt{
		Streak: cp.Streak, Iteration: d.Iteration, Kind: d.Kind, Rule: d.Rule,
		Reason: d.Reason, Phase: d.Phase, Verdict: d.Verdict, At: t.at, Flaky: d.Flaky,
	})
	reason := string(d.Verdict.Class)
	if d.Kind == KindPass {
		reason = ""
	} else if d.Verdict.Result == TimedOut || reason == "" {
		reason = strings.ToUpper(string(d.Verdict.Result))
	}
	cp.History = append(cp.History, Entry{Iteration: len(cp.History) + 1, Result: d.Kind, Reason: reason, At: t.at})
}

func (t *transition) closeIteration(result string) {
	if n := len(t.cp.Iterations); n > 0 && t.cp.Iterations[n-1].Result == "in_progress" {
		t.cp.Iterations[n-1].Result = result
	}
}

func (t *transition) pass() error {
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.to(Completed); err != nil {
		return err
	}
	if t.d.TakeBack {
		takeBackFlaky(&t.cp, t.d)
	}
	t.closeIteration("success")
	t.turn()
	cp := &t.cp
	cp.LastError, cp.Escalation, cp.Skipped, cp.Paused, cp.Rebased = "", nil, false, false, false
	cp.wait(t.d)
	cp.WontFix, cp.Redo = nil, nil
	cp.Green = t.d.Verdict.Run.SHA
	cp.beginAgain()
	return nil
}

// spendNothing records the turn and spends no attempt: the case waits for its base, or for its
// failed jobs.
func (t *transition) spendNothing() error {
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.to(InProgress); err != nil {
		return err
	}
	t.cp.Escalation, t.cp.WontFix = nil, nil
	t.cp.wait(Decision{})
	t.turn()
	return nil
}

func (t *transition) retry() error {
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.to(InProgress); err != nil {
		return err
	}
	t.keepLimit()
	t.closeIteration("failed")
	cp, d := &t.cp, t.d
	cp.Retries = d.Iteration
	cp.Escalation, cp.WontFix = nil, nil
	cp.wait(d)
	if sha := d.Verdict.Run.SHA; sha != "" {
		cp.Returned[sha] = d.Iteration
	}
	for _, p := range d.Phase.from() {
		cp.Phases[p] = false
	}
	cp.Iterations = append(cp.Iterations, Iteration{
		Iteration: d.Iteration, AgentType: d.Phase, StartedAt: t.at,
		ReviewFeedback: feedbackLine(d.Verdict), Result: "in_progress", Streak: cp.Streak,
	})
	cp.Notes = append(cp.Notes, fmt.Sprintf("Refinement %d/%d (%s): %s", d.Iteration, d.Max, d.Phase, feedbackLine(d.Verdict)))
	t.turn()
	return nil
}

// keepLimit snapshots the limit when a streak's first turn is taken.
func (t *transition) keepLimit() {
	if !t.cp.Limited {
		t.cp.Limit, t.cp.Limited = t.d.Max-t.cp.Extra, true
	}
}

func feedbackLine(v Verdict) string {
	if v.Review != nil {
		return v.Review.Summary()
	}
	if v.Reason != "" {
		return v.Reason
	}
	return fmt.Sprintf("%d of %d tests failed (%s)", v.Counts.Failed, v.Counts.Tests, v.Class)
}

func (t *transition) escalate() error {
	if err := t.begin(); err != nil {
		return err
	}
	if err := t.to(Escalated); err != nil {
		return err
	}
	t.keepLimit()
	if t.d.Kind != KindSuspect {
		t.closeIteration("failed")
	}
	cp, d := &t.cp, t.d
	cp.LastError, cp.WontFix = d.Reason, nil
	cp.wait(Decision{})
	if d.Kind == KindMaxRetry && d.Budget == "" {
		cp.LastError = fmt.Sprintf("reached max refinement attempts (%d/%d)", cp.Retries, d.Max)
	}
	cp.Skipped = d.OnMax == OnMaxSkip
	cp.Escalation = &Escalation{Kind: d.Kind, SHA: d.Verdict.Run.SHA, Reason: d.Reason, OpenedAt: t.at}
	t.turn()
	return nil
}
