package main

import (
	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/action"
)

func actionCommand(s streams, getenv func(string) string) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as a step of a GitHub Actions job, as action.yml does",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			code := action.Run(c.Context(), action.Env{Getenv: getenv, Stdout: s.out, Stderr: s.err, Version: versionString()})
			if code != 0 {
				return &exitError{code: code}
			}
			return nil
		},
	}
}
