package history_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/history"
)

// large returns the tests of a large project, of which one in a hundred fails.
func large(n int) history.Inventory {
	rnd := rand.New(rand.NewPCG(1, 2))
	tests := make([]history.Test, n)
	for i := range tests {
		name := fmt.Sprintf("test_case_%d[param-%d]", i, rnd.IntN(9))
		tests[i] = history.Test{ID: history.TestID("ci", fmt.Sprintf("tests/unit/test_module_%d.py", i/50), name), Steps: history.StepsOf(time.Duration(rnd.ExpFloat64() * float64(40*time.Millisecond)))}
		if i%100 == 0 {
			tests[i].Status, tests[i].Fingerprint = history.Failed, rnd.Uint64()
		}
	}
	return history.New(tests, false)
}

func TestInventoryS5_14(t *testing.T) {
	t.Parallel()
	inv := large(200_000)
	packed := inv.Pack()
	if len(packed) > 2<<20 {
		t.Errorf("S5-14: 200,000 tests take %d bytes", len(packed))
	}
	back, err := history.Unpack(packed)
	if err != nil || len(back.Tests) != len(inv.Tests) {
		t.Fatalf("%d of %d tests: %v", len(back.Tests), len(inv.Tests), err)
	}
	for i, test := range inv.Tests {
		if back.Tests[i] != test {
			t.Fatalf("test %d is %+v, was %+v", i, back.Tests[i], test)
		}
	}
	for _, n := range []int{0, 1, 2, 5, len(packed) / 2, len(packed) - 9} {
		if _, err := history.Unpack(packed[:n]); err == nil {
			t.Errorf("%d of %d bytes are taken for an inventory", n, len(packed))
		}
	}
	some := inv.Unpassed()
	if len(some.Tests) != 2000 || !some.Partial {
		t.Errorf("%d tests did not pass, partial %v", len(some.Tests), some.Partial)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(large(20).Pack())
	f.Fuzz(func(t *testing.T, data []byte) {
		if inv, err := history.Unpack(data); err == nil {
			_ = inv.Of(1)
		}
	})
}

func BenchmarkInventory(b *testing.B) {
	base := large(200_000)
	b.ReportAllocs()
	for b.Loop() {
		back, err := history.Unpack(base.Pack())
		if err != nil {
			b.Fatal(err)
		}
		known := history.Order([]history.Run{{SHA: "a", Inventory: back}}, history.MergeBase{SHA: "a"}, nil)
		for _, t := range back.Tests {
			if t.Status == history.Failed {
				known.Look(t.ID, t.Fingerprint)
			}
		}
	}
}

const test = history.ID(7)

// runs reads one run a word: the commit, and how the test ended: p passed, k skipped, - did not run,
// or the digit of a fingerprint.
func runs(words ...string) []history.Run {
	var out []history.Run
	for _, w := range words {
		one := history.Test{ID: test}
		switch c := w[1]; c {
		case '-':
			one.ID = 8
		case 'p':
		case 'k':
			one.Status = history.Skipped
		default:
			one.Status, one.Fingerprint = history.Failed, uint64(c)
		}
		out = append(out, history.Run{SHA: w[:1], Inventory: history.New([]history.Test{one}, false)})
	}
	return out
}

// S5-1: where no run was of the merge base, time tells which runs were before it.
func TestStandingsByTime(t *testing.T) {
	t.Parallel()
	at := time.Unix(100, 0)
	nightly := runs("a1", "bp")
	nightly[0].At, nightly[1].At = at.Add(-time.Hour), at.Add(time.Hour)
	if got := history.Order(nightly, history.MergeBase{SHA: "m", At: at}, nil).Look(test, '1'); got.Standing != history.StandingPreExisting || got.Later {
		t.Errorf("the run before the merge base fails: %+v", got)
	}
	if got := history.Order(nightly, history.MergeBase{SHA: "m", At: at.Add(2 * time.Hour)}, nil).Look(test, '1'); got.Standing != history.StandingNew {
		t.Errorf("the run before the merge base passes: %+v", got)
	}
	if got := history.Order(nightly, history.MergeBase{SHA: "m"}, nil).Look(test, '1'); got.Standing != history.StandingNew {
		t.Errorf("the time of the merge base is unknown: %+v", got)
	}
}

// S5-7, S5-9: what a lost inventory may have said counts as evidence.
func TestStandingsOfLostRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		runs []history.Run
		want history.Standing
	}{
		{"nothing is lost", runs("ap", "b1"), "pre_existing"},
		{"an earlier run is lost", lost(runs("ap", "b1"), 0), "new"},
		{"an earlier run is lost, and two fail", lost(runs("ap", "b1", "c1"), 0), "pre_existing"},
		{"the failing run is lost but for its failures", lost(runs("ap", "b1"), 1), "pre_existing"},
		{"the test ends differently in two legs", legs(runs("b1")), "pre_existing"},
	} {
		got := history.Order(c.runs, history.MergeBase{SHA: c.runs[len(c.runs)-1].SHA}, nil).Look(test, '1')
		if got.Standing != c.want {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// lost takes from a run what did not fail.
func lost(runs []history.Run, i int) []history.Run {
	inv := history.Inventory{Partial: true}
	for _, t := range runs[i].Inventory.Tests {
		if t.Status == history.Failed {
			inv.Tests = append(inv.Tests, t)
		}
	}
	runs[i].Inventory, runs[i].Lost = inv, true
	return runs
}

// legs adds a leg in which the test passes.
func legs(runs []history.Run) []history.Run {
	for i, r := range runs {
		runs[i].Inventory = history.New(append(r.Inventory.Tests, history.Test{ID: test}), false)
	}
	return runs
}

func TestStandings(t *testing.T) {
	t.Parallel()
	line := history.Parents{"d": {"c"}, "c": {"b"}, "b": {"a"}, "x": {"a"}}
	for _, c := range []struct {
		name    string
		runs    []history.Run
		parents history.Parents
		want    history.Finding
	}{
		{"S5-1 the same failure", runs("a1", "b1"), nil, history.Finding{Standing: "pre_existing", Since: "a"}},
		{"S5-1 only the newest counts", runs("a1", "bp"), nil, history.Finding{Standing: "new"}},
		{"S5-1 since the last pass", runs("ap", "b1"), nil, history.Finding{Standing: "pre_existing", Since: "b"}},
		{"S5-1 the merge base itself did not run", runs("a1"), line, history.Finding{Standing: "pre_existing", Since: "a"}},
		{"S5-1 order of commits, not of runs", runs("b1", "ap"), line, history.Finding{Standing: "pre_existing", Since: "b"}},
		{"S5-1 a commit beside the merge base", runs("ap", "x1"), line, history.Finding{Standing: "new"}},
		{"S5-2 another fingerprint", runs("b2"), nil, history.Finding{Standing: "new", Differs: true}},
		{"S5-3 the base did not run it", runs("b-"), nil, history.Finding{Standing: "new"}},
		{"S5-3 the base skipped it", runs("bk"), nil, history.Finding{Standing: "new"}},
		{"S5-4 no run", nil, nil, history.Finding{Standing: "new"}},
		{"S5-7 flaky, one failing run", runs("ap", "a1", "bp", "b1"), nil, history.Finding{Standing: "pre_existing", Since: "b"}},
		{"S5-7 flaky, one failing run in all", runs("bp", "b1"), nil, history.Finding{Standing: "new"}},
		{"S5-8 only since the merge base", runs("bp", "c1", "d1"), nil, history.Finding{Standing: "pre_existing", Since: "c", Later: true}},
		{"S5-8 only since, by parents", runs("d1", "bp", "c1"), line, history.Finding{Standing: "pre_existing", Since: "c", Later: true}},
		{"S5-8 since and passed again", runs("bp", "c1", "dp"), nil, history.Finding{Standing: "new"}},
	} {
		base := history.Order(c.runs, history.MergeBase{SHA: "b"}, c.parents)
		if got := base.Look(test, '1'); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if got := base.Look(test, 0); got.Standing != history.StandingNew {
			t.Errorf("%s: a failure without fingerprint is %s", c.name, got.Standing)
		}
	}
}
