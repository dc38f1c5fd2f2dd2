package effect

import (
	"context"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// Register reads the register of escalations of a repository.
func Register(ctx context.Context, led ledger.Ledger, repo string) (escalation.Register, error) {
	return ChangeRegister(ctx, led, repo, func(escalation.Register) ([]routing.Event, error) { return nil, nil })
}

// ChangeRegister asks fn what happened to the newest register of escalations of
// a repository, appends that, and returns the register with it. On a conflict
// fn is asked again, so it must have no effects.
func ChangeRegister(ctx context.Context, led ledger.Ledger, repo string, fn func(escalation.Register) ([]routing.Event, error)) (escalation.Register, error) {
	return ledger.ChangeFold(ctx, led, routing.RegisterKey(repo, routing.RegisterEscalations), escalation.FoldRegister, fn)
}

// change is ChangeRegister of the effector's repository.
func (g *GitHub) change(ctx context.Context, fn func(escalation.Register) ([]routing.Event, error)) (escalation.Register, error) {
	return ChangeRegister(ctx, g.Ledger, g.Repo.String(), fn)
}
