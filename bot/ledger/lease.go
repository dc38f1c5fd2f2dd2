package ledger

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// DefaultLease is how long a lease lasts where nothing else is configured.
const DefaultLease = 2 * time.Minute

// renewals bounds how often Keep renews: together three times as long as the lease.
const renewals = 9

// Lease is how one process takes leases: under which name, and for how long. What was granted is a
// routing.Lease, which the stream records.
type Lease struct {
	Owner string           // differs for every process
	TTL   time.Duration    // 0: DefaultLease
	Now   func() time.Time // nil: time.Now
}

func (l Lease) now() time.Time {
	if l.Now != nil {
		return l.Now().UTC()
	}
	return time.Now().UTC()
}

func (l Lease) ttl() time.Duration {
	if l.TTL > 0 {
		return l.TTL
	}
	return DefaultLease
}

// Take returns a lease that begins now. Recorded again before it ends, it renews the old one.
func (l Lease) Take() *routing.Lease {
	return &routing.Lease{Owner: l.Owner, Until: l.now().Add(l.ttl())}
}

// Release returns a lease that has ended, so that others need not wait for the end of the one that
// it replaces.
func (l Lease) Release() *routing.Lease { return &routing.Lease{Owner: l.Owner, Until: l.now()} }

// Mine reports whether this process holds x for at least another quarter of a lease, which is
// enough to begin one more effect.
func (l Lease) Mine(x *routing.Lease) bool { return x.HeldBy(l.Owner, l.now().Add(l.ttl()/4)) }

// Taken reports whether another process holds x.
func (l Lease) Taken(x *routing.Lease) bool { return x.HeldByOther(l.Owner, l.now()) }

// Left returns how long x still lasts; it is negative after its end.
func (l Lease) Left(x *routing.Lease) time.Duration { return x.Until.Sub(l.now()) }

// Keep calls renew three times in the time of a lease, while work takes long, as with a GitHub that
// answers slowly: no other process is to begin what is still under way. It ends after three times
// the lease, so that work that never ends is left to others. Release stops it and waits for a renew
// that is under way.
func (l Lease) Keep(ctx context.Context, renew func(context.Context)) (release func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(l.ttl() / 3)
		defer t.Stop()
		for range renewals {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			renew(ctx)
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}
