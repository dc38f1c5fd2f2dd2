package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing"
)

// PausedLabel marks a pull request that waits for a human.
const PausedLabel = "switchback:paused"

// labelSetter sets the labels of a pull request.
type labelSetter struct {
	hub     Hub
	repo    github.Repo
	subject Subject
}

// set shows on the pull request whether it waits for a human.
func (s labelSetter) set(ctx context.Context, c routing.Case) error {
	if s.subject.Number == 0 {
		return nil
	}
	paused := []github.LabelSpec{{Name: PausedLabel, Color: "d4c5f9", Description: "Waits for a human; see the escalation"}}
	for _, name := range c.Names() {
		if cp := c.Checkpoints[name]; (cp.State == routing.Escalated && !cp.Skipped) || cp.Paused {
			_, err := s.hub.Labels.Sync(ctx, s.repo, s.subject.Number, s.subject.Labels, paused, nil)
			return err
		}
	}
	_, err := s.hub.Labels.Sync(ctx, s.repo, s.subject.Number, s.subject.Labels, nil, paused)
	return err
}
