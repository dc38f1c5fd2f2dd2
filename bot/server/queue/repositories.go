package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
)

// Repository is a repository of the App. Its id stays when it is renamed; its streams keep the name
// that it had first.
type Repository struct {
	ID           int64
	Installation int64
	Name         string // owner/name now
	Ledger       string // owner/name under which its streams are kept
	Imported     bool   // the ledger branch was imported
	Gone         bool   // it was deleted, or removed from the App
}

// Repositories are the repositories of a Store in which the App works or has worked.
type Repositories struct{ db *database.DB }

// Get returns the repository of an id. ok is false if there is none.
func (t *Repositories) Get(ctx context.Context, id int64) (r Repository, ok bool, err error) {
	err = t.db.Read.QueryRowContext(ctx, "SELECT id, installation, name, ledger, imported_at IS NOT NULL, gone_at IS NOT NULL FROM repository WHERE id = $1", id).
		Scan(&r.ID, &r.Installation, &r.Name, &r.Ledger, &r.Imported, &r.Gone)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, told("repository", err)
}

// List returns the repositories in which the App works.
func (t *Repositories) List(ctx context.Context) ([]Repository, error) {
	rows, err := t.db.Read.QueryContext(ctx, "SELECT id, installation, name, ledger, imported_at IS NOT NULL FROM repository WHERE gone_at IS NULL ORDER BY id")
	if err != nil {
		return nil, told("repositories", err)
	}
	defer rows.Close()
	var out []Repository
	for rows.Next() {
		var r Repository
		if err := rows.Scan(&r.ID, &r.Installation, &r.Name, &r.Ledger, &r.Imported); err != nil {
			return nil, told("repositories", err)
		}
		out = append(out, r)
	}
	return out, told("repositories", rows.Err())
}

// Add stores a repository unless it is stored, and returns it. If another repository had the name
// before, the streams get a name of their own.
func (t *Repositories) Add(ctx context.Context, id, installation int64, name string) (Repository, error) {
	err := t.db.Tx(ctx, func(tx *sql.Tx) error {
		streams := name
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM repository WHERE ledger = $1 AND id <> $2", name, id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			streams = fmt.Sprintf("%s~%d", name, id)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO repository (id, installation, name, ledger) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
			id, installation, name, streams)
		return err
	})
	if err != nil {
		return Repository{}, told("repository", err)
	}
	r, _, err := t.Get(ctx, id)
	return r, err
}

// Move records the name and the installation that a repository has now.
func (t *Repositories) Move(ctx context.Context, id, installation int64, name string) error {
	return t.exec(ctx, "UPDATE repository SET installation = $2, name = $3, gone_at = NULL WHERE id = $1", id, installation, name)
}

// Imported records that the ledger branch was imported.
func (t *Repositories) Imported(ctx context.Context, id int64) error {
	return t.exec(ctx, "UPDATE repository SET imported_at = $2 WHERE id = $1", id, millis(time.Now()))
}

// Lose records that the App no longer works in a repository. The ledger stays, because the
// repository may be added again.
func (t *Repositories) Lose(ctx context.Context, id int64) error {
	return t.exec(ctx, "UPDATE repository SET gone_at = $2 WHERE id = $1", id, millis(time.Now()))
}

// LoseInstallation is Lose for the repositories of an installation.
func (t *Repositories) LoseInstallation(ctx context.Context, installation int64) error {
	return t.exec(ctx, "UPDATE repository SET gone_at = $2 WHERE installation = $1 AND gone_at IS NULL", installation, millis(time.Now()))
}

func (t *Repositories) exec(ctx context.Context, query string, args ...any) error {
	return t.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, query, args...)
		return told("repository", err)
	})
}

func told(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
