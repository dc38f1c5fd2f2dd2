package eventstream

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/sleep"
)

// Mirror takes in a ledger that is not the database's own, by looking what has moved
// on. It is used by one goroutine.
type Mirror struct {
	feed   *Feed
	from   ledger.Ledger
	prefix string
	log    *slog.Logger
	states map[string]string // in which streams were taken in, or could not be
}

// NewMirror returns a Mirror of the streams of a ledger whose keys begin with prefix.
func NewMirror(f *Feed, from ledger.Ledger, prefix string, log *slog.Logger) *Mirror {
	return &Mirror{feed: f, from: from, prefix: prefix, log: log}
}

// Look takes in what has moved on, and returns how many events it made. Streams that
// have not are not read, also if another Mirror took them in. One that cannot be read
// is left out, and told of once.
func (m *Mirror) Look(ctx context.Context) (int, error) {
	now, err := ledger.States(ctx, m.from)
	if err != nil {
		return 0, fmt.Errorf("look what has moved on: %w", err)
	}
	if m.states == nil {
		if m.states, err = m.feed.states(ctx, m.prefix); err != nil {
			return 0, err
		}
	}
	var streams []Stream
	for _, key := range slices.Sorted(maps.Keys(now)) {
		if m.states[key] == now[key] || len(key) < len(m.prefix) || key[:len(m.prefix)] != m.prefix {
			continue
		}
		events, _, err := m.from.Load(ctx, key)
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			m.skip(key, now[key], err)
			continue
		}
		streams = append(streams, Stream{key, events, now[key]})
	}
	if len(streams) == 0 {
		return 0, nil
	}
	n, err := m.feed.Fill(ctx, streams)
	if err != nil && ctx.Err() == nil { // all but those it is because of
		n = 0
		for _, s := range streams {
			one, err := m.feed.Fill(ctx, []Stream{s})
			if ctx.Err() != nil {
				return n, ctx.Err()
			}
			if err != nil {
				m.skip(s.Key, s.State, err)
			}
			n += one
		}
	} else if err != nil {
		return 0, err
	}
	for _, s := range streams {
		m.states[s.Key] = s.State
	}
	return n, nil
}

func (m *Mirror) skip(key, state string, err error) {
	m.states[key] = state
	m.log.Error("a stream is not shown", "stream", key, "err", err)
}

// Run looks again and again until ctx ends.
func (m *Mirror) Run(ctx context.Context, every time.Duration) {
	for {
		wait := every
		if _, err := m.Look(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("the ledger cannot be looked at", "err", err)
			wait = max(every, recoil)
		}
		if sleep.For(ctx, wait) != nil {
			return
		}
	}
}

// states returns the states in which streams were taken in whose keys begin with prefix.
func (f *Feed) states(ctx context.Context, prefix string) (map[string]string, error) {
	q := &query{}
	out := map[string]string{}
	where := "state <> '' AND key >= " + q.arg(prefix)
	if prefix != "" {
		where += " AND key < " + q.arg(prefix+"\U0010ffff")
	}
	rows, err := f.db.Read.QueryContext(ctx, "SELECT key, state FROM feed_stream WHERE "+where, q.args...)
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
