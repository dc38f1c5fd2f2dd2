// Package statsview writes the figures of a ledger as tables for a terminal.
package statsview

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/stats"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// width is what the tables of the terminal keep to, in characters.
const width = 100

// mostRows is how many rows a table of the terminal has: those with the most
// runs, or of days the newest. JSON and CSV have all.
const mostRows = 15

// Text returns the figures of a ledger as the terminal shows them.
func Text(r stats.Report) string {
	var b strings.Builder
	b.WriteString(statsHead(r))
	for _, t := range append([]stats.Table{{Dimension: "repository", Rows: r.Repositories}}, r.Tables...) {
		if len(t.Rows) > 0 {
			b.WriteString("\n" + statsTable(t))
		}
	}
	b.WriteString(`
retries: returned for a fix; fixed: streaks that ended green, of all; unaided: fixed without a
maintainer, of those fixed or escalated; attempts, time: until green, median/90th percentile;
same: fix attempts that changed nothing; right: failing runs nobody said were classified wrongly.
`)
	return b.String()
}

func statsHead(r stats.Report) string {
	t := r.Total
	var b strings.Builder
	line := func(label, format string, a ...any) { fmt.Fprintf(&b, "%-22s %s\n", label, fmt.Sprintf(format, a...)) }
	if r.Since != nil || r.Until != nil {
		line("Window", "%s to %s", bound(r.Since, "the beginning"), bound(r.Until, "now"))
	}
	line("Recorded", "%d cases, %d runs (%d of them flaky)", t.Cases, t.Runs, t.Flaky)
	line("Decided", "%d passed, %d returned for a fix, %d escalated, %d only recorded", t.Passes, t.Retries, t.Escalations, t.Recorded)
	if t.QuarantinedFailures > 0 {
		line("In quarantine", "%d failures, which did not count", t.QuarantinedFailures)
	}
	if t.PreExistingFailures > 0 {
		line("Also on the base", "%d failures; %d of the runs had no others, and cost no fix attempt", t.PreExistingFailures, t.PreExistingRuns)
	}
	for _, k := range stats.IncidentKinds() {
		if i := r.Incidents[k]; i.Opened > 0 {
			line("Incidents", "%d of the %s, %d not over; %d checkpoints on hold, %d restarted", i.Opened, k, i.Open, i.Checkpoints, i.Restarted)
		}
	}
	var escalated []string
	for _, k := range stats.Escalating() {
		escalated = append(escalated, fmt.Sprintf("%d %s", t.ByType[k], strings.ToLower(strings.TrimPrefix(string(k), "ESCALATE_"))))
	}
	title := "Escalated by type"
	for some := range slices.Chunk(escalated, 6) { // a line has at most 100 columns
		line(title, "%s", strings.Join(some, ", "))
		title = ""
	}
	line("Fixed", "%d of %d streaks, %d of them without a maintainer (%s of those settled)", t.Green, t.Streaks, t.Unescalated, share(t.UnescalatedShare))
	line("Attempts to green", "median %s, 90th percentile %s, mean %s", number(t.Attempts.Median), number(t.Attempts.P90), mean(t.Attempts.Mean))
	line("Time to green", "median %s, 90th percentile %s", duration(t.Time.Median), duration(t.Time.P90))
	line("Changed nothing", "%d of %d fix attempts (%s)", t.Unchanged, t.Followed, share(t.UnchangedShare))
	line("Stopped early", "%d fix attempts saved, as others had changed nothing", t.Saved)
	line("Marked wrong", "%d of %d failing runs (%s right), %d attempts undone", t.Wrong, t.Failing, share(t.Precision), t.Undone)
	line("Feedback", "%d effective, %d ineffective, %d without", t.Effective, t.Ineffective, t.NoFeedback)
	var requests []string
	for _, k := range stats.FeedbackTypes() {
		requests = append(requests, fmt.Sprintf("%s %d", k, r.FeedbackRequests.ByType[k]))
	}
	line("Between ports", "%s", strings.Join(requests, ", "))
	line("", "success rate %s, average rounds %s, %d rejected", r.FeedbackRequests.Success(), r.FeedbackRequests.Average(), r.FeedbackRequests.Rejected)
	return b.String()
}

func bound(t *time.Time, none string) string {
	if t == nil {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}

const notAny = "n/a"

func share(p *int) string {
	if p == nil {
		return notAny
	}
	return fmt.Sprintf("%d%%", *p)
}

func number(n *int64) string {
	if n == nil {
		return notAny
	}
	return fmt.Sprint(*n)
}

func mean(f *float64) string {
	if f == nil {
		return notAny
	}
	return fmt.Sprintf("%.1f", *f)
}

func duration(seconds *int64) string {
	if seconds == nil {
		return notAny
	}
	return routing.ShortDuration(time.Duration(*seconds) * time.Second)
}

// statsTable is one table, its rows cut to the most telling.
func statsTable(t stats.Table) string {
	rows, left := t.Rows, 0
	if n := len(rows); n > mostRows {
		rows, left = slices.Clone(rows), n-mostRows
		if t.Dimension == stats.ByDay {
			rows = rows[left:]
		} else {
			slices.SortStableFunc(rows, func(a, b stats.Row) int { return b.Runs - a.Runs })
			rows = rows[:mostRows]
		}
	}
	cells := [][]string{{"by " + string(t.Dimension), "runs", "retries", "escalated", "fixed", "unaided", "attempts", "time", "same", "right"}}
	for _, r := range rows {
		attempts, time := "-", "-"
		if r.Attempts.N > 0 {
			attempts, time = number(r.Attempts.Median)+"/"+number(r.Attempts.P90), duration(r.Time.Median)+"/"+duration(r.Time.P90)
		}
		cells = append(cells, []string{render.Terminal(r.Key), fmt.Sprint(r.Runs), fmt.Sprint(r.Retries), fmt.Sprint(r.Escalations), fmt.Sprintf("%d/%d", r.Green, r.Streaks),
			dash(share(r.UnescalatedShare)), attempts, time, dash(share(r.UnchangedShare)), dash(share(r.Precision))})
	}
	out := aligned(cells)
	if left > 0 {
		out += fmt.Sprintf("and %d more; -o json and -o csv have all\n", left)
	}
	return out
}

func dash(s string) string {
	if s == notAny {
		return "-"
	}
	return s
}

// aligned sets cells in columns, the first to the left and cut to what the
// others leave of the width, the others to the right.
func aligned(cells [][]string) string {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, c := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	rest := width
	for _, w := range widths[1:] {
		rest -= w + 2
	}
	widths[0] = min(widths[0], max(rest, 8))
	var b strings.Builder
	for _, row := range cells {
		var l strings.Builder
		for i, c := range row {
			if i == 0 {
				l.WriteString(padded(truncate.MiddleRunes(c, widths[0]), widths[0]))
				continue
			}
			l.WriteString("  " + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)) + c)
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

func padded(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}
