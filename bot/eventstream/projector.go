package eventstream

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

// Projector derives published events and tables from streams of ledgers.
type Projector struct {
	db  *database.DB
	log *Log
}

// projecting is the PostgreSQL advisory lock of the process that projects, so that the order of
// positions is the order in which events become visible.
const projecting = 0x5b_feed

// write runs fn in a transaction while no other process projects.
func (p *Projector) write(ctx context.Context, fn func(*sql.Tx) error) error {
	return p.db.Tx(ctx, func(tx *sql.Tx) error {
		if p.db.Kind == database.Postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", projecting); err != nil {
				return err
			}
		}
		return fn(tx)
	})
}

// Stream is a stream of a ledger.
type Stream struct {
	Key    string
	Events []routing.Event // all of it
	State  string          // the stream's state in a ledger outside the database, see Mirror
}

// Fill projects the events of streams that are not projected yet, in the order of their times, and
// returns how many events it published. On an error nothing is projected. Streams of ledgers outside
// the database are projected by it.
func (p *Projector) Fill(ctx context.Context, streams []Stream) (n int, err error) {
	err = p.write(ctx, func(tx *sql.Tx) error {
		var events []activity.Event
		for _, s := range streams {
			some, err := p.project(ctx, tx, s)
			if err != nil {
				return fmt.Errorf("event stream of %s: %w", s.Key, err)
			}
			events = append(events, some...)
		}
		slices.SortStableFunc(events, func(a, b activity.Event) int { return a.At.Compare(b.At) })
		n = len(events)
		return p.log.append(ctx, tx, events)
	})
	if err != nil {
		return 0, err
	}
	if n > 0 {
		p.log.changed.notify()
	}
	return n, nil
}

// project derives the new events of one stream and updates the tables. It does not publish.
func (p *Projector) project(ctx context.Context, tx *sql.Tx, s Stream) ([]activity.Event, error) {
	if len(s.Events) == 0 {
		return nil, nil
	}
	var seen int
	var was string
	err := tx.QueryRowContext(ctx, "SELECT seen, head FROM projection_stream WHERE key = $1", text(s.Key)).Scan(&seen, &was)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	head, err := head(s.Events)
	if err != nil {
		return nil, err
	}
	if seen > 0 && was != head {
		if !routing.IsRepositoryStream(s.Key) {
			return nil, errors.New("its first event has changed")
		}
		seen = 0 // the branch was created again, or belongs to another repository now
	}
	var events []activity.Event
	if len(s.Events) > seen {
		if events, err = activity.Since(s.Key, s.Events, seen); err != nil {
			return nil, err
		}
		if err := p.update(ctx, tx, s.Key, s.Events, seen); err != nil {
			return nil, err
		}
	} else if s.State == "" || len(s.Events) < seen {
		return nil, nil // an older version
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO projection_stream (key, seen, head, state) VALUES ($1, $2, $3, $4)
		ON CONFLICT (key) DO UPDATE SET seen = excluded.seen, head = excluded.head, state = excluded.state`,
		text(s.Key), len(s.Events), head, text(s.State))
	return events, err
}

// head names the first event of a stream.
func head(events []routing.Event) (string, error) {
	data, err := json.Marshal(events[0])
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8]), err
}

// states returns the states of the projected streams whose keys begin with prefix.
func (p *Projector) states(ctx context.Context, prefix string) (map[string]string, error) {
	q := &query{}
	out := map[string]string{}
	where := "state <> '' AND key >= " + q.arg(prefix)
	if prefix != "" {
		where += " AND key < " + q.arg(prefix+"\U0010ffff")
	}
	rows, err := p.db.Read.QueryContext(ctx, "SELECT key, state FROM projection_stream WHERE "+where, q.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key, state string
		if err := rows.Scan(&key, &state); err != nil {
			return nil, err
		}
		out[key] = state
	}
	return out, rows.Err()
}
