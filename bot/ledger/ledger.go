// Package ledger keeps the append-only record of what happened to each case.
//
// A ledger holds streams, one per case, each a sequence of events; a case is
// the fold of its stream. An append names the version of the stream it was
// decided on, and is refused when the stream has moved on since.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// ErrConflict says that a stream is no longer at the version an append names.
// Nothing was appended: load, decide again, append again; Update does that.
var ErrConflict = errors.New("the stream has moved on")

// Version names a state of a stream as it was read. It is opaque: only the
// ledger it came from can compare it. The zero Version is that of a stream that
// does not exist.
type Version string

// Ledger is a set of append-only streams, safe for use by many goroutines and,
// but for Memory, by many processes.
type Ledger interface {
	// Load returns the events of a stream, oldest first, and its version.
	// A stream that does not exist is nil, "", nil.
	Load(ctx context.Context, key string) ([]routing.Event, Version, error)

	// Append adds events to the stream that is at version seen, all of them or
	// none, and returns the version it is then at. It returns ErrConflict if the
	// stream is at another version. Without an error the events outlive the
	// process. An event's Case is the key, or empty and then becomes the key.
	// No events change nothing.
	Append(ctx context.Context, key string, seen Version, events []routing.Event) (Version, error)

	// Keys returns the keys of all streams, sorted.
	Keys(ctx context.Context) ([]string, error)
}

// updateTries bounds how often Update decides anew.
const updateTries = 20

// Update loads the case of a key, asks fn what happened, and appends that. On a
// conflict it does all of it again, up to 20 times, so fn may be called more
// than once and must have no effects. It returns the case with the new events,
// or, if fn returned none, as it was loaded. Events that do not follow from the
// stream are refused before anything is written.
func Update(ctx context.Context, l Ledger, key string, fn func(routing.Case) ([]routing.Event, error)) (routing.Case, error) {
	var err error
	for try := range updateTries {
		if err := pause(ctx, try); err != nil {
			return routing.Case{Key: key}, err
		}
		var c routing.Case
		if c, err = update(ctx, l, key, fn); !errors.Is(err, ErrConflict) {
			return c, err
		}
	}
	return routing.Case{Key: key}, fmt.Errorf("case %s: given up after %d tries: %w", key, updateTries, err)
}

// Change is Update for a register: fn is given the events of the stream and
// returns what to add. It may be called more than once and must have no effects.
// Change returns all events, the new ones included.
func Change(ctx context.Context, l Ledger, key string, fn func([]routing.Event) ([]routing.Event, error)) ([]routing.Event, error) {
	for try := range updateTries {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		old, seen, err := l.Load(ctx, key)
		if err != nil {
			return nil, err
		}
		add, err := fn(old)
		if err != nil || len(add) == 0 {
			return old, err
		}
		if add, err = asRecorded(key, add); err != nil {
			return nil, err
		}
		_, err = l.Append(ctx, key, seen, add)
		if err == nil {
			return append(slices.Clip(old), add...), nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("register %s: given up after %d tries: %w", key, updateTries, ErrConflict)
}

// ChangeFold is Change for a register that fold makes of its events: fn is given the
// register, and the register with what was added is returned.
func ChangeFold[R any](ctx context.Context, l Ledger, key string, fold func([]routing.Event) (R, error), fn func(R) ([]routing.Event, error)) (R, error) {
	events, err := Change(ctx, l, key, func(old []routing.Event) ([]routing.Event, error) {
		r, err := fold(old)
		if err != nil {
			return nil, err
		}
		return fn(r)
	})
	if err != nil {
		var none R
		return none, err
	}
	return fold(events)
}

func update(ctx context.Context, l Ledger, key string, fn func(routing.Case) ([]routing.Event, error)) (routing.Case, error) {
	old, seen, err := l.Load(ctx, key)
	if err != nil {
		return routing.Case{Key: key}, err
	}
	c, err := routing.Fold(key, old)
	if err != nil {
		return c, err
	}
	add, err := fn(c)
	if err != nil || len(add) == 0 {
		return c, err
	}
	if add, err = asRecorded(key, add); err != nil {
		return c, err
	}
	next := c
	for i, e := range add {
		if next, err = next.Apply(e); err != nil {
			return c, fmt.Errorf("new event %d of case %s: %w", i+1, key, err)
		}
	}
	if _, err := l.Append(ctx, key, seen, add); err != nil {
		return c, err
	}
	return next, nil
}

// asRecorded returns the events as a later Load will give them.
func asRecorded(key string, events []routing.Event) ([]routing.Event, error) {
	data, err := Encode(key, "", events)
	if err != nil {
		return nil, err
	}
	return Decode(key, data)
}

// pause waits before the n-th repetition: 5 ms, doubled each time up to about a
// second, of which a random share is waited.
func pause(ctx context.Context, n int) error {
	if n == 0 {
		return ctx.Err()
	}
	return sleep.For(ctx, rand.N(5*time.Millisecond<<min(n, 8)))
}
