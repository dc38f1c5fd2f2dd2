package effect

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// rerun runs the failed jobs of a run again, unless it has a newer attempt than
// the one that the human answered to. Where GitHub refuses, as for a run of more
// than a month ago, whoever waits for it is told: to ask again would not help.
func (g *GitHub) rerun(ctx context.Context, e routing.Effect) error {
	id, attempt, err := target(e.Target)
	if err != nil {
		return err
	}
	live, err := g.Hub.Runs.Get(ctx, g.Repo, id, 0)
	if err == nil && live.Attempt <= attempt {
		err = g.Hub.Runs.RerunFailed(ctx, g.Repo, id)
	}
	if kind := advice.Of(err).Kind; err == nil || kind == advice.Later || g.Subject.Number == 0 {
		return err
	}
	g.log().Warn("the failed jobs are not run again", "repo", g.Repo.String(), "run", id, "err", err)
	_, _, err = g.Hub.Comments.PostOnce(ctx, g.Repo, g.Subject.Number, marker.Format(e.Key+"/refused", 0), render.NotRerun(id, err, g.Render), false)
	return err
}

// target reads the id and the attempt of a run.
func target(s string) (id int64, attempt int, err error) {
	run, try, _ := strings.Cut(s, "/")
	if id, err = strconv.ParseInt(run, 10, 64); err == nil {
		attempt, err = strconv.Atoi(try)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%q is no run and attempt: %w", s, err)
	}
	return id, attempt, nil
}

func (g *GitHub) react(ctx context.Context, e routing.Effect) error {
	id, err := strconv.ParseInt(e.Target, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no comment: %w", e.Target, err)
	}
	return g.Hub.Comments.React(ctx, g.Repo, id)
}
