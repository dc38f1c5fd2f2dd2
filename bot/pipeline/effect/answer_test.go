package effect

import (
	"context"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing"
)

// runs is a hub that knows one run and comments.
type runs struct {
	Comments
	attempt int
	rerun   []int64
	reacted []int64
	refuses error
	posts   []string
}

func (r *runs) hub() Hub { return Hub{Comments: r, Runs: r, Repositories: r} }

func (r *runs) PostOnce(_ context.Context, _ github.Repo, _ int, marker string, body markdown.Text, _ bool) (string, bool, error) {
	r.posts = append(r.posts, marker+" "+string(body))
	return "", true, nil
}

func (r *runs) Get(_ context.Context, _ github.Repo, id int64, _ int) (github.WorkflowRun, error) {
	return github.WorkflowRun{ID: id, Attempt: r.attempt}, nil
}

func (r *runs) RerunFailed(_ context.Context, _ github.Repo, id int64) error {
	if r.refuses != nil {
		return r.refuses
	}
	r.rerun = append(r.rerun, id)
	r.attempt++
	return nil
}

func (r *runs) React(_ context.Context, _ github.Repo, id int64) error {
	r.reacted = append(r.reacted, id)
	return nil
}

func (r *runs) Absent(_ context.Context, _ github.Repo, err error) error { return err }

func TestRerunOnce(t *testing.T) {
	t.Parallel()
	h := &runs{attempt: 1}
	g := &GitHub{Hub: h.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}}
	for range 3 { // as after a process that was ended before it recorded the effect
		if _, err := g.Do(t.Context(), routing.Case{}, routing.Effect{Kind: routing.EffectRerun, Target: "42/1"}, false); err != nil {
			t.Fatal(err)
		}
	}
	if len(h.rerun) != 1 || h.rerun[0] != 42 {
		t.Errorf("run again: %v", h.rerun)
	}
	if _, err := g.Do(t.Context(), routing.Case{}, routing.Effect{Kind: routing.EffectRerun, Target: "review"}, false); err == nil {
		t.Error("no run was taken for one")
	}
}

// A refusal for good is told on the pull request, and not tried for ever.
func TestRerunRefused(t *testing.T) {
	t.Parallel()
	again := routing.Effect{Kind: routing.EffectRerun, Key: "acme/app#1/ci/42/1/rerun", Target: "42/1"}
	for kind, told := range map[advice.Kind]bool{advice.Fail: true, advice.Gone: true, advice.Blocked: true, advice.Later: false} {
		h := &runs{attempt: 1, refuses: &github.Error{Kind: kind, Message: "it was created over a month ago"}}
		g := &GitHub{Hub: h.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}, Subject: Subject{Number: 1}}
		_, err := g.Do(t.Context(), routing.Case{}, again, false)
		if (err == nil) != told || (len(h.posts) == 1) != told || told && !strings.Contains(h.posts[0], "over a month ago") {
			t.Errorf("%s: %v, %q", kind, err, h.posts)
		}
	}
}

func TestReact(t *testing.T) {
	t.Parallel()
	h := &runs{}
	g := &GitHub{Hub: h.hub(), Repo: github.Repo{Owner: "acme", Name: "app"}}
	if _, err := g.Do(t.Context(), routing.Case{}, routing.Effect{Kind: routing.EffectReact, Target: "77"}, false); err != nil || len(h.reacted) != 1 || h.reacted[0] != 77 {
		t.Errorf("%v %v", h.reacted, err)
	}
}
