// Package database opens the databases that Switchback keeps itself in: SQLite
// in a file, or PostgreSQL.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/switchback-ci/switchback/bot/sleep"
	_ "modernc.org/sqlite" // the driver "sqlite", without cgo
)

// Kind is the kind of a database. It is also the folder of its migrations.
type Kind string

// The kinds.
const (
	SQLite   Kind = "sqlite"
	Postgres Kind = "postgres"
)

// DB is an open database. Statements number their parameters ($1), which both
// kinds understand.
type DB struct {
	Kind Kind
	// Write is for transactions that write. SQLite's has one connection, as
	// SQLite has one writer, and its transactions take the lock when they begin.
	Write *sql.DB
	// Read is for everything else. PostgreSQL's is the same as Write.
	Read *sql.DB
	// Pool is what PostgreSQL's Write and Read draw from; SQLite has none.
	Pool *pgxpool.Pool
}

const (
	busy    = 30 * time.Second // SQLite waits so long for another process's transaction
	readers = 4                // connections of SQLite that read
	pooled  = 12               // connections to PostgreSQL, if the URL names no pool_max_conns
)

// OpenFile opens the SQLite database in a file. Without create, it fails if
// there is none. A new file, and folders made for it, can be read by their
// owner alone.
func OpenFile(ctx context.Context, path string, create bool) (*DB, error) {
	if err := prepare(path, create); err != nil {
		return nil, err
	}
	// WAL lets readers read while one writes. FULL, because in WAL mode anything
	// less may lose the last commits in a power cut.
	uri := fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate",
		URI(path), busy.Milliseconds())
	write, err := openSQLite(uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	read, err := openSQLite(uri + "&_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), write.Close())
	}
	write.SetMaxOpenConns(1)
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db := &DB{Kind: SQLite, Write: write, Read: read}
	if err := ping(ctx, write); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), db.Close())
	}
	return db, nil
}

// ping makes the first connection, which may turn the file to WAL. SQLite does
// not wait when two processes do that at once, so it is done again.
func ping(ctx context.Context, db *sql.DB) error {
	for try := 1; ; try++ {
		err := db.PingContext(ctx)
		if err == nil || try == 50 || !strings.Contains(err.Error(), "locked") {
			return err
		}
		if err := sleep.For(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// prepare makes the file, and refuses one that is something else before it is
// touched.
func prepare(path string, create bool) error {
	if path == "" {
		return errors.New("the path of an SQLite database is empty: name a file")
	}
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(check(f), f.Close())
}

// CheckFile refuses a file that is something else than an SQLite database. One
// that does not exist, or is empty, becomes one.
func CheckFile(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(check(f), f.Close())
}

func check(f *os.File) error {
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	if n, _ := f.Read(head); n > 0 && string(head[:n]) != magic {
		return fmt.Errorf("%s is no SQLite database; name another file, or remove this one", f.Name())
	}
	return nil
}

// URI returns the name of a file as SQLite takes it with parameters, which
// follow a question mark.
func URI(path string) string {
	return "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// IsPostgres reports whether a text is the URL of a PostgreSQL database.
func IsPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// OpenURL opens a PostgreSQL database, e.g.
// postgres://user:password@host/name?sslmode=verify-full.
func OpenURL(ctx context.Context, url string) (*DB, error) {
	if !IsPostgres(url) {
		return nil, errors.New("not the URL of a PostgreSQL database; it begins with postgres://")
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database's URL: %w", err) // pgx leaves the password out
	}
	if !strings.Contains(url, "pool_max_conns=") {
		cfg.MaxConns = pooled
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "switchback"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("the database: %w", err)
	}
	var encoding string
	err = pool.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding)
	if err == nil && encoding != "UTF8" {
		err = fmt.Errorf("its encoding is %s, and not every text fits into that; create one with ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("the database: %w", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	return &DB{Kind: Postgres, Write: db, Read: db, Pool: pool}, nil
}

// Close closes the connections, those in use when they are given back.
func (d *DB) Close() error {
	if d.Pool != nil {
		err := d.Write.Close()
		d.Pool.Close()
		return err
	}
	return errors.Join(d.Read.Close(), d.Write.Close()) // the last one to close tidies up the log
}

// Tx runs fn in a transaction that writes, and commits unless fn fails.
func (d *DB) Tx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := d.Write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}
