package github

import (
	"context"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/marker"
)

// bodyEdit changes the body of an issue of the bot.
type bodyEdit struct {
	mark     string // the line of the marker
	write    func(live string) markdown.Text
	replaces func(m marker.Marker, live, body string) bool // reports whether body is to be written over live
	verify   bool                                          // read the issue again after the edit
}

// apply is the only place that changes the body of an issue. GitHub has no conditional edit, so
// another write can happen in between: with verify the body is read again, and if another write
// replaced ours, the body is computed again from that one, once.
func (e bodyEdit) apply(ctx context.Context, s *IssuesService, r Repo, i Issue) (Issue, bool, error) {
	for n := 1; ; n++ {
		m, body, err := seal("", e.mark, e.write(i.Body))
		if err != nil || !e.replaces(m, i.Body, body) {
			return i, n > 1, err
		}
		if _, _, err := s.gh.Issues.Edit(ctx, r.Owner, r.Name, i.Number, &github.IssueRequest{Body: &body}); err != nil {
			return Issue{}, n > 1, moved(Wrap("edit", err))
		}
		if !e.verify {
			i.Body = body
			return i, true, nil
		}
		live, err := s.Get(ctx, r, i.Number)
		if err != nil || n == 2 || sameText(live.Body, body) {
			return live, true, err
		}
		i = live
	}
}
