package routing

import (
	"fmt"
	"strings"
	"time"
)

// CaseProjection folds the stream of a case.
var CaseProjection = Projection[Case]{
	New:   func(key string) Case { return Case{Key: key} },
	Apply: Case.Apply,
}

// Fold returns the case of a stream; see Projection.Fold.
func Fold(key string, events []Event) (Case, error) { return CaseProjection.Fold(key, events) }

// Apply returns the case after e.
func (c Case) Apply(e Event) (Case, error) {
	n := c.clone()
	n.Version++
	n.Updated = e.At
	if n.Opened.IsZero() {
		n.Opened = e.At
	}
	switch e.Type {
	case EventLease:
		p, err := PayloadOf[LeaseTaken](e)
		n.lease(p.Lease)
		return n, err
	case EventEffect:
		p, err := PayloadOf[EffectDone](e)
		if err != nil {
			return c, err
		}
		return n.applyEffect(p)
	case EventRun:
		p, err := PayloadOf[RunRecorded](e)
		if err != nil {
			return c, err
		}
		n.lease(p.Lease)
		n.Generation++
		return n.applyRun(p, e.At)
	case EventHuman:
		p, err := PayloadOf[HumanActed](e)
		if err != nil {
			return c, err
		}
		p.By = e.Actor
		n.lease(p.Lease)
		if _, known := n.Answered[p.Answer]; known {
			return n, nil // an answer counts once
		}
		n.Generation++
		return n.applyHuman(p, e.At)
	}
	return c, fmt.Errorf("unknown event type %q", e.Type)
}

// lease notes a lease on the pending effects, if it is any.
func (c *Case) lease(l *Lease) {
	if l != nil {
		own := *l
		c.Lease = &own
	}
}

func (c Case) applyEffect(e EffectDone) (Case, error) {
	if e.Effect.Kind == "" {
		return c, fmt.Errorf("an effect event without effect")
	}
	kept := c.Pending[:0:0]
	for _, p := range c.Pending {
		if p.Key != e.Effect.Key || p.Gen > e.Effect.Gen { // asked for again since it was begun
			kept = append(kept, p)
		}
	}
	c.Pending = kept
	if e.Ref != "" {
		c.Done[e.Effect.Slot] = e.Ref
	}
	if len(c.Pending) == 0 {
		c.Lease = nil
	}
	return c, nil
}

// queue adds effects, each in place of an earlier one of its slot.
func (c *Case) queue(add []Effect) {
	for _, e := range add {
		kept := c.Pending[:0:0]
		for _, p := range c.Pending {
			if p.Slot != e.Slot {
				kept = append(kept, p)
			}
		}
		e.Gen = c.Generation
		c.Pending = append(kept, e)
	}
}

func (c Case) applyRun(e RunRecorded, at time.Time) (Case, error) {
	v, d := e.Verdict, e.Decision
	if v.Checkpoint == "" || v.Result == "" || d.Kind == "" {
		return c, fmt.Errorf("a run event without checkpoint, verdict or decision")
	}
	cp := c.Checkpoints[v.Checkpoint].clone()
	if cp.Name == "" {
		cp.Name, cp.Opened = v.Checkpoint, at
	}
	cp.Updated = at
	var err error
	if d.Held {
		cp.hold(v)
		if v.Run.Key() != cp.Last.Key() {
			cp.Redo = nil // a newer run waits, which is decided instead
		}
		if cp.State == "" {
			cp, err = cp.to(Pending)
		}
	} else {
		cp, err = cp.record(v, d, at, c.treatment(d.Excused))
	}
	if err != nil {
		return c, err
	}
	c.Checkpoints[cp.Name] = cp
	c.queue(d.Effects)
	c.Complete = d.Complete || (c.Complete && d.Kind == KindNone)
	return c, nil
}

// hold keeps v until what it waits for is done; of an older run nothing stays.
func (cp *Checkpoint) hold(v Verdict) {
	kept := cp.Held[:0:0]
	for _, h := range cp.Held {
		if h.Run.Key() == v.Run.Key() && h.Run.Part != v.Run.Part {
			kept = append(kept, h)
		}
	}
	cp.Held = append(kept, v)
}

func (cp Checkpoint) unhold(v Verdict) []Verdict {
	kept := cp.Held[:0:0]
	for _, h := range cp.Held {
		if h.Run.Key() != v.Run.Key() || h.Run.Part != v.Run.Part {
			kept = append(kept, h)
		}
	}
	return kept
}

// record notes the run and carries out the decision on the state.
func (cp Checkpoint) record(v Verdict, d Decision, at time.Time, t treatment) (Checkpoint, error) {
	cp.Held = cp.unhold(v)
	if d.Redo != "" && !d.Kept {
		cp = cp.undone(d.Redo)
	}
	if d.Redo != "" || !cp.Paused {
		cp.Redo = nil
	}
	rs := cp.Runs[v.Run.Key()]
	all := t.all(append([]Verdict{v}, cp.others(v)...))
	parts := make(map[string]Verdict, len(rs.Parts)+1)
	for k, p := range rs.Parts {
		parts[k] = p
	}
	parts[v.Run.Part] = slim(v)
	rs.Parts = parts
	stale := d.Rule == "stale-commit" || d.Rule == "stale-run"
	if !rs.Decided || d.Kind != KindNone {
		rs.Decision, rs.Decided = d, true
		rs.Decision.Effects = nil
	}
	cp.Runs[v.Run.Key()] = rs
	if stale || v.Result == Errored {
		if cp.State == "" {
			return cp.to(Pending)
		}
		return cp, nil
	}
	cp.Last = v.Run
	d.Verdict = merge(all)
	return cp.carry(d, at)
}

// slim drops from a verdict kept for merging what only its own turn shows.
func slim(v Verdict) Verdict {
	v.Partial = v.Partial || len(v.Notes) > 0
	v.Notes = nil
	return v
}

// carry applies a decision that counts.
func (cp Checkpoint) carry(d Decision, at time.Time) (Checkpoint, error) {
	cp.deliver(d.Verdict)
	switch {
	case d.Again:
		cp.refresh(d)
		if cp.State == "" {
			return cp.to(InProgress)
		}
		return cp, nil
	case d.Kind == KindPass:
		return cp.pass(d, at)
	case d.Kind == KindRetry:
		return cp.retry(d, at)
	case d.Kind.Escalates():
		return cp.escalate(d, at)
	case cp.State == "" || cp.State == Pending:
		return cp.to(InProgress)
	}
	return cp, nil
}

// deliver marks the phases done that lead to a run: a run of a commit means
// that its implementation was delivered.
func (cp *Checkpoint) deliver(v Verdict) {
	for _, p := range []Phase{Research, Plan, Implement} {
		cp.Phases[p] = true
	}
	if v.Review != nil {
		cp.Phases[Review] = true
	}
}

// refresh brings the last turn's failures up to date without a new turn.
func (cp *Checkpoint) refresh(d Decision) {
	if n := len(cp.Attempts); n > 0 && cp.Attempts[n-1].Streak == cp.Streak {
		cp.Attempts[n-1].Verdict = d.Verdict
	}
}

func (cp *Checkpoint) turn(d Decision, at time.Time) {
	cp.Attempts = append(cp.Attempts, Attempt{
		Streak: cp.Streak, Iteration: d.Iteration, Kind: d.Kind, Rule: d.Rule,
		Reason: d.Reason, Phase: d.Phase, Verdict: d.Verdict, At: at,
	})
	reason := string(d.Verdict.Class)
	if d.Kind == KindPass {
		reason = ""
	} else if d.Verdict.Result == TimedOut || reason == "" {
		reason = strings.ToUpper(string(d.Verdict.Result))
	}
	cp.History = append(cp.History, Entry{Iteration: len(cp.History) + 1, Result: d.Kind, Reason: reason, At: at})
}

func (cp *Checkpoint) closeIteration(result string) {
	if n := len(cp.Iterations); n > 0 && cp.Iterations[n-1].Result == "in_progress" {
		cp.Iterations[n-1].Result = result
	}
}

func (cp Checkpoint) pass(d Decision, at time.Time) (Checkpoint, error) {
	cp, err := cp.started()
	if err != nil {
		return cp, err
	}
	if cp, err = cp.to(Completed); err != nil {
		return cp, err
	}
	cp.closeIteration("success")
	cp.turn(d, at)
	cp.LastError, cp.Escalation, cp.Waiting, cp.Skipped, cp.Paused, cp.Rebased = "", nil, false, false, false, false
	cp.WontFix, cp.Redo = nil, nil
	cp.Green = d.Verdict.Run.SHA
	cp.beginAgain()
	return cp, nil
}

// beginAgain opens a new streak: counts and the kept limit start afresh.
func (cp *Checkpoint) beginAgain() {
	cp.Streak++
	cp.Retries, cp.Limit, cp.Limited, cp.Extra, cp.Floor, cp.Undone = 0, 0, false, 0, 0, 0
	cp.Returned = map[string]int{}
}

// started moves a checkpoint that was not under way to in progress.
func (cp Checkpoint) started() (Checkpoint, error) {
	if cp.State == InProgress || cp.State == Escalated {
		return cp, nil
	}
	return cp.to(InProgress)
}

func (cp Checkpoint) retry(d Decision, at time.Time) (Checkpoint, error) {
	cp, err := cp.started()
	if err == nil {
		cp, err = cp.to(InProgress)
	}
	if err != nil {
		return cp, err
	}
	cp.keepLimit(d)
	cp.closeIteration("failed")
	cp.Retries = d.Iteration
	cp.Escalation, cp.Waiting, cp.WontFix = nil, d.Manual, nil
	if sha := d.Verdict.Run.SHA; sha != "" {
		cp.Returned[sha] = d.Iteration
	}
	for _, p := range d.Phase.from() {
		cp.Phases[p] = false
	}
	cp.Iterations = append(cp.Iterations, Iteration{
		Iteration: d.Iteration, AgentType: d.Phase, StartedAt: at,
		ReviewFeedback: feedbackLine(d.Verdict), Result: "in_progress", Streak: cp.Streak,
	})
	cp.Notes = append(cp.Notes, fmt.Sprintf("Refinement %d/%d (%s): %s", d.Iteration, d.Max, d.Phase, feedbackLine(d.Verdict)))
	cp.turn(d, at)
	return cp, nil
}

// keepLimit snapshots the limit when a streak's first turn is taken.
func (cp *Checkpoint) keepLimit(d Decision) {
	if !cp.Limited {
		cp.Limit, cp.Limited = d.Max-cp.Extra, true
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

func (cp Checkpoint) escalate(d Decision, at time.Time) (Checkpoint, error) {
	cp, err := cp.started()
	if err == nil {
		cp, err = cp.to(Escalated)
	}
	if err != nil {
		return cp, err
	}
	cp.keepLimit(d)
	cp.closeIteration("failed")
	cp.LastError, cp.Waiting, cp.WontFix = d.Reason, false, nil
	if d.Kind == KindMaxRetry {
		cp.LastError = fmt.Sprintf("reached max refinement attempts (%d/%d)", cp.Retries, d.Max)
	}
	cp.Skipped = d.OnMax == OnMaxSkip
	cp.Escalation = &Escalation{Kind: d.Kind, SHA: d.Verdict.Run.SHA, Reason: d.Reason, OpenedAt: at}
	cp.turn(d, at)
	return cp, nil
}
