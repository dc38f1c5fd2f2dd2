package eventstream

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/bot/database"
)

// query collects the arguments of a statement.
type query struct{ args []any }

// arg adds an argument and returns its placeholder.
func (q *query) arg(v any) string {
	if s, ok := v.(string); ok {
		v = text(s)
	}
	q.args = append(q.args, v)
	return fmt.Sprintf("$%d", len(q.args))
}

// in returns the condition that a column is one of some texts.
func (q *query) in(list []string) string {
	if len(list) == 0 {
		return "IN (NULL)"
	}
	marks := make([]string, len(list))
	for i, s := range list {
		marks[i] = q.arg(s)
	}
	return "IN (" + strings.Join(marks, ", ") + ")"
}

// repos returns the condition that a row belongs to one of some repositories. nil: any.
func (q *query) repos(list []string) string {
	if list == nil {
		return "1 = 1"
	}
	return "repo " + q.in(list)
}

// each calls scan for each row of a query. what names the rows in errors.
func (q *query) each(ctx context.Context, db *database.DB, what string, statement string, scan func(*sql.Rows) error) error {
	rows, err := db.Read.QueryContext(ctx, statement, q.args...)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
