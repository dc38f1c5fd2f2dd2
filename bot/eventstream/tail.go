package eventstream

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/sleep"
)

const (
	batchStreams = 100                    // projected by one transaction
	batchTime    = 100 * time.Millisecond // after which a transaction ends so that others can write
	sqlitePoll   = 25 * time.Millisecond  // between two reads from SQLite, which sends no notifications
	notifiedPoll = time.Second            // between two reads from PostgreSQL, in case a notification is lost
	retryAfter   = 5 * time.Second        // an error
)

// Tail projects the ledger in the same database while it grows.
type Tail struct {
	db        *database.DB
	ledger    *sqlledger.Ledger
	projector *Projector
	poll      time.Duration // between two reads from a database that sends notifications
}

// Run projects what is appended to the ledger until ctx ends. Several processes may run it; one at
// a time projects.
func (t *Tail) Run(ctx context.Context, log *slog.Logger) {
	changed := t.notifications(ctx, log)
	for ctx.Err() == nil {
		n, err := t.batch(ctx, log)
		wait := t.poll
		switch {
		case err != nil && ctx.Err() == nil:
			log.Warn("the event stream is behind the ledger", "err", err)
			wait = retryAfter
		case n > 0:
			t.projector.log.changed.notify()
			continue
		case t.db.Kind == database.SQLite:
			wait = sqlitePoll
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// mark says that a stream may have events that are not projected.
type mark struct {
	id  int64 // of the row
	key string
}

// batch projects some streams, and returns how many.
func (t *Tail) batch(ctx context.Context, log *slog.Logger) (n int, err error) {
	if waiting, err := t.marked(ctx, t.db.Read, 1); err != nil || len(waiting) == 0 {
		return 0, err
	}
	err = t.projector.write(ctx, func(tx *sql.Tx) error {
		waiting, err := t.marked(ctx, tx, batchStreams)
		if err != nil {
			return err
		}
		began, done := time.Now(), map[string]bool{}
		for _, w := range waiting {
			if time.Since(began) > batchTime {
				break
			}
			if !done[w.key] {
				if err := t.stream(ctx, tx, w.key, log); err != nil {
					return err
				}
				done[w.key] = true
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM projection_pending WHERE "+t.rowID()+" = $1", w.id); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// stream projects one stream. One that cannot be read is skipped, so that it does not block the
// others.
func (t *Tail) stream(ctx context.Context, tx *sql.Tx, key string, log *slog.Logger) error {
	events, _, err := t.ledger.Load(ctx, key)
	if errors.Is(err, sqlledger.ErrDamaged) {
		log.Error("a stream is skipped", "stream", key, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	published, err := t.projector.project(ctx, tx, Stream{Key: key, Events: events})
	if err == nil {
		err = t.projector.log.append(ctx, tx, published)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		log.Error("a stream is skipped", "stream", key, "err", err)
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT one"); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "RELEASE SAVEPOINT one")
	return err
}

// rowID is the column that identifies a row of projection_pending.
func (t *Tail) rowID() string {
	if t.db.Kind == database.Postgres {
		return "id"
	}
	return "stream"
}

type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (t *Tail) marked(ctx context.Context, from reader, most int) ([]mark, error) {
	rows, err := from.QueryContext(ctx, fmt.Sprintf(`SELECT n.%s, s.key FROM projection_pending n JOIN ledger_stream s ON s.id = n.stream
		ORDER BY n.%[1]s LIMIT $1`, t.rowID()), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []mark
	for rows.Next() {
		var w mark
		if err := rows.Scan(&w.id, &w.key); err != nil {
			return nil, err
		}
		w.key = sqlledger.Key(w.key)
		out = append(out, w)
	}
	return out, rows.Err()
}

// notifications returns a channel that receives when the ledger has grown, if the database is
// PostgreSQL. Until ctx ends it also passes notifications of published events to the log.
func (t *Tail) notifications(ctx context.Context, log *slog.Logger) <-chan struct{} {
	changed := make(chan struct{}, 1)
	if t.db.Kind != database.Postgres {
		return changed
	}
	go func() {
		for ctx.Err() == nil {
			err := t.listen(ctx, changed)
			if ctx.Err() != nil {
				return
			}
			log.Warn("the database sends no notifications; it is polled", "err", err)
			_ = sleep.For(ctx, retryAfter) // the loop checks ctx
		}
	}()
	return changed
}

func (t *Tail) listen(ctx context.Context, changed chan<- struct{}) error {
	pooled, err := t.db.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // a listening connection cannot return to the pool
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ended)
	}()
	for _, channel := range []string{"switchback_ledger", "switchback_feed"} {
		if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
			return err
		}
	}
	t.projector.log.changed.notify() // of events before LISTEN
	select {
	case changed <- struct{}{}:
	default:
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Channel == "switchback_feed" {
			t.projector.log.changed.notify()
			continue
		}
		select {
		case changed <- struct{}{}:
		default: // a notification is pending
		}
	}
}
