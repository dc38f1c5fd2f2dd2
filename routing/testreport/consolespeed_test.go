package testreport

import (
	"fmt"
	"strings"
	"testing"
)

// The short way of the progress may only say what the long way says.
func FuzzPytestPlainStatus(f *testing.F) {
	for _, s := range []string{
		"a/test_b.py::test_c PASSED [ 50%]", "a/test_b.py::T::test_c[x] FAILED", "a.py::b ERROR  [100%]",
		"a.py::b[c d] PASSED [ 50%]", "a.py::b SKIPPED (why) [  1%]", "a.py::b PASSED [12/340]", "a.py::b PASSED [0.12s] [ 3%]",
		"[gw0] [ 50%] PASSED a.py::b", "no colon PASSED", "::b PASSED", "a.py:: PASSED", "a'.py::b PASSED", "PASSED [ 5%]", "apy::b XFAIL [%]",
		"a.py::b PASSED[ 50%]", "a.py::b xpass [ 7%]", "]", " a.py::b PASSED", "a.py::b PASSED [-5%]", "a.py::b Fatal Python error: Aborted",
	} {
		f.Add(s)
	}
	s := newPytestSession(NewCollector(Limits{}), DefaultLimits(), newAnonymous(), "", 1)
	f.Fuzz(func(t *testing.T, line string) {
		line = trimSpaces(line)
		if line == "" {
			return
		}
		id, st, ok := s.plainStatus(line)
		longID, longSt, is := splitStatus(trimPercent(line))
		if is = is && isNodeID(longID) && line[0] != ' ' && !strings.HasPrefix(line, "[gw"); ok && (!is || id != longID || st != longSt) {
			t.Errorf("%q: %q %q, the long way says %q %q %v", line, id, st, longID, longSt, is)
		}
		if is && !ok && !strings.ContainsAny(longID, " [") && strings.HasSuffix(line, longSt) {
			t.Errorf("%q is plain and was left to the long way", line)
		}
	})
}

// A test's name is the same whether its file was seen before or not.
func FuzzPytestName(f *testing.F) {
	for _, s := range []string{"a.py::b", "a.py::T::b", "a.py::b[c::d]", "a.py::[x]", "a.py:::b", "a[1].py::b[2]", "a.py::b[c", "a.py", "a.py::T::b[c::d] e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		s := newPytestSession(NewCollector(Limits{}), DefaultLimits(), newAnonymous(), "", 1)
		s.plainStatus(id + " PASSED")
		var got Test
		s.name(&got, id)
		if suite, name := suiteAndName(id); got.Suite != suite || got.Name != name || got.File != fileOf(id) {
			t.Errorf("%q: %q %q %q, want %q %q %q", id, got.Suite, got.Name, got.File, suite, name, fileOf(id))
		}
	})
}

func FuzzOutputPrefix(f *testing.F) {
	for _, s := range []string{
		"pkg:test: PASS", "@scope/pkg: x", "web_1  | x", "web |x", "[INFO] x", "[INFO x] y", "INFO] x", " a: b", ": a", "a b: c", "a  b", "a: ", "a:", "",
		strings.Repeat("a", 78) + ": b", strings.Repeat("a", 79) + ": b", strings.Repeat("a", 80) + ": b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := ""
		for i := 1; i < min(len(s)-1, 80); i++ {
			if s[i+1] == ' ' && (s[i] == ':' || s[i] == '|' || s[i] == ']' && s[0] == '[') {
				want = s[:i+2]
				break
			}
			if s[i] == ' ' && (s[0] == ' ' || s[i+1] != ' ' && s[i+1] != '|') {
				break
			}
		}
		if got := outputPrefix(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	})
}

func FuzzSaysError(f *testing.F) {
	for _, s := range []string{"a.cs(1,2): error CS1: x", "MSBUILD : warning MSB1: x", ": error", ": warning", "a: error", "::: error x", ": errors : warning x", ":", "a:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := saysError(s), strings.Contains(s, ": error ") || strings.Contains(s, ": warning "); got != want {
			t.Errorf("%q: %v", s, got)
		}
	})
}

// BenchmarkJobLog measures all consoles on lines that are of no test.
func BenchmarkJobLog(b *testing.B) {
	in := strings.Repeat(`Get:12 http://archive.example.org/ubuntu noble/main amd64 libpart amd64 1.2-3ubuntu2 [34 kB]
[INFO] Downloaded from central: https://repo.example.org/maven2/org/example/part/1.0/part-1.jar (12 kB at 2.1 MB/s)
#7 12.345 Step 3/40 : RUN apt-get install -y part
2026/01/02 03:04:05 INFO request served method=GET path=/v1/orders/7 status=200 bytes=123
   Compiling part v0.1.0 (/home/runner/work/app/crates/part)
[12/1000] Building CXX object src/CMakeFiles/app.dir/part.cpp.o
cc -O2 -g -Wall -Iinclude -DVERSION=7 -c -o build/part.o src/part.c

src/part.c:12:9: warning: unused variable 'n' [-Wunused-variable]
        at org.example.part.Handler.invoke(Handler.java:123)
  processed orders 12 of 34 in 7 ms, cache hit ratio 0.7, worker-3
`, 1000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(strings.NewReader(in), Options{}, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkConsoles measures what a console costs a line of its own format.
func BenchmarkConsoles(b *testing.B) {
	many := func(n int, format string) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, format, i, i)
		}
		return s.String()
	}
	for _, in := range []struct {
		name    string
		console *format
		text    string
	}{
		{"pytest -v", &pytestFormat, "===== test session starts =====\n" + many(10000, "tests/test_part.py::test_handles[%d] PASSED [ %d%%]\n")},
		{"pytest xdist", &pytestFormat, "===== test session starts =====\n" + many(10000, "[gw1] [ 42%%] PASSED tests/test_part%d.py::test_handles[%d] \n")},
		{"pytest captured", &pytestFormat, "===== FAILURES =====\n_____ test_a _____\n" + many(10000, "2026-01-02 03:04:05 INFO processed %d of %d in 12 ms\n")},
		{"jest tree", &jestFormat, "PASS src/part/handler.test.js (1.234 s)\n  handler\n" + many(10000, "    ✓ handles orders %d (%d ms)\n")},
		{"vitest", &vitestFormat, " RUN  v1.2.3 /home/a\n\n" + many(10000, " ✓ src/part%d/handler.test.ts > handles orders %d 12ms\n")},
	} {
		b.Run(in.name, func(b *testing.B) {
			lines := strings.Split(strings.TrimSuffix(in.text, "\n"), "\n")
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				c := in.console.console(discard{}, DefaultLimits())
				for i, l := range lines {
					c.line(Line{No: i + 1, Text: l})
				}
				c.end()
			}
		})
	}
}

type discard struct{}

func (discard) Test(Test)             {}
func (discard) Problem(Problem)       {}
func (discard) Diagnostic(Diagnostic) {}
func (discard) Cut(string)            {}
