package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Keeper keeps a State for all who share it.
type Keeper interface {
	// Update lets step change the State as one atomic step: no other sees it in
	// between. It tells step the time, which is the same clock's for all. An
	// error means that it is not known whether the change was kept; whoever
	// gets one has leave to nothing.
	Update(ctx context.Context, step func(now time.Time, s *State)) error
}

// Alone is the holder's name where one process alone has a State: all seats are
// its own.
const Alone = "alone"

// Local keeps a State for one process, as long as that lives.
type Local struct {
	Now func() time.Time // nil: time.Now

	mu    sync.Mutex
	state State
}

var _ Keeper = (*Local)(nil)

// Update implements Keeper.
func (k *Local) Update(_ context.Context, step func(time.Time, *State)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now
	if k.Now != nil {
		now = k.Now
	}
	step(now(), &k.state)
	return nil
}
