package queue_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/ledgertest"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/routing"
)

// The tests below run this test binary again as an App that is killed.
const (
	childURL  = "SWITCHBACK_STORE_URL"
	childDir  = "SWITCHBACK_STORE_DIR"
	childName = "SWITCHBACK_STORE_CHILD"
	childWork = "SWITCHBACK_STORE_WORK"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childName); name != "" {
		fmt.Fprintln(os.Stderr, app(name, os.Getenv(childWork)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// app takes deliveries and appends to the ledger until it is killed, and prints
// what was acknowledged. With work it works on them as well.
func app(name, work string) error {
	ctx := context.Background()
	s, err := queue.Open(ctx, os.Getenv(childURL), os.Getenv(childDir))
	if err != nil {
		return err
	}
	switch work {
	case "count":
		err = s.Jobs.Start(ctx, counting(s))
	case "beside": // nothing is done in time before the process ends
		err = s.Jobs.Start(ctx, queue.Work{Handle: func(_ context.Context, d queue.Delivery) error {
			time.Sleep(50 * time.Millisecond)
			if d.ID == "deadly" {
				os.Exit(7)
			}
			time.Sleep(200 * time.Millisecond)
			return nil
		}})
	case "die":
		err = s.Jobs.Start(ctx, queue.Work{Handle: func(context.Context, queue.Delivery) error { os.Exit(7); return nil }})
	}
	if err != nil {
		return err
	}
	if work == "die" || work == "beside" {
		select {}
	}
	var wg sync.WaitGroup
	errs := make(chan error, 5)
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%s.%d.%d", name, i, n)
				for range 2 { // GitHub's own, and one delivered again
					if _, err := s.Deliveries.Accept(ctx, delivery(id, 200+4000*(n%3))); err != nil {
						errs <- err
						return
					}
				}
				fmt.Printf("delivery %s\n", id)
			}
		})
	}
	wg.Go(func() {
		for n := 0; ; n++ {
			if err := ledgertest.AppendAnyhow(ctx, s.Ledger(), "acme/app#1", ledgertest.Note("", fmt.Sprintf("%s.%d", name, n))); err != nil {
				errs <- err
				return
			}
			fmt.Printf("event %s.%d\n", name, n)
		}
	})
	return <-errs
}

// counting works on deliveries: each is noted in the ledger, once.
func counting(s *queue.Store) queue.Work {
	return quickly(func(ctx context.Context, d queue.Delivery) error {
		_, err := ledger.Case(s.Ledger(), "acme/app#"+d.ID).Update(ctx, func(c routing.Case) ([]routing.Event, error) {
			if c.Version > 0 {
				return nil, nil // before the process was killed
			}
			return []routing.Event{ledgertest.Note("", d.ID)}, nil
		})
		return err
	})
}

// run starts an app, kills it some time after its n-th acknowledgement, and
// returns what was acknowledged.
func (p place) run(t *testing.T, name, work string, n int) (acked []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childURL+"="+p.url, childDir+"="+p.dir, childName+"="+name, childWork+"="+work)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	for out := bufio.NewReader(pipe); ; {
		line, err := out.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
		if acked = append(acked, strings.TrimSpace(line)); len(acked) == n {
			time.AfterFunc(rand.N(20*time.Millisecond), func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil || n > 0 && !strings.Contains(err.Error(), "killed") {
		t.Fatalf("%s: %v", name, err)
	}
	return acked
}

// strings of a column.
func column(t *testing.T, db *sql.DB, text string) map[string]int {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			t.Fatal(err)
		}
		out[s]++
	}
	return out
}

// What was acknowledged is there after a kill: each delivery once and with one
// job, each event once. What was not is there whole or not at all.
func TestKilled(t *testing.T) {
	t.Parallel()
	const kills = 8
	onEach(t, func(t *testing.T, p place) {
		var acked []string
		for i := range kills {
			acked = append(acked, p.run(t, fmt.Sprint("p", i), "", 1+rand.N(40))...)
		}
		s := p.opened(t)
		db := p.raw(t)
		deliveries := column(t, db, "SELECT id FROM delivery")
		jobs := column(t, db, "SELECT args ->> 'delivery' FROM river_job")
		events, _, err := s.Ledger().Load(t.Context(), "acme/app#1")
		if err != nil {
			t.Fatal(err)
		}
		noted := map[string]int{}
		for _, n := range ledgertest.Notes(events) {
			noted[n]++
		}
		for _, line := range acked {
			what, id, _ := strings.Cut(line, " ")
			switch {
			case what == "event" && noted[id] != 1:
				t.Errorf("event %s is there %d times", id, noted[id])
			case what == "delivery" && deliveries[id] != 1:
				t.Errorf("delivery %s is there %d times", id, deliveries[id])
			}
		}
		for id, n := range noted {
			if n != 1 {
				t.Errorf("event %s is there %d times", id, n)
			}
		}
		for id := range deliveries {
			if jobs[id] != 1 {
				t.Errorf("delivery %s has %d jobs", id, jobs[id])
			}
		}
		if len(jobs) != len(deliveries) {
			t.Errorf("%d jobs, %d deliveries", len(jobs), len(deliveries))
		}
		t.Logf("%d kills, %d acknowledgements; %d deliveries, %d events", kills, len(acked), len(deliveries), len(noted))
	})
}

// Killed while it works, again and again, the App still does all of it, and the
// effect of each delivery is there once.
func TestKilledAtWork(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		for i := range 4 {
			p.run(t, fmt.Sprint("p", i), "count", 20+rand.N(100))
		}
		s := p.opened(t)
		start(t, s, counting(s))
		db := p.raw(t)
		eventually(t, "all is done", func() bool { return number(t, db, "SELECT count(*) FROM delivery WHERE state <> 'done'") == 0 })
		for id := range column(t, db, "SELECT id FROM delivery") {
			events, _, err := s.Ledger().Load(t.Context(), "acme/app#"+id)
			if err != nil || len(events) != 1 {
				t.Errorf("%s: %d events, %v", id, len(events), err)
			}
		}
	})
}

// A delivery that crashes the process each time becomes a dead letter, and what came with
// it is done.
func TestDeadlyDelivery(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.open(t)
		accept(t, s, delivery("deadly", 1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for range queue.Attempts {
			p.run(t, "victim", "die", 0)
		}
		s = p.opened(t)
		accept(t, s, delivery("harmless", 1))
		start(t, s, quickly(func(_ context.Context, d queue.Delivery) error {
			if d.ID == "deadly" {
				t.Error("it is begun once more")
			}
			return nil
		}))
		if st := reaches(t, s, "deadly", queue.DeadLetter); !strings.Contains(st.Error, "the process ended 10 times") || st.Attempts != queue.Attempts {
			t.Errorf("%+v", st)
		}
		reaches(t, s, "harmless", queue.Done)
	})
}

// What is worked on beside a delivery that ends the process is done all the same.
func TestBesideADeadlyDelivery(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, p place) {
		s := p.open(t)
		ids := []string{"a", "b", "deadly", "c", "d"}
		for _, id := range ids {
			accept(t, s, delivery(id, 1))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for range queue.Attempts {
			p.run(t, "victim", "beside", 0)
		}
		s = p.opened(t)
		start(t, s, quickly(func(context.Context, queue.Delivery) error { return nil }))
		for _, id := range ids {
			want := queue.Done
			if id == "deadly" {
				want = queue.DeadLetter
			}
			reaches(t, s, id, want)
		}
		if err := s.Deliveries.Again(t.Context(), "deadly"); err != nil {
			t.Fatal(err)
		}
		reaches(t, s, "deadly", queue.Done)
	})
}
