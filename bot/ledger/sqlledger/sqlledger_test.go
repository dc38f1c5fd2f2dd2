package sqlledger_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
)

// kinds make empty databases, and return what Open opens.
var kinds = map[string]func(testing.TB) string{
	"SQLite":     func(tb testing.TB) string { return "sqlite:" + filepath.Join(tb.TempDir(), "a b%?#", "ledger.db") },
	"PostgreSQL": pgtest.URL,
}

// onEach runs a check on an empty database of each kind.
func onEach(t *testing.T, check func(t *testing.T, where string)) {
	for name, empty := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, empty(t))
		})
	}
}

func opened(tb testing.TB, where string) *sqlledger.Ledger {
	tb.Helper()
	l, err := sqlledger.Open(tb.Context(), where, true)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
	})
	return l
}

// raw opens the database past the ledger.
func raw(t *testing.T, where string) *sql.DB {
	t.Helper()
	driver, source := "pgx", where
	if path, ok := strings.CutPrefix(where, "sqlite:"); ok {
		driver, source = "sqlite", database.URI(path)
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, empty := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledgertest.Run(t, func(tb testing.TB) ledger.Ledger {
				where := empty(tb)
				return ledgertest.Alternate(opened(tb, where), opened(tb, where))
			})
		})
	}
}

func TestEventsStay(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, where string) {
		l := opened(t, where)
		if _, err := l.Append(t.Context(), "a", "", notes("1", "2")); err != nil {
			t.Fatal(err)
		}
		db := raw(t, where)
		refused := []string{
			"UPDATE ledger_event SET event = '{}'", "UPDATE ledger_event SET seq = seq + 1", "DELETE FROM ledger_event WHERE seq = 2",
			"UPDATE ledger_stream SET key = 'b'", "DELETE FROM ledger_stream",
		}
		if database.IsPostgres(where) {
			refused = append(refused, "TRUNCATE ledger_event", "TRUNCATE ledger_stream CASCADE")
		}
		for _, text := range refused {
			if _, err := db.ExecContext(t.Context(), text); err == nil || !strings.Contains(err.Error(), "a ledger is only added to") {
				t.Errorf("%s: %v", text, err)
			}
		}
		if _, err := db.ExecContext(t.Context(), "INSERT INTO ledger_event (stream, seq, event) SELECT stream, 2, event FROM ledger_event WHERE seq = 1"); err == nil {
			t.Error("a second event 2 is taken")
		}
		events, v, err := l.Load(t.Context(), "a")
		if err != nil || v != "2" || strings.Join(ledgertest.Notes(events), " ") != "1 2" {
			t.Errorf("Load = %v, %q, %v", events, v, err)
		}
	})
}

// A stream whose events are not what was written is an error that says where.
func TestDamage(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, where string) {
		l := opened(t, where)
		for _, key := range []string{"a", "b"} {
			if _, err := l.Append(t.Context(), key, "", notes("1")); err != nil {
				t.Fatal(err)
			}
		}
		db := raw(t, where)
		if !database.IsPostgres(where) { // there a trigger keeps the gap out
			if _, err := db.ExecContext(t.Context(), "DROP TRIGGER ledger_event_follows"); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{
			"INSERT INTO ledger_event (stream, seq, event) SELECT id, 2, '{}' FROM ledger_stream WHERE key = 'a'",
			"INSERT INTO ledger_event (stream, seq, event) SELECT id, 3, '{}' FROM ledger_stream WHERE key = 'b'",
		} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		for key, want := range map[string]string{"a": "line 2: is not an event: it has no type", "b": "event 2 is missing"} {
			if _, _, err := l.Load(t.Context(), key); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "restore the database") {
				t.Errorf("Load(%s): %v", key, err)
			}
		}
	})
}

// TestS6_13_ForgedRowsAreNotBelieved is S6-13: an event that somebody with access to the
// database changes or adds is found, as in the other ledgers.
func TestS6_13_ForgedRowsAreNotBelieved(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, where string) {
		l := opened(t, where)
		v := ledger.Version("")
		for _, note := range []string{"1", "2", "3"} {
			var err error
			if v, err = l.Append(t.Context(), "a", v, notes(note)); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := l.Load(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if _, err := raw(t, where).ExecContext(t.Context(), `INSERT INTO ledger_event (stream, seq, event)
			SELECT stream, 4, replace(event, '"note":"3"', '"note":"forged"') FROM ledger_event WHERE seq = 3`); err != nil {
			t.Fatal(err)
		}
		_, _, err := l.Load(t.Context(), "a")
		walked := l.Walk(t.Context(), func(string, []routing.Event) error { return nil })
		for _, err := range []error{err, walked} {
			if !errors.Is(err, ledger.ErrChain) || !strings.Contains(err.Error(), "event 4 of stream a does not follow") || !strings.Contains(err.Error(), "restore the database") {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestOpen(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("no database, but text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"sqlite:":                              "is empty: name a file",
		"sqlite:" + filepath.Join(dir, "none"): "no such file",
		"sqlite:" + text:                       "is no SQLite database",
		"sqlite:" + dir:                        "is a directory",
		"postgres://127.0.0.1:1/x":             "the database: ",
		"postgres://:secret@%zz/x":             "the database's URL: ",
		filepath.Join(dir, "plain"):            "begins with postgres://",
	} {
		l, err := sqlledger.Open(ctx, where, false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%s) = %v, want %s", where, err, want)
			_ = l.Close()
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("a file was made")
	}
	if got, err := os.ReadFile(text); err != nil || string(got) != "no database, but text" {
		t.Errorf("the text is now %q, %v", got, err)
	}
	l := opened(t, "sqlite:"+filepath.Join(dir, "made", "l.db"))
	if _, err := l.Append(ctx, "a", "", notes("1")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "made", "*"))
	if err != nil || len(files) < 2 { // the database and its log
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range append(files, filepath.Join(dir, "made")) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v, %v", f, info.Mode(), err)
		}
	}
}

// Programs that start at once make the tables once, and none of them fails.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, where string) {
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				l, err := sqlledger.Open(t.Context(), where, true)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = l.Append(t.Context(), fmt.Sprint(i), "", notes("1"))
				if err := errors.Join(err, l.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var n int
		if err := raw(t, where).QueryRowContext(t.Context(), "SELECT count(*) FROM switchback_migration").Scan(&n); err != nil || n != 1 {
			t.Errorf("%d migrations, %v", n, err)
		}
		if keys, err := opened(t, where).Keys(t.Context()); err != nil || len(keys) != 8 {
			t.Errorf("Keys = %q, %v", keys, err)
		}
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, where string) {
		opened(t, where)
		if _, err := raw(t, where).ExecContext(t.Context(), "INSERT INTO switchback_migration (line, version, at) VALUES ('ledger', 2, '')"); err != nil {
			t.Fatal(err)
		}
		_, err := sqlledger.Open(t.Context(), where, true)
		if !errors.Is(err, database.ErrNewer) || !strings.Contains(err.Error(), `"ledger" is at 2, known are 1; run the version`) {
			t.Errorf("Open = %v", err)
		}
	})
}
