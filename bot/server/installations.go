package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/bot/github/ratelimit/sqllimit"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// installations are the App's installations, each with a client for its token and its rate limit.
type installations struct {
	app      *github.App
	login    string // of the App's bot
	process  string // name of this process
	store    *queue.Store
	settings Settings
	metrics  *metrics
	log      *slog.Logger

	mu      sync.Mutex
	clients map[int64]*github.Client
	asked   []int64 // installations of clients, the most recently used one last
}

// maxClients bounds the installations whose tokens and answers of GitHub are kept. For another one
// GitHub is asked anew; the state of the rate limiter is in the database.
const maxClients = 32

// client returns the client of an installation. A process has one for each, and all processes share
// the limits.
func (f *installations) client(installation int64) (*github.Client, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.clients[installation]; h != nil {
		f.asked = append(slices.DeleteFunc(f.asked, func(id int64) bool { return id == installation }), installation)
		return h, nil
	}
	h, err := f.app.Installation(installation, github.Options{
		Login: f.login, Former: []string{github.ActionsBot}, Log: f.log.With("installation", installation), ContentInterval: f.settings.Interval,
		MaxWait: 10 * time.Second, IssueCap: 100, CacheBytes: f.settings.Cache << 20, Observe: f.metrics.answered(installation),
		Budget: sharedLimits(f.store, fmt.Sprintf("installation %d", installation)), Holder: holder(f.store, f.process), Rates: f.settings.Limits,
	})
	if err != nil {
		return nil, err
	}
	if f.clients == nil {
		f.clients = map[int64]*github.Client{}
	}
	f.clients[installation] = h
	if f.asked = append(f.asked, installation); len(f.asked) > maxClients {
		delete(f.clients, f.asked[0])
		f.asked = f.asked[1:]
	}
	return h, nil
}

// forget drops the client of an installation, whose tokens are no longer valid.
func (f *installations) forget(installation int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clients, installation)
	f.asked = slices.DeleteFunc(f.asked, func(id int64) bool { return id == installation })
}

// writable returns an error that says when to come back while the rate limit lets no write through
// for longer than a moment. A delivery that waits is handled with all that came meanwhile, and only
// the newest state is posted.
func (f *installations) writable(ctx context.Context, installation int64) error {
	if installation <= 0 {
		return nil
	}
	h, err := f.client(installation)
	if err != nil {
		return err
	}
	return h.CheckWriteBudget(ctx)
}

// sharedLimits returns the state of the rate limiter that all processes of the App share under a
// name.
func sharedLimits(s *queue.Store, name string) ratelimit.Store {
	return sqllimit.Store{DB: s.Database(), Name: name}
}

// holder names this process among those that share a rate limiter. A process that has an SQLite
// file has it alone, and keeps its name over restarts.
func holder(s *queue.Store, process string) string {
	if s.Database().Kind == database.SQLite {
		return ratelimit.Alone
	}
	return process
}
