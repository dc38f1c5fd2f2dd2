// Package sqllimit stores the rate limit state in the App's database, for all processes that share
// it.
package sqllimit

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

//go:embed migrations
var migrations embed.FS

// Line returns the migrations of the table that Store uses.
func Line() database.Line {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // it is embedded
	}
	return database.Line{Name: "ratelimit", Files: files}
}

// patience bounds one update.
const patience = 5 * time.Second

// Store keeps one State in a database to which the migrations of Line were applied.
type Store struct {
	DB   *database.DB
	Name string // of the State, e.g. the installation
}

var _ ratelimit.Store = Store{}

// Update implements ratelimit.Store. The clock is PostgreSQL's, or this process's with SQLite,
// whose file no other process uses.
func (k Store) Update(ctx context.Context, step func(time.Time, *ratelimit.State)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := k.DB.Tx(ctx, func(tx *sql.Tx) error {
		before, err := k.lock(ctx, tx)
		if err != nil {
			return err
		}
		// Read the clock after the lock, for which this update may have waited.
		now := time.Now()
		if k.DB.Kind == database.Postgres {
			if err := tx.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
				return err
			}
		}
		var s ratelimit.State
		if err := json.Unmarshal([]byte(before), &s); err != nil {
			return err
		}
		step(now, &s)
		after, err := json.Marshal(s)
		if err != nil || string(after) == before {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE rate_limit SET state = $2 WHERE name = $1", k.Name, string(after))
		return err
	})
	if err != nil {
		return fmt.Errorf("the limits of %s: %w", k.Name, err)
	}
	return nil
}

// Look implements ratelimit.Store with one statement.
func (k Store) Look(ctx context.Context, see func(time.Time, *ratelimit.State)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var s ratelimit.State
	now, stored, err := time.Now(), "{}", error(nil)
	if k.DB.Kind == database.Postgres {
		err = k.DB.Read.QueryRowContext(ctx, "SELECT coalesce((SELECT state::text FROM rate_limit WHERE name = $1), '{}'), clock_timestamp()", k.Name).Scan(&stored, &now)
	} else if err = k.DB.Read.QueryRowContext(ctx, "SELECT state FROM rate_limit WHERE name = $1", k.Name).Scan(&stored); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(stored), &s)
	}
	if err != nil {
		return fmt.Errorf("the limits of %s: %w", k.Name, err)
	}
	see(now, &s)
	return nil
}

// lock reads the state and locks it until the transaction ends. SQLite has locked the whole file by
// then.
func (k Store) lock(ctx context.Context, tx *sql.Tx) (state string, err error) {
	read := "SELECT state FROM rate_limit WHERE name = $1"
	if k.DB.Kind == database.Postgres {
		read += " FOR UPDATE"
	}
	err = tx.QueryRowContext(ctx, read, k.Name).Scan(&state)
	if err != sql.ErrNoRows {
		return state, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO rate_limit (name, state) VALUES ($1, '{}') ON CONFLICT (name) DO NOTHING", k.Name); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, read, k.Name).Scan(&state)
	return state, err
}
