package handler

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
)

// pausedLabel pauses a pull request that a person adds the label switchback:paused to, and resumes
// one that it is removed from. For people without the role it is put back.
type pausedLabel struct{ cases }

// Handle implements Handler.
func (h pausedLabel) Handle(ctx context.Context, e *Event) (bool, error) {
	if e.PullRequest == nil || e.Label == nil {
		return true, errNoAnswer
	}
	return true, h.labeled(ctx, e, *e.PullRequest)
}

func (h pausedLabel) labeled(ctx context.Context, e *Event, pr PullRequest) error {
	if !strings.EqualFold(e.Label.Name, effect.PausedLabel) {
		return nil
	}
	who, err := h.sender(ctx, e, "triage")
	if err != nil || who.ignored {
		return err
	}
	key := effect.Subject{Number: pr.Number}.Key(h.Repo)
	on := e.Action == "labeled"
	if !who.may {
		return relabel(ctx, h.Deps, pr.Number, !on)
	}
	c, err := load(ctx, h.Deps, key)
	if err != nil {
		return err
	}
	action := routing.HumanResume
	if on {
		action = routing.HumanPause
	}
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		waits := cp.Paused || cp.State == routing.Escalated
		if on == waits || cp.State == routing.Completed && on || cp.Skipped && !cp.Paused && !on { // a skipped checkpoint is not paused
			continue
		}
		ev := routing.HumanActed{Checkpoint: name, Action: action, By: who.login, Answer: fmt.Sprintf("label/%d/%s/%s/%s", pr.Number, e.Action, pr.UpdatedAt, name)}
		if _, err := h.act(ctx, key, ev); err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

func relabel(ctx context.Context, d Deps, number int, on bool) error {
	paused := []github.LabelSpec{{Name: effect.PausedLabel, Color: "d4c5f9", Description: "Waits for a human; see the escalation"}}
	var err error
	if on {
		_, err = d.GitHub.Labels.Sync(ctx, d.Repo, number, nil, paused, nil)
	} else {
		_, err = d.GitHub.Labels.Sync(ctx, d.Repo, number, nil, nil, paused)
	}
	return err
}

// closedPullRequest ends the case of a pull request that was closed: its escalations close. Whoever
// may write can resume it with a command.
type closedPullRequest struct{ cases }

// Handle implements Handler.
func (h closedPullRequest) Handle(ctx context.Context, e *Event) (bool, error) {
	return true, h.closed(ctx, *e.PullRequest, e.Sender.Login)
}

func (h closedPullRequest) closed(ctx context.Context, pr PullRequest, by string) error {
	key := effect.Subject{Number: pr.Number}.Key(h.Repo)
	c, err := load(ctx, h.Deps, key)
	if err != nil {
		return err
	}
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		if cp.State != routing.Escalated || cp.Skipped || cp.WontFix != nil {
			continue
		}
		e := routing.HumanActed{Checkpoint: name, Action: routing.HumanWontFix, By: by,
			Answer: fmt.Sprintf("closed/%d/%s/%s", pr.Number, pr.ClosedAt, name)}
		if _, err := h.act(ctx, key, e); err != nil && !refused(err) {
			return err
		}
	}
	if slices.ContainsFunc(c.Names(), func(name string) bool { _, on := routing.OnHoldForIncident(c.Checkpoints[name]); return on }) {
		if err := Incidents(h.Deps).Left(ctx, key); err != nil {
			return err
		}
	}
	if c, err = load(ctx, h.Deps, key); err != nil || len(c.Pending) == 0 {
		return err
	}
	return finish(ctx, h.Deps, c)
}
