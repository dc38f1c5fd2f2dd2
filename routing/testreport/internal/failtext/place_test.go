package failtext

import (
	"regexp"
	"slices"
	"testing"
)

func TestFramesOfTheJVMAreParsedAsByTheExpression(t *testing.T) {
	t.Parallel()
	want := regexp.MustCompile(`^\s*at ([\w.$/@<>-]+)\(([\w$-]+\.(?:java|kt|scala|groovy|clj)):(\d+)\)`)
	for _, line := range []string{
		"\tat com.acme.A.b(A.java:12)", "at java.base/jdk.internal.X.invoke(X.java:1) ~[?:?]", "  at a.b$c.<init>(A-1.kt:7)",
		"at a.b(A.java:)", "at a.b(A.java:1x)", "at a.b(.java:1)", "at a.b(A.b.java:1)", "at a b(A.java:1)", "at (A.java:1)", "at a.b(A.java:1",
		"at fn (src/a.js:1:2)", "at a.b(Native Method)", "xat a.b(A.java:1)", "\f\r at a.b(A.clj:1)", "at a.b(A.scala:1)(B.java:2)", "at ä.b(A.java:1)", "at a.b(A.java:1:2)",
	} {
		m := want.FindStringSubmatch(line)
		method, file, number, ok := jvmFrame(line)
		if ok != (m != nil) || ok && !slices.Equal(m[1:], []string{method, file, number}) {
			t.Errorf("%q: %q %q %q %v, want %q", line, method, file, number, ok, m)
		}
	}
}

func TestPlacesAreThoseOfEveryLineByItself(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Place{
		"src/a.js:3:1 failed\nsrc/b.js:4:1\n":                                                    {File: "src/a.js", Line: 3},
		"src/a.js:3:1 failed\ntests/test_a.py:12: AssertionError\n":                              {File: "tests/test_a.py", Line: 12},
		"src/a.js:3:1 failed\n  at x.y(B.java:4)\n":                                              {File: "src/a.js", Line: 3},
		"at x.y(B.java:4)\nat com.acme.A.b(A.java:9)\n":                                          {File: "A.java", Line: 9},
		"Traceback (most recent call last):\n  File \"a.py\", line 1\n  File \"b.py\", line 2\n": {File: "b.py", Line: 2},
	} {
		if file, line := PlaceIn(text, "com.acme.A", ""); file != want.File || line != want.Line {
			t.Errorf("%q: %s:%d, want %s:%d", text, file, line, want.File, want.Line)
		}
	}
}
