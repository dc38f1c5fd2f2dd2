package build

import (
	"context"

	"github.com/switchback-ci/switchback/bot/hub"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing/port"
)

// Checks is what a Desk does to checks.
type Checks interface {
	UpsertCheck(ctx context.Context, r hub.Repo, sha string, c hub.Check, fresh bool) (ref string, err error)
}

// check shows on the commit of a build how far it is, with the same text as the
// plan's issue. A build whose commit is not known has none, and neither has one whose
// token may not write checks: the issue says the same.
func (d *Desk) check(ctx context.Context, reg port.Register, b port.Board) error {
	if d.Checks == nil || reg.Build.SHA == "" {
		return nil
	}
	c := hub.Check{
		Name: "switchback / plan " + d.Name, ExternalID: d.Key() + "/" + reg.Build.ID + "/check", Status: "in_progress",
		Title: render.PlanProgress(b, d.Render), Summary: render.PlanBody(d.Name, b, d.Render), DetailsURL: reg.Build.URL,
	}
	if done, passed := b.Done(); done {
		c.Status = "completed"
		switch {
		case passed:
			c.Conclusion = "success"
		case b.Counts[port.IsEscalated]+b.Counts[port.IsPaused] > 0:
			c.Conclusion = "action_required"
		default:
			c.Conclusion = "failure"
		}
	}
	_, err := d.Checks.UpsertCheck(ctx, d.Repo, reg.Build.SHA, c, false)
	if kind, _ := hub.Verdict(err); kind == hub.ReadOnly || kind == hub.Gone { // the commit may be gone as well
		return nil
	}
	return err
}
