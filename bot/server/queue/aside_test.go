package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"github.com/switchback-ci/switchback/bot/server/queue"
)

// slow is a job that takes long.
type slow struct{}

func (slow) Kind() string { return "slow" }

func (slow) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: "aside"} }

func TestAside(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		began, over, done := make(chan struct{}, 1), make(chan struct{}), make(chan string, 1)
		workers := river.NewWorkers()
		river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, _ *river.Job[slow]) error {
			began <- struct{}{}
			select {
			case <-over:
			case <-ctx.Done():
			}
			return nil
		}))
		err := s.Jobs.Start(t.Context(), queue.Work{AtOnce: 1, Aside: map[string]int{"aside": 1}, Workers: workers,
			Handle: func(_ context.Context, d queue.Delivery) error { done <- d.ID; return nil }})
		if err == nil {
			err = s.Jobs.Enqueue(t.Context(), slow{})
		}
		if err != nil {
			t.Fatal(err)
		}
		<-began
		if _, err := s.Deliveries.Accept(t.Context(), queue.Delivery{ID: "one", Event: "push", ReceivedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		<-done // while the slow one is worked on
		close(over)
	})
}

func TestStored(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		for _, id := range []string{"one", "two"} {
			if _, err := s.Deliveries.Accept(t.Context(), queue.Delivery{ID: id, Event: "push", ReceivedAt: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}
		ids := []string{"one"}
		for n := range 1200 { // more than one statement asks for
			ids = append(ids, fmt.Sprint("unknown ", n))
		}
		got, err := s.Deliveries.Stored(t.Context(), append(ids, "two"))
		if err != nil || len(got) != 2 || !got["one"] || !got["two"] {
			t.Errorf("%v %v", got, err)
		}
		if got, err := s.Deliveries.Stored(t.Context(), nil); err != nil || len(got) != 0 {
			t.Errorf("%v %v", got, err)
		}
	})
}
