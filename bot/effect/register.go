package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalate"
	"github.com/switchback-ci/switchback/routing/feedback"
)

// Register reads the register of escalations of a repository.
func Register(ctx context.Context, led ledger.Ledger, repo string) (escalate.Register, error) {
	return ChangeRegister(ctx, led, repo, func(escalate.Register) ([]routing.Event, error) { return nil, nil })
}

// ChangeRegister asks fn what happened to the newest register of escalations of
// a repository, appends that, and returns the register with it. On a conflict
// fn is asked again, so it must have no effects.
func ChangeRegister(ctx context.Context, led ledger.Ledger, repo string, fn func(escalate.Register) ([]routing.Event, error)) (escalate.Register, error) {
	events, err := ledger.Change(ctx, led, routing.RegisterKey(repo, routing.RegisterEscalations), func(old []routing.Event) ([]routing.Event, error) {
		r, err := escalate.FoldRegister(old)
		if err != nil {
			return nil, err
		}
		return fn(r)
	})
	if err != nil {
		return escalate.Register{}, err
	}
	return escalate.FoldRegister(events)
}

// change is ChangeRegister of the effector's repository.
func (g *GitHub) change(ctx context.Context, fn func(escalate.Register) ([]routing.Event, error)) (escalate.Register, error) {
	return ChangeRegister(ctx, g.Ledger, g.Repo.String(), fn)
}

// Edges reads the register of feedback between ports.
func Edges(ctx context.Context, led ledger.Ledger, repo string) (feedback.Register, error) {
	return ChangeEdges(ctx, led, repo, func(feedback.Register) ([]routing.Event, error) { return nil, nil })
}

// ChangeEdges is ChangeRegister for the register of feedback between ports.
func ChangeEdges(ctx context.Context, led ledger.Ledger, repo string, fn func(feedback.Register) ([]routing.Event, error)) (feedback.Register, error) {
	events, err := ledger.Change(ctx, led, routing.RegisterKey(repo, routing.RegisterEdges), func(old []routing.Event) ([]routing.Event, error) {
		r, err := feedback.FoldEdges(old)
		if err != nil {
			return nil, err
		}
		return fn(r)
	})
	if err != nil {
		return feedback.Register{}, err
	}
	return feedback.FoldEdges(events)
}
