// Package queue is where the App keeps what it was sent and what it knows: the
// deliveries, River's queue of the work on them, and the ledger, all in one
// database.
package queue

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
)

//go:embed migrations
var migrations embed.FS

func line() database.Line { return database.Embedded("app", migrations) }

// Store is the App's database.
type Store struct {
	db   *database.DB
	jobs queue
	lock *flock.Flock // on the data directory; nil with PostgreSQL

	in      chan *pending
	closing chan struct{}
	ends    sync.WaitGroup // committers

	mu     sync.Mutex
	client client // that works, nil if none does
	untend func() // ends what Start began beside it
}

const (
	fileName   = "switchback.db"
	lockName   = "switchback.lock"
	leastConns = 6
	lockWait   = 10 * time.Second // for a predecessor that is just ending
)

// ErrInUse says that another process has the data directory.
var ErrInUse = errors.New("another switchback works in this data directory; stop it, name another directory, or keep the data in PostgreSQL, which several can share")

// Open opens the App's database and brings its tables up to date: that of url,
// a PostgreSQL that several processes may share, or, if url is empty, an SQLite
// file in the folder dir, which is made, and which one process has at a time.
// The tables of further lines are brought up to date with its own.
func Open(ctx context.Context, url, dir string, further ...database.Line) (*Store, error) {
	return begin(ctx, url, dir, true, further...)
}

// OpenBeside is Open for looking at what is there while another process works
// on it. Of an SQLite file that does not exist it makes none; Start is not to be
// called.
func OpenBeside(ctx context.Context, url, dir string) (*Store, error) {
	return begin(ctx, url, dir, false)
}

func begin(ctx context.Context, url, dir string, alone bool, further ...database.Line) (*Store, error) {
	s := &Store{in: make(chan *pending), closing: make(chan struct{})}
	if err := s.open(ctx, url, dir, alone, further); err != nil {
		return nil, errors.Join(err, s.release())
	}
	for range s.jobs.committers() {
		s.ends.Go(s.commit)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, url, dir string, alone bool, further []database.Line) (err error) {
	if url != "" {
		if s.db, err = database.OpenURL(ctx, url); err != nil {
			return err
		}
		if n := s.db.Pool.Config().MaxConns; n < leastConns {
			return fmt.Errorf("the database's URL: pool_max_conns is %d, at least %d are needed: two are held for good, and the others take turns", n, leastConns)
		}
		s.jobs, err = newPostgres(s.db)
	} else {
		if alone {
			if err := s.take(ctx, dir); err != nil {
				return err
			}
		}
		if s.db, err = database.OpenFile(ctx, filepath.Join(dir, fileName), alone); err != nil {
			return err
		}
		s.jobs, err = newSQLite(s.db)
	}
	if err != nil {
		return err
	}
	return s.db.Migrate(ctx, s.jobs.migrate, append([]database.Line{sqlledger.Line(), line()}, further...)...)
}

// take makes the data directory and locks it.
func (s *Store) take(ctx context.Context, dir string) error {
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

// Close ends what was begun: an Accept that is under way is still answered, and
// work is broken off unless Stop has waited for it.
func (s *Store) Close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Stop(ended)
	close(s.closing)
	s.ends.Wait()
	return errors.Join(err, s.release())
}

// Ledger returns the ledger in the database.
func (s *Store) Ledger() ledger.Ledger { return sqlledger.New(s.db) }

// Database returns the database, for the tables of the further lines of Open.
func (s *Store) Database() *database.DB { return s.db }

const columns = "id, hook, installation, event, action, received_at, state, attempts, error, next_at, changed_at, payload IS NOT NULL"

// Find returns how a delivery stands; there is none if ok is false.
func (s *Store) Find(ctx context.Context, id string) (st Status, ok bool, err error) {
	list, err := s.list(ctx, "SELECT "+columns+" FROM delivery WHERE id = $1", id)
	if err != nil || len(list) == 0 {
		return Status{}, false, err
	}
	return list[0], true, nil
}

// Stored returns which of the deliveries of these ids are known, however they stand.
func (s *Store) Stored(ctx context.Context, ids []string) (map[string]bool, error) {
	const atOnce = 500 // parameters of one statement
	out := map[string]bool{}
	for some := range slices.Chunk(ids, atOnce) {
		args, marks := make([]any, len(some)), make([]string, len(some))
		for i, id := range some {
			args[i], marks[i] = id, fmt.Sprintf("$%d", i+1)
		}
		list, err := s.list(ctx, "SELECT "+columns+" FROM delivery WHERE id IN ("+strings.Join(marks, ", ")+")", args...)
		if err != nil {
			return nil, err
		}
		for _, st := range list {
			out[st.ID] = true
		}
	}
	return out, nil
}

// List returns at most n deliveries in a state, those that changed last first.
func (s *Store) List(ctx context.Context, state State, n int) ([]Status, error) {
	return s.list(ctx, "SELECT "+columns+" FROM delivery WHERE state = $1 ORDER BY changed_at DESC, id LIMIT $2", string(state), n)
}

func (s *Store) list(ctx context.Context, text string, args ...any) ([]Status, error) {
	rows, err := s.db.Read.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	var out []Status
	for rows.Next() {
		var st Status
		var received, changed int64
		var next sql.NullInt64
		err := rows.Scan(&st.ID, &st.Hook, &st.Installation, &st.Event, &st.Action, &received, &st.State, &st.Attempts, &st.Error, &next, &changed, &st.HasPayload)
		if err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		st.ReceivedAt, st.ChangedAt = fromMillis(received), fromMillis(changed)
		if next.Valid {
			st.NextAt = fromMillis(next.Int64)
		}
		out = append(out, st)
	}
	return out, rows.Err()
}

// Counts returns how many deliveries are in each state.
func (s *Store) Counts(ctx context.Context) (map[State]int, error) {
	rows, err := s.db.Read.QueryContext(ctx, "SELECT state, count(*) FROM delivery GROUP BY state")
	if err != nil {
		return nil, fmt.Errorf("deliveries: %w", err)
	}
	defer rows.Close()
	out := map[State]int{}
	for rows.Next() {
		var state State
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("deliveries: %w", err)
		}
		out[state] = n
	}
	return out, rows.Err()
}

// ErrNotAgain says that a delivery is not one whose work can begin again.
var ErrNotAgain = errors.New("no such delivery that was given up and whose payload is still kept")

// Again retries a delivery that is a DeadLetter or Gone, with
// all its attempts.
func (s *Store) Again(ctx context.Context, id string) error {
	return s.jobs.tx(ctx, func(t tx) error {
		n, err := t.exec(ctx, `UPDATE delivery SET state = 'received', next_at = NULL, changed_at = $2, failures = 0, delays = 0, kills = 0
			WHERE id = $1 AND state IN ('dead_letter', 'gone') AND payload IS NOT NULL`, id, millis(time.Now()))
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%s: %w", id, ErrNotAgain)
		}
		// Nobody shall take the old job's end for the new one's.
		if _, err := t.exec(ctx, "DELETE FROM river_job WHERE kind = 'delivery' AND state <> 'running' AND args ->> 'delivery' = $1", id); err != nil {
			return err
		}
		return t.insert(ctx, []string{id})
	})
}

// Prune drops the payloads of deliveries that were done or gone before a time,
// and all that is known of those that were before another. Dead letters stay.
// A delivery that is forgotten is taken for new when it comes once more.
func (s *Store) Prune(ctx context.Context, payloads, rows time.Time) error {
	return s.jobs.tx(ctx, func(t tx) error {
		if _, err := t.exec(ctx, "DELETE FROM delivery WHERE state IN ('done', 'gone') AND changed_at < $1", millis(rows)); err != nil {
			return err
		}
		_, err := t.exec(ctx, "UPDATE delivery SET payload = NULL WHERE state IN ('done', 'gone') AND changed_at < $1 AND payload IS NOT NULL", millis(payloads))
		return err
	})
}
