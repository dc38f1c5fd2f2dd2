package plans

import (
	"context"
	"fmt"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan"
)

// book is the feedback of the register's build.
func (d *Runner) book(reg plan.BuildState) requests.Store {
	return requests.Store{Ledger: d.Ledger, Repo: d.Repo.String(), Build: reg.Build.Feedback, Plan: d.Plan, Now: d.Now}
}

// goesOn returns under what name the feedback of a new build stands: its own, or,
// while feedback of the build before is open, that one's, so that nothing is lost
// and the rounds go on being counted.
func (d *Runner) goesOn(ctx context.Context, reg plan.BuildState, build string) (string, error) {
	r, err := d.book(reg).State(ctx)
	if err != nil {
		return "", fmt.Errorf("the register of edges: %w", err)
	}
	if before := reg.Build.Feedback; before != "" && len(r.Open(before)) > 0 {
		return before, nil
	}
	return requests.Of(d.Name, build), nil
}

// deliver delivers feedback, and returns what is open then.
func (d *Runner) deliver(ctx context.Context, reg plan.BuildState) (plan.FeedbackRequests, error) {
	b := d.book(reg)
	r, err := b.Hand(ctx)
	if err != nil {
		return plan.FeedbackRequests{}, fmt.Errorf("the register of edges: %w", err)
	}
	return plan.FeedbackRequestsOf(r, b.Build), nil
}

// open returns the open feedback as it is.
func (d *Runner) open(ctx context.Context, reg plan.BuildState) (plan.FeedbackRequests, error) {
	b := d.book(reg)
	r, err := b.State(ctx)
	if err != nil {
		return plan.FeedbackRequests{}, fmt.Errorf("the register of edges: %w", err)
	}
	return plan.FeedbackRequestsOf(r, b.Build), nil
}
