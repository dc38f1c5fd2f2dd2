package ledger

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

// Walker is a ledger that reads all its streams with less than a Load for each.
type Walker interface {
	// Walk calls fn with each stream, sorted by key, and ends with its first
	// error. It holds one stream at a time.
	Walk(ctx context.Context, fn func(key string, events []routing.Event) error) error
}

// Each calls fn with each stream of a ledger, sorted by key, and ends with its
// first error. What is appended meanwhile may be seen or not. Fn must not use
// the ledger.
func Each(ctx context.Context, l Ledger, fn func(key string, events []routing.Event) error) error {
	if w, ok := l.(Walker); ok {
		return w.Walk(ctx, fn)
	}
	keys, err := l.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		events, _, err := l.Load(ctx, key)
		if err == nil {
			err = fn(key, events)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Walk implements Walker: the file is read once. It holds the text of all
// streams, and the events of one.
func (f *File) Walk(ctx context.Context, fn func(key string, events []routing.Event) error) error {
	streams, _, err := f.streams()
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(streams)) {
		events, err := f.decode(key, streams[key])
		if err := errors.Join(ctx.Err(), err); err != nil {
			return err
		}
		if err := fn(key, events); err != nil {
			return err
		}
		delete(streams, key)
	}
	return nil
}
