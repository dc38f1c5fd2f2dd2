package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"
	"github.com/switchback-ci/switchback/bot/advice"
)

// What errors.Is can find in an error of this package.
var (
	ErrNotFound   = errors.New("not found")
	ErrAbsent     = fmt.Errorf("the repository is %w", ErrNotFound) // all of it, for this identity
	ErrReadOnly   = advice.New("the token may not write", advice.Advice{Kind: advice.Blocked, Reason: "read-only"})
	ErrMoved      = errors.New("the issue was transferred or deleted")
	ErrIncomplete = errors.New("the listing is incomplete")
	ErrSeveral    = errors.New("several pull requests match")
	ErrTooLarge   = errors.New("too large")
	ErrUnsafe     = errors.New("unsafe archive")
	ErrIssueCap   = errors.New("too many new issues")
	ErrArchived   = advice.New("the repository is archived", advice.Advice{Kind: advice.Blocked, After: time.Hour, Reason: "archived"})
)

// Error is the error of every method of a Client and its services.
type Error struct {
	Kind      advice.Kind
	After     time.Duration // of Later: the least time to wait, 0 if GitHub did not say
	Ambiguous bool          // a write may or may not have happened: read before writing again
	Status    int           // of the answer, 0 if there was none
	Op        string        // what was wanted
	Message   string        // redacted
	Missing   string        // permission that the token lacks, as a workflow writes it, such as "issues: write"; "" if unknown

	err error
}

func (e *Error) Error() string {
	s := e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	return s
}

// Advice implements advice.Adviser.
func (e *Error) Advice() advice.Advice {
	var cause advice.Adviser
	if errors.As(e.err, &cause) {
		return cause.Advice()
	}
	return advice.Advice{Kind: e.Kind, After: e.After}
}

// Unwrap returns one of this package's sentinels or a context's error.
func (e *Error) Unwrap() error { return e.err }

// Ambiguous reports whether err leaves open if a write happened.
func Ambiguous(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Ambiguous
}

// Wrap makes an *Error of what Client returned. Op says what was wanted.
func Wrap(op string, err error) error {
	var own *Error
	var res *github.ErrorResponse
	var rate *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		e := *own
		if e.Op == "" {
			e.Op = op
		} else if e.Op != op {
			e.Op = op + ": " + e.Op
		}
		return &e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: advice.Later, Op: op, Message: cause(err).Error(), Ambiguous: true, err: cause(err)}
	case errors.As(err, &rate):
		return &Error{Kind: advice.Later, After: max(0, time.Until(rate.Rate.Reset.Time)), Op: op, Status: http.StatusForbidden, Message: tidy(rate.Message)}
	case errors.As(err, &abuse):
		e := &Error{Kind: advice.Later, Op: op, Status: http.StatusForbidden, Message: tidy(abuse.Message)}
		if abuse.RetryAfter != nil {
			e.After = *abuse.RetryAfter
		}
		return e
	case errors.As(err, &res) && res.Response != nil:
		return answered(op, res)
	}
	// Cut off, or not JSON: what was asked for may have been done.
	return &Error{Kind: advice.Later, Op: op, Message: tidy(err.Error()), Ambiguous: true}
}

// cause returns the context's error without the address it was wrapped with.
func cause(err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return context.DeadlineExceeded
}

func answered(op string, r *github.ErrorResponse) *Error {
	e := &Error{Kind: advice.Fail, Op: op, Status: r.Response.StatusCode, Message: tidy(explain(r))}
	read := r.Response.Request != nil && !writes(r.Response.Request.Method)
	switch s := r.Response.StatusCode; {
	case s == http.StatusForbidden && strings.Contains(r.Message, "Resource not accessible by"):
		e.Kind, e.err, e.Missing = advice.Blocked, ErrReadOnly, missingPermission(r.Response)
	case s == http.StatusForbidden && strings.Contains(r.Message, "installation has been suspended"):
		e.Kind, e.err = advice.Blocked, ErrSuspended // the token was made before
	case s == http.StatusForbidden && strings.Contains(r.Message, "was archived so is read-only"):
		e.Kind, e.err = advice.Blocked, ErrArchived
	case s == http.StatusNotFound, s == http.StatusGone, s == http.StatusConflict && read: // 409: an empty repository
		e.Kind, e.err = advice.Gone, ErrNotFound
	case s == http.StatusMovedPermanently:
		e.Kind, e.err = advice.Gone, ErrMoved
	case s >= 500, s == http.StatusConflict, s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		e.Kind = advice.Later
		e.Ambiguous = s >= 500 && !read
	}
	return e
}

// explain puts the message and the details of an answer into one line.
func explain(r *github.ErrorResponse) string {
	parts := []string{r.Message}
	if r.Message == "" {
		parts[0] = http.StatusText(r.Response.StatusCode)
	}
	for _, d := range r.Errors {
		switch {
		case d.Message != "":
			parts = append(parts, d.Message)
		case d.Field != "" || d.Code != "":
			parts = append(parts, strings.TrimSpace(d.Field+" "+d.Code))
		}
	}
	return strings.Join(parts, "; ")
}

func failf(op string, sentinel error, format string, args ...any) *Error {
	return &Error{Kind: advice.Fail, Op: op, Message: tidy(fmt.Sprintf(format, args...)), err: sentinel}
}

// moved makes of a missing issue one that was transferred or deleted.
func moved(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == advice.Gone {
		c := *e
		c.err = ErrMoved
		return &c
	}
	return err
}

// network describes an error of the transport without the address it was for:
// a signed one is as good as a token.
func network(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return tidy(err.Error())
}
