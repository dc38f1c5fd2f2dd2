package server

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/routing"
)

// notifier publishes the events of all ledgers while they happen.
type notifier struct {
	events      *eventstream.Store
	broadcaster *eventstream.Broadcaster
	contexts    *contexts
	kept        time.Duration // of an event
	log         *slog.Logger

	mu   sync.Mutex
	due  map[int64]bool // repositories with a push to the ledger's branch
	wake chan struct{}

	begun chan struct{} // closed when the App's login is known
}

func newNotifier(events *eventstream.Store, o *contexts, kept time.Duration, log *slog.Logger) *notifier {
	return &notifier{events: events, broadcaster: eventstream.NewBroadcaster(events.Log, sse.Frame), contexts: o, kept: kept, log: log, due: map[int64]bool{}, wake: make(chan struct{}, 1), begun: make(chan struct{})}
}

// run publishes until serving ends, and writes the tables until ctx ends. wait returns when both
// have ended.
func (l *notifier) run(ctx, serving context.Context) (wait func()) {
	var all sync.WaitGroup
	all.Go(func() { l.events.Tail.Run(ctx, l.log) })
	all.Go(func() { l.broadcaster.Run(serving, l.log) })
	all.Go(func() { l.listen(serving) })
	all.Go(func() { l.prune(serving) })
	return all.Wait
}

// prune deletes old events, every hour.
func (l *notifier) prune(ctx context.Context) {
	for {
		if err := l.events.Log.Prune(ctx, time.Now().Add(-l.kept)); err != nil && ctx.Err() == nil {
			l.log.Warn("old events could not be deleted", "err", err)
		}
		if sleep.For(ctx, time.Hour) != nil {
			return
		}
	}
}

// pushed notes that a workflow wrote to the ledger's branch of a repository, in memory alone: the
// next reconcile reads the branch as well.
func (l *notifier) pushed(repository int64) {
	l.mu.Lock()
	l.due[repository] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// breath is the time between two reads of branches: a running plan pushes many times.
const breath = 2 * time.Second

// listen reads the branches that were pushed to.
func (l *notifier) listen(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-l.begun:
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
		}
		l.mu.Lock()
		due := slices.Sorted(maps.Keys(l.due))
		clear(l.due)
		l.mu.Unlock()
		for _, id := range due {
			if err := l.look(ctx, id); err != nil && ctx.Err() == nil {
				l.log.Warn("the ledger's branch is published later", "repository", id, "err", err)
			}
		}
		if sleep.For(ctx, breath) != nil {
			return
		}
	}
}

// look publishes what is new on the ledger's branch of a repository.
func (l *notifier) look(ctx context.Context, id int64) error {
	r, known, err := l.contexts.store.Repositories.Get(ctx, id)
	if err != nil || !known || r.Gone {
		return err
	}
	o, err := l.contexts.unread(r)
	if err != nil {
		return err
	}
	_, err = eventstream.NewMirror(l.events.Projector, branch{o.ledger}, o.ledger.name+"!", l.log).Look(ctx)
	return err
}

// shown publishes a stream that this process wrote to a branch. If that fails, the next look does
// it.
func (l *notifier) shown(ctx context.Context, s eventstream.Stream) {
	if _, err := l.events.Projector.Fill(ctx, []eventstream.Stream{s}); err != nil && ctx.Err() == nil {
		l.log.Warn("the ledger's branch is published later", "stream", s.Key, "err", err)
	}
}

// branch is what workflows write for a repository, under the names that its streams are stored
// under. It is read-only.
type branch struct{ b *repoLedger }

var _ ledger.Watched = branch{}

// States implements ledger.Watched.
func (m branch) States(ctx context.Context) (map[string]string, error) {
	all, err := ledger.States(ctx, m.b.branch)
	out := map[string]string{}
	for key, state := range all {
		if written(m.b.repo, key) {
			out[m.b.kept(key)] = state
		}
	}
	return out, err
}

// Keys implements ledger.Ledger.
func (m branch) Keys(ctx context.Context) ([]string, error) {
	all, err := m.States(ctx)
	return slices.Sorted(maps.Keys(all)), err
}

// Load implements ledger.Ledger.
func (m branch) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	theirs := m.b.repo + strings.TrimPrefix(key, m.b.name)
	events, v, err := m.b.branch.Load(ctx, theirs)
	if err != nil {
		return nil, "", err
	}
	events, err = m.b.asKept(theirs, events)
	return events, v, err
}

// Append implements ledger.Ledger.
func (branch) Append(context.Context, string, ledger.Version, []routing.Event) (ledger.Version, error) {
	return "", errors.New("the ledger's branch is read-only here")
}
