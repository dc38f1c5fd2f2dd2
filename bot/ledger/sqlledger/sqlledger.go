// Package sqlledger is a ledger in an SQL database, SQLite or PostgreSQL.
//
// A stream's version is the number of its events, and (stream, number) is
// unique: that is the swap of the compare-and-swap. The schema itself refuses
// to change or delete an event.
package sqlledger

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the ledger's tables.
func Line() database.Line { return database.Embedded("ledger", migrations) }

// ErrDamaged says that what the database holds is no stream.
var ErrDamaged = errors.New("restore the database from a copy")

// Ledger is a ledger in a database.
type Ledger struct{ db *database.DB }

var _ ledger.Ledger = (*Ledger)(nil)

// New returns the ledger in a database whose Line has been migrated.
func New(db *database.DB) *Ledger { return &Ledger{db} }

// scheme is before the path of an SQLite database, as in sqlite:ledger.db.
const scheme = "sqlite:"

// Names reports whether a text names a database, and not a file or folder of
// the other ledgers: sqlite:PATH, or the URL of a PostgreSQL database.
func Names(where string) bool { return strings.HasPrefix(where, scheme) || database.IsPostgres(where) }

// Open opens the ledger in the database that is named as Names says, and makes
// its tables if there are none. An SQLite file is made only if create is set.
// Close closes it.
func Open(ctx context.Context, where string, create bool) (*Ledger, error) {
	var db *database.DB
	var err error
	if path, ok := strings.CutPrefix(where, scheme); ok {
		db, err = database.OpenFile(ctx, path, create)
	} else {
		db, err = database.OpenURL(ctx, where)
	}
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx, nil, Line()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return New(db), nil
}

// Database returns the database, for what else is kept in it.
func (l *Ledger) Database() *database.DB { return l.db }

// Close closes the database.
func (l *Ledger) Close() error { return l.db.Close() }

// Load implements ledger.Ledger.
func (l *Ledger) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	if err := errors.Join(ctx.Err(), ledger.CheckKey(key)); err != nil {
		return nil, "", err
	}
	lines, err := l.lines(ctx, key)
	if err != nil || len(lines) == 0 {
		return nil, "", told(ctx, "load", key, err)
	}
	n := bytes.Count(lines, []byte("\n"))
	events, err := ledger.DecodeStored(key, lines)
	if err != nil {
		return nil, "", fmt.Errorf("the stream of %s, event by event a line: %w; %w", key, err, ErrDamaged)
	}
	return events, version(n), nil
}

// lines returns the events of a stream as they are in a file, one a line.
func (l *Ledger) lines(ctx context.Context, key string) ([]byte, error) {
	rows, err := l.db.Read.QueryContext(ctx, `SELECT e.seq, e.event FROM ledger_event e
		JOIN ledger_stream s ON s.id = e.stream WHERE s.key = $1 ORDER BY e.seq`, stored(key))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var buf bytes.Buffer
	for n := 1; rows.Next(); n++ {
		var seq int
		var event sql.RawBytes
		if err := rows.Scan(&seq, &event); err != nil {
			return nil, err
		}
		if seq != n {
			return nil, fmt.Errorf("event %d is missing; %w", n, ErrDamaged)
		}
		buf.Write(event)
		buf.WriteByte('\n')
	}
	return buf.Bytes(), rows.Err()
}

// Append implements ledger.Ledger.
func (l *Ledger) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	data, err := ledger.Encode(key, "", events)
	if err := errors.Join(ctx.Err(), err); err != nil || len(events) == 0 {
		return seen, err
	}
	after, ok := number(seen)
	if !ok {
		return "", ledger.ErrConflict // no version of this ledger
	}
	if !utf8.Valid(data) { // of JSON that was taken over as it came
		data = bytes.ToValidUTF8(data, []byte("\ufffd"))
	}
	err = l.db.Tx(ctx, func(tx *sql.Tx) error {
		stream, last, err := at(ctx, tx, key, after)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSuffix(string(ledger.Chain(key, last, data)), "\n"), "\n")
		return l.insert(ctx, tx, stream, after, lines)
	})
	if err != nil {
		return "", told(ctx, "append to", key, err)
	}
	return version(after + len(events)), nil
}

// at returns the stream of a key, which it makes if it has no events yet, and its last event, nil
// if it has none, or ErrConflict if it has not just n.
func at(ctx context.Context, tx *sql.Tx, key string, n int) (stream int64, event []byte, err error) {
	if n == 0 {
		if _, err := tx.ExecContext(ctx, "INSERT INTO ledger_stream (key) VALUES ($1) ON CONFLICT (key) DO NOTHING", stored(key)); err != nil {
			return 0, nil, err
		}
	}
	var last int
	err = tx.QueryRowContext(ctx, `SELECT s.id, coalesce(e.seq, 0), e.event FROM ledger_stream s
		LEFT JOIN ledger_event e ON e.stream = s.id AND e.seq = (SELECT max(seq) FROM ledger_event WHERE stream = s.id)
		WHERE s.key = $1`, stored(key)).Scan(&stream, &last, &event)
	if errors.Is(err, sql.ErrNoRows) || err == nil && last != n {
		err = ledger.ErrConflict
	}
	return stream, event, err
}

// insert adds events behind the one numbered after. PostgreSQL's unique index
// refuses those of a transaction that lost a race; SQLite lets one write.
func (l *Ledger) insert(ctx context.Context, tx *sql.Tx, stream int64, after int, lines []string) error {
	if l.db.Kind == database.Postgres {
		_, err := tx.ExecContext(ctx, `INSERT INTO ledger_event (stream, seq, event)
			SELECT $1, $2 + n, event FROM unnest($3::text[]) WITH ORDINALITY AS e (event, n) ORDER BY n`, stream, int64(after), lines)
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == "23505" { // unique_violation
			return ledger.ErrConflict
		}
		return err
	}
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO ledger_event (stream, seq, event) VALUES ($1, $2, $3)")
	if err != nil {
		return err
	}
	defer stmt.Close()
	for i, line := range lines {
		if _, err := stmt.ExecContext(ctx, stream, after+i+1, line); err != nil {
			return err
		}
	}
	return nil
}

// Keys implements ledger.Ledger.
func (l *Ledger) Keys(ctx context.Context) ([]string, error) {
	rows, err := l.db.Read.QueryContext(ctx, "SELECT key FROM ledger_stream ORDER BY key")
	if err != nil {
		return nil, told(ctx, "list", "the ledger", err)
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, Key(key))
	}
	return keys, told(ctx, "list", "the ledger", rows.Err())
}

// PostgreSQL's text has no U+0000. What stands for it keeps the order.
var (
	escaped  = strings.NewReplacer("\x00", "\x01\x01", "\x01", "\x01\x02")
	unstored = strings.NewReplacer("\x01\x01", "\x00", "\x01\x02", "\x01")
)

func stored(key string) string { return escaped.Replace(key) }

// Key returns the key of a stream as the tables hold it.
func Key(stored string) string { return unstored.Replace(stored) }

// version returns the version of a stream with n events.
func version(n int) ledger.Version { return ledger.Version(strconv.Itoa(n)) }

// number returns how many events a version stands for, and whether it is one.
func number(v ledger.Version) (int, bool) {
	if v == "" {
		return 0, true
	}
	n, err := strconv.Atoi(string(v))
	return n, err == nil && n > 0 && version(n) == v
}

// told adds to an error what was wanted. A context's end stays one, whatever
// the driver made of it.
func told(ctx context.Context, what, of string, err error) error {
	switch {
	case err == nil, errors.Is(err, ledger.ErrConflict):
		return err
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return fmt.Errorf("%s %s: %w", what, of, err)
}
