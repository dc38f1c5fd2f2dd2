// Package sse tells the feed to browsers and programs while it happens, as
// server-sent events.
//
// A stream is asked for by
//
//	GET /events?repo=owner/name&session=ID&after=ID
//
// Each parameter may be left out; repo may be given several times. A session is a
// case (owner/name#12), a build, or one of its ports or workers (BUILD/PORT/ROLE), and
// includes those below it. Without after, or the header Last-Event-ID that goes
// before it, a stream begins with the present.
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

// View says of a repository, named as its streams are kept, what it is called now,
// and whether it may be seen. Each event asks it.
type View func(kept string) (now string, ok bool)

// All sees every repository under the name that it is kept under.
func All(kept string) (string, bool) { return kept, true }

// Handler answers with streams of events. All fields except Events and See have defaults.
type Handler struct {
	Events *eventstream.Broadcaster // whose events are encoded by Frame
	// See returns what may be seen by who makes a request. It is asked when a stream
	// begins and again from time to time; its error ends the stream, and refuses a
	// new one.
	See   func(*http.Request) (View, error)
	Beat  time.Duration // between two signs of life, default 15 s
	Again time.Duration // between two questions to See, default 1 min
	Write time.Duration // after which a client that takes nothing is let go, default 10 s
	Most  int           // streams at once, default 5000
	// Who says who makes a request. Each is how many streams one may have at once, default
	// 200, so that nobody takes them all; without Who, only Most counts.
	Who  func(*http.Request) string
	Each int
	Log  *slog.Logger

	mu  sync.Mutex
	has map[string]int // streams of each
}

// enter takes one of the streams that somebody may have, and reports whether there
// was one. Each that was taken is given back by leave.
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

// Frame returns an event as it is told.
func Frame(e activity.Event) []byte {
	data, err := json.Marshal(e)
	if err != nil {
		data, _ = json.Marshal(map[string]string{"error": err.Error()}) // what the database holds is no JSON
	}
	return fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Type, data)
}

// Reset is the event that tells a client that the place it asked for is none of this
// feed: what it knows may be out of date.
const Reset = "reset"

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	see, err := h.See(r)
	if err != nil {
		http.Error(w, "not allowed", http.StatusForbidden)
		return
	}
	after, err := place(r)
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
	_ = rc.SetReadDeadline(time.Time{}) // the server's would end the stream
	c, err := h.Events.Subscribe(r.Context(), after)
	if err != nil {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "no events can be told now", http.StatusServiceUnavailable)
		return
	}
	defer c.Unsubscribe()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx holds back otherwise
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
	case err == nil, errors.Is(err, eventstream.ErrEnded), r.Context().Err() != nil: // it went, or everything ends
	default:
		log.Debug("a stream of events was ended", "client", r.RemoteAddr, "err", err)
	}
}

// place returns where a stream begins.
func place(r *http.Request) (int64, error) {
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

// stream is one answer.
type stream struct {
	h       *Handler
	c       *eventstream.Subscriber
	see     View
	seen    time.Time // when see was asked for
	repos   []string  // that are wanted, as they are called now; none are all
	session string    // that is wanted, "" for all
	w       http.ResponseWriter
	rc      *http.ResponseController
	buf     bytes.Buffer
}

// run tells events until the client goes, or is let go.
func (s *stream) run(r *http.Request) error {
	// All come again at once when a server has ended: not all in one moment. The id is
	// where to go on if no event comes before the next break.
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
		told, err := s.c.Next(r.Context(), beat.C)
		if err != nil {
			return err
		}
		if err := s.look(r); err != nil {
			return err
		}
		for _, t := range told {
			s.tell(t)
		}
		if len(told) == 0 { // a sign of life, and how far all was looked through
			fmt.Fprintf(&s.buf, ": beat\nid: %d\n\n", s.c.At())
		}
	}
}

// look asks anew what may be seen, if that was long ago.
func (s *stream) look(r *http.Request) error {
	if time.Since(s.seen) < or(s.h.Again, time.Minute) {
		return nil
	}
	see, err := s.h.See(r)
	if err != nil {
		return fmt.Errorf("nothing may be seen any more: %w", err)
	}
	s.see, s.seen = see, time.Now()
	return nil
}

// tell writes an event, if it is wanted and may be seen.
func (s *stream) tell(t eventstream.Encoded) {
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

// Renamed returns an event as one of the repository now: its streams are kept under
// the name that it had first.
func Renamed(e activity.Event, now string) activity.Event {
	for _, p := range []*string{&e.Session, &e.Stream} {
		if rest, ok := strings.CutPrefix(*p, e.Repo); ok && rest != "" && strings.Contains("#@!", rest[:1]) {
			*p = now + rest
		}
	}
	e.Repo = now
	return e
}

// flush writes what is there. A client that does not take it in time is stuck.
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
		s.buf = bytes.Buffer{} // what a moment needed is not held for hours
	}
	return s.rc.Flush()
}
