package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Redraw writes the issue of a record anew out of the ledger, also over what
// was edited there. What live makes of the body that stands there says which
// boxes stay ticked.
func (g *GitHub) Redraw(ctx context.Context, rec escalation.Record, live func(body string) string) error {
	host, err := g.hostCase(ctx, routing.Case{}, rec)
	if err != nil {
		return err
	}
	spec, marker := g.issueSpec(ctx, host.Case, host, rec)
	_, _, err = g.Hub.RewriteIssue(ctx, g.Repo, rec.Number, marker, func(body string) markdown.Text { return spec.Write(live(body)) })
	return err
}
