package github

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// CheckWriteBudget returns an error whose advice is Later, with the time to wait, if a write would
// have to wait longer than MaxWait. It sends no request: call it before work that ends in writes.
func (c *Client) CheckWriteBudget(ctx context.Context) error {
	_, err := c.core.tr.limiter.writeDelay(ctx, c.core.tr.maxWait)
	return err
}

// Busy reports whether a write of this Client is in progress or waiting.
func (c *Client) Busy() bool {
	g := c.core.tr.limiter
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writers > 0
}

// EnterWriteQueue waits until no other caller is in the write queue and the rate limits allow a
// write, so that state which the caller reads afterwards is fresh when it posts. It returns the
// same errors as CheckWriteBudget. Without an error the caller must call leave.
func (c *Client) EnterWriteQueue(ctx context.Context) (leave func(), err error) {
	g := c.core.tr.limiter
	select {
	case g.writeQueue <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	leave = func() { <-g.writeQueue }
	for budget := c.core.tr.maxWait; ; {
		d, err := g.writeDelay(ctx, budget)
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

// writeDelay returns how long a write has to wait, or an error whose advice is Later if that is
// longer than budget.
func (g *rateLimiter) writeDelay(ctx context.Context, budget time.Duration) (wait time.Duration, err error) {
	err = g.budget.look(ctx, func(now time.Time, s *ratelimit.State) { wait = s.WriteDelay(now, g.budget.limits) })
	if err == nil && wait > budget {
		err = g.putOff(ctx, wait)
	}
	return wait, err
}
