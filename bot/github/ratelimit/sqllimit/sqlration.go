// Package sqllimit keeps rations in the App's database, for all processes that
// share it and for those that come after them.
package sqllimit

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

//go:embed migrations
var migrations embed.FS

// Line is the migrations of the table that Keeper keeps its state in.
func Line() database.Line {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // it is embedded
	}
	return database.Line{Name: "ration", Files: files}
}

// patience bounds one update: who cannot ask does not send.
const patience = 5 * time.Second

// Keeper keeps one State in a database that Line was brought to.
type Keeper struct {
	DB   *database.DB
	Name string // of the State, e.g. the installation
}

var _ ratelimit.Keeper = Keeper{}

// Update implements ration.Keeper. The clock is PostgreSQL's, or this process's
// where it has the SQLite file for itself.
func (k Keeper) Update(ctx context.Context, step func(time.Time, *ratelimit.State)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := k.DB.Tx(ctx, func(tx *sql.Tx) error {
		before, err := k.lock(ctx, tx)
		if err != nil {
			return err
		}
		// After the lock: the one before may have waited for its own.
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
		_, err = tx.ExecContext(ctx, "UPDATE ration SET state = $2 WHERE name = $1", k.Name, string(after))
		return err
	})
	if err != nil {
		return fmt.Errorf("the limits of %s: %w", k.Name, err)
	}
	return nil
}

// lock returns the state of this name as it is until the transaction ends.
// SQLite has locked the whole file by then.
func (k Keeper) lock(ctx context.Context, tx *sql.Tx) (state string, err error) {
	read := "SELECT state FROM ration WHERE name = $1"
	if k.DB.Kind == database.Postgres {
		read += " FOR UPDATE"
	}
	err = tx.QueryRowContext(ctx, read, k.Name).Scan(&state)
	if err != sql.ErrNoRows {
		return state, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO ration (name, state) VALUES ($1, '{}') ON CONFLICT (name) DO NOTHING", k.Name); err != nil {
		return "", err
	}
	err = tx.QueryRowContext(ctx, read, k.Name).Scan(&state)
	return state, err
}
