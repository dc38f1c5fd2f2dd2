package ledger

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// Stream is one stream of a ledger together with the state S that is folded from it. It is a value,
// safe for use by many goroutines and processes.
type Stream[S any] struct {
	Ledger     Ledger
	Key        string
	Projection routing.Projection[S]
}

// Of returns the stream of key, projected by p.
func Of[S any](l Ledger, key string, p routing.Projection[S]) Stream[S] {
	return Stream[S]{l, key, p}
}

// Case returns the stream of a case.
func Case(l Ledger, key string) Stream[routing.Case] { return Of(l, key, routing.CaseProjection) }

// updateTries bounds how often Update decides again.
const updateTries = 20

// Load returns the newest state.
func (s Stream[S]) Load(ctx context.Context) (S, error) {
	at, err := s.load(ctx)
	return at.state, err
}

// loaded is a state with the version of the stream that it was folded from.
type loaded[S any] struct {
	state   S
	version Version
	events  int
}

func (s Stream[S]) load(ctx context.Context) (loaded[S], error) {
	events, v, err := s.Ledger.Load(ctx, s.Key)
	if err != nil {
		return loaded[S]{state: s.Projection.New(s.Key)}, err
	}
	state, err := s.Projection.Fold(s.Key, events)
	return loaded[S]{state, v, len(events)}, err
}

// Update asks fn what happened, given the newest state, and appends that. If others append in
// between, it does all of it again, up to 20 times with growing pauses, so fn may be called more
// than once and must have no effects outside. Update returns the state with the new events, or the
// state as it was loaded if fn returned none or an error. Events that do not follow from the stream
// are refused, and nothing is written.
func (s Stream[S]) Update(ctx context.Context, fn func(S) ([]routing.Event, error)) (S, error) {
	for try := range updateTries {
		if err := pause(ctx, try); err != nil {
			return s.Projection.New(s.Key), err
		}
		state, err := s.update(ctx, fn)
		if !errors.Is(err, ErrConflict) {
			return state, err
		}
	}
	return s.Projection.New(s.Key), fmt.Errorf("stream %s: gave up after %d attempts: %w", s.Key, updateTries, ErrConflict)
}

// Recaller is a ledger that remembers streams as this process left them, at the price of no request.
type Recaller interface {
	// Recall returns a stream as it was read or written last, and false if it is not remembered. Others
	// may have appended since: then an append at its version is refused.
	Recall(key string) ([]routing.Event, Version, bool)
}

// Add appends events that follow whatever others append in between, as Update does, and returns the
// state with them. What this process remembers of the stream is not read again.
func (s Stream[S]) Add(ctx context.Context, events []routing.Event) (S, error) {
	fn := func(S) ([]routing.Event, error) { return events, nil }
	if r, ok := s.Ledger.(Recaller); ok {
		if known, v, ok := r.Recall(s.Key); ok {
			state, err := s.Projection.Fold(s.Key, known)
			if err == nil {
				state, err = s.append(ctx, loaded[S]{state, v, len(known)}, events)
			}
			if !errors.Is(err, ErrConflict) {
				return state, err
			}
		}
	}
	return s.Update(ctx, fn)
}

func (s Stream[S]) update(ctx context.Context, fn func(S) ([]routing.Event, error)) (S, error) {
	at, err := s.load(ctx)
	if err != nil {
		return at.state, err
	}
	add, err := fn(at.state)
	if err != nil {
		return at.state, err
	}
	return s.append(ctx, at, add)
}

// append adds events to a stream that was loaded, and returns its state with them.
func (s Stream[S]) append(ctx context.Context, at loaded[S], add []routing.Event) (S, error) {
	if len(add) == 0 {
		return at.state, nil
	}
	add, err := asRecorded(s.Key, add)
	if err != nil {
		return at.state, err
	}
	next, err := s.Projection.Extend(at.state, s.Key, at.events, add)
	if err != nil {
		return at.state, fmt.Errorf("refused: %w", err)
	}
	if _, err := s.Ledger.Append(ctx, s.Key, at.version, add); err != nil {
		return at.state, err
	}
	return next, nil
}

// Subscribe yields the state at once, and again after each wait, which may return early when there
// is reason to expect a change. A stream to which nobody appended is not folded again. It ends with
// the first error, which it yields, or when wait returns one.
func (s Stream[S]) Subscribe(ctx context.Context, wait func(S) error) iter.Seq2[S, error] {
	return func(yield func(S, error) bool) {
		at, err := s.load(ctx)
		for {
			if !yield(at.state, err) || err != nil {
				return
			}
			if err = wait(at.state); err != nil {
				continue
			}
			var events []routing.Event
			var v Version
			if events, v, err = s.Ledger.Load(ctx, s.Key); err != nil || v == at.version {
				continue
			}
			at.version = v
			at.state, err = s.Projection.Fold(s.Key, events)
		}
	}
}

// asRecorded returns the events as a later Load returns them.
func asRecorded(key string, events []routing.Event) ([]routing.Event, error) {
	data, err := Encode(key, "", events)
	if err != nil {
		return nil, err
	}
	return Decode(key, data)
}

// pause waits before the n-th repetition: a random share of 5 ms, doubled each time up to about a
// second, so that writers that collided do not collide again.
func pause(ctx context.Context, n int) error {
	if n == 0 {
		return ctx.Err()
	}
	return sleep.For(ctx, rand.N(5*time.Millisecond<<min(n, 8)))
}
