package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// rateLimiter acquires a share of the budget before a request is sent: several tokens at a time for
// reads, the write lease for each write. Writes are sent one at a time, in this process and among
// all processes that share the budget.
type rateLimiter struct {
	budget *sharedBudget
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	writeSlot  chan struct{} // held by the write of this process that is in progress
	refilling  chan struct{} // held while one goroutine refills the tokens for all
	writeQueue chan struct{} // see Client.EnterWriteQueue

	mu          sync.Mutex
	blocked     time.Time     // nothing is sent before this time
	tokens      int           // for reads
	tokensUntil time.Time     // when the tokens expire
	spent       int           // tokens, since the last refill
	slots       int           // requests that may be in progress
	inFlight    int           // requests that are in progress
	freed       chan struct{} // closed when one ends
	writers     int           // writes in progress or waiting
}

func newRateLimiter(o Options) *rateLimiter {
	return &rateLimiter{budget: newSharedBudget(o), now: o.Now, sleep: o.Sleep,
		writeSlot: make(chan struct{}, 1), refilling: make(chan struct{}, 1), writeQueue: make(chan struct{}, 1), freed: make(chan struct{})}
}

// creates reports whether GitHub may count a request as one that creates content. GitHub does not
// document which requests count, so every write does except deletions and those that only start a
// run or a delivery.
func creates(method, path string) bool {
	if !writes(method) || method == http.MethodDelete {
		return false
	}
	for _, start := range []string{"/rerun", "/rerun-failed-jobs", "/dispatches", "/attempts"} {
		if strings.HasSuffix(path, start) {
			return false
		}
	}
	return true
}

// acquire waits until a request may be sent, for at most budget in addition to the earlier writes
// of this process. It returns how long it waited, and the function to call after the response.
func (g *rateLimiter) acquire(ctx context.Context, method, path string, budget time.Duration) (leave func(), waited time.Duration, err error) {
	if writes(method) && !strings.HasSuffix(path, "/graphql") {
		return g.write(ctx, creates(method, path), budget)
	}
	return g.read(ctx, budget)
}

func (g *rateLimiter) read(ctx context.Context, budget time.Duration) (leave func(), waited time.Duration, err error) {
	for {
		wait, freed, ok := g.tryAcquire()
		if ok {
			return g.release, waited, nil
		}
		if freed != nil {
			select {
			case <-freed:
				continue
			case <-ctx.Done():
				return nil, waited, ctx.Err()
			}
		}
		if wait == 0 {
			if wait, err = g.refill(ctx); err != nil {
				return nil, waited, err
			}
		}
		if err := g.wait(ctx, wait, budget, &waited); err != nil {
			return nil, waited, err
		}
	}
}

// tryAcquire takes a token and a slot of this process. Without ok it returns how long all requests
// are blocked, or a channel that is closed when a slot is free, or neither if the tokens have to be
// refilled.
func (g *rateLimiter) tryAcquire() (wait time.Duration, freed <-chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	switch {
	case now.Before(g.blocked):
		return g.blocked.Sub(now), nil, false
	case g.tokens < ratelimit.ReadTokens || !now.Before(g.tokensUntil):
		return 0, nil, false
	case g.inFlight >= g.slots:
		return 0, g.freed, false
	}
	g.tokens -= ratelimit.ReadTokens
	g.spent += ratelimit.ReadTokens
	g.inFlight++
	return 0, nil, true
}

// refill gets tokens from the budget, unless another goroutine has just done so. It returns how
// long to wait if there are none.
func (g *rateLimiter) refill(ctx context.Context) (wait time.Duration, err error) {
	select {
	case g.refilling <- struct{}{}:
		defer func() { <-g.refilling }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	g.mu.Lock()
	began := g.now()
	if g.tokens >= ratelimit.ReadTokens && began.Before(g.tokensUntil) {
		g.mu.Unlock()
		return 0, nil
	}
	// Twice what was spent, so that a process that reads little leaves tokens to the others.
	ask := ratelimit.Request{Holder: g.budget.holder, Spent: g.spent, InUse: g.inFlight, Want: max(2*g.spent, 2*ratelimit.WriteTokens)}
	g.tokens = 0
	g.mu.Unlock()
	var l ratelimit.Grant
	if err := g.budget.update(ctx, func(now time.Time, s *ratelimit.State) { l = s.Read(now, g.budget.limits, ask) }); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent, g.tokens, g.tokensUntil, g.slots = 0, l.Tokens, began.Add(l.Life), l.Slots
	return l.Wait, nil
}

// release ends a request.
func (g *rateLimiter) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inFlight--
	close(g.freed)
	g.freed = make(chan struct{})
}

func (g *rateLimiter) write(ctx context.Context, content bool, budget time.Duration) (leave func(), waited time.Duration, err error) {
	g.addWriters(1)
	select {
	case g.writeSlot <- struct{}{}:
	case <-ctx.Done():
		g.addWriters(-1)
		return nil, 0, ctx.Err()
	}
	for {
		wait, err := g.acquireWriteLease(ctx, content)
		if err == nil && wait == 0 {
			stop := make(chan struct{})
			go g.budget.renew(stop)
			return func() {
				close(stop)
				g.budget.releaseWriteLease(ctx)
				g.release()
				<-g.writeSlot
				g.addWriters(-1)
			}, waited, nil
		}
		if err == nil {
			err = g.wait(ctx, wait, budget, &waited)
		}
		if err != nil {
			<-g.writeSlot
			g.addWriters(-1)
			return nil, waited, err
		}
	}
}

// acquireWriteLease takes a slot and the write lease that all users of the budget share.
func (g *rateLimiter) acquireWriteLease(ctx context.Context, content bool) (wait time.Duration, err error) {
	g.mu.Lock()
	if now := g.now(); now.Before(g.blocked) {
		defer g.mu.Unlock()
		return g.blocked.Sub(now), nil
	}
	g.inFlight++
	ask := ratelimit.Request{Holder: g.budget.holder, InUse: g.inFlight, Content: content}
	g.mu.Unlock()
	var l ratelimit.Grant
	err = g.budget.update(ctx, func(now time.Time, s *ratelimit.State) { l = s.Write(now, g.budget.limits, ask) })
	if err != nil || l.Wait > 0 {
		g.release()
		return l.Wait, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.slots = l.Slots
	return 0, nil
}

func (g *rateLimiter) addWriters(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers += n
}

// wait waits for d, or returns an error whose advice is Later if the total would exceed budget.
func (g *rateLimiter) wait(ctx context.Context, d, budget time.Duration, waited *time.Duration) error {
	if d == 0 {
		return nil
	}
	if *waited+d > budget {
		return g.putOff(ctx, d)
	}
	if err := g.sleep(ctx, d); err != nil {
		return err
	}
	*waited += d
	return nil
}

// putOff returns the error for a request that does not wait for d.
func (g *rateLimiter) putOff(ctx context.Context, d time.Duration) error {
	e := &Error{Kind: advice.Later, After: d, Message: fmt.Sprintf("the rate limits are exhausted: %v", g.budget.limits)}
	g.mu.Lock()
	if g.now().Before(g.blocked) {
		e.Message = "rate limit"
	}
	g.mu.Unlock()
	if err := g.budget.update(ctx, func(now time.Time, s *ratelimit.State) { e.After = s.PutOff(now, g.budget.limits, d) }); err != nil {
		return err
	}
	return e
}

// block blocks all requests for d, also those of other processes that share the budget.
func (g *rateLimiter) block(ctx context.Context, d time.Duration) {
	g.mu.Lock()
	if until := g.now().Add(d); until.After(g.blocked) {
		g.blocked = until
	}
	g.mu.Unlock()
	g.budget.updateDetached(ctx, func(now time.Time, s *ratelimit.State) { s.Block(now, d) })
}
