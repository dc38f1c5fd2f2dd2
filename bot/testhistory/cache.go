package testhistory

import (
	"context"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// fresh is how long a history is used without being read again, and mostKept how many are kept.
const (
	fresh    = time.Minute
	mostKept = 4
)

// Cache reads histories, and keeps those that were read a moment ago. It is safe for concurrent use.
type Cache struct {
	ledger ledger.Ledger
	now    func() time.Time

	mu    sync.Mutex
	known map[string]kept
}

type kept struct {
	set *Set
	at  time.Time
}

// NewCache returns a Cache of what a ledger holds. now may be nil.
func NewCache(l ledger.Ledger, now func() time.Time) *Cache {
	if now == nil {
		now = time.Now
	}
	return &Cache{ledger: l, now: now}
}

// Of returns the history of a repository's tests.
func (c *Cache) Of(ctx context.Context, repo string) (*Set, error) {
	c.mu.Lock()
	defer c.mu.Unlock() // one is read at a time: it may take much memory
	now := c.now()
	if k, ok := c.known[repo]; ok && now.Sub(k.at) < fresh {
		return k.set, nil
	}
	set, err := Load(ctx, c.ledger, repo)
	if err != nil {
		return nil, err
	}
	if len(c.known) >= mostKept || c.known == nil {
		c.known = map[string]kept{}
	}
	c.known[repo] = kept{set, now}
	return set, nil
}
