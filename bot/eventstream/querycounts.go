package eventstream

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// day is the day of a time, UTC, since 1970.
func day(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix() / 86400
}

func fromDay(n int64) time.Time { return time.Unix(n*86400, 0).UTC() }

// Outcome is how often something was decided on some day.
type Outcome struct {
	Day      time.Time // its beginning, UTC
	Decision routing.Kind
	N        int
}

// Outcomes returns what was decided, day by day, oldest first, from a time on.
func (f *Feed) Outcomes(ctx context.Context, repos []string, from time.Time) ([]Outcome, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var out []Outcome
	err := f.each(ctx, "outcomes", &q, "SELECT day, decision, sum(n) FROM feed_count WHERE "+where+" GROUP BY day, decision ORDER BY day, decision",
		func(rows *sql.Rows) error {
			var o Outcome
			var at int64
			err := rows.Scan(&at, &o.Decision, &o.N)
			o.Day = fromDay(at)
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
	N, Wrong int       // Wrong: of N, a human said that the class was wrong
	Newest   time.Time // the day of the last one
}

// Rules returns how often each rule decided from a time on, the most frequent first.
func (f *Feed) Rules(ctx context.Context, repos []string, from time.Time) ([]Rule, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var out []Rule
	err := f.each(ctx, "rules", &q, `SELECT rule, decision, class, sum(n), sum(wrong), max(day) FROM feed_count WHERE `+where+`
		GROUP BY rule, decision, class ORDER BY sum(n) DESC, rule, decision, class`, func(rows *sql.Rows) error {
		var r Rule
		var at int64
		err := rows.Scan(&r.Rule, &r.Decision, &r.Class, &r.N, &r.Wrong, &at)
		r.Newest = fromDay(at)
		out = append(out, r)
		return err
	})
	return out, err
}

// Green are figures over checkpoints that failed and then passed.
type Green struct {
	N          int
	Alone      int           // of N, without that a human was called or acted
	Iterations int           // median of how often they were returned for a fix
	Took       time.Duration // median of the time since the first failure, to about a twentieth
}

// Greens returns the figures over what passed from a time on.
func (f *Feed) Greens(ctx context.Context, repos []string, from time.Time) (Green, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var g Green
	iterations, took := map[int]int{}, map[int]int{}
	err := f.each(ctx, "greens", &q, "SELECT iterations, human, took, sum(n) FROM feed_green WHERE "+where+" GROUP BY iterations, human, took", func(rows *sql.Rows) error {
		var t, human, m, n int
		err := rows.Scan(&t, &human, &m, &n)
		g.N, iterations[t], took[m] = g.N+n, iterations[t]+n, took[m]+n
		if human == 0 {
			g.Alone += n
		}
		return err
	})
	g.Iterations, g.Took = median(iterations, g.N), unstep(median(took, g.N))
	return g, err
}

// median returns the middle one of n values, of which it is told how often each is there.
func median(count map[int]int, n int) int {
	values := make([]int, 0, len(count))
	for v := range count {
		values = append(values, v)
	}
	slices.Sort(values)
	at := 0
	for _, v := range values {
		if at += count[v]; 2*at > n {
			return v
		}
	}
	return 0
}

// step is a time on a scale on which eight steps double it, so that few of them hold
// all there is.
func step(d time.Duration) int { return int(math.Round(8 * math.Log2(1+max(0, d.Minutes())))) }

func unstep(n int) time.Duration {
	return time.Duration((math.Exp2(float64(n)/8) - 1) * float64(time.Minute)).Round(time.Second)
}
