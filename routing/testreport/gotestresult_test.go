package testreport

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
