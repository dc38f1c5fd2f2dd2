package recovery

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
)

//go:embed migrations
var migrations embed.FS

// Line returns the migrations of the table in which Table stores marks.
func Line() database.Line { return database.Embedded("recovery", migrations) }

// Table stores marks in a database that is migrated by Line.
type Table struct{ DB *database.DB }

var _ Marks = Table{}

// Mark implements Marks.
func (t Table) Mark(ctx context.Context, name string) (value string, err error) {
	err = t.DB.Read.QueryRowContext(ctx, "SELECT value FROM recovery_mark WHERE name = $1", name).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("the database: mark %s: %w", name, err)
	}
	return value, nil
}

// SetMark implements Marks.
func (t Table) SetMark(ctx context.Context, name, value string) error {
	return t.DB.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO recovery_mark (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
		if err != nil {
			return fmt.Errorf("the database: mark %s: %w", name, err)
		}
		return nil
	})
}

// times are marks that hold times.
type times struct{ marks Marks }

// get returns the time of a mark, zero if it was never set.
func (t times) get(ctx context.Context, name string) (time.Time, error) {
	s, err := t.marks.Mark(ctx, name)
	if err != nil || s == "" {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("the mark %s is %q: %w", name, s, err)
	}
	return at, nil
}

// set stores the time of a mark whose stored time is old.
func (t times) set(ctx context.Context, name string, old, at time.Time) error {
	if at.Equal(old) {
		return nil
	}
	return t.marks.SetMark(ctx, name, at.UTC().Format(time.RFC3339Nano))
}
