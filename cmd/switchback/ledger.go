package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/export"
	"github.com/switchback-ci/switchback/bot/ledger"
)

func ledgerCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Export, copy or verify a ledger",
		RunE: func(*cobra.Command, []string) error {
			return usage("the subcommand is missing; name export, copy or verify")
		},
	}
	c.AddCommand(exportCommand(s), copyCommand(s), verifyCommand(s))
	return c
}

func exportCommand(s streams) *cobra.Command {
	var path, sqlite string
	c := &cobra.Command{
		Use:   "export --sqlite FILE [--ledger PATH]",
		Short: "Export a ledger as tables of an SQLite database",
		Long: `Write a ledger into the tables of an SQLite database: audit_logs, user_feedback, escalations,
direct_channels, direct_messages, routing_history, answers, feedback_requests, tests, inventories,
unpassed_tests and quarantine. All tables are written or none, and exporting the same ledger again
changes nothing.

The ledger of a repository is its branch switchback-ledger:

  git fetch origin switchback-ledger
  git worktree add ../ledger origin/switchback-ledger
  switchback ledger export --ledger ../ledger --sqlite ledger.db`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if sqlite == "" {
				return usage("--sqlite is missing; name the database file to write")
			}
			led, err := openExisting(c.Context(), path)
			if err != nil {
				return err
			}
			counts, err := export.Export(c.Context(), led, sqlite)
			if err != nil {
				return failed(err)
			}
			for _, n := range counts {
				fmt.Fprintf(s.out, "%-16s %6d rows, %d new or changed\n", n.Table, n.Rows, n.Changed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&path, "ledger", ".switchback/ledger", ledgerHelp)
	c.Flags().StringVar(&sqlite, "sqlite", "", "the database file to write (required)")
	return c
}

func copyCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy a ledger into another, such as the App's database",
		Long: `Add the events of the ledger FROM to the ledger TO, and compare what was written. Each ledger is a
directory, a file ending in .jsonl, sqlite:FILE, or postgres://…

Copying again adds nothing, so an interrupted copy can be started again. A case whose events differ
in TO is an error and is left unchanged. A case that has more events in TO, or exists only there, is
kept. The inventories of large runs, which are beside the events, are copied as well.

The ledger of a repository is its branch switchback-ledger:

  git fetch origin switchback-ledger
  git worktree add ../ledger origin/switchback-ledger
  switchback ledger copy ../ledger sqlite:data/switchback.db`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			from, err := openExisting(c.Context(), args[0])
			if err != nil {
				return err
			}
			to, err := openLedger(c.Context(), args[1])
			if err != nil {
				return err
			}
			p := showProgress(s, "copy", func(n int64) string { return fmt.Sprintf("%d events", n) })
			n, err := ledger.Copy(c.Context(), from, to, func(n ledger.Copied) { p.count.Store(int64(n.Events)) })
			p.done()
			if err != nil {
				return failed(err)
			}
			if n.Streams == 0 {
				return failed(fmt.Errorf("%s has no case; name the directory that has the directory cases in it", named(args[0])))
			}
			fmt.Fprintf(s.out, "%d streams of %d events, %d of them new\n", n.Streams, n.Events, n.Added)
			return nil
		},
	}
}

func verifyCommand(s streams) *cobra.Command {
	var since string
	c := &cobra.Command{
		Use:   "verify LEDGER [--since EARLIER]",
		Short: "Check that nobody changed or removed events of a ledger",
		Long: `Read all streams of a ledger. Each event names the hash of the one before it, so an event that was
changed, inserted or removed is found by the one after it. Exits with 1 if a stream is damaged.

Events that were removed from the end of a stream, and streams that were removed, leave no gap. They
are found by an earlier copy of the ledger: --since names one, such as an older commit of the branch
or a backup of the database.

  git fetch origin switchback-ledger
  git worktree add ../ledger origin/switchback-ledger
  git worktree add ../earlier COMMIT
  switchback ledger verify ../ledger --since ../earlier`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			led, err := openExisting(c.Context(), args[0])
			if err != nil {
				return err
			}
			var earlier ledger.Ledger
			if since != "" {
				if earlier, err = openExisting(c.Context(), since); err != nil {
					return err
				}
			}
			v, err := ledger.Verify(c.Context(), led, earlier)
			if err != nil {
				return failed(err)
			}
			for _, p := range v.Problems {
				fmt.Fprintln(s.out, p)
			}
			if len(v.Problems) > 0 {
				return failed(fmt.Errorf("%d streams of %s are damaged; nothing is decided by them until they are restored", len(v.Problems), named(args[0])))
			}
			fmt.Fprintf(s.out, "%d streams of %d events, each follows from the one before it\n", v.Streams, v.Events)
			return nil
		},
	}
	c.Flags().StringVar(&since, "since", "", "an earlier copy of the ledger, whose events must all be there")
	return c
}
