package eventstream

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing/activity"
)

// page is how many events are read at once.
const page = 500

// Log is the sequence of published events.
type Log struct {
	db      *database.DB
	changed *notifier     // notified when events may have been published
	poll    time.Duration // between two reads from a database that sends notifications
}

// Last returns the position of the newest event, 0 if there is none.
func (l *Log) Last(ctx context.Context) (int64, error) {
	var id int64
	err := l.db.Read.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM projection_event").Scan(&id)
	return id, err
}

// After returns at most n events after a position, oldest first.
func (l *Log) After(ctx context.Context, id int64, n int) ([]activity.Event, error) {
	return l.events(ctx, "WHERE id > $1 ORDER BY id LIMIT $2", id, n)
}

// Of returns the newest n events of some streams, oldest first.
func (l *Log) Of(ctx context.Context, n int, streams ...string) ([]activity.Event, error) {
	if len(streams) == 0 {
		return nil, nil
	}
	q := query{}
	where := "WHERE id IN (SELECT id FROM projection_event WHERE stream " + q.in(streams) + " ORDER BY id DESC LIMIT " + q.arg(n) + ") ORDER BY id"
	return l.events(ctx, where, q.args...)
}

func (l *Log) events(ctx context.Context, where string, args ...any) ([]activity.Event, error) {
	rows, err := l.db.Read.QueryContext(ctx, "SELECT id, at, repo, session, port, type, stream, data FROM projection_event "+where, args...)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	defer rows.Close()
	var out []activity.Event
	for rows.Next() {
		var e activity.Event
		var at int64
		var data string
		if err := rows.Scan(&e.ID, &at, &e.Repo, &e.Session, &e.Port, &e.Type, &e.Stream, &data); err != nil {
			return nil, fmt.Errorf("events: %w", err)
		}
		e.At, e.Data = fromMillis(at), []byte(data)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	return out, nil
}

// Follow yields the events after a position as they are published, until ctx ends or reading fails;
// it yields that error last.
func (l *Log) Follow(ctx context.Context, after int64) iter.Seq2[activity.Event, error] {
	return func(yield func(activity.Event, error) bool) {
		for events, err := range l.batches(ctx, after) {
			if err != nil {
				yield(activity.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// batches is Follow in batches of all events that are there.
func (l *Log) batches(ctx context.Context, after int64) iter.Seq2[[]activity.Event, error] {
	return func(yield func([]activity.Event, error) bool) {
		for {
			changed := l.changed.next()
			events, err := l.After(ctx, after, page)
			if err != nil {
				if ctx.Err() == nil {
					yield(nil, err)
				}
				return
			}
			if n := len(events); n > 0 {
				if after = events[n-1].ID; !yield(events, nil) {
					return
				}
				if n == page {
					continue
				}
			}
			wait := time.NewTimer(l.interval())
			select {
			case <-ctx.Done():
			case <-changed:
			case <-wait.C:
			}
			wait.Stop()
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// interval is how often events are read although the notifier does not fire: another process may
// have published them.
func (l *Log) interval() time.Duration {
	if l.db.Kind == database.SQLite {
		return sqlitePoll
	}
	return l.poll
}

// append publishes events at the next positions.
func (l *Log) append(ctx context.Context, tx *sql.Tx, events []activity.Event) error {
	if len(events) == 0 {
		return nil
	}
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO projection_event (at, repo, session, port, type, stream, data) VALUES ($1, $2, $3, $4, $5, $6, $7)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, e := range events {
		if _, err := stmt.ExecContext(ctx, millis(e.At), text(e.Repo), text(e.Session), text(e.Port), string(e.Type), text(e.Stream), text(string(e.Data))); err != nil {
			return err
		}
	}
	if l.db.Kind == database.Postgres {
		_, err = tx.ExecContext(ctx, "NOTIFY switchback_feed")
	}
	return err
}

// Prune deletes the events from before a time except the newest, which holds the position. The
// tables and the ledger are not pruned.
func (l *Log) Prune(ctx context.Context, before time.Time) error {
	for {
		var n int64
		err := l.db.Tx(ctx, func(tx *sql.Tx) error {
			done, err := tx.ExecContext(ctx, `DELETE FROM projection_event WHERE id IN (SELECT id FROM projection_event
				WHERE at < $1 AND id < (SELECT max(id) FROM projection_event) ORDER BY at LIMIT $2)`, millis(before), page)
			if err == nil {
				n, err = done.RowsAffected()
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("delete old events: %w", err)
		}
		if n < page {
			return nil
		}
	}
}
