package gitbranch

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/switchback-ci/switchback/bot/github"
)

// cause is why a write failed, as far as it matters to what comes next.
type cause int

const (
	final   cause = iota // another attempt will not help, or not now
	missing              // 404
	clash                // 409 or 422: perhaps another was faster
	unsure               // anything may have happened
)

// causeOf returns why a write failed with err.
func causeOf(err error) cause {
	var e *github.Error
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), !errors.As(err, &e):
		return final
	case e.Status == http.StatusNotFound:
		return missing
	case e.Status == http.StatusConflict, e.Status == http.StatusUnprocessableEntity:
		return clash
	case e.Ambiguous:
		return unsure
	}
	return final
}

// statusOf returns the status of the response that err is, 0 if there was none.
func statusOf(err error) int {
	var e *github.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// forbidden reports whether a 409 is a rule of the repository, which no repetition will change.
func forbidden(err error) bool {
	var e *github.Error
	if !errors.As(err, &e) {
		return false
	}
	text := strings.ToLower(e.Message)
	return strings.Contains(text, "rule violation") || strings.Contains(text, "protected branch")
}
