package plans

import (
	"context"
	"fmt"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Store is the stream of a plan, and the journals of its ports.
type Store struct {
	ledger ledger.Ledger
	repo   string // owner/name
	plan   string // its name
}

// Key is the ledger key of the plan's stream.
func (s Store) Key() string { return routing.PlanKey(s.repo, s.plan) }

func (s Store) portKey(id string) string { return routing.PortKey(s.repo, s.plan, id) }

// State reads the state of the plan.
func (s Store) State(ctx context.Context) (plan.BuildState, error) {
	return s.change(ctx, func(plan.BuildState) ([]routing.Event, error) { return nil, nil })
}

// change appends what step returns for the newest state, and returns the state with it. On a
// conflict step is asked again, so it must have no effects.
func (s Store) change(ctx context.Context, step func(plan.BuildState) ([]routing.Event, error)) (plan.BuildState, error) {
	r, err := ledger.Of(s.ledger, s.Key(), plan.Projection).Update(ctx, step)
	if err != nil {
		return plan.BuildState{}, fmt.Errorf("the register of plan %s: %w", s.plan, err)
	}
	return r, nil
}

// Journal reads the journal of a port.
func (s Store) Journal(ctx context.Context, id string) (plan.Journal, error) {
	events, _, err := s.ledger.Load(ctx, s.portKey(id))
	if err != nil {
		return plan.Journal{}, fmt.Errorf("the journal of port %s: %w", id, err)
	}
	j, err := plan.FoldJournal(events)
	if err != nil {
		return j, fmt.Errorf("the journal of port %s: %w", id, err)
	}
	return j, nil
}
