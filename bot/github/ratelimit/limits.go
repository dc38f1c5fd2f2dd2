// Package ratelimit says how much one installation of the App, or one token, may
// ask of GitHub, over all processes that speak for it: so many requests that
// create content, so many points, so many requests at once, one write at a
// time. What was sent is a State; its methods are pure functions of it and of
// the time, and a Keeper keeps it for all who share it.
package ratelimit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Rate is how many there may be in any span of time.
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

// every is the time that one takes where all are used.
func (r Rate) every() time.Duration { return r.Per / time.Duration(r.N) }

// Limits are what GitHub lets through.
type Limits struct {
	Interval    time.Duration // from the beginning of a write to that of the next
	Short, Long Rate          // of requests that create content
	Points      Rate          // of all requests, see Point and WritePoints
	AtOnce      int           // requests under way
}

// What a request costs.
const (
	Point       = 1 // that reads
	WritePoints = 5
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
// What is not named is as GitHub has it; the interval is not read.
func Parse(s string) (Limits, error) {
	l := GitHub()
	for _, field := range strings.Fields(s) {
		name, value, _ := strings.Cut(field, "=")
		var err error
		switch name {
		case "content":
			short, long, ok := strings.Cut(value, ",")
			if !ok {
				return l, fmt.Errorf("%q has one rate; write two, the shorter first, e.g. content=80/1m,500/1h", field)
			}
			var lerr error
			l.Short, err = parseRate(short)
			l.Long, lerr = parseRate(long)
			if err = errors.Join(err, lerr); err == nil && l.Long.Per <= l.Short.Per {
				err = fmt.Errorf("%q: the second rate is not over a longer time", field)
			}
		case "points":
			if l.Points, err = parseRate(value); err == nil && l.Points.N < WritePoints {
				err = fmt.Errorf("%q: a write alone takes %d points", field, WritePoints)
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

// longest keeps what has to be remembered bounded.
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
