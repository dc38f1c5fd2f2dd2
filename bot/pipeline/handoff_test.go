package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// inTurn is a policy whose workers are told in turn.
func inTurn(string) routing.Policy {
	p := routing.DefaultPolicy()
	p.Workers = []routing.Worker{{Name: "@agent", Ack: 10 * time.Minute}, {Name: "fix.yml", Ack: 10 * time.Minute}, {Name: "@octocat", Deliver: time.Hour}}
	return p
}

// skewed is a process whose clock differs from GitHub's, which is k.
func skewed(led ledger.Ledger, eff Effector, k *clock, owner string, by time.Duration) *Pipeline {
	l := line(led, eff, k, owner)
	l.Now = func() time.Time { return k.Now().Add(by) }
	l.Clock, l.LeaseTTL = k.Now, 20*time.Minute
	return l
}

// sees is what a process does that looks after the active hand-off.
func (m *mortal) sees(ctx context.Context, l *Pipeline) (ended bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crash); !ok {
				panic(r)
			}
			m.dead, ended = true, true
		}
	}()
	events, _, err := l.Ledger.Load(ctx, key)
	if err != nil {
		return true, err
	}
	c, err := routing.Fold(key, events)
	if err != nil || c.Handoff == nil {
		return true, err
	}
	rec, err := l.Handoff(ctx, key, routing.HandoffChanged{Number: c.Handoff.Number, Place: c.Handoff.Place, Change: routing.HandoffExpired, At: githubTime(l)}, inTurn)
	if err == nil {
		_, err = l.Apply(ctx, rec)
	}
	return err != nil, err
}

// Killed at any step between the expiry of a worker's time and the dispatch to the next one, and taken
// up by another process whose clock differs by ten minutes: each worker is told once, and one holds
// the case.
func TestHandoffKilledAnywhere(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		w, led, k := newWorld(), &ledger.Memory{}, newClock()
		fast, slow := skewed(led, w, k, "fast", 5*time.Minute), skewed(led, w, k, "slow", -5*time.Minute)
		rec, err := fast.Record(t.Context(), key, failing(1), inTurn)
		if err == nil {
			_, err = fast.Apply(t.Context(), rec)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = k.Sleep(t.Context(), 10*time.Minute)
		m := &mortal{Ledger: led, Effector: w, at: at, how: func() error { panic(crash{}) }}
		dying := skewed(m, m, k, "dying", 5*time.Minute)
		killed, err := m.sees(t.Context(), dying)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []*Pipeline{slow, fast} { // both finish what is pending, and see nothing that is due
			if _, err := (&mortal{}).sees(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			_, c := load(t, led)
			if _, err := l.Apply(t.Context(), Recorded{Case: c}); err != nil {
				t.Fatal(err)
			}
		}
		_, c := load(t, led)
		told := w.state()
		if strings.Count(told, "handoff/1: started 1 times") != 1 || strings.Count(told, "handoff/2: started 1 times") != 1 || strings.Contains(told, "handoff/3") {
			t.Errorf("S5-86: killed at step %d:\n%s", at, told)
		}
		if h := c.Handoff; h == nil || h.Worker().Name != "fix.yml" || h.Told.IsZero() || len(h.Passed) != 1 || len(c.Pending) != 0 {
			t.Errorf("S5-86: killed at step %d: %+v, pending %v", at, c.Handoff, c.Pending)
		}
		for _, s := range w.wrong {
			t.Errorf("S5-86: killed at step %d: %s", at, s)
		}
		if !killed {
			if at < 6 {
				t.Fatalf("only %d steps", at)
			}
			return
		}
	}
}

// Two processes whose clocks are five minutes behind and ahead of GitHub's agree on when a worker's
// time is over, and only one of them tells the next.
func TestHandoffOfSkewedClocks(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		t.Run(fmt.Sprintf("S5-82 S5-86 told by a process %v off", by), func(t *testing.T) {
			w, led, k := newWorld(), &ledger.Memory{}, newClock()
			teller, other := skewed(led, w, k, "teller", by), skewed(led, w, k, "other", -by)
			rec, err := teller.Record(t.Context(), key, failing(1), inTurn)
			if err == nil {
				_, err = teller.Apply(t.Context(), rec)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, c := load(t, led)
			told := c.Handoff.Told
			for _, at := range []time.Time{told.Add(4 * time.Minute), told.Add(10*time.Minute - time.Second)} {
				_ = k.Sleep(t.Context(), at.Sub(k.Now()))
				for _, l := range []*Pipeline{other, teller} {
					if _, err := (&mortal{}).sees(t.Context(), l); err != nil {
						t.Fatal(err)
					}
				}
			}
			if _, c = load(t, led); c.Handoff.Place != 0 {
				t.Fatalf("it expired early, at %v, told at %v", k.Now(), told)
			}
			_ = k.Sleep(t.Context(), told.Add(10*time.Minute).Sub(k.Now()))
			seen := make(chan error)
			for _, l := range []*Pipeline{other, teller} {
				go func() { _, err := (&mortal{}).sees(t.Context(), l); seen <- err }()
			}
			for range 2 {
				if err := <-seen; err != nil {
					t.Fatal(err)
				}
			}
			if _, c = load(t, led); c.Handoff.Place != 1 || len(c.Handoff.Passed) != 1 || len(c.Pending) != 0 {
				t.Errorf("%+v", c.Handoff)
			}
			if state := w.state(); strings.Count(state, "handoff/2: started 1 times") != 1 || strings.Contains(state, "started 2") {
				t.Errorf("\n%s", state)
			}
		})
	}
}

// A hand-off that is over before its worker was told tells nobody.
func TestHandoffOfWhatIsSkipped(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	l := line(led, w, k, "p")
	if _, err := l.Record(t.Context(), key, failing(1), inTurn); err != nil {
		t.Fatal(err)
	}
	rec, err := l.Act(t.Context(), key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanSkip, By: "mona"}, inTurn)
	if err == nil {
		_, err = l.Apply(t.Context(), rec)
	}
	if err != nil || len(w.starts) != 0 {
		t.Errorf("S5-83: %v, started %v", err, w.starts)
	}
}
