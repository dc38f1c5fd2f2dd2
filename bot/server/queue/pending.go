package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// PendingWithKey returns the oldest deliveries of an event with a serialization key that are
// neither in progress nor finished, at most n, oldest first.
func (s *Store) PendingWithKey(ctx context.Context, key, event string, n int) ([]Delivery, error) {
	rows, err := s.db.Read.QueryContext(ctx, `SELECT id, hook, installation, event, action, received_at, payload, encoding, serialization_key FROM delivery
		WHERE serialization_key = $1 AND event = $2 AND state IN ('received', 'later', 'failed') ORDER BY received_at, id LIMIT $3`, key, event, n)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	var out []Delivery
	for rows.Next() {
		var d Delivery
		var received int64
		var encoding string
		if err := rows.Scan(&d.ID, &d.Hook, &d.Installation, &d.Event, &d.Action, &received, &d.Payload, &encoding, &d.Key); err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		d.ReceivedAt = fromMillis(received)
		if d.Payload, err = unpack(d.Payload, encoding); err != nil {
			return nil, fmt.Errorf("delivery %s: %w", d.ID, err)
		}
		out = append(out, d)
	}
	return out, rows.Err()
}

// Finish records that deliveries are done, all or none, because the work on another delivery
// covered them. Their own jobs find nothing left to do.
func (s *Store) Finish(ctx context.Context, ids ...string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			_, err := tx.ExecContext(ctx, `UPDATE delivery SET state = 'done', error = '', next_at = NULL, changed_at = $2
				WHERE id = $1 AND state NOT IN ('done', 'gone', 'dead_letter')`, id, millis(time.Now()))
			if err != nil {
				return fmt.Errorf("deliveries: %w", err)
			}
		}
		return nil
	})
}

// Oldest returns when the oldest unfinished delivery was received, zero if there is none.
func (s *Store) Oldest(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.db.Read.QueryRowContext(ctx, "SELECT min(received_at) FROM delivery WHERE state IN ('received', 'working', 'later', 'failed')").Scan(&at)
	if err != nil || !at.Valid {
		return time.Time{}, err
	}
	return fromMillis(at.Int64), nil
}

// Enqueue inserts jobs, all or none, each with its own options.
func (s *Store) Enqueue(ctx context.Context, jobs ...river.JobArgs) error {
	if len(jobs) == 0 {
		return nil
	}
	many := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		many[i].Args = j
	}
	if err := s.jobs.enqueue(ctx, many); err != nil {
		return fmt.Errorf("the queue: %w", err)
	}
	return nil
}

// Hurry retries the waiting deliveries of an installation now, because what they wait for may have
// changed.
func (s *Store) Hurry(ctx context.Context, installation int64) error {
	const those = `kind = 'delivery' AND args ->> 'delivery' IN (SELECT id FROM delivery WHERE installation = $1 AND state = 'later')`
	// River learns that a delivery waits a moment after that is recorded.
	for range 20 {
		var noting int
		err := s.jobs.tx(ctx, func(t tx) error {
			// A job is due from its creation; the two databases store that time in different
			// formats.
			_, err := t.exec(ctx, "UPDATE river_job SET state = 'available', scheduled_at = created_at WHERE state = 'scheduled' AND "+those, installation)
			return err
		})
		if err == nil {
			err = s.db.Read.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE state = 'running' AND "+those, installation).Scan(&noting)
		}
		if err != nil || noting == 0 {
			return told("deliveries", err)
		}
		if err := sleep.For(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
