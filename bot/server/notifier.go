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

// notifier is what is told while it happens.
type notifier struct {
	feed     *eventstream.Feed
	hub      *eventstream.Hub
	contexts *contexts
	kept     time.Duration // of an event
	log      *slog.Logger

	mu   sync.Mutex
	due  map[int64]bool // repositories on whose branch something was pushed
	wake chan struct{}

	begun chan struct{} // closed when it is known who this App is
}

func newNotifier(f *eventstream.Feed, o *contexts, kept time.Duration, log *slog.Logger) *notifier {
	return &notifier{feed: f, hub: eventstream.NewHub(f, sse.Frame), contexts: o, kept: kept, log: log, due: map[int64]bool{}, wake: make(chan struct{}, 1), begun: make(chan struct{})}
}

// run makes the feed and tells it: until serving ends to those who listen, and
// until ctx ends to the tables. What ends it returns when it has ended.
func (l *notifier) run(ctx, serving context.Context) (wait func()) {
	var all sync.WaitGroup
	all.Go(func() { l.feed.Run(ctx, l.log) })
	all.Go(func() { l.hub.Run(serving, l.log) })
	all.Go(func() { l.listen(serving) })
	all.Go(func() { l.prune(serving) })
	return all.Wait
}

// prune drops old events, every hour.
func (l *notifier) prune(ctx context.Context) {
	for {
		if err := l.feed.Prune(ctx, time.Now().Add(-l.kept)); err != nil && ctx.Err() == nil {
			l.log.Warn("old events stay", "err", err)
		}
		if sleep.For(ctx, time.Hour) != nil {
			return
		}
	}
}

// pushed notes that a workflow wrote to the ledger's branch of a repository. It is
// not kept beyond the process: the next reconcile looks as well.
func (l *notifier) pushed(repository int64) {
	l.mu.Lock()
	l.due[repository] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it knows already
	}
}

// breath is what lies between two looks: a plan at work pushes many times.
const breath = 2 * time.Second

// listen takes in what was pushed.
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
				l.log.Warn("what is on the ledger's branch is shown later", "repository", id, "err", err)
			}
		}
		if sleep.For(ctx, breath) != nil {
			return
		}
	}
}

// look takes in what moved on on the ledger's branch of a repository.
func (l *notifier) look(ctx context.Context, id int64) error {
	r, known, err := l.contexts.store.Repository(ctx, id)
	if err != nil || !known || r.Gone {
		return err
	}
	o, err := l.contexts.unread(r)
	if err != nil {
		return err
	}
	_, err = eventstream.NewMirror(l.feed, branch{o.ledger}, o.ledger.name+"!", l.log).Look(ctx)
	return err
}

// shown takes in a stream that this process wrote to a branch. Should it fail, the
// next look makes up for it.
func (l *notifier) shown(ctx context.Context, s eventstream.Stream) {
	if _, err := l.feed.Fill(ctx, []eventstream.Stream{s}); err != nil && ctx.Err() == nil {
		l.log.Warn("what is on the ledger's branch is shown later", "stream", s.Key, "err", err)
	}
}

// branch is what workflows write of a repository, under the names that its streams
// are kept under. It is only read.
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
	return "", errors.New("is only read")
}

// asKept returns the events of a stream as they are under the name it is kept under.
func (b *repoLedger) asKept(key string, events []routing.Event) ([]routing.Event, error) {
	if b.repo == b.name {
		return events, nil
	}
	return rename(events, key, b.kept(key), b.now, b.name)
}

// readStream is a stream of the branch as it was read.
type readStream struct {
	version ledger.Version
	events  []routing.Event
}

// read keeps what was read of the branch, so that what is added can be shown.
func (b *repoLedger) read(key string, v ledger.Version, events []routing.Event) {
	if b.shown == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reads == nil {
		b.reads = map[string]readStream{}
	}
	b.reads[key] = readStream{v, events}
}

// show tells of what was appended to a stream of the branch. One that was not read
// before is left to the next look at the branch.
func (b *repoLedger) show(ctx context.Context, key string, seen, now ledger.Version, added []routing.Event) {
	if b.shown == nil || len(added) == 0 {
		return
	}
	b.mu.Lock()
	was := b.reads[key]
	b.mu.Unlock()
	if was.version != seen {
		return
	}
	data, err := ledger.Encode(key, "", added)
	if err == nil {
		added, err = ledger.Decode(key, data)
	}
	if err != nil {
		return // unreachable: it was written so
	}
	events := slices.Concat(was.events, added)
	b.read(key, now, events)
	if events, err = b.asKept(key, events); err == nil {
		b.shown(ctx, eventstream.Stream{Key: b.kept(key), Events: events, State: string(now)})
	}
}
