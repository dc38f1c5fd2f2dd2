package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

func TestSerializationKey(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		for i, key := range []string{"5#1", "5#1", "5#2", "5#1", ""} {
			d := delivery(string(rune('a'+i)), 5000*i)
			d.Key, d.ReceivedAt = key, at.Add(time.Duration(-i)*time.Second)
			if i == 3 {
				d.Event = "issues"
			}
			accept(t, s, d)
		}
		ids := func(n int) string {
			list, err := s.Deliveries.PendingWithKey(t.Context(), "5#1", "workflow_run", n)
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, d := range list {
				if d.Key != "5#1" || !strings.HasPrefix(string(d.Payload), "{\x00}ü") {
					t.Errorf("%+v", d)
				}
				out = append(out, d.ID)
			}
			return strings.Join(out, " ")
		}
		if got := ids(9) + ", " + ids(1); got != "b a, b" {
			t.Errorf("waiting are %s", got)
		}
		if counts, oldest, err := s.Deliveries.Unfinished(t.Context()); err != nil || !oldest.Equal(at.Add(-4*time.Second)) || len(counts) != 1 || counts[queue.Received] != 5 {
			t.Errorf("%v %v %v", counts, oldest, err)
		}
		if err := s.Deliveries.Finish(t.Context(), "a", "b", "none"); err != nil {
			t.Fatal(err)
		}
		if got := ids(9); got != "" {
			t.Errorf("waiting are %s", got)
		}
		worked := make(chan string, 9)
		start(t, s, queue.Work{Handle: func(_ context.Context, d queue.Delivery) error {
			worked <- d.ID + d.Key
			return nil
		}})
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			reaches(t, s, id, queue.Done)
		}
		close(worked)
		for got := range worked {
			if strings.HasPrefix(got, "a") || strings.HasPrefix(got, "b") {
				t.Errorf("%s was finished, and is worked on", got)
			}
		}
		if counts, oldest, err := s.Deliveries.Unfinished(t.Context()); err != nil || !oldest.IsZero() || len(counts) > 0 {
			t.Errorf("%v %v %v", counts, oldest, err)
		}
	})
}

func TestAdviceDeadLetter(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		accept(t, s, delivery("a", 10))
		tries := make(chan int, 99)
		start(t, s, queue.Work{
			Handle: func(context.Context, queue.Delivery) error { tries <- 1; return errors.New("no JSON") },
			Advise: func(error) advice.Advice { return advice.Advice{Kind: advice.Invalid, After: 0} },
		})
		st := reaches(t, s, "a", queue.DeadLetter)
		if st.Error != "no JSON" || len(tries) != 1 {
			t.Errorf("%+v after %d tries", st, len(tries))
		}
		beside, err := queue.OpenBeside(t.Context(), p.url, p.dir)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := beside.Deliveries.List(t.Context(), queue.DeadLetter, 9); err != nil || len(list) != 1 {
			t.Errorf("%v %v", list, err)
		}
		if err := beside.Deliveries.Again(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		if err := beside.Close(); err != nil {
			t.Error(err)
		}
		eventually(t, "it is tried again", func() bool { return len(tries) == 2 })
	})
}

func TestOpenBesideMakesNothing(t *testing.T) {
	t.Parallel()
	if s, err := queue.OpenBeside(t.Context(), "", t.TempDir()); err == nil {
		t.Error("a database was made", s.Close())
	}
}

type tick struct {
	N int `json:"n"`
}

func (tick) Kind() string { return "tick" }

func (tick) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

func TestEnqueue(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		for range 2 {
			if err := s.Jobs.Enqueue(t.Context(), tick{1}, tick{2}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Jobs.Enqueue(t.Context()); err != nil {
			t.Error(err)
		}
		if n := number(t, p.raw(t), "SELECT count(*) FROM river_job WHERE kind = 'tick'"); n != 2 {
			t.Errorf("%d jobs", n)
		}
	})
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		ctx := t.Context()
		want := func(id int64, want queue.Repository) {
			t.Helper()
			if got, ok, err := s.Repositories.Get(ctx, id); err != nil || !ok || got != want {
				t.Errorf("%+v %v %v, want %+v", got, ok, err, want)
			}
		}
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		if _, ok, err := s.Repositories.Get(ctx, 5); ok || err != nil {
			t.Error(ok, err)
		}
		for range 2 {
			r, err := s.Repositories.Add(ctx, 5, 1, "octo/app")
			if err != nil || r != (queue.Repository{ID: 5, Installation: 1, Name: "octo/app", Ledger: "octo/app"}) {
				t.Errorf("%+v %v", r, err)
			}
		}
		check(s.Repositories.Move(ctx, 5, 2, "acme/tool"))
		check(s.Repositories.Imported(ctx, 5))
		want(5, queue.Repository{ID: 5, Installation: 2, Name: "acme/tool", Ledger: "octo/app", Imported: true})
		if r, err := s.Repositories.Add(ctx, 6, 1, "octo/app"); err != nil || r.Ledger != "octo/app~6" {
			t.Errorf("%+v %v", r, err)
		}
		check(s.Repositories.Lose(ctx, 6))
		if live, err := s.Repositories.List(ctx); err != nil || len(live) != 1 || live[0].ID != 5 {
			t.Errorf("%+v %v", live, err)
		}
		check(s.Repositories.LoseInstallation(ctx, 2))
		if live, err := s.Repositories.List(ctx); err != nil || len(live) != 0 {
			t.Errorf("%+v %v", live, err)
		}
		check(s.Repositories.Move(ctx, 5, 3, "acme/tool")) // it came back
		want(5, queue.Repository{ID: 5, Installation: 3, Name: "acme/tool", Ledger: "octo/app", Imported: true})
	})
}

func TestHurry(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.opened(t)
		d := delivery("suspended", 10)
		accept(t, s, d)
		tries := make(chan struct{}, 9)
		start(t, s, queue.Work{
			Handle: func(context.Context, queue.Delivery) error {
				tries <- struct{}{}
				if len(tries) > 1 {
					return nil
				}
				return errors.New("suspended")
			},
			Advise: func(error) advice.Advice { return advice.Advice{Kind: advice.Later, After: time.Hour} },
		})
		reaches(t, s, d.ID, queue.Waiting)
		for _, installation := range []int64{d.Installation + 1, d.Installation} {
			if n := len(tries); n != 1 {
				t.Errorf("tried %d times before its installation is let go on", n)
			}
			if err := s.Deliveries.Hurry(t.Context(), installation); err != nil {
				t.Fatal(err)
			}
		}
		reaches(t, s, d.ID, queue.Done)
	})
}
