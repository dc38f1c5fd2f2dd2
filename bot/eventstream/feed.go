// Package eventstream is what is shown of ledgers while it happens: one sequence of
// events that everybody is told in the same order, and tables of how cases,
// failures, rules and plans stand. It is made from the ledger and can be made again;
// nothing is decided by it.
package eventstream

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the feed's tables. They go after those of the ledger.
func Line() database.Line { return database.Embedded("feed", migrations) }

// Feed is the feed in a database.
type Feed struct {
	db     *database.DB
	ledger *sqlledger.Ledger
	wake   *notifier     // notified when the feed may have grown
	doze   time.Duration // between two looks into a database that tells of news
}

// New returns the feed in a database whose Line has been migrated.
func New(db *database.DB) *Feed {
	return &Feed{db: db, ledger: sqlledger.New(db), wake: newNotifier(), doze: doze}
}

// Beside returns the feed in a database that an App keeps, or nil if there is none. It
// changes nothing, so that the App may run.
func Beside(ctx context.Context, db *database.DB) (*Feed, error) {
	there := "SELECT count(*) FROM sqlite_master WHERE name = 'feed_event'"
	if db.Kind == database.Postgres {
		there = "SELECT count(to_regclass('feed_event'))"
	}
	var n int
	if err := db.Read.QueryRowContext(ctx, there).Scan(&n); err != nil || n == 0 {
		return nil, err
	}
	return New(db), nil
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

// Stream is a stream as it is taken in.
type Stream struct {
	Key    string
	Events []routing.Event // all of it
	State  string          // in which the stream is in a ledger that is not the database's own; see Mirror
}

// Add takes in what a stream has beyond what was taken in before, and returns how
// many events it made. Streams of another ledger than the database's own are taken
// in by it. All of it is taken in or, on an error, nothing.
func (f *Feed) Add(ctx context.Context, key string, events []routing.Event) (int, error) {
	return f.Fill(ctx, []Stream{{Key: key, Events: events}})
}

// Fill is Add for several streams. What they changed is told in the order in which it
// happened.
func (f *Feed) Fill(ctx context.Context, streams []Stream) (n int, err error) {
	err = f.write(ctx, func(tx *sql.Tx) error {
		var told []activity.Event
		for _, s := range streams {
			events, err := f.take(ctx, tx, s)
			if err != nil {
				return fmt.Errorf("feed of %s: %w", s.Key, err)
			}
			told = append(told, events...)
		}
		slices.SortStableFunc(told, func(a, b activity.Event) int { return a.At.Compare(b.At) })
		n = len(told)
		return f.tell(ctx, tx, told)
	})
	if err != nil {
		return 0, err
	}
	if n > 0 {
		f.wake.notify()
	}
	return n, nil
}

// take takes in one stream, and returns what is to be told of it.
func (f *Feed) take(ctx context.Context, tx *sql.Tx, s Stream) ([]activity.Event, error) {
	if len(s.Events) == 0 {
		return nil, nil
	}
	var seen int
	var was string
	err := tx.QueryRowContext(ctx, "SELECT seen, head FROM feed_stream WHERE key = $1", text(s.Key)).Scan(&seen, &was)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	head, err := head(s.Events)
	if err != nil {
		return nil, err
	}
	if seen > 0 && was != head {
		if !routing.IsRepositoryStream(s.Key) {
			return nil, errors.New("it has another beginning than before")
		}
		seen = 0 // a branch that was made anew, or has another repository's place
	}
	var told []activity.Event
	if len(s.Events) > seen {
		if told, err = activity.Since(s.Key, s.Events, seen); err != nil {
			return nil, err
		}
		if err := f.show(ctx, tx, s.Key, s.Events, seen); err != nil {
			return nil, err
		}
	} else if s.State == "" || len(s.Events) < seen {
		return nil, nil // an older state of it
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO feed_stream (key, seen, head, state) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key) DO UPDATE SET seen = excluded.seen, head = excluded.head, state = excluded.state`,
		text(s.Key), len(s.Events), head, text(s.State))
	return told, err
}

// head names the first event of a stream.
func head(events []routing.Event) (string, error) {
	data, err := json.Marshal(events[0])
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), err
}

// tell gives events their places.
func (f *Feed) tell(ctx context.Context, tx *sql.Tx, events []activity.Event) error {
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
