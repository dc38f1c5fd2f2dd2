package queue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// TestS6_16_BodyIsStoredOnce is S6-16: of deliveries with the same digest the first is stored, over all stores of a database, and for as
// long as ids are kept.
func TestS6_16_BodyIsStoredOnce(t *testing.T) {
	t.Parallel()
	signed := func(id, digest string) queue.Delivery {
		d := delivery(id, 100)
		d.Digest = digest
		return d
	}
	onEach(t, func(t *testing.T, p place) {
		s := p.open(t)
		accept(t, s, signed("a", "one"))
		accept(t, s, signed("b", "two"))
		accept(t, s, delivery("c", 10)) // without a digest only the id counts
		accept(t, s, delivery("d", 10))
		again := func(s *queue.Store) {
			t.Helper()
			for _, d := range []queue.Delivery{signed("a", "one"), signed("x", "one"), signed("y", "two"), signed("a", "three"), delivery("c", 10)} {
				if fresh, err := s.Deliveries.Accept(t.Context(), d); fresh || err != nil {
					t.Errorf("%s %s: %v, %v", d.ID, d.Digest, fresh, err)
				}
			}
		}
		again(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		stores := []*queue.Store{p.opened(t)}
		again(stores[0])
		if p.url != "" {
			stores = append(stores, p.opened(t))
			again(stores[1])
		}
		db := p.raw(t)
		if _, err := db.ExecContext(t.Context(), "UPDATE delivery SET state = 'done'"); err != nil {
			t.Fatal(err)
		}
		if err := stores[0].Deliveries.Prune(t.Context(), at.Add(time.Hour), at.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n := number(t, db, "SELECT count(*) FROM delivery WHERE payload IS NOT NULL"); n != 0 {
			t.Fatalf("%d payloads are kept", n)
		}
		again(stores[0])
		// Many at once, in batches that share digests in another order than ids.
		const callers, each, bodies = 16, 20, 40
		var fresh atomic.Int32
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					ok, err := stores[c%len(stores)].Deliveries.Accept(context.Background(), signed(fmt.Sprint(c, "-", i), fmt.Sprint("body", (c*7+i*13)%bodies)))
					if err != nil {
						t.Error(err)
					}
					if ok {
						fresh.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := number(t, db, "SELECT count(*) FROM delivery WHERE digest LIKE 'body%'"); int(fresh.Load()) != bodies || n != bodies {
			t.Errorf("%d fresh, %d stored, want %d", fresh.Load(), n, bodies)
		}
	})
}
