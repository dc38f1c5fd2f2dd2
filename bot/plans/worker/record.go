package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

// loopRecorder records the steps of a port's loop in its journal.
type loopRecorder struct {
	journal *Journal
	plan    string
	spec    plan.Spec
	me      plan.Runner
	mark    string      // of the worker that is begun next
	worker  *plan.Spawn // that is in progress, as it is recorded
	since   time.Time   // of the last event that is recorded
}

// record appends events, unless another process has taken over. It is done even
// if ctx has ended: what happened is to be known.
func (r *loopRecorder) record(ctx context.Context, fn func(plan.Journal) []plan.Event) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer stop()
	j, _, err := r.journal.Record(ctx, func(j plan.Journal) ([]plan.Event, error) {
		if j.Runner == nil {
			return nil, ErrLost
		}
		if j.Runner.ID != r.me.ID {
			return nil, ErrTaken
		}
		return fn(j), nil
	})
	if err == nil {
		r.worker, r.since = j.Worker, j.Updated
	}
	return err
}

// step returns the events of a step of the loop.
func (r *loopRecorder) step(l plan.Loop, acts []plan.Action, j plan.Journal, hash string, now time.Time) []plan.Event {
	var out []plan.Event
	add := func(e plan.Event) { e.At = now; out = append(out, e) }
	channel := &plan.Channel{ID: l.ChannelID, SessionA: l.ImplSession, SessionB: l.TestSession, Status: plan.ChannelActive, CreatedAt: now}
	for _, a := range acts {
		switch a.Kind {
		case plan.OpenChannel:
			add(plan.Event{Kind: plan.ChannelOpened, Session: l.Operator, Channel: channel})
		case plan.Send:
			if a.Message.Type == plan.FeedbackMessage {
				add(plan.Event{Kind: plan.WorkerFeedback, Session: l.TestSession, Iteration: l.CurrentTry, Feedback: l.Last})
			}
			add(plan.Event{Kind: plan.DirectMessage, Session: a.Message.From, Message: a.Message})
		case plan.CloseDown:
			channel.Status = plan.ChannelClosed
			add(plan.Event{Kind: plan.ChannelShut, Session: l.Operator, Channel: channel})
		case plan.Escalate:
			c := callOf(l, now)
			add(plan.Event{Kind: plan.EscalationNew, Session: l.Operator, Escalation: &c})
		}
	}
	add(progressOf(l))
	changed := plan.Event{Kind: plan.PairChanged, At: now, Session: l.Operator, Pair: &l}
	if l.Status == plan.Running {
		return append(append(out, changed), r.spawn(l, now)...)
	}
	result := plan.ResultOf(l, hash)
	changed.Result = &result
	out = append(out, changed)
	if l.Status == plan.Success {
		for _, c := range j.Waiting() {
			c.ResolvedBy, c.ResolvedAt = "switchback", now
			add(plan.Event{Kind: plan.EscalationResolved, Session: l.Operator, Escalation: &c})
		}
	}
	for _, s := range []string{l.ImplSession, l.TestSession, l.Operator} {
		add(plan.Event{Kind: plan.SessionEnd, Session: s, Outcome: l.Outcome, Reason: l.Reason})
	}
	return out
}

// spawn is the worker that is begun next. It is recorded with the step before it,
// as every append takes its time, and before it runs, so that it can be found.
func (r *loopRecorder) spawn(l plan.Loop, now time.Time) []plan.Event {
	role := roleOf(l)
	c := commandOf(r.spec, role)
	if c == nil {
		return nil
	}
	w := &plan.Spawn{Role: role, Mark: r.mark, Host: r.me.Host}
	if c.Workflow != "" {
		w = &plan.Spawn{Role: role, Mark: r.mark, Workflow: c.Workflow, At: now,
			Key: plan.Dispatch{Plan: r.plan, Port: r.spec.ID, Role: role, Turn: l.Attempt, Mark: r.mark}.Key()}
	}
	return []plan.Event{{Kind: plan.WorkerSpawn, At: now, Session: sessionOf(l, role), Iteration: l.Attempt, Spawn: w}}
}

// roleOf is whose turn it is.
func roleOf(l plan.Loop) plan.Role {
	if l.Phase == plan.Testing {
		return plan.Test
	}
	return plan.Impl
}

func sessionOf(l plan.Loop, role plan.Role) string {
	if role == plan.Test {
		return l.TestSession
	}
	return l.ImplSession
}

// commandOf returns what the worker of a role runs, nil for nothing.
func commandOf(s plan.Spec, role plan.Role) *plan.Command {
	if role == plan.Test {
		return s.Test
	}
	return s.Impl
}

// dispatched reports whether a workflow is at work as the loop wants it.
func dispatched(s plan.Spec, w *plan.Spawn, l plan.Loop) bool {
	c := commandOf(s, roleOf(l))
	return w != nil && w.Key != "" && w.Role == roleOf(l) && c != nil && c.Workflow != ""
}

func progressOf(l plan.Loop) plan.Event {
	session, task := l.ImplSession, fmt.Sprintf("turn %d of %d: %s", l.Attempt, l.MaxRetries+1, l.Phase)
	if l.Phase == plan.Testing {
		session = l.TestSession
	}
	if l.Status != plan.Running {
		session, task = l.Operator, "ended: "+string(l.Outcome)
	}
	return plan.Event{Kind: plan.WorkerProgress, Session: session,
		Progress: &plan.Progress{Session: session, Port: l.Port, Progress: l.Share(), Task: task, Tokens: l.Tokens}}
}

func callOf(l plan.Loop, now time.Time) plan.Escalation {
	f := l.Escalation
	return plan.Escalation{ID: l.ID + "/escalation", Session: l.Operator, Port: l.Port, Type: f.Type, Severity: f.Severity, Title: f.Title, Text: f.Description,
		Context:   map[string]any{"kind": f.Kind, "text": f.Context, "turns": l.CurrentTry, "tokens_used": l.Tokens},
		Suggested: orNone(slices.Clone(f.Suggested)), CreatedAt: now}
}
