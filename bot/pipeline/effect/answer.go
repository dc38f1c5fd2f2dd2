package effect

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/marker"
)

// responder applies what a person's answer asked for at once.
type responder struct {
	hub     Hub
	repo    github.Repo
	subject Subject
	render  render.Options
	log     *slog.Logger
}

// rerun runs the failed jobs of a run again, unless it has a newer attempt than
// the one that the human answered to. Where GitHub refuses, as for a run of more
// than a month ago, whoever waits for it is told: to ask again would not help.
func (r responder) rerun(ctx context.Context, e routing.Effect) error {
	id, _, err := target(e.Target)
	if err != nil {
		return err
	}
	err = r.again(ctx, e)
	if kind := advice.Of(err).Kind; err == nil || kind == advice.Later || r.subject.Number == 0 {
		return err
	}
	r.log.Warn("the failed jobs are not run again", "repo", r.repo.String(), "run", id, "err", err)
	_, _, err = r.hub.Comments.PostOnce(ctx, r.repo, r.subject.Number, marker.Format(e.Key+"/refused", 0), render.NotRerun(id, err, r.render), false)
	return err
}

// again runs the failed jobs of a run again, unless it has a newer attempt than the one that failed.
func (r responder) again(ctx context.Context, e routing.Effect) error {
	id, attempt, err := target(e.Target)
	if err != nil {
		return err
	}
	live, err := r.hub.Runs.Get(ctx, r.repo, id, 0)
	if err == nil && live.Attempt <= attempt {
		err = r.hub.Runs.RerunFailed(ctx, r.repo, id)
	}
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

// react marks the comment of an answer as taken.
func (r responder) react(ctx context.Context, e routing.Effect) error {
	id, err := strconv.ParseInt(e.Target, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no comment: %w", e.Target, err)
	}
	return r.hub.Comments.React(ctx, r.repo, id)
}
