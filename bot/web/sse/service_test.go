package sse_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing/activity"
)

// service is an event stream that is served at an address.
type service struct {
	db          *database.DB
	feed        *eventstream.Store
	broadcaster *eventstream.Broadcaster
	h           *sse.Handler
	url         string
	stop        func() // of the Broadcaster

	ended atomic.Bool
}

func newService(t testing.TB, change func(*sse.Handler)) *service {
	t.Helper()
	return newServiceWithin(t, time.Minute, change)
}

// newServiceWithin is newService with the server's limit for a request and its response.
func newServiceWithin(t testing.TB, limit time.Duration, change func(*sse.Handler)) *service {
	t.Helper()
	db, err := database.OpenFile(t.Context(), filepath.Join(t.TempDir(), "feed.db"), true)
	if err == nil {
		err = db.Migrate(t.Context(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	f := eventstream.New(db)
	x := &service{db: db, feed: f, broadcaster: eventstream.NewBroadcaster(f.Log, sse.Frame)}
	x.h = &sse.Handler{Events: x.broadcaster, See: func(*http.Request) (sse.View, error) { return sse.All, nil }}
	if change != nil {
		change(x.h)
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { x.broadcaster.Run(ctx, slog.New(slog.DiscardHandler)) })
	x.stop = func() { x.ended.Store(true); stop(); running.Wait() }
	web := httptest.NewUnstartedServer(x.h)
	web.Config.ReadTimeout, web.Config.WriteTimeout = limit, limit // as a server has them: a stream goes on
	web.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10) // the kernel's would take megabytes for one that is stuck
		return ctx
	}
	web.Start()
	x.url = web.URL
	t.Cleanup(func() { x.stop(); web.Close(); _ = db.Close() })
	return x
}

func (x *service) add(t testing.TB, list ...sample.Stream) {
	t.Helper()
	for _, s := range list {
		if _, err := x.feed.Projector.Fill(context.Background(), []eventstream.Stream{{Key: s.Key, Events: s.Events}}); err != nil {
			t.Fatal(err)
		}
	}
}

// frame is a block of a stream.
type frame struct {
	id, event, data string
	comment, retry  bool
}

// client reads a stream.
type client struct {
	res *http.Response
	in  *bufio.Reader
	id  string // the last
}

func (x *service) get(t testing.TB, query, last string) *client {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, x.url+"/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &client{res: res, in: bufio.NewReader(res.Body), id: last}
}

// next reads a block, as a browser does.
func (c *client) next() (frame, error) {
	var f frame
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return f, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "":
			if line == "\n" {
				c.id = or(f.id, c.id) // as a browser: what was cut off was not told
				return f, nil
			}
			f.comment = true
		case "id":
			f.id = value
		case "event":
			f.event = value
		case "data":
			f.data = value
		case "retry":
			f.retry = true
		}
	}
}

// events reads n events.
func (c *client) events(t testing.TB, n int) []activity.Event {
	t.Helper()
	var out []activity.Event
	for len(out) < n {
		f, err := c.next()
		if err != nil {
			t.Fatalf("after %d events: %v", len(out), err)
		}
		if f.data == "" {
			continue
		}
		e := decoded(t, f)
		if f.id != strconv.FormatInt(e.ID, 10) || f.event != string(e.Type) || e.At.IsZero() {
			t.Fatalf("%+v", f)
		}
		out = append(out, e)
	}
	return out
}

func decoded(t testing.TB, f frame) (e activity.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(f.data), &e); err != nil {
		t.Fatalf("%v: %s", err, f.data)
	}
	return e
}

func cases(n int) []sample.Stream {
	return slices.Collect(sample.Cases(sample.Options{Seed: 3, Cases: n, End: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}))
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// kept reads the log.
func (x *service) kept(t testing.TB) []activity.Event {
	t.Helper()
	var out []activity.Event
	for {
		after := int64(0)
		if len(out) > 0 {
			after = out[len(out)-1].ID
		}
		list, err := x.feed.Log.After(t.Context(), after, 500)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			return out
		}
		out = append(out, list...)
	}
}

func ids(list []activity.Event) []int64 {
	out := make([]int64, len(list))
	for i, e := range list {
		out[i] = e.ID
	}
	return out
}
