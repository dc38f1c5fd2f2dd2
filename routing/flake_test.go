package routing

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchback-ci/switchback/routing/history"
)

// of returns a verdict of commit n, as run id: tests that failed, and behind a | those that passed.
func of(id, n int, failedTests []string, passed ...string) Verdict {
	v := failed(n, failedTests...)
	v.Checkpoint, v.Run.ID = "unit", fmt.Sprint(id)
	v.Counts = Counts{Tests: len(failedTests) + len(passed), Passed: len(passed), Failed: len(failedTests)}
	if len(failedTests) == 0 {
		v.Result, v.Class = Pass, ""
	}
	var tests []history.Test
	for _, name := range passed {
		tests = append(tests, history.Test{ID: history.TestID("unit", "s", name)})
	}
	v.Inventory = history.New(append(tests, FailedTests("unit", v)...), false).Pack()
	return v
}

func attempt(v Verdict, n int) Verdict {
	v.Run.Attempt = n
	return v
}

func TestFlakeEvidenceS5_30(t *testing.T) {
	t.Parallel()
	a := []string{"a"}
	t.Run("failing and then passing on one commit spends no attempt", func(t *testing.T) {
		w := newWorld(t)
		if d := w.analyze(of(1, 1, a, "b")); d.Kind != KindRetry || d.Iteration != 1 {
			t.Fatalf("%s, iteration %d", d.Kind, d.Iteration)
		}
		d := w.analyze(attempt(of(1, 1, nil, "a", "b"), 2))
		if d.Kind != KindPass || d.Iteration != 0 || !slices.Equal(d.Flaky, []string{"s › a"}) {
			t.Errorf("S5-30: %s, iteration %d, flaky %v: %s", d.Kind, d.Iteration, d.Flaky, d.Reason)
		}
		cp := w.c.Checkpoints["unit"]
		if len(cp.Iterations) != 0 || len(cp.Attempts) != 2 || !cp.Attempts[0].Undone || !slices.Equal(cp.Attempts[0].Flaky, d.Flaky) {
			t.Errorf("S5-30: %d iterations, %+v", len(cp.Iterations), cp.Attempts)
		}
		for i := range w.c.Pending {
			if e := w.c.Pending[i]; e.Kind == EffectHandoff && cp.State == Completed && e.Iteration == cp.Retries {
				t.Errorf("S5-30: the hand-off is not superseded: %+v", e)
			}
		}
	})
	t.Run("the attempts of other commits stay", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(of(1, 1, []string{"a", "b"}))
		w.analyze(of(2, 2, a, "b"))
		d := w.analyze(attempt(of(2, 2, nil, "a", "b"), 2))
		if d.Kind != KindPass || d.Iteration != 1 || len(w.c.Checkpoints["unit"].Iterations) != 1 {
			t.Errorf("S5-30: %s, iteration %d, %d iterations", d.Kind, d.Iteration, len(w.c.Checkpoints["unit"].Iterations))
		}
	})
	t.Run("a test that passed on the commit before is flaky", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(of(1, 1, []string{"b"}, "a"))
		d := w.analyze(attempt(of(1, 1, []string{"a", "b"}), 2))
		fs := d.Verdict.Failures
		if d.Kind != KindRetry || !d.Again || fs[0].Standing != history.StandingFlaky || fs[1].Standing == history.StandingFlaky {
			t.Errorf("S5-30: %s, again %v: %+v", d.Kind, d.Again, fs)
		}
	})
	t.Run("a test that was skipped is no evidence", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(of(1, 1, a))
		if d := w.analyze(attempt(of(1, 1, nil, "b"), 2)); len(d.Flaky) != 0 {
			t.Errorf("S5-30: %v", d.Flaky)
		}
	})
	t.Run("what another leg of the matrix passes is no evidence", func(t *testing.T) {
		w := newWorld(t)
		one, two := of(1, 1, nil, "a"), of(1, 1, a)
		one.Run.Part, one.Run.Parts, two.Run.Part, two.Run.Parts = "one", 2, "two", 2
		w.analyze(one)
		if d := w.analyze(two); d.Kind != KindRetry || len(d.Flaky) != 0 {
			t.Errorf("S5-30: %s, flaky %v", d.Kind, d.Flaky)
		}
	})
	t.Run("a new commit that passes is fixed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(of(1, 1, a))
		if d := w.analyze(of(2, 2, nil, "a")); d.Iteration != 1 || len(d.Flaky) != 0 || d.TakeBack {
			t.Errorf("%+v", d)
		}
	})
}

// flaked returns a world in which test a failed and passed on one commit.
func flaked(t *testing.T) *world {
	w := newWorld(t)
	w.analyze(of(1, 1, []string{"a"}, "b"))
	w.analyze(attempt(of(1, 1, nil, "a", "b"), 2))
	return w
}

func TestRerunS5_31(t *testing.T) {
	t.Parallel()
	a := []string{"a"}
	t.Run("a test with flake evidence", func(t *testing.T) {
		w := flaked(t)
		d := w.analyze(of(2, 2, a, "b"))
		if d.Kind != KindRerun || d.Rule != "flake-evidence" || d.Iteration != 0 || d.Verdict.Failures[0].Standing != history.StandingFlaky {
			t.Fatalf("S5-31: %s (%s), iteration %d, %+v", d.Kind, d.Rule, d.Iteration, d.Verdict.Failures)
		}
		e, ok := w.pending(EffectRerun)
		if !ok || e.Target != "2/1" {
			t.Errorf("S5-31: %+v", e)
		}
		if e, ok := w.pending(EffectHandoff); ok && e.SHA == d.Verdict.Run.SHA {
			t.Error("S5-31: it was handed off")
		}
		if d := w.analyze(attempt(of(2, 2, a, "b"), 2)); d.Kind != KindRetry || d.Iteration != 1 {
			t.Errorf("S5-33: once a run: %s, iteration %d", d.Kind, d.Iteration)
		}
	})
	t.Run("S5-35 another failure after the rerun is returned", func(t *testing.T) {
		w := flaked(t)
		w.analyze(of(2, 2, a))
		if d := w.analyze(attempt(of(2, 2, []string{"b"}, "a"), 2)); d.Kind != KindRetry || d.Iteration != 1 || !slices.Equal(d.Flaky, []string{"s › a"}) {
			t.Errorf("S5-35: %s, iteration %d, flaky %v", d.Kind, d.Iteration, d.Flaky)
		}
	})
	t.Run("S5-30 all that fails also passed on the commit", func(t *testing.T) {
		w := flaked(t)
		w.analyze(of(2, 2, a, "b"))
		d := w.analyze(attempt(of(2, 2, []string{"b"}, "a"), 2))
		if d.Kind != KindNone || d.Rule != "flaky-commit" || !d.Again || w.c.Checkpoints["unit"].Retries != 0 {
			t.Errorf("S5-30: %s (%s): %s", d.Kind, d.Rule, d.Reason)
		}
	})
	t.Run("S5-35 another leg fails otherwise", func(t *testing.T) {
		w := flaked(t)
		leg := func(v Verdict, part string) Verdict {
			v.Run.Part, v.Run.Parts = part, 2
			return v
		}
		w.analyze(leg(of(2, 2, nil, "a", "b"), "one"))
		if d := w.analyze(leg(of(2, 2, a, "b"), "two")); d.Kind != KindRerun {
			t.Fatalf("S5-31: %s: %s", d.Kind, d.Reason)
		}
		if d := w.analyze(leg(of(2, 2, []string{"c"}, "a"), "one")); d.Kind != KindRetry || d.Iteration != 1 {
			t.Errorf("S5-35: %s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("never where something fails without evidence", func(t *testing.T) {
		for name, v := range map[string]Verdict{
			"assertion": of(2, 2, []string{"a", "b"}), "another test": of(2, 2, []string{"b"}, "a"),
			"compile": func() Verdict {
				v := of(2, 2, a)
				v.Class, v.Failures[0].Class, v.Failures[0].Kind = TypeError, TypeError, "build"
				return v
			}(),
			"lint": func() Verdict {
				v := of(2, 2, a)
				v.Class, v.Failures[0].Class, v.Failures[0].Kind = Quality, Quality, "lint"
				return v
			}(),
			"a step of the job": func() Verdict { v := of(2, 2, a, "b"); v.Run.Job = "test"; return v }(),
		} {
			if d := flaked(t).analyze(v); d.Kind != KindRetry {
				t.Errorf("S5-31: %s: %s", name, d.Kind)
			}
		}
	})
	t.Run("by default the environment escalates at once", func(t *testing.T) {
		w := newWorld(t)
		if d := w.analyze(run(1, Fail, EnvIssue)); d.Kind != KindEnv {
			t.Errorf("%s", d.Kind)
		}
		w = newWorld(t)
		w.p.Rerun = RerunTransient
		if d := w.analyze(run(1, Fail, EnvIssue)); d.Kind != KindRerun {
			t.Errorf("S5-31: %s", d.Kind)
		}
		if d := w.analyze(attempt(run(1, Fail, EnvIssue), 2)); d.Kind != KindEnv {
			t.Errorf("S5-33: %s", d.Kind)
		}
	})
	t.Run("S5-33 three times a case", func(t *testing.T) {
		w := flaked(t)
		for n := 2; n < 5; n++ {
			if d := w.analyze(of(n, n, a, "b")); d.Kind != KindRerun {
				t.Fatalf("S5-33: run %d: %s: %s", n, d.Kind, d.Reason)
			}
		}
		if d := w.analyze(of(5, 5, a, "b")); d.Kind != KindRetry {
			t.Errorf("S5-33: %s", d.Kind)
		}
		w.p.Rerun = RerunNever
		if d := w.analyze(of(6, 6, a, "b")); d.Kind != KindRetry {
			t.Errorf("%s", d.Kind)
		}
	})
	t.Run("S5-34 refused, it is returned at once", func(t *testing.T) {
		w := flaked(t)
		w.analyze(of(2, 2, a, "b"))
		e, _ := w.pending(EffectRerun)
		w.add(EffectEvent(w.c.Key, EffectDone{Effect: e, Ref: Refused(errors.New("403"))}, w.now))
		next, events, err := Release(w.c, func(string) Policy { return w.p }, w.now)
		if err != nil || len(events) != 1 {
			t.Fatalf("S5-34: %d events: %v", len(events), err)
		}
		w.c = next
		run, _ := events[0].Run()
		if run.Decision.Kind != KindRetry || run.Decision.Iteration != 1 {
			t.Errorf("S5-34: %s, iteration %d", run.Decision.Kind, run.Decision.Iteration)
		}
		if _, ok := w.pending(EffectHandoff); !ok {
			t.Error("S5-34: it is not handed off")
		}
		if d := w.analyze(of(3, 3, a, "b")); d.Kind != KindRetry {
			t.Errorf("S5-34: %s", d.Kind)
		}
	})
}

func TestBudgetsS5_32(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.p.Max, w.p.Budgets = 6, map[Budget]int{BudgetBuild: 1, BudgetTimeout: 1}
	for i, c := range []struct {
		v    Verdict
		want Kind
	}{
		{run(1, Fail, TypeError), KindRetry}, {run(2, Fail, LogicError), KindRetry}, {run(3, TimedOut, Timeout), KindRetry},
		{run(4, Fail, LogicError), KindRetry}, {run(5, Fail, TypeError), KindMaxRetry},
	} {
		d := w.analyze(c.v)
		if d.Kind != c.want {
			t.Fatalf("S5-32: run %d: %s: %s", i+1, d.Kind, d.Reason)
		}
		if d.Kind == KindMaxRetry && (d.Budget != BudgetBuild || d.Rule != "budget-reached" || d.Reason != "the budget build is used up: 1 of 1 fix attempts (budgets.build)" || w.c.Checkpoints["unit"].LastError != d.Reason) {
			t.Errorf("S5-32: %+v, %s", d, w.c.Checkpoints["unit"].LastError)
		}
	}
	w = newWorld(t)
	w.p.Budgets = map[Budget]int{BudgetTimeout: 1}
	w.analyze(run(1, TimedOut, Timeout))
	if d := w.analyze(run(2, TimedOut, Timeout)); d.Kind != KindTimeout || d.Budget != BudgetTimeout {
		t.Errorf("S5-32: %s: %s", d.Kind, d.Reason)
	}
	w = newWorld(t)
	w.p.Max, w.p.Budgets = 1, map[Budget]int{BudgetLogic: 5}
	w.analyze(run(1, Fail, LogicError))
	if d := w.analyze(run(2, Fail, LogicError)); d.Kind != KindMaxRetry || d.Budget != "" {
		t.Errorf("S5-32: the limit holds for all together: %s", d.Reason)
	}
}
