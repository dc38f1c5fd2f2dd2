package queue

import (
	"context"
	"database/sql"
	"errors"

	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/switchback-ci/switchback/bot/database"
)

// sqlite is the queue in an SQLite file, which this process has for itself.
type sqlite struct{ rivers[*sql.Tx] }

func newSQLite(db *database.DB) (queue, error) {
	r, err := newRivers(db, riversqlite.New(db.Write))
	return &sqlite{r}, err
}

func (q *sqlite) committers() int { return 1 } // there is one writer

// sqliteTx implements tx.
type sqliteTx struct {
	q  *sqlite
	tx *sql.Tx
}

func (t sqliteTx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := t.tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t sqliteTx) insert(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := t.q.client.InsertManyFastTx(ctx, t.tx, jobsOf(ids))
	return err
}

func (q *sqlite) tx(ctx context.Context, fn func(tx) error) error {
	return q.db.Tx(ctx, func(tx *sql.Tx) error { return fn(sqliteTx{q, tx}) })
}

func (q *sqlite) accept(ctx context.Context, rows []row) (map[string]bool, error) {
	fresh := map[string]bool{}
	err := q.tx(ctx, func(t tx) error {
		var ids []string
		for _, r := range rows {
			n, err := t.exec(ctx, `INSERT INTO delivery (id, hook, installation, event, action, received_at, payload, encoding, serialization_key, digest, changed_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $6) ON CONFLICT DO NOTHING`,
				r.ID, r.Hook, r.Installation, r.Event, r.Action, millis(r.ReceivedAt), r.Payload, r.encoding, r.Key, r.Digest)
			if err != nil {
				return err
			}
			if n == 1 {
				fresh[r.ID], ids = true, append(ids, r.ID)
			}
		}
		return t.insert(ctx, ids)
	})
	return fresh, err
}

func (q *sqlite) change(ctx context.Context, all []*change) error {
	return q.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, c := range all {
			if c.into == nil {
				if _, err := tx.ExecContext(ctx, c.text, c.args...); err != nil {
					return err
				}
				continue
			}
			err := tx.QueryRowContext(ctx, c.text, c.args...).Scan(c.into...)
			if c.found = err == nil; err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		return nil
	})
}

// present gives back what the process before was killed over: the file is
// locked, so nobody else works on it.
func (q *sqlite) present(ctx context.Context, _ string) error {
	return q.tx(ctx, func(t tx) error {
		if _, err := t.exec(ctx, "UPDATE river_job SET state = 'available' WHERE state = 'running'"); err != nil {
			return err
		}
		_, err := t.exec(ctx, "DELETE FROM river_leader")
		return err
	})
}

func (q *sqlite) leave() {}

func (q *sqlite) revive(context.Context) error { return nil } // present did
