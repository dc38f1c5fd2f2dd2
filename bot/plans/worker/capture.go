package worker

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Tape keeps the beginning and the end of what is written to it, in memory
// that does not grow with it. It is safe for use by many goroutines.
type Tape struct {
	mu    sync.Mutex
	head  []byte
	ring  []byte // the end, once the head is full
	next  int    // where the ring goes on
	full  bool   // the ring was filled once
	limit int
	total int64
}

// NewTape returns a tape that keeps so many bytes of the beginning and of the end.
func NewTape(head, tail int) *Tape { return &Tape{limit: head, ring: make([]byte, tail)} }

// Write implements io.Writer. It never fails.
func (t *Tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	if free := t.limit - len(t.head); free > 0 {
		k := min(free, len(p))
		t.head, p = append(t.head, p[:k]...), p[k:]
	}
	if len(t.ring) == 0 {
		return n, nil
	}
	if len(p) > len(t.ring) {
		p = p[len(p)-len(t.ring):]
		t.next, t.full = 0, true // all of the ring is written anew
	}
	for len(p) > 0 {
		k := copy(t.ring[t.next:], p)
		p = p[k:]
		if t.next += k; t.next == len(t.ring) {
			t.next, t.full = 0, true
		}
	}
	return n, nil
}

// Total returns how many bytes were written.
func (t *Tape) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// Cut returns how many bytes are not kept.
func (t *Tape) Cut() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total - int64(len(t.head)+t.kept())
}

func (t *Tape) kept() int {
	if t.full {
		return len(t.ring)
	}
	return t.next
}

// tail returns the end as it was written.
func (t *Tape) tail() []byte {
	if !t.full {
		return append([]byte(nil), t.ring[:t.next]...)
	}
	return append(append([]byte(nil), t.ring[t.next:]...), t.ring[:t.next]...)
}

// String returns what is kept, with a line in the middle that says what is not.
func (t *Tape) String() string {
	cut := t.Cut()
	t.mu.Lock()
	defer t.mu.Unlock()
	if cut == 0 {
		return strings.ToValidUTF8(string(t.head)+string(t.tail()), "\uFFFD")
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes are cut here]\n%s", t.head, cut, t.tail()), "\uFFFD")
}

// End returns the last bytes, at most so many, from the beginning of a line
// where there is one.
func (t *Tape) End(most int) string {
	t.mu.Lock()
	all := append(append([]byte(nil), t.head...), t.tail()...)
	t.mu.Unlock()
	if len(all) > most {
		all = all[len(all)-most:]
		if _, rest, ok := strings.Cut(string(all), "\n"); ok && rest != "" {
			all = []byte(rest)
		}
	}
	return strings.ToValidUTF8(string(all), "\uFFFD")
}

// through writes to w until that fails, and from then on swallows: a reader that
// gave up must not end the worker by a broken pipe.
type through struct {
	w      io.Writer
	broken bool
}

func (t *through) Write(p []byte) (int, error) {
	if !t.broken {
		if _, err := t.w.Write(p); err != nil {
			t.broken = true
		}
	}
	return len(p), nil
}
