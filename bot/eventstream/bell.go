package eventstream

import (
	"strings"
	"sync"
)

// bell wakes all who wait for it.
type bell struct {
	mu sync.Mutex
	c  chan struct{}
}

func newBell() *bell { return &bell{c: make(chan struct{})} }

// rung returns what is closed when the bell is rung the next time.
func (b *bell) rung() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.c
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.c)
	b.c = make(chan struct{})
}

// text returns what PostgreSQL can hold as text: UTF-8 without U+0000.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}
