package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/server/credentials"
	"github.com/switchback-ci/switchback/bot/server/setup"
)

func setupCommand(s streams, getenv func(string) string) *cobra.Command {
	o := setup.Options{}
	var listen string
	c := &cobra.Command{
		Use:   "setup",
		Short: "Create the GitHub App and keep its credentials",
		Long: `Serve a page on this machine that says what the App may do and why, and creates
it on GitHub. What the App is known by (its id, private key and webhook secret) is kept
in the data directory, in app.json, and shown nowhere.

Stopped before the App is there, it goes on where it was when it is started again
within the hour.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Log = slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			return runSetup(c.Context(), s, o, listen)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "data", credentials.DataDir(getenv), "the data directory ("+credentials.EnvData+")")
	f.StringVar(&listen, "listen", "127.0.0.1:8765", "where the page is served; it is not encrypted, leave it on this machine")
	f.StringVar(&o.GitHub, "github-url", getenv(credentials.EnvGitHubURL), "where people see GitHub, for GitHub Enterprise Server ("+credentials.EnvGitHubURL+")")
	f.StringVar(&o.Wish.Org, "org", "", "the organisation that is to own the App; without it you do")
	f.StringVar(&o.Wish.Name, "name", "", "the App's name")
	f.StringVar(&o.Wish.Server, "url", "", "where GitHub can reach the server, as https://switchback.example.com")
	f.BoolVar(&o.Wish.Dispatch, "repository-dispatch", false, "ask for the permission to write contents: to hand over by repository_dispatch, and to drive ports and prompts")
	f.BoolVar(&o.Force, "force", false, "put the new App in the place of one that is kept already; the old one's file is kept beside it")
	return c
}

// lastPage is how long the browser has to ask for the last page.
const lastPage = 10 * time.Second

func runSetup(ctx context.Context, s streams, o setup.Options, listen string) error {
	srv, err := setup.New(o)
	var exists *credentials.ExistsError
	if errors.As(err, &exists) {
		fmt.Fprintf(s.err, "to run it:     %s\nto install it: %s\n", setup.Serve(o.Dir), setup.Install(exists.App))
	}
	if err != nil {
		return failed(err)
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return failed(fmt.Errorf("%w; choose another address with --listen", err))
	}
	h := &http.Server{Handler: srv, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute}
	stopped := make(chan error, 1)
	go func() { stopped <- h.Serve(l) }()
	defer h.Close()
	fmt.Fprintf(s.out, "Open this page in a browser that is signed in to GitHub:\n\n  http://%s%s\n\n", opensAt(l.Addr()), srv.Path())
	select {
	case <-srv.Done():
	case err := <-stopped:
		return failed(err)
	case <-ctx.Done():
		// GitHub may be telling of the App just now, and does so once.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		_ = h.Shutdown(end)
		cancel()
	}
	select {
	case <-srv.Done():
	default:
		return failed(errors.New("stopped before the App was created; `switchback setup` goes on within the hour"))
	}
	select {
	case <-srv.Seen():
	case <-ctx.Done():
	case <-time.After(lastPage):
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = h.Shutdown(end) // what is not sent by then was not waited for
	app, path := srv.App()
	fmt.Fprintf(s.out, "The App %s (%d) is created; its credentials are kept in %s.\n\n  to run it:     %s\n  to install it: %s\n", app.Name, app.ID, path, setup.Serve(o.Dir), setup.Install(app))
	return nil
}

// opensAt is the address at which what listens on a can be opened.
func opensAt(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return net.JoinHostPort(reachable(host), port)
}
