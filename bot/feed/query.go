package feed

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
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
	if len(states) > 0 {
		list := make([]string, len(states))
		for i, s := range states {
			list[i] = string(s)
		}
		where += " AND state " + q.in(list)
	}
	by := "updated DESC, key"
	if order == LongestWait {
		by = "since, key"
	}
	var out []Case
	err := f.each(ctx, "cases", &q, fmt.Sprintf("SELECT %s FROM feed_case WHERE %s ORDER BY %s LIMIT %d OFFSET %d", caseColumns, where, by, n, skip),
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

// Outcome is how often something was decided in some hour.
type Outcome struct {
	Hour     time.Time
	Decision routing.Kind
	N        int
}

// Outcomes returns what was decided, hour by hour, oldest first, from a time on.
func (f *Feed) Outcomes(ctx context.Context, repos []string, from time.Time) ([]Outcome, error) {
	var q query
	where := q.repos(repos) + " AND hour >= " + q.arg(from.Unix()/3600)
	var out []Outcome
	err := f.each(ctx, "outcomes", &q, "SELECT hour, decision, sum(n) FROM feed_count WHERE "+where+" GROUP BY hour, decision ORDER BY hour, decision",
		func(rows *sql.Rows) error {
			var o Outcome
			var hour int64
			err := rows.Scan(&hour, &o.Decision, &o.N)
			o.Hour = time.Unix(hour*3600, 0).UTC()
			out = append(out, o)
			return err
		})
	return out, err
}

// Rule is how often a rule decided.
type Rule struct {
	Rule     string
	Decision routing.Kind
	Class    routing.Class
	N, Wrong int // Wrong: of N, a human said that the class was wrong
	Newest   time.Time
}

// Rules returns how often each rule decided from a time on, the most frequent first.
func (f *Feed) Rules(ctx context.Context, repos []string, from time.Time) ([]Rule, error) {
	var q query
	where := q.repos(repos) + " AND hour >= " + q.arg(from.Unix()/3600)
	var out []Rule
	err := f.each(ctx, "rules", &q, `SELECT rule, decision, class, sum(n), sum(wrong), max(hour) FROM feed_count WHERE `+where+`
		GROUP BY rule, decision, class ORDER BY sum(n) DESC, rule, decision, class`, func(rows *sql.Rows) error {
		var r Rule
		var hour int64
		err := rows.Scan(&r.Rule, &r.Decision, &r.Class, &r.N, &r.Wrong, &hour)
		r.Newest = time.Unix(hour*3600, 0).UTC()
		out = append(out, r)
		return err
	})
	return out, err
}

// Cluster is what is known of the failures with one fingerprint.
type Cluster struct {
	Fingerprint, Name, Suite, File string
	Class                          routing.Class
	Repos                          []string // where it was seen, sorted
	First, Last                    time.Time
	Cases, Runs, Flaky, Open       int
}

// Clusters returns at most n clusters across repositories, after skipping some, the last
// seen first.
func (f *Feed) Clusters(ctx context.Context, repos []string, skip, n int) ([]Cluster, error) {
	var q query
	var out []Cluster
	at := map[string]int{}
	err := f.each(ctx, "failures", &q, fmt.Sprintf(`SELECT fingerprint, max(last) FROM feed_cluster WHERE %s GROUP BY fingerprint
		ORDER BY max(last) DESC, fingerprint LIMIT %d OFFSET %d`, q.repos(repos), n, skip), func(rows *sql.Rows) error {
		var c Cluster
		var last int64
		err := rows.Scan(&c.Fingerprint, &last)
		at[c.Fingerprint] = len(out)
		out = append(out, c)
		return err
	})
	if err != nil || len(out) == 0 {
		return out, err
	}
	prints := make([]string, len(out))
	for i, c := range out {
		prints[i] = c.Fingerprint
	}
	q = query{}
	where := q.repos(repos) + " AND fingerprint " + q.in(prints)
	err = f.each(ctx, "failures", &q, `SELECT fingerprint, repo, name, suite, file, class, first, last, cases, runs, flaky, open FROM feed_cluster
		WHERE `+where+" ORDER BY fingerprint, repo", func(rows *sql.Rows) error {
		var one Cluster
		var repo string
		var first, last int64
		err := rows.Scan(&one.Fingerprint, &repo, &one.Name, &one.Suite, &one.File, &one.Class, &first, &last, &one.Cases, &one.Runs, &one.Flaky, &one.Open)
		if err != nil {
			return err
		}
		one.First, one.Last = fromMillis(first), fromMillis(last)
		out[at[one.Fingerprint]].add(one, repo)
		return nil
	})
	return out, err
}

func (c *Cluster) add(one Cluster, repo string) {
	if c.First.IsZero() || one.First.Before(c.First) {
		c.First = one.First
	}
	if !one.Last.Before(c.Last) {
		c.Last, c.Name, c.Suite, c.File, c.Class = one.Last, one.Name, one.Suite, one.File, one.Class
	}
	c.Repos = append(c.Repos, repo)
	c.Cases += one.Cases
	c.Runs += one.Runs
	c.Flaky += one.Flaky
	c.Open += one.Open
}

// Seen is one failure of a cluster in a case.
type Seen struct {
	Key, Repo, Checkpoint, Name string
	First, Last, Mended         time.Time // Mended is zero while it still fails
	Runs, Flaky, Turn           int       // Turn: reworks handed back when it was mended
}

// Seen returns at most n places in which a failure was seen, the last first.
func (f *Feed) Seen(ctx context.Context, repos []string, fingerprint string, n int) ([]Seen, error) {
	var q query
	where := "fingerprint = " + q.arg(fingerprint) + " AND " + q.repos(repos)
	var out []Seen
	err := f.each(ctx, "failures", &q, fmt.Sprintf(`SELECT key, repo, checkpoint, name, first, last, mended, runs, flaky, turn FROM feed_failure
		WHERE %s ORDER BY last DESC, key, checkpoint LIMIT %d`, where, n), func(rows *sql.Rows) error {
		var s Seen
		var first, last, mended int64
		err := rows.Scan(&s.Key, &s.Repo, &s.Checkpoint, &s.Name, &first, &last, &mended, &s.Runs, &s.Flaky, &s.Turn)
		s.First, s.Last, s.Mended = fromMillis(first), fromMillis(last), fromMillis(mended)
		out = append(out, s)
		return err
	})
	return out, err
}
