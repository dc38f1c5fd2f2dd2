package pipeline

import (
	"context"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// pollEvery is how often a process looks whether another one's lease has ended.
const pollEvery = 2 * time.Second

// caseLease is the lease of this process on the effects of one case, as the case's stream records
// it.
type caseLease struct {
	key    string
	lease  ledger.Lease
	stream ledger.Stream[routing.Case]
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error
	log    *slog.Logger
}

// event records a lease.
func (l caseLease) event(lease *routing.Lease) routing.Event {
	return routing.LeaseEvent(l.key, lease, l.now())
}

// await waits until the lease of another process ends or its work is done.
func (l caseLease) await(ctx context.Context, c routing.Case) (routing.Case, error) {
	poll := func(c routing.Case) error {
		return l.sleep(ctx, min(max(l.lease.Left(c.Lease), 50*time.Millisecond), pollEvery))
	}
	for now, err := range l.stream.Subscribe(ctx, poll) {
		if c = now; err != nil || len(c.Pending) == 0 || !l.lease.Taken(c.Lease) {
			return c, err
		}
	}
	return c, ctx.Err()
}

// takeOver leases the pending effects, unless another process did so meanwhile.
func (l caseLease) takeOver(ctx context.Context) (routing.Case, error) {
	return l.stream.Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		if len(c.Pending) == 0 || l.lease.Taken(c.Lease) {
			return nil, nil
		}
		return []routing.Event{l.event(l.lease.Take())}, nil
	})
}

// release ends this process's lease: the pending effects wait for their time, and the process that
// applies them then need not wait for the lease as well.
func (l caseLease) release(ctx context.Context) (routing.Case, error) {
	return l.stream.Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		if c.Lease == nil || c.Lease.Owner != l.lease.Owner {
			return nil, nil
		}
		return []routing.Event{l.event(l.lease.Release())}, nil
	})
}

// hold renews this process's lease x while an effect takes long, as with a GitHub that answers
// slowly: no other process is to begin what is still under way. An effect that never ends, or whose
// lease cannot be renewed, is cut off by the context held, and left to others.
func (l caseLease) hold(ctx context.Context, x *routing.Lease) (held context.Context, release func()) {
	return l.lease.Keep(ctx, x, func(ctx context.Context) (*routing.Lease, error) {
		c, err := l.stream.Update(ctx, func(c routing.Case) ([]routing.Event, error) {
			if c.Lease == nil || c.Lease.Owner != l.lease.Owner || len(c.Pending) == 0 {
				return nil, nil
			}
			return []routing.Event{l.event(l.lease.Take())}, nil
		})
		if err != nil && ctx.Err() == nil {
			l.log.Warn("lease not renewed", "case", l.key, "err", err)
		}
		return c.Lease, err
	})
}
