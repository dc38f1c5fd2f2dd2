package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
	"github.com/switchback-ci/switchback/routing/marker"
)

// posts writes to h and returns its error.
func posts(h *Client) error {
	_, _, err := h.Comments.PostOnce(context.Background(), repo, 1, marker.Format("k", 1), "text", true)
	return err
}

func created(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"id":1}`)
}

func TestGovernorHour(t *testing.T) {
	t.Parallel()
	c := &clock{still: time.Now()}
	h := fakeClient(t, c, created)
	for i := range 500 {
		if i == 80 && c.total() != 0 {
			t.Errorf("waited %v for the first %d", c.total(), i)
		}
		if err := posts(h); err != nil {
			t.Fatalf("write %d: %v", i, err)
		}
		if i == 80 && c.total() < 59*time.Second {
			t.Errorf("waited %v only for write %d", c.total(), i)
		}
	}
	last := time.Duration(0)
	for range 3 {
		err := posts(h)
		if after := wantKind(t, err, advice.Later); after < 30*time.Minute || after <= last {
			t.Errorf("after %v, the one before after %v", after, last)
		} else {
			last = after
		}
	}
	if after := wantKind(t, h.CheckWriteBudget(t.Context()), advice.Later); after < 30*time.Minute {
		t.Errorf("a write is possible after %v", after)
	}
	if _, err := h.EnterWriteQueue(t.Context()); err == nil {
		t.Error("the write queue is open")
	}
	// What starts something creates no content, nor does what takes away.
	if err := h.Runs.RerunFailed(t.Context(), repo, 1); err != nil {
		t.Error(err)
	}
}

func TestCreates(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]bool{
		"GET /repos/o/r/issues/1/comments":                    false,
		"POST /repos/o/r/issues/1/comments":                   true,
		"PATCH /repos/o/r/issues/comments/1":                  true,
		"PUT /repos/o/r/contents/f":                           true,
		"DELETE /repos/o/r/issues/1/labels/x":                 false,
		"POST /repos/o/r/actions/runs/1/rerun-failed-jobs":    false,
		"POST /repos/o/r/actions/workflows/ci.yml/dispatches": false,
	} {
		if method, path, _ := strings.Cut(request, " "); creates(method, path) != want {
			t.Errorf("%s: %v", request, !want)
		}
	}
}

func TestGovernorPoints(t *testing.T) {
	t.Parallel()
	c := &clock{still: time.Now()}
	begun := c.now()
	h := fakeClient(t, c, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"id":1}`) })
	for i := range 901 {
		if _, err := h.Runs.Get(t.Context(), repo, 1, 0); err != nil {
			t.Fatalf("read %d: %v", i, err)
		}
		if d := c.now().Sub(begun); (d >= time.Minute) != (i >= 900) {
			t.Fatalf("read %d after %v", i, d)
		}
	}
}

// However many ask at once, so many requests are under way and no more.
func TestGovernorAtOnce(t *testing.T) {
	t.Parallel()
	var under, most atomic.Int32
	enough := make(chan struct{})
	h := fakeClient(t, &clock{}, func(w http.ResponseWriter, _ *http.Request) {
		n := under.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == 7 {
			close(enough)
		}
		<-enough
		under.Add(-1)
		fmt.Fprint(w, `{"id":1}`)
	}, func(o *Options) {
		o.Rates = ratelimit.GitHub()
		o.Rates.AtOnce = 7
		o.Now, o.Sleep = nil, nil
	})
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := h.Runs.Get(t.Context(), repo, 1, 0); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 7 {
		t.Errorf("%d at once", most.Load())
	}
}

// away is a budget that cannot be reached.
type away struct{ err error }

func (k away) Update(context.Context, func(time.Time, *ratelimit.State)) error { return k.err }
func (k away) Look(context.Context, func(time.Time, *ratelimit.State)) error   { return k.err }

func TestGovernorCannotAsk(t *testing.T) {
	t.Parallel()
	var sent atomic.Int32
	h := fakeClient(t, &clock{}, func(http.ResponseWriter, *http.Request) { sent.Add(1) }, func(o *Options) {
		o.Budget = away{errors.New("no connection to")}
	})
	_, err := h.Runs.Get(t.Context(), repo, 1, 0)
	for _, err := range []error{err, posts(h), h.CheckWriteBudget(t.Context())} {
		if after := wantKind(t, err, advice.Later); after < time.Second {
			t.Errorf("%v, %v", after, err)
		}
	}
	if sent.Load() != 0 {
		t.Errorf("%d requests were sent without leave", sent.Load())
	}
}

// What GitHub tells one holds back all.
func TestGovernorShared(t *testing.T) {
	t.Parallel()
	c := &clock{still: time.Now()}
	shared := &ratelimit.LocalStore{Now: c.now}
	as := func(name string, f http.HandlerFunc) *Client {
		return fakeClient(t, c, f, func(o *Options) { o.Budget, o.Holder, o.MaxWait = shared, name, time.Second })
	}
	one := as("one", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusForbidden)
	})
	other := as("other", func(http.ResponseWriter, *http.Request) { t.Error("sent") })
	wantKind(t, posts(one), advice.Later)
	_, err := other.Runs.Get(t.Context(), repo, 1, 0)
	for _, err := range []error{err, posts(other), other.CheckWriteBudget(t.Context())} {
		if after := wantKind(t, err, advice.Later); after < 599*time.Second {
			t.Errorf("after %v: %v", after, err)
		}
	}
}

// One caller at a time is in the write queue, and not before the limits allow a write.
func TestWriteQueue(t *testing.T) {
	t.Parallel()
	c := &clock{still: time.Now()}
	h := fakeClient(t, c, created, func(o *Options) { o.ContentInterval = 3 * time.Second })
	if err := posts(h); err != nil || h.Busy() {
		t.Fatal(err, h.Busy())
	}
	leave, err := h.EnterWriteQueue(t.Context())
	if err != nil || c.total() != 3*time.Second {
		t.Fatalf("%v after %v", err, c.total())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.EnterWriteQueue(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("two callers are in the write queue: %v", err)
	}
	if err := posts(h); err != nil || c.total() != 3*time.Second {
		t.Errorf("%v, waited %v", err, c.total())
	}
	leave()
	if leave, err = h.EnterWriteQueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	leave()
}
