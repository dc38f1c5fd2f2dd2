package routing_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

func failing(sha string, id int, names ...string) routing.Verdict {
	v := routing.Verdict{Checkpoint: "ci", Run: routing.Run{ID: fmt.Sprint(id), SHA: sha}, Result: routing.Fail, Class: routing.LogicError}
	for i, n := range names {
		v.Failures = append(v.Failures, routing.Failure{Name: n, Fingerprint: "f" + n, Class: routing.LogicError, Decisive: i == 0})
	}
	v.Counts = routing.Counts{Tests: 10, Passed: 10 - len(names), Failed: len(names)}
	if len(names) == 0 {
		v.Result, v.Class = routing.Pass, ""
	}
	return v
}

func record(t *testing.T, c routing.Case, vs ...routing.Verdict) routing.Case {
	t.Helper()
	for _, v := range vs {
		at := time.Unix(int64(1000+c.Version), 0)
		var err error
		if c, err = c.Apply(routing.RunEvent(c.Key, v, routing.Decide(c, v, routing.DefaultPolicy(), at), at)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func decide(c routing.Case, v routing.Verdict) routing.Decision {
	return routing.Decide(c, v, routing.DefaultPolicy(), time.Unix(5000, 0))
}

func TestBaseDecisions(t *testing.T) {
	t.Parallel()
	base := record(t, routing.Case{Key: "acme/app@main"}, failing("a", 1, "old", "older"))
	pr := routing.Case{Key: "acme/app#1"}

	d := decide(pr, failing("c", 2, "old", "older").Against(base, history.MergeBase{SHA: "a"}, nil))
	if d.Kind != routing.KindPreExisting || d.Iteration != 0 || d.Check != "neutral" || len(d.Effects) != 2 {
		t.Errorf("S5-5: %s (%s), iteration %d, check %q, %d effects", d.Kind, d.Rule, d.Iteration, d.Check, len(d.Effects))
	}
	after := record(t, pr, failing("c", 2, "old").Against(base, history.MergeBase{SHA: "a"}, nil))
	if cp := after.Checkpoints["ci"]; cp.Retries != 0 || cp.State != routing.InProgress || len(cp.Returned) != 0 {
		t.Errorf("S5-5: a fix attempt was spent: %+v", cp)
	}
	again := decide(after, failing("c", 3, "old").Against(base, history.MergeBase{SHA: "a"}, nil))
	if again.Kind != routing.KindPreExisting || !again.Again {
		t.Errorf("S5-5: a second run of the commit is %s, again %v", again.Kind, again.Again)
	}
	d = decide(pr, failing("c", 2, "old", "mine").Against(base, history.MergeBase{SHA: "a"}, nil))
	if d.Kind != routing.KindRetry || d.Iteration != 1 || !d.Verdict.Failures[1].Decisive || d.Verdict.Failures[0].Decisive {
		t.Errorf("S5-6: %s, iteration %d, %+v", d.Kind, d.Iteration, d.Verdict.Failures)
	}
	v := failing("c", 2, "old").Against(routing.Case{Key: "acme/app@main"}, history.MergeBase{SHA: "a"}, nil)
	if d = decide(pr, v); d.Kind != routing.KindRetry || v.Base == nil || v.Base.Known {
		t.Errorf("S5-4: %s, base %+v", d.Kind, v.Base)
	}
	for name, hide := range map[string]func(*routing.Verdict){
		"failures were dropped":  func(v *routing.Verdict) { v.Dropped = 1 },
		"a source was cut":       func(v *routing.Verdict) { v.Notes = []string{"cut"} },
		"more failed than named": func(v *routing.Verdict) { v.Counts.Failed = 2 },
		"the report ends early": func(v *routing.Verdict) {
			v.Failures = append(v.Failures, routing.Failure{Name: "old", Kind: "truncated", Fingerprint: "fold"})
		},
	} {
		v := failing("c", 2, "old")
		hide(&v)
		if d := decide(pr, v.Against(base, history.MergeBase{SHA: "a"}, nil)); d.Kind == routing.KindPreExisting {
			t.Errorf("S5-5: %s, and it is taken for a failure of the base", name)
		}
	}
}

// A leg that fails by itself is not covered by one that fails as the base does.
func TestBaseMatrixS5_6(t *testing.T) {
	t.Parallel()
	base := record(t, routing.Case{Key: "acme/app@main"}, failing("a", 1, "old"))
	leg := func(part string, names ...string) routing.Verdict {
		v := failing("c", 2, names...).Against(base, history.MergeBase{SHA: "a"}, nil)
		v.Run.Part, v.Run.Parts = part, 2
		return v
	}
	pr := record(t, routing.Case{Key: "acme/app#1"}, leg("one", "old"))
	if d := decide(pr, leg("two")); d.Kind != routing.KindPreExisting {
		t.Errorf("S5-5: the other leg passed: %s", d.Kind)
	}
	if d := decide(pr, leg("two", "mine")); d.Kind != routing.KindRetry {
		t.Errorf("S5-6: the other leg fails by itself: %s", d.Kind)
	}
}

func TestInventoriesAreBounded(t *testing.T) {
	t.Parallel()
	c := routing.Case{Key: "acme/app@main"}
	inv := history.New([]history.Test{{ID: 1}}, false).Pack()
	for i := range 30 {
		v := failing(fmt.Sprint("sha", i), i+1)
		v.Inventory = inv
		c = record(t, c, v)
	}
	kept := 0
	for _, rs := range c.Checkpoints["ci"].Runs {
		if rs.Parts[""].Inventory != nil {
			kept++
		}
	}
	if kept != routing.KeptInventories {
		t.Errorf("%d inventories are kept, want %d", kept, routing.KeptInventories)
	}
}

// greenness orders decisions: a higher one asks less of the change.
func greenness(k routing.Kind) int {
	switch k {
	case routing.KindPass:
		return 3
	case routing.KindPreExisting:
		return 2
	case routing.KindRetry:
		return 1
	}
	return 0
}

// inventoried is failing with the inventory of a run that has all the names.
func inventoried(sha string, id int, all []string, ends func(name string) history.Status) routing.Verdict {
	var names []string
	var tests []history.Test
	for _, n := range all {
		status := ends(n)
		if status == history.Failed {
			names = append(names, n)
			continue
		}
		tests = append(tests, history.Test{ID: history.TestID("ci", "", n), Status: status})
	}
	v := failing(sha, id, names...)
	v.Inventory = history.New(append(tests, routing.FailedTests("ci", v.Failures)...), false).Pack()
	return v
}

// forget returns runs of which some have lost what they say: failures, their inventory, or both. That
// a run was, and how many tests failed in it, is kept.
func forget(rnd *rand.Rand, runs []routing.Verdict) []routing.Verdict {
	var out []routing.Verdict
	for _, v := range runs {
		if rnd.IntN(2) == 0 {
			v.Inventory = nil
			if rnd.IntN(2) == 0 {
				v.Failures = slices.DeleteFunc(slices.Clone(v.Failures), func(routing.Failure) bool { return rnd.IntN(2) == 0 })
			}
		}
		out = append(out, v)
	}
	return out
}

// S5-9: whatever is lost of the base's runs, or all of the base, no decision becomes greener.
func TestLostBaseIsNeverGreenerS5_9(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 5))
	names := []string{"t1", "t2", "t3"}
	excused, stricter := 0, 0
	for n := range 800 {
		var whole []routing.Verdict
		count := 1 + rnd.IntN(8)
		if n%40 == 0 {
			count = 26 // more than are searched for evidence
		}
		for i := range count {
			v := inventoried(string(rune('a'+rnd.IntN(8))), i+1, names, func(string) history.Status {
				return []history.Status{history.Passed, history.Passed, history.Skipped, history.Flaky, history.Failed, history.Failed}[rnd.IntN(6)]
			})
			for j := range v.Failures {
				v.Failures[j].Fingerprint += fmt.Sprint(rnd.IntN(2))
			}
			v.Inventory = history.New(append(unfailed(v), routing.FailedTests("ci", v.Failures)...), false).Pack()
			whole = append(whole, v)
		}
		mine := failing("z", 99, names[:1+rnd.IntN(2)]...)
		for j := range mine.Failures {
			mine.Failures[j].Fingerprint += "1"
		}
		at := history.MergeBase{SHA: string(rune('a' + rnd.IntN(9)))}
		base := func(runs []routing.Verdict) routing.Case {
			return record(t, routing.Case{Key: "acme/app@main"}, runs...)
		}
		pr := routing.Case{Key: "acme/app#1"}
		full := decide(pr, mine.Against(base(whole), at, nil))
		less := forget(rnd, whole)
		part := decide(pr, mine.Against(base(less), at, nil))
		none := decide(pr, mine.Uncompared("main"))
		if greenness(part.Kind) > greenness(full.Kind) || greenness(none.Kind) > greenness(part.Kind) {
			t.Fatalf("S5-9: %s with the base, %s with what is left of it, %s without, merge base %s\nruns %s", full.Kind, part.Kind, none.Kind, at.SHA, brief(whole))
		}
		excused += greenness(full.Kind) / 2
		stricter += (greenness(full.Kind) - greenness(part.Kind))
	}
	if excused < 50 || stricter < 20 {
		t.Errorf("%d decisions were excused by the base, %d not any more with less of it", excused, stricter)
	}
}

// unfailed returns the tests of a verdict's inventory that did not fail.
func unfailed(v routing.Verdict) []history.Test {
	inv, err := history.Unpack(v.Inventory)
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(inv.Tests, func(t history.Test) bool { return t.Status == history.Failed })
}

func brief(runs []routing.Verdict) string {
	var out []string
	for _, v := range runs {
		inv, _ := history.Unpack(v.Inventory)
		out = append(out, fmt.Sprint(v.Run.SHA, inv.Tests))
	}
	return strings.Join(out, "\n")
}

// S5-9: whatever failures are taken out of the base, or all of it, no decision becomes greener.
func TestLessBaseIsNeverGreenerS5_9(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 9))
	names := []string{"t1", "t2", "t3", "t4"}
	classes := []routing.Class{routing.LogicError, routing.TypeError, routing.EnvIssue, routing.DesignMismatch, routing.Quality}
	some := func() (out []string) {
		for _, n := range names {
			if rnd.IntN(2) == 0 {
				out = append(out, n)
			}
		}
		return out
	}
	excused := 0
	for range 3000 {
		var whole, less []routing.Verdict
		for i := range 1 + rnd.IntN(3) {
			v := failing(string(rune('a'+i)), i+1, some()...)
			w := v
			w.Failures = nil
			for _, f := range v.Failures {
				if rnd.IntN(3) > 0 {
					w.Failures = append(w.Failures, f)
				}
			}
			whole, less = append(whole, v), append(less, w)
		}
		v := failing("z", 9, some()...)
		for i := range v.Failures {
			v.Failures[i].Class = classes[rnd.IntN(len(classes))]
			if i == 0 {
				v.Class = v.Failures[0].Class
			}
		}
		pr, mergeBase := routing.Case{Key: "acme/app#1"}, string(rune('a'+rnd.IntN(3)))
		full := decide(pr, v.Against(record(t, routing.Case{Key: "acme/app@main"}, whole...), history.MergeBase{SHA: mergeBase}, nil))
		part := decide(pr, v.Against(record(t, routing.Case{Key: "acme/app@main"}, less...), history.MergeBase{SHA: mergeBase}, nil))
		none := decide(pr, v)
		if greenness(part.Kind) > greenness(full.Kind) || greenness(none.Kind) > greenness(part.Kind) {
			t.Fatalf("S5-9: %s with the base, %s with a part of it, %s without: %+v", full.Kind, part.Kind, none.Kind, v)
		}
		if full.Kind == routing.KindPreExisting {
			excused++
		}
	}
	if excused < 100 {
		t.Errorf("only %d cases had nothing but what stands on the base", excused)
	}
}

// S5-10: what is on hold for the base resumes once, when all it waits for passes there.
func TestBaseFixed(t *testing.T) {
	t.Parallel()
	ends := func(red ...string) func(string) history.Status {
		return func(n string) history.Status {
			if slices.Contains(red, n) {
				return history.Failed
			}
			return history.Passed
		}
	}
	names := []string{"one", "two", "three"}
	base := record(t, routing.Case{Key: "acme/app@main"}, inventoried("a", 1, names, ends("one", "two", "three")))
	pr := record(t, routing.Case{Key: "acme/app#1"}, failing("x", 2, "one", "two").Against(base, history.MergeBase{SHA: "a"}, nil))
	if !routing.OnHoldForBase(pr.Checkpoints["ci"]) {
		t.Fatal("it is not on hold")
	}
	cut := failing("b", 8, "three")
	cut.Dropped = 3
	leg := inventoried("b", 9, names, ends())
	leg.Run.Part, leg.Run.Parts = "linux", 2
	for _, c := range []struct {
		name string
		run  routing.Verdict
		want bool
	}{
		{"one of them fails still", inventoried("b", 3, names, ends("two")), false},
		{"only another test fails", inventoried("b", 4, names, ends("three")), true},
		{"green", inventoried("b", 5, names, ends()), true},
		{"green, and the tests are gone", inventoried("b", 6, names[2:], ends()), true},
		{"red, and the tests are gone", inventoried("b", 7, names[2:], ends("three")), false},
		{"red, and nobody knows what passed", cut, false},
		{"a leg has not reported", leg, false},
	} {
		after := record(t, base, c.run)
		sha, ok := routing.BaseFixed(pr.Checkpoints["ci"], after)
		if ok != c.want || ok && sha != "b" {
			t.Errorf("S5-10: %s: %v at %q", c.name, ok, sha)
		}
	}
	once := apply(t, pr, routing.BaseEvent(pr.Key, routing.BasePassed{Checkpoint: "ci", Base: "main", SHA: "b"}, time.Unix(9, 0)))
	if kinds(once) != "comment update" && kinds(once) != "check comment update" {
		t.Errorf("S5-10: pending are %s", kinds(once))
	}
	twice := apply(t, once, routing.BaseEvent(pr.Key, routing.BasePassed{Checkpoint: "ci", Base: "main", SHA: "c"}, time.Unix(10, 0)))
	if len(twice.Pending) != len(once.Pending) || routing.OnHoldForBase(twice.Checkpoints["ci"]) {
		t.Errorf("S5-10: it is asked again: %s", kinds(twice))
	}
	closed := apply(t, pr, routing.BaseEvent(pr.Key, routing.BasePassed{Checkpoint: "ci", Base: "main", SHA: "b", Closed: true}, time.Unix(9, 0)))
	if strings.Contains(kinds(closed), "update") || routing.OnHoldForBase(closed.Checkpoints["ci"]) {
		t.Errorf("S5-10: of a closed pull request: %s", kinds(closed))
	}
	for _, state := range []routing.Case{
		record(t, pr, failing("y", 20)), record(t, pr, failing("y", 20, "mine")),
	} {
		if routing.OnHoldForBase(state.Checkpoints["ci"]) {
			t.Errorf("S5-10: on hold after %s", state.Checkpoints["ci"].Attempts[1].Kind)
		}
	}
	if c := record(t, routing.Case{}, failing("a", 1, "one"), failing("b", 2)); !routing.Fixes(c.Checkpoints["ci"]) {
		t.Error("a green run after a red one fixes nothing")
	}
	if c := record(t, routing.Case{}, failing("a", 1, "one"), failing("b", 2, "one", "two")); routing.Fixes(c.Checkpoints["ci"]) {
		t.Error("a run with more failures fixes something")
	}
}

func apply(t *testing.T, c routing.Case, e routing.Event) routing.Case {
	t.Helper()
	next, err := c.Apply(e)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func kinds(c routing.Case) string {
	var out []string
	for _, e := range c.Pending {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}
