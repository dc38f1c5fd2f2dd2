package testreport

import (
	"slices"
	"strings"
	"testing"
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
		lim := Limits{Text: 64}.withDefaults()
		quick, full := &events{}, &events{}
		a, b := newGoTest(quick, lim), newGoTest(full, lim)
		for i, s := range strings.Split(text, "\n") {
			l := Line{No: i + 1, Text: s}
			if got, want := a.line(l), b.look(l); got != want {
				t.Fatalf("line %d: %v, want %v", i+1, got, want)
			}
			if got, want := a.p.out.String(), b.p.out.String(); got != want || a.seen != b.seen || a.p.crashAt != b.p.crashAt || a.p.exit != b.p.exit {
				t.Fatalf("line %d: kept %q, want %q", i+1, got, want)
			}
		}
		a.end()
		b.end()
		if !slices.Equal(quick.list, full.list) {
			t.Fatalf("%q, want %q", quick.list, full.list)
		}
	})
}
