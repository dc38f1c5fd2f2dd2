package worker

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/redact"
)

// The relay lets the commands of a worker speak to the process that runs it,
// which alone has the ledger and its token: an agent needs neither. It listens on
// the loopback interface only, and each session has a token of its own, so that a
// worker can speak for itself alone.
type relay struct {
	journal *Journal
	channel string
	tokens  map[string]string // session → token
	raise   func(session string, r Raised) error
	server  *http.Server
	url     string

	mu    sync.Mutex
	spent map[string]spending // session → what it recorded
}

// spending is what a worker has recorded by itself.
type spending struct{ times, bytes int }

// What one worker may record by itself while one process runs its pair. Every append
// reads the stream, and in a job it is a request to GitHub: a worker that speaks without end
// would keep the port, and all that comes after it in the ledger, from going on.
const (
	mostTimes = 300
	mostBytes = 16 << 20
)

// spend counts a request of a session, and refuses the one too many.
func (r *relay) spend(session string, n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.spent[session]
	if s.times++; s.times > mostTimes {
		return fmt.Errorf("this worker has sent %d messages and reports of progress, which is the most; say less, less often", mostTimes)
	}
	if s.bytes += n; s.bytes > mostBytes {
		return fmt.Errorf("with this one the messages of this worker have more than %d bytes, which is the most; put what is long into a file and send its name", mostBytes)
	}
	r.spent[session] = s
	return nil
}

// Raised is what a worker says when it calls the operator.
type Raised struct {
	Type     escalation.Type     `json:"type"`
	Severity escalation.Severity `json:"severity"`
	Text     string              `json:"text"`
}

// Sent is what a worker gives to be sent.
type Sent struct {
	Type    plan.MessageType `json:"type"`
	Payload json.RawMessage  `json:"payload,omitempty"`
}

// mostRequest bounds a request, in bytes: a payload and what is around it.
const mostRequest = 2 << 20

// What is kept of a worker's words for people, in bytes.
const (
	mostTask = 500
	mostText = 8 << 10
)

// shown is a worker's text as people may see it.
func shown(s string, most int) string { return cut(markdown.Printable(redact.Text(s)), most) }

func newRelay(d *Journal, l plan.Loop, requests map[string]func(context.Context, string, []byte) (any, error), raise func(string, Raised) error) (*relay, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the workers: %w", err)
	}
	r := &relay{journal: d, channel: l.ChannelID, raise: raise, url: "http://" + ln.Addr().String(),
		tokens: map[string]string{l.ImplSession: newID(), l.TestSession: newID()}, spent: map[string]spending{}}
	redact.Hide(r.tokens[l.ImplSession], r.tokens[l.TestSession])
	mux := http.NewServeMux()
	for pattern, fn := range requests {
		mux.HandleFunc(pattern, r.handle(fn))
	}
	mux.HandleFunc("POST /send", r.handle(func(ctx context.Context, session string, body []byte) (any, error) {
		var in Sent
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if err := r.spend(session, len(body)); err != nil {
			return nil, err
		}
		return r.journal.Send(ctx, plan.Message{ChannelID: r.channel, From: session, Type: in.Type, Payload: in.Payload})
	}))
	mux.HandleFunc("POST /receive", r.handle(func(ctx context.Context, session string, _ []byte) (any, error) {
		got, err := r.journal.Receive(ctx, r.channel, session)
		return orNone(got), err
	}))
	mux.HandleFunc("POST /progress", r.handle(func(ctx context.Context, session string, body []byte) (any, error) {
		var in plan.Progress
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		if err := r.spend(session, len(body)); err != nil {
			return nil, err
		}
		in.Session, in.Task = session, oneLine(shown(in.Task, mostTask))
		return in, r.journal.Progress(ctx, in)
	}))
	mux.HandleFunc("POST /escalate", r.handle(func(_ context.Context, session string, body []byte) (any, error) {
		var in Raised
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		in.Text = shown(in.Text, mostText)
		return in, r.raise(session, in)
	}))
	mux.HandleFunc("POST /feedback", r.handle(func(ctx context.Context, session string, body []byte) (any, error) {
		f, err := plan.ParseFeedback(body)
		if err != nil {
			return nil, err
		}
		if err := r.spend(session, len(body)); err != nil {
			return nil, err
		}
		f = *bounded(masked(f))
		return f, r.journal.Log(ctx, session, f)
	}))
	r.server = &http.Server{Handler: mux, ReadTimeout: time.Minute}
	go func() { _ = r.server.Serve(ln) }() // ends with close
	return r, nil
}

func (r *relay) close() { _ = r.server.Close() }

func (r *relay) session(req *http.Request) (string, bool) {
	given := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	for session, token := range r.tokens {
		if subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1 {
			return session, true
		}
	}
	return "", false
}

func (r *relay) handle(fn func(context.Context, string, []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		session, ok := r.session(req)
		if !ok {
			http.Error(w, "who asks is none of the two workers", http.StatusForbidden)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostRequest))
		if err == nil {
			var out any
			if out, err = fn(req.Context(), session, body); err == nil {
				_, _ = w.Write(asJSON(out))
				return
			}
		}
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// Ask speaks to the process that runs the worker in whose environment this is:
// url and token are its SWITCHBACK_CHANNEL_URL and SWITCHBACK_CHANNEL_TOKEN. What
// is asked is written as JSON, bytes as they are. The answer, JSON, is returned.
func Ask(ctx context.Context, url, token, what string, in any) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	body, raw := in.([]byte)
	if !raw {
		body = asJSON(in)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/"+what, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	// No proxy: the address is this machine's own.
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("the process that runs the port does not answer: %w", err)
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(strings.TrimSpace(string(body)))
	}
	return body, nil
}

// orNone is s, written as [] where there is nothing.
func orNone[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
