package github

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// Room returns an error that is Later if a write would have to wait for longer
// than MaxWait, with when to come back. It costs nothing, and so is asked
// before work is begun that ends in writes.
func (h *Hub) Room(ctx context.Context) error {
	_, err := h.tr.gov.room(ctx, h.tr.maxWait)
	return err
}

// Busy reports whether anybody writes through this Hub, or waits for the turn
// to.
func (h *Hub) Busy() bool {
	g := h.tr.gov
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writers > 0
}

// Desk waits until it is this caller's turn at the desk, where one at a time
// writes down what is to be posted, and until the limits let a write through:
// what is looked at afterwards is new when it is posted. It is Later where Room
// is. The desk is to be left.
func (h *Hub) Desk(ctx context.Context) (leave func(), err error) {
	g := h.tr.gov
	select {
	case g.desk <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave = func() { <-g.desk }
	for budget := h.tr.maxWait; ; {
		d, err := g.room(ctx, budget)
		if err == nil && d > 0 {
			err = g.sleep(ctx, d)
			budget -= d
		}
		if err != nil {
			leave()
			return nil, err
		}
		if d == 0 {
			return leave, nil
		}
	}
}

// room returns how long a write has to wait, or the error of who does not wait
// for longer than budget.
func (g *governor) room(ctx context.Context, budget time.Duration) (wait time.Duration, err error) {
	err = g.update(ctx, func(now time.Time, s *ratelimit.State) { wait = s.Due(now, g.limits) })
	if err == nil && wait > budget {
		err = g.putOff(ctx, wait)
	}
	return wait, err
}
