package sse_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/database"
	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/bot/ledger/sqlledger"
	"github.com/switchback-ci/switchback/bot/web/sse"
	"github.com/switchback-ci/switchback/internal/sample"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

const teller = "SWITCHBACK_TEST_TELLER"

func TestMain(m *testing.M) {
	if where := os.Getenv(teller); where != "" {
		fmt.Fprintln(os.Stderr, tellOf(where))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// tellOf projects and serves the ledger of a database until the process is killed.
func tellOf(where string) error {
	ctx := context.Background()
	db, err := database.OpenFile(ctx, where, false)
	if err != nil {
		return err
	}
	f := eventstream.New(db)
	h := eventstream.NewBroadcaster(f.Log, sse.Frame)
	go f.Tail.Run(ctx, slog.Default())
	go h.Run(ctx, slog.Default())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String())
	return http.Serve(l, &sse.Handler{Events: h, See: func(*http.Request) (sse.View, error) { return sse.All, nil }})
}

// tells starts a process that serves events, and returns its address.
func tells(t *testing.T, where string) (*exec.Cmd, string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env, c.Stderr = append(os.Environ(), teller+"="+where), os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return c, strings.TrimSpace(url)
}

// The serving process is killed repeatedly while the ledger grows. A client that reconnects with
// the id of its last event gets each change of the ledger once (S2-85).
func TestKilledInBetween(t *testing.T) {
	t.Parallel()
	where := filepath.Join(t.TempDir(), "feed.db")
	db, err := database.OpenFile(t.Context(), where, true)
	if err == nil {
		err = db.Migrate(t.Context(), nil, sqlledger.Line(), eventstream.Line())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	made, want, total := cases(24), map[string][]activity.Event{}, 0
	for _, s := range made {
		events, err := activity.Since(s.Key, s.Events, 0)
		if err != nil {
			t.Fatal(err)
		}
		want[s.Key] = events
		total += len(events)
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		led := sqlledger.New(db)
		for _, s := range made {
			if err := inSteps(led, s); err != nil {
				t.Error(err)
			}
		}
	})
	got, last := map[string][]activity.Event{}, "0"
	for n, life := 0, 1; n < total; life++ {
		c, url := tells(t, where)
		x := &service{url: url}
		in := x.get(t, "", last)
		for here := 0; n < total && here < total/5; {
			f, err := in.next()
			if err != nil {
				t.Fatal(err)
			}
			if f.id != "" {
				last = f.id
			}
			if f.data == "" {
				continue
			}
			e := decoded(t, f)
			e.ID = 0
			got[e.Stream] = append(got[e.Stream], e)
			n, here = n+1, here+1
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if life > 20 {
			t.Fatalf("%d of %d events", n, total)
		}
	}
	writing.Wait()
	for key, events := range want {
		for i := range events {
			events[i].At = events[i].At.Truncate(time.Millisecond)
		}
		if !reflect.DeepEqual(got[key], events) {
			t.Errorf("%s: told %d events, want %d, or others", key, len(got[key]), len(events))
		}
	}
}

func inSteps(led *sqlledger.Ledger, s sample.Stream) error {
	v, err := led.Append(context.Background(), s.Key, "", s.Events[:1])
	for _, e := range s.Events[1:] {
		if err != nil {
			break
		}
		v, err = led.Append(context.Background(), s.Key, v, []routing.Event{e})
	}
	return err
}

// The time of one event from the ledger to 1,000 open streams: median and 99th percentile.
func BenchmarkThousandStreams(b *testing.B) {
	const open = 1000
	x := newService(b, nil)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { x.feed.Tail.Run(ctx, slog.New(slog.DiscardHandler)) })
	defer func() { stop(); running.Wait() }()
	led := sqlledger.New(x.db)
	type arrival struct {
		stream string
		at     time.Time
	}
	came := make(chan arrival, open*64)
	for range open {
		c := x.get(b, "", "")
		if _, err := c.next(); err != nil {
			b.Fatal(err)
		}
		go func() {
			for {
				f, err := c.next()
				if err != nil {
					return
				}
				if f.event == string(activity.SessionStart) {
					came <- arrival{f.data, time.Now()}
				}
			}
		}()
	}
	s := cases(1)[0]
	var took []time.Duration
	b.ResetTimer()
	for i := range b.N {
		key := fmt.Sprintf("acme/shop#%d", 1000+i)
		e := s.Events[0]
		e.Stream = key
		began := time.Now()
		if _, err := led.Append(ctx, key, "", []routing.Event{e}); err != nil {
			b.Fatal(err)
		}
		for range open {
			took = append(took, (<-came).at.Sub(began))
		}
	}
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
