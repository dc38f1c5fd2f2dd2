package activity

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Started is the Data of SessionStart.
type Started struct {
	Subject string `json:"subject"` // what the case is about, e.g. #12
}

// Ended is the Data of SessionEnd of a case.
type Ended struct {
	Outcome string `json:"outcome"` // success
}

// Analyzed is the Data of RunAnalyzed.
type Analyzed struct {
	Checkpoint string         `json:"checkpoint"`
	State      routing.State  `json:"state"` // of the checkpoint, after it
	Result     routing.Result `json:"result"`
	Class      routing.Class  `json:"class,omitempty"`
	Decision   routing.Kind   `json:"decision"`
	Rule       string         `json:"rule"`
	Reason     string         `json:"reason,omitempty"`
	Iteration  int            `json:"iteration"`
	Max        int            `json:"max_iterations"`
	Run        string         `json:"run_id"`
	Attempt    int            `json:"attempt"`
	SHA        string         `json:"sha,omitempty"`
	URL        string         `json:"url,omitempty"`
	Counts     routing.Counts `json:"counts"`
}

// Handed is the Data of WorkerFeedback of a case.
type Handed struct {
	Checkpoint string   `json:"checkpoint"`
	Iteration  int      `json:"iteration"`
	Max        int      `json:"max_iterations"`
	SHA        string   `json:"sha,omitempty"`
	Failing    []string `json:"failing"` // the first of them
	More       int      `json:"more,omitempty"`
}

// Called is the Data of EscalationNew and EscalationResolved of a case.
type Called struct {
	Checkpoint string       `json:"checkpoint"`
	Decision   routing.Kind `json:"decision"`
	Reason     string       `json:"reason"`
	SHA        string       `json:"sha,omitempty"`
	By         string       `json:"by,omitempty"` // the human who resolved it; a green run has none
}

// Acted is the Data of HumanActed.
type Acted struct {
	Checkpoint string              `json:"checkpoint,omitempty"`
	Action     routing.HumanAction `json:"action"`
	By         string              `json:"by"`
	N          int                 `json:"n,omitempty"`
	Phase      routing.Phase       `json:"phase,omitempty"`
	Test       string              `json:"test,omitempty"`
	Class      routing.Class       `json:"class,omitempty"`
	Note       string              `json:"note,omitempty"`
}

// Effected is the Data of EffectDone.
type Effected struct {
	Effect     routing.EffectKind `json:"effect"`
	Checkpoint string             `json:"checkpoint"`
	Iteration  int                `json:"iteration"`
	Ref        string             `json:"ref,omitempty"` // what stands outside, e.g. a comment's id
}

// mostFailing is how many failing tests an event names.
const mostFailing = 5

// routed tells of a case.
func (n *teller) routed(events []routing.Event, seen int) error {
	c := routing.Case{Key: n.key}
	for i, e := range events {
		next, err := c.Apply(e)
		if err != nil {
			return fmt.Errorf("event %d of case %s: %w", i+1, n.key, err)
		}
		if i >= seen {
			n.step(c, next, e)
		}
		c = next
	}
	return nil
}

// step tells what one event of a case changed.
func (n *teller) step(was, is routing.Case, e routing.Event) {
	if begins := len(was.Checkpoints) == 0 && len(is.Checkpoints) > 0; begins || was.Complete && !is.Complete {
		n.tell(SessionStart, e.At, n.key, "", Started{n.key[len(n.repo):]})
	}
	if run, ok := e.Run(); ok {
		n.run(is, run, e.At)
	} else if act, ok := e.Human(); ok {
		if _, known := was.Answered[act.Answer]; known {
			return
		}
		n.tell(HumanActed, e.At, n.key, "", Acted{act.Checkpoint, act.Action, act.By, act.N, act.Phase, act.Test, act.Class, act.Note})
	} else if done, ok := e.Effect(); ok {
		n.tell(EffectDone, e.At, n.key, "", Effected{done.Effect.Kind, done.Effect.Checkpoint, done.Effect.Iteration, done.Ref})
	}
	for _, name := range is.Names() {
		n.called(was.Checkpoints[name], is.Checkpoints[name], e)
	}
	if is.Complete && !was.Complete {
		n.tell(SessionEnd, e.At, n.key, "", Ended{"success"})
	}
}

func (n *teller) run(is routing.Case, e routing.RunRecorded, at time.Time) {
	v, d := e.Verdict, e.Decision
	n.tell(RunAnalyzed, at, n.key, "", Analyzed{
		Checkpoint: v.Checkpoint, State: is.Checkpoints[v.Checkpoint].State, Result: v.Result, Class: v.Class, Decision: d.Kind, Rule: d.Rule,
		Reason: d.Reason, Iteration: d.Iteration, Max: d.Max, Run: v.Run.ID, Attempt: max(v.Run.Attempt, 1), SHA: v.Run.SHA, URL: v.Run.URL, Counts: v.Counts,
	})
	if d.Kind != routing.KindRetry || d.Again || d.Held {
		return
	}
	h := Handed{Checkpoint: v.Checkpoint, Iteration: d.Iteration, Max: d.Max, SHA: v.Run.SHA, Failing: []string{}}
	for _, f := range v.Failures {
		switch {
		case f.Quarantined:
		case len(h.Failing) < mostFailing:
			h.Failing = append(h.Failing, f.Name)
		default:
			h.More++
		}
	}
	n.tell(WorkerFeedback, at, n.key, "", h)
}

// called tells of a call for a human that began or ended.
func (n *teller) called(was, is routing.Checkpoint, e routing.Event) {
	before, now := calls(was), calls(is)
	if before != nil && (now == nil || now.Kind != before.Kind || !now.OpenedAt.Equal(before.OpenedAt)) {
		n.tell(EscalationResolved, e.At, n.key, "", Called{is.Name, before.Kind, before.Reason, before.SHA, e.Actor})
		before = nil
	}
	if now != nil && before == nil {
		n.tell(EscalationNew, e.At, n.key, "", Called{is.Name, now.Kind, now.Reason, now.SHA, ""})
	}
}

// calls returns the call for a human that a checkpoint waits by.
func calls(cp routing.Checkpoint) *routing.Escalation {
	if cp.State != routing.Escalated || cp.Skipped {
		return nil
	}
	if cp.Escalation == nil {
		return &routing.Escalation{OpenedAt: cp.Updated}
	}
	return cp.Escalation
}
