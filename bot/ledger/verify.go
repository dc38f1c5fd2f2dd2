package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

// Verified says what Verify found.
type Verified struct {
	Streams, Events int      // that can be read
	Problems        []string // one for each stream that is damaged, with what to do
}

// Verify reads all streams of a ledger, whose events have to follow from each other. Events that
// were dropped from the end of a stream leave no gap: they are found by an earlier copy of the
// ledger, nil if there is none, whose streams have to be the beginning of this one's.
func Verify(ctx context.Context, l, earlier Ledger) (Verified, error) {
	var v Verified
	keys, err := l.Keys(ctx)
	if err != nil {
		return v, err
	}
	var known []string
	if earlier != nil {
		if known, err = earlier.Keys(ctx); err != nil {
			return v, fmt.Errorf("the earlier copy: %w", err)
		}
	}
	for _, key := range keys {
		events, _, err := l.Load(ctx, key)
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		if err != nil {
			v.Problems = append(v.Problems, err.Error())
			continue
		}
		v.Streams, v.Events = v.Streams+1, v.Events+len(events)
		if _, found := slices.BinarySearch(known, key); !found {
			continue
		}
		was, _, err := earlier.Load(ctx, key)
		if err != nil {
			return v, fmt.Errorf("the earlier copy: %w", err)
		}
		problem, err := since(key, was, events)
		if err != nil {
			return v, err
		}
		if problem != "" {
			v.Problems = append(v.Problems, problem)
		}
	}
	for _, key := range known {
		if _, found := slices.BinarySearch(keys, key); !found {
			v.Problems = append(v.Problems, fmt.Sprintf("stream %s is gone since the earlier copy; restore it from there", key))
		}
	}
	return v, nil
}

// since says what became of a stream that was once was, "" if events were only added.
func since(key string, was, now []routing.Event) (string, error) {
	common := min(len(was), len(now))
	n, err := differ(key, was[:common], now[:common])
	switch {
	case err != nil:
		return "", err
	case n > 0:
		return fmt.Sprintf("stream %s: event %d is another than in the earlier copy; restore the stream from there", key, n), nil
	case len(now) < len(was):
		return fmt.Sprintf("stream %s: the newest %d of the %d events of the earlier copy are gone; restore the stream from there", key, len(was)-len(now), len(was)), nil
	}
	return "", nil
}
