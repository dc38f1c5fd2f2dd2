package eventstream

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing"
)

// Case is a row of the table of cases.
type Case struct {
	Key, Repo, Subject     string
	State                  State
	Since, Opened, Updated time.Time
	Checkpoint             string // that determines State
	Decision               routing.Kind
	Rule                   string
	Class                  routing.Class
	Reason                 string
	Iterations, Max        int
	Checkpoints            map[string]State
}

const caseColumns = "key, repo, subject, state, since, opened, updated, checkpoint, decision, rule, class, reason, iterations, most, checkpoints"

// Cases reads the table of cases. Its queries and those of Failures, Figures and Plans take the
// repositories whose rows they read, by the names of their streams; nil means all.
type Cases struct{ db *database.DB }

// Order is an order of cases.
type Order string

// The orders.
const (
	NewestFirst Order = "newest"  // last changed first
	LongestWait Order = "longest" // longest in their state first
)

// apart is up to how many repositories are read one by one, each in the order of an index, instead
// of all together.
const apart = 10

// List returns at most n cases in some states, after skipping some.
func (t Cases) List(ctx context.Context, repos []string, states []State, order Order, skip, n int) ([]Case, error) {
	var q query
	at, by := "updated", "updated DESC, key"
	if order == LongestWait {
		at, by = "since", "since, key"
	}
	var parts []string
	for _, where := range q.parts(repos, states) {
		parts = append(parts, fmt.Sprintf("SELECT * FROM (SELECT key, %s FROM projection_case%s WHERE %s ORDER BY %s LIMIT %d) AS part%d",
			at, t.inOrder(repos, states, order), where, by, skip+n, len(parts)))
	}
	var out []Case
	if len(parts) == 0 {
		return out, nil
	}
	err := q.each(ctx, t.db, "cases", fmt.Sprintf("SELECT %s FROM projection_case WHERE key IN (SELECT key FROM (%s) AS found ORDER BY %s LIMIT %d OFFSET %d) ORDER BY %[3]s",
		caseColumns, strings.Join(parts, " UNION ALL "), by, n, skip),
		func(rows *sql.Rows) error {
			c, err := scanCase(rows)
			out = append(out, c)
			return err
		})
	return out, err
}

// parts returns conditions that together select the cases of some repositories in some states. An
// index holds the rows of each in order.
func (q *query) parts(repos []string, states []State) []string {
	var ofRepos []string
	if repos == nil || len(repos) > apart {
		ofRepos = []string{q.repos(repos)}
	} else {
		for _, r := range repos {
			ofRepos = append(ofRepos, "repo = "+q.arg(r))
		}
	}
	if len(states) == 0 {
		return ofRepos
	}
	var out []string
	for _, r := range ofRepos {
		for _, s := range states {
			out = append(out, r+" AND state = "+q.arg(string(s)))
		}
	}
	return out
}

// inOrder makes SQLite, which has no statistics of the tables, read the cases of many repositories
// in their order instead of selecting and sorting them.
func (t Cases) inOrder(repos []string, states []State, order Order) string {
	switch {
	case t.db.Kind != database.SQLite || len(repos) <= apart:
		return ""
	case len(states) == 0:
		return " INDEXED BY projection_case_updated"
	case order == LongestWait:
		return " INDEXED BY projection_case_since"
	}
	return " INDEXED BY projection_case_all"
}

func scanCase(rows *sql.Rows) (Case, error) {
	var c Case
	var since, opened, updated int64
	var names string
	err := rows.Scan(&c.Key, &c.Repo, &c.Subject, &c.State, &since, &opened, &updated, &c.Checkpoint, &c.Decision, &c.Rule, &c.Class,
		&c.Reason, &c.Iterations, &c.Max, &names)
	if err != nil {
		return c, err
	}
	c.Since, c.Opened, c.Updated = fromMillis(since), fromMillis(opened), fromMillis(updated)
	return c, json.Unmarshal([]byte(names), &c.Checkpoints)
}

// InStates returns how many cases are in each state.
func (t Cases) InStates(ctx context.Context, repos []string) (map[State]int, error) {
	var q query
	out := map[State]int{}
	err := q.each(ctx, t.db, "cases", "SELECT state, sum(n) FROM projection_state WHERE "+q.repos(repos)+" GROUP BY state", func(rows *sql.Rows) error {
		var s State
		var n int
		err := rows.Scan(&s, &n)
		out[s] = n
		return err
	})
	return out, err
}

// Repos returns which of the repositories have cases, sorted.
func (t Cases) Repos(ctx context.Context, repos []string) ([]string, error) {
	var q query
	var out []string
	err := q.each(ctx, t.db, "repositories", "SELECT DISTINCT repo FROM projection_state WHERE "+q.repos(repos)+" ORDER BY repo", func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		out = append(out, name)
		return err
	})
	return out, err
}
