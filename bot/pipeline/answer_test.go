package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

func retryTwo(answer string) routing.HumanActed {
	return routing.HumanActed{Checkpoint: "ci", Action: routing.HumanExtend, N: 2, By: "mona", Answer: answer}
}

// answer is what a process does with one answer.
func answer(ctx context.Context, l *Pipeline, e routing.HumanActed) (Recorded, error) {
	rec, err := l.Act(ctx, key, e, defaults)
	if err == nil {
		_, err = l.Apply(ctx, rec)
	}
	return rec, err
}

// The same answer of one human, delivered by many processes at once, changes
// the case once and starts one worker.
func TestAnswerOfManyCountsOnce(t *testing.T) {
	t.Parallel()
	dir, err := ledger.OpenPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, led := range map[string]ledger.Ledger{"in memory": &ledger.Memory{}, "on disk": dir} {
		t.Run("S0-23 "+name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			l := &Pipeline{Ledger: led, Effector: w, Owner: "first"}
			mustDeliver(t, l, verdict(1, routing.Fail, routing.EnvIssue))
			var wg sync.WaitGroup
			first := make(chan string, 16)
			for n := range 16 {
				wg.Go(func() {
					other := &Pipeline{Ledger: led, Effector: w, Owner: fmt.Sprint("p", n), Sleep: func(context.Context, time.Duration) error { return nil }}
					rec, err := answer(t.Context(), other, retryTwo("comment/7/1"))
					if err != nil {
						t.Error(err)
					}
					if !rec.Repeated {
						first <- other.Owner
					}
				})
			}
			wg.Wait()
			events, c := load(t, led)
			humans := 0
			for _, e := range events {
				if e.Type == routing.EventHuman {
					humans++
				}
			}
			if cp := c.Checkpoints["ci"]; humans != 1 || len(first) != 1 || cp.Retries != 1 || cp.Extra != 2 || len(c.Pending) != 0 {
				t.Errorf("%d acts by %d processes, %d reworks, %d granted, pending %v", humans, len(first), cp.Retries, cp.Extra, c.Pending)
			}
			if len(w.starts) != 1 {
				t.Errorf("started %v", w.starts)
			}
		})
	}
}

// Two humans who answer at once are both heard, each once.
func TestTwoAnswersAtOnce(t *testing.T) {
	t.Parallel()
	led, w := &ledger.Memory{}, newWorld()
	mustDeliver(t, &Pipeline{Ledger: led, Effector: w, Owner: "first"}, verdict(1, routing.Fail, routing.EnvIssue))
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			l := &Pipeline{Ledger: led, Effector: w, Owner: fmt.Sprint("p", n), Sleep: func(context.Context, time.Duration) error { return nil }}
			if _, err := answer(t.Context(), l, retryTwo(fmt.Sprintf("comment/%d/1", n%2))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	_, c := load(t, led)
	if cp := c.Checkpoints["ci"]; len(c.Answered) != 2 || cp.Extra != 4 || cp.Retries != 2 || len(c.Pending) != 0 {
		t.Errorf("%d answers, %d granted, %d reworks, pending %v", len(c.Answered), cp.Extra, cp.Retries, c.Pending)
	}
}

// A process that is ended at any step of an answer, and the answer delivered
// again: the world is as if nothing had happened.
func TestAnswerEndedAnywhere(t *testing.T) {
	t.Parallel()
	acts := map[string]routing.HumanActed{
		"retry":      retryTwo("comment/7/1"),
		"rerun":      {Checkpoint: "ci", Action: routing.HumanRerun, By: "mona", Answer: "comment/7/1"},
		"quarantine": {Checkpoint: "ci", Action: routing.HumanQuarantine, Test: "t", By: "mona", Answer: "comment/7/1"},
		"wont-fix":   {Checkpoint: "ci", Action: routing.HumanWontFix, By: "mona", Answer: "comment/7/1"},
		"wrong":      {Checkpoint: "ci", Action: routing.HumanWrong, Class: routing.LogicError, By: "mona", Answer: "comment/7/1"},
	}
	for name, act := range acts {
		play := func(at int) (state string, steps int) {
			w, led, k := newWorld(), &ledger.Memory{}, newClock()
			mustDeliver(t, line(led, w, k, "before"), verdict(1, routing.Fail, routing.EnvIssue))
			m := &mortal{Ledger: led, Effector: w, at: at, how: func() error { return errStorage }}
			l := line(m, m, k, "p")
			l.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.Fail} }
			if _, err := answer(t.Context(), l, act); (err != nil) != (at > 0) || (at > 0 && !strings.Contains(err.Error(), errStorage.Error())) {
				t.Errorf("%s at step %d: %v", name, at, err)
			}
			if _, err := answer(t.Context(), line(led, w, k, "again"), act); err != nil {
				t.Errorf("%s at step %d, again: %v", name, at, err)
			}
			if _, c := load(t, led); len(c.Pending) != 0 || len(c.Answered) != 1 || len(c.Checkpoints["ci"].Acts) != 1 {
				t.Errorf("%s at step %d: %v %v", name, at, c.Pending, c.Answered)
			}
			for _, s := range w.wrong {
				t.Errorf("%s at step %d: %s", name, at, s)
			}
			return w.state(), m.step
		}
		want, steps := play(0)
		if steps < 4 {
			t.Fatalf("%s has %d steps", name, steps)
		}
		for at := 1; at <= steps; at++ {
			if got, _ := play(at); got != want {
				t.Errorf("%s at step %d:\n%s\nwant\n%s", name, at, got, want)
			}
		}
	}
}

func TestAnswerRefused(t *testing.T) {
	t.Parallel()
	led := &ledger.Memory{}
	l := line(led, newWorld(), newClock(), "p")
	mustDeliver(t, l, verdict(1, routing.Fail, routing.EnvIssue))
	before, _ := load(t, led)
	var stale *routing.StaleAnswerError
	old := retryTwo("comment/1/1")
	old.SHA = strings.Repeat("9", 40)
	if _, err := l.Act(t.Context(), key, old, defaults); !errors.As(err, &stale) {
		t.Error(err)
	}
	var refused *routing.RefusedError
	if _, err := l.Act(t.Context(), key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanWrong, Class: routing.Flaky}, defaults); !errors.As(err, &refused) {
		t.Error(err)
	}
	if after, _ := load(t, led); len(after) != len(before) {
		t.Errorf("%d events were appended", len(after)-len(before))
	}
}
