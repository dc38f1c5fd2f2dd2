package main

import (
	"encoding/csv"
	"fmt"
	"io"

	"github.com/switchback-ci/switchback/routing/stats"
)

// everyRepository stands in a row that is about all of them.
const everyRepository = "*"

type csvTable struct{ w *csv.Writer }

func newCSV(out io.Writer) csvTable { return csvTable{csv.NewWriter(out)} }

// row writes a row; the first error is told by end.
func (t csvTable) row(cells ...string) {
	for i := range cells {
		cells[i] = spreadsheet(cells[i])
	}
	_ = t.w.Write(cells)
}

func (t csvTable) end() error {
	t.w.Flush()
	return t.w.Error()
}

// statsColumns are the columns behind repository, dimension and key.
var statsColumns = []struct {
	name string
	of   func(stats.Row) any
}{
	{"cases", func(r stats.Row) any { return r.Cases }},
	{"runs", func(r stats.Row) any { return r.Runs }},
	{"passes", func(r stats.Row) any { return r.Passes }},
	{"reworks", func(r stats.Row) any { return r.Reworks }},
	{"escalations", func(r stats.Row) any { return r.Escalations }},
	{"recorded_only", func(r stats.Row) any { return r.Recorded }},
	{"taken_back", func(r stats.Row) any { return r.TakenBack }},
	{"flaky_runs", func(r stats.Row) any { return r.Flaky }},
	{"failing_runs_acted_upon", func(r stats.Row) any { return r.Failing }},
	{"marked_wrong", func(r stats.Row) any { return r.Wrong }},
	{"precision_percent", func(r stats.Row) any { return r.Precision }},
	{"hand_backs_followed", func(r stats.Row) any { return r.Followed }},
	{"hand_backs_that_changed_nothing", func(r stats.Row) any { return r.Unchanged }},
	{"changed_nothing_percent", func(r stats.Row) any { return r.UnchangedShare }},
	{"troubles", func(r stats.Row) any { return r.Troubles }},
	{"fixed", func(r stats.Row) any { return r.Green }},
	{"fixed_without_human", func(r stats.Row) any { return r.Alone }},
	{"with_human", func(r stats.Row) any { return r.Called }},
	{"without_human_percent", func(r stats.Row) any { return r.AloneShare }},
	{"green_at_once", func(r stats.Row) any { return r.First }},
	{"turns_to_green_mean", func(r stats.Row) any { return r.Turns.Mean }},
	{"turns_to_green_median", func(r stats.Row) any { return r.Turns.Median }},
	{"turns_to_green_p90", func(r stats.Row) any { return r.Turns.P90 }},
	{"seconds_to_green_mean", func(r stats.Row) any { return r.Time.Mean }},
	{"seconds_to_green_median", func(r stats.Row) any { return r.Time.Median }},
	{"seconds_to_green_p90", func(r stats.Row) any { return r.Time.P90 }},
	{"feedback_effective", func(r stats.Row) any { return r.Effective }},
	{"feedback_ineffective", func(r stats.Row) any { return r.Ineffective }},
	{"feedback_none", func(r stats.Row) any { return r.NoFeedback }},
}

// statsCSV writes a row for each key of each dimension of each repository, and
// of all repositories together.
func statsCSV(out io.Writer, tally *stats.Tally) error {
	t := newCSV(out)
	head := []string{"repository", "dimension", "key"}
	for _, c := range statsColumns {
		head = append(head, c.name)
	}
	for _, k := range stats.Escalating() {
		head = append(head, string(k))
	}
	t.row(head...)
	groups := func(repo string, g *stats.Groups) {
		t.figures(repo, "total", g.Total.Row(""))
		for _, table := range g.Tables() {
			for _, r := range table.Rows {
				t.figures(repo, string(table.Dimension), r)
			}
		}
	}
	groups(everyRepository, tally.All())
	for _, repo := range tally.Repositories() {
		groups(repo, tally.Of(repo))
	}
	return t.end()
}

func (t csvTable) figures(repo, dimension string, r stats.Row) {
	cells := []string{repo, dimension, r.Key}
	for _, c := range statsColumns {
		cells = append(cells, csvCell(c.of(r)))
	}
	for _, k := range stats.Escalating() {
		cells = append(cells, fmt.Sprint(r.ByType[k]))
	}
	t.row(cells...)
}

// csvCell is a number, or nothing where there is none.
func csvCell(v any) string {
	switch v := v.(type) {
	case *int:
		if v != nil {
			return fmt.Sprint(*v)
		}
		return ""
	case *int64:
		if v != nil {
			return fmt.Sprint(*v)
		}
		return ""
	case *float64:
		if v != nil {
			return fmt.Sprintf("%.2f", *v)
		}
		return ""
	}
	return fmt.Sprint(v)
}
