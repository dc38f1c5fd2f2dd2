package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/endpoint"
)

func healthcheckCommand(s streams, getenv func(string) string) *cobra.Command {
	var listen, path string
	c := &cobra.Command{
		Use:   "healthcheck",
		Short: "Check whether the server on this machine is healthy",
		Long: `Check whether the server on this machine is healthy: exit code 0 if it is, 1 if it is not or does
not answer. Images without a shell use it as their health check.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			at, err := health(c.Context(), listen, path)
			if err != nil {
				return failed(err)
			}
			fmt.Fprintf(s.out, "%s is healthy\n", at)
			return nil
		},
	}
	c.Flags().StringVar(&listen, "listen", cmp.Or(getenv("SWITCHBACK_LISTEN"), ":8080"), "the address or unix:PATH that the server listens on (SWITCHBACK_LISTEN)")
	c.Flags().StringVar(&path, "path", "/readyz", "the path to request: /readyz (it accepts webhooks) or /healthz (the process is up)")
	return c
}

// patience is how long a healthy server takes to answer at most.
const patience = 5 * time.Second

// health sends a request to a server at the address that it listens on, and returns the URL.
func health(ctx context.Context, listen, path string) (at string, err error) {
	a, err := endpoint.Parse(listen)
	if err != nil {
		return "", fmt.Errorf("--listen: %w", err)
	}
	at, to := "http://"+net.JoinHostPort(reachable(a.Host()), a.Port())+path, &http.Transport{DisableKeepAlives: true} // no proxy stands in front of this machine
	if a.Unix() {
		at, to.DialContext = "http://localhost"+path, a.Dial
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return at, err
	}
	res, err := to.RoundTrip(req)
	if err != nil {
		return at, fmt.Errorf("%s does not answer: %w; is `switchback serve` running, and does it --listen there?", at, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return at, fmt.Errorf("%s answers %s", at, res.Status)
	}
	return at, nil
}

// reachable is the host at which a server that listens on host is reached from the same machine.
func reachable(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "localhost"
	}
	return host
}
