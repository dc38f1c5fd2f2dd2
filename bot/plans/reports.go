package plans

import (
	"context"
	"fmt"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Reports reports on escalations of ports and of feedback requests that people are to act on. It
// implements effect.ReportSource.
type Reports struct {
	Ledger ledger.Ledger
	Repo   github.Repo
}

// Report implements effect.ReportSource.
func (s Reports) Report(ctx context.Context, rec escalation.Record) (func(render.Options) markdown.Text, error) {
	key := rec.Host().Case
	if name, id, ok := routing.ParsePortKey(key); ok {
		return s.port(ctx, key, name, id, rec)
	}
	_, id, ok := routing.ParseFeedbackRequestKey(key)
	if !ok {
		return nil, fmt.Errorf("%q names neither a case nor a port nor a feedback request", key)
	}
	all, err := requests.All(s.Ledger, s.Repo.String()).State(ctx)
	if err != nil {
		return nil, err
	}
	x, ok := all.ByID(id)
	if !ok {
		return nil, fmt.Errorf("%s: %w", id, feedback.ErrUnknown)
	}
	return func(o render.Options) markdown.Text {
		return planview.RequestBody(planview.Request{Feedback: x, Record: rec}, o)
	}, nil
}

func (s Reports) port(ctx context.Context, key, name, id string, rec escalation.Record) (func(render.Options) markdown.Text, error) {
	events, _, err := s.Ledger.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	j, err := plan.FoldJournal(events)
	if err != nil {
		return nil, err
	}
	report := planview.PortReport{Plan: name, Port: id, Journal: j, Attempts: plan.Attempts(events), Record: rec}
	return func(o render.Options) markdown.Text { return planview.PortBody(report, o) }, nil
}

// Labels implements effect.ReportSource: a port is labelled as a checkpoint is.
func (Reports) Labels(rec escalation.Record) []github.LabelSpec {
	if _, _, asks := routing.ParseFeedbackRequestKey(rec.Host().Case); !asks {
		return nil
	}
	return []github.LabelSpec{
		{Name: "switchback", Color: "5319e7", Description: "Filed by Switchback"},
		{Name: "switchback:planning", Color: "bf8700", Description: "A port asks for a change of its plan"},
	}
}
