package recovery

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/bot/database"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the table that Table keeps its marks in.
func Line() database.Line { return database.Embedded("recovery", migrations) }

// Table keeps marks in a database that Line was brought to.
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
