package sse_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/routing/activity"
)

func TestStream(t *testing.T) {
	t.Parallel()
	made := cases(12)
	t.Run("goes on from Last-Event-ID, before after, and without either with the present", func(t *testing.T) {
		t.Parallel()
		x := newService(t, nil)
		x.add(t, made[:6]...)
		now := x.get(t, "", "")
		first, err := now.next()
		if err != nil || !first.retry || first.id == "" || first.data != "" {
			t.Fatalf("%+v, %v", first, err)
		}
		x.add(t, made[6:]...)
		all := ids(x.kept(t))
		n := slices.Index(all, mustInt(t, first.id)) + 1
		if got := ids(now.events(t, len(all)-n)); !slices.Equal(got, all[n:]) {
			t.Errorf("from the present: %v, want %v", got, all[n:])
		}
		for query, last := range map[string]string{"after=0": "", "after=7": "0", "repo=": "0"} {
			if strings.HasPrefix(query, "repo") {
				query = ""
			}
			if got := ids(x.get(t, query, last).events(t, len(all))); !slices.Equal(got, all) {
				t.Errorf("%q, %q: %v", query, last, got)
			}
		}
		if ct := now.res.Header.Get("Content-Type"); ct != "text/event-stream" {
			t.Error(ct)
		}
	})
	t.Run("a subscription per session, with those below it (S2-83)", func(t *testing.T) {
		t.Parallel()
		x := newService(t, nil)
		x.add(t, made...)
		want := map[string][]int64{}
		for _, e := range x.kept(t) {
			want["session="+url.QueryEscape(e.Session)] = append(want["session="+url.QueryEscape(e.Session)], e.ID)
			want["repo="+e.Repo] = append(want["repo="+e.Repo], e.ID)
		}
		for query, list := range want {
			if got := ids(x.get(t, "after=0&"+query, "").events(t, len(list))); !slices.Equal(got, list) {
				t.Errorf("%s: %v, want %v", query, got, list)
			}
		}
	})
	t.Run("has signs of life that say where to go on", func(t *testing.T) {
		t.Parallel()
		x := newServiceWithin(t, time.Second, func(h *sse.Handler) { h.Beat = 5 * time.Millisecond })
		c := x.get(t, "repo=no/one&after=0", "")
		x.add(t, made...)
		all := ids(x.kept(t))
		last := fmt.Sprint(all[len(all)-1])
		for c.id != last {
			f, err := c.next()
			if err != nil || f.data != "" {
				t.Fatalf("%+v, %v", f, err)
			}
		}
		for beats := 0; beats < 250; { // longer than the server's own time limits
			if f, err := c.next(); err != nil {
				t.Fatal(err)
			} else if f.comment {
				beats++
			}
		}
	})
	t.Run("says that a place is none of this feed", func(t *testing.T) {
		t.Parallel()
		x := newService(t, nil)
		x.add(t, made...)
		all := x.kept(t)
		f, err := x.get(t, "after=99999999", "").next()
		if want := fmt.Sprint(all[len(all)-1].ID); err != nil || f.event != sse.Reset || f.id != want {
			t.Errorf("%+v, %v, want id %s", f, err, want)
		}
	})
	t.Run("ends when nothing more is told", func(t *testing.T) {
		t.Parallel()
		x := newService(t, nil)
		c := x.get(t, "", "")
		if _, err := c.next(); err != nil {
			t.Fatal(err)
		}
		x.stop()
		if f, err := c.next(); err == nil {
			t.Errorf("%+v", f)
		}
		if code := x.get(t, "", "").res.StatusCode; code != http.StatusServiceUnavailable {
			t.Error(code)
		}
	})
	t.Run("refuses what is no place, who may see nothing, and too many", func(t *testing.T) {
		t.Parallel()
		var denied atomic.Bool
		x := newService(t, func(h *sse.Handler) {
			h.Most = 1
			h.See = func(*http.Request) (sse.View, error) {
				if denied.Load() {
					return nil, errors.New("signed out")
				}
				return sse.All, nil
			}
		})
		for query, code := range map[string]int{"after=x": 400, "after=-1": 400, "after=9223372036854775808": 400} {
			if got := x.get(t, query, "").res.StatusCode; got != code {
				t.Errorf("%s: %d", query, got)
			}
		}
		c := x.get(t, "", "")
		if _, err := c.next(); err != nil {
			t.Fatal(err)
		}
		if got := x.get(t, "", "").res.StatusCode; got != http.StatusServiceUnavailable {
			t.Error(got)
		}
		denied.Store(true)
		if got := x.get(t, "", "").res.StatusCode; got != http.StatusForbidden {
			t.Error(got)
		}
	})
}

func mustInt(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whatever the request, a stream contains no event of a repository that the client may not read,
// under any name, also after access has ended; it contains all others.
func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	made := cases(40)
	names := []string{"acme/shop", "acme/stock", "acme/web", "acme/billing"}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			view := map[string]string{}
			for _, n := range names {
				if r.IntN(2) == 0 {
					view[n] = n
					if r.IntN(2) == 0 {
						view[n] = strings.Replace(n, "acme/", "new/", 1)
					}
				}
			}
			x := newService(t, func(h *sse.Handler) {
				h.Beat = 5 * time.Millisecond
				h.See = func(*http.Request) (sse.View, error) {
					return func(kept string) (string, bool) { now, ok := view[kept]; return now, ok }, nil
				}
			})
			half := r.IntN(len(made))
			x.add(t, made[:half]...)
			repo, query := names[r.IntN(len(names))], "after=0"
			if r.IntN(2) == 0 {
				query += "&repo=" + repo
			} else {
				repo = ""
			}
			c := x.get(t, query, "")
			x.add(t, made[half:]...)
			var want []activity.Event
			all := x.kept(t)
			for _, e := range all {
				now, ok := view[e.Repo]
				if !ok || repo != "" && now != repo {
					continue
				}
				rest := strings.TrimPrefix(e.Stream, e.Repo)
				if now != e.Repo {
					e.Repo, e.Stream, e.Session = now, now+rest, now+rest // of a case
				}
				want = append(want, e)
			}
			for i, e := range c.events(t, len(want)) {
				if got, w := fmt.Sprintf("%+v", e), fmt.Sprintf("%+v", want[i]); got != w {
					t.Fatalf("%s\nwant\n%s", got, w)
				}
			}
			for last := fmt.Sprint(all[len(all)-1].ID); c.id != last; { // up to the end, nothing else
				if f, err := c.next(); err != nil || f.data != "" {
					t.Fatalf("%+v, %v", f, err)
				}
			}
		})
	}
}

func TestRightsEnd(t *testing.T) {
	t.Parallel()
	var signedIn, may atomic.Bool
	signedIn.Store(true)
	may.Store(true)
	x := newService(t, func(h *sse.Handler) {
		h.Beat, h.Again = 5*time.Millisecond, time.Millisecond
		h.See = func(*http.Request) (sse.View, error) {
			if !signedIn.Load() {
				return nil, errors.New("signed out")
			}
			ok := may.Load()
			return func(kept string) (string, bool) { return kept, ok }, nil
		}
	})
	c := x.get(t, "after=0", "")
	made := cases(2)
	x.add(t, made[0])
	c.events(t, len(x.kept(t)))
	may.Store(false)
	for beats := 0; beats < 2; { // the second was written after See was asked
		if f, err := c.next(); err != nil {
			t.Fatal(err)
		} else if f.comment {
			beats++
		}
	}
	x.add(t, made[1])
	all := x.kept(t)
	for c.id != fmt.Sprint(all[len(all)-1].ID) {
		if f, err := c.next(); err != nil || f.data != "" {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	signedIn.Store(false)
	for {
		if _, err := c.next(); err != nil {
			break // the test's own time limit is the other end
		}
	}
}

// A client that reads nothing is disconnected, and fifty others get all events.
func TestStuckClient(t *testing.T) {
	t.Parallel()
	x := newService(t, func(h *sse.Handler) { h.Write = time.Second })
	conn, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(conn, "GET /events?after=0 HTTP/1.1\r\nHost: x\r\n\r\n")
	made := cases(16)
	others := make([]*client, 50)
	for i := range others {
		others[i] = x.get(t, "after=0", "")
	}
	x.add(t, made...) // more than the stuck one's buffers hold
	var reading sync.WaitGroup
	var mu sync.Mutex
	got := make([][]int64, len(others))
	for i, c := range others {
		reading.Go(func() {
			for {
				f, err := c.next()
				if t.Context().Err() != nil || err != nil && x.ended.Load() {
					return
				}
				if err != nil { // too slow, on a machine with much else to do: it comes again
					c = x.get(t, "", or(c.id, "0"))
					continue
				}
				if f.data != "" {
					n, _ := strconv.ParseInt(f.id, 10, 64)
					mu.Lock()
					got[i] = append(got[i], n)
					mu.Unlock()
				}
			}
		})
	}
	all := ids(x.kept(t))
	for i := range others {
		for told := 0; told < len(all); time.Sleep(5 * time.Millisecond) {
			mu.Lock()
			told = len(got[i])
			mu.Unlock()
		}
	}
	for x.broadcaster.Subscribers() > len(others) { // the test's own time limit is the other end
		time.Sleep(5 * time.Millisecond)
	}
	x.stop()
	reading.Wait()
	for i, list := range got {
		if !slices.Equal(list, all) {
			t.Errorf("client %d was told %d of %d", i, len(list), len(all))
		}
	}
}
