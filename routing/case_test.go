package routing

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func effectKinds(d Decision) []EffectKind {
	var out []EffectKind
	for _, e := range d.Effects {
		out = append(out, e.Kind)
	}
	return out
}

func TestPass(t *testing.T) {
	t.Run("S0-5 S0-46 PASS marks the checkpoint completed", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		if got := w.c.Checkpoints["unit"].State; got != Completed {
			t.Error(got)
		}
	})
	t.Run("S0-6 S0-54 PASS starts the reviewer only where one is configured and wanted", func(t *testing.T) {
		for _, c := range []struct{ configured, wanted, starts bool }{{true, true, true}, {true, false, false}, {false, true, false}} {
			w := newWorld(t)
			if !w.p.RunReviewerOnPass {
				t.Error("run_reviewer_on_pass is true by default")
			}
			w.p.Reviewer, w.p.RunReviewerOnPass = c.configured, c.wanted
			if got := hasEffect(w.analyze(run(1, Pass, "")), EffectReview); got != c.starts {
				t.Errorf("%+v: started %v", c, got)
			}
		}
	})
	t.Run("S0-6 a reviewer that fails does not undo PASS", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		v := ReviewVerdict("review", Run{ID: "r1", SHA: run(1, Pass, "").Run.SHA}, ReviewResult{Decision: ReviewFailed}, w.p.FailOn)
		if d := w.analyze(v); d.Kind != KindNone || w.c.Checkpoints["unit"].State != Completed {
			t.Errorf("%s, unit is %s", d.Kind, w.c.Checkpoints["unit"].State)
		}
	})
	t.Run("S0-7 S0-45 PASS makes dependents ready and what they held goes on", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"e2e": {"unit", "lint"}}
		early := run(1, Fail, LogicError)
		early.Checkpoint = "e2e"
		if d := w.analyze(early); d.Kind != KindNone || !d.Held || w.c.Checkpoints["e2e"].State != Pending {
			t.Fatalf("%s held=%v state=%s", d.Kind, d.Held, w.c.Checkpoints["e2e"].State)
		}
		lint := run(1, Pass, "")
		lint.Checkpoint = "lint"
		if d := w.analyze(lint); len(d.Ready) != 0 {
			t.Errorf("ready too early: %v", d.Ready)
		}
		d := w.analyze(run(1, Pass, ""))
		if !reflect.DeepEqual(d.Ready, []string{"e2e"}) || !hasEffect(d, EffectReady) {
			t.Errorf("ready %v, effects %v", d.Ready, effectKinds(d))
		}
		if d := w.analyze(early); d.Kind != KindRetry || w.c.Checkpoints["e2e"].State != InProgress {
			t.Errorf("the held verdict: %s, state %s", d.Kind, w.c.Checkpoints["e2e"].State)
		}
	})
	t.Run("S0-7 a checkpoint waits for one that was seen and has not passed", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		w.analyze(run(1, Fail, LogicError))
		lint := run(1, Fail, LogicError)
		lint.Checkpoint = "lint"
		for range 2 {
			if d := w.analyze(lint); d.Kind != KindNone || !d.Held || w.c.Checkpoints["lint"].Retries != 0 {
				t.Errorf("%s (%s), held %v", d.Kind, d.Rule, d.Held)
			}
		}
		if len(w.events) != 2 || len(w.c.Checkpoints["lint"].Held) != 1 {
			t.Errorf("%d events, held %v", len(w.events), w.c.Checkpoints["lint"].Held)
		}
	})
	t.Run("S0-7 a dependent that has passed is not started again", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		w.analyze(run(1, Pass, ""))
		lint := run(1, Pass, "")
		lint.Checkpoint = "lint"
		w.analyze(lint)
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindPass || len(d.Ready) != 0 {
			t.Errorf("%s, ready %v", d.Kind, d.Ready)
		}
	})
	t.Run("a held verdict of an older commit than has been analyzed since decides nothing", func(t *testing.T) {
		for _, r := range []Result{Fail, Pass} {
			w := newWorld(t)
			w.p.Needs, w.p.Checkpoints = map[string][]string{"e2e": {"unit"}}, []string{"unit", "e2e"}
			held := run(1, r, map[bool]Class{true: LogicError}[r == Fail])
			held.Checkpoint, held.Head = "e2e", held.Run.SHA
			w.analyze(held)
			w.analyze(run(2, Pass, ""))
			d := w.analyze(held)
			if cp := w.c.Checkpoints["e2e"]; d.Kind != KindNone || d.Rule != "stale-run" || len(cp.Held) != 0 || cp.Retries != 0 || w.c.Complete {
				t.Errorf("held %s: %s (%s), complete %v", r, d.Kind, d.Rule, w.c.Complete)
			}
		}
	})
	t.Run("S0-8 PASS of the last checkpoint completes the case", func(t *testing.T) {
		w := newWorld(t)
		w.p.Checkpoints = []string{"unit", "lint"}
		if d := w.analyze(run(1, Pass, "")); d.Complete || w.c.Complete {
			t.Error("complete before lint passed")
		}
		lint := run(1, Pass, "")
		lint.Checkpoint = "lint"
		if d := w.analyze(lint); !d.Complete || !w.c.Complete {
			t.Error("not complete")
		}
	})
	t.Run("S0-8 S4-30 a skipped checkpoint does not keep the case from being complete, one under way does", func(t *testing.T) {
		for _, skip := range []bool{true, false} {
			w := newWorld(t)
			lint := run(1, Fail, LogicError)
			lint.Checkpoint = "lint"
			w.analyze(lint)
			if skip {
				w.must(HumanActed{Checkpoint: "lint", Action: HumanSkip})
			}
			if d := w.analyze(run(1, Pass, "")); d.Complete != skip {
				t.Errorf("skipped %v: complete %v", skip, d.Complete)
			}
		}
	})
	t.Run("S0-35 a passing result makes no feedback and hands nothing over", func(t *testing.T) {
		d := newWorld(t).analyze(run(1, Pass, ""))
		if hasEffect(d, EffectHandoff) || hasEffect(d, EffectIssue) {
			t.Error(effectKinds(d))
		}
	})
	t.Run("S4-10 success clears last_error", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 0
		w.analyze(run(1, Fail, LogicError))
		if w.c.Checkpoints["unit"].LastError == "" {
			t.Fatal("no last_error")
		}
		w.analyze(run(2, Pass, ""))
		if got := w.c.Checkpoints["unit"].LastError; got != "" {
			t.Error(got)
		}
	})
	t.Run("green resets the count", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Pass, ""))
		if d := w.analyze(run(3, Fail, LogicError)); d.Kind != KindRetry || d.Iteration != 1 {
			t.Errorf("%s %d", d.Kind, d.Iteration)
		}
	})
}

func TestRetry(t *testing.T) {
	t.Run("S0-11 RETRY sends the feedback, counts, and only then starts the worker again", func(t *testing.T) {
		w := newWorld(t)
		d := w.analyze(run(1, Fail, LogicError))
		if want := []EffectKind{EffectComment, EffectCheck, EffectHandoff}; !reflect.DeepEqual(effectKinds(d), want) {
			t.Errorf("got %v", effectKinds(d))
		}
		if w.c.Checkpoints["unit"].Retries != 1 {
			t.Error("the increment is not recorded with the decision")
		}
	})
	t.Run("S0-47 RETRY leaves the checkpoint in progress", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Fail, LogicError))
		if got := w.c.Checkpoints["unit"].State; got != InProgress {
			t.Error(got)
		}
	})
	t.Run("S0-52 the retry delay is 5 s by default and stands in the decision", func(t *testing.T) {
		if d := newWorld(t).analyze(run(1, Fail, LogicError)); d.Delay != 5*time.Second {
			t.Error(d.Delay)
		}
	})
	t.Run("S0-32 a later turn overwrites no earlier one", func(t *testing.T) {
		w := newWorld(t)
		for n := 1; n <= 3; n++ {
			v := run(n, Fail, LogicError)
			v.Failures = []Failure{{Name: fmt.Sprint("test", n)}}
			w.analyze(v)
		}
		for i, turn := range w.c.Checkpoints["unit"].Attempts {
			if turn.Iteration != i+1 || turn.Verdict.Failures[0].Name != fmt.Sprint("test", i+1) {
				t.Errorf("turn %d: %+v", i, turn)
			}
		}
	})
}

func TestEscalated(t *testing.T) {
	t.Run("S0-23 S0-48 S4-52 after an escalation nothing retries or advances until a human acts", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		for n := 2; n < 6; n++ {
			if d := w.analyze(run(n, Fail, LogicError)); d.Kind != KindNone || hasEffect(d, EffectHandoff) {
				t.Errorf("run %d: %s %v", n, d.Kind, effectKinds(d))
			}
		}
		if cp := w.c.Checkpoints["unit"]; cp.State != Escalated || cp.Retries != 0 {
			t.Errorf("%s %d", cp.State, cp.Retries)
		}
		w.human(HumanResume, 0)
		if d := w.analyze(run(6, Fail, LogicError)); d.Kind != KindRetry {
			t.Errorf("after a human resumed: %s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("S0-24 the pause covers the checkpoint and its dependents, or the whole case by configuration", func(t *testing.T) {
		for _, c := range []struct {
			scope      Scope
			lint, docs Kind
		}{{ScopeCheckpoint, KindNone, KindRetry}, {ScopeCase, KindNone, KindNone}} {
			w := newWorld(t)
			w.p.Scope = c.scope
			w.p.Needs = map[string][]string{"lint": {"unit"}}
			w.analyze(run(1, Pass, ""))
			w.analyze(run(2, Fail, EnvIssue))
			lint, docs := run(3, Fail, LogicError), run(3, Fail, LogicError)
			lint.Checkpoint, docs.Checkpoint = "lint", "docs"
			if got := kinds(w.analyze(lint), w.analyze(docs)); got[0] != c.lint || got[1] != c.docs {
				t.Errorf("scope %s: %v", c.scope, got)
			}
		}
	})
	t.Run("S4-28 manual waits for a human", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 0
		d := w.analyze(run(1, Fail, LogicError))
		if d.OnMax != OnMaxManual || w.c.Checkpoints["unit"].Skipped {
			t.Errorf("%+v", d)
		}
	})
	t.Run("S4-27 on_max is manual by default", func(t *testing.T) {
		if DefaultPolicy().OnMax != OnMaxManual {
			t.Error(DefaultPolicy().OnMax)
		}
	})
	t.Run("S4-30 skip skips the checkpoint and the others go on", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max, w.p.OnMax = 0, OnMaxSkip
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		d := w.analyze(run(1, Fail, LogicError))
		if !hasEffect(d, EffectIssue) || !w.c.Checkpoints["unit"].Skipped {
			t.Errorf("%v", effectKinds(d))
		}
		lint := run(1, Fail, LogicError)
		lint.Checkpoint = "lint"
		w.p.Max = 3
		if d := w.analyze(lint); d.Kind != KindRetry {
			t.Errorf("lint: %s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("S4-30 what is skipped is neither returned for a fix nor escalated again, until it passes", func(t *testing.T) {
		for name, skip := range map[string]func(*world){
			"on_max":  func(w *world) { w.p.Max, w.p.OnMax = 0, OnMaxSkip; w.analyze(run(1, Fail, LogicError)) },
			"a human": func(w *world) { w.analyze(run(1, Fail, LogicError)); w.human(HumanSkip, 0) },
		} {
			w := newWorld(t)
			skip(w)
			turns := len(w.c.Checkpoints["unit"].Attempts)
			for i, v := range []Verdict{run(2, Fail, LogicError), run(3, Fail, EnvIssue), run(4, Unclear, Unknown)} {
				d := w.analyze(v)
				if cp := w.c.Checkpoints["unit"]; d.Kind != KindNone || d.Rule != "skipped" || !cp.Skipped || len(cp.Attempts) != turns || !hasEffect(d, EffectCheck) {
					t.Errorf("%s, run %d: %s (%s), skipped %v", name, i+2, d.Kind, d.Rule, cp.Skipped)
				}
			}
			if d := w.analyze(run(5, Pass, "")); d.Kind != KindPass || w.c.Checkpoints["unit"].Skipped {
				t.Errorf("%s: %s (%s)", name, d.Kind, d.Rule)
			}
		}
	})
	t.Run("S0-23 a rework that waited for its call is not handed over after an escalation", func(t *testing.T) {
		w := newWorld(t)
		w.p.Manual, w.p.Max = true, 1
		w.analyze(run(1, Fail, LogicError))
		w.analyze(run(2, Fail, LogicError))
		_, err := w.c.Apply(HumanEvent("", HumanActed{Checkpoint: "unit", Action: HumanHandoff}, w.now))
		if w.c.Checkpoints["unit"].Waiting || err == nil {
			t.Errorf("waiting %v, %v", w.c.Checkpoints["unit"].Waiting, err)
		}
	})
	t.Run("a human who names no checkpoint of the case is told which there are", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		_, err := w.c.Apply(HumanEvent("", HumanActed{Checkpoint: "ci", Action: HumanResume}, w.now))
		if err == nil || err.Error() != `no checkpoint "ci"; known are unit` {
			t.Error(err)
		}
	})
	t.Run("S4-53 S4-69 others go on and cases do not interfere", func(t *testing.T) {
		w := newWorld(t)
		w.p.Max = 0
		w.analyze(run(1, Fail, LogicError))
		w.p.Max = 3
		docs := run(1, Fail, LogicError)
		docs.Checkpoint = "docs"
		other := newWorld(t)
		if got := kinds(w.analyze(docs), other.analyze(run(1, Fail, LogicError))); got[0] != KindRetry || got[1] != KindRetry {
			t.Error(got)
		}
	})
	t.Run("S4-55 only a limit above the turns taken goes on after the limit was reached", func(t *testing.T) {
		for _, c := range []struct {
			name     string
			class    Class // that escalated, after one turn of one
			override int
			pause    bool
			want     string
		}{
			{"as many turns", LogicError, 1, false, "held-by-escalation"},
			{"one more", LogicError, 2, false, "fixable"},
			{"one more, but paused", LogicError, 2, true, "held-by-escalation"},
			{"one more, after another escalation", EnvIssue, 2, false, "held-by-escalation"},
		} {
			w := newWorld(t)
			w.p.Max = 1
			w.analyze(run(1, Fail, LogicError))
			w.analyze(run(2, Fail, c.class))
			if c.pause {
				w.human(HumanPause, 0)
			}
			w.p.Override = &c.override
			if d := w.analyze(run(3, Fail, LogicError)); d.Rule != c.want {
				t.Errorf("%s: %s (%s)", c.name, d.Kind, d.Rule)
			}
		}
	})
	t.Run("S0-48 what comes while a human is awaited joins the turn that it is about, else it waits", func(t *testing.T) {
		for _, c := range []struct {
			name   string
			change func(first, v *Verdict) // runs 1 and 2
			again  bool
		}{
			{"another leg of the run", func(first, v *Verdict) { first.Run.SHA, v.Run = "", Run{ID: "1", Attempt: 1, Part: "b"} }, true},
			{"another run of the commit", func(first, v *Verdict) { v.Run.SHA = first.Run.SHA }, true},
			{"another run of another commit", func(*Verdict, *Verdict) {}, false},
			{"another run, both of no commit", func(first, v *Verdict) { first.Run.SHA, v.Run.SHA = "", "" }, false},
		} {
			w := newWorld(t)
			first, v := run(1, Fail, EnvIssue), run(2, Fail, LogicError)
			c.change(&first, &v)
			w.analyze(first)
			if d := w.analyze(v); d.Rule != "held-by-escalation" || d.Again != c.again || d.Waits == c.again || d.Held {
				t.Errorf("%s: %s, again %v, waits %v", c.name, d.Rule, d.Again, d.Waits)
			}
		}
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanPause, 0)
		green := run(2, Pass, "")
		green.Run.SHA = run(1, Fail, "").Run.SHA
		if d := w.analyze(green); d.Again || !d.Waits {
			t.Errorf("a green run of the commit: again %v, waits %v", d.Again, d.Waits)
		}
	})
	t.Run("S0-24 what is held for an escalation is held once, and decided after it", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		w.analyze(run(1, Pass, ""))
		w.analyze(run(2, Fail, LogicError))
		w.human(HumanPause, 0)
		w.human(HumanSkip, 0)
		w.human(HumanPause, 0)
		lint := run(2, Fail, LogicError)
		lint.Checkpoint = "lint"
		w.analyze(lint)
		if d := w.analyze(lint); !d.Repeated || !d.Held || d.Reason != "run 2 waits already" || len(w.c.Checkpoints["lint"].Held) != 1 {
			t.Errorf("%+v", d)
		}
		w.human(HumanSkip, 0)
		if cp := w.c.Checkpoints["lint"]; cp.Retries != 1 || len(cp.Held) != 0 {
			t.Errorf("%+v", cp)
		}
	})
	t.Run("S0-24 a green run of another checkpoint is held while the case is", func(t *testing.T) {
		w := newWorld(t)
		w.p.Scope = ScopeCase
		w.analyze(run(1, Fail, EnvIssue))
		docs := run(1, Pass, "")
		docs.Checkpoint = "docs"
		if d := w.analyze(docs); d.Kind != KindNone || !d.Held || d.Waits {
			t.Errorf("%s, held %v", d.Kind, d.Held)
		}
	})
	t.Run("S0-24 the pause reaches what depends on it at any distance, also where needs are a circle", func(t *testing.T) {
		w := newWorld(t)
		w.p.Needs = map[string][]string{"lint": {"docs", "build"}, "docs": {"lint"}, "build": {"unit"}}
		w.analyze(run(1, Fail, EnvIssue))
		for name, want := range map[string]string{"unit": "unit", "build": "unit", "lint": "unit", "docs": "unit", "other": ""} {
			if got := w.c.holder(name, w.p); got != want {
				t.Errorf("%s waits for %q", name, got)
			}
		}
	})
	t.Run("S0-55 notify_on_escalation false silences the notification and not the report", func(t *testing.T) {
		if !DefaultPolicy().Notify {
			t.Error("true by default")
		}
		w := newWorld(t)
		w.p.Notify = false
		if d := w.analyze(run(1, Fail, EnvIssue)); !d.NoNotify || !hasEffect(d, EffectIssue) {
			t.Errorf("%+v", d)
		}
	})
	t.Run("S0-42 S0-13 S0-15 S0-16 every escalation makes a report, notifies and pauses", func(t *testing.T) {
		for _, v := range []Verdict{run(1, Fail, EnvIssue), run(1, Fail, DesignMismatch), run(1, Unclear, Unknown), run(1, Fail, LogicError), run(1, TimedOut, Timeout)} {
			w := newWorld(t)
			w.p.Max = 0
			d := w.analyze(v)
			if !hasEffect(d, EffectIssue) || !hasEffect(d, EffectLabel) || d.NoNotify || w.c.Checkpoints["unit"].State != Escalated {
				t.Errorf("%s: %v", d.Kind, effectKinds(d))
			}
		}
	})
	t.Run("a pass while escalated closes the escalation", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindPass || !hasEffect(d, EffectClose) || w.c.Checkpoints["unit"].Escalation != nil {
			t.Errorf("%s %v", d.Kind, effectKinds(d))
		}
	})
}

func TestStates(t *testing.T) {
	t.Run("S0-44 S0-49 only the listed transitions are taken", func(t *testing.T) {
		all := []State{Pending, InProgress, Completed, Escalated}
		allowed := map[[2]State]bool{
			{Pending, InProgress}: true, {InProgress, Completed}: true, {InProgress, Escalated}: true,
			{Escalated, InProgress}: true, {Escalated, Completed}: true, {Completed, InProgress}: true,
		}
		for _, from := range all {
			for _, to := range all {
				_, err := Checkpoint{Name: "x", State: from}.to(to)
				if (err == nil) != (allowed[[2]State{from, to}] || from == to) {
					t.Errorf("%s → %s: %v", from, to, err)
				}
			}
		}
	})
	t.Run("S0-49 completed is terminal for its commit", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		again := run(2, Fail, LogicError)
		again.Run.SHA = run(1, Pass, "").Run.SHA
		if d := w.analyze(again); d.Kind != KindNone || w.c.Checkpoints["unit"].State != Completed {
			t.Errorf("%s, %s", d.Kind, w.c.Checkpoints["unit"].State)
		}
	})
	t.Run("S0-49 a commit that passed says no more, one that is not known does", func(t *testing.T) {
		for _, c := range []struct {
			sha, again string
			r          Result
			want       Kind
			reason     string
		}{
			{"abcdef0123", "abcdef0123", Fail, KindNone, "commit abcdef0 has passed before; passing and failing on one commit means flaky"},
			{"abcdef0123", "abcdef0123", Pass, KindNone, "commit abcdef0 has passed before"},
			{"", "", Fail, KindRetry, "LOGIC_ERROR; returned for a fix 1/3"},
			{"abcdef0123", "fedcba", Fail, KindRetry, "LOGIC_ERROR; returned for a fix 1/3"},
		} {
			w := newWorld(t)
			first, second := run(1, Pass, ""), run(2, c.r, LogicError)
			first.Run.SHA, second.Run.SHA = c.sha, c.again
			w.analyze(first)
			if d := w.analyze(second); d.Kind != c.want || d.Reason != c.reason {
				t.Errorf("%q, then %s of %q: %s: %s", c.sha, c.r, c.again, d.Kind, d.Reason)
			}
		}
	})
	t.Run("an event that does not follow is refused with its place", func(t *testing.T) {
		_, err := Fold("k", []Event{{Type: "party"}})
		if err == nil || !strings.Contains(err.Error(), "event 1 of stream k") {
			t.Error(err)
		}
	})
	t.Run("Apply leaves the old case as it was", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		before := w.c
		cp := fmt.Sprintf("%+v", before.Checkpoints["unit"])
		w.analyze(run(2, Fail, LogicError))
		if got := fmt.Sprintf("%+v", before.Checkpoints["unit"]); got != cp {
			t.Errorf("changed:\n%s\n%s", cp, got)
		}
	})
}

func TestMetrics(t *testing.T) {
	w := newWorld(t)
	w.analyze(run(1, Fail, NotImplemented))
	w.now = w.now.Add(7 * time.Minute)
	w.analyze(run(2, Fail, LogicError))
	w.now = w.now.Add(6 * time.Minute)
	w.analyze(run(3, Pass, ""))
	m := w.c.Metrics("unit")
	t.Run("S0-57 S0-61 metrics hold session, checkpoint, history, time and quality of every result", func(t *testing.T) {
		if m.Session != "acme/app#1" || m.Checkpoint != "unit" || len(m.RoutingHistory) != 3 {
			t.Errorf("%+v", m)
		}
	})
	t.Run("S0-58 an entry holds iteration, result and reason, and PASS has no reason", func(t *testing.T) {
		var got []string
		for _, e := range m.RoutingHistory {
			got = append(got, fmt.Sprint(e.Iteration, e.Result, e.Reason))
		}
		want := []string{"1RETRYNOT_IMPLEMENTED", "2RETRYLOGIC_ERROR", "3PASS"}
		for i := range want {
			if strings.ReplaceAll(got[i], " ", "") != want[i] {
				t.Errorf("got %q, want %q", got[i], want[i])
			}
		}
	})
	t.Run("S0-59 total_time is a short duration", func(t *testing.T) {
		if m.TotalTime != "15m" {
			t.Error(m.TotalTime)
		}
		for d, want := range map[time.Duration]string{-time.Hour: "0s", 0: "0s", time.Minute: "1m", time.Hour: "1h", 24 * time.Hour: "1d", 59 * time.Second: "59s", 2*time.Hour + 5*time.Minute: "2h5m", 76 * time.Hour: "3d4h", 61 * time.Second: "1m"} {
			if got := ShortDuration(d); got != want {
				t.Errorf("%v: %s, want %s", d, got, want)
			}
		}
	})
	t.Run("S0-60 effective, ineffective, none", func(t *testing.T) {
		if m.FeedbackQuality != "effective" {
			t.Error(m.FeedbackQuality)
		}
		bad := newWorld(t)
		bad.p.Max = 1
		bad.analyze(run(1, Fail, LogicError))
		bad.analyze(run(2, Fail, LogicError))
		clean := newWorld(t)
		clean.analyze(run(1, Pass, ""))
		if a, b := bad.c.Metrics("unit").FeedbackQuality, clean.c.Metrics("unit").FeedbackQuality; a != "ineffective" || b != "none" {
			t.Error(a, b)
		}
	})
}
