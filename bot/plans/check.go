package plans

import (
	"context"
	"errors"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/planview"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Checks is what a TrackingIssue does to checks.
type Checks interface {
	Upsert(ctx context.Context, r github.Repo, sha string, c github.Check, fresh bool) (ref string, err error)
}

// check shows on the commit of a build how far it is, with the same text as the
// plan's issue. A build whose commit is not known has none, and neither has one whose
// token may not write checks: the issue says the same.
func (t TrackingIssue) check(ctx context.Context, reg plan.BuildState, b plan.Board) error {
	if t.checks == nil || reg.Build.SHA == "" {
		return nil
	}
	c := github.Check{
		Name: "switchback / plan " + t.store.plan, ExternalID: t.store.Key() + "/" + reg.Build.ID + "/check", Status: "in_progress",
		Title: planview.Progress(b, t.render), Summary: planview.Body(t.store.plan, b, t.render), DetailsURL: reg.Build.URL,
	}
	if done, passed := b.Done(); done {
		c.Status = "completed"
		switch {
		case passed:
			c.Conclusion = "success"
		case b.Counts[plan.IsEscalated]+b.Counts[plan.IsPaused] > 0:
			c.Conclusion = "action_required"
		default:
			c.Conclusion = "failure"
		}
	}
	_, err := t.checks.Upsert(ctx, t.repo, reg.Build.SHA, c, false)
	if kind := advice.Of(err).Kind; errors.Is(err, github.ErrReadOnly) || kind == advice.Gone { // the commit may be gone as well
		return nil
	}
	return err
}
