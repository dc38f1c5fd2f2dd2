package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/tables"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Take a ledger elsewhere",
		RunE: func(*cobra.Command, []string) error {
			return usage("name what to do with the ledger: export")
		},
	}
	c.AddCommand(exportCommand(s))
	return c
}

func exportCommand(s streams) *cobra.Command {
	var path, sqlite string
	c := &cobra.Command{
		Use:   "export --sqlite FILE [--ledger PATH]",
		Short: "Write a ledger as tables of an SQLite database",
		Long: `Write the tables audit_logs, user_feedback, escalations, direct_channels,
direct_messages, routing_history, answers and feedback_edges of an SQLite database. All
is written or nothing, and writing the same ledger again changes nothing.

The ledger of a repository is its branch switchback-ledger:

  git fetch origin switchback-ledger
  git worktree add ../ledger origin/switchback-ledger
  switchback ledger export --ledger ../ledger/cases --sqlite ledger.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if sqlite == "" {
				return usage("--sqlite is missing; it names the database to write")
			}
			led, err := openExisting(path)
			if err != nil {
				return err
			}
			counts, err := tables.Export(c.Context(), led, sqlite)
			if err != nil {
				return failed(err)
			}
			for _, n := range counts {
				fmt.Fprintf(s.out, "%-16s %6d rows, %d new or changed\n", n.Table, n.Rows, n.Changed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&path, "ledger", ".switchback/ledger", "the ledger: a directory, or a file ending in .jsonl")
	c.Flags().StringVar(&sqlite, "sqlite", "", "the database to write (required)")
	return c
}
