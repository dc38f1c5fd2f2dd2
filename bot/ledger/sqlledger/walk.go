package sqlledger

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

var _ ledger.Walker = (*Ledger)(nil)

// Walk implements ledger.Walker with one query over all events.
func (l *Ledger) Walk(ctx context.Context, fn func(key string, events []routing.Event) error) error {
	rows, err := l.db.Read.QueryContext(ctx, `SELECT s.key, e.seq, e.event FROM ledger_stream s
		JOIN ledger_event e ON e.stream = s.id ORDER BY s.key, e.seq`)
	if err != nil {
		return told(ctx, "read", "the ledger", err)
	}
	defer rows.Close()
	w := walk{fn: fn}
	for rows.Next() {
		var key, event sql.RawBytes
		var seq int
		if err := rows.Scan(&key, &seq, &event); err != nil {
			return told(ctx, "read", "the ledger", err)
		}
		if err := w.add(key, seq, event); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return told(ctx, "read", "the ledger", err)
	}
	return w.flush()
}

// walk gathers the events of one stream.
type walk struct {
	fn   func(key string, events []routing.Event) error
	key  []byte // as it is stored
	n    int
	text bytes.Buffer // the events, one a line
}

func (w *walk) add(key []byte, seq int, event []byte) error {
	if !bytes.Equal(key, w.key) {
		if err := w.flush(); err != nil {
			return err
		}
		w.key = append(w.key[:0], key...)
	}
	if w.n++; seq != w.n {
		return fmt.Errorf("the stream of %s: event %d is missing; restore the database from a copy", unstored.Replace(string(w.key)), w.n)
	}
	w.text.Write(event)
	w.text.WriteByte('\n')
	return nil
}

// flush hands over the stream that was gathered.
func (w *walk) flush() error {
	if w.n == 0 {
		return nil
	}
	key := unstored.Replace(string(w.key))
	events, err := ledger.DecodeStored(key, w.text.Bytes())
	if err != nil {
		return fmt.Errorf("the stream of %s, event by event a line: %w; restore the database from a copy", key, err)
	}
	w.n = 0
	w.text.Reset()
	return w.fn(key, events)
}
