// Package feed is what is shown of ledgers while it happens: one sequence of
// events that everybody is told in the same order, and tables of how cases,
// failures, rules and plans stand. It is made from the ledger and can be made again;
// nothing is decided by it.
package feed

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/live"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the feed's tables. They go after those of the ledger.
func Line() database.Line { return database.Embedded("feed", migrations) }

// Feed is the feed in a database.
type Feed struct {
	db     *database.DB
	ledger *sqlledger.Ledger
	wake   *bell // rung when the feed may have grown
}

// New returns the feed in a database whose Line has been migrated.
func New(db *database.DB) *Feed {
	return &Feed{db: db, ledger: sqlledger.New(db), wake: newBell()}
}

// turn is the advisory lock of whoever takes in: events get their places in the
// order in which they can be seen.
const turn = 0x5b_feed

// write runs fn while nobody else takes in.
func (f *Feed) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return f.db.Tx(ctx, func(tx *sql.Tx) error {
		if f.db.Kind == database.Postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", turn); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// Add takes in what a stream has beyond what was taken in before, and returns how
// many events it made. Streams of another ledger than the database's own are taken
// in by it. All of it is taken in or, on an error, nothing.
func (f *Feed) Add(ctx context.Context, key string, events []routing.Event) (n int, err error) {
	err = f.write(ctx, func(tx *sql.Tx) error {
		n, err = f.take(ctx, tx, key, events)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("feed of %s: %w", key, err)
	}
	if n > 0 {
		f.wake.ring()
	}
	return n, nil
}

// take takes in one stream.
func (f *Feed) take(ctx context.Context, tx *sql.Tx, key string, events []routing.Event) (int, error) {
	var seen int
	err := tx.QueryRowContext(ctx, "SELECT seen FROM feed_stream WHERE key = $1", text(key)).Scan(&seen)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if len(events) <= seen {
		return 0, nil // an older state of it
	}
	told, err := live.Since(key, events, seen)
	if err != nil {
		return 0, err
	}
	if err := f.show(ctx, tx, key, events, seen); err != nil {
		return 0, err
	}
	if err := f.tell(ctx, tx, told); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO feed_stream (key, seen) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET seen = excluded.seen",
		text(key), len(events))
	return len(told), err
}

// tell gives events their places.
func (f *Feed) tell(ctx context.Context, tx *sql.Tx, events []live.Event) error {
	if len(events) == 0 {
		return nil
	}
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO feed_event (at, repo, session, port, type, stream, data) VALUES ($1, $2, $3, $4, $5, $6, $7)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, e := range events {
		if _, err := stmt.ExecContext(ctx, millis(e.At), text(e.Repo), text(e.Session), text(e.Port), string(e.Type), text(e.Stream), text(string(e.Data))); err != nil {
			return err
		}
	}
	if f.db.Kind == database.Postgres {
		_, err = tx.ExecContext(ctx, "NOTIFY switchback_feed")
	}
	return err
}

// Prune drops the events of before a time, but for the newest one, which says how far
// the feed is. The tables stay, and so does the ledger.
func (f *Feed) Prune(ctx context.Context, before time.Time) error {
	for {
		var n int64
		err := f.db.Tx(ctx, func(tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, `DELETE FROM feed_event WHERE id IN (SELECT id FROM feed_event
				WHERE at < $1 AND id < (SELECT max(id) FROM feed_event) ORDER BY at LIMIT $2)`, millis(before), page)
			if err == nil {
				n, err = done.RowsAffected()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("drop old events: %w", err)
		}
		if n < page {
			return nil
		}
	}
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
