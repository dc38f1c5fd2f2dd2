package routing

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/history"
)

// inRegister returns v as it is recorded with tests in quarantine until a time.
func inRegister(v Verdict, until time.Time, names ...string) Verdict {
	v.Register = &Register{}
	for _, n := range names {
		v.Register.Entries = append(v.Register.Entries, QuarantineEntry{Suite: "pkg", Name: n, Until: until, Issue: 7})
	}
	return v
}

func TestRegisterExcusesS5_56(t *testing.T) {
	w := newWorld(t)
	v := inRegister(broken(1, LogicError, "TestFlaky", "TestReal"), w.now.Add(time.Hour), "TestFlaky")
	d := w.analyze(v)
	f := d.Verdict.Failures[0]
	if d.Kind != KindRetry || !f.Quarantined || f.Standing != history.StandingQuarantined || f.Quarantine == nil || f.Quarantine.Issue != 7 || d.Verdict.Counts.Quarantined != 1 {
		t.Errorf("S5-56: %s %+v %+v", d.Kind, f, d.Verdict.Counts)
	}
	if d.Verdict.Failures[1].Quarantined || d.Verdict.Reason == "" {
		t.Errorf("S5-56: %+v", d.Verdict.Failures[1])
	}
	if d = w.analyze(inRegister(broken(2, LogicError, "TestFlaky"), w.now.Add(time.Hour), "TestFlaky")); d.Kind != KindPass {
		t.Errorf("S5-58: %s", d.Kind)
	}
}

// The quarantine of the repository names a test exactly: another suite, or what is no test, counts.
func TestRegisterIsExactS5_58(t *testing.T) {
	for name, spoil := range map[string]func(*Verdict){
		"another suite":   func(v *Verdict) { v.Failures[0].Suite = "other" },
		"no suite":        func(v *Verdict) { v.Failures[0].Suite = "" },
		"the build":       func(v *Verdict) { v.Failures[0].Kind = "build" },
		"another failure": func(v *Verdict) { v.Failures[0].Name = "TestFlakyToo" },
		"one more that was cut": func(v *Verdict) {
			v.Dropped, v.Cut = 1, CutFailures{{Suite: "pkg", Name: "TestReal", Kind: "assertion", Class: LogicError, Print: 1}}
		},
	} {
		w := newWorld(t)
		v := inRegister(broken(1, LogicError, "TestFlaky"), w.now.Add(time.Hour), "TestFlaky")
		spoil(&v)
		if d := w.analyze(v); d.Kind == KindPass {
			t.Errorf("S5-58: %s is excused", name)
		}
	}
}

// An expired entry never makes a decision differ from one without it.
func TestExpiredEntryDecidesNothingS5_59(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		with, without := newWorld(t), newWorld(t)
		for n := 1; n <= 6; n++ {
			v := broken(n, []Class{LogicError, EnvIssue, Timeout, TypeError}[r.IntN(4)], fmt.Sprint("T", r.IntN(3)))
			if r.IntN(4) == 0 {
				v = run(n, Pass, "")
			}
			// decided after the end, or at it, though it was recorded before
			late := time.Duration(r.IntN(3)) * time.Hour
			d := with.analyze(inRegister(v, with.now.Add(-late), "T0", "T1", "T2"))
			if want := without.analyze(v); d.Kind != want.Kind || d.Rule != want.Rule || d.Iteration != want.Iteration {
				t.Fatalf("S5-59: seed %d, run %d: %s (%s), without %s (%s)", seed, n, d.Kind, d.Rule, want.Kind, want.Rule)
			}
		}
	}
}

// What is decided anew after the end of a quarantine counts, also where it was recorded before.
func TestQuarantineEndsBeforeItIsDecidedAnewS5_59(t *testing.T) {
	for _, c := range []struct {
		late time.Duration
		want State
	}{{13 * 24 * time.Hour, Completed}, {DefaultQuarantine, InProgress}, {40 * 24 * time.Hour, InProgress}} {
		w := newWorld(t)
		w.analyze(broken(1, LogicError, "TestFlaky"))
		w.human(HumanPause, 0)
		w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
		w.now = w.now.Add(c.late)
		w.human(HumanResume, 0)
		if got := w.unit().State; got != c.want {
			t.Errorf("S5-59: resumed after %s: %s, want %s", c.late, got, c.want)
		}
	}
}

// Where the quarantine of the repository was read, it alone says what counts: a test that was
// released counts again in the case that it was put there from.
func TestRegisterAloneCountsS5_58(t *testing.T) {
	w := newWorld(t)
	w.analyze(broken(1, LogicError, "TestFlaky"))
	w.must(HumanActed{Action: HumanQuarantine, Test: "TestFlaky"})
	if w.unit().State != Completed {
		t.Fatal(w.unit().State)
	}
	w.now = w.now.Add(time.Hour)
	if d := w.analyze(inRegister(broken(2, LogicError, "TestFlaky"), w.now)); d.Kind != KindRetry {
		t.Errorf("S5-58: %s (%s)", d.Kind, d.Rule)
	}
}

func TestFlips(t *testing.T) {
	w := newWorld(t)
	v := broken(1, LogicError, "TestFlaky", "TestReal")
	v.Inventory = history.New(FailedTests("unit", v), false).Pack()
	w.analyze(v)
	again := broken(1, LogicError, "TestReal")
	again.Run.Attempt = 2
	again.Inventory = history.New(append(FailedTests("unit", again), history.Test{ID: history.TestID("unit", "pkg", "TestFlaky")}), false).Pack()
	w.analyze(again)
	got := Flips(w.unit())
	if len(got) != 1 || got[0].Name != "TestFlaky" || got[0].Failed.Attempt > 1 || got[0].Passed.Attempt != 2 || got[0].Failed.SHA == "" {
		t.Errorf("S5-51: %+v", got)
	}
}
