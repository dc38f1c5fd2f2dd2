// Package ratelimit keeps the requests of one installation of the App, or of one token, within
// GitHub's rate limits, over all processes that use it: requests that create content, points,
// concurrent requests, and one write at a time. A State records what was sent; its methods are pure
// functions of the state and the time, and a Store shares it between processes.
//
// A token of this package stands for one of GitHub's points.
package ratelimit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is the largest number of requests or points in any period of length Per.
type Rate struct {
	N   int
	Per time.Duration
}

func (r Rate) String() string {
	s := r.Per.String()
	for _, zero := range []string{"m0s", "h0m"} { // 1m0s is 1m
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return fmt.Sprintf("%d/%s", r.N, s)
}

// every is the average time between two where the rate is used up.
func (r Rate) every() time.Duration { return r.Per / time.Duration(r.N) }

// Limits are the rate limits of GitHub.
type Limits struct {
	Interval    time.Duration // from the start of a write to the start of the next
	Short, Long Rate          // of requests that create content
	Points      Rate          // of all requests, see ReadTokens and WriteTokens
	AtOnce      int           // concurrent requests
}

// What a request costs, in GitHub's points.
const (
	ReadTokens  = 1 // of a read
	WriteTokens = 5
)

// GitHub returns the limits of github.com.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
func GitHub() Limits {
	return Limits{Interval: time.Second, Short: Rate{80, time.Minute}, Long: Rate{500, time.Hour}, Points: Rate{900, time.Minute}, AtOnce: 100}
}

// String returns the limits as Parse reads them.
func (l Limits) String() string {
	return fmt.Sprintf("content=%v,%v points=%v at-once=%d", l.Short, l.Long, l.Points, l.AtOnce)
}

// Parse reads limits, e.g. "content=80/1m,500/1h points=900/1m at-once=100".
// Limits that it does not name are those of github.com; the interval is not part of the text.
func Parse(s string) (Limits, error) {
	l := GitHub()
	for _, field := range strings.Fields(s) {
		name, value, _ := strings.Cut(field, "=")
		var err error
		switch name {
		case "content":
			short, long, ok := strings.Cut(value, ",")
			if !ok {
				return l, fmt.Errorf("%q has one rate; write two, the shorter period first, e.g. content=80/1m,500/1h", field)
			}
			var lerr error
			l.Short, err = parseRate(short)
			l.Long, lerr = parseRate(long)
			if err = errors.Join(err, lerr); err == nil && l.Long.Per <= l.Short.Per {
				err = fmt.Errorf("%q: the second rate is not over a longer time", field)
			}
		case "points":
			if l.Points, err = parseRate(value); err == nil && l.Points.N < WriteTokens {
				err = fmt.Errorf("%q: a write alone takes %d points", field, WriteTokens)
			}
		case "at-once":
			if l.AtOnce, err = strconv.Atoi(value); err != nil || l.AtOnce < 1 {
				err = fmt.Errorf("%q is no number of requests, at least 1", field)
			}
		default:
			err = fmt.Errorf("%q is none of content=, points= and at-once=", field)
		}
		if err != nil {
			return l, err
		}
	}
	return l, nil
}

// longest bounds the period of a rate, and with it the size of a State.
const longest = 24 * time.Hour

func parseRate(s string) (Rate, error) {
	n, per, _ := strings.Cut(s, "/")
	r := Rate{}
	var err error
	if r.N, err = strconv.Atoi(n); err == nil {
		r.Per, err = time.ParseDuration(per)
	}
	if err != nil || r.N < 1 || r.N > 100_000 || r.Per < time.Second || r.Per > longest {
		return r, fmt.Errorf("%q is no rate: a number from 1 to 100000 and a time from 1s to 24h, e.g. 80/1m", s)
	}
	return r, nil
}
