// Package queue stores webhook deliveries and processes them with River. Deliveries, jobs,
// repositories and the ledger are in one database, SQLite or PostgreSQL.
package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
)

//go:embed migrations
var migrations embed.FS

func line() database.Line { return database.Embedded("app", migrations) }

// Store is the App's database. Open and OpenBeside return one.
type Store struct {
	Deliveries   *Deliveries
	Repositories *Repositories
	Jobs         *Jobs

	db   *database.DB
	lock *flock.Flock // on the data directory; nil with PostgreSQL
}

const (
	fileName   = "switchback.db"
	lockName   = "switchback.lock"
	leastConns = 6
	lockWait   = 10 * time.Second // for a process that is about to end
)

// ErrInUse is the error of opening a data directory that another process has locked.
var ErrInUse = errors.New("another switchback works in this data directory; stop it, name another directory, or keep the data in PostgreSQL, which several can share")

// Open opens the App's database and migrates its tables and those of the further lines. url names a
// PostgreSQL database, which several processes may share. Without it the database is an SQLite file
// in the folder dir, which is created; one process has it at a time.
func Open(ctx context.Context, url, dir string, further ...database.Line) (*Store, error) {
	return open(ctx, url, dir, true, further...)
}

// OpenBeside opens the database while another process works on it, for reading and for retrying
// deliveries. It creates no SQLite file. Jobs.Start must not be called.
func OpenBeside(ctx context.Context, url, dir string) (*Store, error) {
	return open(ctx, url, dir, false)
}

func open(ctx context.Context, url, dir string, alone bool, further ...database.Line) (*Store, error) {
	s := &Store{}
	jobs, err := s.connect(ctx, url, dir, alone)
	if err == nil {
		err = s.db.Migrate(ctx, jobs.migrate, append([]database.Line{sqlledger.Line(), line()}, further...)...)
	}
	if err != nil {
		return nil, errors.Join(err, s.release())
	}
	s.Deliveries = &Deliveries{db: s.db, queue: jobs, incoming: newIntake(jobs)}
	s.Repositories = &Repositories{s.db}
	s.Jobs = &Jobs{db: s.db, queue: jobs, deliveries: s.Deliveries, changes: newChanges(jobs)}
	return s, nil
}

// connect opens the database and returns River on it.
func (s *Store) connect(ctx context.Context, url, dir string, alone bool) (q queue, err error) {
	if url != "" {
		if s.db, err = database.OpenURL(ctx, url); err != nil {
			return nil, err
		}
		if n := s.db.Pool.Config().MaxConns; n < leastConns {
			return nil, fmt.Errorf("the database's URL: pool_max_conns is %d, at least %d are needed: two are in use all the time, and the requests share the others", n, leastConns)
		}
		return newPostgres(s.db)
	}
	if alone {
		if err := s.acquire(ctx, dir); err != nil {
			return nil, err
		}
	}
	if s.db, err = database.OpenFile(ctx, filepath.Join(dir, fileName), alone); err != nil {
		return nil, err
	}
	return newSQLite(s.db)
}

// acquire creates the data directory and locks it.
func (s *Store) acquire(ctx context.Context, dir string) error {
	if dir == "" {
		return errors.New("no place for the data: name a data directory, or a database")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	l := flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	if ok, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("lock %s: %w", l.Path(), err)
	} else if !ok {
		return fmt.Errorf("%s: %w", dir, ErrInUse)
	}
	s.lock = l
	return nil
}

func (s *Store) release() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Close stops processing and closes the database. An Accept in progress still gets its answer; work
// in progress is cancelled unless Jobs.Stop has waited for it.
func (s *Store) Close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Jobs.Stop(ended)
	s.Deliveries.incoming.close()
	s.Jobs.changes.close()
	return errors.Join(err, s.release())
}

// Ledger returns the ledger in the database.
func (s *Store) Ledger() ledger.Ledger { return sqlledger.New(s.db) }

// Database returns the database, for the tables of the further lines of Open.
func (s *Store) Database() *database.DB { return s.db }
