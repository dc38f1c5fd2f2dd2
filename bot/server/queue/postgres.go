package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/switchback-ci/switchback/bot/database"
)

// postgres is the queue in PostgreSQL, which several processes may share.
type postgres struct {
	rivers[pgx.Tx]

	id   string        // of the client that works here
	conn *pgxpool.Conn // holds the lock that says so
}

func newPostgres(db *database.DB) (queue, error) {
	r, err := newRivers(db, riverpgxv5.New(db.Pool))
	return &postgres{rivers: r}, err
}

func (q *postgres) committers() int { return 2 } // one writes while the other waits for the disk

// postgresTx implements tx.
type postgresTx struct {
	q  *postgres
	tx pgx.Tx
}

func (t postgresTx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, text, args...)
	return tag.RowsAffected(), err
}

func (t postgresTx) insert(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := t.q.client.InsertManyFastTx(ctx, t.tx, jobsOf(ids))
	return err
}

func (q *postgres) tx(ctx context.Context, fn func(tx) error) error {
	return pgx.BeginFunc(ctx, q.db.Pool, func(tx pgx.Tx) error { return fn(postgresTx{q, tx}) })
}

func (q *postgres) accept(ctx context.Context, rows []row) (map[string]bool, error) {
	// In one order, so that two batches that share some wait for each other instead of one for the
	// other and back.
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(a.Digest, b.Digest), strings.Compare(a.ID, b.ID))
	})
	n := len(rows)
	ids, events, actions, encodings, keys, digests := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	hooks, installations, received := make([]int64, n), make([]int64, n), make([]int64, n)
	payloads := make([][]byte, n)
	for i, r := range rows {
		ids[i], events[i], actions[i], encodings[i], keys[i], payloads[i] = r.ID, r.Event, r.Action, r.encoding, r.Key, r.Payload
		digests[i] = r.Digest
		hooks[i], installations[i], received[i] = r.Hook, r.Installation, millis(r.ReceivedAt)
	}
	fresh := map[string]bool{}
	err := pgx.BeginFunc(ctx, q.db.Pool, func(tx pgx.Tx) error {
		found, err := tx.Query(ctx, `INSERT INTO delivery (id, hook, installation, event, action, received_at, payload, encoding, serialization_key, digest, changed_at)
			SELECT id, hook, installation, event, action, received, payload, encoding, serialization_key, nullif(digest, ''), received
			FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::text[], $9::text[], $10::text[])
			     AS r (id, hook, installation, event, action, received, payload, encoding, serialization_key, digest)
			ON CONFLICT DO NOTHING RETURNING id`, ids, hooks, installations, events, actions, received, payloads, encodings, keys, digests)
		if err != nil {
			return err
		}
		added, err := pgx.CollectRows(found, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, id := range added {
			fresh[id] = true
		}
		return postgresTx{q, tx}.insert(ctx, added)
	})
	return fresh, err
}

// change sends all statements at once. The server takes them as one transaction.
func (q *postgres) change(ctx context.Context, all []*change) (err error) {
	b := &pgx.Batch{}
	for _, c := range all {
		b.Queue(c.text, c.args...)
	}
	sent := q.db.Pool.SendBatch(ctx, b)
	defer func() { err = errors.Join(err, sent.Close()) }()
	for _, c := range all {
		if c.into == nil {
			if _, err := sent.Exec(); err != nil {
				return err
			}
			continue
		}
		err := sent.QueryRow().Scan(c.into...)
		if c.found = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
	}
	return nil
}

// working is the class of the advisory locks of clients that work.
const working = 0x5b1e

// present holds a lock named after the client for as long as this process is
// connected: the server gives it up when the process is killed.
func (q *postgres) present(ctx context.Context, id string) error {
	conn, err := q.db.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1, hashtext($2))", working, id); err != nil {
		conn.Release()
		return err
	}
	q.id, q.conn = id, conn
	return nil
}

// leave closes the connection, so that the lock cannot go back to the pool.
func (q *postgres) leave() {
	if q.conn != nil {
		_ = q.conn.Hijack().Close(context.Background()) // whatever it says, it is closed
		q.conn = nil
	}
}

// revive gives back the running jobs whose client nobody holds the lock of.
func (q *postgres) revive(ctx context.Context) error {
	if q.conn != nil && q.conn.Ping(ctx) != nil && ctx.Err() == nil { // the server was away
		q.leave()
		if err := q.present(ctx, q.id); err != nil {
			return err
		}
	}
	const last = "attempted_by[array_upper(attempted_by, 1)]"
	rows, err := q.db.Pool.Query(ctx, "SELECT DISTINCT "+last+" FROM river_job WHERE state = 'running' AND "+last+" <> $1", q.id)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, id := range ids {
		err := pgx.BeginFunc(ctx, q.db.Pool, func(tx pgx.Tx) error {
			var free bool
			if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1, hashtext($2))", working, id).Scan(&free); err != nil || !free {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE river_job SET state = 'available' WHERE state = 'running' AND "+last+" = $1", id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
