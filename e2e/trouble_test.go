package e2e

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// troubles are what GitHub, or the network on the way to it, may do to a
// request.
var troubles = []struct {
	name  string
	fault Fault
}{
	{"429 with Retry-After", RateLimited(429, time.Second)},
	{"403 of the secondary limit", RateLimited(403, time.Second)},
	{"500", Fault{Status: 500}},
	{"502", Fault{Status: 502, Body: "<html>502 Bad Gateway</html>"}},
	{"a connection lost before GitHub has seen the request", Fault{Drop: Before}},
	{"a connection lost after GitHub has done it", Fault{Drop: After}},
}

// TestTrouble lets each request of a run go wrong in turn, in every way, and
// compares the world with that of a run in which nothing went wrong.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for _, ch := range chapters {
		if !slices.Contains([]string{"a second failure", "an escalation", "a mention"}, ch.name) {
			continue
		}
		begin := func() *story {
			s := newStory(t, ch.config)
			s.inside = ch.name != "a second failure" // the Action is a process in the first of these chapters
			ch.prepare(s)
			s.view.Reset()
			return s
		}
		run := func(s *story) Result {
			a := s.action(ch.report, ch.in)
			if s.inside {
				return s.within(a, 0)
			}
			return s.b.RunAction(t, a)
		}
		calm := begin()
		run(calm)
		want, requests := calm.end(), len(calm.view.Requests())
		for _, tr := range troubles {
			// A request that goes wrong is followed by the same one, which does not: of every second
			// request the first attempt goes wrong in one story, and of the others in the next.
			every, last := 3, 2
			if everyKill {
				every, last = 0, requests
			}
			t.Run(fmt.Sprintf("%s: %s at any request leaves the world as if nothing had happened", ch.name, tr.name), func(t *testing.T) {
				if requests < 8 {
					t.Fatalf("only %d requests", requests)
				}
				var wg sync.WaitGroup
				for n := 1; n <= min(requests, last); n++ {
					wg.Go(func() {
						s := begin()
						f := tr.fault
						f.Nth, f.Every = n, every
						s.view.Fault(f)
						res := run(s)
						if res.ExitCode != 0 {
							t.Errorf("request %d: exit %d\n%s\n%s", n, res.ExitCode, res.Stdout, res.Stderr)
						}
						if got := s.end(); got != want {
							t.Errorf("request %d:\ngot  %+v\nwant %+v\n%s", n, got, want, list(s.view))
						}
						s.checkTrouble(n, f)
						s.clean()
					})
				}
				wg.Wait()
			})
		}
	}
}

// checkTrouble tests that the fault was done as often as it should, and that each limit was waited
// out.
func (s *story) checkTrouble(n int, f Fault) {
	s.t.Helper()
	all, wrong := s.view.Requests(), 0
	for i, q := range all {
		if q.Fault == "" {
			continue
		}
		wrong++
		if f.Header.Get("Retry-After") != "" && i+1 < len(all) && all[i+1].At.Sub(q.At) < time.Second {
			s.t.Errorf("request %d: GitHub asked for a second of rest and got %v\n%s", n, all[i+1].At.Sub(q.At), list(s.view))
		}
	}
	if wrong == 0 || f.Every > 0 && wrong < 4 {
		s.t.Errorf("request %d: %d requests went wrong\n%s", n, wrong, list(s.view))
	}
}
