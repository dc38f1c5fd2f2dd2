package database

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Line is a sequence of migrations, as River has one for its own tables.
// Migrations only go forward; what was released is never changed.
type Line struct {
	Name string
	// Files has a folder for each Kind, in which the migrations are numbered from
	// 001 without a gap, as in 001_events.sql.
	Files fs.FS
}

// Embedded is the line whose files are in the folder migrations of a package.
func Embedded(name string, files embed.FS) Line {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // unreachable: the name is valid
	}
	return Line{Name: name, Files: sub}
}

// ErrNewer says that a database was made by a newer program.
var ErrNewer = errors.New("the database's schema is newer than this program")

// migrating is the advisory lock that programs starting at once wait for.
const migrating = 0x5b_1ed6e4

// Migrate brings the lines of the database up to date: all of it or, on an
// error, none. Several processes may do it at once. After is run while the lock
// is held that keeps the others out (PostgreSQL) or as soon as it is given up
// (SQLite, which cannot let another connection write meanwhile); it may be nil.
func (d *DB) Migrate(ctx context.Context, after func(context.Context) error, lines ...Line) error {
	err := d.Tx(ctx, func(tx *sql.Tx) error {
		if d.Kind == Postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", migrating); err != nil {
				return err
			}
		}
		const table = `CREATE TABLE IF NOT EXISTS switchback_migration (
			line text NOT NULL, version int NOT NULL, at text NOT NULL, PRIMARY KEY (line, version))`
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return err
		}
		for _, l := range lines {
			if err := d.migrate(ctx, tx, l); err != nil {
				return err
			}
		}
		if d.Kind == Postgres && after != nil {
			return after(ctx)
		}
		return nil
	})
	if err == nil && d.Kind == SQLite && after != nil {
		err = after(ctx)
	}
	if err != nil {
		return fmt.Errorf("preparing the database: %w", err)
	}
	return nil
}

func (d *DB) migrate(ctx context.Context, tx *sql.Tx, l Line) error {
	steps, err := l.steps(d.Kind)
	if err != nil {
		return err
	}
	var at int
	if err := tx.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM switchback_migration WHERE line = $1", l.Name).Scan(&at); err != nil {
		return err
	}
	if at > len(steps) {
		return fmt.Errorf("%w: %q is at %d, known are %d; run the version of switchback that made it or a later one, or restore a copy from before", ErrNewer, l.Name, at, len(steps))
	}
	for n, text := range steps[at:] {
		version := at + n + 1
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("migration %d of %q: %w", version, l.Name, err)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO switchback_migration (line, version, at) VALUES ($1, $2, $3)",
			l.Name, version, time.Now().UTC().Format(time.RFC3339))
		if err != nil {
			return err
		}
	}
	return nil
}

// steps returns the migrations for a kind, the first at 0.
func (l Line) steps(kind Kind) ([]string, error) {
	entries, err := fs.ReadDir(l.Files, string(kind)) // sorted by name
	if err != nil {
		return nil, err
	}
	var out []string
	for i, e := range entries {
		number, _, _ := strings.Cut(e.Name(), "_")
		if n, err := strconv.Atoi(number); err != nil || n != i+1 || !strings.HasSuffix(e.Name(), ".sql") {
			return nil, fmt.Errorf("migration %q of %q: want number %03d", e.Name(), l.Name, i+1)
		}
		text, err := fs.ReadFile(l.Files, path.Join(string(kind), e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, string(text))
	}
	return out, nil
}
