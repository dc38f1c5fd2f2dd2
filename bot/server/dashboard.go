package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/mcp"
	"github.com/switchback-ci/switchback/bot/plans/planpages"
	"github.com/switchback-ci/switchback/bot/server/credentials"
	"github.com/switchback-ci/switchback/bot/testhistory"
	"github.com/switchback-ci/switchback/bot/testhistory/testpages"
	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/bot/web/signin"
	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/routing"
)

// checkDashboard returns what is wrong with the settings of who may see the pages.
func (s Settings) checkDashboard() error {
	var errs []error
	if s.NoSignIn && !s.Listen.Local() {
		errs = append(errs, fmt.Errorf("--no-sign-in: %q is open to other machines, and they would see everything; listen on this machine alone, e.g. --listen 127.0.0.1:8080 or --listen unix:/run/switchback.sock", s.Listen.String()))
	}
	if s.Dashboard == "on" {
		if _, why := s.dashboard(); why != "" {
			errs = append(errs, fmt.Errorf("--dashboard on: %s", why))
		}
	}
	return errors.Join(errs...)
}

// dashboard reports whether pages are served, and why they are not unless that was asked for.
func (s Settings) dashboard() (on bool, why string) {
	if s.Dashboard == "off" || s.NoSignIn {
		return s.Dashboard != "off", ""
	}
	var missing []string
	if s.App.ClientID == "" {
		missing = append(missing, credentials.EnvClientID)
	}
	if s.App.ClientSecret == "" {
		missing = append(missing, credentials.EnvClientSecret)
	}
	if s.Public == "" {
		missing = append(missing, "SWITCHBACK_PUBLIC_URL")
	} else if _, err := signin.ParsePublic(s.Public); err != nil {
		return false, "--public-url: " + err.Error()
	}
	if len(missing) > 0 {
		return false, "nobody could sign in without " + strings.Join(missing, ", ")
	}
	return true, ""
}

// pages are the dashboard.
type pages struct {
	http.Handler
	gate *signin.Gate // nil if there is no sign-in
}

// pages returns the dashboard; nil if it is not served.
func (v *server) pages() (*pages, error) {
	on, why := v.settings.dashboard()
	if !on {
		if why != "" {
			v.log.Info("no dashboard", "because", why)
		}
		return nil, nil
	}
	p := &pages{}
	known := &names{store: v.store, log: v.log}
	var gate web.Gate = web.Local{}
	if !v.settings.NoSignIn {
		app := v.settings.App
		var err error
		p.gate, err = signin.New(signin.Options{DB: v.store.Database(), ClientID: app.ClientID, ClientSecret: app.ClientSecret.Reveal(), GitHub: app.WebURL(), API: app.APIURL(),
			Public: v.settings.Public, Repositories: known.of, Fresh: v.settings.Access, Proxies: v.settings.Proxies, Log: v.log})
		if err != nil {
			return nil, err
		}
		gate = p.gate
	}
	led := v.store.Ledger()
	plans, err := planpages.Section(v.live.events, known)
	if err != nil {
		return nil, err
	}
	histories := testhistory.NewCache(led, nil)
	tests, err := testpages.Section(histories, v.live.events, known, nil)
	if err != nil {
		return nil, err
	}
	events := &sse.Handler{Events: v.live.broadcaster, See: seenBy(gate, known), Again: min(v.settings.Access, time.Minute), Log: v.log,
		Who: func(r *http.Request) string { return web.ViewerOf(r).Login }}
	sections := []web.Section{plans, tests}
	if p.gate != nil {
		sections = append(sections, p.gate.Section())
	}
	stream := func(ctx context.Context, key string) ([]routing.Event, error) {
		events, _, err := led.Load(ctx, key)
		return events, err
	}
	tools := mcp.Options{Store: v.live.events, Stream: stream, Tests: histories, Names: known, Version: v.version, Log: v.log}
	p.Handler, err = web.New(web.Options{Store: v.live.events, Gate: gate, Names: known, Events: events, GitHub: v.settings.App.WebURL(), Log: v.log,
		Sections: sections, Stream: stream, Agents: mcp.Handler(tools, func(r *http.Request) []string { return web.ViewerOf(r).Repos })})
	return p, err
}

// seenBy applies the gate of the pages to the stream of events. It is asked again while a stream is
// open, so that a person who loses access gets no more events.
func seenBy(gate web.Gate, known *names) func(*http.Request) (sse.View, error) {
	return func(r *http.Request) (sse.View, error) {
		v, ok, err := gate.Viewer(r)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, errors.New("not signed in")
		}
		return func(kept string) (string, bool) {
			if !v.May(kept) {
				return "", false
			}
			return known.Now(kept), true
		}, nil
	}
}

// run does the background work of the pages until ctx ends; wait returns when it has ended. p may
// be nil.
func (p *pages) run(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	if p != nil && p.gate != nil {
		all.Go(func() { p.gate.Run(ctx) })
	}
	return all.Wait
}
