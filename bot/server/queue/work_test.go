package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// quickly is the work of handle without long waits between attempts.
func quickly(handle func(context.Context, queue.Delivery) error) queue.Work {
	return queue.Work{Handle: handle, Backoff: func(int) time.Duration { return time.Millisecond }}
}

func start(t *testing.T, s *queue.Store, w queue.Work) {
	t.Helper()
	w.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	if err := s.Jobs.Start(context.Background(), w); err != nil {
		t.Fatal(err)
	}
}

var errAnalyzed = errors.New("as the test wants")

func TestWork(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		var mu sync.Mutex
		calls := map[string]int{}
		w := quickly(func(_ context.Context, d queue.Delivery) error {
			mu.Lock()
			calls[d.ID]++
			n := calls[d.ID]
			mu.Unlock()
			want := delivery(d.ID, len(d.Payload)-5)
			if !bytes.Equal(d.Payload, want.Payload) || !d.ReceivedAt.Equal(at) || d.Event != want.Event || d.Action != want.Action || d.Hook != 7 || d.Installation != 1<<40 {
				t.Errorf("%s came back as another: %d bytes, %+v", d.ID, len(d.Payload), d.ReceivedAt)
			}
			switch d.ID {
			case "panics":
				panic("on purpose")
			case "recovers":
				if n == 3 {
					return nil
				}
				return fmt.Errorf("for now \x00\xff: %w", errAnalyzed)
			case "fails":
				return errors.New("fail: \x00" + strings.Repeat("x", 10_000))
			case "later", "gone":
				if n < 13 { // more than Attempts
					return errors.New(d.ID)
				}
			case "much later":
				return errors.New("far")
			}
			return nil
		})
		w.Advise = func(err error) advice.Advice {
			switch err.Error() {
			case "later":
				return advice.Advice{Kind: advice.Later, After: 0}
			case "gone":
				return advice.Advice{Kind: advice.Gone, After: 0}
			case "far":
				return advice.Advice{Kind: advice.Later, After: time.Hour}
			}
			return advice.Advice{Kind: "another"}
		}
		ids := []string{"plain", "panics", "recovers", "fails", "later", "gone", "much later"}
		for _, id := range ids {
			accept(t, s, delivery(id, 10))
		}
		start(t, s, w)
		if err := s.Jobs.Start(t.Context(), w); err == nil {
			t.Error("Start twice")
		}
		accept(t, s, delivery("large, later", 100_000)) // to one that works
		for id, want := range map[string]struct {
			state    queue.State
			attempts int
			says     string
		}{
			"plain": {queue.Done, 1, ""}, "large, later": {queue.Done, 1, ""}, "recovers": {queue.Done, 3, ""},
			"panics": {queue.DeadLetter, queue.Attempts, "panic: on purpose"}, "fails": {queue.DeadLetter, queue.Attempts, "fail: xxx"},
			"later": {queue.Done, 13, ""}, "gone": {queue.Gone, 1, "gone"}, "much later": {queue.Waiting, 1, "far"},
		} {
			st := reaches(t, s, id, want.state)
			if st.Attempts != want.attempts || !strings.HasPrefix(st.Error, want.says) || len(st.Error) > 4096 || (want.says == "") != (st.Error == "") {
				t.Errorf("%s: %d attempts, want %d; %.80q", id, st.Attempts, want.attempts, st.Error)
			}
			if waits := st.State == queue.Waiting; waits != !st.NextAt.IsZero() || waits && time.Until(st.NextAt) < 50*time.Minute {
				t.Errorf("%s: next at %v", id, st.NextAt)
			}
		}
		counts, err := s.Deliveries.Counts(t.Context())
		if err != nil || counts[queue.Done] != 4 || counts[queue.DeadLetter] != 2 || counts[queue.Gone] != 1 || counts[queue.Waiting] != 1 {
			t.Errorf("Counts = %v, %v", counts, err)
		}
		list, err := s.Deliveries.List(t.Context(), queue.DeadLetter, 9)
		if err != nil || len(list) != 2 || !slices.ContainsFunc(list, func(st queue.Status) bool { return st.ID == "fails" }) {
			t.Errorf("List = %+v, %v", list, err)
		}
		if list, err = s.Deliveries.List(t.Context(), queue.Done, 3); err != nil || len(list) != 3 || list[2].ChangedAt.After(list[0].ChangedAt) {
			t.Errorf("List = %+v, %v", list, err)
		}
		t.Run("what was given up begins again", func(t *testing.T) {
			if err := s.Deliveries.Again(t.Context(), "gone"); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			calls["gone"] = 30
			mu.Unlock()
			if st := reaches(t, s, "gone", queue.Done); st.Attempts != 2 || st.Error != "" {
				t.Errorf("%+v", st)
			}
			for _, id := range []string{"plain", "much later", "none"} {
				if err := s.Deliveries.Again(t.Context(), id); !errors.Is(err, queue.ErrNotAgain) {
					t.Errorf("Again(%s) = %v", id, err)
				}
			}
			if err := s.Deliveries.Again(t.Context(), "fails"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "it was tried as often again", func() bool { return status(t, s, "fails").Attempts == 2*queue.Attempts })
			reaches(t, s, "fails", queue.DeadLetter)
		})
		t.Run("what is done is forgotten in time, and nothing else", func(t *testing.T) {
			later := time.Now().Add(time.Hour)
			if err := s.Deliveries.Prune(t.Context(), later, at); err != nil {
				t.Fatal(err)
			}
			for id, kept := range map[string]bool{"plain": false, "gone": false, "fails": true, "much later": true} {
				if st := status(t, s, id); st.HasPayload != kept {
					t.Errorf("the payload of %s: %v", id, st.HasPayload)
				}
			}
			if fresh, err := s.Deliveries.Accept(t.Context(), delivery("plain", 10)); fresh || err != nil {
				t.Errorf("a pruned one again: %v, %v", fresh, err)
			}
			if err := s.Deliveries.Prune(t.Context(), later, later); err != nil {
				t.Fatal(err)
			}
			if _, ok, err := s.Deliveries.Find(t.Context(), "plain"); ok || err != nil {
				t.Errorf("it is still known: %v, %v", ok, err)
			}
			status(t, s, "fails")
		})
	})
}

// Stop waits for what is under way, and cuts it off when it shall not.
func TestStop(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		begun, goOn := make(chan string, 9), make(chan struct{})
		var ended atomic.Int32
		w := quickly(func(ctx context.Context, d queue.Delivery) error {
			begun <- d.ID
			select {
			case <-goOn:
				ended.Add(1)
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		w.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.Later, After: 0} }
		accept(t, s, delivery("a", 1))
		start(t, s, w)
		<-begun
		stopped := make(chan error)
		go func() { stopped <- s.Jobs.Stop(context.Background()) }()
		goOn <- struct{}{}
		if err := <-stopped; err != nil || ended.Load() != 1 || status(t, s, "a").State != queue.Done {
			t.Errorf("Stop: %v, %d ended, %+v", err, ended.Load(), status(t, s, "a"))
		}
		accept(t, s, delivery("b", 1))
		start(t, s, w)
		<-begun
		if st := status(t, s, "b"); st.State != queue.Working {
			t.Errorf("%+v", st)
		}
		now, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Jobs.Stop(now); err != nil {
			t.Error(err)
		}
		if st := status(t, s, "b"); st.State != queue.Waiting || !strings.Contains(st.Error, "canceled") {
			t.Errorf("%+v", st)
		}
		start(t, s, w)
		<-begun
		close(goOn)
		reaches(t, s, "b", queue.Done)
	})
}

type noteArgs struct{}

func (noteArgs) Kind() string { return "note" }

// The caller's own kinds of jobs run beside the deliveries.
func TestFurtherWorkers(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		var ran atomic.Int32
		w := quickly(func(context.Context, queue.Delivery) error { return nil })
		w.Workers = river.NewWorkers()
		river.AddWorker(w.Workers, river.WorkFunc(func(context.Context, *river.Job[noteArgs]) error {
			if ran.Add(1) == 1 {
				return errors.New("a\x00b") // PostgreSQL would not store that
			}
			return nil
		}))
		w.Periodic = []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(time.Hour),
			func() (river.JobArgs, *river.InsertOpts) { return noteArgs{}, nil }, &river.PeriodicJobOpts{RunOnStart: true})}
		start(t, s, w)
		eventually(t, "the periodic job runs, and again after an error", func() bool { return ran.Load() > 1 })
		if err := s.Jobs.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Jobs.Start(t.Context(), w); err == nil {
			t.Error("the same workers twice")
		}
	})
}

// A job that River gave up by itself leaves its delivery as a dead letter.
func TestGivenUpByRiver(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		accept(t, s, delivery("a", 1))
		accept(t, s, delivery("b", 1))
		text := "UPDATE river_job SET state = 'discarded', finalized_at = scheduled_at WHERE id = (SELECT min(id) FROM river_job)"
		if _, err := p.raw(t).ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		start(t, s, quickly(func(context.Context, queue.Delivery) error { return nil }))
		if st := reaches(t, s, "a", queue.DeadLetter); !strings.Contains(st.Error, "River discarded") {
			t.Errorf("%+v", st)
		}
		reaches(t, s, "b", queue.Done)
		if err := s.Deliveries.Again(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		reaches(t, s, "a", queue.Done)
	})
}

// As many deliveries are in progress as there are slots. Those that a process has taken from River and
// not begun are not begun by Stop, and cost them no attempt.
func TestSlots(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		const all, slots = 12, 2
		s := p.opened(t)
		var ids []string
		for n := range all {
			ids = append(ids, fmt.Sprint("d", n))
			accept(t, s, delivery(ids[n], 1))
		}
		var now, most atomic.Int32
		begun, goOn := make(chan string, all), make(chan struct{})
		w := quickly(func(_ context.Context, d queue.Delivery) error {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			begun <- d.ID
			<-goOn
			return nil
		})
		w.AtOnce = slots
		start(t, s, w)
		first := []string{<-begun, <-begun}
		eventually(t, "more are taken than there are slots", func() bool {
			return number(t, p.raw(t), "SELECT count(*) FROM river_job WHERE state = 'running'") > slots
		})
		stopped := make(chan error)
		go func() { stopped <- s.Jobs.Stop(context.Background()) }()
		eventually(t, "those that wait are given back", func() bool {
			return number(t, p.raw(t), "SELECT count(*) FROM river_job WHERE state = 'available'") == all-slots
		})
		close(goOn)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		for _, id := range ids {
			st, want := status(t, s, id), queue.Received
			if slices.Contains(first, id) {
				want = queue.Done
			}
			if st.State != want || want == queue.Received && st.Attempts != 0 {
				t.Errorf("%+v, want %s", st, want)
			}
		}
		start(t, s, w)
		for _, id := range ids {
			reaches(t, s, id, queue.Done)
		}
		if most.Load() != slots {
			t.Errorf("%d were in progress at once, want %d", most.Load(), slots)
		}
	})
}
