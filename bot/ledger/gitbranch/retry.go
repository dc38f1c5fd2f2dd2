package gitbranch

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/google/go-github/v60/github"
)

// cause is why a request failed, as far as it matters to what comes next.
type cause int

const (
	final   cause = iota // repeating it will not help
	missing              // 404
	clash                // 409 or 422: perhaps another was faster
	limited              // a rate limit refused it; nothing happened
	unsure               // a server's error or no answer; anything may have happened
)

// causeOf returns why a request failed with err.
func causeOf(err error) cause {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return final
	}
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	if errors.As(err, &primary) || errors.As(err, &secondary) {
		return limited
	}
	switch s := statusOf(err); {
	case s == 0, s >= 500:
		return unsure
	case s == http.StatusNotFound:
		return missing
	case s == http.StatusConflict, s == http.StatusUnprocessableEntity:
		return clash
	case s == http.StatusTooManyRequests, s == http.StatusForbidden && responseOf(err).Header.Get("Retry-After") != "":
		return limited
	}
	return final
}

// responseOf returns the answer that err is, nil if there was none.
func responseOf(err error) *http.Response {
	var res *github.ErrorResponse
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	switch {
	case errors.As(err, &res):
		return res.Response
	case errors.As(err, &primary):
		return primary.Response
	case errors.As(err, &secondary):
		return secondary.Response
	}
	return nil
}

func statusOf(err error) int {
	if r := responseOf(err); r != nil {
		return r.StatusCode
	}
	return 0
}

const (
	tries      = 6               // of a request that changes nothing, or nothing a second time
	longest    = 2 * time.Minute // that a limit is waited out; the caller's queue waits longer ones
	firstPause = 100 * time.Millisecond
)

// patiently repeats a request that may be repeated.
func (g *Git) patiently(ctx context.Context, do func() error) error {
	var err error
	for try := range tries {
		if try > 0 {
			if err := g.pause(ctx, backoff(try)); err != nil {
				return err
			}
		}
		if err = do(); err == nil {
			return nil
		}
		switch causeOf(err) {
		case limited:
			if err := g.waitOut(ctx, err); err != nil {
				return err
			}
		case unsure:
		default:
			return err
		}
	}
	return err
}

// waitOut waits until the limit that err tells of is over. It returns err at
// once if that is too long to wait, or longer than ctx lasts.
func (g *Git) waitOut(ctx context.Context, err error) error {
	wait := waitOf(err, time.Now())
	if end, ok := ctx.Deadline(); wait > longest || ok && time.Until(end) < wait {
		return err
	}
	return g.pause(ctx, wait)
}

// waitOf returns how long the limit that err tells of lasts: what Retry-After
// or the reset time says, else a minute, as GitHub asks.
func waitOf(err error, now time.Time) time.Duration {
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	switch {
	case errors.As(err, &secondary) && secondary.RetryAfter != nil:
		return max(0, *secondary.RetryAfter)
	case errors.As(err, &primary) && !primary.Rate.Reset.IsZero():
		return max(0, primary.Rate.Reset.Sub(now))
	}
	if r := responseOf(err); r != nil {
		if s, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && s >= 0 {
			return time.Duration(s) * time.Second
		}
	}
	return time.Minute
}

// backoff returns how long to wait before the n-th repetition: a random share of
// 100 ms, doubled each time up to about six seconds.
func backoff(n int) time.Duration {
	return rand.N(firstPause << min(n-1, 6))
}
