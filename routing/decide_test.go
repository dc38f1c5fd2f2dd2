package routing

import (
	"fmt"
	"math/rand"
	"reflect"
	"testing"
	"time"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// world plays verdicts through Decide and Fold as the pipeline does.
type world struct {
	t      *testing.T
	c      Case
	p      Policy
	events []Event
	now    time.Time
}

func newWorld(t *testing.T) *world {
	return &world{t: t, c: Case{Key: "acme/app#1"}, p: DefaultPolicy(), now: t0}
}

func (w *world) add(e Event) {
	w.t.Helper()
	next, err := w.c.Apply(e)
	if err != nil {
		w.t.Fatal(err)
	}
	w.c, w.events = next, append(w.events, e)
}

func (w *world) analyze(v Verdict) Decision {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	if v.Checkpoint == "" {
		v.Checkpoint = "unit"
	}
	d := Decide(w.c, v, w.p, w.now)
	if !d.Repeated {
		w.add(RunEvent(w.c.Key, v, d, w.now))
	}
	return d
}

func (w *world) human(a HumanAction, n int) {
	w.t.Helper()
	if err := w.act(HumanActed{Action: a, N: n}); err != nil {
		w.t.Fatal(err)
	}
}

// act does what the pipeline does with an answer.
func (w *world) act(e HumanActed) error {
	w.t.Helper()
	e.By, e.Checkpoint = orElse(e.By, "mona"), orElse(e.Checkpoint, "unit")
	if err := w.c.Admit(e); err != nil {
		return err
	}
	w.add(HumanEvent(w.c.Key, e, w.now))
	next, events, err := Release(w.c, func(string) Policy { return w.p }, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.c, w.events = next, append(w.events, events...)
	return nil
}

// run returns a verdict of run n, of a commit of its own.
func run(n int, r Result, c Class) Verdict {
	return Verdict{Result: r, Class: c, Run: Run{ID: fmt.Sprint(n), Attempt: 1, SHA: fmt.Sprintf("%040x", n)}, Counts: Counts{Tests: 3, Passed: 2, Failed: 1}}
}

func kinds(ds ...Decision) []Kind {
	var out []Kind
	for _, d := range ds {
		out = append(out, d.Kind)
	}
	return out
}

func TestDecideOneDecision(t *testing.T) {
	cases := []struct {
		name string
		v    Verdict
		want Kind
	}{
		{"S0-3 pass with all criteria met is PASS", run(1, Pass, ""), KindPass},
		{"S0-9 NOT_IMPLEMENTED below the limit is returned for a fix", run(1, Fail, NotImplemented), KindRetry},
		{"S0-9 LOGIC_ERROR below the limit is returned for a fix", run(1, Fail, LogicError), KindRetry},
		{"S0-9 TYPE_ERROR below the limit is returned for a fix", run(1, Fail, TypeError), KindRetry},
		{"QUALITY below the limit is returned for a fix", run(1, Fail, Quality), KindRetry},
		{"S0-13 S0-17 DESIGN_MISMATCH escalates on the first run", run(1, Fail, DesignMismatch), KindDesign},
		{"S0-16 S0-17 ENV_ISSUE escalates on the first run", run(1, Fail, EnvIssue), KindEnv},
		{"S0-20 a first timeout is returned for a fix", run(1, TimedOut, Timeout), KindRetry},
		{"S0-21 unclear escalates and is never returned for a fix", run(1, Unclear, Unknown), KindUnclear},
		{"S0-22 an unknown class counts as unclear", run(1, Fail, "SOMETHING"), KindUnclear},
		{"S0-22 UNKNOWN counts as unclear", run(1, Fail, Unknown), KindUnclear},
		{"S0-21 unclear by a timeout is unclear", run(1, Unclear, Timeout), KindUnclear},
		{"S0-21 unclear by the environment is unclear", run(1, Unclear, EnvIssue), KindUnclear},
		{"S0-21 unclear by the design is unclear", run(1, Unclear, DesignMismatch), KindUnclear},
		{"S0-20 a run that was cut is a timeout whatever failed in it", run(1, TimedOut, EnvIssue), KindRetry},
		{"an unknown result counts as unclear", run(1, "exploded", LogicError), KindUnclear},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if d := newWorld(t).analyze(c.v); d.Kind != c.want {
				t.Errorf("got %s (%s), want %s", d.Kind, d.Rule, c.want)
			}
		})
	}
	t.Run("S0-4 pass with an unmet criterion is unclear and never PASS", func(t *testing.T) {
		v := run(1, Pass, "")
		v.Unmet = []string{"coverage is 70 %, wanted 80 %"}
		if d := newWorld(t).analyze(v); d.Kind != KindUnclear {
			t.Errorf("got %s", d.Kind)
		}
	})
	t.Run("S0-1 S0-2 every result and class gives exactly one decision of the list", func(t *testing.T) {
		known := map[Kind]bool{KindPass: true, KindRetry: true, KindDesign: true, KindEnv: true, KindTimeout: true, KindUnclear: true, KindMaxRetry: true}
		for _, r := range []Result{Pass, Fail, TimedOut, Unclear} {
			for _, cl := range Classes() {
				if d := newWorld(t).analyze(run(1, r, cl)); !known[d.Kind] {
					t.Errorf("%s %s gave %q", r, cl, d.Kind)
				}
			}
		}
	})
}

func TestDroppedTests(t *testing.T) {
	green := func(n, tests int) Verdict {
		v := run(n, Pass, "")
		v.Counts = Counts{Tests: tests, Passed: tests}
		return v
	}
	for _, c := range []struct {
		was, is int
		drop    float64
		want    Kind
	}{{100, 51, 0.5, KindPass}, {100, 50, 0.5, KindPass}, {1, 0, 0.5, KindUnclear}, {100, 49, 0.5, KindUnclear}, {100, 1, 0, KindPass}, {0, 5, 0.5, KindPass}, {10, 200, 0.5, KindPass}} {
		w := newWorld(t)
		w.p.MaxDrop = c.drop
		w.analyze(green(1, c.was))
		if d := w.analyze(green(2, c.is)); d.Kind != c.want {
			t.Errorf("%+v: got %s (%s)", c, d.Kind, d.Reason)
		}
	}
	w := newWorld(t)
	w.analyze(green(1, 100))
	w.analyze(green(2, 10))
	w.human(HumanResume, 0)
	if d := w.analyze(green(3, 10)); d.Kind != KindPass {
		t.Errorf("after a human went on: %s", d.Kind)
	}
	t.Run("the last green run is compared with, also over failures", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(green(1, 100))
		w.analyze(run(2, Fail, LogicError))
		if d := w.analyze(green(3, 10)); d.Kind != KindUnclear || d.Reason != "the tests passed, but a criterion is not met: 10 tests ran, 100 in the last green run (max_drop allows 50 % fewer)" {
			t.Errorf("%s: %s", d.Kind, d.Reason)
		}
	})
	t.Run("a leg of a matrix is not compared with a whole run", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(green(1, 100))
		var got []Kind
		for _, part := range []string{"a", "b"} {
			v := green(2, 40)
			v.Run.Part, v.Run.Parts = part, 2
			got = append(got, w.analyze(v).Kind)
		}
		if want := []Kind{KindNone, KindPass}; !reflect.DeepEqual(got, want) {
			t.Error(got)
		}
	})
}

func TestLimit(t *testing.T) {
	for _, max := range []int{1, 3, 5} {
		t.Run(fmt.Sprintf("S0-10 S0-15 S4-50 with max %d the failing run after %d reworks escalates", max, max), func(t *testing.T) {
			w := newWorld(t)
			w.p.Max = max
			for n := 1; n <= max; n++ {
				d := w.analyze(run(n, Fail, LogicError))
				if d.Kind != KindRetry || d.Iteration != n || d.Max != max {
					t.Fatalf("run %d: %s %d/%d", n, d.Kind, d.Iteration, d.Max)
				}
			}
			d := w.analyze(run(max+1, Fail, LogicError))
			if d.Kind != KindMaxRetry || d.Iteration != max {
				t.Fatalf("got %s %d/%d", d.Kind, d.Iteration, d.Max)
			}
			cp := w.c.Checkpoints["unit"]
			if cp.State != Escalated || cp.Retries != max {
				t.Errorf("state %s, reworks %d", cp.State, cp.Retries)
			}
		})
	}
	t.Run("S0-51 S4-26 the default limit is 3", func(t *testing.T) {
		if DefaultPolicy().Max != 3 {
			t.Error(DefaultPolicy().Max)
		}
	})
	t.Run("S4-35 a limit of 0 means no rework at all", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 0
		if d := w.analyze(run(1, Fail, LogicError)); d.Kind != KindMaxRetry {
			t.Error(d.Kind)
		}
	})
	t.Run("S4-32 S4-33 with the breaker off a hard cap of 10 remains", func(t *testing.T) {
		if !DefaultPolicy().Breaker {
			t.Error("the breaker is on by default")
		}
		w := newWorld(t)
		w.p.Breaker = false
		for n := 1; n <= 10; n++ {
			if d := w.analyze(run(n, Fail, LogicError)); d.Kind != KindRetry {
				t.Fatalf("run %d: %s", n, d.Kind)
			}
		}
		if d := w.analyze(run(11, Fail, LogicError)); d.Kind != KindMaxRetry {
			t.Error(d.Kind)
		}
	})
	t.Run("S4-34 a case's own override replaces the limit", func(t *testing.T) {
		w := newWorld(t)
		five := 5
		w.p.Override = &five
		if d := w.analyze(run(1, Fail, LogicError)); d.Max != 5 {
			t.Error(d.Max)
		}
	})
	t.Run("S4-55 S4-70 a case under way keeps its limit until its own override or a reset", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 1
		w.analyze(run(1, Fail, LogicError))
		w.p.Max = 9
		if d := w.analyze(run(2, Fail, LogicError)); d.Kind != KindMaxRetry || d.Max != 1 {
			t.Errorf("a raised configuration reached a case under way: %s %d", d.Kind, d.Max)
		}
		five := 5
		w.p.Override = &five
		if d := w.analyze(run(3, Fail, LogicError)); d.Kind != KindRetry || d.Iteration != 2 || d.Max != 5 {
			t.Errorf("the override did not re-arm: %s %d/%d (%s)", d.Kind, d.Iteration, d.Max, d.Rule)
		}
		w.p.Override = nil
		w.human(HumanReset, 0)
		if cp := w.c.Checkpoints["unit"]; cp.Retries != 1 || cp.Limit != 9 {
			t.Errorf("after a reset: %d/%d", cp.Retries, cp.Limit)
		}
		if d := w.analyze(run(4, Fail, LogicError)); d.Iteration != 2 || d.Max != 9 {
			t.Errorf("after a reset: %d/%d", d.Iteration, d.Max)
		}
	})
	t.Run("S4-54 a reset re-enables an escalated checkpoint with a count of zero", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 1
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Fail, LogicError))
		w.human(HumanReset, 0)
		cp := w.c.Checkpoints["unit"]
		if last := cp.Attempts[len(cp.Attempts)-1]; cp.State != InProgress || cp.LastError != "" || cp.Retries != 1 || last.Rule != "answered" || last.Iteration != 1 {
			t.Errorf("%+v", cp)
		}
		if d := w.analyze(run(3, Fail, LogicError)); d.Kind != KindMaxRetry || d.Iteration != 1 {
			t.Errorf("%s %d", d.Kind, d.Iteration)
		}
	})
	t.Run("a human grants further turns", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 1
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Fail, LogicError))
		w.human(HumanExtend, 2)
		if cp := w.c.Checkpoints["unit"]; cp.State != InProgress || cp.Retries != 2 {
			t.Errorf("what failed last is returned for a fix at once: %s, %d", cp.State, cp.Retries)
		}
		got := kinds(w.analyze(run(3, Fail, LogicError)), w.analyze(run(4, Fail, LogicError)))
		if want := []Kind{KindRetry, KindMaxRetry}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
}

func TestPrecedence(t *testing.T) {
	t.Run("S0-19 DESIGN and ENV outrank a used-up limit, a timeout and an unclear run too", func(t *testing.T) {
		for _, c := range []struct {
			v    Verdict
			want Kind
		}{
			{run(2, Pass, ""), KindPass},
			{run(2, Fail, DesignMismatch), KindDesign},
			{run(2, Fail, EnvIssue), KindEnv},
			{run(2, TimedOut, Timeout), KindTimeout},
			{run(2, Unclear, Unknown), KindUnclear},
			{run(2, Fail, LogicError), KindMaxRetry},
		} {
			w := newWorld(t)
			w.p.Max = 1
			w.analyze(run(1, Fail, LogicError))
			if d := w.analyze(c.v); d.Kind != c.want {
				t.Errorf("%s %s: got %s, want %s", c.v.Result, c.v.Class, d.Kind, c.want)
			}
		}
	})
	t.Run("S0-20 a timeout is returned for a fix below the limit and escalates as timeout at it", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 2
		got := kinds(w.analyze(run(1, TimedOut, Timeout)), w.analyze(run(2, Fail, Timeout)), w.analyze(run(3, TimedOut, Timeout)))
		if want := []Kind{KindRetry, KindRetry, KindTimeout}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("S0-14 S0-53 escalate_on_design_mismatch false hands a design mismatch back up to the limit", func(t *testing.T) {
		if !DefaultPolicy().EscalateOnDesign {
			t.Error("default is true")
		}
		w := newWorld(t)
		w.p.EscalateOnDesign, w.p.Max = false, 1
		got := kinds(w.analyze(run(1, Fail, DesignMismatch)), w.analyze(run(2, Fail, DesignMismatch)))
		if want := []Kind{KindRetry, KindMaxRetry}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("S0-18 ENV spends no turn and hands nothing over", func(t *testing.T) {
		w := newWorld(t)
		d := w.analyze(run(1, Fail, EnvIssue))
		if w.c.Checkpoints["unit"].Retries != 0 || hasEffect(d, EffectHandoff) {
			t.Errorf("reworks %d, effects %v", w.c.Checkpoints["unit"].Retries, d.Effects)
		}
	})
}

func hasEffect(d Decision, k EffectKind) bool {
	for _, e := range d.Effects {
		if e.Kind == k {
			return true
		}
	}
	return false
}

func TestCountOnce(t *testing.T) {
	t.Run("S0-12 the increment is exactly 1 and the same run again does not increment", func(t *testing.T) {
		w := newWorld(t)
		first := w.analyze(run(1, Fail, LogicError))
		for range 5 {
			d := w.analyze(run(1, Fail, LogicError))
			if !d.Repeated || d.Kind != first.Kind || d.Iteration != 1 {
				t.Fatalf("%+v", d)
			}
		}
		if got := w.c.Checkpoints["unit"].Retries; got != 1 || len(w.events) != 1 {
			t.Errorf("reworks %d, events %d", got, len(w.events))
		}
	})
	t.Run("another run of a commit that was returned for a fix spends no turn", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		again := run(2, Fail, TypeError)
		again.Run.SHA = run(1, Fail, "").Run.SHA
		d := w.analyze(again)
		if d.Kind != KindRetry || d.Iteration != 1 || hasEffect(d, EffectHandoff) {
			t.Errorf("%s %d %v", d.Kind, d.Iteration, d.Effects)
		}
	})
	t.Run("an older attempt, an older run and a commit that is no longer the head decide nothing", func(t *testing.T) {
		w := newWorld(t)
		second := run(7, Fail, LogicError)
		second.Run.Attempt = 2
		w.analyze(second)
		older := run(7, Fail, LogicError)
		head := run(9, Fail, LogicError)
		head.Head = "ffff"
		for _, v := range []Verdict{older, run(3, Fail, EnvIssue), head} {
			if d := w.analyze(v); d.Kind != KindNone || len(d.Effects) != 0 {
				t.Errorf("run %s: %s %s", v.Run.ID, d.Kind, d.Rule)
			}
		}
		if got := w.c.Checkpoints["unit"].Retries; got != 1 {
			t.Errorf("reworks %d", got)
		}
	})
	t.Run("S4-47 a analyze that failed triggers no rework and counts no iteration", func(t *testing.T) {
		w := newWorld(t)
		v := ReviewVerdict("unit", Run{ID: "1"}, ReviewResult{Decision: ReviewFailed}, w.p.FailOn)
		d := w.analyze(v)
		if d.Kind != KindNone || w.c.Checkpoints["unit"].Retries != 0 || len(w.c.Checkpoints["unit"].Iterations) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

func TestMatrix(t *testing.T) {
	part := func(v Verdict, name string, of int) Verdict {
		v.Run.Part, v.Run.Parts = name, of
		return v
	}
	t.Run("a green leg alone is no pass, the last one is", func(t *testing.T) {
		w := newWorld(t)
		got := kinds(w.analyze(part(run(1, Pass, ""), "a", 2)), w.analyze(part(run(1, Pass, ""), "b", 2)))
		if want := []Kind{KindNone, KindPass}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("the reason of a pass counts the tests of all legs", func(t *testing.T) {
		w := newWorld(t)
		a, b := part(run(1, Pass, ""), "a", 2), part(run(1, Pass, ""), "b", 2)
		for _, v := range []*Verdict{&a, &b} {
			v.Counts, v.Reason = Counts{Tests: 3, Passed: 3}, "3 of 3 tests passed, none failed"
		}
		w.analyze(a)
		if d := w.analyze(b); d.Reason != "6 of 6 tests passed in 2 matrix jobs, none failed" {
			t.Error(d.Reason)
		}
	})
	t.Run("the reason of a pass is that of a leg where no test was counted, or where there is one leg", func(t *testing.T) {
		for legs, counts := range map[int]Counts{1: {Tests: 3, Passed: 3}, 2: {}} {
			w := newWorld(t)
			w.analyze(run(1, Fail, LogicError))
			var d Decision
			for _, name := range []string{"a", "b"}[:legs] {
				v := part(run(2, Pass, ""), name, legs)
				v.Counts, v.Reason = counts, "all is clean"
				d = w.analyze(v)
			}
			if d.Reason != "all is clean, after 1 of 3 fix attempts" {
				t.Errorf("%d legs: %s", legs, d.Reason)
			}
		}
	})
	t.Run("S0-4 a green leg that does not meet a criterion does not wait for the others", func(t *testing.T) {
		v := part(run(1, Pass, ""), "a", 2)
		v.Unmet = []string{"coverage"}
		if d := newWorld(t).analyze(v); d.Kind != KindUnclear {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("a timeout in a later leg spends no turn, whether the commit is known or not", func(t *testing.T) {
		for _, sha := range []string{"", "abc"} {
			w := newWorld(t)
			a, b := part(run(1, Fail, LogicError), "a", 2), part(run(1, TimedOut, Timeout), "b", 2)
			a.Run.SHA, b.Run.SHA = sha, sha
			w.analyze(a)
			if d := w.analyze(b); d.Kind != KindRetry || !d.Again || d.Iteration != 1 || w.c.Checkpoints["unit"].Retries != 1 {
				t.Errorf("commit %q: %s %+v", sha, d.Kind, d)
			}
		}
	})
	t.Run("an unclear leg outranks the rework", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(part(run(1, Fail, LogicError), "a", 2))
		if d := w.analyze(part(run(1, Unclear, Unknown), "b", 2)); d.Kind != KindUnclear {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("a second step of a job that says worse is decided, one that says better is not", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		if d := w.analyze(run(1, Fail, LogicError)); d.Repeated || d.Kind != KindRetry {
			t.Errorf("worse: %s (%s)", d.Kind, d.Rule)
		}
		if d := w.analyze(run(1, Pass, "")); !d.Repeated || d.Kind != KindRetry {
			t.Errorf("better: %s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("two failing legs of one run spend one turn and both are shown", func(t *testing.T) {
		w := newWorld(t)
		a, b := part(run(1, Fail, LogicError), "a", 3), part(run(1, Fail, LogicError), "b", 3)
		a.Failures, b.Failures = []Failure{{Name: "x"}}, []Failure{{Name: "y"}}
		w.analyze(a)
		d := w.analyze(b)
		cp := w.c.Checkpoints["unit"]
		if cp.Retries != 1 || len(cp.Attempts) != 1 || len(cp.Attempts[0].Verdict.Failures) != 2 || !hasEffect(d, EffectComment) {
			t.Errorf("reworks %d turns %d effects %v", cp.Retries, len(cp.Attempts), d.Effects)
		}
	})
	t.Run("a leg whose analyze failed keeps a green run from passing", func(t *testing.T) {
		w := newWorld(t)
		got := kinds(w.analyze(part(run(1, Errored, ""), "a", 2)), w.analyze(part(run(1, Pass, ""), "b", 2)))
		if want := []Kind{KindNone, KindNone}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("an environment failure in a later leg outranks the rework", func(t *testing.T) {
		w := newWorld(t)
		got := kinds(w.analyze(part(run(1, Fail, LogicError), "a", 2)), w.analyze(part(run(1, Fail, EnvIssue), "b", 2)))
		if want := []Kind{KindRetry, KindEnv}; !reflect.DeepEqual(got, want) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a late failing leg of a run taken for green is not swallowed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(part(run(1, Pass, ""), "a", 1))
		if d := w.analyze(part(run(1, Fail, LogicError), "b", 1)); d.Kind != KindRetry {
			t.Errorf("got %s (%s)", d.Kind, d.Rule)
		}
	})
}

// Each of these outranks those before it where they are legs of one run.
func TestGravity(t *testing.T) {
	unmet := run(1, Pass, "")
	unmet.Unmet = []string{"coverage"}
	last := 0
	for i, same := range [][]Verdict{
		{run(1, Pass, "")},
		{run(1, Errored, ""), run(1, Errored, Timeout)},
		{run(1, Fail, LogicError), run(1, Fail, Quality), run(1, Fail, Flaky)},
		{unmet, run(1, Unclear, Unknown), run(1, Fail, Unknown), run(1, Unclear, LogicError), run(1, Unclear, EnvIssue), run(1, Unclear, DesignMismatch)},
		{run(1, TimedOut, ""), run(1, TimedOut, EnvIssue), run(1, Fail, Timeout)},
		{run(1, Fail, EnvIssue)},
		{run(1, Fail, DesignMismatch)},
	} {
		first := gravity(same[0])
		for _, v := range same {
			if gravity(v) != first {
				t.Errorf("step %d: %s %s has another gravity", i, v.Result, v.Class)
			}
		}
		if first <= last {
			t.Errorf("step %d outranks nothing", i)
		}
		last = first
	}
}

// Which run counts where several commits, attempts and repositories are at work.
func TestStaleRuns(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(last, v *Verdict) // run 5, which was analyzed, and run 3
		want   string                 // the rule
	}{
		{"an older run of another commit", func(*Verdict, *Verdict) {}, "stale-run"},
		{"an older run of the same commit", func(last, v *Verdict) { v.Run.SHA = last.Run.SHA }, "same-commit"},
		{"an older run of the head", func(_, v *Verdict) { v.Head = v.Run.SHA }, "fixable"},
		{"an older run of one repository", func(last, v *Verdict) { last.Run.Repository, v.Run.Repository = "a/a", "a/a" }, "stale-run"},
		{"an older run of no repository", func(last, _ *Verdict) { last.Run.Repository = "a/a" }, "stale-run"},
		{"an older run beside one of no repository", func(_, v *Verdict) { v.Run.Repository = "a/a" }, "stale-run"},
		{"an older run of another repository", func(last, v *Verdict) { last.Run.Repository, v.Run.Repository = "a/a", "b/b" }, "fixable"},
		{"a run whose id is no number", func(_, v *Verdict) { v.Run.ID = "three" }, "fixable"},
		{"a run beside one whose id is no number", func(last, _ *Verdict) { last.Run.ID = "five" }, "fixable"},
		{"a run of a commit that is not the head", func(_, v *Verdict) { v.Run.ID, v.Head = "7", "ffff" }, "stale-commit"},
		{"a run of no commit, where the head is known", func(_, v *Verdict) { v.Run.ID, v.Run.SHA, v.Head = "7", "", "ffff" }, "fixable"},
		{"an older attempt", func(last, v *Verdict) { last.Run.Attempt, v.Run.ID, v.Run.Attempt = 2, "5", 0 }, "stale-run"},
		{"a newer attempt of another commit", func(_, v *Verdict) { v.Run.ID, v.Run.Attempt = "5", 2 }, "fixable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			last, v := run(5, Fail, LogicError), run(3, Fail, LogicError)
			c.change(&last, &v)
			w.analyze(last)
			if d := w.analyze(v); d.Rule != c.want {
				t.Errorf("%s (%s): %s", d.Rule, d.Kind, d.Reason)
			}
		})
	}
	for _, c := range []struct {
		name   string
		change func(held, newer *Verdict)
		want   string
	}{
		{"a newer commit", func(*Verdict, *Verdict) {}, "stale-run"},
		{"the same commit", func(held, newer *Verdict) { newer.Run.SHA = held.Run.SHA }, "fixable"},
		{"another repository", func(_, newer *Verdict) { newer.Run.Repository = "b/b" }, "fixable"},
		{"a run of no commit", func(_, newer *Verdict) { newer.Run.SHA = "" }, "fixable"},
		{"a newer commit, while it is of none", func(held, _ *Verdict) { held.Run.SHA = "" }, "fixable"},
	} {
		t.Run("what was held is decided after "+c.name, func(t *testing.T) {
			w := newWorld(t)
			w.p.Needs = map[string][]string{"e2e": {"unit"}}
			held, newer := run(1, Fail, LogicError), run(2, Pass, "")
			held.Checkpoint = "e2e"
			c.change(&held, &newer)
			w.analyze(held)
			w.analyze(newer)
			if d := w.analyze(held); d.Rule != c.want {
				t.Errorf("%s (%s): %s", d.Rule, d.Kind, d.Reason)
			}
		})
	}
}

// GitHub's "re-run failed jobs" starts only the legs that failed.
func TestMatrixRunAgain(t *testing.T) {
	leg := func(name string, attempt int, r Result) Verdict {
		v := run(1, r, map[bool]Class{true: LogicError}[r == Fail])
		v.Run.Part, v.Run.Parts, v.Run.Attempt = name, 3, attempt
		return v
	}
	for _, c := range []struct {
		name string
		in   []Verdict
		want []Kind
	}{
		{"the failed leg run again completes the matrix", []Verdict{leg("a", 1, Fail), leg("b", 1, Pass), leg("c", 1, Pass), leg("a", 2, Pass)}, []Kind{KindRetry, KindNone, KindNone, KindPass}},
		{"green legs of two earlier attempts", []Verdict{leg("a", 1, Fail), leg("b", 1, Fail), leg("c", 1, Pass), leg("a", 2, Pass), leg("b", 2, Fail), leg("b", 3, Pass)}, []Kind{KindRetry, KindNone, KindNone, KindNone, KindRetry, KindPass}},
		{"a leg that failed and was not run again keeps it open", []Verdict{leg("a", 1, Fail), leg("b", 1, Fail), leg("c", 1, Pass), leg("a", 2, Pass)}, []Kind{KindRetry, KindNone, KindNone, KindNone}},
		{"a leg that failed in between counts, not its older green", []Verdict{leg("a", 1, Pass), leg("b", 1, Fail), leg("c", 1, Pass), leg("a", 2, Fail), leg("b", 3, Pass)}, []Kind{KindNone, KindRetry, KindNone, KindRetry, KindNone}},
		{"a leg that fails after the others were taken over is not swallowed", []Verdict{leg("a", 1, Fail), leg("b", 1, Pass), leg("c", 1, Pass), leg("a", 2, Pass), leg("b", 2, Fail)}, []Kind{KindRetry, KindNone, KindNone, KindPass, KindRetry}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			var got []Kind
			for _, v := range c.in {
				got = append(got, w.analyze(v).Kind)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			cp := w.c.Checkpoints["unit"]
			if n := len(cp.Attempts); cp.State == Completed && cp.Attempts[n-1].Verdict.Counts.Tests != 9 {
				t.Errorf("the green turn counts %+v, want the tests of all three legs", cp.Attempts[n-1].Verdict.Counts)
			}
		})
	}
	t.Run("legs of another commit are not taken over", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(leg("a", 1, Fail))
		w.analyze(leg("b", 1, Pass))
		w.analyze(leg("c", 1, Pass))
		other := leg("a", 2, Pass)
		other.Run.SHA = "other"
		if d := w.analyze(other); d.Kind != KindNone {
			t.Errorf("got %s (%s)", d.Kind, d.Rule)
		}
	})
}

// TestProperty plays random sequences with repetitions, parts, stale runs and
// human acts, and checks what must hold for any of them.
func TestRepeatedRun(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, again Result
		want         Kind
	}{
		{"a failure", Fail, Fail, KindRetry},
		{"a pass", Pass, Pass, KindPass},
		{"a pass behind the failure of the same part", Fail, Pass, KindRetry},
	} {
		w := newWorld(t)
		w.analyze(run(1, c.first, map[Result]Class{Fail: LogicError}[c.first]))
		if d := w.analyze(run(1, c.again, map[Result]Class{Fail: LogicError}[c.again])); !d.Repeated || d.Kind != c.want {
			t.Errorf("%s that comes twice: %s, repeated %v, want %s", c.name, d.Kind, d.Repeated, c.want)
		}
	}
}

func TestCountsOfPartsAreAdded(t *testing.T) {
	want := Counts{Tests: 11, Passed: 22, Failed: 33, Skipped: 44, Flaky: 55, Quarantined: 66, Parents: 77}
	if got := (Counts{1, 2, 3, 4, 5, 6, 7}).add(Counts{10, 20, 30, 40, 50, 60, 70}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNamesOfTests(t *testing.T) {
	for _, c := range []struct {
		f    Failure
		name string
		want bool
	}{
		{Failure{Name: "T"}, "T", true},
		{Failure{Name: "T"}, " T ", true},
		{Failure{Name: "T"}, "::T", false},
		{Failure{Name: "T"}, "S::T", false},
		{Failure{Name: ""}, "", false},
		{Failure{Name: "T", Suite: "S"}, "T", true},
		{Failure{Name: "T", Suite: "S"}, "S::T", true},
		{Failure{Name: "T", Suite: "S"}, "S.T", true},
		{Failure{Name: "T", Suite: "S"}, "S > T", true},
		{Failure{Name: "T", Suite: "S"}, "ST", false},
		{Failure{Name: "T", Suite: "S"}, "::T", false},
		{Failure{Name: "T", Suite: "S"}, "R::T", false},
		{Failure{Name: "T", Kind: "diagnostic"}, "T", false},
	} {
		if got := c.f.IsTest(c.name); got != c.want {
			t.Errorf("%q of suite %q is %q: %v", c.f.Name, c.f.Suite, c.name, got)
		}
	}
}

func TestComparable(t *testing.T) {
	for _, c := range []struct {
		f    Failure
		want bool
	}{
		{Failure{Name: "T", Fingerprint: "v1:1"}, true},
		{Failure{Name: "T", Fingerprint: "v1:1", Kind: "diagnostic"}, true},
		{Failure{Name: "T"}, false},
		{Failure{Fingerprint: "v1:1"}, false},
		{Failure{Name: "T", Fingerprint: "v1:1", Kind: "log"}, false},
		{Failure{Name: "T", Fingerprint: "v1:1", Kind: "package"}, false},
	} {
		if got := c.f.Comparable(); got != c.want {
			t.Errorf("%+v can be compared with the base: %v", c.f, got)
		}
	}
}

func TestBaseName(t *testing.T) {
	for key, want := range map[string]string{"acme/app@main": "main", "acme/app@a@b": "b", "@main": "main", "acme/app#1": "acme/app#1"} {
		if got := baseName(key); got != want {
			t.Errorf("the base of %s is %q, want %q", key, got, want)
		}
	}
}

func TestProperty(t *testing.T) {
	t.Parallel()
	results := []Result{Pass, Fail, Fail, Fail, TimedOut, Unclear, Errored}
	for seed := range 400 {
		rng := rand.New(rand.NewSource(int64(seed)))
		w := newWorld(t)
		w.p.Max = rng.Intn(5)
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		w.p.OnMax = []OnMax{OnMaxManual, OnMaxError, OnMaxSkip}[rng.Intn(3)]
		var played []Verdict
		counted := map[string]int{}
		for range 60 {
			v := run(1+rng.Intn(12), results[rng.Intn(len(results))], Classes()[rng.Intn(len(Classes()))])
			v.Run.Attempt = 1 + rng.Intn(2)
			v.Run.Parts = 1 + rng.Intn(2)
			v.Run.Part = string(rune('a' + rng.Intn(v.Run.Parts)))
			v.Checkpoint = []string{"unit", "unit", "lint"}[rng.Intn(3)]
			if rng.Intn(4) == 0 && len(played) > 0 {
				v = played[rng.Intn(len(played))]
			}
			played = append(played, v)
			before := w.c.Checkpoints[v.Checkpoint]
			d := w.analyze(v)
			after := w.c.Checkpoints[v.Checkpoint]
			if after.Retries > before.Retries {
				counted[v.Checkpoint+"|"+v.Run.Key()+fmt.Sprint(after.Streak)]++
				if after.Retries != before.Retries+1 {
					t.Fatalf("seed %d: %d → %d", seed, before.Retries, after.Retries)
				}
			}
			if after.Retries > max(d.Max, after.Limit) || after.Retries > HardCap {
				t.Fatalf("seed %d: %d reworks of %d", seed, after.Retries, d.Max)
			}
			if d.Kind == KindPass && v.Result != Pass {
				t.Fatalf("seed %d: %s became a pass", seed, v.Result)
			}
			if rng.Intn(15) == 0 {
				if _, ok := w.c.Checkpoints["unit"]; ok {
					w.human([]HumanAction{HumanResume, HumanReset, HumanPause}[rng.Intn(3)], 0)
				}
			}
		}
		for k, n := range counted {
			if n > 1 {
				t.Fatalf("seed %d: run %s counted %d times", seed, k, n)
			}
		}
		again, err := Fold(w.c.Key, w.events)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !reflect.DeepEqual(again, w.c) {
			t.Fatalf("seed %d: folding the ledger again gives another case", seed)
		}
	}
	t.Run("S4-68 no sequence loops for ever and reworks stay within the limit", func(t *testing.T) {
		w := newWorld(t)
		for n := 1; n <= 100; n++ {
			w.analyze(run(n, Fail, LogicError))
		}
		if got := w.c.Checkpoints["unit"].Retries; got != 3 {
			t.Error(got)
		}
	})
}
