package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Escalations reads the register of escalations of a repository.
func Escalations(ctx context.Context, led ledger.Ledger, repo string) (escalation.State, error) {
	return escalations(led, repo).Load(ctx)
}

func escalations(led ledger.Ledger, repo string) ledger.Stream[escalation.State] {
	return ledger.Of(led, routing.StreamKey(repo, routing.StreamEscalations), escalation.Projection)
}

// ChangeEscalations asks fn what happened to the newest register of escalations of
// a repository, appends that, and returns the register with it. On a conflict
// fn is asked again, so it must have no effects.
func ChangeEscalations(ctx context.Context, led ledger.Ledger, repo string, fn func(escalation.State) ([]routing.Event, error)) (escalation.State, error) {
	return escalations(led, repo).Update(ctx, fn)
}

// change is ChangeEscalations of the effector's repository.
func (g *GitHub) change(ctx context.Context, fn func(escalation.State) ([]routing.Event, error)) (escalation.State, error) {
	return ChangeEscalations(ctx, g.Ledger, g.Repo.String(), fn)
}
