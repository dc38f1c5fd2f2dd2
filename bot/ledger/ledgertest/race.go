package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// race lets writers append to two streams, each append of two events.
func (s Size) race(t *testing.T, l ledger.Ledger) {
	streams := []string{"acme/app#1", "acme/app#2"}
	var wg sync.WaitGroup
	for w := range s.Writers {
		wg.Go(func() {
			for i := range s.Appends {
				key := streams[(w+i)%2]
				say := func(part string) routing.Event { return Note(key, fmt.Sprintf("%d.%d%s", w, i, part)) }
				if err := AppendAnyhow(t.Context(), l, key, say("a"), say("b")); err != nil {
					t.Errorf("writer %d, append %d: %v", w, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	next, total := make([]int, s.Writers), 0
	for parity, key := range streams {
		events, _ := load(t, l, key)
		total += len(events)
		for w := range next {
			next[w] = (parity + w) % 2
		}
		checkOrder(t, key, Notes(events), next)
	}
	if want := 2 * s.Writers * s.Appends; total != want {
		t.Errorf("%d events of %d", total, want)
	}
}

// checkOrder checks that each writer's appends to a stream are there whole,
// once and in their order; next has the first of each.
func checkOrder(t *testing.T, key string, notes []string, next []int) {
	t.Helper()
	for i := 0; i+1 < len(notes); i += 2 {
		var w, n int
		if _, err := fmt.Sscanf(notes[i], "%d.%da", &w, &n); err != nil || w >= len(next) {
			t.Fatalf("%s: %q at %d: %v", key, notes[i], i, err)
		}
		if n != next[w] || notes[i+1] != fmt.Sprintf("%d.%db", w, n) {
			t.Fatalf("%s: %q, %q at %d, expected append %d of writer %d", key, notes[i], notes[i+1], i, next[w], w)
		}
		next[w] += 2
	}
}

// AppendAnyhow appends events after whatever there is.
func AppendAnyhow(ctx context.Context, l ledger.Ledger, key string, events ...routing.Event) error {
	for {
		_, v, err := l.Load(ctx, key)
		if err == nil {
			_, err = l.Append(ctx, key, v, events)
		}
		if !errors.Is(err, ledger.ErrConflict) {
			return err
		}
	}
}

// updates lets writers count: each adds its event only if it is the n-th.
func (s Size) updates(t *testing.T, l ledger.Ledger) {
	var wg sync.WaitGroup
	for range s.Writers {
		wg.Go(func() {
			c, err := ledger.Case(l, key).Update(t.Context(), func(c routing.Case) ([]routing.Event, error) {
				return []routing.Event{Note("", fmt.Sprint(c.Version))}, nil
			})
			if err != nil || c.Version == 0 {
				t.Errorf("Update: version %d, %v", c.Version, err)
			}
		})
	}
	wg.Wait()
	events, _ := load(t, l, key)
	if len(events) != s.Writers {
		t.Errorf("%d events of %d updates", len(events), s.Writers)
	}
	for i, e := range events {
		if noteOf(e) != fmt.Sprint(i) {
			t.Errorf("event %d was decided on %s events", i, noteOf(e))
		}
	}
}
