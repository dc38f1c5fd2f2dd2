package eventstream

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing/activity"
)

// page is how many events are read at once.
const page = 500

// Last returns the place of the newest event, 0 if there is none.
func (f *Feed) Last(ctx context.Context) (int64, error) {
	var id int64
	err := f.db.Read.QueryRowContext(ctx, "SELECT coalesce(max(id), 0) FROM feed_event").Scan(&id)
	return id, err
}

// After returns the events behind a place, oldest first, at most n of them.
func (f *Feed) After(ctx context.Context, id int64, n int) ([]activity.Event, error) {
	return f.events(ctx, "WHERE id > $1 ORDER BY id LIMIT $2", id, n)
}

// Of returns the newest n events of some streams, oldest first.
func (f *Feed) Of(ctx context.Context, n int, streams ...string) ([]activity.Event, error) {
	if len(streams) == 0 {
		return nil, nil
	}
	q := query{}
	where := "WHERE id IN (SELECT id FROM feed_event WHERE stream " + q.in(streams) + " ORDER BY id DESC LIMIT " + q.arg(n) + ") ORDER BY id"
	return f.events(ctx, where, q.args...)
}

func (f *Feed) events(ctx context.Context, where string, args ...any) ([]activity.Event, error) {
	rows, err := f.db.Read.QueryContext(ctx, "SELECT id, at, repo, session, port, type, stream, data FROM feed_event "+where, args...)
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

// Follow yields the events behind a place as they come, until ctx ends or reading
// them fails; that error is the last that it yields.
func (f *Feed) Follow(ctx context.Context, after int64) iter.Seq2[activity.Event, error] {
	return func(yield func(activity.Event, error) bool) {
		for events, err := range f.batches(ctx, after) {
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

// batches is Follow, by as many as there are at once.
func (f *Feed) batches(ctx context.Context, after int64) iter.Seq2[[]activity.Event, error] {
	return func(yield func([]activity.Event, error) bool) {
		for {
			rung := f.wake.next()
			events, err := f.After(ctx, after, page)
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
			wait := time.NewTimer(f.rest())
			select {
			case <-ctx.Done():
			case <-rung:
			case <-wait.C:
			}
			wait.Stop()
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// rest is how long nothing is looked for unless the notifier fires: another process may
// have taken in what is new.
func (f *Feed) rest() time.Duration {
	if f.db.Kind == database.SQLite {
		return glance
	}
	return f.doze
}

// query collects the arguments of a statement.
type query struct{ args []any }

// arg adds an argument, and returns what stands for it.
func (q *query) arg(v any) string {
	if s, ok := v.(string); ok {
		v = text(s)
	}
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

// in returns the condition that something is one of some texts.
func (q *query) in(list []string) string {
	if len(list) == 0 {
		return "IN (NULL)"
	}
	marks := make([]string, len(list))
	for i, s := range list {
		marks[i] = q.arg(s)
	}
	return "IN (" + strings.Join(marks, ", ") + ")"
}

// repos returns the condition that a row is of one of some repositories; nil are all.
func (q *query) repos(list []string) string {
	if list == nil {
		return "1 = 1"
	}
	return "repo " + q.in(list)
}

// each calls scan for each row of a query.
func (f *Feed) each(ctx context.Context, what string, q *query, statement string, scan func(*sql.Rows) error) error {
	rows, err := f.db.Read.QueryContext(ctx, statement, q.args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
