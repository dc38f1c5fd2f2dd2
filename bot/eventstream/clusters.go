package eventstream

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/routing"
)

// Failures reads the tables of failures.
type Failures struct{ db *database.DB }

// Cluster summarizes the failures with one fingerprint.
type Cluster struct {
	Fingerprint, Name, Suite, File string
	Class                          routing.Class
	Repos                          []string // in which it occurred, sorted
	First, Last                    time.Time
	Cases, Runs, Flaky, Open       int
}

// Wanted selects clusters; an empty field selects all.
type Wanted struct {
	Repos []string // nil are all
	Text  string   // in the name, the suite or the file; the case of ASCII letters is ignored
	Class routing.Class
}

// Clusters returns at most n clusters across repositories, after skipping some, the last seen
// first.
func (t Failures) Clusters(ctx context.Context, w Wanted, skip, n int) ([]Cluster, error) {
	var q query
	from := "projection_cluster c"
	if t.db.Kind == database.SQLite && len(w.Repos) != 1 {
		from += " INDEXED BY projection_cluster_all" // without statistics it would select and sort all
	}
	// The last row of a cluster determines its position: rows are read in order, and all but the
	// last of each cluster are skipped.
	where := q.repos(w.Repos)
	if w.Class != "" {
		where += " AND class = " + q.arg(string(w.Class))
	}
	if w.Text != "" {
		is := " LIKE " + q.arg("%"+likely.Replace(w.Text)+"%") + " ESCAPE '!'"
		if t.db.Kind == database.SQLite { // whose LIKE ignores the case
			where += " AND (name" + is + " OR suite" + is + " OR file" + is + ")"
		} else {
			where += " AND sought" + is
		}
	}
	where += " AND NOT EXISTS (SELECT 1 FROM projection_cluster o WHERE o.fingerprint = c.fingerprint AND (o.last > c.last OR o.last = c.last AND o.repo < c.repo) AND " +
		q.repos(w.Repos) + ")"
	var prints []string
	err := q.each(ctx, t.db, "failures", fmt.Sprintf("SELECT fingerprint FROM %s WHERE %s ORDER BY last DESC, fingerprint LIMIT %d OFFSET %d", from, where, n, skip),
		func(rows *sql.Rows) error {
			var p string
			err := rows.Scan(&p)
			prints = append(prints, p)
			return err
		})
	if err != nil || len(prints) == 0 {
		return nil, err
	}
	return t.clusters(ctx, w.Repos, prints)
}

// likely escapes the wildcards of LIKE and lowers the case of ASCII letters.
var likely = func() *strings.Replacer {
	pairs := []string{"!", "!!", "%", "!%", "_", "!_"}
	for c := 'A'; c <= 'Z'; c++ {
		pairs = append(pairs, string(c), string(c+'a'-'A'))
	}
	return strings.NewReplacer(pairs...)
}()

// Cluster returns the cluster of a fingerprint. ok is false if there is none.
func (t Failures) Cluster(ctx context.Context, repos []string, fingerprint string) (c Cluster, ok bool, err error) {
	list, err := t.clusters(ctx, repos, []string{fingerprint})
	if err != nil || list[0].Repos == nil {
		return Cluster{}, false, err
	}
	return list[0], true, nil
}

// clusters returns the clusters of fingerprints, in their order.
func (t Failures) clusters(ctx context.Context, repos, prints []string) ([]Cluster, error) {
	out, at := make([]Cluster, len(prints)), map[string]int{}
	for i, p := range prints {
		out[i].Fingerprint, at[text(p)] = p, i
	}
	var q query
	where := q.repos(repos) + " AND fingerprint " + q.in(prints)
	err := q.each(ctx, t.db, "failures", `SELECT fingerprint, repo, name, suite, file, class, first, last, cases, runs, flaky, open FROM projection_cluster
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

// Seen is a failure of a cluster in a checkpoint of a case.
type Seen struct {
	Key, Repo, Checkpoint, Name string
	First, Last, Fixed          time.Time // Fixed is zero while it still fails
	Runs, Flaky, Iterations     int       // Iterations: of the streak when it was fixed
}

// Seen returns at most n checkpoints in which a failure occurred, the last first.
func (t Failures) Seen(ctx context.Context, repos []string, fingerprint string, n int) ([]Seen, error) {
	var q query
	where := "fingerprint = " + q.arg(fingerprint) + " AND " + q.repos(repos)
	var out []Seen
	err := q.each(ctx, t.db, "failures", fmt.Sprintf(`SELECT key, repo, checkpoint, name, first, last, fixed, runs, flaky, iterations FROM projection_failure
		WHERE %s ORDER BY last DESC, key, checkpoint LIMIT %d`, where, n), func(rows *sql.Rows) error {
		var s Seen
		var first, last, fixed int64
		err := rows.Scan(&s.Key, &s.Repo, &s.Checkpoint, &s.Name, &first, &last, &fixed, &s.Runs, &s.Flaky, &s.Iterations)
		s.First, s.Last, s.Fixed = fromMillis(first), fromMillis(last), fromMillis(fixed)
		out = append(out, s)
		return err
	})
	return out, err
}

// FixedBy returns how many failures of a cluster were fixed after how many iterations.
func (t Failures) FixedBy(ctx context.Context, repos []string, fingerprint string) (map[int]int, error) {
	var q query
	where := "fingerprint = " + q.arg(fingerprint) + " AND fixed > 0 AND " + q.repos(repos)
	out := map[int]int{}
	err := q.each(ctx, t.db, "failures", "SELECT iterations, count(*) FROM projection_failure WHERE "+where+" GROUP BY iterations", func(rows *sql.Rows) error {
		var iterations, n int
		err := rows.Scan(&iterations, &n)
		out[iterations] = n
		return err
	})
	return out, err
}
