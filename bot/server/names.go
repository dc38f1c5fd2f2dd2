package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/web"
)

// namesKept is how long the names of the repositories are kept.
const namesKept = 2 * time.Second

// names maps the names of the App's repositories for the pages.
type names struct {
	store *queue.Store
	log   *slog.Logger

	mu   sync.Mutex
	at   time.Time // when they were read
	now  map[string]string
	kept map[string]string
	byID map[int64]string // id → name under which the streams are kept
}

var _ web.Names = (*names)(nil)

// look reads the names, unless it did a moment ago. If that fails, the names from before stay.
func (n *names) look(ctx context.Context) error {
	if n.byID != nil && time.Since(n.at) < namesKept {
		return nil
	}
	all, err := n.store.Repositories.List(ctx)
	if err != nil {
		return err
	}
	n.now, n.kept, n.byID, n.at = map[string]string{}, map[string]string{}, map[int64]string{}, time.Now()
	for _, r := range all {
		n.now[r.Ledger], n.kept[r.Name], n.byID[r.ID] = r.Name, r.Ledger, r.Ledger
	}
	return nil
}

// of returns the names under which the streams of the repositories with these ids are stored, without
// those that the App does not work in.
func (n *names) of(ctx context.Context, ids []int64) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.look(ctx); err != nil {
		return nil, err
	}
	var out []string
	for _, id := range ids {
		if name, ok := n.byID[id]; ok {
			out = append(out, name)
		}
	}
	return out, nil
}

// Now implements web.Names.
func (n *names) Now(kept string) string {
	return n.find(func() map[string]string { return n.now }, kept)
}

// Kept implements web.Names.
func (n *names) Kept(now string) string {
	return n.find(func() map[string]string { return n.kept }, now)
}

// find returns the other form of a name, and the name itself if it is unknown: of a repository that the
// App does not work in any more.
func (n *names) find(in func() map[string]string, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := n.look(ctx); err != nil {
		n.log.Warn("the names of the repositories cannot be read; those that were read before are shown", "err", err)
	}
	if other, ok := in()[name]; ok {
		return other
	}
	return name
}
