package github

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// unreachableDelay is the least time to wait when the shared budget cannot be reached; up to as
// much again is added at random.
const unreachableDelay = 5 * time.Second

// detachedTimeout bounds an update of the shared budget that no caller waits for.
const detachedTimeout = 5 * time.Second

// sharedBudget is the rate limit state that all processes with one identity share.
type sharedBudget struct {
	store  ratelimit.Store
	limits ratelimit.Limits
	holder string
}

func newSharedBudget(o Options) *sharedBudget {
	b := &sharedBudget{store: o.Budget, limits: o.Rates, holder: cmp.Or(o.Holder, ratelimit.Alone)}
	if b.limits == (ratelimit.Limits{}) {
		b.limits = ratelimit.GitHub()
	}
	b.limits.Interval = max(0, o.ContentInterval)
	if b.store == nil {
		b.store = &ratelimit.LocalStore{Now: o.Now}
	}
	return b
}

// update updates the budget. If that fails, the error's advice is Later.
func (b *sharedBudget) update(ctx context.Context, step func(time.Time, *ratelimit.State)) error {
	return b.reached(ctx, b.store.Update(ctx, step))
}

// look shows see the budget as it was stored last. Its errors are those of update.
func (b *sharedBudget) look(ctx context.Context, see func(time.Time, *ratelimit.State)) error {
	return b.reached(ctx, b.store.Look(ctx, see))
}

func (b *sharedBudget) reached(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Error{Kind: advice.Later, After: unreachableDelay + rand.N(unreachableDelay), Message: tidy("the rate limit state cannot be reached: " + err.Error())}
}

// updateDetached updates the budget even if ctx has ended, and ignores errors.
func (b *sharedBudget) updateDetached(ctx context.Context, step func(time.Time, *ratelimit.State)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedTimeout)
	defer cancel()
	_ = b.store.Update(ctx, step) // the next request reports a budget that cannot be reached
}

// renew renews the write lease until stop is closed.
func (b *sharedBudget) renew(stop <-chan struct{}) {
	t := time.NewTicker(ratelimit.WriteLeaseTTL / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			b.updateDetached(context.Background(), func(now time.Time, s *ratelimit.State) { s.Renew(now, b.holder) })
		case <-stop:
			return
		}
	}
}

// releaseWriteLease releases the write lease, which expires by itself if that fails.
func (b *sharedBudget) releaseWriteLease(ctx context.Context) {
	b.updateDetached(ctx, func(now time.Time, s *ratelimit.State) { s.Done(now, b.limits, b.holder) })
}
