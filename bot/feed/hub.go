package feed

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/routing/live"
)

const (
	kept = 4096 // newest events that are held for those who come
	lag  = 1024 // events that a client may be behind before it is left alone
)

// ErrSlow says that a client did not take its events in time. It may come again and
// go on where it was.
var ErrSlow = errors.New("too slow: come again with the id of the last event that was taken")

// Told is an event as everybody is told it.
type Told struct {
	live.Event
	Text []byte // the event in the form that New Hub's encode gives it; shared, not to be changed
}

// Hub reads the feed once and tells all who listen. A slow client does not hold up
// the others: it is left alone.
type Hub struct {
	feed   *Feed
	encode func(live.Event) []byte

	mu      sync.Mutex
	ring    []Told // newest events, oldest first
	from    int64  // everything behind this place is in ring
	clients map[*Client]struct{}
	ready   bool // from is known
	ended   bool
}

// Client is one who listens.
type Client struct {
	C    <-chan Told // closed when the client is left alone, or the Hub ended
	Slow bool        // it was left alone; to be read once C is closed

	c    chan Told
	want func(live.Event) bool
}

// NewHub returns a Hub whose events are encoded once for everybody.
func NewHub(f *Feed, encode func(live.Event) []byte) *Hub {
	return &Hub{feed: f, encode: encode, clients: map[*Client]struct{}{}}
}

// Run reads the feed until ctx ends. Those who listen are told from here on; what was
// before they read from the feed.
func (h *Hub) Run(ctx context.Context, log *slog.Logger) {
	defer h.end()
	for ctx.Err() == nil {
		err := h.read(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		log.Warn("the feed cannot be read", "err", err)
		if !sleep(ctx, recoil) {
			return
		}
	}
}

func (h *Hub) read(ctx context.Context) error {
	h.mu.Lock()
	from, ready := h.from, h.ready
	if n := len(h.ring); n > 0 {
		from = h.ring[n-1].ID
	}
	h.mu.Unlock()
	if !ready {
		last, err := h.feed.Last(ctx)
		if err != nil {
			return err
		}
		h.mu.Lock()
		h.from, h.ready, from = last, true, last
		h.mu.Unlock()
	}
	for e, err := range h.feed.Follow(ctx, from) {
		if err != nil {
			return err
		}
		h.tell(Told{e, h.encode(e)})
	}
	return nil
}

func (h *Hub) tell(e Told) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ring = append(h.ring, e); len(h.ring) >= 2*kept { // dropped by halves, so that it costs little
		h.from = h.ring[kept-1].ID
		h.ring = append([]Told(nil), h.ring[kept:]...)
	}
	for c := range h.clients {
		if !c.want(e.Event) {
			continue
		}
		select {
		case c.c <- e:
		default:
			c.Slow = true
			h.leave(c)
		}
	}
}

// Listen tells a client of the events that it wants, those behind a place first. What
// the Hub does not hold any more is read from the feed and given to early, whose
// error ends Listen. Leave ends it.
func (h *Hub) Listen(ctx context.Context, after int64, want func(live.Event) bool, early func(Told) error) (*Client, error) {
	for {
		if c, ok := h.join(after, want); ok {
			return c, nil
		}
		events, err := h.feed.After(ctx, after, page)
		if err != nil {
			return nil, err
		}
		for _, e := range events {
			after = e.ID
			if want(e) {
				if err := early(Told{e, h.encode(e)}); err != nil {
					return nil, err
				}
			}
		}
		if len(events) == 0 { // behind the end: of another database, or of one that the Hub has not read yet
			rung := h.feed.wake.rung()
			if last, err := h.feed.Last(ctx); err != nil {
				return nil, err
			} else if after > last {
				after = last
				continue
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-rung:
			case <-time.After(h.feed.rest()):
			}
		}
	}
}

// join adds a client, if all that it has not seen is at hand.
func (h *Hub) join(after int64, want func(live.Event) bool) (*Client, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.from
	if n := len(h.ring); n > 0 {
		last = h.ring[n-1].ID
	}
	if !h.ready || after < h.from || after > last {
		return nil, false
	}
	c := &Client{c: make(chan Told, lag), want: want}
	c.C = c.c
	if h.ended {
		close(c.c)
		return c, true
	}
	for _, e := range h.ring {
		if e.ID <= after || !want(e.Event) {
			continue
		}
		select {
		case c.c <- e:
		default:
			return nil, false // too many to be held for it: they are read
		}
	}
	h.clients[c] = struct{}{}
	return c, true
}

// Leave ends what a client is told.
func (h *Hub) Leave(c *Client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leave(c)
}

func (h *Hub) leave(c *Client) {
	if _, there := h.clients[c]; there {
		delete(h.clients, c)
		close(c.c)
	}
}

// Clients returns how many listen.
func (h *Hub) Clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.clients)
}

func (h *Hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for c := range h.clients {
		h.leave(c)
	}
}
