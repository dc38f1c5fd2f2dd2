package github

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/redact"
)

// tries is how often a request is sent at most because of faults. Rate limits
// are bounded by the time they cost, and by limited.
const (
	tries   = 3
	limited = 6
)

// transport is under go-github: it adds the token, for the API's host only,
// waits for the rate limiter before it sends, waits out rate limits and repeats what
// may be repeated. A POST whose outcome is unknown is never repeated here.
type transport struct {
	base    http.RoundTripper
	api     *url.URL
	token   string
	tokens  func(context.Context) (string, error) // in token's place
	held    atomic.Pointer[string]                // the last of tokens
	observe func(Answer)
	limiter *rateLimiter
	maxWait time.Duration
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error
	log     *slog.Logger
	ahead   atomic.Int64 // nanoseconds by which GitHub's clock is ahead of the local one
}

// hear notes how far GitHub's clock is ahead.
func (t *transport) hear(res *http.Response) {
	if at, err := http.ParseTime(res.Header.Get("Date")); err == nil {
		t.ahead.Store(int64(at.Sub(t.now())))
	}
}

// time returns the time as GitHub has it.
func (t *transport) time() time.Time { return t.now().Add(time.Duration(t.ahead.Load())).UTC() }

type repeatKey struct{}

// again marks requests that may be repeated whatever their method; once marks
// those that may not.
func again(ctx context.Context) context.Context { return context.WithValue(ctx, repeatKey{}, true) }
func once(ctx context.Context) context.Context  { return context.WithValue(ctx, repeatKey{}, false) }

func repeatable(req *http.Request) bool {
	if v, ok := req.Context().Value(repeatKey{}).(bool); ok {
		return v
	}
	return req.Method != http.MethodPost
}

func writes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

// RoundTrip sends req until it is answered with something other than a rate
// limit or a fault of GitHub's. What it returns as an error is an *Error or
// the context's.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != t.api.Host || req.URL.Scheme != t.api.Scheme {
		return nil, failf("", nil, "%s is not the API", req.URL.Host)
	}
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	return t.persist(req.Context(), req, body)
}

func (t *transport) persist(ctx context.Context, req *http.Request, body []byte) (*http.Response, error) {
	budget := t.maxWait
	faults, waits := 0, 0
	for {
		// First, so that the write lease is not held while a token is requested.
		token, err := t.tokenFor(ctx)
		var res *http.Response
		sent := false
		if err == nil {
			var leave func()
			var waited time.Duration
			if leave, waited, err = t.limiter.acquire(ctx, req.Method, req.URL.Path, budget); err != nil {
				return nil, err
			}
			budget -= waited
			res, sent, err = t.send(req, body, token)
			leave()
		}
		switch {
		case err != nil:
			faults++
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if e := unsent(err, sent && !repeatable(req), faults); e != nil {
				return nil, e
			}
		case t.isLimit(res):
			waits++
			d := t.retryAfter(res)
			discard(res)
			t.limiter.block(ctx, d)
			t.log.Warn("rate limit", "method", req.Method, "path", req.URL.Path, "status", res.StatusCode, "wait", d)
			if waits >= limited {
				return nil, &Error{Kind: advice.Later, After: d, Status: res.StatusCode, Message: "rate limit"}
			}
			continue
		case res.StatusCode >= 500:
			faults++
			if !repeatable(req) {
				discard(res)
				return nil, &Error{Kind: advice.Later, Ambiguous: true, Status: res.StatusCode, Message: http.StatusText(res.StatusCode)}
			}
			if faults >= tries {
				return res, nil
			}
			discard(res)
		default:
			t.remember(ctx, res)
			return res, nil
		}
		t.log.Info("again", "method", req.Method, "path", req.URL.Path, "try", faults+1)
		if err := t.sleep(ctx, backoff(faults)); err != nil {
			return nil, err
		}
	}
}

// unsent returns the error to give up with, or nil to try again.
func unsent(err error, ambiguous bool, faults int) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if ambiguous || faults >= tries {
		return &Error{Kind: advice.Later, Ambiguous: ambiguous, Message: network(err)}
	}
	return nil
}

// send sends one copy of req and says whether any of it may have arrived.
func (t *transport) send(req *http.Request, body []byte, token string) (*http.Response, bool, error) {
	var wrote atomic.Bool
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if !repeatable(req) {
		answered, cancel := untilAnswered(ctx, &wrote)
		defer cancel()
		ctx = answered
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaderField: func(string, []string) { wrote.Store(true) },
		WroteHeaders:     func() { wrote.Store(true) },
	})
	out := req.Clone(ctx)
	if body != nil {
		body = masked(req.URL.Path, body)
		out.ContentLength = int64(len(body))
		// With GetBody net/http itself repeats what it wrote nothing of.
		out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		out.Body, _ = out.GetBody()
	}
	if token != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := t.base.RoundTrip(out)
	if err == nil && !repeatable(req) {
		res.Body, err = read(res.Body) // before cancel
	}
	if err == nil {
		t.hear(res)
	}
	if err == nil && t.observe != nil {
		t.observe(answerOf(res))
	}
	return res, wrote.Load(), err
}

// answerIn is how long after the end of its context the answer to a request is awaited that may have
// arrived and cannot be repeated.
const answerIn = 10 * time.Second

// untilAnswered returns the context of a request that cannot be repeated. Once wrote is true it goes on
// for a while after the end of ctx: to break off would not take the request back, and would leave open
// what came of it.
func untilAnswered(ctx context.Context, wrote *atomic.Bool) (context.Context, context.CancelFunc) {
	answered, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		if !wrote.Load() {
			cancel()
			return
		}
		late := time.NewTimer(answerIn)
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-ended:
		}
	})
	return answered, func() {
		stop()
		close(ended)
		cancel()
	}
}

// read reads a body to its end and closes it.
func read(body io.ReadCloser) (io.ReadCloser, error) {
	data, err := io.ReadAll(body)
	return io.NopCloser(bytes.NewReader(data)), errors.Join(err, body.Close())
}

func (t *transport) tokenFor(ctx context.Context) (string, error) {
	if t.tokens == nil {
		return t.token, nil
	}
	token, err := t.tokens(ctx)
	if err == nil {
		if old := t.held.Swap(&token); old == nil {
			redact.Hide(token)
		} else if *old != token {
			redact.Exchange(*old, token)
		}
	}
	return token, err
}

// masked returns the body of a request to path without secrets: whatever a caller forgot to mask
// is not posted. Files are sent in base64, in which a mask would be an error; of what is written to
// them the ledger has masked the secrets.
func masked(path string, body []byte) []byte {
	if len(body) == 0 || strings.Contains(path, "/contents/") || strings.Contains(path, "/git/") {
		return body
	}
	return redact.JSON(body)
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	return io.ReadAll(req.Body)
}

func discard(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // so that the connection can be used again
	_ = res.Body.Close()
}

func backoff(n int) time.Duration {
	d := 500 * time.Millisecond << min(n-1, 6)
	return d/2 + rand.N(d)
}

// isLimit reports whether an answer says "slow down". The request was not
// carried out then.
func (t *transport) isLimit(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
	default:
		return false
	}
	if res.Header.Get("Retry-After") != "" || res.Header.Get("X-Ratelimit-Remaining") == "0" {
		return true
	}
	head, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	rest := res.Body
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	text := strings.ToLower(string(head))
	return err == nil && (strings.Contains(text, "secondary rate limit") || strings.Contains(text, "abuse detection") || strings.Contains(text, "api rate limit exceeded"))
}

// retryAfter returns how long GitHub wants to be left alone: at least a
// second, and a minute where it does not say.
func (t *transport) retryAfter(res *http.Response) time.Duration {
	if v := res.Header.Get("Retry-After"); v != "" {
		if n, err := strconv.Atoi(v); err == nil {
			return max(time.Second, time.Duration(n)*time.Second)
		}
		if at, err := http.ParseTime(v); err == nil {
			return max(time.Second, at.Sub(t.now()))
		}
	}
	if at := reset(res); !at.IsZero() && res.Header.Get("X-Ratelimit-Remaining") == "0" {
		return max(time.Second, at.Sub(t.now())+time.Second)
	}
	return time.Minute
}

func reset(res *http.Response) time.Time {
	n, err := strconv.ParseInt(res.Header.Get("X-Ratelimit-Reset"), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// remember holds the next requests back if this answer used up the limit.
// The header is removed because go-github would refuse further requests instead of waiting.
func (t *transport) remember(ctx context.Context, res *http.Response) {
	if res.Header.Get("X-Ratelimit-Remaining") != "0" {
		return
	}
	if at := reset(res); !at.IsZero() && res.Header.Get("X-Ratelimit-Resource") != "search" {
		t.limiter.block(ctx, max(0, at.Sub(t.now())+time.Second))
	}
	res.Header.Del("X-Ratelimit-Reset")
}

var issuePath = lazyregexp.New(`/issues/\d+$`)

// redirect follows redirects of the API to itself, for a repository that was
// renamed. A transferred issue is not followed, nor is a write that would turn
// into a read, nor anything to another host.
func (t *transport) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.Method != first.Method || req.URL.Host != t.api.Host || req.URL.Scheme != t.api.Scheme || issuePath.MatchString(first.URL.Path) {
		return http.ErrUseLastResponse
	}
	return nil
}
