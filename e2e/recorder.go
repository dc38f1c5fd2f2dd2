package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Request is one request a client made, and how it was answered.
type Request struct {
	Seq        int // of all requests of the process, from 1
	At         time.Time
	Ended      time.Time // when it was answered; zero if it never was
	Method     string
	Path       string // without /api/v3
	Query      string
	Repo       string // "owner/name", or "" if the path names none
	Login      string // whose token it carried; "" if none or an App's JWT
	Body       []byte
	Status     int // 0 if it was never answered
	Violations []Violation
	Fault      string // what the bench did to it, "" if nothing
}

// Violation is what prism found wrong with a request or its answer.
type Violation struct {
	Location                []string
	Severity, Code, Message string
}

// Content says whether the request writes: GitHub counts these towards its
// secondary limits.
func (q Request) Content() bool {
	return q.Method != http.MethodGet && q.Method != http.MethodHead
}

func (q Request) String() string {
	s := fmt.Sprintf("%d %s %s", q.Seq, q.Method, q.Path)
	if q.Query != "" {
		s += "?" + q.Query
	}
	return fmt.Sprintf("%s → %d %s", s, q.Status, q.Fault)
}

// recorder is the server clients speak to.
type recorder struct {
	tokens *tokens
	direct http.Handler           // gaps
	checks *httputil.ReverseProxy // to prism; nil without it

	mu       sync.Mutex
	requests []*Request
	faults   []*faultState
	trouble  *Trouble
	holds    []*Hold
	ahead    map[string]time.Duration // by repository, see View.Ahead
	shapes   map[string]int           // requests seen, by shape
}

func newRecorder(prism string, gaps http.Handler, t *tokens) *recorder {
	rec := &recorder{tokens: t, direct: gaps, shapes: map[string]int{}}
	if prism != "" {
		u, _ := url.Parse(prism) // made by Start
		rec.checks = &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			// Prism decodes nothing itself but cannot check what is compressed.
			r.Out.Header.Set("Accept-Encoding", "identity")
		}}
	}
	return rec
}

// redirectHeader carries a redirect through prism, which would follow it.
const redirectHeader = "X-Bench-Location"

func unpackRedirect(a *answer) {
	if to := a.header.Get(redirectHeader); to != "" {
		a.status = http.StatusFound
		a.header.Set("Location", to)
		a.header.Del(redirectHeader)
	}
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/_bench/") || strings.HasSuffix(r.URL.Path, "/settings/apps/new") || strings.HasPrefix(r.URL.Path, "/login/oauth/") { // the bench's own, and pages
		rec.direct.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone before it said what it wants
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/api/v3")
	r.URL.RawPath = strings.TrimPrefix(r.URL.RawPath, "/api/v3")
	q, hold, fault := rec.arrive(r, body)
	rec.answer(w, r, q, hold, fault)
}

// arrive records a request and finds what is to be done to it.
func (rec *recorder) arrive(r *http.Request, body []byte) (*Request, *Hold, *Fault) {
	id, _ := rec.tokens.who(r.Header.Get("Authorization"))
	q := &Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery,
		Repo: repoOf(r.URL), Login: id.Login, Body: body}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	q.Seq = len(rec.requests) + 1
	rec.requests = append(rec.requests, q)
	var hold *Hold
	for _, h := range rec.holds {
		if h.meets(q) && hold == nil {
			hold = h
		}
	}
	var fault *Fault
	for _, f := range rec.faults {
		if f.meets(q) && fault == nil {
			fault = &f.Fault
		}
	}
	if fault == nil && rec.trouble != nil {
		fault = rec.trouble.next()
	}
	return q, hold, fault
}

func (rec *recorder) answer(w http.ResponseWriter, r *http.Request, q *Request, hold *Hold, fault *Fault) {
	if hold != nil && hold.when == Before && !rec.held(hold, r, q) {
		drop(w)
		return
	}
	if fault != nil && !rec.faulty(w, r, q, fault) {
		return
	}
	buf := &answer{header: http.Header{}}
	if rec.worthChecking(q) {
		rec.checks.ServeHTTP(buf, checkable(r))
		if buf.status == http.StatusOK && strings.Contains(r.Header.Get("Accept"), "vnd.github.raw") {
			found := buf.header.Values("sl-violations")
			buf = &answer{header: http.Header{}} // prism takes a file for text, and not all are
			rec.direct.ServeHTTP(buf, r.Clone(context.WithoutCancel(r.Context())))
			buf.header[http.CanonicalHeaderKey("sl-violations")] = found
		}
	} else {
		rec.direct.ServeHTTP(buf, r.Clone(context.WithoutCancel(r.Context())))
	}
	unpackRedirect(buf)
	rec.finish(q, buf)
	if hold != nil && hold.when == After && !rec.held(hold, r, q) {
		drop(w)
		return
	}
	if fault != nil && fault.Late {
		rec.fail(w, q, fault)
		return
	}
	if fault != nil && fault.Drop == After {
		rec.note(q, 0, "dropped after forwarding")
		drop(w)
		return
	}
	buf.sendTo(w)
}

func (rec *recorder) finish(q *Request, a *answer) {
	var found []struct {
		Location                []any
		Severity, Code, Message string
	}
	if h := a.header.Get("sl-violations"); h != "" {
		if err := json.Unmarshal([]byte(h), &found); err != nil {
			q.Violations = append(q.Violations, Violation{Location: []string{"request"}, Message: "sl-violations: " + err.Error()})
		}
	}
	a.header.Del("sl-violations")
	unknown := a.status == http.StatusNotFound && strings.Contains(a.body.String(), "NO_PATH_MATCHED_ERROR")
	rec.mu.Lock()
	defer rec.mu.Unlock()
	q.Status, q.Ended = a.status, time.Now()
	if by := rec.ahead[q.Repo]; by != 0 {
		a.header.Set("Date", q.Ended.Add(by).UTC().Format(http.TimeFormat))
	}
	if unknown {
		q.Violations = append(q.Violations, Violation{Location: []string{"request", "path"}, Message: "no path of e2e/openapi.go"})
	}
	for _, f := range found {
		if len(f.Location) == 0 || f.Location[0] != "request" {
			continue // of an answer, which is emulate's; there are thousands
		}
		v := Violation{Severity: f.Severity, Code: f.Code, Message: f.Message}
		for _, l := range f.Location {
			v.Location = append(v.Location, fmt.Sprint(l))
		}
		q.Violations = append(q.Violations, v)
	}
}

func (rec *recorder) note(q *Request, status int, what string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	q.Status, q.Fault = status, what
}

// slashes finds parameters that contain slashes. Prism matches a parameter
// against one path segment only, so they are sent to it escaped.
var slashes = regexp.MustCompile(`^(/repos/[^/]+/[^/]+/(?:contents|git/refs?|git/matching-refs|compare|branches|commits)/)(.+?)(/(?:check-runs|check-suites|pulls|status|statuses|comments|protection)|)$`)

// checkable returns r as prism understands it.
func checkable(r *http.Request) *http.Request {
	out := r.Clone(context.WithoutCancel(r.Context())) // GitHub finishes what it began
	if m := slashes.FindStringSubmatch(r.URL.Path); m != nil {
		out.URL.RawPath = escape(m[1]) + url.PathEscape(m[2]) + m[3]
	}
	return out
}

func escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }

var repoPath = regexp.MustCompile(`^/repos/([^/]+/[^/]+)`)
var repoQuery = regexp.MustCompile(`repo:([^\s+]+/[^\s+]+)`)

func repoOf(u *url.URL) string {
	if m := repoPath.FindStringSubmatch(u.Path); m != nil {
		return m[1]
	}
	if m := repoQuery.FindStringSubmatch(u.Query().Get("q")); m != nil {
		return m[1]
	}
	return ""
}

// answer holds a response back until it is known whether it may be sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(s int) {
	if s >= 200 {
		a.status = s
	}
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a.body.Write(p)
}

func (a *answer) sendTo(w http.ResponseWriter) {
	for k, v := range a.header {
		w.Header()[k] = v
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // the client may be gone
}

// drop ends the connection without an answer.
func drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}
