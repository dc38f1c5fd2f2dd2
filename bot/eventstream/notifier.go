package eventstream

import "sync"

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
