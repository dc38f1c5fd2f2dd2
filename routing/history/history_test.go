package history_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
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
	if err != nil || len(back.Tests) != 200_000 || len(inv.Tests) != 200_000 || back.Partial {
		t.Fatalf("%d of %d tests, partial %v: %v", len(back.Tests), len(inv.Tests), back.Partial, err)
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
	for name, number := range map[string][]byte{
		"a number that is cut":      {0x80},
		"a number without an end":   bytes.Repeat([]byte{0xff}, 20),
		"more tests than bytes":     {0xff, 0x7f, 1, 1, 1},
		"an id that is cut":         {1, 0x80},
		"an id that has no end":     append([]byte{1}, bytes.Repeat([]byte{0xff}, 20)...),
		"ids and nothing else":      {2, 1, 1},
		"tests that nothing lists":  {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"compressed bytes that lie": {1, 1, 0xff, 0xff, 0xff},
	} {
		if _, err := history.Unpack(append([]byte{1, 0}, number...)); err == nil {
			t.Errorf("%s is taken for an inventory", name)
		}
	}
	some := inv.Unpassed()
	if len(some.Tests) != 2000 || !some.Partial {
		t.Errorf("%d tests did not pass, partial %v", len(some.Tests), some.Partial)
	}
	if back, err := history.Unpack(some.Pack()); err != nil || !back.Partial {
		t.Errorf("that tests are missing is lost: %v", err)
	}
}

// TestIDs pins the ids and fingerprints, which ledgers keep: with others, no run would know a test of
// an earlier release.
func TestIDs(t *testing.T) {
	t.Parallel()
	if got := history.TestID("unit", "pkg", "TestA"); got != 0x8aeb663d99e1d633 {
		t.Errorf("the id is %#x", uint64(got))
	}
	if got := history.FingerprintOf("boom"); got != 0x585886b29d31e94f {
		t.Errorf("the fingerprint is %#x", got)
	}
	if history.FingerprintOf("") != 0 {
		t.Error("no text has a fingerprint")
	}
	if history.TestID("a", "bc", "d") == history.TestID("ab", "c", "d") {
		t.Error("a test is known by its texts together, wherever they divide")
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]uint8{-time.Second: 0, 0: 0, time.Millisecond - 1: 0, time.Millisecond: 1, 2*time.Millisecond - 1: 1, 2 * time.Millisecond: 2, time.Second: 10, 1024 * time.Millisecond: 11} {
		if got := history.StepsOf(d); got != want {
			t.Errorf("%s has %d steps, want %d", d, got, want)
		}
	}
}

func TestTestsOfOneID(t *testing.T) {
	t.Parallel()
	one := history.Test{ID: 7, Status: history.Failed, Fingerprint: 1, Steps: 3}
	other, passed, next := one, one, one
	other.Fingerprint, next.ID, next.Fingerprint = 2, 8, 2
	passed.Status, passed.Fingerprint = history.Passed, 0
	slower := one
	slower.Steps = 4
	inv := history.New([]history.Test{next, other, one, passed, slower}, false)
	if got := inv.Of(7); !slices.Equal(got, []history.Test{passed, one, other}) {
		t.Errorf("test 7 stands there as %+v", got)
	}
	if got := inv.Of(8); !slices.Equal(got, []history.Test{next}) {
		t.Errorf("test 8 stands there as %+v", got)
	}
	if got := inv.Of(9); len(got) != 0 {
		t.Errorf("a test that did not run stands there as %+v", got)
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
		{"S5-8 only since, in one run", runs("bp", "c1"), nil, history.Finding{Standing: "pre_existing", Since: "c", Later: true}},
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
