// Package requests keeps the feedback between the ports of a plan in a ledger: what
// a port sends, what it is handed before it acts, and what its run came to.
package requests

import (
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Store is the feedback of one build of a plan. It is safe for use by many
// processes.
type Store struct {
	Ledger ledger.Ledger
	Repo   string         // owner/name
	Build  string         // under which the feedback stands
	Plan   feedback.Graph // along which it goes
	Now    func() time.Time
}

// All is the book of a repository's register alone, of no build.
func All(led ledger.Ledger, repo string) Store { return Store{Ledger: led, Repo: repo} }

// State reads the feedback requests of the repository, of all builds.
func (b Store) State(ctx context.Context) (feedback.State, error) {
	return b.stream().Load(ctx)
}

// Change asks fn what to add to the register, appends that, and returns the
// register with it. On a conflict fn is asked again, so it must have no effects.
func (b Store) Change(ctx context.Context, fn func(feedback.State) ([]routing.Event, error)) (feedback.State, error) {
	return b.stream().Update(ctx, fn)
}

func (b Store) stream() ledger.Stream[feedback.State] {
	return ledger.Of(b.Ledger, routing.StreamKey(b.Repo, routing.StreamFeedbackRequests), feedback.Projection)
}

// Sent is what a sending came to, as it is told to the sender.
type Sent struct {
	ID         string               `json:"feedback_id"`
	Status     feedback.Status      `json:"status"`
	Round      int                  `json:"round"`
	At         time.Time            `json:"timestamp"`
	Refusal    *feedback.Refusal    `json:"refusal,omitempty"`
	Escalation *feedback.Escalation `json:"escalation,omitempty"`
}

// Send queues a message, or records why it is refused.
func (b Store) Send(ctx context.Context, message []byte) (Sent, error) {
	var out feedback.Sent
	now := b.Now()
	_, err := b.Change(ctx, func(r feedback.State) (_ []routing.Event, err error) {
		out, err = r.Outbox(b.Build, b.Plan, now).SendJSON(message)
		return out.Events, err
	})
	return Sent{out.ID, out.Status, out.Round, now.UTC().Truncate(time.Second), out.Refusal, out.Escalation}, err
}

// Received is what a node is to know before it acts.
type Received struct {
	Feedback []feedback.Handoff  `json:"feedback"` // that it is to act on
	Answers  []feedback.Answered `json:"answers"`  // to its own questions
}

// Receive delivers what is queued for a node, and returns what stands with it.
// It returns the same until the node's run is settled.
func (b Store) Receive(ctx context.Context, node string) (Received, error) {
	r, err := b.Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		return r.Lifecycle(nil, b.Now()).Receive(b.Build, node)
	})
	if err != nil {
		return Received{}, err
	}
	return Received{orNone(r.Of(b.Build).For(node)), orNone(r.Of(b.Build).Answers(node))}, nil
}

// Answer notes what a node answers to a question that it was handed.
func (b Store) Answer(ctx context.Context, node, id, text string, files []string) (feedback.Record, error) {
	r, err := b.Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		x, ok := r.ByID(id)
		if !ok || x.Plan != b.Build || x.Message.To != node {
			return nil, fmt.Errorf("%s is no feedback to %s", id, node)
		}
		return r.Lifecycle(nil, b.Now()).Answer(id, text, files)
	})
	x, _ := r.ByID(id)
	return x, err
}

// Before is what a port is to know before it acts.
type Before struct {
	Requests []plan.WorkerRequest
	Received                   // of the requests alone
	Waits    []feedback.Record // feedback that the port sent: it is to do nothing
}

// Before delivers what is queued for a port and returns what its run is for. A
// port that verifies is handed the answers to its questions, and no feedback.
func (b Store) Before(ctx context.Context, id string) (Before, error) {
	r, err := b.Change(ctx, func(r feedback.State) ([]routing.Event, error) { return r.Lifecycle(nil, b.Now()).Receive(b.Build, id) })
	if err != nil {
		return Before{}, err
	}
	out := Before{Requests: plan.WorkerRequestsOf(r, b.Build, id), Waits: r.Of(b.Build).Waiting(id)}
	all := r.Of(b.Build).For(id)
	for _, e := range out.Requests {
		for _, h := range all {
			if h.ID == e.Feedback {
				out.Feedback = append(out.Feedback, h)
			}
		}
	}
	if len(out.Feedback) == 0 && len(out.Requests) > 0 {
		out.Answers = r.Of(b.Build).Answers(id)
	}
	return out, nil
}

// Waiting returns the open feedback of a port whose targets have not run.
func (b Store) Waiting(ctx context.Context, id string) ([]feedback.Record, error) {
	r, err := b.State(ctx)
	return r.Of(b.Build).Waiting(id), err
}

// Settle notes what the end of a pair means for the feedback that it ran for. It
// may be done again.
func (b Store) Settle(ctx context.Context, l plan.Loop, output string) error {
	if len(l.Requests) == 0 {
		return nil
	}
	_, err := b.Change(ctx, func(r feedback.State) ([]routing.Event, error) { return plan.Settle(l, r, b.Plan, output, b.Now()) })
	return err
}

// Hand delivers what can be delivered now, and ends what cannot go on, as its
// sender or its target is no longer in the plan. What goes to the root stands
// with people from then on.
func (b Store) Hand(ctx context.Context) (feedback.State, error) {
	return b.Change(ctx, func(r feedback.State) ([]routing.Event, error) {
		var out []routing.Event
		now := b.Now()
		do := func(events []routing.Event, err error) error {
			for _, e := range events {
				if err == nil {
					r, err = r.Apply(e)
				}
			}
			out = append(out, events...)
			return err
		}
		for _, x := range r.Of(b.Build).Open() {
			for _, id := range []string{x.Message.From, x.Message.To} {
				if !b.Plan.Has(id) && id != b.Plan.Root() {
					if err := do(r.Lifecycle(nil, now).Withdraw(x.ID, fmt.Sprintf("port %s is no longer in the plan", id))); err != nil {
						return nil, err
					}
					break
				}
			}
		}
		for {
			x, ok := r.Of(b.Build).Next()
			if !ok {
				return out, nil
			}
			if err := do(r.Lifecycle(nil, now).Deliver(x.ID)); err != nil {
				return nil, err
			}
			if x.Message.To == b.Plan.Root() {
				if err := do(r.Lifecycle(nil, now).Begin(x.ID)); err != nil {
					return nil, err
				}
			}
		}
	})
}

// Of returns the name under which the feedback of a build of a plan stands.
func Of(plan, build string) string { return plan + "/" + build }

func orNone[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
