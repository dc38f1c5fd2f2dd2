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

// story is a pull request that fails, fails again, meets a broken machine, is
// resumed by its next green run, and passes.
func story() []routing.Verdict {
	return []routing.Verdict{failing(1), failing(2), verdict(3, routing.Fail, routing.EnvIssue), passing(4)}
}

// undisturbed returns the world after a story that nothing disturbed.
func undisturbed(t *testing.T, vs []routing.Verdict) (state string, steps int, c routing.Case) {
	t.Helper()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	for i, v := range vs {
		m := &mortal{Ledger: led, Effector: w}
		if m.live(t.Context(), k, fmt.Sprint("p", i), v) {
			t.Fatal("it ended without a crash")
		}
		steps += m.step
	}
	_, c = load(t, led)
	return w.state(), steps, c
}

// Ended at any step, in any way, and started again with the same run: in the
// end the world is as if nothing had happened.
func TestEndedAnywhere(t *testing.T) {
	t.Parallel()
	want, steps, clean := undisturbed(t, story())
	if steps < 30 || !strings.Contains(want, "started 1 times") {
		t.Fatalf("the story has %d steps and leaves\n%s", steps, want)
	}
	ways := map[string]func(context.CancelFunc) error{
		"killed":          func(context.CancelFunc) error { panic(crash{}) },
		"error":           func(context.CancelFunc) error { return errStorage },
		"cancelled":       func(cancel context.CancelFunc) error { cancel(); return context.Canceled },
		"cancelled later": func(cancel context.CancelFunc) error { cancel(); return nil },
	}
	for name, how := range ways {
		for at := 1; at <= steps; at++ {
			w, led, k := newWorld(), &ledger.Memory{}, newClock()
			before, ended := 0, 0
			for i, v := range story() {
				ctx, cancel := context.WithCancel(t.Context())
				m := &mortal{Ledger: led, Effector: w, at: at - before, how: func() error { return how(cancel) }}
				over := m.live(ctx, k, fmt.Sprint("p", i), v)
				before += m.step
				cancel()
				if !over {
					continue
				}
				ended++
				_ = k.Sleep(t.Context(), time.Second) // another starts at once, while the lease of the dead one holds
				next := &mortal{Ledger: led, Effector: w}
				if next.live(t.Context(), k, fmt.Sprint("again", i), v) {
					t.Fatalf("%s at step %d: the next process failed as well", name, at)
				}
			}
			if ended > 1 || (ended == 0 && name != "cancelled later") {
				t.Fatalf("%s at step %d: ended %d times", name, at, ended)
			}
			if got := w.state(); got != want {
				t.Errorf("%s at step %d:\n%s\nwant\n%s", name, at, got, want)
			}
			_, c := load(t, led)
			if len(c.Pending) != 0 || c.Generation != clean.Generation || len(c.Checkpoints["ci"].Attempts) != len(clean.Checkpoints["ci"].Attempts) {
				t.Errorf("%s at step %d: pending %v, generation %d, want %d", name, at, c.Pending, c.Generation, clean.Generation)
			}
			for _, s := range w.wrong {
				t.Errorf("%s at step %d: %s", name, at, s)
			}
		}
	}
}
