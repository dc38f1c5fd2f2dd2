package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// Deliveries are the webhook deliveries of a Store and their states.
type Deliveries struct {
	db       *database.DB
	queue    queue
	incoming *intake
}

const columns = "id, hook, installation, event, action, received_at, state, attempts, error, next_at, changed_at, payload IS NOT NULL"

// Find returns the status of a delivery. ok is false if there is none.
func (d *Deliveries) Find(ctx context.Context, id string) (st Status, ok bool, err error) {
	list, err := d.list(ctx, "SELECT "+columns+" FROM delivery WHERE id = $1", id)
	if err != nil || len(list) == 0 {
		return Status{}, false, err
	}
	return list[0], true, nil
}

// Stored returns which of the deliveries of these ids are stored, in any state.
func (d *Deliveries) Stored(ctx context.Context, ids []string) (map[string]bool, error) {
	const atOnce = 500 // parameters of one statement
	out := map[string]bool{}
	for some := range slices.Chunk(ids, atOnce) {
		args, marks := make([]any, len(some)), make([]string, len(some))
		for i, id := range some {
			args[i], marks[i] = id, fmt.Sprintf("$%d", i+1)
		}
		list, err := d.list(ctx, "SELECT "+columns+" FROM delivery WHERE id IN ("+strings.Join(marks, ", ")+")", args...)
		if err != nil {
			return nil, err
		}
		for _, st := range list {
			out[st.ID] = true
		}
	}
	return out, nil
}

// List returns at most n deliveries in a state, the last changed first.
func (d *Deliveries) List(ctx context.Context, state State, n int) ([]Status, error) {
	return d.list(ctx, "SELECT "+columns+" FROM delivery WHERE state = $1 ORDER BY changed_at DESC, id LIMIT $2", string(state), n)
}

func (d *Deliveries) list(ctx context.Context, text string, args ...any) ([]Status, error) {
	rows, err := d.db.Read.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	var out []Status
	for rows.Next() {
		var st Status
		var received, changed int64
		var next sql.NullInt64
		err := rows.Scan(&st.ID, &st.Hook, &st.Installation, &st.Event, &st.Action, &received, &st.State, &st.Attempts, &st.Error, &next, &changed, &st.HasPayload)
		if err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		st.ReceivedAt, st.ChangedAt = fromMillis(received), fromMillis(changed)
		if next.Valid {
			st.NextAt = fromMillis(next.Int64)
		}
		out = append(out, st)
	}
	return out, rows.Err()
}

// Counts returns how many deliveries are in each state.
func (d *Deliveries) Counts(ctx context.Context) (map[State]int, error) {
	rows, err := d.db.Read.QueryContext(ctx, "SELECT state, count(*) FROM delivery GROUP BY state")
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	out := map[State]int{}
	for rows.Next() {
		var state State
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		out[state] = n
	}
	return out, rows.Err()
}

// ErrNotAgain is the error of Again for a delivery that cannot be retried.
var ErrNotAgain = errors.New("no dead letter of this id whose payload is still stored")

// Again retries a delivery that is a DeadLetter or Gone, with all its attempts.
func (d *Deliveries) Again(ctx context.Context, id string) error {
	return d.queue.tx(ctx, func(t tx) error {
		n, err := t.exec(ctx, `UPDATE delivery SET state = 'received', next_at = NULL, changed_at = $2, failures = 0, delays = 0, kills = 0
			WHERE id = $1 AND state IN ('dead_letter', 'gone') AND payload IS NOT NULL`, id, millis(time.Now()))
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%s: %w", id, ErrNotAgain)
		}
		// The end of the old job must not be taken for that of the new one.
		if _, err := t.exec(ctx, "DELETE FROM river_job WHERE kind = 'delivery' AND state <> 'running' AND args ->> 'delivery' = $1", id); err != nil {
			return err
		}
		return t.insert(ctx, []string{id})
	})
}

// Prune deletes the payloads of deliveries that were done or gone before the time payloads, and the
// rows of those that were before the time rows. Dead letters stay. A delivery whose row was deleted
// counts as new if GitHub sends it again.
func (d *Deliveries) Prune(ctx context.Context, payloads, rows time.Time) error {
	return d.queue.tx(ctx, func(t tx) error {
		if _, err := t.exec(ctx, "DELETE FROM delivery WHERE state IN ('done', 'gone') AND changed_at < $1", millis(rows)); err != nil {
			return err
		}
		_, err := t.exec(ctx, "UPDATE delivery SET payload = NULL WHERE state IN ('done', 'gone') AND changed_at < $1 AND payload IS NOT NULL", millis(payloads))
		return err
	})
}

// PendingWithKey returns the oldest deliveries of an event with a serialization key that are
// neither in progress nor finished, at most n, oldest first.
func (d *Deliveries) PendingWithKey(ctx context.Context, key, event string, n int) ([]Delivery, error) {
	rows, err := d.db.Read.QueryContext(ctx, `SELECT id, hook, installation, event, action, received_at, payload, encoding, serialization_key FROM delivery
		WHERE serialization_key = $1 AND event = $2 AND state IN ('received', 'later', 'failed') ORDER BY received_at, id LIMIT $3`, key, event, n)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	var out []Delivery
	for rows.Next() {
		var x Delivery
		var received int64
		var encoding string
		if err := rows.Scan(&x.ID, &x.Hook, &x.Installation, &x.Event, &x.Action, &received, &x.Payload, &encoding, &x.Key); err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		x.ReceivedAt = fromMillis(received)
		if x.Payload, err = unpack(x.Payload, encoding); err != nil {
			return nil, fmt.Errorf("delivery %s: %w", x.ID, err)
		}
		out = append(out, x)
	}
	return out, rows.Err()
}

// Finish records that deliveries are done, all or none, because the work on another delivery
// covered them. Their own jobs find nothing left to do.
func (d *Deliveries) Finish(ctx context.Context, ids ...string) error {
	return d.db.Tx(ctx, func(tx *sql.Tx) error {
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

// Unfinished returns how many deliveries are in each state but Done and Gone, and when the oldest one
// was received that is not a dead letter, zero if there is none. It reads no finished delivery.
func (d *Deliveries) Unfinished(ctx context.Context) (counts map[State]int, oldest time.Time, err error) {
	rows, err := d.db.Read.QueryContext(ctx, `SELECT state, count(*), min(received_at) FROM delivery
		WHERE state IN ('received', 'working', 'later', 'failed', 'dead_letter') GROUP BY state`)
	if err != nil {
		return nil, oldest, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	counts = map[State]int{}
	for rows.Next() {
		var state State
		var n int
		var first int64
		if err := rows.Scan(&state, &n, &first); err != nil {
			return nil, oldest, fmt.Errorf("deliveries: %w", err)
		}
		counts[state] = n
		if at := fromMillis(first); state != DeadLetter && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	return counts, oldest, rows.Err()
}

// Hurry retries the waiting deliveries of an installation now, because what they wait for may have
// changed.
func (d *Deliveries) Hurry(ctx context.Context, installation int64) error {
	const those = `kind = 'delivery' AND args ->> 'delivery' IN (SELECT id FROM delivery WHERE installation = $1 AND state = 'later')`
	// River learns that a delivery waits a moment after that is recorded.
	for range 20 {
		var noting int
		err := d.queue.tx(ctx, func(t tx) error {
			// A job is due from its creation; the two databases store that time in different
			// formats.
			_, err := t.exec(ctx, "UPDATE river_job SET state = 'available', scheduled_at = created_at WHERE state = 'scheduled' AND "+those, installation)
			return err
		})
		if err == nil {
			err = d.db.Read.QueryRowContext(ctx, "SELECT count(*) FROM river_job WHERE state = 'running' AND "+those, installation).Scan(&noting)
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
