package queue_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// place is where a store is: a PostgreSQL, or a folder.
type place struct{ url, dir string }

// places are new, empty ones of each kind.
var places = map[string]func(testing.TB) place{
	"SQLite":     func(tb testing.TB) place { return place{dir: filepath.Join(tb.TempDir(), "data")} },
	"PostgreSQL": func(tb testing.TB) place { return place{url: pgtest.URL(tb)} },
}

func onEach(t *testing.T, check func(t *testing.T, p place)) {
	for name, empty := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, empty(t))
		})
	}
}

func (p place) open(tb testing.TB) *queue.Store {
	tb.Helper()
	s, err := queue.Open(context.Background(), p.url, p.dir)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (p place) opened(tb testing.TB) *queue.Store {
	tb.Helper()
	s := p.open(tb)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// raw opens the database past the store.
func (p place) raw(t *testing.T) *sql.DB {
	t.Helper()
	driver, source := "pgx", p.url
	if p.url == "" {
		driver, source = "sqlite", database.URI(filepath.Join(p.dir, "switchback.db"))+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func number(t *testing.T, db *sql.DB, text string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(context.Background(), text).Scan(&n); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return n
}

var at = time.Date(2026, 3, 4, 5, 6, 7, 89e6, time.UTC)

func delivery(id string, size int) queue.Delivery {
	return queue.Delivery{ID: id, Hook: 7, Installation: 1 << 40, Event: "workflow_run", Action: "completed", ReceivedAt: at, Payload: bytes.Repeat([]byte("{\x00}ü"), size/5+1)}
}

func accept(t *testing.T, s *queue.Store, d queue.Delivery) {
	t.Helper()
	if fresh, err := s.Deliveries.Accept(context.Background(), d); err != nil || !fresh {
		t.Fatalf("Accept(%s) = %v, %v", d.ID, fresh, err)
	}
}

// eventually asks until ok says so.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("it never came to pass: %s", what)
}

func status(t *testing.T, s *queue.Store, id string) queue.Status {
	t.Helper()
	st, ok, err := s.Deliveries.Find(context.Background(), id)
	if err != nil || !ok {
		t.Fatalf("Find(%s) = %v, %v", id, ok, err)
	}
	return st
}

func reaches(t *testing.T, s *queue.Store, id string, state queue.State) queue.Status {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is %s", id, state), func() bool { return status(t, s, id).State == state })
	return status(t, s, id)
}

func TestAccept(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		accept(t, s, delivery("a", 10))
		if fresh, err := s.Deliveries.Accept(t.Context(), delivery("a", 99)); fresh || err != nil {
			t.Errorf("again: %v, %v", fresh, err)
		}
		accept(t, s, delivery("large", 1<<20))
		accept(t, s, queue.Delivery{ID: "nothing in it"})
		db := p.raw(t)
		if n, jobs := number(t, db, "SELECT count(*) FROM delivery"), number(t, db, "SELECT count(*) FROM river_job"); n != 3 || jobs != 3 {
			t.Errorf("%d deliveries, %d jobs", n, jobs)
		}
		if n := number(t, db, "SELECT length(payload) FROM delivery WHERE id = 'large'"); n > 1<<16 {
			t.Errorf("a large payload takes %d bytes", n)
		}
		got := status(t, s, "a")
		want := queue.Status{ID: "a", Hook: 7, Installation: 1 << 40, Event: "workflow_run", Action: "completed", ReceivedAt: at, ChangedAt: at, State: queue.Received, HasPayload: true}
		if got != want {
			t.Errorf("%+v\nwant %+v", got, want)
		}
		if _, ok, err := s.Deliveries.Find(t.Context(), "b"); ok || err != nil {
			t.Errorf("Find of none: %v, %v", ok, err)
		}
		for name, d := range map[string]queue.Delivery{
			"no id": delivery("", 1), "a long id": delivery(strings.Repeat("x", 256), 1), "NUL in it": delivery("a\x00b", 1),
			"no UTF-8": {ID: "x", Event: "\xff"}, "a large payload": {ID: "x", Payload: make([]byte, queue.MaxPayload+1)},
		} {
			if _, err := s.Deliveries.Accept(t.Context(), d); !errors.Is(err, queue.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Deliveries.Accept(ctx, delivery("c", 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("Accept: %v", err)
		}
	})
}

// Many at once, some of them the same, over two stores where two are possible:
// each is fresh once.
func TestAcceptAtOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		stores := []*queue.Store{p.opened(t)}
		if p.url != "" {
			stores = append(stores, p.opened(t))
		}
		const callers, each, ids = 16, 20, 100
		var fresh atomic.Int32
		var wg sync.WaitGroup
		for c := range callers {
			wg.Go(func() {
				for i := range each {
					ok, err := stores[c%len(stores)].Deliveries.Accept(context.Background(), delivery(fmt.Sprint((c*7+i*13)%ids), 100))
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
		db := p.raw(t)
		n, jobs := number(t, db, "SELECT count(*) FROM delivery"), number(t, db, "SELECT count(*) FROM river_job")
		if int(fresh.Load()) != ids || n != ids || jobs != ids {
			t.Errorf("%d fresh, %d deliveries, %d jobs, want %d", fresh.Load(), n, jobs, ids)
		}
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.open(t)
		accept(t, s, delivery("a", 10))
		if err := ledgertest.AppendAnyhow(t.Context(), s.Ledger(), "acme/app#1", ledgertest.Note("", "1")); err != nil {
			t.Fatal(err)
		}
		if p.url == "" {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := queue.Open(ctx, "", p.dir); !errors.Is(err, queue.ErrInUse) {
				t.Errorf("Open of a directory in use: %v", err)
			}
			files, err := filepath.Glob(filepath.Join(p.dir, "*"))
			if err != nil || len(files) < 2 {
				t.Errorf("%q, %v", files, err)
			}
			for _, f := range append(files, p.dir) {
				if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s is %v, %v", f, info.Mode(), err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Deliveries.Accept(t.Context(), delivery("b", 1)); !errors.Is(err, queue.ErrClosed) {
			t.Errorf("Accept after Close: %v", err)
		}
		s = p.open(t)
		status(t, s, "a")
		if keys, err := s.Ledger().Keys(t.Context()); err != nil || len(keys) != 1 {
			t.Errorf("Keys = %q, %v", keys, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"INSERT INTO river_migration (line, version) VALUES ('main', 999)",
			"INSERT INTO switchback_migration (line, version, at) VALUES ('app', 999, '')",
		} {
			if _, err := p.raw(t).ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			if _, err := queue.Open(t.Context(), p.url, p.dir); !errors.Is(err, database.ErrNewer) {
				t.Errorf("Open of a newer schema: %v", err)
			}
		}
	})
	if _, err := queue.Open(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), "name a data directory") {
		t.Errorf("Open of nothing: %v", err)
	}
	if _, err := queue.Open(t.Context(), pgtest.URL(t)+"&pool_max_conns=2", ""); err == nil || !strings.Contains(err.Error(), "at least 6 are needed") {
		t.Errorf("Open with few connections: %v", err)
	}
	if _, err := queue.Open(t.Context(), "mysql://x", ""); err == nil || !strings.Contains(err.Error(), "begins with postgres://") {
		t.Errorf("Open of another database: %v", err)
	}
}

// Replicas that start at once make the tables once, and none fails.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	p := place{url: pgtest.URL(t)}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			s, err := queue.Open(context.Background(), p.url, "")
			if err != nil {
				t.Error(err)
				return
			}
			if _, err = s.Deliveries.Accept(context.Background(), delivery(fmt.Sprint(i), 1)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := number(t, p.raw(t), "SELECT count(*) FROM river_job"); n != 6 {
		t.Errorf("%d jobs", n)
	}
}
