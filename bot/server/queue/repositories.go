package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Repository is what is known of a repository. Its id stays whatever happens to
// its name; its streams are kept under the name it had first.
type Repository struct {
	ID           int64
	Installation int64
	Name         string // owner/name now
	Ledger       string // owner/name under which its streams are kept
	Imported     bool   // the ledger's branch was taken over
	Gone         bool   // it was deleted, or taken from the App
}

// Repository returns the repository of an id; there is none if ok is false.
func (s *Store) Repository(ctx context.Context, id int64) (r Repository, ok bool, err error) {
	err = s.db.Read.QueryRowContext(ctx, "SELECT id, installation, name, ledger, imported_at IS NOT NULL, gone_at IS NOT NULL FROM repository WHERE id = $1", id).
		Scan(&r.ID, &r.Installation, &r.Name, &r.Ledger, &r.Imported, &r.Gone)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	return r, err == nil, told("repository", err)
}

// Repositories returns the repositories that the App works in.
func (s *Store) Repositories(ctx context.Context) ([]Repository, error) {
	rows, err := s.db.Read.QueryContext(ctx, "SELECT id, installation, name, ledger, imported_at IS NOT NULL FROM repository WHERE gone_at IS NULL ORDER BY id")
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

// AddRepository makes the row of a repository unless there is one, and returns it. Where
// another repository had the name before, its streams are not this one's.
func (s *Store) AddRepository(ctx context.Context, id, installation int64, name string) (Repository, error) {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		book := name
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM repository WHERE ledger = $1 AND id <> $2", name, id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			book = fmt.Sprintf("%s~%d", name, id)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO repository (id, installation, name, ledger) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
			id, installation, name, book)
		return err
	})
	if err != nil {
		return Repository{}, told("repository", err)
	}
	r, _, err := s.Repository(ctx, id)
	return r, err
}

// MoveRepository notes what a repository is called, and whose installation it is of, now.
func (s *Store) MoveRepository(ctx context.Context, id, installation int64, name string) error {
	return s.exec(ctx, "UPDATE repository SET installation = $2, name = $3, gone_at = NULL WHERE id = $1", id, installation, name)
}

// ImportedRepository notes that the ledger's branch was taken over.
func (s *Store) ImportedRepository(ctx context.Context, id int64) error {
	return s.exec(ctx, "UPDATE repository SET imported_at = $2 WHERE id = $1", id, millis(time.Now()))
}

// LoseRepository notes that the App does not work in a repository any more. Its ledger
// stays: it may come back.
func (s *Store) LoseRepository(ctx context.Context, id int64) error {
	return s.exec(ctx, "UPDATE repository SET gone_at = $2 WHERE id = $1", id, millis(time.Now()))
}

// LoseInstallation is LoseRepository for the repositories of an installation.
func (s *Store) LoseInstallation(ctx context.Context, installation int64) error {
	return s.exec(ctx, "UPDATE repository SET gone_at = $2 WHERE installation = $1 AND gone_at IS NULL", installation, millis(time.Now()))
}

func (s *Store) exec(ctx context.Context, query string, args ...any) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
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
