package generic

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

func TestMozlog(t *testing.T) {
	const at = "[task 2025-02-13T21:25:27.415Z] 21:25:27     INFO - "
	log := strings.Join([]string{
		at + "TEST-START | dom/a.html",
		at + "TEST-PASS | dom/a.html | the sum is right",
		at + "TEST-OK | dom/a.html | took 12ms",
		at + "TEST-START | dom/b.html",
		at + "TEST-UNEXPECTED-FAIL | dom/b.html | got 3, expected 4",
		at + "TEST-UNEXPECTED-PASS | dom/b.html | sub - expected NOTRUN",
		at + "TEST-OK | dom/b.html | took 12ms",
		"21:25:27  WARNING -  TEST-UNEXPECTED-TIMEOUT | dom/c.html | expected OK",
		at + "TEST-START | x.js",
		at + "TEST-START | y.js",
		at + "TEST-SKIP | z.js | skip-if: os == 'win'",
		at + "TEST-PASS | x.js | took 3ms",
		"TEST-PASS | y.js | took 3ms",
		at + "PROCESS-CRASH | dom/d.html | application crashed [@ f]",
		at + "PROCESS-CRASH | application crashed [@ g] | dom/d.html",
	}, "\n")
	rep := readMozlog(t, log+"\n")
	n := rep.Counts
	if n.Tests != 7 || n.Passed != 3 || n.Failed != 3 || n.Skipped != 1 || len(rep.Problems) != 0 {
		t.Errorf("%+v %+v", n, rep.Problems)
	}
	b, c, d := rep.Failing[0], rep.Failing[1], rep.Failing[2]
	if b.Name != "dom/b.html" || b.Message != "got 3, expected 4" || b.Kind != model.KindAssertion || b.At != 5 || !strings.Contains(b.Trace, "NOTRUN") || c.Kind != model.KindTimeout || d.Kind != model.KindCrash {
		t.Errorf("%+v", rep.Failing)
	}
	if cut := readMozlog(t, at+"TEST-START | a\n"+at+"TEST-OK | a | took 1ms\n"+at+"TEST-START | b\n"); cut.Green() || len(cut.Problems) != 1 {
		t.Errorf("%+v", cut)
	}
	whole := "SUITE-START | Running 2 tests\n" + at + "TEST-START | a\n" + at + "TEST-OK | a | took 1ms\n" + at + "TEST-START | b\n" + at + "TEST-OK | b | took 1ms\nSUITE-END | took 1s\n"
	if !readMozlog(t, whole).Green() {
		t.Error("a whole suite is not green")
	}
	for i := range 19 {
		if n := len(whole) * (i + 1) / 20; readMozlog(t, whole[:n]).Green() {
			t.Errorf("cut at %d it is green", n)
		}
	}
	for _, s := range []string{"a TEST-START | b", "REFTEST-START | b", "1 BEST-TEST-OK | b", "TEST-START |", "TEST-OK without bars"} {
		if r := readMozlog(t, s+"\n"); len(r.Formats) > 0 {
			t.Errorf("%q is read as %v", s, r.Formats)
		}
	}
}

func FuzzMozlog(f *testing.F) {
	f.Add("TEST-START | a\nTEST-UNEXPECTED-FAIL | a | b\nTEST-OK | a | took 1ms\nTEST-PASS | a | took")
	f.Fuzz(func(t *testing.T, s string) {
		rep, err := reader.Parse(strings.NewReader(s), model.Options{Format: "mozlog"})
		if err == nil && rep.Green() && strings.Contains(s, "\nTEST-UNEXPECTED-FAIL | x | ") {
			t.Error("an unexpected result is green")
		}
	})
}

// readMozlog reads s as a log with every console.
func readMozlog(t testing.TB, s string) *model.Report {
	t.Helper()
	rep, err := reader.Parse(strings.NewReader(s), model.Options{})
	if rep == nil {
		t.Fatal(err)
	}
	return rep
}

func TestCrashesAreOfTheTestInEitherOrder(t *testing.T) {
	t.Parallel()
	for line, want := range map[[2]string][2]string{
		{"dom/test_a.html", "application crashed [@ js::Call]"}:                      {"dom/test_a.html", "application crashed [@ js::Call]"},
		{"application crashed [@ js::Call]", "dom/test_a.html"}:                      {"dom/test_a.html", "application crashed [@ js::Call]"},
		{"js::Call [@ js::Call]", "dom/test_a.html"}:                                 {"dom/test_a.html", "js::Call [@ js::Call]"},
		{"MOZ_CRASH(a", "b) [@ mozilla::Crash] | dom/test_a.html"}:                   {"dom/test_a.html", "MOZ_CRASH(a | b) [@ mozilla::Crash]"},
		{"Main app process exited normally", "application crashed [@ mozilla::Foo]"}: {"Main app process exited normally", "application crashed [@ mozilla::Foo]"},
	} {
		test, signature := crashed(line[0], line[1])
		if test != want[0] || signature != want[1] {
			t.Errorf("%q: %q, %q; want %q", line, test, signature, want)
		}
	}
}
