package feed

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Every query is of some repositories, by the names under which their streams are
// kept; nil are all.

// Case is a row of the cases.
type Case struct {
	Key, Repo, Subject     string
	State                  State
	Since, Opened, Updated time.Time
	Checkpoint             string // that State is because of
	Decision               routing.Kind
	Rule                   string
	Class                  routing.Class
	Reason                 string
	Reworks, Max           int
	Checkpoints            map[string]State
}

const caseColumns = "key, repo, subject, state, since, opened, updated, checkpoint, decision, rule, class, reason, reworks, most, checkpoints"

// Order is an order of cases.
type Order string

// The orders.
const (
	NewestFirst Order = "newest"  // that changed last
	LongestWait Order = "longest" // that stand so for the longest time
)

// Cases returns at most n cases in some states, after skipping some.
func (f *Feed) Cases(ctx context.Context, repos []string, states []State, order Order, skip, n int) ([]Case, error) {
	var q query
	where := q.repos(repos)
	if len(states) == 1 {
		where += " AND state = " + q.arg(string(states[0]))
	}
	by := "updated DESC, key"
	if order == LongestWait {
		by = "since, key"
	}
	from := fmt.Sprintf("SELECT %s FROM feed_case WHERE %s", caseColumns, where)
	if len(states) > 1 { // each by its index
		parts := make([]string, len(states))
		for i, s := range states {
			parts[i] = fmt.Sprintf("SELECT * FROM (%s AND state = %s ORDER BY %s LIMIT %d) AS s%d", from, q.arg(string(s)), by, skip+n, i)
		}
		from = strings.Join(parts, " UNION ALL ")
	}
	var out []Case
	err := f.each(ctx, "cases", &q, fmt.Sprintf("%s ORDER BY %s LIMIT %d OFFSET %d", from, by, n, skip),
		func(rows *sql.Rows) error {
			c, err := scanCase(rows)
			out = append(out, c)
			return err
		})
	return out, err
}

func scanCase(rows *sql.Rows) (Case, error) {
	var c Case
	var since, opened, updated int64
	var names string
	err := rows.Scan(&c.Key, &c.Repo, &c.Subject, &c.State, &since, &opened, &updated, &c.Checkpoint, &c.Decision, &c.Rule, &c.Class,
		&c.Reason, &c.Reworks, &c.Max, &names)
	if err != nil {
		return c, err
	}
	c.Since, c.Opened, c.Updated = fromMillis(since), fromMillis(opened), fromMillis(updated)
	return c, json.Unmarshal([]byte(names), &c.Checkpoints)
}

// InStates returns how many cases are in each state.
func (f *Feed) InStates(ctx context.Context, repos []string) (map[State]int, error) {
	var q query
	out := map[State]int{}
	err := f.each(ctx, "cases", &q, "SELECT state, sum(n) FROM feed_state WHERE "+q.repos(repos)+" GROUP BY state", func(rows *sql.Rows) error {
		var s State
		var n int
		err := rows.Scan(&s, &n)
		out[s] = n
		return err
	})
	return out, err
}

// Repos returns which of the repositories have cases, sorted.
func (f *Feed) Repos(ctx context.Context, repos []string) ([]string, error) {
	var q query
	var out []string
	err := f.each(ctx, "repositories", &q, "SELECT DISTINCT repo FROM feed_state WHERE "+q.repos(repos)+" ORDER BY repo", func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		out = append(out, name)
		return err
	})
	return out, err
}
