package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// Lane returns the deliveries of an event in a lane on which nobody works and
// whose work is not done, the oldest first, at most n.
func (s *Store) Lane(ctx context.Context, lane, event string, n int) ([]Delivery, error) {
	rows, err := s.db.Read.QueryContext(ctx, `SELECT id, hook, installation, event, action, received_at, payload, encoding, lane FROM delivery
		WHERE lane = $1 AND event = $2 AND state IN ('received', 'later', 'failed') ORDER BY received_at, id LIMIT $3`, lane, event, n)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	var out []Delivery
	for rows.Next() {
		var d Delivery
		var received int64
		var encoding string
		if err := rows.Scan(&d.ID, &d.Hook, &d.Installation, &d.Event, &d.Action, &received, &d.Payload, &encoding, &d.Lane); err != nil {
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

// Finish notes that deliveries are done, all or none: the work on another one
// has done theirs. Their own jobs find nothing left to do.
func (s *Store) Finish(ctx context.Context, ids ...string) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			_, err := tx.ExecContext(ctx, `UPDATE delivery SET state = 'done', error = '', next_at = NULL, changed_at = $2
				WHERE id = $1 AND state NOT IN ('done', 'gone', 'poison')`, id, millis(time.Now()))
			if err != nil {
				return fmt.Errorf("deliveries: %w", err)
			}
		}
		return nil
	})
}

// Oldest returns when the oldest delivery came whose work is not done, zero if
// there is none.
func (s *Store) Oldest(ctx context.Context) (time.Time, error) {
	var at sql.NullInt64
	err := s.db.Read.QueryRowContext(ctx, "SELECT min(received_at) FROM delivery WHERE state IN ('received', 'working', 'later', 'failed')").Scan(&at)
	if err != nil || !at.Valid {
		return time.Time{}, err
	}
	return fromMillis(at.Int64), nil
}

// Enqueue puts jobs into the queue, all or none, each as its own options say.
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

// Hurry lets the deliveries of an installation that wait be tried again now: what
// they wait for may have come.
func (s *Store) Hurry(ctx context.Context, installation int64) error {
	const those = `kind = 'delivery' AND args ->> 'delivery' IN (SELECT id FROM delivery WHERE installation = $1 AND state = 'later')`
	// River is told that a delivery waits a moment after that is recorded.
	for range 20 {
		var noting int
		err := s.jobs.tx(ctx, func(t tx) error {
			// A job is due from when it was made: both databases keep that in a form of their own.
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
