package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render/statsview"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/stats"
)

type statsFlags struct {
	ledger, output, since, until string
	repos                        []string
	cases                        bool
}

func statsCommand(s streams) *cobra.Command {
	var f statsFlags
	c := &cobra.Command{
		Use:   "stats [--ledger PATH] [flags]",
		Short: "Print statistics of a ledger: runs, decisions, attempts and time to green",
		Long: `Print statistics of all cases of a ledger, by repository, class, rule, signal, checkpoint and day.
docs/stats.md says what each of them counts.

The ledger of a repository is its branch switchback-ledger:

  git fetch origin switchback-ledger
  git worktree add ../ledger origin/switchback-ledger
  switchback stats --ledger ../ledger`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runLedgerStats(c.Context(), s, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVarP(&f.output, "output", "o", "text", "text, json or csv")
	fl.StringVar(&f.since, "since", "", "only events from this day or time on: 2026-03-01 or 2026-03-01T09:00:00Z")
	fl.StringVar(&f.until, "until", "", "only events before this day or time")
	fl.StringSliceVar(&f.repos, "repo", nil, "only this repository, owner/name; may be repeated")
	fl.BoolVar(&f.cases, "cases", false, "list the metrics of each checkpoint of each case instead")
	return c
}

// statsMemory is the size of the heap, in bytes, from which the garbage collector runs more often
// while a large ledger is read. It is not a limit.
const statsMemory = 192 << 20

func runLedgerStats(ctx context.Context, s streams, f statsFlags) error {
	if err := oneOf("-o", f.output, "text", "json", "csv"); err != nil {
		return err
	}
	w, err := window(f.since, f.until)
	if err != nil {
		return err
	}
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(statsMemory)
	if f.cases {
		return failedIf(listMetrics(ctx, s.out, led, f, w))
	}
	tally := stats.New(w)
	err = ledger.Each(ctx, led, func(key string, events []routing.Event) error {
		if !f.wants(key) {
			return nil
		}
		return tally.Add(key, events)
	})
	if err != nil {
		return failed(err)
	}
	switch f.output {
	case "json":
		return printJSON(s, tally.Report())
	case "csv":
		return failedIf(statsCSV(s.out, tally))
	}
	_, err = io.WriteString(s.out, statsview.Text(tally.Report()))
	return failedIf(err)
}

func (f statsFlags) wants(key string) bool {
	return len(f.repos) == 0 || slices.Contains(f.repos, stats.RepositoryOf(key))
}

// window reads the period that the statistics are of.
func window(since, until string) (stats.Window, error) {
	var w stats.Window
	for _, b := range []struct {
		flag, value string
		to          *time.Time
	}{{"--since", since, &w.Since}, {"--until", until, &w.Until}} {
		if b.value == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, b.value)
		if err != nil {
			at, err = time.Parse(time.RFC3339, b.value)
		}
		if err != nil {
			return w, usage("%s is %q; write a day such as 2026-03-01, which begins at 00:00 UTC, or a time such as 2026-03-01T09:00:00Z", b.flag, b.value)
		}
		*b.to = at.UTC()
	}
	if !w.Since.IsZero() && !w.Until.IsZero() && !w.Since.Before(w.Until) {
		return w, usage("--since must be before --until")
	}
	return w, nil
}

// listMetrics prints the metrics of each checkpoint of the cases whose last change is in the period.
// As JSON, that is one document per line.
func listMetrics(ctx context.Context, out io.Writer, led ledger.Ledger, f statsFlags, w stats.Window) error {
	table := newCSV(out)
	if f.output == "csv" {
		table.row("session", "checkpoint", "attempts", "last_result", "total_time", "feedback_quality")
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := ledger.Each(ctx, led, func(key string, events []routing.Event) error {
		if routing.IsRepositoryStream(key) || !f.wants(key) {
			return nil
		}
		c, err := routing.Fold(key, events)
		if err != nil || !w.Holds(c.Updated) {
			return err
		}
		for _, name := range c.Names() {
			m := c.Metrics(name)
			last := "-"
			if n := len(m.RoutingHistory); n > 0 {
				last = string(m.RoutingHistory[n-1].Result)
			}
			switch f.output {
			case "json":
				err = enc.Encode(m)
			case "csv":
				table.row(m.Session, name, fmt.Sprint(len(m.RoutingHistory)), last, m.TotalTime, m.FeedbackQuality)
				err = table.w.Error()
			default:
				_, err = fmt.Fprintf(out, "%s  %3d turns  %-19s %7s  %s\n", plain(key+"/"+name), len(m.RoutingHistory), last, m.TotalTime, m.FeedbackQuality)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return table.end()
}

// spreadsheet is a text that no spreadsheet takes for a formula.
func spreadsheet(s string) string {
	if s != stats.None && strings.IndexAny(s, "=+-@\t\r") == 0 {
		return "'" + s
	}
	return s
}

// everyRepository stands in a row about all repositories.
const everyRepository = "*"

type csvTable struct{ w *csv.Writer }

func newCSV(out io.Writer) csvTable { return csvTable{csv.NewWriter(out)} }

// row writes a row. end returns the first error.
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

// statsColumns are the columns after repository, dimension and key.
var statsColumns = []struct {
	name string
	of   func(stats.Row) any
}{
	{"cases", func(r stats.Row) any { return r.Cases }},
	{"runs", func(r stats.Row) any { return r.Runs }},
	{"passes", func(r stats.Row) any { return r.Passes }},
	{"retries", func(r stats.Row) any { return r.Retries }},
	{"escalations", func(r stats.Row) any { return r.Escalations }},
	{"recorded_only", func(r stats.Row) any { return r.Recorded }},
	{"undone", func(r stats.Row) any { return r.Undone }},
	{"iterations_saved", func(r stats.Row) any { return r.Saved }},
	{"reruns", func(r stats.Row) any { return r.Reruns }},
	{"flaky_runs", func(r stats.Row) any { return r.Flaky }},
	{"suspect_runs", func(r stats.Row) any { return r.Suspect }},
	{"pre_existing_runs", func(r stats.Row) any { return r.PreExistingRuns }},
	{"pre_existing_failures", func(r stats.Row) any { return r.PreExistingFailures }},
	{"quarantined_failures", func(r stats.Row) any { return r.QuarantinedFailures }},
	{"incident_runs", func(r stats.Row) any { return r.Incident }},
	{"failing_runs_acted_upon", func(r stats.Row) any { return r.Failing }},
	{"marked_wrong", func(r stats.Row) any { return r.Wrong }},
	{"precision_percent", func(r stats.Row) any { return r.Precision }},
	{"retries_followed", func(r stats.Row) any { return r.Followed }},
	{"retries_that_changed_nothing", func(r stats.Row) any { return r.Unchanged }},
	{"changed_nothing_percent", func(r stats.Row) any { return r.UnchangedShare }},
	{"streaks", func(r stats.Row) any { return r.Streaks }},
	{"fixed", func(r stats.Row) any { return r.Green }},
	{"fixed_without_escalation", func(r stats.Row) any { return r.Unescalated }},
	{"escalated_or_answered", func(r stats.Row) any { return r.Escalated }},
	{"without_escalation_percent", func(r stats.Row) any { return r.UnescalatedShare }},
	{"green_at_once", func(r stats.Row) any { return r.First }},
	{"attempts_to_green_mean", func(r stats.Row) any { return r.Attempts.Mean }},
	{"attempts_to_green_median", func(r stats.Row) any { return r.Attempts.Median }},
	{"attempts_to_green_p90", func(r stats.Row) any { return r.Attempts.P90 }},
	{"seconds_to_green_mean", func(r stats.Row) any { return r.Time.Mean }},
	{"seconds_to_green_median", func(r stats.Row) any { return r.Time.Median }},
	{"seconds_to_green_p90", func(r stats.Row) any { return r.Time.P90 }},
	{"feedback_effective", func(r stats.Row) any { return r.Effective }},
	{"feedback_ineffective", func(r stats.Row) any { return r.Ineffective }},
	{"feedback_none", func(r stats.Row) any { return r.NoFeedback }},
}

// statsCSV writes a row for each key of each dimension of each repository, and of all repositories
// together.
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

// csvCell is a number, or empty where there is none.
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
