// Package export writes a ledger as tables of an SQLite database, for those who
// ask their questions in SQL. The ledger stays what counts: the tables are made
// from it, and can be made again at any time.
package export

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/ledger"
)

//go:embed schema.sql
var schema string

// row is one row of a table: its columns by name, the id among them.
type row map[string]any

// order is that of the tables: what is referred to comes before what refers.
var order = []string{"audit_logs", "user_feedback", "escalations", "direct_channels", "direct_messages", "routing_history", "answers", "tests", "inventories", "unpassed_tests", "quarantine", "incidents", "incident_members", "feedback_requests"}

// Count says how many rows of a table the ledger has, and how many of them were
// not in the database as they are now.
type Count struct {
	Table         string
	Rows, Changed int
}

// Export writes the ledger led into the SQLite database of the file, which is
// made if it does not exist. All is written or, on an error, nothing. Writing
// the same ledger again changes nothing; rows that the ledger no longer has
// stay.
func Export(ctx context.Context, led ledger.Ledger, file string) ([]Count, error) {
	rows, err := read(ctx, led)
	if err != nil {
		return nil, err
	}
	if err := database.CheckFile(file); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", database.URI(file)+"?_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	counts, err := write(ctx, db, rows)
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return counts, nil
}

func write(ctx context.Context, db *sql.DB, rows map[string][]row) ([]Count, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return nil, fmt.Errorf("making the tables: %w", err)
	}
	var out []Count
	for _, t := range order {
		c := Count{Table: t, Rows: len(rows[t])}
		for _, r := range rows[t] {
			changed, err := upsert(ctx, tx, t, r)
			if err != nil {
				return nil, fmt.Errorf("table %s, row %v: %w", t, r["id"], err)
			}
			c.Changed += changed
		}
		out = append(out, c)
	}
	return out, tx.Commit()
}

// upsert writes one row, and says whether that changed anything.
func upsert(ctx context.Context, tx *sql.Tx, table string, r row) (int, error) {
	cols := make([]string, 0, len(r))
	for c := range r {
		cols = append(cols, c)
	}
	sort.Strings(cols)
	var set, differs, marks []string
	args := make([]any, 0, len(cols))
	for _, c := range cols {
		marks, args = append(marks, "?"), append(args, r[c])
		if c != "id" {
			set = append(set, c+" = excluded."+c)
			differs = append(differs, fmt.Sprintf("%s.%s IS NOT excluded.%s", table, c, c))
		}
	}
	res, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) ON CONFLICT (id) DO UPDATE SET %s WHERE %s",
		table, strings.Join(cols, ", "), strings.Join(marks, ", "), strings.Join(set, ", "), strings.Join(differs, " OR ")), args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
