package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// portFeedback prints what a turn of a port failed with, in full: a workflow is
// dispatched with as much of it as GitHub takes.
func portFeedback(s streams, getenv func(string) string) *cobra.Command {
	var at portPlace
	turn := 0
	c := &cobra.Command{
		Use: "feedback ID", Short: "Print what a port's last test said, as JSON",
		Long: "Print what the last test of a port said, as JSON, in full: the inputs of a workflow\n" +
			"that is dispatched hold it cut where it is too long.\n\n" +
			"Exit codes: 0 printed, 1 there is none, or it could not be read, 2 wrong usage.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			at.port = args[0]
			if turn < 0 {
				return usage("--turn is %d; turns are counted from 1", turn)
			}
			d, err := at.desk(c.Context(), getenv)
			if err != nil {
				return err
			}
			f, err := d.Feedback(c.Context(), turn)
			if err != nil {
				return failed(err)
			}
			if f == nil {
				return failed(fmt.Errorf("port %q of plan %q has no feedback%s; see port show, --plan, --repo and --ledger", at.port, at.plan, ofTurn(turn)))
			}
			return printJSON(s, f)
		},
	}
	at.flags(c)
	c.Flags().IntVar(&turn, "turn", 0, "of the newest pair, counted from 1; default: the last one that failed")
	return c
}

func ofTurn(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" of turn %d", n)
}
