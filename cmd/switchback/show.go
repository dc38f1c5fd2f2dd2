package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

func showCommand(s streams) *cobra.Command {
	var path, output string
	c := &cobra.Command{
		Use:   "show [--ledger PATH] [CASE]",
		Short: "Print the history of a case, or list the cases of a ledger",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf("-o", output, "text", "json"); err != nil {
				return err
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
					if !routing.IsRepositoryStream(k) {
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
				return failed(noCase(args[0], path))
			}
			cs, err := routing.Fold(args[0], events)
			if err != nil {
				return failed(err)
			}
			if output == "json" {
				return printCase(s, cs)
			}
			fmt.Fprint(s.out, render.Details(cs, render.Options{Redact: redact.Text}))
			return nil
		},
	}
	c.Flags().StringVar(&path, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

// noCase is the error of a case that a ledger does not have.
func noCase(key, path string) error {
	return fmt.Errorf("there is no case %q in %s; `switchback show --ledger %s` lists its cases", key, named(path), named(path))
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
	return failedIf(enc.Encode(out))
}
