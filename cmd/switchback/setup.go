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
		Short: "Create the GitHub App, and save its credentials",
		Long: `Serve a page on this machine that lists the permissions of the App with their reasons, and creates
the App on GitHub. Its credentials (id, private key and webhook secret) are saved as app.json in the
data directory, and shown nowhere.

If the command stops before the App exists, it resumes when it is started again within an hour.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Log = slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
			return runSetup(c.Context(), s, o, listen)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "data", credentials.DataDir(getenv), "the data directory ("+credentials.EnvData+")")
	f.StringVar(&listen, "listen", "127.0.0.1:8765", "the address to serve the page on; use this machine only, as the page is not encrypted")
	f.StringVar(&o.GitHub, "github-url", getenv(credentials.EnvGitHubURL), "the URL of GitHub Enterprise Server ("+credentials.EnvGitHubURL+")")
	f.StringVar(&o.Wish.Org, "org", "", "the organization that owns the App; default: your account")
	f.StringVar(&o.Wish.Name, "name", "", "the name of the App")
	f.StringVar(&o.Wish.Server, "url", "", "the URL at which GitHub reaches the server, such as https://switchback.example.com")
	f.BoolVar(&o.Wish.Dispatch, "repository-dispatch", false, "request contents: write, which hand-offs by repository_dispatch, plans and surveys need")
	f.BoolVar(&o.Force, "force", false, "replace an App whose credentials are saved already; its file is kept as a backup")
	return c
}

// lastPage is how long the browser has to request the last page.
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
		// GitHub may be sending the credentials right now, and sends them once.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		_ = h.Shutdown(end)
		cancel()
	}
	select {
	case <-srv.Done():
	default:
		return failed(errors.New("stopped before the App was created; run `switchback setup` again within an hour to resume"))
	}
	select {
	case <-srv.Seen():
	case <-ctx.Done():
	case <-time.After(lastPage):
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = h.Shutdown(end) // nobody waits for what is not sent by then
	app, path := srv.App()
	fmt.Fprintf(s.out, "The App %s (%d) is created; its credentials are saved in %s.\n\n  to run it:     %s\n  to install it: %s\n", app.Name, app.ID, path, setup.Serve(o.Dir), setup.Install(app))
	return nil
}

// opensAt is the address at which a server that listens on a can be opened in a browser.
func opensAt(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return net.JoinHostPort(reachable(host), port)
}
