package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/notify"
	"github.com/switchback-ci/switchback/routing/suggest"
)

func notifyCommand(s streams, getenv func(string) string) *cobra.Command {
	var to string
	c := &cobra.Command{
		Use:   "notify FILE [--send NAME]",
		Short: "Check the file of endpoints that the App notifies, and send a test message",
		Long: `Check the file that ` + "`switchback serve --notify`" + ` reads: the chats and services that are told of
escalations, incidents and tests in quarantine, with their addresses in the environment. --send
sends one of them a test message.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			list, err := notify.Read(args[0], getenv)
			if err != nil {
				return failed(err)
			}
			var names []string
			for _, e := range list {
				names = append(names, e.Name)
			}
			if to == "" {
				fmt.Fprintf(s.out, "%d endpoints: %s\n", len(names), strings.Join(names, ", "))
				return nil
			}
			i := slices.Index(names, to)
			if i < 0 {
				return usage("--send: there is no endpoint %q; %s", to, suggest.Hint(to, names))
			}
			m := notify.Message{ID: fmt.Sprintf("test-%d", time.Now().Unix()), Topic: notify.Escalation, Repository: "acme/shop", Subject: "#12", Checkpoint: "test",
				Reason: "this is a test message of Switchback", At: time.Now().UTC()}
			if err := notify.NewSender().Send(c.Context(), list[i], m); err != nil {
				return failed(err)
			}
			fmt.Fprintf(s.out, "%s was told\n", to)
			return nil
		},
	}
	c.Flags().StringVar(&to, "send", "", "the name of the endpoint that gets a test message")
	return c
}
