package database_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchback-ci/switchback/bot/database"
)

func openFile(tb testing.TB) *database.DB {
	tb.Helper()
	db, err := database.OpenFile(tb.Context(), filepath.Join(tb.TempDir(), "x.db"), true)
	if err == nil {
		tb.Cleanup(func() { _ = db.Close() })
		_, err = db.Write.ExecContext(tb.Context(), "CREATE TABLE a (n INTEGER PRIMARY KEY, text TEXT)")
	}
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// A statement whose rows are being read runs beside itself, and one that failed, or whose rows were
// left, runs again.
func TestStatementsAreKept(t *testing.T) {
	t.Parallel()
	ctx, db := t.Context(), openFile(t)
	const insert, find = "INSERT INTO a (n, text) VALUES ($1, $2)", "SELECT n FROM a WHERE n > $1 ORDER BY n"
	for n := range 5 {
		if _, err := db.Write.ExecContext(ctx, insert, n, "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Write.ExecContext(ctx, insert, n, "twice"); err == nil {
			t.Fatal("one number is there twice")
		}
	}
	first := func(tx *sql.Tx, over int) (n int) {
		if err := tx.QueryRowContext(ctx, find, over).Scan(&n); err != nil { // leaves the further rows
			t.Fatal(err)
		}
		return n
	}
	err := db.Tx(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, find, 0)
		if err != nil {
			return err
		}
		defer rows.Close()
		for want := 1; rows.Next(); want++ {
			var n int
			if err := rows.Scan(&n); err != nil {
				return err
			}
			if got := first(tx, 2); n != want || got != 3 {
				t.Errorf("row %d is %d, and the first over 2 is %d", want, n, got)
			}
		}
		return rows.Err()
	})
	if err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, err := db.Read.QueryContext(ended, find, 0); err == nil {
		t.Error("a query after its context ended")
	}
	if _, err := db.Write.ExecContext(ctx, "ALTER TABLE a ADD COLUMN more TEXT DEFAULT 'm'"); err != nil {
		t.Error(err)
	}
	for n := range 500 { // more texts than are kept
		var got int
		if err := db.Read.QueryRowContext(ctx, fmt.Sprintf("SELECT n + %d FROM a WHERE n = $1", n), 1).Scan(&got); err != nil || got != n+1 {
			t.Fatalf("%d, %v, want %d", got, err, n+1)
		}
		if err := db.Read.QueryRowContext(ctx, find, 3).Scan(&got); err != nil || got != 4 {
			t.Fatalf("%d, %v", got, err)
		}
	}
}

// BenchmarkStatement runs an update as those of the queue, with its transaction.
func BenchmarkStatement(b *testing.B) {
	db := openFile(b)
	b.ReportAllocs()
	for n := range b.N {
		err := db.Tx(b.Context(), func(tx *sql.Tx) error {
			var got int
			return tx.QueryRowContext(b.Context(), `INSERT INTO a (n, text) VALUES ($1 % 100, $2) ON CONFLICT (n) DO UPDATE
				SET text = CASE WHEN a.text = excluded.text THEN 'same' ELSE coalesce(excluded.text, 'none') END WHERE a.n >= 0 RETURNING n`, n, "x").Scan(&got)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
