package routing

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// broken returns a failing run n with one failure per name, the first decisive.
func broken(n int, c Class, names ...string) Verdict {
	v := run(n, Fail, c)
	v.Counts = Counts{Tests: 9, Passed: 9 - len(names), Failed: len(names)}
	for i, name := range names {
		v.Failures = append(v.Failures, Failure{Name: name, Suite: "pkg", Class: c, Fingerprint: "fp-" + name, Decisive: i == 0, Kind: "assertion"})
	}
	return v
}

func (w *world) unit() Checkpoint { return w.c.Checkpoints["unit"] }

func (w *world) lastTurn() Attempt { return w.unit().Attempts[len(w.unit().Attempts)-1] }

func (w *world) pending(k EffectKind) (Effect, bool) {
	for _, e := range w.c.Pending {
		if e.Kind == k {
			return e, true
		}
	}
	return Effect{}, false
}

func (w *world) must(e HumanActed) {
	w.t.Helper()
	if err := w.act(e); err != nil {
		w.t.Fatal(err)
	}
}

func TestReturnForFixAtOnce(t *testing.T) {
	for name, v := range map[string]Verdict{
		"design": run(1, Fail, DesignMismatch), "environment": run(1, Fail, EnvIssue), "unclear": run(1, Unclear, Unknown), "unmet": func() Verdict {
			v := run(1, Pass, "")
			v.Unmet = []string{"coverage"}
			return v
		}(),
	} {
		t.Run("S0-23 retry returns for a fix an escalated verdict whatever its class was: "+name, func(t *testing.T) {
			w := newWorld(t)
			w.analyze(v)
			w.human(HumanExtend, 1)
			if cp := w.unit(); cp.State != InProgress || cp.Retries != 1 || cp.Escalation != nil || w.lastTurn().Rule != "answered" {
				t.Errorf("%s %d %+v", cp.State, cp.Retries, w.lastTurn())
			}
			if e, ok := w.pending(EffectHandoff); !ok || e.Iteration != 1 {
				t.Errorf("pending %v", w.c.Pending)
			}
			if _, ok := w.pending(EffectClose); !ok {
				t.Error("the issue is not closed")
			}
		})
	}
	t.Run("S0-23 a verdict that came while a human was awaited is the one returned for a fix", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.analyze(run(2, Fail, LogicError))
		w.human(HumanExtend, 1)
		if got := w.lastTurn().Verdict.Run.ID; got != "2" {
			t.Errorf("run %s was returned for a fix", got)
		}
		if d := w.analyze(run(2, Fail, LogicError)); !d.Repeated {
			t.Errorf("delivered again: %s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("S4-55 X-18 a phase grants the one turn it needs", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 1
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Fail, LogicError))
		w.must(HumanActed{Action: HumanPhase, Phase: Plan})
		cp := w.unit()
		if last := w.lastTurn(); last.Phase != Plan || last.Iteration != 2 || cp.Limit != 1 || Limit(cp, w.p) != 2 {
			t.Errorf("%+v, limit %d", last, Limit(cp, w.p))
		}
		if want := map[Phase]bool{Research: true, Plan: false, Implement: false, Review: false}; !reflect.DeepEqual(cp.Phases, want) {
			t.Error(cp.Phases)
		}
		if d := w.analyze(run(3, Fail, LogicError)); d.Kind != KindMaxRetry || d.Max != 2 {
			t.Errorf("%s %d", d.Kind, d.Max)
		}
	})
	t.Run("S4-55 turns that a human grants are there although the limit was lowered below those taken", func(t *testing.T) {
		for n, want := range map[int]int{0: 4, 1: 4, 2: 5} {
			w := newWorld(t)
			for i := 1; i <= 4; i++ {
				w.analyze(run(i, Fail, LogicError))
			}
			one := 1
			w.p.Override = &one
			w.human(HumanExtend, n)
			if cp := w.unit(); cp.Retries != 4 || Limit(cp, w.p) != want {
				t.Errorf("%d granted: %d reworks of %d", n, cp.Retries, Limit(cp, w.p))
			}
		}
	})
	t.Run("S4-54 a reset returns for a fix what can be fixed and waits otherwise", func(t *testing.T) {
		for class, want := range map[Class]int{LogicError: 1, DesignMismatch: 1, Timeout: 1, EnvIssue: 0, Unknown: 0} {
			w := newWorld(t)
			w.analyze(run(1, Fail, class))
			w.human(HumanReset, 0)
			if cp := w.unit(); cp.Retries != want || cp.State != InProgress || cp.Escalation != nil {
				t.Errorf("%s: %s %d", class, cp.State, cp.Retries)
			}
		}
	})
	t.Run("S4-33 the hard cap holds against every answer but a reset", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = HardCap
		for n := 1; n <= HardCap+1; n++ {
			w.analyze(run(n, Fail, LogicError))
		}
		for _, e := range []HumanActed{{Action: HumanExtend, N: 3}, {Action: HumanPhase, Phase: Plan}} {
			var refused *RefusedError
			if err := w.act(e); !errors.As(err, &refused) || !strings.Contains(err.Error(), "reset it first") {
				t.Errorf("%s: %v", e.Action, err)
			}
		}
		w.human(HumanReset, 0)
		if got := w.unit().Retries; got != 1 {
			t.Error(got)
		}
	})
	t.Run("S4-23 a retry calls the rework that waits, and spends no second turn", func(t *testing.T) {
		w := newWorld(t)
		w.p.Manual = true
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanExtend, 1)
		cp := w.unit()
		if _, ok := w.pending(EffectHandoff); !ok || cp.Retries != 1 || cp.Waiting || len(cp.Iterations) != 1 {
			t.Errorf("reworks %d, waiting %v, %v", cp.Retries, cp.Waiting, w.c.Pending)
		}
	})
}

func TestResumeDecides(t *testing.T) {
	t.Run("S0-23 a green run that came while it was paused passes when it is resumed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanPause, 0)
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindNone {
			t.Fatal(d.Kind)
		}
		w.human(HumanResume, 0)
		if cp := w.unit(); cp.State != Completed || cp.Green != run(2, Pass, "").Run.SHA || !w.c.Complete {
			t.Errorf("%s, green %q", cp.State, cp.Green)
		}
	})
	t.Run("S4-53 what waited for it goes on with it", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanPause, 0)
		w.analyze(run(2, Pass, ""))
		lint := run(2, Fail, LogicError)
		lint.Checkpoint = "lint"
		w.analyze(lint)
		w.human(HumanResume, 0)
		if got := w.c.Checkpoints["lint"]; got.Retries != 1 || len(got.Held) != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("S0-23 a run of another kind that came meanwhile is decided", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.analyze(run(2, Fail, LogicError))
		w.human(HumanResume, 0)
		if cp := w.unit(); cp.Retries != 1 || w.lastTurn().Verdict.Run.ID != "2" {
			t.Errorf("%d %+v", cp.Retries, w.lastTurn())
		}
	})
	t.Run("S0-23 what was resolved is not called for again on old evidence", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.analyze(run(2, Fail, EnvIssue))
		w.human(HumanResume, 0)
		if cp := w.unit(); cp.State != InProgress || cp.Escalation != nil || len(cp.Attempts) != 1 {
			t.Errorf("%s, %d turns", cp.State, len(cp.Attempts))
		}
		if d := w.analyze(run(3, Fail, EnvIssue)); d.Kind != KindEnv {
			t.Errorf("new evidence: %s", d.Kind)
		}
	})
	t.Run("all legs of a matrix that came while it was paused pass together", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanPause, 0)
		for _, part := range []string{"a", "b"} {
			v := run(2, Pass, "")
			v.Run.Part, v.Run.Parts = part, 2
			w.analyze(v)
		}
		w.human(HumanResume, 0)
		if w.unit().State != Completed || w.lastTurn().Verdict.Counts.Tests != 6 {
			t.Errorf("%s, %+v", w.unit().State, w.lastTurn().Verdict.Counts)
		}
	})
}

func TestRerun(t *testing.T) {
	w := newWorld(t)
	w.analyze(run(7, Fail, EnvIssue))
	w.must(HumanActed{Action: HumanRerun, Answer: "comment/55/1"})
	e, ok := w.pending(EffectRerun)
	if !ok || e.Target != "7/1" || w.unit().State != InProgress || w.unit().Retries != 0 {
		t.Errorf("%+v, %s", w.c.Pending, w.unit().State)
	}
	if e, ok := w.pending(EffectReact); !ok || e.Target != "55" {
		t.Errorf("a comment is answered by a reaction: %+v", e)
	}
	second := run(7, Fail, LogicError)
	second.Run.Attempt = 2
	if d := w.analyze(second); d.Kind != KindRetry || d.Iteration != 1 {
		t.Errorf("the next attempt: %s %d", d.Kind, d.Iteration)
	}
	w.analyze(run(8, Pass, ""))
	var refused *RefusedError
	if err := w.act(HumanActed{Action: HumanRerun}); !errors.As(err, &refused) || refused.ID != "passed" {
		t.Errorf("a green run was run again: %v", err)
	}
	if err := newReviewed(t).act(HumanActed{Checkpoint: "review", Action: HumanRerun}); err == nil {
		t.Error("a review was run again")
	}
}

func newReviewed(t *testing.T) *world {
	w := newWorld(t)
	w.analyze(review(1, rejected("testing")))
	return w
}

func TestQuarantine(t *testing.T) {
	t.Run("a run of which nothing else failed passes at once, and gives the turn back", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestFlaky"))
		w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
		cp, last := w.unit(), w.lastTurn()
		if cp.State != Completed || last.Kind != KindPass || !last.Verdict.Failures[0].Quarantined || !strings.Contains(last.Reason, "TestFlaky") {
			t.Errorf("%s %+v", cp.State, last)
		}
		if !cp.Attempts[0].Undone || len(cp.Iterations) != 0 {
			t.Errorf("%+v", cp.Attempts[0])
		}
		if d := w.analyze(broken(2, LogicError, "TestFlaky")); d.Kind != KindPass {
			t.Errorf("its next failure: %s (%s)", d.Kind, d.Rule)
		}
		if d := w.analyze(broken(3, LogicError, "TestFlaky", "TestReal")); d.Kind != KindRetry || d.Verdict.Counts.Failed != 1 || d.Verdict.Counts.Quarantined != 1 {
			t.Errorf("with another failure: %s %+v", d.Kind, d.Verdict.Counts)
		}
	})
	for name, spoil := range map[string]func(*Verdict){
		"another failure":          func(v *Verdict) { *v = broken(1, LogicError, "TestFlaky", "TestReal") },
		"failures beyond the list": func(v *Verdict) { v.Dropped = 1 },
		"failures not listed":      func(v *Verdict) { v.Counts.Failed = 2 },
		"a report not read":        func(v *Verdict) { v.Notes = []string{"b.xml ends in the middle"} },
		"no test but the build":    func(v *Verdict) { v.Failures[0].Kind = "build" },
		"a run that was cut":       func(v *Verdict) { v.Result = TimedOut },
	} {
		t.Run("it does not pass with "+name, func(t *testing.T) {
			w := newWorld(t)
			v := broken(1, LogicError, "TestFlaky")
			spoil(&v)
			w.analyze(v)
			w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
			if cp := w.unit(); cp.State != InProgress || cp.Retries != 1 || len(cp.Attempts) != 1 {
				t.Errorf("%s, %d reworks, %d turns", cp.State, cp.Retries, len(cp.Attempts))
			}
		})
	}
	t.Run("by configuration, for all cases", func(t *testing.T) {
		w := newWorld(t)
		w.p.Quarantine = namedTests("pkg.TestFlaky", "TestOther")
		d := w.analyze(broken(1, LogicError, "TestFlaky"))
		if d.Kind != KindPass || !reflect.DeepEqual(d.Excused, []string{"pkg.TestFlaky"}) || w.unit().State != Completed {
			t.Errorf("%s %v", d.Kind, d.Excused)
		}
	})
	t.Run("a pass names the tests that do not count, five at most", func(t *testing.T) {
		for _, c := range []struct {
			names []string
			want  string
		}{
			{[]string{"A", "B", "C", "D", "E"}, "4 of 9 tests passed; what failed is in quarantine: A, B, C, D, E"},
			{[]string{"A", "B", "C", "D", "E", "F"}, "3 of 9 tests passed; what failed is in quarantine: A, B, C, D, E and 1 more"},
		} {
			w := newWorld(t)
			w.p.Quarantine = namedTests(c.names...)
			if d := w.analyze(broken(1, LogicError, c.names...)); d.Kind != KindPass || d.Reason != c.want {
				t.Errorf("%s: %s", d.Kind, d.Reason)
			}
		}
	})
	t.Run("the gravest of the failures that are left decides", func(t *testing.T) {
		w := newWorld(t)
		v := broken(1, EnvIssue, "TestFlaky", "TestReal")
		v.Failures[1].Class = LogicError
		w.analyze(v)
		w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
		if cp := w.unit(); cp.State != InProgress || cp.Retries != 1 || w.lastTurn().Verdict.Class != LogicError {
			t.Errorf("%s %d %s", cp.State, cp.Retries, w.lastTurn().Verdict.Class)
		}
	})
	t.Run("a paused checkpoint stays paused and is decided when resumed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestFlaky"))
		w.human(HumanPause, 0)
		w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
		if w.unit().State != InProgress {
			t.Error(w.unit().State)
		}
		w.human(HumanResume, 0)
		if w.unit().State != Completed {
			t.Error(w.unit().State)
		}
	})
	t.Run("every checkpoint in which the test failed is decided anew", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestFlaky"))
		other := broken(1, LogicError, "TestFlaky")
		other.Checkpoint = "race"
		w.analyze(other)
		w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
		if w.unit().State != Completed || w.c.Checkpoints["race"].State != Completed {
			t.Errorf("%s, %s", w.unit().State, w.c.Checkpoints["race"].State)
		}
	})
}

func TestWrong(t *testing.T) {
	wrong := func(c Class) HumanActed { return HumanActed{Action: HumanWrong, Class: c} }
	t.Run("a rework that was none is taken back and escalates as what it is", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestNet"))
		first, _ := w.pending(EffectHandoff)
		w.must(wrong(EnvIssue))
		cp := w.unit()
		if cp.State != Escalated || cp.Escalation.Kind != KindEnv || cp.Retries != 0 || len(cp.Iterations) != 0 || len(cp.Returned) != 0 {
			t.Errorf("%s %+v reworks %d", cp.State, cp.Escalation, cp.Retries)
		}
		want := Correction{Run: run(1, Fail, "").Run.Key(), SHA: run(1, Fail, "").Run.SHA, Fingerprint: "fp-TestNet", From: LogicError, To: EnvIssue, By: "mona", At: w.now}
		if len(cp.Corrections) != 1 || cp.Corrections[0] != want {
			t.Errorf("%+v", cp.Corrections)
		}
		w.human(HumanResume, 0)
		if d := w.analyze(broken(2, LogicError, "TestNet")); d.Kind != KindEnv {
			t.Errorf("a later failure of that fingerprint: %s", d.Kind)
		}
		w.human(HumanResume, 0)
		w.analyze(broken(3, LogicError, "TestOther"))
		if again, ok := w.pending(EffectHandoff); !ok || again.Key == first.Key {
			t.Errorf("the number is given again, the key is not: %q and %q", again.Key, first.Key)
		}
	})
	for _, c := range []struct {
		name          string
		first, second string // commits
		again         bool   // the first rework is given back, and handed off again
	}{{"the same commit", "abc", "abc", true}, {"another commit", "abc", "def", false}, {"no commit", "", "", false}} {
		t.Run("a rework that a graver run stopped is given back if that is of "+c.name, func(t *testing.T) {
			w := newWorld(t)
			first, second := broken(1, LogicError, "TestNet"), broken(2, EnvIssue, "TestNet")
			first.Run.SHA, second.Run.SHA = c.first, c.second
			w.analyze(first)
			if d := w.analyze(second); d.Kind != KindEnv {
				t.Fatal(d.Kind)
			}
			w.must(wrong(LogicError))
			cp := w.unit()
			if want := map[bool]int{true: 1, false: 2}[c.again]; cp.Attempts[0].Undone != c.again || !cp.Attempts[1].Undone || cp.Retries != want || w.lastTurn().Iteration != want {
				t.Errorf("undone %v, %d reworks", cp.Attempts[0].Undone, cp.Retries)
			}
			if cp.History[0].Undone != c.again || !cp.History[1].Undone {
				t.Errorf("%+v", cp.History)
			}
		})
	}
	t.Run("the newest correction of a failure counts, whichever checkpoint it is of", func(t *testing.T) {
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			w := newWorld(t)
			for i, name := range order {
				v := broken(1, LogicError, "TestNet")
				v.Checkpoint = name
				w.analyze(v)
				w.now = w.now.Add(time.Minute)
				w.must(HumanActed{Checkpoint: name, Action: HumanWrong, Class: []Class{EnvIssue, DesignMismatch}[i]})
			}
			v := broken(2, LogicError, "TestNet")
			v.Checkpoint = "c"
			if d := w.analyze(v); d.Kind != KindDesign {
				t.Errorf("%v: %s", order, d.Kind)
			}
		}
	})
	t.Run("a failure beside the decisive one changes the class of the run only if it is graver", func(t *testing.T) {
		for to, want := range map[Class]Class{Quality: LogicError, TypeError: TypeError} {
			w := newWorld(t)
			w.analyze(broken(1, LogicError, "TestB"))
			w.must(wrong(to))
			d := w.analyze(broken(2, LogicError, "TestA", "TestB"))
			if d.Verdict.Class != want || d.Verdict.Failures[1].Class != to || d.Verdict.Failures[1].Was != LogicError {
				t.Errorf("%s: %s %+v", to, d.Verdict.Class, d.Verdict.Failures)
			}
		}
	})
	t.Run("an escalation that was none is returned for a fix and its issue closed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, EnvIssue, "TestNet"))
		w.must(wrong(LogicError))
		_, closes := w.pending(EffectClose)
		if _, ok := w.pending(EffectHandoff); !ok || !closes || w.unit().State != InProgress || w.unit().Retries != 1 {
			t.Errorf("%v, %s", w.c.Pending, w.unit().State)
		}
	})
	t.Run("a verdict without a failure is corrected for its run", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Unclear, Unknown))
		w.must(wrong(LogicError))
		if w.unit().Retries != 1 || w.unit().Corrections[0].Fingerprint != "" {
			t.Errorf("%d %+v", w.unit().Retries, w.unit().Corrections)
		}
		if d := w.analyze(run(2, Unclear, Unknown)); d.Kind != KindUnclear {
			t.Errorf("another run: %s", d.Kind)
		}
	})
	t.Run("what is decided as before starts nobody a second time", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestNet"))
		first, _ := w.pending(EffectHandoff)
		w.must(wrong(TypeError))
		again, _ := w.pending(EffectHandoff)
		if w.unit().Retries != 1 || len(w.unit().Attempts) != 1 || w.lastTurn().Verdict.Class != TypeError || again != first {
			t.Errorf("%d %d %s %+v", w.unit().Retries, len(w.unit().Attempts), w.lastTurn().Verdict.Class, again)
		}
	})
	t.Run("FLAKY and UNKNOWN are refused, and a green run", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestNet"))
		for _, c := range []Class{Flaky, Unknown, "NONSENSE", LogicError} {
			var refused *RefusedError
			if err := w.act(wrong(c)); !errors.As(err, &refused) || (c == Flaky && !strings.Contains(err.Error(), "quarantine TEST")) {
				t.Errorf("%s: %v", c, err)
			}
		}
		w.analyze(run(2, Pass, ""))
		if err := w.act(wrong(EnvIssue)); err == nil {
			t.Error("a green run was corrected")
		}
	})
}

func TestWontFix(t *testing.T) {
	w := newWorld(t)
	if w.analyze(run(1, Fail, LogicError)); w.act(HumanActed{Action: HumanWontFix}) == nil {
		t.Error("nothing is escalated")
	}
	w.analyze(run(2, Fail, EnvIssue))
	w.must(HumanActed{Action: HumanWontFix})
	t.Run("S4-28 S4-52 it stays escalated and nothing is retried", func(t *testing.T) {
		if d := w.analyze(run(3, Fail, LogicError)); d.Kind != KindNone || w.unit().State != Escalated || w.unit().WontFix == nil || w.unit().WontFix.By != "mona" {
			t.Errorf("%s %s", d.Kind, w.unit().State)
		}
	})
	t.Run("a retry undoes it", func(t *testing.T) {
		w.human(HumanExtend, 1)
		if w.unit().WontFix != nil || w.unit().Retries != 2 {
			t.Errorf("%+v %d", w.unit().WontFix, w.unit().Retries)
		}
	})
	t.Run("a green run passes it", func(t *testing.T) {
		w.analyze(run(4, Fail, EnvIssue))
		w.must(HumanActed{Action: HumanWontFix})
		if d := w.analyze(run(5, Pass, "")); d.Kind != KindPass || w.unit().WontFix != nil {
			t.Errorf("%s %+v", d.Kind, w.unit().WontFix)
		}
	})
}

func TestAnswersCountOnce(t *testing.T) {
	t.Run("a known answer does nothing", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.must(HumanActed{Action: HumanExtend, N: 1, Answer: "comment/1/1"})
		before := w.c
		w.must(HumanActed{Action: HumanExtend, N: 1, Answer: "comment/1/1", By: "lisa"})
		before.Version++
		before.Updated = w.c.Updated
		if !reflect.DeepEqual(w.c, before) {
			t.Error("it changed the case")
		}
		if a := w.c.Answered["comment/1/1"]; a.Action != HumanExtend || a.By != "mona" {
			t.Errorf("%+v", a)
		}
	})
	t.Run("an answer to another commit is refused", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.analyze(run(2, Fail, EnvIssue))
		var stale *StaleAnswerError
		if err := w.act(HumanActed{Action: HumanResume, SHA: run(1, Fail, "").Run.SHA}); !errors.As(err, &stale) || stale.Newest != run(2, Fail, "").Run.SHA {
			t.Error(err)
		}
		w.must(HumanActed{Action: HumanResume, SHA: run(2, Fail, "").Run.SHA})
	})
}

func TestLedgerOfBefore(t *testing.T) {
	t.Run("acts of a ledger in which nothing was decided at once fold as they did", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.add(HumanEvent(w.c.Key, HumanActed{Checkpoint: "unit", Action: HumanExtend, N: 1, By: "mona"}, w.now))
		if d := w.analyze(run(2, Fail, LogicError)); d.Kind != KindRetry || d.Iteration != 1 || w.unit().Redo != nil {
			t.Errorf("%s %d %+v", d.Kind, d.Iteration, w.unit().Redo)
		}
	})
}

// namedTests are tests that are in quarantine by the configuration for longer than any story lasts.
func namedTests(names ...string) []NamedTest {
	var out []NamedTest
	for _, n := range names {
		out = append(out, NamedTest{Test: n, Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)})
	}
	return out
}
