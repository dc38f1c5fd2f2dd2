package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/quarantine"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/truncate"
)

type historyFlags struct {
	ledger, repo      string
	slowest, flakiest bool
	n                 int
	json              bool
}

func historyCommand(s streams) *cobra.Command {
	var f historyFlags
	c := &cobra.Command{
		Use:   "history [--ledger PATH] TEST",
		Short: "Print how a test ended in the runs of a ledger, or the slowest and flakiest tests",
		Long: `Print how a test ended in the runs that a ledger keeps: how often it passed, on how many commits it
failed and passed, how long it takes, since which commit it fails, and who owns it. Name the test
with or without its suite.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runHistory(c, s, f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVar(&f.repo, "repo", "", "the repository, such as acme/app; it may be left out where the ledger holds one")
	fl.BoolVar(&f.slowest, "slowest", false, "list the tests that take longest")
	fl.BoolVar(&f.flakiest, "flakiest", false, "list the tests that failed and passed on the most commits")
	fl.IntVarP(&f.n, "number", "n", 20, "the number of tests that are listed")
	fl.BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runHistory(c *cobra.Command, s streams, f historyFlags, args []string) error {
	lists := 0
	for _, on := range []bool{f.slowest, f.flakiest, len(args) > 0} {
		if on {
			lists++
		}
	}
	if lists != 1 {
		return usage("name one test, or give one of --slowest and --flakiest")
	}
	if f.n < 1 || f.n > 1000 {
		return usage("-n is %d; it must be 1 to 1000", f.n)
	}
	led, err := openExisting(c.Context(), f.ledger)
	if err != nil {
		return err
	}
	if f.repo == "" {
		if f.repo, err = onlyRepo(c, led); err != nil {
			return err
		}
	}
	set, err := testhistory.Load(c.Context(), led, f.repo)
	if err != nil {
		return failed(err)
	}
	switch {
	case f.slowest:
		return printRanked(s, f, set, set.Slowest(f.n), "no test of %s takes a millisecond, as far as its runs say\n")
	case f.flakiest:
		return printRanked(s, f, set, set.Flakiest(f.n), "no test of %s failed and passed on one commit\n")
	}
	found, nearest := set.Find(args[0])
	if len(found) == 0 {
		hint := fmt.Sprintf("%d tests of %s are known by name", set.Known(), f.repo)
		if nearest != "" {
			hint = fmt.Sprintf("the nearest is %q", render.Terminal(nearest))
		}
		return failed(fmt.Errorf("no test is called %q; %s", args[0], hint))
	}
	return printTests(s, f, set, found)
}

// onlyRepo returns the repository of a ledger that holds one.
func onlyRepo(c *cobra.Command, led ledger.Ledger) (string, error) {
	keys, err := led.Keys(c.Context())
	if err != nil {
		return "", failed(err)
	}
	var repos []string
	for _, k := range keys {
		if r := activity.Repo(k); r != "" && (len(repos) == 0 || repos[len(repos)-1] != r) {
			repos = append(repos, r)
		}
	}
	switch len(repos) {
	case 0:
		return "", failed(fmt.Errorf("the ledger holds no runs"))
	case 1:
		return repos[0], nil
	}
	return "", usage("the ledger holds %d repositories; name one with --repo, such as --repo %s", len(repos), repos[0])
}

// historyOf is what `history --json` prints of a test. Other tools rely on its keys.
type historyOf struct {
	ID         string   `json:"id"`
	Checkpoint string   `json:"checkpoint"`
	Suite      string   `json:"suite"`
	Name       string   `json:"name"`
	File       string   `json:"file"`
	Owners     []string `json:"owners"`

	Runs      int     `json:"runs"`
	Passed    int     `json:"passed"`
	Failed    int     `json:"failed"`
	Flaky     int     `json:"flaky"` // failed and passed within one run
	Skipped   int     `json:"skipped"`
	Incident  int     `json:"incident"` // of the failed, in runs that were on hold for an incident
	PassRate  float64 `json:"pass_rate"`
	Commits   int     `json:"commits"`
	FlakyOn   int     `json:"flaky_commits"`
	FlakeRate float64 `json:"flake_rate"`

	MedianMS int64 `json:"median_ms"` // about
	Trend    int   `json:"trend"`     // doublings by which the newest third of the runs takes longer than the oldest

	FirstFailing string `json:"first_failing,omitempty"` // commit
	Failing      bool   `json:"failing"`

	Quarantine *quarantinedUntil `json:"quarantine,omitempty"`
}

type quarantinedUntil struct {
	Standing quarantine.Standing `json:"standing"`
	Until    time.Time           `json:"until,omitzero"`
	Issue    int                 `json:"issue,omitempty"`
}

func newHistoryOf(t testhistory.Test, s history.Summary, e quarantine.Entry, known bool) historyOf {
	out := historyOf{
		ID: t.Key(), Checkpoint: t.Checkpoint, Suite: t.Suite, Name: t.Name, File: t.File, Owners: []string{},
		Runs: s.Runs, Passed: s.Passed, Failed: s.Failed, Flaky: s.Flaked, Skipped: s.Skipped, Incident: s.Incident, PassRate: s.PassRate(),
		Commits: s.Commits, FlakyOn: s.Flaky, FlakeRate: s.FlakeRate(),
		MedianMS: s.Median.Milliseconds(), Trend: s.Trend, FirstFailing: s.FirstFailing.SHA, Failing: s.Failing,
	}
	out.Owners = append(out.Owners, e.Owners...)
	if known && e.Standing != quarantine.Seen {
		out.Quarantine = &quarantinedUntil{e.Standing, e.Until, e.Number}
	}
	return out
}

func printTests(s streams, f historyFlags, set *testhistory.Set, found []testhistory.Test) error {
	all := []historyOf{}
	for _, t := range found {
		e, known := set.Entry(t)
		if e.Owners = set.Owners(t); len(e.Owners) == 0 {
			e.Owners = localOwners(t.File)
		}
		all = append(all, newHistoryOf(t, history.Summarize(set.Observations(t)), e, known))
	}
	if f.json {
		return printJSON(s, all)
	}
	for i, h := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		fmt.Fprint(s.out, historyText(h))
	}
	return nil
}

// localOwners returns who owns a file according to CODEOWNERS of the working directory.
func localOwners(file string) []string {
	if file == "" {
		return nil
	}
	for _, name := range github.OwnersFiles() {
		if text, err := os.ReadFile(name); err == nil {
			return github.OwnersIn(text, file)
		}
	}
	return nil
}

func printRanked(s streams, f historyFlags, set *testhistory.Set, list []testhistory.Ranked, none string) error {
	all := []historyOf{}
	for _, r := range list {
		all = append(all, newHistoryOf(r.Test, r.Summary, quarantine.Entry{Owners: set.Owners(r.Test)}, false))
	}
	if f.json {
		return printJSON(s, all)
	}
	if len(all) == 0 {
		fmt.Fprintf(s.out, none, f.repo)
		return nil
	}
	for i, h := range all {
		figure := aboutMS(h.MedianMS)
		if f.flakiest {
			figure = fmt.Sprintf("%d of %d commits", h.FlakyOn, h.Commits)
		}
		fmt.Fprintf(s.out, "%3d. %-18s %s  (%s)\n", i+1, figure, safe(routing.TestName(h.Suite, h.Name)), safe(h.Checkpoint))
	}
	return nil
}

func safe(text string) string { return render.Terminal(redact.Text(text)) }

// aboutMS writes a duration that is known in doublings.
func aboutMS(ms int64) string {
	if ms == 0 {
		return "under 1ms"
	}
	if ms < 1000 {
		return fmt.Sprintf("about %dms", ms)
	}
	return "about " + routing.ShortDuration(time.Duration(ms)*time.Millisecond)
}

func historyText(h historyOf) string {
	var b strings.Builder
	line := func(name, format string, a ...any) {
		fmt.Fprintf(&b, "  %-15s %s\n", name+":", fmt.Sprintf(format, a...))
	}
	fmt.Fprintf(&b, "%s\n", safe(routing.TestName(h.Suite, h.Name)))
	line("checkpoint", "%s", safe(h.Checkpoint))
	if h.File != "" {
		line("file", "%s", safe(h.File))
	}
	if len(h.Owners) > 0 {
		line("owner", "%s", safe(strings.Join(h.Owners, " ")))
	}
	if h.Runs == 0 {
		line("runs", "none that are kept ran it")
		return b.String()
	}
	line("pass rate", "%.0f %% of %d runs", 100*h.PassRate, h.Runs)
	if h.Incident > 0 {
		line("incidents", "%d of %d failures in runs that were on hold for one", h.Incident, h.Failed)
	}
	line("flake rate", "%.0f %% of %d commits failed and passed it", 100*h.FlakeRate, h.Commits)
	line("duration", "%s%s", aboutMS(h.MedianMS), trendText(h.Trend))
	switch {
	case h.FirstFailing != "" && h.Failing:
		line("fails since", "%s", truncate.ShortSHA(h.FirstFailing))
	case h.FirstFailing != "":
		line("first failed at", "%s", truncate.ShortSHA(h.FirstFailing))
	}
	if q := h.Quarantine; q != nil {
		text := string(q.Standing)
		if q.Standing == quarantine.Quarantined {
			text += " until " + q.Until.UTC().Format("2006-01-02 15:04") + " UTC"
		}
		if q.Issue > 0 {
			text += fmt.Sprintf(", issue #%d", q.Issue)
		}
		line("quarantine", "%s", text)
	}
	return b.String()
}

func trendText(doublings int) string {
	switch {
	case doublings > 0:
		return fmt.Sprintf(", %d times as long as before", 1<<min(doublings, 20))
	case doublings < 0:
		return fmt.Sprintf(", once %d times as long", 1<<min(-doublings, 20))
	}
	return ", as before"
}
