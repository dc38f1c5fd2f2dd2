package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
)

// checkPoster writes the checks of commits.
type checkPoster struct {
	hub    Hub
	repo   github.Repo
	render render.Options
}

// post writes what a checkpoint says of a commit.
func (p checkPoster) post(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if e.SHA == "" {
		return "", nil
	}
	o := p.render
	o.IssueURL = issueURL(c, c.Checkpoints[e.Checkpoint])
	k := render.Check(c, e.Checkpoint, e.SHA, o)
	return p.hub.Checks.Upsert(ctx, p.repo, e.SHA, github.Check{
		Name: "switchback / " + e.Checkpoint, ExternalID: c.Key + "/" + e.Checkpoint + "/check",
		Status: "completed", Conclusion: k.Conclusion, Title: k.Title, Summary: k.Summary,
		DetailsURL: p.render.RunURL, Annotations: annotations(k.Annotations),
	}, fresh)
}

func annotations(in []render.Annotation) []github.Annotation {
	out := make([]github.Annotation, 0, len(in))
	for _, a := range in {
		out = append(out, github.Annotation{Path: a.Path, StartLine: a.Line, EndLine: a.Line, Level: a.Level, Title: a.Title, Message: a.Message})
	}
	return out
}
