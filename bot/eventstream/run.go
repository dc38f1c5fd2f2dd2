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
	atOnce = 100                    // streams taken in by one transaction
	share  = 100 * time.Millisecond // after which a transaction lets others write
	glance = 25 * time.Millisecond  // between two looks into SQLite, which tells of nothing
	doze   = time.Second            // between two looks into PostgreSQL, which tells of most
	recoil = 5 * time.Second        // after an error
)

// Run takes in what the ledger of the same database gets, until ctx ends: of several
// processes, one at a time.
func (f *Feed) Run(ctx context.Context, log *slog.Logger) {
	heard := f.hear(ctx, log)
	for ctx.Err() == nil {
		n, err := f.catchUp(ctx, log)
		wait := f.doze
		switch {
		case err != nil && ctx.Err() == nil:
			log.Warn("the feed falls behind", "err", err)
			wait = recoil
		case n > 0:
			f.wake.notify()
			continue
		case f.db.Kind == database.SQLite:
			wait = glance
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-heard:
		case <-t.C:
		}
		t.Stop()
	}
}

// CatchUp takes in all that the ledger of the same database has.
func (f *Feed) CatchUp(ctx context.Context, log *slog.Logger) error {
	for {
		n, err := f.catchUp(ctx, log)
		if err != nil || n == 0 {
			return err
		}
		f.wake.notify()
	}
}

// news is a stream that may have events which were not taken in.
type news struct {
	id  int64 // of the row that says so
	key string
}

// catchUp takes in some streams, and returns how many.
func (f *Feed) catchUp(ctx context.Context, log *slog.Logger) (n int, err error) {
	if waiting, err := f.news(ctx, f.db.Read, 1); err != nil || len(waiting) == 0 {
		return 0, err
	}
	err = f.write(ctx, func(tx *sql.Tx) error {
		waiting, err := f.news(ctx, tx, atOnce)
		if err != nil {
			return err
		}
		began, done := time.Now(), map[string]bool{}
		for _, w := range waiting {
			if time.Since(began) > share {
				break
			}
			if !done[w.key] {
				if err := f.one(ctx, tx, w.key, log); err != nil {
					return err
				}
				done[w.key] = true
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM feed_news WHERE "+f.rowID()+" = $1", w.id); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// one takes in one stream of the database's own ledger. One that cannot be read is
// left out, lest it keep back all others.
func (f *Feed) one(ctx context.Context, tx *sql.Tx, key string, log *slog.Logger) error {
	events, _, err := f.ledger.Load(ctx, key)
	if errors.Is(err, sqlledger.ErrDamaged) {
		log.Error("a stream is not shown", "stream", key, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	told, err := f.take(ctx, tx, Stream{Key: key, Events: events})
	if err == nil {
		err = f.tell(ctx, tx, told)
	}
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		log.Error("a stream is not shown", "stream", key, "err", err)
		if _, err := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT one"); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "RELEASE SAVEPOINT one")
	return err
}

// rowID is the column by which a row of the news is known.
func (f *Feed) rowID() string {
	if f.db.Kind == database.Postgres {
		return "id"
	}
	return "stream"
}

type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (f *Feed) news(ctx context.Context, from reader, most int) ([]news, error) {
	rows, err := from.QueryContext(ctx, fmt.Sprintf(`SELECT n.%s, s.key FROM feed_news n JOIN ledger_stream s ON s.id = n.stream
		ORDER BY n.%[1]s LIMIT $1`, f.rowID()), most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []news
	for rows.Next() {
		var w news
		if err := rows.Scan(&w.id, &w.key); err != nil {
			return nil, err
		}
		w.key = sqlledger.Key(w.key)
		out = append(out, w)
	}
	return out, rows.Err()
}

// hear returns what tells that the ledger has got something: with PostgreSQL, which
// also tells whoever waits for the feed. It ends with ctx.
func (f *Feed) hear(ctx context.Context, log *slog.Logger) <-chan struct{} {
	heard := make(chan struct{}, 1)
	if f.db.Kind != database.Postgres {
		return heard
	}
	go func() {
		for ctx.Err() == nil {
			err := f.listen(ctx, heard)
			if ctx.Err() != nil {
				return
			}
			log.Warn("the database does not tell of news; looking for them instead", "err", err)
			_ = sleep.For(ctx, recoil) // the loop looks at ctx
		}
	}()
	return heard
}

func (f *Feed) listen(ctx context.Context, heard chan<- struct{}) error {
	pooled, err := f.db.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // what listens is not given back
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
	f.wake.notify() // what came before it listened
	select {
	case heard <- struct{}{}:
	default:
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Channel == "switchback_feed" {
			f.wake.notify()
			continue
		}
		select {
		case heard <- struct{}{}:
		default: // it knows already
		}
	}
}
