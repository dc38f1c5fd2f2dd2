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

// Mirror projects a ledger outside the database, by comparing the states of its streams. It is used
// by one goroutine.
type Mirror struct {
	projector *Projector
	from      ledger.Ledger
	prefix    string
	log       *slog.Logger
	states    map[string]string // of the streams that were projected or skipped
}

// NewMirror returns a Mirror of the streams of a ledger whose keys begin with prefix.
func NewMirror(p *Projector, from ledger.Ledger, prefix string, log *slog.Logger) *Mirror {
	return &Mirror{projector: p, from: from, prefix: prefix, log: log}
}

// Look projects the streams that have changed, and returns how many events it published. Unchanged
// streams are not read, also if another Mirror projected them. A stream that cannot be read is
// skipped and logged once.
func (m *Mirror) Look(ctx context.Context) (int, error) {
	now, err := ledger.States(ctx, m.from)
	if err != nil {
		return 0, fmt.Errorf("states of the streams: %w", err)
	}
	if m.states == nil {
		if m.states, err = m.projector.states(ctx, m.prefix); err != nil {
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
	n, err := m.projector.Fill(ctx, streams)
	if err != nil && ctx.Err() == nil { // skip those that cause it
		n = 0
		for _, s := range streams {
			one, err := m.projector.Fill(ctx, []Stream{s})
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
	m.log.Error("a stream is skipped", "stream", key, "err", err)
}

// Run calls Look at the given interval until ctx ends.
func (m *Mirror) Run(ctx context.Context, every time.Duration) {
	for {
		wait := every
		if _, err := m.Look(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("the ledger cannot be read", "err", err)
			wait = max(every, retryAfter)
		}
		if sleep.For(ctx, wait) != nil {
			return
		}
	}
}
