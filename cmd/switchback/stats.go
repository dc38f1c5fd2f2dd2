package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/stats"
)

type statsFlags struct {
	ledger, output, since, until string
	repos                        []string
	cases                        bool
}

func ledgerStatsCommand(s streams) *cobra.Command {
	var f statsFlags
	c := &cobra.Command{
		Use:   "stats [--ledger PATH] [flags]",
		Short: "Count what a ledger holds: runs, decisions, turns and time to green, what humans called wrong",
		Long: `Make figures of all cases of a ledger, by repository, class, rule, signal,
checkpoint and day. docs/stats.md says what each of them counts.

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
	fl.StringVar(&f.since, "since", "", "only what was recorded from this day or time on: 2026-03-01 or 2026-03-01T09:00:00Z")
	fl.StringVar(&f.until, "until", "", "only what was recorded before this day or time")
	fl.StringSliceVar(&f.repos, "repo", nil, "only this repository, owner/name; may be given several times")
	fl.BoolVar(&f.cases, "cases", false, "list the metrics of each checkpoint of each case instead")
	return c
}

// statsMemory is what the figures of a large ledger may take before the
// collector works harder; it is no limit.
const statsMemory = 192 << 20

func runLedgerStats(ctx context.Context, s streams, f statsFlags) error {
	if !slices.Contains([]string{"text", "json", "csv"}, f.output) {
		return usage("-o is %q; it must be text, json or csv", f.output)
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
	_, err = io.WriteString(s.out, render.Statistics(tally.Report()))
	return failedIf(err)
}

func (f statsFlags) wants(key string) bool {
	return len(f.repos) == 0 || slices.Contains(f.repos, stats.RepositoryOf(key))
}

// window reads the bounds of the time that is looked at.
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
		return w, usage("--since is not before --until: nothing is between them")
	}
	return w, nil
}

// listMetrics prints the metrics of each checkpoint of the cases that were
// changed last in the window: in JSON one document a line.
func listMetrics(ctx context.Context, out io.Writer, led ledger.Ledger, f statsFlags, w stats.Window) error {
	table := newCSV(out)
	if f.output == "csv" {
		table.row("session", "checkpoint", "turns", "last_result", "total_time", "feedback_quality")
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	err := ledger.Each(ctx, led, func(key string, events []routing.Event) error {
		if routing.IsRegister(key) || !f.wants(key) {
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
