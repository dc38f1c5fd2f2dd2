package server

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// The memory of the bodies that are read. Nearly all of GitHub's are smaller than smallBody, and
// have memory of their own, so that large ones keep no small one waiting.
const (
	firstRead   = 64 << 10 // reserved for a body at first
	smallBody   = 256 << 10
	smallMemory = 64 << 20
	largeMemory = 6 * queue.MaxPayload
	// smallTime and largeTime are how long a body is read, from when it has its memory, before it
	// gives way to another; one that is still arriving has as long again. GitHub sends the usual ones
	// in milliseconds.
	smallTime = 250 * time.Millisecond
	largeTime = time.Second
	// provenTime is how long the address of a signed body comes before others.
	provenTime = 24 * time.Hour
	provenMost = 4096
	// mostWaiting bounds the bodies that wait for memory of one kind.
	mostWaiting = 256
)

// errBusy is the error of a body that gave way to another, or found no memory in time.
var errBusy = errors.New("too many bodies are being read")

// bodies shares memory among the bodies that are read. Whether a body is signed is known when all of
// it is read, so one that has taken its time gives way to others: first those of addresses that have
// sent nothing signed, then those of the address that holds most, the oldest first. One that arrives
// steadily has twice the time, so that a slow machine does not take it for one that was begun and left.
type bodies struct {
	now func() time.Time

	mu           sync.Mutex
	small, large pool
	proven       map[netip.Addr]time.Time // address → when it last sent a signed body
	freed        chan struct{}            // closed when memory is given back
}

// pool is a part of the memory.
type pool struct {
	free, all int64
	held      map[netip.Addr]int64
	readers   map[*body]bool
	waiting   map[*body]int64 // for how many bytes
	time      time.Duration
}

// body is one that is read.
type body struct {
	from  netip.Addr
	began time.Time
	given time.Time // when it got memory of its pool
	moved time.Time // when firstRead bytes more of it had come, or its memory
	taken int64
	pool  *pool
	stop  func() // makes its read fail
	gone  bool   // it gave way
}

func newBodies(now func() time.Time) *bodies {
	make1 := func(all int64, time time.Duration) pool {
		return pool{free: all, all: all, held: map[netip.Addr]int64{}, readers: map[*body]bool{}, waiting: map[*body]int64{}, time: time}
	}
	return &bodies{now: now, small: make1(smallMemory, smallTime), large: make1(largeMemory, largeTime), proven: map[netip.Addr]time.Time{}, freed: make(chan struct{})}
}

// begin registers a body. stop is called when it gives way.
func (b *bodies) begin(from netip.Addr, stop func()) *body {
	return &body{from: from, began: b.now(), stop: stop}
}

// prove records that an address has sent a signed body.
func (b *bodies) prove(from netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, known := b.proven[from]; !known && len(b.proven) >= provenMost {
		oldest := from
		for a, at := range b.proven {
			if oldest == from || at.Before(b.proven[oldest]) {
				oldest = a
			}
		}
		delete(b.proven, oldest)
	}
	b.proven[from] = b.now()
}

// isProven reports whether an address has sent a signed body. The caller holds mu.
func (b *bodies) isProven(from netip.Addr) bool {
	at, ok := b.proven[from]
	return ok && b.now().Sub(at) < provenTime
}

// reserve makes the memory of a body as large as size, and waits while others that have more right to
// it hold it. It returns errBusy when the body gave way, or when ctx ends.
func (b *bodies) reserve(ctx context.Context, x *body, size int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &b.small
	if size > smallBody {
		p = &b.large
	}
	if len(p.waiting) >= mostWaiting {
		b.crowd(p)
	}
	p.waiting[x] = size
	defer func() { delete(p.waiting, x); b.wake() }()
	for {
		if x.gone || ctx.Err() != nil {
			return errBusy
		}
		need := size
		if x.pool == p {
			need -= x.taken
		}
		wait := p.time
		if b.first(p, x) {
			if p.free >= need {
				if x.pool != p {
					x.given = b.now()
				}
				x.moved = b.now()
				b.leave(x)
				p.take(x, size)
				return nil
			}
			victim, until := b.victim(p, x)
			if victim != nil && until <= 0 {
				victim.gone = true
				b.leave(victim)
				victim.stop()
				continue
			}
			if victim != nil {
				wait = until
			}
		}
		freed := b.freed
		b.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-freed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		b.mu.Lock()
	}
}

// first reports whether a body is the next of those that wait: one of a proven address, then the
// smallest, then the newest, because who has waited long is not who sends and leaves. The caller
// holds mu.
func (b *bodies) first(p *pool, x *body) bool {
	mine := b.isProven(x.from)
	for y, size := range p.waiting {
		theirs := b.isProven(y.from)
		switch {
		case y == x || mine && !theirs:
		case theirs && !mine, size < p.waiting[x], size == p.waiting[x] && y.began.After(x.began):
			return false
		}
	}
	return true
}

// crowd makes the oldest body that waits give way, one of an address that is not proven if there is
// one. The caller holds mu.
func (b *bodies) crowd(p *pool) {
	var v *body
	for y := range p.waiting {
		if v == nil || b.isProven(y.from) != b.isProven(v.from) && b.isProven(v.from) || b.isProven(y.from) == b.isProven(v.from) && y.began.Before(v.began) {
			v = y
		}
	}
	delete(p.waiting, v)
	v.gone = true
	b.leave(v)
	v.stop()
	b.wake()
}

// wake makes those that wait look again. The caller holds mu.
func (b *bodies) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// victim returns the body of a pool that gives way to x next, nil if there is none, and in what time
// it does. The caller holds mu.
func (b *bodies) victim(p *pool, x *body) (v *body, wait time.Duration) {
	mine := b.isProven(x.from)
	for y := range p.readers {
		if y == x {
			continue
		}
		if v == nil || b.before(p, y, v) {
			v = y
		}
	}
	if v == nil || mine && !b.isProven(v.from) {
		return v, 0
	}
	if !mine && b.isProven(v.from) {
		return nil, 0 // it waits until they are done
	}
	return v, p.due(v).Sub(b.now())
}

// before reports whether a gives way before c. The caller holds mu.
func (b *bodies) before(p *pool, a, c *body) bool {
	if pa, pc := b.isProven(a.from), b.isProven(c.from); pa != pc {
		return pc
	}
	if ha, hc := p.held[a.from], p.held[c.from]; ha != hc {
		return ha > hc
	}
	return p.due(a).Before(p.due(c))
}

// due returns when a body has had its time. A quarter of that without firstRead bytes ends the
// second half.
func (p *pool) due(x *body) time.Time {
	first, last := x.given.Add(p.time), x.given.Add(2*p.time)
	still := x.moved.Add(p.time / 4)
	switch {
	case still.Before(first):
		return first
	case still.After(last):
		return last
	}
	return still
}

// advance records that firstRead bytes more of a body were read.
func (b *bodies) advance(x *body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x.moved = b.now()
}

// gaveWay reports whether a body gave way to another.
func (b *bodies) gaveWay(x *body) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return x.gone
}

// end gives back the memory of a body.
func (b *bodies) end(x *body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave(x)
}

// leave gives back what a body holds. The caller holds mu.
func (b *bodies) leave(x *body) {
	p := x.pool
	if p == nil {
		return
	}
	p.free += x.taken
	if p.held[x.from] -= x.taken; p.held[x.from] == 0 {
		delete(p.held, x.from)
	}
	delete(p.readers, x)
	x.pool, x.taken = nil, 0
	b.wake()
}

func (p *pool) take(x *body, size int64) {
	p.free -= size
	p.held[x.from] += size
	p.readers[x] = true
	x.pool, x.taken = p, size
}
