package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manCommand writes the manual pages of all commands. It is hidden: packages hold its output.
func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands to a folder",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return failed(err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true // it says the day, and a release has the same bytes on every day
			h := &doc.GenManHeader{Section: "1", Source: "Switchback " + versionString(), Manual: "Switchback"}
			if err := doc.GenManTree(root, h, args[0]); err != nil {
				return failed(err)
			}
			return nil
		},
	}
}
