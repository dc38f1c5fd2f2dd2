package plans

import (
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan"
)

// feedbackRequests are the feedback requests of the builds of a plan.
type feedbackRequests struct {
	ledger ledger.Ledger
	repo   string // owner/name
	name   string // of the plan
	plan   plan.Plan
	now    func() time.Time
}

// of returns the feedback requests of the newest build.
func (f feedbackRequests) of(reg plan.BuildState) requests.Store {
	return requests.Store{Ledger: f.ledger, Repo: f.repo, Build: reg.Build.Feedback, Plan: f.plan, Now: f.now}
}

// nameFor returns the name under which the feedback requests of a new build stand: its own, or,
// while requests of the build before are open, that one's, so that none is lost and the rounds go on
// being counted.
func (f feedbackRequests) nameFor(ctx context.Context, reg plan.BuildState, build string) (string, error) {
	r, err := f.of(reg).State(ctx)
	if err != nil {
		return "", fmt.Errorf("the feedback requests: %w", err)
	}
	if before := reg.Build.Feedback; before != "" && len(r.Of(before).Open()) > 0 {
		return before, nil
	}
	return requests.Of(f.name, build), nil
}

// deliver delivers feedback requests, and returns those that are open then.
func (f feedbackRequests) deliver(ctx context.Context, reg plan.BuildState) (plan.FeedbackRequests, error) {
	b := f.of(reg)
	r, err := b.Hand(ctx)
	if err != nil {
		return plan.FeedbackRequests{}, fmt.Errorf("the feedback requests: %w", err)
	}
	return plan.FeedbackRequestsOf(r, b.Build), nil
}

// open returns the open feedback requests.
func (f feedbackRequests) open(ctx context.Context, reg plan.BuildState) (plan.FeedbackRequests, error) {
	b := f.of(reg)
	r, err := b.State(ctx)
	if err != nil {
		return plan.FeedbackRequests{}, fmt.Errorf("the feedback requests: %w", err)
	}
	return plan.FeedbackRequestsOf(r, b.Build), nil
}
