package ratelimit

import (
	"context"
	"sync"
	"time"
)

// Store keeps a State for all processes that share it.
type Store interface {
	// Update calls step in one atomic transaction on the State, with the time of a clock that all
	// processes share. After an error it is unknown whether the change was stored, so the caller
	// must not send anything.
	Update(ctx context.Context, step func(now time.Time, s *State)) error
	// Look calls see with the State as it was stored last. It waits for no Update, and what see
	// changes need not be stored.
	Look(ctx context.Context, see func(now time.Time, s *State)) error
}

// Alone is the holder's name where only one process uses a State: it gets all slots.
const Alone = "alone"

// LocalStore keeps a State in memory, for one process.
type LocalStore struct {
	Now func() time.Time // nil: time.Now

	mu    sync.Mutex
	state State
}

var _ Store = (*LocalStore)(nil)

// Update implements Store.
func (k *LocalStore) Update(_ context.Context, step func(time.Time, *State)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now
	if k.Now != nil {
		now = k.Now
	}
	step(now(), &k.state)
	return nil
}

// Look implements Store.
func (k *LocalStore) Look(ctx context.Context, see func(time.Time, *State)) error {
	return k.Update(ctx, see)
}
