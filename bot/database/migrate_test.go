package database_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

// onEach runs a check with what opens a new database of each kind.
func onEach(t *testing.T, check func(t *testing.T, open func() *database.DB)) {
	for name, opener := range map[string]func(*testing.T) func() (*database.DB, error){
		"SQLite": func(t *testing.T) func() (*database.DB, error) {
			file := filepath.Join(t.TempDir(), "x.db")
			return func() (*database.DB, error) { return database.OpenFile(t.Context(), file, true) }
		},
		"PostgreSQL": func(t *testing.T) func() (*database.DB, error) {
			url := pgtest.URL(t)
			return func() (*database.DB, error) { return database.OpenURL(t.Context(), url) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := opener(t)
			check(t, func() *database.DB {
				db, err := open()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				return db
			})
		})
	}
}

func line(files map[string]string) database.Line {
	fsys := fstest.MapFS{}
	for name, text := range files {
		for _, kind := range []database.Kind{database.SQLite, database.Postgres} {
			fsys[string(kind)+"/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return database.Line{Name: "x", Files: fsys}
}

func count(t *testing.T, db *database.DB, from string) (n int, err error) {
	t.Helper()
	err = db.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM "+from).Scan(&n)
	return n, err
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	one := map[string]string{"001_a.sql": "CREATE TABLE a (n int); INSERT INTO a VALUES (1);"}
	two := map[string]string{"001_a.sql": one["001_a.sql"], "002_b.sql": "INSERT INTO a VALUES (2)"}
	bad := map[string]string{"001_a.sql": one["001_a.sql"], "002_b.sql": two["002_b.sql"], "003_c.sql": "INSERT INTO a VALUES (3); CREATE TABLE b (n int)", "004_d.sql": "nonsense"}
	onEach(t, func(t *testing.T, open func() *database.DB) {
		ctx, db := t.Context(), open()
		for i, files := range []map[string]string{one, one, two, two} {
			if err := db.Migrate(ctx, nil, line(files)); err != nil {
				t.Fatal(err)
			}
			if n, err := count(t, db, "a"); err != nil || n != 1+i/2 {
				t.Errorf("%d rows, want %d, %v", n, 1+i/2, err)
			}
		}
		if err := db.Migrate(ctx, nil, line(bad)); err == nil || !strings.Contains(err.Error(), `migration 4 of "x"`) {
			t.Errorf("nonsense: %v", err)
		}
		if n, err := count(t, db, "a"); err != nil || n != 2 {
			t.Errorf("of a migration that failed %d rows stay, want 2, %v", n, err)
		}
		if _, err := count(t, db, "b"); err == nil {
			t.Error("a table of a migration that failed stays")
		}
		if err := open().Migrate(ctx, nil, line(one)); !errors.Is(err, database.ErrNewer) {
			t.Errorf("an older program: %v", err)
		}
		failed := errors.New("failed")
		if err := db.Migrate(ctx, func(context.Context) error { return failed }, line(two)); !errors.Is(err, failed) {
			t.Errorf("what is run after: %v", err)
		}
		for _, name := range []string{"002_a.sql", "a.sql", "001_a.txt"} {
			if err := db.Migrate(ctx, nil, line(map[string]string{name: ""})); err == nil || !strings.Contains(err.Error(), "want number 001") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestEncodingIsChecked(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), pgtest.URL(t)
	db, err := database.OpenURL(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	where, how, _ := strings.Cut(url, "?")
	name := where[strings.LastIndex(where, "/")+1:] + "_latin"
	if _, err := db.Write.ExecContext(ctx, "CREATE DATABASE "+name+" ENCODING 'LATIN1' TEMPLATE template0"); err != nil {
		t.Fatal(err)
	}
	latin := where + "_latin?" + how
	if _, err := database.OpenURL(ctx, latin); err == nil || !strings.Contains(err.Error(), "its encoding is LATIN1") {
		t.Errorf("OpenURL = %v", err)
	}
}
