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

// kept is how many of the newest events are held for those who listen.
const kept = 4096

// Now is the place behind the newest event there is.
const Now int64 = -1

var (
	// ErrSlow says that a client did not take its events in time. It may come again
	// and go on where it was.
	ErrSlow = errors.New("too slow: come again with the id of the last event that was taken")
	// ErrEnded says that the Hub tells nothing more.
	ErrEnded = errors.New("no more events are told here")
)

// Told is an event as everybody is told it.
type Told struct {
	activity.Event
	Text []byte // the event in the form that NewHub's encode gives it; shared, not to be changed
}

// Hub reads the feed once for all who listen. They take the events from it at their
// own pace, and so do not hold each other up; who is too far behind is let go.
type Hub struct {
	feed   *Feed
	encode func(activity.Event) []byte
	moved  *bell // rung when there is something new, or nothing more
	keep   int   // newest events that are held

	mu      sync.Mutex
	ring    []Told // newest events, oldest first; only added to, so that others may keep parts of it
	from    int64  // everything behind this place is in ring
	ready   bool   // from is known
	ended   bool
	clients int
}

// NewHub returns a Hub whose events are encoded once for everybody.
func NewHub(f *Feed, encode func(activity.Event) []byte) *Hub {
	return &Hub{feed: f, encode: encode, moved: newBell(), keep: kept}
}

// Run reads the feed until ctx ends.
func (h *Hub) Run(ctx context.Context, log *slog.Logger) {
	defer h.end()
	for ctx.Err() == nil {
		err := h.read(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Warn("the feed cannot be read", "err", err)
		if sleep.For(ctx, recoil) != nil {
			return
		}
	}
}

func (h *Hub) read(ctx context.Context) error {
	from, ready := h.last()
	if !ready {
		last, err := h.feed.Last(ctx)
		if err != nil {
			return err
		}
		from = last
		h.mu.Lock()
		h.from, h.ready = last, true
		h.mu.Unlock()
		h.moved.ring()
	}
	for events, err := range h.feed.batches(ctx, from) {
		if err != nil {
			return err
		}
		told := make([]Told, len(events))
		for i, e := range events {
			told[i] = Told{e, h.encode(e)}
		}
		h.tell(told)
	}
	return nil
}

func (h *Hub) tell(told []Told) {
	h.mu.Lock()
	h.ring = append(h.ring, told...)
	if n := len(h.ring) - h.keep; n >= h.keep { // dropped by halves, so that it costs little
		h.from = h.ring[n-1].ID
		h.ring = append([]Told(nil), h.ring[n:]...)
	}
	h.mu.Unlock()
	h.moved.ring()
}

// last returns the place up to which the feed was read, and whether it was.
func (h *Hub) last() (int64, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.ring); n > 0 {
		return h.ring[n-1].ID, true
	}
	return h.from, h.ready
}

// Clients returns how many listen.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.clients
}

func (h *Hub) end() {
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.moved.ring()
}

// Client is one who listens. It is used by one goroutine.
type Client struct {
	// Astray says that the place it asked for is behind the end of the feed, and so
	// of another one: it begins with the present instead.
	Astray bool

	hub    *Hub
	at     int64
	caught bool // up with what the Hub holds
	left   bool
}

// Join returns a client that is told of everything behind a place, or behind Now.
// Leave ends it.
func (h *Hub) Join(ctx context.Context, after int64) (*Client, error) {
	for {
		moved := h.moved.rung()
		if h.over() {
			return nil, ErrEnded
		}
		if _, ready := h.last(); ready {
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-moved:
		}
	}
	c := &Client{hub: h, at: after}
	if last, _ := h.last(); after < 0 || after > last {
		now, err := h.feed.Last(ctx)
		if err != nil {
			return nil, err
		}
		c.Astray = after > now
		if after < 0 || c.Astray {
			c.at = max(now, last) // what was pruned was there
			c.Astray = c.Astray && after > c.at
		}
	}
	h.mu.Lock()
	h.clients++
	h.mu.Unlock()
	return c, nil
}

func (h *Hub) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ended
}

// Leave ends what a client is told.
func (c *Client) Leave() {
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	if !c.left {
		c.left = true
		c.hub.clients--
	}
}

// At returns the place up to which the client was told everything.
func (c *Client) At() int64 { return c.at }

// Next waits for events and returns what has come since the last call, oldest first;
// nothing if tick comes before. It returns ErrSlow when the client has fallen too far
// behind, and ErrEnded at the Hub's end.
func (c *Client) Next(ctx context.Context, tick <-chan time.Time) ([]Told, error) {
	for {
		moved := c.hub.moved.rung()
		told, held, err := c.held()
		if err != nil {
			return nil, err
		}
		if !held {
			if told, err = c.early(ctx); err != nil {
				return nil, err
			}
			if len(told) == 0 { // all that is in between was pruned
				c.hub.mu.Lock()
				c.at = max(c.at, c.hub.from)
				c.hub.mu.Unlock()
				continue
			}
		}
		if len(told) > 0 {
			c.at = told[len(told)-1].ID
			return told, nil
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

// held returns the next events that the Hub holds, unless those before them have to
// be read.
func (c *Client) held() ([]Told, bool, error) {
	h := c.hub
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
	i := sort.Search(len(h.ring), func(i int) bool { return h.ring[i].ID > c.at })
	n := min(i+page, len(h.ring))
	return h.ring[i:n:n], true, nil
}

// early reads events that the Hub does not hold any more.
func (c *Client) early(ctx context.Context) ([]Told, error) {
	events, err := c.hub.feed.After(ctx, c.at, page)
	if err != nil {
		return nil, err
	}
	told := make([]Told, len(events))
	for i, e := range events {
		told[i] = Told{e, c.hub.encode(e)}
	}
	return told, nil
}
