package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/sleep"
)

// When is the side of the upstream at which something happens to a request:
// Before it is forwarded, so that nothing happened on GitHub, or After GitHub
// did it but before the client is told.
type When int

// Never, Before and After are the values of When.
const (
	Never When = iota
	Before
	After
)

// View is the requests of one repository, and what is done to them.
type View struct {
	rec  *recorder
	repo string
	from int // requests up to this one are not seen
}

// View returns the requests to "owner/name" from now on; "" stands for the
// requests that name no repository.
func (b *Bench) View(repo string) *View {
	v := &View{rec: b.rec, repo: repo}
	v.Reset()
	return v
}

// Reset forgets the requests seen so far. Faults and holds stay.
func (v *View) Reset() {
	v.rec.mu.Lock()
	defer v.rec.mu.Unlock()
	v.from = len(v.rec.requests)
}

// Requests returns the requests in the order in which they arrived.
func (v *View) Requests() []Request {
	v.rec.mu.Lock()
	defer v.rec.mu.Unlock()
	var out []Request
	for _, q := range v.rec.requests[v.from:] {
		if q.Repo == v.repo {
			out = append(out, *q)
		}
	}
	return out
}

// requests returns what all clients have requested, of whatever repository.
func (b *Bench) requests() []Request {
	b.rec.mu.Lock()
	defer b.rec.mu.Unlock()
	out := make([]Request, 0, len(b.rec.requests))
	for _, q := range b.rec.requests {
		out = append(out, *q)
	}
	return out
}

// Content returns the requests that write.
func (v *View) Content() []Request {
	var out []Request
	for _, q := range v.Requests() {
		if q.Content() {
			out = append(out, q)
		}
	}
	return out
}

// Violations returns one line for each request, or part of one, that GitHub's
// description does not allow. What it says of answers is emulate's affair.
func (v *View) Violations() []string {
	var out []string
	for _, q := range v.Requests() {
		for _, x := range q.Violations {
			if len(x.Location) > 0 && x.Location[0] == "request" {
				out = append(out, fmt.Sprintf("%v: %s: %s", q, strings.Join(x.Location, "."), x.Message))
			}
		}
	}
	return out
}

// Fault is a rule for what goes wrong. The zero Method and Path match all.
type Fault struct {
	Method string
	Path   *regexp.Regexp
	Nth    int // the first matching request it is done to, from 1; 0 means 1
	Times  int // how many in a row; 0 means 1, -1 all
	Every  int // and again at each Every-th matching request after the Nth; 0 means never

	Delay  time.Duration // waits first; alone, the request then goes on
	Status int           // answers with this, without forwarding
	Late   bool          // forwards first, and then answers with Status
	Header http.Header
	Body   string // of the answer; "" means a JSON message
	Drop   When   // ends the connection
}

type faultState struct {
	Fault
	repo string
	seen int
}

func (f *faultState) meets(q *Request) bool {
	if f.repo != q.Repo || f.Method != "" && f.Method != q.Method || f.Path != nil && !f.Path.MatchString(q.Path) {
		return false
	}
	f.seen++
	first := max(1, f.Nth)
	if f.Every > 0 && f.seen > first && (f.seen-first)%f.Every == 0 {
		return true
	}
	return f.seen >= first && (f.Times < 0 || f.seen < first+max(1, f.Times))
}

// RateLimited is GitHub's answer to too many requests: a status of 429 or 403,
// the seconds to wait in Retry-After.
func RateLimited(status int, wait time.Duration) Fault {
	return Fault{Status: status, Header: http.Header{"Retry-After": {fmt.Sprint(int(wait.Seconds()))}},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`}
}

// Ahead lets the Date of what this view's repository answers be ahead of the machine's clock.
func (v *View) Ahead(by time.Duration) {
	v.rec.mu.Lock()
	defer v.rec.mu.Unlock()
	if v.rec.ahead == nil {
		v.rec.ahead = map[string]time.Duration{}
	}
	v.rec.ahead[v.repo] = by
}

// Fault adds a rule for requests of this view's repository and returns a
// function that takes it away again.
func (v *View) Fault(f Fault) (remove func()) {
	s := &faultState{Fault: f, repo: v.repo}
	v.rec.mu.Lock()
	defer v.rec.mu.Unlock()
	v.rec.faults = append(v.rec.faults, s)
	return func() {
		v.rec.mu.Lock()
		defer v.rec.mu.Unlock()
		s.repo = "-"
	}
}

// faulty does f to the request and says whether it is to be forwarded still.
func (rec *recorder) faulty(w http.ResponseWriter, r *http.Request, q *Request, f *Fault) bool {
	if f.Delay > 0 {
		_ = sleep.For(r.Context(), f.Delay) // a client that went away is noticed when it is answered
	}
	if f.Drop == Before {
		rec.note(q, 0, "dropped before forwarding")
		drop(w)
		return false
	}
	if f.Status == 0 || f.Late {
		return true
	}
	rec.fail(w, q, f)
	return false
}

// fail answers with the status of f.
func (rec *recorder) fail(w http.ResponseWriter, q *Request, f *Fault) {
	rec.note(q, f.Status, "answered by a fault")
	maps.Copy(w.Header(), f.Header)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.Status)
	body := f.Body
	if body == "" {
		body = fmt.Sprintf(`{"message":%q}`, http.StatusText(f.Status))
	}
	_, _ = w.Write([]byte(body))
}

// Hold is a point at which a request is held, for the test to kill its client.
type Hold struct {
	// Reached gives the request when it is held. It gives at most one.
	Reached <-chan Request

	reached chan Request
	end     chan bool // true: go on; false: drop
	repo    string
	n, seen int
	when    When
	only    func(Request) bool
}

// HoldAt holds the n-th request (from 1, counted from now) of the repository
// for which all of only are true. Until Drop or Release is called, or its
// client is gone, it is neither forwarded (Before) nor answered (After).
func (v *View) HoldAt(n int, when When, only ...func(Request) bool) *Hold {
	h := &Hold{reached: make(chan Request, 1), end: make(chan bool, 1), repo: v.repo, n: n, when: when}
	h.Reached = h.reached
	h.only = func(q Request) bool {
		for _, f := range only {
			if !f(q) {
				return false
			}
		}
		return true
	}
	v.rec.mu.Lock()
	defer v.rec.mu.Unlock()
	v.rec.holds = append(v.rec.holds, h)
	return h
}

// Seen returns how many requests the hold has counted. A hold that was never
// reached saw fewer than its n: the client has no more points to be killed at.
func (h *Hold) Seen(b *Bench) int {
	b.rec.mu.Lock()
	defer b.rec.mu.Unlock()
	return h.seen
}

// Drop ends the held request's connection. Release lets it go on.
func (h *Hold) Drop() { h.let(false) }

// Release lets the held request go on as if nothing had been.
func (h *Hold) Release() { h.let(true) }

func (h *Hold) let(on bool) {
	select {
	case h.end <- on:
	default: // already told
	}
}

func (h *Hold) meets(q *Request) bool {
	if h.repo != q.Repo || !h.only(*q) {
		return false
	}
	h.seen++
	return h.seen == h.n
}

// held waits and says whether the request goes on.
func (rec *recorder) held(h *Hold, r *http.Request, q *Request) bool {
	rec.mu.Lock()
	copied := *q
	rec.mu.Unlock()
	h.reached <- copied
	on := false
	select {
	case on = <-h.end:
	case <-r.Context().Done(): // the client is gone
	}
	if !on {
		rec.note(q, copied.Status, map[When]string{Before: "held and dropped before forwarding", After: "held and dropped after forwarding"}[h.when])
	}
	return on
}
