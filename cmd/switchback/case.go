package main

import (
	"encoding/json"
	"fmt"
	"os/user"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/pipeline"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
)

func showCommand(s streams) *cobra.Command {
	var path, output string
	c := &cobra.Command{
		Use:   "show [--ledger PATH] [CASE]",
		Short: "Show a case's history, or list the cases of a ledger",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output != "text" && output != "json" {
				return usage("-o is %q; it must be text or json", output)
			}
			led, err := openExisting(c.Context(), path)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				keys, err := led.Keys(c.Context())
				if err != nil {
					return failed(err)
				}
				for _, k := range keys {
					if !routing.IsRegister(k) {
						fmt.Fprintln(s.out, k)
					}
				}
				return nil
			}
			events, _, err := led.Load(c.Context(), args[0])
			if err != nil {
				return failed(err)
			}
			if len(events) == 0 {
				return failed(fmt.Errorf("no case %q in %s; `switchback show --ledger %s` lists those there are", args[0], named(path), named(path)))
			}
			cs, err := routing.Fold(args[0], events)
			if err != nil {
				return failed(err)
			}
			if output == "json" {
				return printCase(s, cs)
			}
			fmt.Fprint(s.out, render.Details(cs, render.Options{Redact: diagnosis.Redact}))
			return nil
		},
	}
	c.Flags().StringVar(&path, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

func printCase(s streams, c routing.Case) error {
	type one struct {
		routing.Checkpoint
		Metrics routing.Metrics `json:"metrics"`
		Next    routing.Action  `json:"next"`
	}
	out := struct {
		Key         string           `json:"case"`
		Complete    bool             `json:"complete"`
		Checkpoints map[string]one   `json:"checkpoints"`
		Pending     []routing.Effect `json:"pending,omitempty"`
	}{c.Key, c.Complete, map[string]one{}, c.Pending}
	for _, n := range c.Names() {
		out.Checkpoints[n] = one{c.Checkpoints[n], c.Metrics(n), routing.Assess(c.Checkpoints[n], routing.DefaultPolicy())}
	}
	enc := json.NewEncoder(s.out)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return failed(err)
	}
	return nil
}

var humanActions = map[string]struct {
	action routing.HumanAction
	help   string
}{
	"resume":  {routing.HumanResume, "go on; an escalation is resolved, and a run that came meanwhile is decided"},
	"reset":   {routing.HumanReset, "begin again with a count of zero; what failed last is returned for a fix"},
	"extend":  {routing.HumanExtend, "grant further turns (--turns), and return for a fix what failed last"},
	"pause":   {routing.HumanPause, "stop until resumed"},
	"skip":    {routing.HumanSkip, "do without this checkpoint"},
	"handoff": {routing.HumanHandoff, "hand over the rework that waits (mode: manual)"},

	"phase":      {routing.HumanPhase, "send back to research, plan or implement (--phase)"},
	"quarantine": {routing.HumanQuarantine, "a test is flaky (--test): its failures no longer count"},
	"wont-fix":   {routing.HumanWontFix, "leave it as it is; an escalation is answered"},
	"wrong":      {routing.HumanWrong, "the class was wrong, it is another (--class)"},
}

func caseCommand(s streams) *cobra.Command {
	var path, key, checkpoint, cfg, by, phase, test, class string
	var turns int
	names := make([]string, 0, len(humanActions))
	for n := range humanActions {
		names = append(names, n)
	}
	sort.Strings(names)
	var long strings.Builder
	long.WriteString("Record what a human decided about a case in a ledger on disk:\n\n")
	for _, n := range names {
		fmt.Fprintf(&long, "  %-10s %s\n", n, humanActions[n].help)
	}
	c := &cobra.Command{
		Use:   "case ACTION --case KEY [flags]",
		Short: "Record what a human decided about a case",
		Long:  long.String(),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name one action: %s", strings.Join(names, ", "))
			}
			a, ok := humanActions[args[0]]
			if !ok {
				return usage("unknown action %q; known are %s", args[0], strings.Join(names, ", "))
			}
			if key == "" {
				return usage("--case is missing")
			}
			if a.action == routing.HumanExtend && (turns < 1 || turns > routing.HardCap) {
				return usage("--turns is %d; it must be 1 to %d", turns, routing.HardCap)
			}
			f, err := readConfig(cfg)
			if err != nil {
				return err
			}
			led, err := openExisting(c.Context(), path)
			if err != nil {
				return err
			}
			line := &pipeline.Line{Ledger: led}
			e := routing.HumanActed{
				Checkpoint: checkpoint, Action: a.action, By: by,
				Phase: routing.Phase(phase), Test: test, Class: routing.Class(strings.ToUpper(class)),
			}
			if a.action == routing.HumanExtend {
				e.N = turns
			}
			rec, err := line.Act(c.Context(), key, e, policies(f, key))
			if err != nil {
				return failed(err)
			}
			fmt.Fprint(s.out, render.Details(rec.Case, render.Options{Redact: diagnosis.Redact}))
			return nil
		},
	}
	fl := c.Flags()
	fl.StringVar(&path, "ledger", ".switchback/ledger", ledgerHelp)
	fl.StringVar(&key, "case", "", "the case (required)")
	fl.StringVar(&checkpoint, "checkpoint", "ci", "the checkpoint of the case")
	fl.StringVar(&cfg, "config", "", "configuration file")
	fl.StringVar(&by, "by", username(), "who decided")
	fl.IntVar(&turns, "turns", 1, "turns granted by extend")
	fl.StringVar(&phase, "phase", "", "of phase: research, plan or implement")
	fl.StringVar(&test, "test", "", "of quarantine: the test's name")
	fl.StringVar(&class, "class", "", "of wrong: the right class")
	return c
}

func username() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "unknown"
}
