package effect

import (
	"context"
	"log/slog"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// branchUpdater brings the branch of a pull request up to date with its base, or asks its author to.
type branchUpdater struct {
	hub     Hub
	repo    github.Repo
	subject Subject
	itself  bool // the branch is updated without asking
	render  render.Options
	log     *slog.Logger
}

// update does so for the commit that was on hold: a branch that has another head needs nothing. Where
// GitHub refuses to merge, as with a conflict or the branch of a fork, the author is asked.
func (u branchUpdater) update(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if u.subject.Number == 0 || u.subject.Head != "" && u.subject.Head != e.SHA {
		return "", nil
	}
	if u.itself {
		err := u.hub.PullRequests.UpdateBranch(ctx, u.repo, u.subject.Number, e.SHA)
		if kind := advice.Of(err).Kind; err == nil || kind == advice.Later || kind == advice.NotYet {
			return "", err
		}
		u.log.Warn("the branch is not updated, its author is asked to", "repo", u.repo.String(), "number", u.subject.Number, "err", err)
	}
	o := u.render
	if u.subject.Author != "" {
		o.Mention = "@" + u.subject.Author
	}
	body := render.BasePasses(c, e, o)
	if n := len(c.Checkpoints[e.Checkpoint].Attempts); n > 0 && c.Checkpoints[e.Checkpoint].Attempts[n-1].Kind == routing.KindIncident {
		body = render.IncidentOver(c, e, o)
	}
	id, _, err := u.hub.Comments.PostOnce(ctx, u.repo, u.subject.Number, marker.Format(e.Key, 0), body, fresh)
	return "comment:" + id, err
}
