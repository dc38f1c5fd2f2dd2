package effect

import (
	"context"
	"fmt"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// host is what the report of an issue is about: a case, a port, or feedback
// that people are to act on.
type host struct {
	routing.Case
	port *planview.PortReport
	asks *planview.Request
}

// planHost reads what an issue of a plan is about.
func (g *GitHub) planHost(ctx context.Context, m escalation.Member, rec escalation.Record) (host, error) {
	h := host{Case: routing.Case{Key: m.Case}}
	name, id, ok := routing.ParsePortKey(m.Case)
	if !ok {
		_, edge, ok := routing.ParseFeedbackRequestKey(m.Case)
		if !ok {
			return h, fmt.Errorf("%q names neither a case nor a port nor feedback", m.Case)
		}
		reg, err := requests.All(g.Ledger, g.Repo.String()).State(ctx)
		if err != nil {
			return h, err
		}
		x, ok := reg.ByID(edge)
		if !ok {
			return h, fmt.Errorf("%s: %w", edge, feedback.ErrUnknown)
		}
		h.asks = &planview.Request{Feedback: x, Record: rec}
		return h, nil
	}
	events, _, err := g.Ledger.Load(ctx, m.Case)
	if err != nil {
		return h, err
	}
	j, err := plan.FoldJournal(events)
	h.port = &planview.PortReport{Plan: name, Port: id, Journal: j, Attempts: plan.Attempts(events), Record: rec}
	return h, err
}

// EscalatePort brings the issue of an escalated port up to date, and opens
// it where there is none. It returns the number and address, "" where
// there is none to be shown. A pass a moment ago is no reason to wait: a port
// has had its turns.
func (g *GitHub) EscalatePort(ctx context.Context, call escalation.Request) (string, error) {
	limits := g.Config.Escalation.Limits()
	limits.Quiet = 0
	call.Facts.Title = planview.PortTitle(call.Member.Case, call.Facts.Type, g.Render)
	return g.call(ctx, routing.Case{Key: call.Member.Case}, call, limits)
}

// AskPlanner brings the issue that asks people to act on feedback up to date, and
// opens it where there is none.
func (g *GitHub) AskPlanner(ctx context.Context, plan string, x feedback.Record) (string, error) {
	limits := g.Config.Escalation.Limits()
	limits.Quiet = 0
	key := routing.FeedbackRequestKey(g.Repo.String(), plan, x.ID)
	call := x.Asks(key)
	call.Facts.Title = planview.RequestTitle(x, g.Render)
	return g.call(ctx, routing.Case{Key: key}, call, limits)
}

// Release takes what waits under key out of the issues that hold it: how it
// ceased to wait, and who ended it, "" for a green run. An issue that holds
// nothing any more is closed with comment. It may be done again.
func (g *GitHub) Release(ctx context.Context, key, checkpoint string, how escalation.How, by string, comment markdown.Text) error {
	reg, err := g.change(ctx, func(r escalation.State) ([]routing.Event, error) {
		var events []routing.Event
		for _, rec := range r.Open(key, checkpoint) {
			if how == escalation.Passed && !rec.Fuse && !g.Config.Escalation.Resolves(rec.Type) && rec.DismissedAt.IsZero() {
				continue // people close it
			}
			add, err := r.Leave(rec.ID, key, checkpoint, how, by, "", g.now())
			if err != nil {
				return nil, err
			}
			events = append(events, add...)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	bye := farewell{comment, "completed"}
	if how == escalation.WontFix {
		bye.reason = "not_planned"
	}
	for _, rec := range reg.Records {
		if err := g.after(ctx, routing.Case{Key: key}, checkpoint, rec, bye); err != nil {
			return err
		}
	}
	return nil
}

// labelsOf are the labels of a record's issue.
func labelsOf(rec escalation.Record) []github.LabelSpec {
	if _, _, asks := routing.ParseFeedbackRequestKey(rec.Host().Case); asks && !rec.Fuse {
		return []github.LabelSpec{
			{Name: "switchback", Color: "5319e7", Description: "Filed by Switchback"},
			{Name: "switchback:planning", Color: "bf8700", Description: "A port asks for a change of its plan"},
		}
	}
	return escalationLabels(string(rec.Type), string(rec.Severity))
}

// Escalations reads the register of escalations.
func (g *GitHub) Escalations(ctx context.Context) (escalation.State, error) {
	return Escalations(ctx, g.Ledger, g.Repo.String())
}
