package eventstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

// on runs a check on a new database of each kind; again opens it a second time, as another process.
func on(t *testing.T, check func(t *testing.T, db *database.DB, again func() *database.DB)) {
	for _, kind := range []database.Kind{database.SQLite, database.Postgres} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			where := filepath.Join(t.TempDir(), "feed.db")
			if kind == database.Postgres {
				where = pgtest.URL(t)
			}
			again := func() *database.DB { return opened(t, kind, where) }
			check(t, again(), again)
		})
	}
}

func opened(t testing.TB, kind database.Kind, where string) *database.DB {
	t.Helper()
	var db *database.DB
	var err error
	if kind == database.Postgres {
		db, err = database.OpenURL(context.Background(), where)
	} else {
		db, err = database.OpenFile(context.Background(), where, true)
	}
	if err == nil {
		err = db.Migrate(context.Background(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var end = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func streams(n int) []sample.Stream {
	return slices.Collect(sample.Cases(sample.Options{Seed: 7, Cases: n, End: end}))
}

// want returns the events of streams, by stream.
func want(t *testing.T, all []sample.Stream) map[string][]activity.Event {
	t.Helper()
	out := map[string][]activity.Event{}
	for _, s := range all {
		events, err := activity.Since(s.Key, s.Events, 0)
		if err != nil {
			t.Fatal(err)
		}
		out[s.Key] = events
	}
	return out
}

// all reads the whole log by stream, and fails unless the ids ascend.
func all(t *testing.T, f *eventstream.Store) map[string][]activity.Event {
	t.Helper()
	out := map[string][]activity.Event{}
	last := int64(0)
	for {
		events, err := f.Log.After(t.Context(), last, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		for _, e := range events {
			if e.ID <= last {
				t.Fatalf("event %d after %d", e.ID, last)
			}
			last = e.ID
			e.ID = 0
			out[e.Stream] = append(out[e.Stream], e)
		}
	}
}

func same(t *testing.T, got, want map[string][]activity.Event) {
	t.Helper()
	for key, events := range want {
		for i := range events {
			events[i].At = events[i].At.Truncate(time.Millisecond)
		}
		if !reflect.DeepEqual(got[key], events) {
			t.Fatalf("%s:\n%s\nwant\n%s", key, text(got[key]), text(events))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d streams, want %d", len(got), len(want))
	}
}

func text(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

// Concurrent writers append to the ledger while several processes project it: every change is
// published once, in the order of its stream (S2-85).
func TestEveryChangeOnce(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, again func() *database.DB) {
		made := streams(18)
		ctx, stop := context.WithCancel(t.Context())
		var taking sync.WaitGroup
		for range 3 {
			f := eventstream.New(again())
			taking.Go(func() { f.Tail.Run(ctx, slog.New(slog.DiscardHandler)) })
		}
		led := sqlledger.New(db)
		var writing sync.WaitGroup
		errs := make(chan error, len(made))
		for w := range 6 {
			writing.Go(func() {
				for i := w; i < len(made); i += 6 {
					if err := write(t.Context(), led, made[i]); err != nil {
						errs <- err
					}
				}
			})
		}
		writing.Wait()
		close(errs)
		for err := range errs {
			t.Fatal(err)
		}
		f := eventstream.New(db)
		expected := want(t, made)
		total := 0
		for _, events := range expected {
			total += len(events)
		}
		n := 0
		for _, err := range f.Log.Follow(t.Context(), 0) { // ends when all have come; the test's own time limit is the other end
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == total {
				break
			}
		}
		stop()
		taking.Wait()
		if err := f.Tail.CatchUp(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		same(t, all(t, f), expected)
		tables(t, f, made)
	})
}

func write(ctx context.Context, led ledger.Ledger, s sample.Stream) error {
	var seen ledger.Version
	for i := 0; i < len(s.Events); i += 2 {
		var err error
		if seen, err = led.Append(ctx, s.Key, seen, s.Events[i:min(i+2, len(s.Events))]); err != nil {
			return err
		}
	}
	return nil
}

// tables fails the test unless the tables agree with the cases of the streams.
func tables(t *testing.T, f *eventstream.Store, made []sample.Stream) {
	t.Helper()
	ctx := t.Context()
	states, runs, wrong := map[eventstream.State]int{}, 0, 0
	for _, s := range made {
		for _, e := range s.Events {
			if e.Type == routing.EventRun {
				runs++
			} else if act, ok := e.Human(); ok && act.Action == routing.HumanWrong {
				wrong++
			}
		}
	}
	rows, err := f.Cases.List(ctx, nil, nil, eventstream.NewestFirst, 0, len(made)+1)
	if err != nil || len(rows) != len(made) {
		t.Fatalf("%d rows of %d cases, %v", len(rows), len(made), err)
	}
	for _, r := range rows {
		states[r.State]++
	}
	if got, err := f.Cases.InStates(ctx, nil); err != nil || !reflect.DeepEqual(nonzero(got), states) {
		t.Errorf("%v %v, want %v", got, err, states)
	}
	if states[eventstream.Completed] == 0 {
		t.Errorf("%v shows too little", states)
	}
	rules, err := f.Figures.Rules(ctx, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	n, w := 0, 0
	for _, r := range rules {
		n, w = n+r.N, w+r.Wrong
	}
	if n != runs || w != wrong || wrong == 0 {
		t.Errorf("%d decisions of which %d wrong, want %d and %d", n, w, runs, wrong)
	}
	clusters, err := f.Failures.Clusters(ctx, eventstream.Wanted{}, 0, 100)
	if err != nil || len(clusters) < 5 {
		t.Fatalf("%d clusters, %v", len(clusters), err)
	}
	for _, c := range clusters {
		seen, err := f.Failures.Seen(ctx, nil, c.Fingerprint, 1000)
		if err != nil {
			t.Fatal(err)
		}
		open, runs, flaky := 0, 0, 0
		for _, s := range seen {
			if s.Fixed.IsZero() {
				open++
			}
			runs, flaky = runs+s.Runs, flaky+s.Flaky
		}
		if len(seen) != c.Cases || open != c.Open || runs != c.Runs || flaky != c.Flaky {
			t.Errorf("%s: %d cases, %d open, %d runs, %d flaky; its failures say %d, %d, %d, %d", c.Name, c.Cases, c.Open, c.Runs, c.Flaky, len(seen), open, runs, flaky)
		}
	}
}

func nonzero(m map[eventstream.State]int) map[eventstream.State]int {
	out := map[eventstream.State]int{}
	for k, v := range m {
		if v != 0 {
			out[k] = v
		}
	}
	return out
}

// A ledger that is older than the event stream is projected step by step or at once.
func TestTakenInLater(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, _ func() *database.DB) {
		made, f := streams(16), eventstream.New(db)
		for i, s := range made {
			for n := range s.Events {
				if i%4 == 0 || n == len(s.Events)-1 {
					if _, err := f.Projector.Fill(t.Context(), []eventstream.Stream{{Key: s.Key, Events: s.Events[:n+1]}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n, err := f.Projector.Fill(t.Context(), []eventstream.Stream{{Key: s.Key, Events: s.Events[:len(s.Events)/2]}}); n != 0 || err != nil {
				t.Errorf("an older state makes %d events, %v", n, err)
			}
		}
		same(t, all(t, f), want(t, made))
		tables(t, f, made)
		if list, err := f.Cases.List(t.Context(), []string{"acme/other"}, nil, eventstream.NewestFirst, 0, 9); len(list) != 0 || err != nil {
			t.Errorf("%d cases of a repository without any, %v", len(list), err)
		}
	})
}

// Cases and failures come in order for any number of repositories and states.
func TestOrder(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, db *database.DB, _ func() *database.DB) {
		var repos []string
		for i := range 14 {
			repos = append(repos, fmt.Sprintf("acme/r%02d", i))
		}
		f := eventstream.New(db)
		for s := range sample.Cases(sample.Options{Seed: 9, Cases: 80, End: end, Repos: repos}) {
			if _, err := f.Projector.Fill(t.Context(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil {
				t.Fatal(err)
			}
		}
		all, err := f.Cases.List(t.Context(), nil, nil, eventstream.NewestFirst, 0, 100)
		if err != nil || len(all) != 80 {
			t.Fatalf("%d cases, %v", len(all), err)
		}
		for _, of := range [][]string{nil, repos[:1], repos[:3], repos[:12], {}} {
			for _, states := range [][]eventstream.State{nil, {eventstream.Completed}, {eventstream.Completed, eventstream.Escalated}} {
				var want []string
				for _, c := range all {
					if (of == nil || slices.Contains(of, c.Repo)) && (states == nil || slices.Contains(states, c.State)) {
						want = append(want, c.Key)
					}
				}
				for _, order := range []eventstream.Order{eventstream.NewestFirst, eventstream.LongestWait} {
					var got []eventstream.Case
					for skip := 0; ; skip += 7 {
						part, err := f.Cases.List(t.Context(), of, states, order, skip, 7)
						if err != nil {
							t.Fatal(err)
						}
						if got = append(got, part...); len(part) < 7 {
							break
						}
					}
					if !slices.IsSortedFunc(got, func(a, b eventstream.Case) int {
						if order == eventstream.LongestWait {
							return a.Since.Compare(b.Since)
						}
						return b.Updated.Compare(a.Updated)
					}) {
						t.Errorf("%v %v: not the %s first", of, states, order)
					}
					if len(got) != len(want) {
						t.Errorf("%v %v %s: %d cases, want %d", of, states, order, len(got), len(want))
					}
				}
			}
			whole, err := f.Failures.Clusters(t.Context(), eventstream.Wanted{Repos: of}, 0, 100)
			if err != nil || (len(whole) == 0) != (of != nil && len(of) == 0) {
				t.Fatalf("%d clusters of %v, %v", len(whole), of, err)
			}
			for i, c := range whole {
				if i > 0 && c.Last.After(whole[i-1].Last) || slices.ContainsFunc(whole[:i], func(o eventstream.Cluster) bool { return o.Fingerprint == c.Fingerprint }) {
					t.Errorf("%v: %s stands in the wrong place", of, c.Name)
				}
			}
		}
	})
}
