package signin

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/switchback-ci/switchback/bot/endpoint"
)

// The limits of sign-ins that return from GitHub. Many people can share an address, and each of
// them returns once.
const (
	burst     = 30              // of one address at once
	refill    = 2 * time.Second // until an address has one more
	atOne     = 16              // codes that are exchanged at once
	ofOne     = 4               // of them for one address
	queued    = 15 * time.Second
	addresses = 10_000 // that are remembered
)

// attempts limits the sign-ins that ask GitHub, by the address of the browser. An address that makes
// many waits for its own and not for those of others.
type attempts struct {
	now   func() time.Time
	slots *semaphore.Weighted // codes that are exchanged; waiting requests take turns

	mu sync.Mutex
	by map[netip.Addr]*sender
}

// sender is what one address has left.
type sender struct {
	tokens  float64
	at      time.Time           // of tokens
	slots   *semaphore.Weighted // of this address
	waiting int                 // requests that hold or wait for one
	logged  time.Time           // last time that a refusal was logged
}

func newAttempts(now func() time.Time) *attempts {
	return &attempts{now: now, slots: semaphore.NewWeighted(atOne), by: map[netip.Addr]*sender{}}
}

// allow takes one attempt of an address. wait is how long to wait for the next if there is none.
func (a *attempts) allow(from netip.Addr) (ok bool, wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sender(from)
	if s.tokens < 1 {
		return false, time.Duration((1 - s.tokens) * float64(refill))
	}
	s.tokens--
	return true, 0
}

// refund gives back an attempt that another request with the same state had made.
func (a *attempts) refund(from netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sender(from)
	s.tokens = min(burst, s.tokens+1)
}

// logs reports whether a refusal of an address is to be logged: one a minute, so that nobody fills the
// log.
func (a *attempts) logs(from netip.Addr) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sender(from)
	if s.at.Sub(s.logged) < time.Minute {
		return false
	}
	s.logged = s.at
	return true
}

// enter waits for a turn to ask GitHub: for one of those of the address, and then for one of all. It
// fails with the error of ctx, or when it took too long.
func (a *attempts) enter(ctx context.Context, from netip.Addr) (leave func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, queued)
	defer cancel()
	a.mu.Lock()
	s := a.sender(from)
	s.waiting++
	a.mu.Unlock()
	gone := func() {
		a.mu.Lock()
		s.waiting--
		a.mu.Unlock()
	}
	if err := s.slots.Acquire(ctx, 1); err != nil {
		gone()
		return nil, err
	}
	if err := a.slots.Acquire(ctx, 1); err != nil {
		s.slots.Release(1)
		gone()
		return nil, err
	}
	return func() {
		a.slots.Release(1)
		s.slots.Release(1)
		gone()
	}, nil
}

// sender returns the state of an address. The caller holds mu.
func (a *attempts) sender(from netip.Addr) *sender {
	from = endpoint.Group(from)
	now := a.now()
	s := a.by[from]
	if s == nil {
		if len(a.by) >= addresses {
			a.forget(now)
		}
		s = &sender{tokens: burst, at: now, slots: semaphore.NewWeighted(ofOne)}
		a.by[from] = s
	}
	s.tokens = min(burst, s.tokens+max(0, now.Sub(s.at).Seconds()/refill.Seconds()))
	s.at = now
	return s
}

// forget removes the addresses that have all their attempts again, and half of the others if those
// are too many.
func (a *attempts) forget(now time.Time) {
	for from, s := range a.by {
		if s.waiting == 0 && now.Sub(s.at) >= burst*refill {
			delete(a.by, from)
		}
	}
	for from, s := range a.by {
		if len(a.by) <= addresses/2 {
			return
		}
		if s.waiting == 0 {
			delete(a.by, from)
		}
	}
}
