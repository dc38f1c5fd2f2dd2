package golang

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// FuzzGoMeans compares a reader that passes over lines with one that looks at all.
func FuzzGoMeans(f *testing.F) {
	for _, s := range []string{
		"a\n\nb\nFAIL\texample.com/a\t0.1s\nFAIL", "  --- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nexit status 1\nFAIL\ta\t0.1s", " x\n# example.com/a\n./a.go:1:2: no\nx\nFAIL\texample.com/a [build failed]",
		"panic: no\nx\n goroutine 1\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \ta\t0.1s", "WARNING: DATA RACE\nx\n==================\ny\nFAIL\ta\t1s", "=== FAIL: a TestB (0.00s)\n  no\n--\nx\n",
		"x\n*** Test killed with quit: ran too long (11m0s).\ny\nFAIL\ta\t660s", "fatal error: x\nSIGSEGV: x\nsignal: killed\nBenchmarkA-8 1 2 ns/op\nPASS\nok a 1s", "    \n -\n\t--- FAIL: TestA (0.00s)\nok  \ta\t0.1s\nx\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lim := model.Limits{Text: 64}.WithDefaults()
		quick, full := &corpustest.Events{}, &corpustest.Events{}
		a, b := newGoTest(quick, lim), newGoTest(full, lim)
		for i, s := range strings.Split(text, "\n") {
			l := lines.Line{No: i + 1, Text: s}
			if got, want := a.Line(l), b.look(l); got != want {
				t.Fatalf("line %d: %v, want %v", i+1, got, want)
			}
			if got, want := a.p.out.String(), b.p.out.String(); got != want || a.seen != b.seen || a.p.crashAt != b.p.crashAt || a.p.exit != b.p.exit {
				t.Fatalf("line %d: kept %q, want %q", i+1, got, want)
			}
		}
		a.End()
		b.End()
		if !slices.Equal(quick.List, full.List) {
			t.Fatalf("%q, want %q", quick.List, full.List)
		}
	})
}

// FuzzGoResult compares the reader of a result line with what it should match.
func FuzzGoResult(f *testing.F) {
	re := regexp.MustCompile(`^( *)--- (PASS|FAIL|SKIP|BENCH): (\S.*?)(?: \((\d+(?:\.\d+)?)(?:s| seconds)\))?$`)
	for _, s := range []string{"--- PASS: A (0.00s)", "    --- FAIL: A/b (1 seconds)", "--- BENCH: BenchmarkA-8", "--- SKIP: a (1s) (2.5s)", "--- FAIL:  x (1s)", "--- FAIL: (1s)", "--- PASS: a (1.s)", "--- PASS: a (.1s)", "---  PASS: a (1s)", "--- FAIL: a: b (1s)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for i := 0; i < len(s); i++ {
			if s[i] == '\n' {
				return // lines have none
			}
		}
		what, name, secs, ok := goResult(s)
		m := re.FindStringSubmatch(s)
		if ok != (m != nil) || ok && (what != m[2] || name != m[3] || secs != m[4]) {
			t.Errorf("%q: got %q %q %q %v, want %q", s, what, name, secs, ok, m)
		}
	})
}

// FuzzGoEnd compares the short way of the line that ends a package with the long way.
func FuzzGoEnd(f *testing.F) {
	for _, s := range []string{
		"ok  \texample.com/a\t0.012s", "FAIL\texample.com/a\t1s", "ok  \texample.com/a\t(cached)", "ok  \ta\t0.1s\tcoverage: 80% of statements",
		"FAIL\ta [build failed]", "ok  \t\t1s", "ok  \ta b\t1s", "ok  \ta[1]\t1s", "ok  \ta\t1.s", "ok  \ta\ts", "ok  \té\t1s", "FAIL\ta\t\t1s", "FAIL\t\ta\t1s", "ok\ta\t1s",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(s, "\n") {
			return // lines have none
		}
		if got, want := goEnd(s), goPkgEnd.FindStringSubmatch(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	})
}
