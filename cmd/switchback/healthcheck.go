package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func healthcheckCommand(s streams, getenv func(string) string) *cobra.Command {
	var listen, path string
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask the server on this machine how it is",
		Long: `Ask the server on this machine how it is: exit code 0 if it says that it is well, 1 if
it does not or does not answer. A container without a shell has nothing else to ask with.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := health(c.Context(), listen, path)
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(s.out, "%s is well\n", at)
			return nil
		},
	}
	c.Flags().StringVar(&listen, "listen", cmp.Or(getenv("SWITCHBACK_LISTEN"), ":8080"), "the address that the server listens on (SWITCHBACK_LISTEN)")
	c.Flags().StringVar(&path, "path", "/readyz", "what to ask: /readyz for whether it takes webhooks, /healthz for whether it lives")
	return c
}

// patience is how long a healthy server takes to answer at most.
const patience = 5 * time.Second

// health asks a server at the address it listens on and returns what was asked.
func health(ctx context.Context, listen, path string) (at string, err error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("--listen: %w; give it as :8080", err)
	}
	at = "http://" + net.JoinHostPort(reachable(host), port) + path
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return at, err
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req) // no proxy stands in front of this machine
	if err != nil {
		return at, fmt.Errorf("%s does not answer: %w", at, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return at, fmt.Errorf("%s answers %s", at, res.Status)
	}
	return at, nil
}

// reachable is where who listens on host can be reached from the same machine.
func reachable(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}
