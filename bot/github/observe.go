package github

import (
	"net/http"
	"strconv"
)

// Answer describes a response of the API, for metrics.
type Answer struct {
	Method    string
	Status    int
	Unchanged bool   // nothing had changed since it was asked last: a read that cost nothing
	Resource  string // whose rate limit it counts against, "" if GitHub did not say
	Remaining int    // requests left of that, -1 if GitHub did not say
}

func answerOf(res *http.Response) Answer {
	a := Answer{Status: res.StatusCode, Unchanged: res.Header.Get(fromCache) != "", Resource: res.Header.Get("X-Ratelimit-Resource"), Remaining: -1}
	if res.Request != nil {
		a.Method = res.Request.Method
	}
	if n, err := strconv.Atoi(res.Header.Get("X-Ratelimit-Remaining")); err == nil && n >= 0 {
		a.Remaining = n
	}
	return a
}
