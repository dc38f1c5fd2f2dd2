package handler

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

// trusted returns s with whether its change starts agents without a maintainer's approval: the head
// is in the repository, and the author may write there, as GitHub says now. GitHub is asked only where
// the configuration starts anybody but the author.
func (d Deps) trusted(ctx context.Context, s effect.Subject) (effect.Subject, error) {
	s.Trusted = false
	if s.Number == 0 || s.Fork || s.Author == "" || d.Config.ForksOrDefault() == config.ForksAlways || !d.Config.HandsOff() && len(d.Config.Starts()) == 0 {
		return s, nil
	}
	own, err := d.GitHub.Users.Login(ctx)
	if err != nil {
		return s, err
	}
	if strings.EqualFold(own, s.Author) { // it could not have pushed the branch without write access
		s.Trusted = true
		return s, nil
	}
	role, err := d.GitHub.Collaborators.Role(ctx, d.Repo, s.Author)
	s.Trusted = github.Allows(role, "write")
	return s, err
}

// approvals adds to a policy what waits for a maintainer's approval.
func approvals(p routing.Policy, c config.File, s effect.Subject) routing.Policy {
	if s.Number > 0 && !s.Trusted && c.ForksOrDefault() == config.ForksApproved {
		p.ApproveHandoff, p.ApproveStart = c.HandsOff(), c.Starts()
	}
	if s.Number > 0 && !s.Trusted && c.ForksOrDefault() == config.ForksNever {
		p.Workers = slices.DeleteFunc(p.Workers, func(w routing.Worker) bool { return w.Name != config.Author })
	}
	return p
}

// bind binds the call of a hand-off that needs an approval to the newest commit of the pull request:
// who approves has seen the commit's result.
func (h commands) bind(ctx context.Context, t target, said string, e *routing.HumanActed) error {
	s, err := effect.ParseSubject(h.Repo, t.key)
	if err != nil || s.Number == 0 {
		return nil //nolint:nilerr // of a plan
	}
	c, err := load(ctx, h.Deps, t.key)
	if err != nil {
		return err
	}
	cp := c.Checkpoints[t.checkpoint]
	if !cp.Approval && e.Action != routing.HumanAccept || len(cp.Attempts) == 0 {
		return nil
	}
	at, err := time.Parse(time.RFC3339, said)
	decided := cp.Attempts[len(cp.Attempts)-1].At
	if err == nil && at.Before(decided.Truncate(time.Second)) {
		return routing.Refuse("approval-older", "commit {sha} was analyzed after the command was given; look at it and give the command again", "sha", cp.Last.SHA)
	}
	pr, err := h.GitHub.PullRequests.Get(ctx, h.Repo, s.Number)
	if err == nil && pr.HeadSHA != cp.Last.SHA {
		return routing.Refuse("approval-newer", "commit {sha} is the newest and has not been analyzed yet; wait for its result", "sha", pr.HeadSHA)
	}
	e.SHA = pr.HeadSHA
	return err
}
