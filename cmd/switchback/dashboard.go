package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/endpoint"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/mcp"
	"github.com/switchback-ci/switchback/bot/plans/planpages"
	"github.com/switchback-ci/switchback/bot/testhistory/testpages"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/bot/web/sse"
)

func dashboardCommand(s streams) *cobra.Command {
	var where, listen string
	c := &cobra.Command{
		Use:   "dashboard --ledger DIR",
		Short: "Serve the dashboard of a ledger on this machine, without sign-in",
		Long: `Serve the cases, plans, failures and rules of a ledger as pages that update while it changes.
Only this machine can open them. Every user of this machine can, unless --listen is unix:PATH: a
socket of mode 0600. ` + "`switchback serve`" + ` serves the same pages to everyone who signs in with GitHub.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return dashboard(c.Context(), s, where, listen)
		},
	}
	c.Flags().StringVar(&where, "ledger", "", ledgerHelp+" (required)")
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8766", "the loopback address to listen on, or unix:PATH for a Unix socket of mode 0600")
	_ = c.MarkFlagRequired("ledger")
	return c
}

func dashboard(ctx context.Context, s streams, where, listen string) (err error) {
	at, err := endpoint.Parse(listen)
	if err != nil || !at.Local() {
		return usage("--listen is %q; it must be a loopback address, such as 127.0.0.1:8766, or a Unix socket, such as unix:/run/user/1000/switchback.sock", listen)
	}
	w, err := openEvents(ctx, s, where)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.done()) }()
	defer w.follow(ctx, followEvery)()
	log := slog.New(slog.NewTextHandler(s.err, nil))
	broadcaster := eventstream.NewBroadcaster(w.events.Log, sse.Frame)
	telling, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); broadcaster.Run(telling, log) }()
	defer func() { stop(); <-ended }()
	plans, err := planpages.Section(w.events, nil)
	if err != nil {
		return failed(err)
	}
	tools := w.tools(log)
	tests, err := testpages.Section(tools.Tests, w.events, nil, nil)
	if err != nil {
		return failed(err)
	}
	pages, err := web.New(web.Options{
		Agents: mcp.Handler(tools, func(*http.Request) []string { return nil }),
		Store:  w.events, Gate: web.Local{}, GitHub: "https://github.com", Log: log, Sections: []web.Section{plans, tests},
		Events: &sse.Handler{Events: broadcaster, See: func(*http.Request) (sse.View, error) { return sse.All, nil }, Log: log},
		Stream: w.stream,
	})
	if err != nil {
		return failed(err)
	}
	l, err := at.Listen()
	if err != nil {
		return failed(err)
	}
	if at.Unix() {
		fmt.Fprintf(s.out, "Listening on %s; open it, for example, with ssh -L 8766:%s and http://127.0.0.1:8766\n", at, l.Addr())
	} else {
		fmt.Fprintf(s.out, "Open http://%s\n", l.Addr())
	}
	web := &http.Server{Handler: pages, ReadHeaderTimeout: 5 * time.Second}
	go func() { <-ctx.Done(); _ = web.Close() }()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return failed(err)
	}
	return nil
}
