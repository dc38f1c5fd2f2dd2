package eventstream

import (
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing/activity"
)

// kept is how many of the newest events a Broadcaster holds for its subscribers.
const kept = 4096

// Now is the position after the newest event.
const Now int64 = -1

var (
	// ErrSlow is the error of a subscriber that did not read its events in time. It may subscribe
	// again from where it was.
	ErrSlow = errors.New("too slow: reconnect with the id of the last event that was received")
	// ErrEnded is the error after the end of the Broadcaster.
	ErrEnded = errors.New("the event stream has ended")
)

// Encoded is an event in the form that all subscribers get.
type Encoded struct {
	activity.Event
	Text []byte // the event in the form that NewBroadcaster's encode returns; shared, do not modify
}

// Broadcaster reads the log once for all subscribers. Each reads at its own pace and does not
// block the others; one that falls too far behind is dropped.
type Broadcaster struct {
	log      *Log
	encode   func(activity.Event) []byte
	changed  *notifier // notified of new events and of the end
	capacity int       // how many of the newest events are held

	mu          sync.Mutex
	recent      []Encoded // newest events, oldest first; append-only, so that subscribers may keep slices of it
	from        int64     // everything after this position is in recent
	ready       bool      // from is known
	ended       bool
	subscribers int
}

// NewBroadcaster returns a Broadcaster that encodes each event once for all subscribers.
func NewBroadcaster(l *Log, encode func(activity.Event) []byte) *Broadcaster {
	return &Broadcaster{log: l, encode: encode, changed: newNotifier(), capacity: kept}
}

// Run reads the log until ctx ends.
func (b *Broadcaster) Run(ctx context.Context, log *slog.Logger) {
	defer b.end()
	for ctx.Err() == nil {
		err := b.read(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Warn("reading the event stream failed", "err", err)
		if sleep.For(ctx, retryAfter) != nil {
			return
		}
	}
}

func (b *Broadcaster) read(ctx context.Context) error {
	from, ready := b.last()
	if !ready {
		last, err := b.log.Last(ctx)
		if err != nil {
			return err
		}
		from = last
		b.mu.Lock()
		b.from, b.ready = last, true
		b.mu.Unlock()
		b.changed.notify()
	}
	for events, err := range b.log.batches(ctx, from) {
		if err != nil {
			return err
		}
		encoded := make([]Encoded, len(events))
		for i, e := range events {
			encoded[i] = Encoded{e, b.encode(e)}
		}
		b.publish(encoded)
	}
	return nil
}

func (b *Broadcaster) publish(encoded []Encoded) {
	b.mu.Lock()
	b.recent = append(b.recent, encoded...)
	if n := len(b.recent) - b.capacity; n >= b.capacity { // dropped by halves, which amortizes the copy
		b.from = b.recent[n-1].ID
		b.recent = append([]Encoded(nil), b.recent[n:]...)
	}
	b.mu.Unlock()
	b.changed.notify()
}

// last returns the position up to which the log was read, and whether reading has begun.
func (b *Broadcaster) last() (int64, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.recent); n > 0 {
		return b.recent[n-1].ID, true
	}
	return b.from, b.ready
}

// Subscribers returns the number of subscribers.
func (b *Broadcaster) Subscribers() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.subscribers
}

func (b *Broadcaster) end() {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.changed.notify()
}

// Subscriber receives events. It must be used by one goroutine.
type Subscriber struct {
	// Astray reports that the requested position is after the end of the log, and so belongs to
	// another one: the subscriber begins at the end instead.
	Astray bool

	broadcaster *Broadcaster
	at          int64
	caught      bool // has reached the events that the Broadcaster holds
	left        bool
}

// Subscribe returns a Subscriber to the events after a position, or after Now. Unsubscribe ends it.
func (b *Broadcaster) Subscribe(ctx context.Context, after int64) (*Subscriber, error) {
	for {
		moved := b.changed.next()
		if b.over() {
			return nil, ErrEnded
		}
		if _, ready := b.last(); ready {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-moved:
		}
	}
	c := &Subscriber{broadcaster: b, at: after}
	if last, _ := b.last(); after < 0 || after > last {
		now, err := b.log.Last(ctx)
		if err != nil {
			return nil, err
		}
		c.Astray = after > now
		if after < 0 || c.Astray {
			c.at = max(now, last) // the events up to last existed, though they may be pruned
			c.Astray = c.Astray && after > c.at
		}
	}
	b.mu.Lock()
	b.subscribers++
	b.mu.Unlock()
	return c, nil
}

func (b *Broadcaster) over() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// Unsubscribe ends the subscription.
func (c *Subscriber) Unsubscribe() {
	c.broadcaster.mu.Lock()
	defer c.broadcaster.mu.Unlock()
	if !c.left {
		c.left = true
		c.broadcaster.subscribers--
	}
}

// At returns the position up to which the subscriber has received every event.
func (c *Subscriber) At() int64 { return c.at }

// Next waits for events and returns those since the last call, oldest first, or nothing if tick
// fires first. It returns ErrSlow if the subscriber has fallen too far behind, and ErrEnded after
// the end of the Broadcaster.
func (c *Subscriber) Next(ctx context.Context, tick <-chan time.Time) ([]Encoded, error) {
	for {
		moved := c.broadcaster.changed.next()
		encoded, held, err := c.readRecent()
		if err != nil {
			return nil, err
		}
		if !held {
			if encoded, err = c.readEarlier(ctx); err != nil {
				return nil, err
			}
			if len(encoded) == 0 { // all events in between were pruned
				c.broadcaster.mu.Lock()
				c.at = max(c.at, c.broadcaster.from)
				c.broadcaster.mu.Unlock()
				continue
			}
		}
		if len(encoded) > 0 {
			c.at = encoded[len(encoded)-1].ID
			return encoded, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick:
			return nil, nil
		case <-moved:
		}
	}
}

// readRecent returns the next events that the Broadcaster holds, unless earlier ones have to be
// read from the database first.
func (c *Subscriber) readRecent() ([]Encoded, bool, error) {
	h := c.broadcaster
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return nil, false, ErrEnded
	case c.at < h.from && c.caught:
		return nil, false, ErrSlow
	case c.at < h.from:
		return nil, false, nil
	}
	c.caught = true
	i := sort.Search(len(h.recent), func(i int) bool { return h.recent[i].ID > c.at })
	n := min(i+page, len(h.recent))
	return h.recent[i:n:n], true, nil
}

// readEarlier reads events that the Broadcaster no longer holds from the database.
func (c *Subscriber) readEarlier(ctx context.Context) ([]Encoded, error) {
	events, err := c.broadcaster.log.After(ctx, c.at, page)
	if err != nil {
		return nil, err
	}
	encoded := make([]Encoded, len(events))
	for i, e := range events {
		encoded[i] = Encoded{e, c.broadcaster.encode(e)}
	}
	return encoded, nil
}
