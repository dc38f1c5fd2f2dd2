package diagnosis

import (
	"slices"
	"testing"
)

func TestQuickDoesWhatRegexpDoes(t *testing.T) {
	t.Parallel()
	all := []*quick{foreign, noiseFrame, lineCol, errorShape, pytestLine}
	for _, f := range frameForms {
		all = append(all, f.re)
	}
	for _, p := range variable {
		all = append(all, p.re)
	}
	texts := slices.Concat(dfaTexts, []string{
		`  File "a/b.py", line 3, in f`, "tests/a.py:12: AssertionError", "\tat com.acme.Foo.bar(Foo.java:12)", "    at async run (/app/src/a.ts:3:14)", "   at Acme.T.M() in /src/T.cs:line 9",
		"app/a.rb:3:in `x'", "/app/a.php(12)", "src/main.rs:3:5", "main.go:12 +0x1d", "(12,3)", ":12:3", `", line 12`, "2026-01-02T03:04:05Z", "0xdeadbeef", "/tmp/x/y", "localhost:8080",
		"\tat java.base/java.lang.Thread.run(Thread.java:1)", "    at node:internal/process", "node_modules/x/y.js", "... 12 more", "E       assert 1 == 2", "ValueError: x", "expected: <1> but was: <2>",
	})
	for _, q := range all {
		for _, s := range texts {
			if got, want := q.MatchString(s), q.re.MatchString(s); got != want {
				t.Errorf("%s on %q: %v", q.re, s, got)
			}
			if got, want := q.FindStringSubmatch(s), q.re.FindStringSubmatch(s); !slices.Equal(got, want) {
				t.Errorf("%s on %q: %q, want %q", q.re, s, got, want)
			}
			if got, want := q.FindStringIndex(s), q.re.FindStringIndex(s); !slices.Equal(got, want) {
				t.Errorf("%s on %q: %v, want %v", q.re, s, got, want)
			}
		}
	}
}
