// Package sse serves the event stream to browsers and programs as server-sent events.
//
// The request is
//
//	GET /events?repo=owner/name&session=ID&after=ID
//
// Each parameter is optional, and repo may be repeated. A session is a case (owner/name#12), a build,
// or one of its ports or workers (BUILD/PORT/ROLE), and includes those below it. The header
// Last-Event-ID takes precedence over after. Without either the stream begins with the next event.
package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing/activity"
)

// View returns the present name of a repository, given the name of its streams, and whether the
// client may read it. It is called for each event.
type View func(kept string) (now string, ok bool)

// All is the View of a client that may read every repository, where none was renamed.
func All(kept string) (string, bool) { return kept, true }

// Handler serves streams of events. All fields except Events and See have defaults.
type Handler struct {
	Events *eventstream.Broadcaster // whose events are encoded by Frame
	// See returns what the client of a request may read. It is called when a stream begins and
	// every Again; its error rejects or ends the stream.
	See   func(*http.Request) (View, error)
	Beat  time.Duration // between two heartbeats, default 15 s
	Again time.Duration // between two calls of See, default 1 min
	Write time.Duration // timeout of a write, default 10 s
	Most  int           // streams at once, default 5000
	// Who returns the person who makes a request. Each is how many streams one person may have at
	// once, default 200. Without Who only Most applies.
	Who  func(*http.Request) string
	Each int
	Log  *slog.Logger

	mu  sync.Mutex
	has map[string]int // streams of each
}

// enter counts a stream of a person. ok is false if they have the most that is allowed; leave ends
// the count.
func (h *Handler) enter(r *http.Request) (leave func(), ok bool) {
	if h.Who == nil {
		return func() {}, true
	}
	who := h.Who(r)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.has[who] >= or(h.Each, 200) {
		return nil, false
	}
	if h.has == nil {
		h.has = map[string]int{}
	}
	h.has[who]++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.has[who]--; h.has[who] == 0 {
			delete(h.has, who)
		}
	}, true
}

// Frame encodes an event for the stream.
func Frame(e activity.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		data, _ = json.Marshal(map[string]string{"error": err.Error()}) // the data in the database are not JSON
	}
	return fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data)
}

// Reset is the event that tells a client that the requested position belongs to another event
// stream, so that the client's state may be stale.
const Reset = "reset"

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	see, err := h.See(r)
	if err != nil {
		http.Error(w, "not allowed", http.StatusForbidden)
		return
	}
	after, err := position(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if h.Events.Subscribers() >= or(h.Most, 5000) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many streams of events are open", http.StatusServiceUnavailable)
		return
	}
	leave, ok := h.enter(r)
	if !ok {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "you have too many streams of events open; close some pages", http.StatusTooManyRequests)
		return
	}
	defer leave()
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{}) // the server's deadline would end the stream
	c, err := h.Events.Subscribe(r.Context(), after)
	if err != nil {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "the event stream is not available", http.StatusServiceUnavailable)
		return
	}
	defer c.Unsubscribe()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // otherwise nginx buffers
	if r.Method == http.MethodHead {
		return
	}
	q := r.URL.Query()
	s := &stream{h: h, c: c, see: see, seen: time.Now(), repos: q["repo"], session: q.Get("session"), w: w, rc: rc}
	log := h.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	switch err := s.run(r); {
	case err == nil, errors.Is(err, eventstream.ErrEnded), r.Context().Err() != nil: // the client or the server ended it
	default:
		log.Debug("a stream of events ended", "client", r.RemoteAddr, "err", err)
	}
}

// position returns the position after which a stream begins.
func position(r *http.Request) (int64, error) {
	what, s := "Last-Event-ID", r.Header.Get("Last-Event-ID")
	if s == "" {
		what, s = "after", r.URL.Query().Get("after")
	}
	if s == "" {
		return eventstream.Now, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %q; it must be the id of an event, or 0 for all that are kept", what, s)
	}
	return n, nil
}

func or[T int | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}

// stream is the response to one client.
type stream struct {
	h       *Handler
	c       *eventstream.Subscriber
	see     View
	seen    time.Time // last call of See
	repos   []string  // the requested ones, by their present names; none: all
	session string    // the requested one, "" for all
	w       http.ResponseWriter
	rc      *http.ResponseController
	buf     bytes.Buffer
}

// run writes events until the client or the server ends the stream.
func (s *stream) run(r *http.Request) error {
	// The retry times differ, because all clients reconnect when a server ends. The id is the
	// position to continue from if the connection breaks before the next event.
	fmt.Fprintf(&s.buf, "retry: %d\nid: %d\n", 1000+rand.IntN(2000), s.c.At())
	if s.c.Astray {
		fmt.Fprintf(&s.buf, "event: %s\ndata: {\"event\":%[1]q,\"after\":%d}\n", Reset, s.c.At())
	}
	s.buf.WriteByte('\n')
	beat := time.NewTicker(or(s.h.Beat, 15*time.Second))
	defer beat.Stop()
	for {
		if err := s.flush(); err != nil {
			return err
		}
		events, err := s.c.Next(r.Context(), beat.C)
		if err != nil {
			return err
		}
		if err := s.renew(r); err != nil {
			return err
		}
		for _, e := range events {
			s.write(e)
		}
		if len(events) == 0 { // a heartbeat with the position
			fmt.Fprintf(&s.buf, ": beat\nid: %d\n\n", s.c.At())
		}
	}
}

// renew calls See again if the last call is too old.
func (s *stream) renew(r *http.Request) error {
	if time.Since(s.seen) < or(s.h.Again, time.Minute) {
		return nil
	}
	see, err := s.h.See(r)
	if err != nil {
		return fmt.Errorf("access has ended: %w", err)
	}
	s.see, s.seen = see, time.Now()
	return nil
}

// write writes an event if the client requested it and may read it.
func (s *stream) write(t eventstream.Encoded) {
	now, ok := s.see(t.Repo)
	if !ok || !wants(s.repos, now) {
		return
	}
	e, text := t.Event, t.Text
	if now != e.Repo {
		e = Renamed(e, now)
		text = Frame(e)
	}
	if s.session != "" && !e.Of(s.session) {
		return
	}
	s.buf.Write(text)
}

func wants(repos []string, name string) bool {
	for _, r := range repos {
		if strings.EqualFold(r, name) {
			return true
		}
	}
	return len(repos) == 0
}

// Renamed returns an event with the present name of its repository. Streams keep the first name.
func Renamed(e activity.Event, now string) activity.Event {
	for _, p := range []*string{&e.Session, &e.Stream} {
		if rest, ok := strings.CutPrefix(*p, e.Repo); ok && rest != "" && strings.Contains("#@!", rest[:1]) {
			*p = now + rest
		}
	}
	e.Repo = now
	return e
}

// flush writes the buffer to the client. A client that does not read it in time ends the stream.
func (s *stream) flush() error {
	if s.buf.Len() == 0 {
		return nil
	}
	err := s.rc.SetWriteDeadline(time.Now().Add(or(s.h.Write, 10*time.Second)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(s.buf.Bytes()); err != nil {
		return err
	}
	s.buf.Reset()
	if s.buf.Cap() > 64<<10 {
		s.buf = bytes.Buffer{} // release the memory of a burst
	}
	return s.rc.Flush()
}
