package notify

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

// Line returns the migrations of the table of positions.
func Line() database.Line { return database.Embedded("notify", migrations) }

// Position is up to where an endpoint was told.
type Position struct {
	Event  int64     // id of the last event that was looked at
	Digest time.Time // when the newest digest was due
}

// Positions are those of all endpoints, for all processes that share a database.
type Positions struct{ DB *database.DB }

// Of returns the position of an endpoint. A new one begins at first: it is told of nothing that
// happened before.
func (t Positions) Of(ctx context.Context, endpoint string, first Position) (Position, error) {
	var p Position
	var digest int64
	err := t.DB.Read.QueryRowContext(ctx, "SELECT event, digest FROM notify_position WHERE endpoint = $1", endpoint).Scan(&p.Event, &digest)
	if errors.Is(err, sql.ErrNoRows) {
		return first, t.exec(ctx, "INSERT INTO notify_position (endpoint, event, digest) VALUES ($1, $2, $3) ON CONFLICT (endpoint) DO NOTHING",
			endpoint, first.Event, first.Digest.UnixMilli())
	}
	if err != nil {
		return p, fmt.Errorf("notifications: %w", err)
	}
	p.Digest = time.UnixMilli(digest)
	return p, nil
}

// Advance moves an endpoint on, and never back.
func (t Positions) Advance(ctx context.Context, endpoint string, to Position) error {
	return t.exec(ctx, `UPDATE notify_position SET event = CASE WHEN event < $2 THEN $2 ELSE event END,
		digest = CASE WHEN digest < $3 THEN $3 ELSE digest END WHERE endpoint = $1`, endpoint, to.Event, to.Digest.UnixMilli())
}

// Told reports whether an endpoint was told of a message, or rejected it.
func (t Positions) Told(ctx context.Context, endpoint, message string) (bool, error) {
	var n int
	err := t.DB.Read.QueryRowContext(ctx, "SELECT count(*) FROM notify_told WHERE endpoint = $1 AND message = $2", endpoint, message).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("notifications: %w", err)
	}
	return n > 0, nil
}

// Tell records that an endpoint was told of a message, or rejected it.
func (t Positions) Tell(ctx context.Context, endpoint, message string, at time.Time) error {
	return t.exec(ctx, "INSERT INTO notify_told (endpoint, message, at) VALUES ($1, $2, $3) ON CONFLICT (endpoint, message) DO NOTHING", endpoint, message, at.UnixMilli())
}

// Prune forgets what was told before a time.
func (t Positions) Prune(ctx context.Context, before time.Time) error {
	return t.exec(ctx, "DELETE FROM notify_told WHERE at < $1", before.UnixMilli())
}

func (t Positions) exec(ctx context.Context, query string, args ...any) error {
	err := t.DB.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
	if err != nil {
		return fmt.Errorf("notifications: %w", err)
	}
	return nil
}
