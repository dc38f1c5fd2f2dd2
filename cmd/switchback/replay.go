package main

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/replays"
	"github.com/switchback-ci/switchback/routing/redact"
	"github.com/switchback-ci/switchback/routing/replay"
)

// differs is the exit code of a replay that found a difference, with --exit-code.
const differs = 4

// againstRecorded compares with the decisions that were recorded.
const againstRecorded = "recorded"

type replayFlags struct {
	config, against, ledger, output string
	code                            bool
}

func replayCommand(s streams) *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay --config NEW [--against recorded|OLD] [--ledger PATH]",
		Short: "Decide recorded runs again under another configuration",
		Long: `Decide all recorded runs again under the configuration NEW, and print which runs would have been
routed differently than they were, or than under the configuration OLD. Nothing is written.
docs/replay.md says how runs are decided again, and what a replay cannot show.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runReplay(c.Context(), s, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.config, "config", "", "the configuration file to decide by (required)")
	fl.StringVar(&f.against, "against", againstRecorded, "what to compare with: recorded, or a configuration file")
	fl.StringVar(&f.ledger, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVarP(&f.output, "output", "o", "text", "text, json or markdown")
	fl.BoolVar(&f.code, "exit-code", false, fmt.Sprintf("exit with %d if anything differs", differs))
	return c
}

// replayed is what `replay -o json` prints.
type replayed struct {
	Config  string `json:"config"`
	Against string `json:"against"`
	replays.Report
	Differences []replay.Difference `json:"differences"`
	Left        []replay.Left       `json:"left_out"`
}

func runReplay(ctx context.Context, s streams, f replayFlags) error {
	if f.config == "" {
		return usage("--config is missing; name the configuration file to decide by")
	}
	if err := oneOf("-o", f.output, "text", "json", "markdown"); err != nil {
		return err
	}
	q := replays.Question{}
	var err error
	if q.New, err = loadConfig(f.config); err != nil {
		return err
	}
	if f.against != againstRecorded {
		old, err := loadConfig(f.against)
		if err != nil {
			return err
		}
		q.Old = &old
	}
	led, err := openExisting(ctx, f.ledger)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(statsMemory)
	out := replayed{Config: f.config, Against: f.against, Differences: []replay.Difference{}, Left: []replay.Left{}}
	out.Report, err = replays.Ask(ctx, led, q, func(_ string, r replay.Result) error {
		if f.output == "text" {
			return printResult(s.out, r)
		}
		out.Differences, out.Left = append(out.Differences, r.Differences...), append(out.Left, r.Left...)
		return nil
	})
	if err != nil {
		return failed(err)
	}
	if err := out.print(s, f.output, q.New); err != nil {
		return err
	}
	if f.code && out.Sum.Differing > 0 {
		return &exitError{code: differs}
	}
	return nil
}

// printResult prints what differs in one case.
func printResult(w io.Writer, r replay.Result) error {
	for _, d := range r.Differences {
		if _, err := io.WriteString(w, render.ReplayRun(d)); err != nil {
			return err
		}
	}
	for _, l := range r.Left {
		if _, err := fmt.Fprintf(w, "%s  left out: %s by %s: %s\n", plain(l.Case+"/"+l.Checkpoint), l.Action, plain(l.By), plain(l.Why)); err != nil {
			return err
		}
	}
	return nil
}

func (r replayed) print(s streams, format string, f config.File) error {
	if format == "json" {
		return printJSON(s, r)
	}
	shown := render.Replay{File: r.Config, Recorded: r.Against == againstRecorded, All: r.Recorded, Sum: r.Sum, Differences: r.Differences}
	for _, i := range r.Ignored {
		shown.Ignored = append(shown.Ignored, [2]string{i.Key, i.Why})
	}
	text := render.ReplaySum(shown)
	if format == "markdown" {
		text = string(render.ReplayComment(shown, render.Options{Language: render.Language(f.Language), Redact: redact.Text}))
	} else if r.Sum.Differing+r.Sum.Left > 0 {
		text = "\n" + text
	}
	_, err := io.WriteString(s.out, text)
	return failedIf(err)
}
