package multimatch

import (
	"slices"
	"testing"
)

func TestMatcherReturnsWhatRegexpReturns(t *testing.T) {
	t.Parallel()
	texts := slices.Concat(dfaTexts, []string{
		`  File "a/b.py", line 3, in f`, "tests/a.py:12: AssertionError", "\tat com.acme.Foo.bar(Foo.java:12)", "    at async run (/app/src/a.ts:3:14)", "   at Acme.T.M() in /src/T.cs:line 9",
		"src/main.rs:3:5", "main.go:12 +0x1d", "(12,3)", ":12:3", `", line 12`, "2026-01-02T03:04:05Z", "0xdeadbeef", "ValueError: x",
	})
	for _, p := range []string{
		`^(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)|:\[\d+,\d+\]|"?, line \d+)`, `^0[xX][0-9a-fA-F]+\b`, `File "([^"]+)", line (\d+)(?:, in (\S+))?`,
		`\bat ((?:[\w$]+\.)+)([\w$<>]+)\(([\w$]+\.(?:java|kt|scala|groovy)):(\d+)\)`, `(?i)(?:^|[/\\])src[/\\]|^(?:node:|<)`, `((?:[A-Za-z]:)?[^\s:]+\.go):(\d+)`,
		`^\d{4}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?)?`, `(?:[\w$]+[.:]+)*[A-Z][\w$]*(?:Error|Exception)\b`,
	} {
		m := NewMatcher(p)
		for _, s := range texts {
			if got, want := m.MatchString(s), m.re.MatchString(s); got != want {
				t.Errorf("%s on %q: %v", p, s, got)
			}
			if got, want := m.FindStringSubmatch(s), m.re.FindStringSubmatch(s); !slices.Equal(got, want) {
				t.Errorf("%s on %q: %q, want %q", p, s, got, want)
			}
			if got, want := m.FindStringIndex(s), m.re.FindStringIndex(s); !slices.Equal(got, want) {
				t.Errorf("%s on %q: %v, want %v", p, s, got, want)
			}
		}
	}
}
