package eventstream

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
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

// Figures reads the counts of decisions.
type Figures struct{ db *database.DB }

// Outcome counts a decision on a day.
type Outcome struct {
	Day      time.Time // its beginning, UTC
	Decision routing.Kind
	N        int
}

// Outcomes counts the decisions since a time by day, oldest first.
func (t Figures) Outcomes(ctx context.Context, repos []string, from time.Time) ([]Outcome, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var out []Outcome
	err := q.each(ctx, t.db, "outcomes", "SELECT day, decision, sum(n) FROM projection_count WHERE "+where+" GROUP BY day, decision ORDER BY day, decision",
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

// Rule counts the decisions by a rule.
type Rule struct {
	Rule     string
	Decision routing.Kind
	Class    routing.Class
	N, Wrong int       // Wrong: those of N whose class a maintainer corrected
	Newest   time.Time // the day of the last one
}

// Rules counts the decisions of each rule since a time, the most frequent first.
func (t Figures) Rules(ctx context.Context, repos []string, from time.Time) ([]Rule, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var out []Rule
	err := q.each(ctx, t.db, "rules", `SELECT rule, decision, class, sum(n), sum(wrong), max(day) FROM projection_count WHERE `+where+`
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
	Alone      int           // those of N without an escalation or an action of a person
	Iterations int           // median
	Took       time.Duration // median of the time since the first failure, to about a twentieth
}

// Greens returns the figures over the checkpoints that passed since a time.
func (t Figures) Greens(ctx context.Context, repos []string, from time.Time) (Green, error) {
	var q query
	where := q.repos(repos) + " AND day >= " + q.arg(day(from))
	var g Green
	iterations, took := map[int]int{}, map[int]int{}
	err := q.each(ctx, t.db, "greens", "SELECT iterations, human, took, sum(n) FROM projection_green WHERE "+where+" GROUP BY iterations, human, took", func(rows *sql.Rows) error {
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

// median returns the median of n values, of which count says how often each occurs.
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

// step maps a duration to a logarithmic scale of eight steps per doubling, so that few rows hold
// all durations.
func step(d time.Duration) int { return int(math.Round(8 * math.Log2(1+max(0, d.Minutes())))) }

func unstep(n int) time.Duration {
	return time.Duration((math.Exp2(float64(n)/8) - 1) * float64(time.Minute)).Round(time.Second)
}
