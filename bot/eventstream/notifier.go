package eventstream

import (
	"strings"
	"sync"
)

// notifier wakes all goroutines that wait for a change.
type notifier struct {
	mu sync.Mutex
	c  chan struct{}
}

func newNotifier() *notifier { return &notifier{c: make(chan struct{})} }

// next returns a channel that is closed by the next call of notify.
func (b *notifier) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.c
}

func (b *notifier) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.c)
	b.c = make(chan struct{})
}

// text returns what PostgreSQL can hold as text: UTF-8 without U+0000.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}
