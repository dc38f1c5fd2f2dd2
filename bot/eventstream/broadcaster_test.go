package eventstream_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing/activity"
)

// told runs a Broadcaster until the test ends or the returned function is called.
func told(t *testing.T, f *eventstream.Store) (*eventstream.Broadcaster, func()) {
	h := eventstream.NewBroadcaster(f.Log, func(e activity.Event) []byte { return fmt.Append(nil, e.ID) })
	h.Keep(600)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx, slog.New(slog.DiscardHandler)) })
	end := func() { stop(); running.Wait() }
	t.Cleanup(end)
	return h, end
}

func add(t *testing.T, f *eventstream.Store, list []sample.Stream) {
	for _, s := range list {
		if _, err := f.Projector.Fill(context.Background(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil {
			t.Error(err)
		}
	}
}

// Subscribers that come late or reconnect get all events once and in order; one that does not read
// is dropped and delays nobody (S2-85).
func TestBroadcaster(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, _ func() *database.DB) {
		f := eventstream.New(db)
		h, end := told(t, f)
		made := streams(40)
		add(t, f, made[:20])
		slow, err := h.Subscribe(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		go add(t, f, made[20:])
		total := 0
		for _, events := range want(t, made) {
			total += len(events)
		}
		var listening sync.WaitGroup
		for i := range 8 {
			listening.Go(func() {
				after, n := int64(0), 0
				for n < total {
					c, err := h.Subscribe(t.Context(), after)
					if err != nil {
						t.Error(err)
						return
					}
					for here := 0; n < total && here <= 100*i; { // then it goes, and comes again
						list, err := c.Next(t.Context(), nil)
						if err != nil {
							t.Error(err)
							return
						}
						for _, e := range list {
							if e.ID <= after || string(e.Text) != fmt.Sprint(e.ID) {
								t.Errorf("event %d (%s) after %d", e.ID, e.Text, after)
							}
							after = e.ID
						}
						n, here = n+len(list), here+len(list)
					}
					if c.At() != after {
						t.Errorf("at %d, told up to %d", c.At(), after)
					}
					c.Unsubscribe()
				}
				if n != total {
					t.Errorf("told %d of %d", n, total)
				}
			})
		}
		listening.Wait()
		for err == nil { // up to the present, then no more
			var list []eventstream.Encoded
			if list, err = slow.Next(t.Context(), over()); len(list) == 0 {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		long := slices.MaxFunc(made, func(a, b sample.Stream) int { return len(a.Events) - len(b.Events) })
		for i, last := 0, slow.At(); last < slow.At()+1300; i++ { // more than anybody is waited for
			add(t, f, []sample.Stream{renamed(long, fmt.Sprintf("acme/more#%d", i))})
			if last, err = f.Log.Last(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, h, f)
		at := slow.At()
		if list, err := slow.Next(t.Context(), nil); !errors.Is(err, eventstream.ErrSlow) || slow.At() != at {
			t.Errorf("%d events, %v, want %v", len(list), err, eventstream.ErrSlow)
		}
		slow.Unsubscribe()
		slow.Unsubscribe()
		if n := h.Subscribers(); n != 0 {
			t.Errorf("%d clients", n)
		}
		c, err := h.Subscribe(t.Context(), eventstream.Now)
		if err != nil {
			t.Fatal(err)
		}
		go end()
		if list, err := c.Next(t.Context(), nil); !errors.Is(err, eventstream.ErrEnded) {
			t.Errorf("%d events after its end, %v", len(list), err)
		}
	})
}

// over is a tick that has fired.
func over() <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// renamed is a stream under another key.
func renamed(s sample.Stream, key string) sample.Stream {
	s.Key, s.Events = key, slices.Clone(s.Events)
	for n := range s.Events {
		s.Events[n].Stream = key
	}
	return s
}

// waitFor returns when the Broadcaster has read the whole log.
func waitFor(t *testing.T, h *eventstream.Broadcaster, f *eventstream.Store) {
	t.Helper()
	last, err := f.Log.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Subscribe(t.Context(), last-1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Unsubscribe()
	for c.At() < last {
		if _, err := c.Next(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// Old events are pruned, and a subscriber from before gets the others.
func TestPrune(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, _ func() *database.DB) {
		f := eventstream.New(db)
		add(t, f, streams(30))
		last, err := f.Log.Last(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		middle := end.Add(-10 * 24 * time.Hour)
		if err := f.Log.Prune(t.Context(), middle); err != nil {
			t.Fatal(err)
		}
		left, err := f.Log.After(t.Context(), 0, int(last))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.At.Before(middle) && e.ID < last {
				t.Errorf("%d of %v is left", e.ID, e.At)
			}
		}
		n := len(left)
		if n == 0 || n >= int(last) {
			t.Errorf("%d of %d are left", n, last)
		}
		if err := f.Log.Prune(t.Context(), end.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if now, err := f.Log.Last(t.Context()); now != last || err != nil {
			t.Errorf("the feed is at %d, was at %d, %v", now, last, err)
		}
		h, _ := told(t, f)
		for after, astray := range map[int64]bool{0: false, last: false, last + 1: true} {
			c, err := h.Subscribe(t.Context(), after)
			if err != nil {
				t.Fatal(err)
			}
			if c.Astray != astray {
				t.Errorf("after %d: astray %v", after, c.Astray)
			}
			if list, err := c.Next(t.Context(), over()); err != nil || c.At() != last || after >= last && len(list) > 0 {
				t.Errorf("after %d: %d events, at %d, %v", after, len(list), c.At(), err)
			}
			c.Unsubscribe()
		}
	})
}

// Of two processes on one PostgreSQL each publishes what the other projected, because the database
// notifies it: neither polls.
func TestReplicas(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	made := streams(10)
	total := 0
	for _, events := range want(t, made) {
		total += len(events)
	}
	var hubs []*eventstream.Broadcaster
	var f *eventstream.Store
	var running sync.WaitGroup
	for range 2 {
		f = eventstream.New(opened(t, database.Postgres, url))
		f.TrustNotifications()
		h, _ := told(t, f)
		running.Go(func() { f.Tail.Run(ctx, slog.New(slog.DiscardHandler)) })
		hubs = append(hubs, h)
	}
	db := opened(t, database.Postgres, url)
	for _, s := range made {
		if err := write(t.Context(), sqlledger.New(db), s); err != nil {
			t.Fatal(err)
		}
	}
	var ids [][]int64
	for _, h := range hubs {
		c, err := h.Subscribe(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for len(got) < total {
			list, err := c.Next(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				got = append(got, e.ID)
			}
		}
		c.Unsubscribe()
		ids = append(ids, got)
	}
	if !slices.Equal(ids[0], ids[1]) {
		t.Errorf("%v\n%v", ids[0], ids[1])
	}
	same(t, all(t, f), want(t, made))
	stop()
	running.Wait()
}
