package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/server"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

func deliveriesCommand(s streams, getenv func(string) string) *cobra.Command {
	var state, output string
	var limit int
	c := &cobra.Command{
		Use:   "deliveries",
		Short: "List the webhook deliveries that the App keeps, and why they failed",
		Long: `List the webhook deliveries that the App keeps, the latest change first. A dead letter is not
tried again until somebody retries it:

  switchback deliveries --state ` + string(queue.DeadLetter) + `
  switchback deliveries retry ID`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf("-o", output, "text", "json"); err != nil {
				return err
			}
			if !slices.Contains(deliveryStates, queue.State(state)) {
				return usage("--state is %q; it must be one of %s", state, listed(deliveryStates))
			}
			return withStore(c, getenv, func(d *queue.Store) error {
				list, err := d.Deliveries.List(c.Context(), queue.State(state), limit)
				if err != nil {
					return err
				}
				if output == "json" {
					return json.NewEncoder(s.out).Encode(list)
				}
				w := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
				for _, x := range list {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s %s\t%d attempts\t%s\n", x.ReceivedAt.Format(time.RFC3339), x.ID, x.State, x.Event, x.Action, x.Attempts, onLine(x.Error))
				}
				return w.Flush()
			})
		},
	}
	c.PersistentFlags().String("data", "", "the data directory (SWITCHBACK_DATA)")
	c.PersistentFlags().String("database-url", "", "the URL of a PostgreSQL database (SWITCHBACK_DATABASE_URL)")
	c.Flags().StringVar(&state, "state", string(queue.DeadLetter), "list deliveries in this state: "+listed(deliveryStates))
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	c.Flags().IntVar(&limit, "limit", 50, "list at most this many")
	c.AddCommand(&cobra.Command{
		Use:   "retry ID…",
		Short: "Retry dead letters",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return withStore(c, getenv, func(d *queue.Store) error {
				for _, id := range ids {
					if err := d.Deliveries.Again(c.Context(), id); err != nil {
						return err
					}
				}
				return nil
			})
		},
	})
	return c
}

var deliveryStates = []queue.State{queue.Received, queue.Working, queue.Waiting, queue.Failed, queue.Done, queue.Gone, queue.DeadLetter}

// onLine quotes an error, so that it stays on one line whatever was sent.
func onLine(s string) string {
	if s == "" {
		return ""
	}
	return fmt.Sprintf("%q", s)
}

func withStore(c *cobra.Command, getenv func(string) string, do func(*queue.Store) error) error {
	d, err := server.OpenStore(c.Context(), given(c.Flags()), getenv)
	if errors.Is(err, fs.ErrNotExist) {
		return failed(fmt.Errorf("%w; name the data directory of the server with --data, or its database with --database-url", err))
	}
	if err != nil {
		return failed(err)
	}
	err = do(d)
	if closed := d.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return failed(err)
	}
	return nil
}
