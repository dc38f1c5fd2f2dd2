package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
)

// Copied says what Copy found and did.
type Copied struct {
	Streams, Events int // of the source
	Added           int // events that the target did not have
}

// Copy adds to a ledger what another one has and it has not, and compares what
// it wrote with the source. Copying again adds nothing; a copy that was broken
// off goes on where it was. A stream that says something else in the target is
// an error, and is left alone; one that went on there, or is only there, stays. The blobs of the
// streams are copied as well. tell is told after each stream how much was copied so far; it may be nil.
func Copy(ctx context.Context, from, to Ledger, tell func(Copied)) (Copied, error) {
	var c Copied
	keys, err := from.Keys(ctx)
	if err != nil {
		return c, fmt.Errorf("the source: %w", err)
	}
	for _, key := range keys {
		events, _, err := from.Load(ctx, key)
		if err != nil {
			return c, fmt.Errorf("the source: %w", err)
		}
		added, err := copyStream(ctx, to, key, events)
		c.Streams, c.Events, c.Added = c.Streams+1, c.Events+len(events), c.Added+added
		if err != nil {
			return c, err
		}
		if tell != nil {
			tell(c)
		}
	}
	return c, CopyBlobs(ctx, from, to, keys)
}

// copyStream completes one stream of the target, and returns how many events
// that took.
func copyStream(ctx context.Context, to Ledger, key string, events []routing.Event) (int, error) {
	have, seen, err := to.Load(ctx, key)
	if err != nil {
		return 0, fmt.Errorf("the target: %w", err)
	}
	common := min(len(have), len(events))
	if n, err := differ(key, events[:common], have[:common]); err != nil {
		return 0, err
	} else if n > 0 {
		return 0, fmt.Errorf("stream %s: event %d is another in the target than in the source; copy to a ledger that has nothing else, or leave this stream out of one of them", key, n)
	}
	added := events[common:]
	if len(added) == 0 {
		return 0, nil
	}
	if _, err := to.Append(ctx, key, seen, added); errors.Is(err, ErrConflict) {
		return 0, fmt.Errorf("stream %s: somebody writes to the target meanwhile; stop that and copy again", key)
	} else if err != nil {
		return 0, fmt.Errorf("the target: %w", err)
	}
	written, _, err := to.Load(ctx, key)
	if err != nil {
		return len(added), fmt.Errorf("the target: %w", err)
	}
	n, err := differ(key, events, written)
	if err == nil && n > 0 {
		err = fmt.Errorf("stream %s: event %d came back as another from the target; do not use it", key, n)
	}
	return len(added), err
}

// differ returns the number of the first event in which two histories of a
// stream differ, 0 if they are the same.
func differ(key string, a, b []routing.Event) (int, error) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return i + 1, nil
		}
		one, err := Encode(key, "", a[i:i+1])
		if err != nil {
			return 0, err
		}
		two, err := Encode(key, "", b[i:i+1])
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(one, two) {
			return i + 1, nil
		}
	}
	return 0, nil
}
