package ledger

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
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

// ErrLeaseEnded is why a context of Keep is cancelled.
var ErrLeaseEnded = advice.New("the lease ended before the work was done", advice.Advice{Kind: advice.Later, After: time.Second})

// Keep renews the lease x three times in the time of a lease, while work takes long, as with a GitHub
// that answers slowly: no other process is to begin what is still under way. Renew returns the lease
// as it stands then, or an error if that is not known. The work uses the context held, which is
// cancelled shortly before the newest lease ends, so that what it began is seen by the process that
// goes on. After three times the lease it is not renewed, so that work that never ends is left to
// others. Release stops it and waits for a renew that is under way.
func (l Lease) Keep(ctx context.Context, x *routing.Lease, renew func(context.Context) (*routing.Lease, error)) (held context.Context, release func()) {
	held, cancel := context.WithCancelCause(ctx)
	// safe is how long after now work may go on under x.
	safe := func(x *routing.Lease) time.Duration {
		if x == nil || x.Owner != l.Owner {
			return 0
		}
		return max(0, l.Left(x)-l.ttl()/8)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end := time.NewTimer(safe(x))
		defer end.Stop()
		tick := time.NewTicker(l.ttl() / 3)
		defer tick.Stop()
		renewed := make(chan time.Time, 1)
		for n, busy := 0, false; ; {
			select {
			case <-held.Done():
				if busy {
					<-renewed
				}
				return
			case <-end.C:
				cancel(ErrLeaseEnded)
			case at := <-renewed:
				busy = false
				if !at.IsZero() {
					end.Reset(time.Until(at))
				}
			case <-tick.C:
				if n++; n > renewals || busy {
					continue
				}
				busy = true
				go func() { // a ledger that answers slowly does not keep the end from being noticed
					now, err := renew(held)
					if err != nil {
						renewed <- time.Time{}
						return
					}
					renewed <- time.Now().Add(safe(now))
				}()
			}
		}
	}()
	return held, func() {
		cancel(context.Canceled)
		<-ended
	}
}
