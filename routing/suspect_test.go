package routing

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/evidence"
	"github.com/switchback-ci/switchback/routing/history"
)

// report is a verdict with its inventory, of tests that pass, "-name" that fail, and "~name" that are
// skipped.
func report(n int, by string, tests ...string) (Verdict, history.Ran) {
	v := run(n, Pass, "")
	v.Checkpoint, v.Run.Pusher, v.Class, v.Counts, v.Failures = "unit", by, "", Counts{}, nil
	var all []history.Test
	var named []history.Named
	for _, name := range tests {
		status := history.Passed
		switch name[0] {
		case '-':
			status, name = history.Failed, name[1:]
			v.Result, v.Class = Fail, LogicError
			v.Failures = append(v.Failures, Failure{Suite: "calc", Name: name, Class: LogicError, Kind: "assertion", Fingerprint: "v1:" + name, Decisive: len(v.Failures) == 0})
			v.Counts.Failed++
		case '~':
			status, name = history.Skipped, name[1:]
			v.Counts.Skipped++
		default:
			v.Counts.Passed++
		}
		v.Counts.Tests++
		id := history.TestID("unit", "calc", name)
		all = append(all, history.Test{ID: id, Status: status, Fingerprint: history.FingerprintOf("v1:" + name)})
		named = append(named, history.Named{ID: id, Status: status, Suite: "calc", Name: name})
	}
	v.Inventory = history.New(all, false).Pack()
	return v, history.NewRan(named, false)
}

// ran analyzes a run of tests.
func (w *world) ran(n int, by string, tests ...string) Decision {
	w.t.Helper()
	v, named := report(n, by, tests...)
	return w.analyze(v.Follows(w.c, func() history.Ran { return named }, Case{}, w.p))
}

func (w *world) accept(by, sha string) error {
	w.t.Helper()
	err := w.act(HumanActed{Action: HumanAccept, By: by, SHA: sha})
	if err != nil {
		return err
	}
	c, events, err := Release(w.c, func(string) Policy { return w.p }, w.now)
	w.c, w.events = c, append(w.events, events...)
	return err
}

func refusedAs(err error) string {
	var r *RefusedError
	var s *StaleAnswerError
	switch {
	case errors.As(err, &r):
		return r.ID
	case errors.As(err, &s):
		return "stale"
	}
	return fmt.Sprint(err)
}

func TestSuspect(t *testing.T) {
	t.Run("S5-20 a test that failed is gone or skipped", func(t *testing.T) {
		for _, c := range []struct {
			what  What
			tests []string
		}{{DidNotRun, []string{"b", "c", "d", "e", "f"}}, {WasSkipped, []string{"~a", "b", "c", "d", "e", "f"}}} {
			w := newWorld(t)
			w.p.Needs = map[string][]string{"e2e": {"unit"}}
			w.ran(1, "bob", "-a", "b", "c", "d", "e", "f")
			d := w.ran(2, "bob", c.tests...)
			if d.Kind != KindSuspect || d.Iteration != 1 || len(d.Suspect) != 1 || d.Suspect[0].What != c.what || d.Suspect[0].Test != "calc › a" {
				t.Fatalf("%s: %s %+v", c.what, d.Kind, d.Suspect)
			}
			if hasEffect(d, EffectClose) || hasEffect(d, EffectReady) || !hasEffect(d, EffectIssue) || !hasEffect(d, EffectCheck) || len(d.Ready) > 0 || d.Complete {
				t.Errorf("effects of a pass: %v", d.Effects)
			}
			if cp := w.c.Checkpoints["unit"]; cp.State != Escalated || cp.Retries != 1 || cp.Green != "" {
				t.Errorf("%s, %d attempts, green %q", cp.State, cp.Retries, cp.Green)
			}
		}
	})
	t.Run("S5-20 the test that failed passes", func(t *testing.T) {
		w := newWorld(t)
		w.ran(1, "bob", "-a", "b")
		w.ran(2, "bob", "a", "-b")
		if d := w.ran(3, "bob", "a", "b"); d.Kind != KindPass || len(d.Suspect)+len(d.Listed) != 0 {
			t.Errorf("%s %+v %+v", d.Kind, d.Suspect, d.Listed)
		}
		if got := FixedIn(w.c.Checkpoints["unit"], run(3, Pass, "").Run); len(got) != 2 {
			t.Errorf("S5-27: %d tests are fixed", len(got))
		}
		if d := w.ran(4, "bob", "b"); d.Kind == KindSuspect && d.Suspect[0].What != FewerTests {
			t.Errorf("what failed before the green run is asked about: %+v", d.Suspect)
		}
	})
	t.Run("S5-20 a reset does not make a deleted test forgotten", func(t *testing.T) {
		w := newWorld(t)
		w.ran(1, "bob", "-a", "b")
		w.human(HumanReset, 0)
		if d := w.ran(2, "bob", "b"); d.Kind != KindSuspect {
			t.Error(d.Kind)
		}
	})
	t.Run("S5-59 S5-20 a test that is gone is excused by a quarantine that holds, and by none that has ended", func(t *testing.T) {
		for until, want := range map[time.Time]Kind{{}: KindSuspect, time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC): KindPass} {
			w := newWorld(t)
			w.ran(1, "bob", "-a", "b", "c", "d", "e", "f", "g")
			w.c.Quarantine = []Quarantined{{Test: "a", Until: until}}
			if d := w.ran(2, "bob", "b", "c", "d", "e", "f", "g"); d.Kind != want {
				t.Errorf("until %s: %s %+v, want %s", until, d.Kind, d.Suspect, want)
			}
		}
	})
	t.Run("S5-20 tests in quarantine do not count, and hide nothing", func(t *testing.T) {
		w := newWorld(t)
		w.p.Quarantine = namedTests("q")
		w.ran(1, "bob", "-a", "-q", "b", "c", "d")
		if d := w.ran(2, "bob", "a", "b", "c", "d"); d.Kind != KindPass {
			t.Errorf("a quarantined test that is gone: %s %+v", d.Kind, d.Suspect)
		}
		w.ran(3, "bob", "-a", "-q", "b", "c", "d")
		if d := w.ran(4, "bob", "-q", "b", "c", "d", "e"); d.Kind != KindPass || len(d.Listed) != 1 {
			t.Errorf("a renamed test beside a quarantined failure: %s %+v %+v", d.Kind, d.Suspect, d.Listed)
		}
		w.ran(5, "bob", "-a", "-q", "b", "c", "d")
		if d := w.ran(6, "bob", "-q", "b", "c", "d"); d.Kind != KindSuspect {
			t.Errorf("a deleted test beside a quarantined failure: %s", d.Kind)
		}
	})
	t.Run("S5-24 somebody else accepts, bound to the commit", func(t *testing.T) {
		w := newWorld(t)
		w.ran(1, "bob", "-a", "b", "c", "d", "e", "f")
		if got := refusedAs(w.accept("mona", "")); got != "nothing-suspect" {
			t.Errorf("a failing run: %s", got)
		}
		w.ran(2, "Bob", "b", "c", "d", "e", "f")
		if got := refusedAs(w.accept("bob", "")); got != "own-commit" {
			t.Errorf("the pusher: %s", got)
		}
		old := w.c.Checkpoints["unit"].Last.SHA
		d := w.ran(3, "eve", "b", "c", "d", "e", "f")
		if d.Kind != KindSuspect || !slices.Equal(d.Pushers, []string{"eve", "Bob"}) {
			t.Fatalf("a new commit: %s, pushed by %v", d.Kind, d.Pushers)
		}
		for by, sha := range map[string]string{"eve": "", "bob": "", "mona": old} {
			if err := w.accept(by, sha); err == nil {
				t.Errorf("%s may accept %q", by, sha)
			}
		}
		if err := w.accept("mona", w.c.Checkpoints["unit"].Last.SHA); err != nil {
			t.Fatal(err)
		}
		cp := w.c.Checkpoints["unit"]
		last := cp.Attempts[len(cp.Attempts)-1]
		if cp.State != Completed || last.Kind != KindPass || cp.Escalation != nil || cp.Green != cp.Last.SHA {
			t.Errorf("%s %s (%s)", cp.State, last.Kind, last.Reason)
		}
		if !slices.ContainsFunc(w.c.Pending, func(e Effect) bool { return e.Kind == EffectClose }) {
			t.Error("the question stays open")
		}
	})
	t.Run("S5-24 a new commit voids the question, whatever it brings", func(t *testing.T) {
		for want, tests := range map[Kind][]string{KindPass: {"a", "b", "c"}, KindRetry: {"-a", "b", "c"}, KindSuspect: {"~a", "b", "c"}} {
			w := newWorld(t)
			w.ran(1, "bob", "-a", "b", "c")
			w.ran(2, "bob", "b", "c")
			d := w.ran(3, "bob", tests...)
			if d.Kind != want || hasEffect(d, EffectClose) != (want != KindSuspect) {
				t.Errorf("%v: %s, %v", tests, d.Kind, d.Effects)
			}
			if err := w.accept("mona", ""); (err == nil) != (want == KindSuspect) {
				t.Errorf("%v: %v", tests, err)
			}
		}
	})
	t.Run("S5-22 far fewer tests than in a failing run, or than the base", func(t *testing.T) {
		many := func(n int, first string) []string {
			out := []string{first}
			for i := range n - 1 {
				out = append(out, fmt.Sprint("t", i))
			}
			return out
		}
		for _, c := range []struct {
			is   int
			drop Drop
			want Kind
		}{{100, 0.2, KindPass}, {80, 0.2, KindPass}, {79, 0.2, KindSuspect}, {10, 0, KindPass}, {95, 0.01, KindSuspect}} {
			w := newWorld(t)
			w.p.GreenDrop, w.p.MaxDrop = c.drop, 0
			w.ran(1, "", many(100, "-a")...)
			if d := w.ran(2, "", many(c.is, "a")...); d.Kind != c.want {
				t.Errorf("%+v: %s (%s)", c, d.Kind, d.Reason)
			}
			base := newWorld(t)
			base.c.Key = "acme/app@main"
			base.ran(1, "", many(100, "a")...)
			w = newWorld(t)
			w.p.GreenDrop = c.drop
			v, _ := report(2, "", many(c.is, "a")...)
			if got := Shrinks(v, base.c, w.p); got != (c.want == KindSuspect) {
				t.Errorf("%+v: the merge base is asked for: %t", c, got)
			}
			if d := w.analyze(SizedBy(v, base.c, history.MergeBase{SHA: run(1, Pass, "").Run.SHA}, nil)); d.Kind != c.want {
				t.Errorf("%+v: against the base: %s (%s)", c, d.Kind, d.Reason)
			}
			w = newWorld(t)
			if d := w.analyze(Edited(SizedBy(v, base.c, history.MergeBase{SHA: run(1, Pass, "").Run.SHA}, nil), evidence.Reading{Untouched: true})); d.Kind != KindPass {
				t.Errorf("S5-25 %+v: a change that took no test away: %s", c, d.Kind)
			}
		}
	})
	t.Run("S5-23 S5-26 edits are listed, and gate where that is configured", func(t *testing.T) {
		read := evidence.Reading{Changes: []evidence.Change{{What: evidence.Skip, File: "a_test.go", Line: 3, Text: "t.Skip()"}, {What: evidence.Assertion, File: "a_test.go", Line: 9, Was: "x"}}}
		for mode, want := range map[GreenMode]Kind{GreenReport: KindPass, GreenGate: KindSuspect} {
			w := newWorld(t)
			w.p.Green = mode
			v, _ := report(1, "bob", "a")
			d := w.analyze(Edited(v, read))
			if d.Kind != want || len(d.Suspect)+len(d.Listed) != 2 || !slices.ContainsFunc(d.Listed, func(x Suspicion) bool { return x.What == What(evidence.Assertion) }) {
				t.Errorf("%s: %s %+v %+v", mode, d.Kind, d.Suspect, d.Listed)
			}
		}
	})
}

// Taking away what is known of earlier runs makes a run incomplete; it accuses nobody of what it is
// not accused of with all of it.
func TestSuspectOfLess(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		names := []string{"a", "b", "c", "d[1]", "d[2]", "e", "f"}
		var first, second []string
		for _, n := range names {
			if r.IntN(5) > 0 {
				first = append(first, []string{"", "-", "~"}[r.IntN(3)]+n)
			}
			switch r.IntN(5) {
			case 0:
			case 1:
				second = append(second, "~"+n)
			case 2:
				second = append(second, n+"x")
			default:
				second = append(second, n)
			}
		}
		before, _ := report(1, "", first...)
		now, ran := report(2, "", second...)
		accused := func(change func(v *Verdict, ran *history.Ran)) (out []string) {
			w := newWorld(t)
			w.p.GreenDrop = 0
			v, of := before, ran
			change(&v, &of)
			if v.Result == Pass {
				return nil
			}
			w.analyze(v)
			d := w.analyze(now.Follows(w.c, func() history.Ran { return of }, Case{}, w.p))
			for _, s := range d.Suspect {
				out = append(out, string(s.What)+s.Test)
			}
			again, err := Fold(w.c.Key, w.events)
			if a, b := asText(again), asText(w.c); err != nil || a != b {
				t.Fatalf("seed %d: folded again it is another case", seed)
			}
			return out
		}
		full := accused(func(*Verdict, *history.Ran) {})
		for name, less := range map[string]func(v *Verdict, ran *history.Ran){
			"the earlier inventory is lost": func(v *Verdict, _ *history.Ran) { v.Inventory = nil },
			"of it what passed is lost": func(v *Verdict, _ *history.Ran) {
				inv, _ := history.Unpack(v.Inventory)
				v.Inventory = inv.Unpassed().Pack()
			},
			"it is damaged":               func(v *Verdict, _ *history.Ran) { v.Inventory = v.Inventory[:len(v.Inventory)/2] },
			"the run lists some tests":    func(_ *Verdict, ran *history.Ran) { ran.Partial = true },
			"the run has no list of them": func(_ *Verdict, ran *history.Ran) { *ran = history.Ran{} },
		} {
			for _, a := range accused(less) {
				if !slices.Contains(full, a) {
					t.Errorf("S5-20 seed %d, %s: %s is accused, with all data %v\n%v\n%v", seed, name, a, full, first, second)
				}
			}
		}
	}
}

func asText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
