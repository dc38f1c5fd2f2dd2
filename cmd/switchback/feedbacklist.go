package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/routing"
	edge "github.com/switchback-ci/switchback/routing/plan/feedback"
)

func listCommand(s streams, f *feedbackFlags) *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "List the feedback of a build, or with --audit every change, one JSON per line",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runList(c.Context(), s, *f) },
	}
	c.Flags().StringVar(&f.status, "status", "", "only what is queued, delivered, processing, verifying, resolved, failed or rejected")
	c.Flags().StringVar(&f.typ, "type", "", "only feedback of a type")
	c.Flags().BoolVar(&f.audit, "audit", false, "print the audit trail of all builds instead")
	return c
}

func runList(ctx context.Context, s streams, f feedbackFlags) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	status, ok := edge.ParseStatus(f.status)
	if f.status != "" && !ok {
		return usage("--status is none of %s", wordsOf(edge.Statuses()))
	}
	if f.typ != "" && !edge.Type(f.typ).Valid() {
		return usage("--type is none of %s", wordsOf(edge.Types()))
	}
	events, err := edgeEvents(ctx, &f)
	if err != nil {
		return err
	}
	if f.audit {
		return printAudit(s, events)
	}
	all, err := recordsOf(f, events)
	if err != nil {
		return err
	}
	kept := []edge.Record{}
	for _, x := range all {
		if (f.status == "" || x.Status == status) && (f.typ == "" || x.Message.Type == edge.Type(f.typ)) {
			kept = append(kept, x)
		}
	}
	if f.output == "json" {
		return printJSON(s, kept)
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	for _, x := range kept {
		m := x.Message
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s → %s\t%s\n", x.ID, x.Status, x.Round, x.Priority, plain(string(m.Type)), plain(m.From), plain(m.To), plain(m.Text))
	}
	return failedIf(w.Flush())
}

func failedIf(err error) error {
	if err != nil {
		return failed(err)
	}
	return nil
}

func wordsOf[T ~string](all []T) string {
	var out []string
	for _, x := range all {
		out = append(out, string(x))
	}
	return strings.Join(out, ", ")
}

// maxShown is how many characters of a text are shown in a line.
const maxShown = 80

// plain returns s on one line, short, and without what a terminal obeys.
func plain(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if n++; n > maxShown {
			return b.String() + "…"
		}
		if !unicode.IsPrint(r) {
			r = '\uFFFD'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func printAudit(s streams, events []routing.Event) error {
	lines, err := edge.Audit(events)
	if err != nil {
		return failed(err)
	}
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return failed(err)
		}
	}
	return nil
}

// edgeEvents returns the events of the register of edges.
func edgeEvents(ctx context.Context, f *feedbackFlags) ([]routing.Event, error) {
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return nil, err
	}
	book, err := f.book(ctx, led)
	if err != nil {
		return nil, failed(err)
	}
	f.build = book.Build
	events, _, err := led.Load(ctx, routing.RegisterKey(f.repo, routing.RegisterEdges))
	if err != nil {
		return nil, failed(err)
	}
	return events, nil
}

// recordsOf returns the feedback of the build.
func recordsOf(f feedbackFlags, events []routing.Event) ([]edge.Record, error) {
	r, err := edge.FoldEdges(events)
	if err != nil {
		return nil, failed(err)
	}
	var out []edge.Record
	for _, x := range r.Records {
		if x.Plan == f.build {
			out = append(out, x)
		}
	}
	return out, nil
}

func statsCommand(s streams, f *feedbackFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "stats",
		Short: "Count the feedback of a build by type, with its success rate and average rounds",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return runStats(c.Context(), s, *f) },
	}
}

func runStats(ctx context.Context, s streams, f feedbackFlags) error {
	if err := checkOutput(f.output); err != nil {
		return err
	}
	events, err := edgeEvents(ctx, &f)
	if err != nil {
		return err
	}
	all, err := recordsOf(f, events)
	if err != nil {
		return err
	}
	st := edge.StatsOf(all)
	if f.output == "json" {
		return printJSON(s, st)
	}
	for _, t := range edge.Types() {
		fmt.Fprintf(s.out, "%-19s %d\n", t, st.ByType[t])
	}
	_, err = fmt.Fprintf(s.out, "Rejected: %d\nOpen: %d\nFeedback success rate: %s\nAverage rounds: %s\n", st.Rejected, st.Open, st.Success(), st.Average())
	return failedIf(err)
}
