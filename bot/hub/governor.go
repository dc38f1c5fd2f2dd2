package hub

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// GitHub's limits on requests that create content.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
const (
	perMinute = 80
	perHour   = 500
)

// governor lets one write at a time through, spaced and counted, and holds
// everything back while GitHub wants to be left alone.
type governor struct {
	turn     chan struct{}
	interval time.Duration
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error

	mu      sync.Mutex
	sent    []time.Time // writes of the last hour
	blocked time.Time   // nothing is sent before
}

func newGovernor(o Options) *governor {
	return &governor{turn: make(chan struct{}, 1), interval: max(0, o.ContentInterval), now: o.Now, sleep: o.Sleep}
}

// acquire waits for the turn to write, at most budget beyond the writes before
// it, and returns what gives the turn back.
func (g *governor) acquire(ctx context.Context, budget time.Duration) (release func(), err error) {
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { <-g.turn }
	if d := g.due(); d > budget {
		release()
		return nil, &Error{Kind: Later, After: d, Message: fmt.Sprintf("%d writes an hour and %d a minute are used up", perHour, perMinute)}
	} else if d > 0 {
		if err := g.sleep(ctx, d); err != nil {
			release()
			return nil, err
		}
	}
	g.mu.Lock()
	g.sent = append(g.sent, g.now())
	g.mu.Unlock()
	return release, nil
}

// due returns how long the next write has to wait.
func (g *governor) due() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	for len(g.sent) > 0 && now.Sub(g.sent[0]) >= time.Hour {
		g.sent = g.sent[1:]
	}
	n, wait := len(g.sent), time.Duration(0)
	after := func(back int, d time.Duration) {
		if n >= back {
			wait = max(wait, g.sent[n-back].Add(d).Sub(now))
		}
	}
	after(1, g.interval)
	after(perMinute, time.Minute)
	after(perHour, time.Hour)
	return wait
}

// block holds all requests back for d.
func (g *governor) block(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := g.now().Add(d); until.After(g.blocked) {
		g.blocked = until
	}
}

// gate waits while requests are held back, at most budget, and returns how
// long it waited.
func (g *governor) gate(ctx context.Context, budget time.Duration) (time.Duration, error) {
	g.mu.Lock()
	until := g.blocked
	d := until.Sub(g.now())
	g.mu.Unlock()
	if until.IsZero() || d <= 0 {
		return 0, nil
	}
	if d > budget {
		return 0, &Error{Kind: Later, After: d, Message: "rate limit"}
	}
	if err := g.sleep(ctx, d); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.blocked.Equal(until) {
		g.blocked = time.Time{}
	}
	return d, nil
}
