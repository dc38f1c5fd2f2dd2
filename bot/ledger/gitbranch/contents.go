package gitbranch

import (
	"sync"

	"github.com/switchback-ci/switchback/bot/ledger"
)

// content is a file as it was read. The zero content is that of no file.
type content struct {
	version ledger.Version
	data    []byte
}

// remembered is the number of cases whose content is kept.
const remembered = 64

// contents keeps the content of some cases. The zero contents are empty.
type contents struct {
	mu  sync.Mutex
	all map[string]content
}

func (c *contents) get(key string) content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key]
}

func (c *contents) put(key string, now content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= remembered {
		c.all = map[string]content{}
	}
	c.all[key] = now
}

func (c *contents) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, key)
}
