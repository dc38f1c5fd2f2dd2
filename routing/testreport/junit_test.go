package testreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// sharedExpect is what a manifest of the shared fixtures says of one file.
type sharedExpect struct {
	Tests        *int     `json:"tests"`
	Passed       int      `json:"passed"`
	Failed       int      `json:"failed"`
	Skipped      int      `json:"skipped"`
	FailingTests []string `json:"failing_tests"`
	FailingCases []struct {
		Name      string `json:"name"`
		Class     string `json:"class"`
		Synthetic bool   `json:"synthetic"`
	} `json:"failing_cases"`
	FlakyTests      []string `json:"flaky_tests"`
	AlsoAccepted    []string `json:"also_accepted_failing"`
	FailedPackages  []string `json:"failed_packages"`
	WithoutTest     []string `json:"packages_failed_without_test"`
	FailingPackages []string `json:"failing_packages"`
	BuildFailed     []string `json:"build_failed"`
	OtherErrors     int      `json:"other_errors"`
	Alt             []sharedExpect
	Complete        bool `json:"failing_tests_complete"`
}

type sharedFile struct {
	Set    string
	File   string       `json:"file"`
	Format string       `json:"format"`
	Expect sharedExpect `json:"expect"`
}

// sharedFiles returns the entries of the shared fixtures whose format one of want
// is. The fixtures stand beside a checkout; without them it returns none.
func sharedFiles(t testing.TB, sets []string, want ...string) []sharedFile {
	t.Helper()
	var all []sharedFile
	for _, set := range sets {
		b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", set, "manifest.json"))
		if err != nil {
			t.Logf("fixtures of %s: %v", set, err)
			continue
		}
		var m struct{ Files []sharedFile }
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Files {
			if slices.Contains(want, f.Format) {
				f.Set = set
				all = append(all, f)
			}
		}
	}
	return all
}

func (f sharedFile) read(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", f.Set, f.File))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkShared compares a report with a manifest's entry.
func checkShared(t *testing.T, f sharedFile, r *Report) {
	t.Helper()
	e, c := f.Expect, r.Counts
	if e.Tests != nil && !countsMatch(e, c) {
		t.Errorf("counts %+v, want tests %d passed %d failed %d skipped %d", c, *e.Tests, e.Passed, e.Failed, e.Skipped)
	}
	var want []string
	synth := false
	for i, name := range e.FailingTests {
		synthetic := strings.HasSuffix(name, "[build failed]") || strings.HasSuffix(name, "[setup failed]")
		if i < len(e.FailingCases) {
			synthetic = synthetic || e.FailingCases[i].Synthetic
		}
		synth = synth || synthetic
		if !synthetic {
			want = append(want, name)
		} else if len(r.Problems) == 0 {
			t.Errorf("no problem for %s", name)
		}
	}
	if e.Complete {
		compareNames(t, "failing", want, r.Failing, e.AlsoAccepted)
	}
	if e.FlakyTests != nil {
		compareNames(t, "flaky", e.FlakyTests, r.Flaky, nil)
	}
	for _, p := range slices.Concat(e.WithoutTest, e.BuildFailed) {
		name, _, _ := strings.Cut(p, " ")
		if !slices.ContainsFunc(r.Problems, func(q Problem) bool { return strings.TrimSuffix(name, ".test") == q.Name }) {
			t.Errorf("no problem for package %s in %+v", p, r.Problems)
		}
	}
	bad := synth || e.Failed > 0 || len(want) > 0 || len(e.WithoutTest) > 0 || len(e.BuildFailed) > 0 || e.OtherErrors > 0
	if bad && r.Green() {
		t.Error("the report is green")
	}
	if !bad && len(e.FailingPackages) == 0 && c.Passed > 0 && !r.Green() {
		t.Errorf("the report is not green: %+v", r.Problems)
	}
}

func countsMatch(e sharedExpect, c Counts) bool {
	if *e.Tests == c.Tests && e.Failed == c.Failed && e.Skipped == c.Skipped {
		return true
	}
	for _, a := range e.Alt {
		if a.Tests != nil && *a.Tests == c.Tests && a.Failed == c.Failed && a.Skipped == c.Skipped {
			return true
		}
	}
	return false
}

func compareNames(t *testing.T, what string, want []string, got []Test, also []string) {
	t.Helper()
	left := slices.Clone(got)
	for _, name := range want {
		i := slices.IndexFunc(left, func(g Test) bool { return isNamed(name, g) })
		if i < 0 {
			t.Errorf("%s test %q not found", what, name)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, g := range left {
		if !slices.ContainsFunc(also, func(n string) bool { return isNamed(n, g) }) {
			t.Errorf("%s test %q is not expected", what, g.FullName())
		}
	}
}

func isNamed(want string, g Test) bool {
	w, full, name := bare(want), bare(g.FullName()), bare(g.Name)
	return w == full || w == name
}

func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

func parseString(t testing.TB, s string, opt Options) *Report {
	t.Helper()
	r, err := Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJUnitFixtures(t *testing.T) {
	t.Parallel()
	for _, f := range sharedFiles(t, []string{"structured", "captain", "xunitplugin"}, "junit-xml") {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			r, err := Parse(bytes.NewReader(f.read(t)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Formats, []string{"junit"}) {
				t.Errorf("formats %v", r.Formats)
			}
			checkShared(t, f, r)
			for _, x := range r.Failing {
				if x.Message == "" {
					t.Errorf("%s has no message", x.FullName())
				}
			}
		})
	}
}

func TestJUnitDialects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     Counts
		problems []Kind
		check    func(*testing.T, *Report)
	}{
		{name: "failing test in a nested suite",
			in:   `<testsuites><testsuite name="a"><testsuite name="b"><testcase name="x"><failure message="m"/></testcase></testsuite><testcase name="y"/></testsuite></testsuites>`,
			want: Counts{Tests: 2, Passed: 1, Failed: 1},
			check: func(t *testing.T, r *Report) {
				if got := r.Failing[0].FullName(); got != "a > b > x" {
					t.Errorf("name %q", got)
				}
			}},
		{name: "suite error", in: `<testsuite name="s"><error message="no database">at set-up</error><testcase name="x"/></testsuite>`,
			want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindSetup}},
		{name: "declared failure that no case shows", in: `<testsuites><testsuite name="s" tests="1" failures="0" errors="1"><testcase name="x"/></testsuite></testsuites>`,
			want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindPackage}},
		{name: "declared once, said once", in: `<testsuites failures="1"><testsuite failures="1"><testcase name="x"/></testsuite></testsuites>`,
			want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindPackage}},
		{name: "cases under testsuites", in: `<testsuites><testcase name="x" classname="c"/></testsuites>`, want: Counts{Tests: 1, Passed: 1}},
		{name: "no tests", in: `<testsuites name="n" tests="0"/>`, want: Counts{}},
		{name: "declares tests and holds none", in: `<testsuites><testsuite name="a" tests="3"/><testsuite><testcase name="x"/></testsuite></testsuites>`,
			want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindTruncated}},
		{name: "truncated in a case", in: `<testsuite><testcase name="x"/><testcase name="y">`, want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindTruncated}},
		{name: "truncated in a failure", in: `<testsuite><testcase name="x"/><testcase name="y"><failure message="m">half`, want: Counts{Tests: 2, Passed: 1, Failed: 1}, problems: []Kind{KindTruncated}},
		{name: "truncated in a tag", in: `<testsuite><testcase name="x"/><testcase name="y`, want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindTruncated}},
		{name: "truncated between cases", in: "<testsuite>\n<testcase name=\"x\"/>\n", want: Counts{Tests: 1, Passed: 1}, problems: []Kind{KindTruncated}},
		{name: "odd quotes swallow cases", in: `<testsuite><testcase name="x/><testcase name="y"><failure/></testcase></testsuite>`, want: Counts{}, problems: []Kind{KindTruncated},
			check: func(t *testing.T, r *Report) {
				if r.Green() {
					t.Error("green")
				}
			}},
		{name: "bare markup in a text", in: `<testsuite><testcase name="x"><failure>expected <a> but was <b></failure></testcase><testcase name="y"/></testsuite>`,
			want: Counts{Tests: 2, Passed: 1, Failed: 1}, problems: []Kind{KindTruncated}},
		{name: "bare ampersand and less-than", in: `<testsuite><testcase name="a & b < c"><failure message="1 < 2 && x">a && b < c</failure></testcase></testsuite>`,
			want: Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Name != "a & b < c" || f.Message != "1 < 2 && x" || f.Trace != "a && b < c" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "external entity", in: `<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "&x;&x;">]><testsuite><testcase name="&y;"><failure message="&x;"/></testcase></testsuite>`,
			want: Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Name != "&y;" || f.Message != "&x;" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "statuses without elements", in: `<testsuite><testcase name="a" status="failed"/><testcase name="b" status="disabled"/><testcase name="c" status="notrun"/><testcase name="d" result="skipped"/><testcase name="e" status="run" result="completed"/><testcase name="f" status="pending"/></testsuite>`,
			want: Counts{Tests: 6, Passed: 1, Failed: 1, Skipped: 4}},
		{name: "several failures", in: `<testsuite failures="1"><testcase name="a"><failure message="one">1</failure><failure message="two">2</failure><error message="three"/></testcase></testsuite>`,
			want: Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Message != "one" || f.Trace != "1\n\n2\n\nthree" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "failure and skipped", in: `<testsuite><testcase name="a"><skipped/><failure/></testcase></testsuite>`, want: Counts{Tests: 1, Failed: 1}},
		{name: "surefire flaky", in: `<testsuite><testcase name="a" classname="c"><flakyFailure message="m" type="T"><stackTrace>at c.a(C.java:5)</stackTrace></flakyFailure></testcase></testsuite>`,
			want: Counts{Tests: 1, Passed: 1, Flaky: 1}, check: func(t *testing.T, r *Report) {
				if f := r.Flaky[0]; f.Retries != 1 || f.File != "C.java" || f.Line != 5 {
					t.Errorf("%+v", f)
				}
			}},
		{name: "surefire rerun", in: `<testsuite><testcase name="a" classname="c"><failure message="m"/><rerunFailure message="m"/><rerunError/></testcase></testsuite>`,
			want: Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Retries != 2 || f.Flaky {
					t.Errorf("%+v", f)
				}
			}},
		{name: "equal names stay apart", in: `<testsuite><testcase name="a" classname="c" file="f" line="3"/><testcase name="a" classname="c" file="f" line="3"/></testsuite>`, want: Counts{Tests: 2, Passed: 2}},
		{name: "equal names, one fails, nothing tells of a rerun", in: `<testsuite><testcase name="a" classname="c"/><testcase name="a" classname="c"><failure/></testcase></testsuite>`, want: Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "equal names in suites of their own", in: `<testsuites><testsuite name="s1"><testcase name="a" file="f" line="3"/></testsuite><testsuite name="s2"><testcase name="a" file="f" line="3"><failure/></testcase></testsuite></testsuites>`, want: Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "pytest rerun", in: `<testsuites><testsuite name="pytest"><testcase name="a" classname="c"><failure message="1"/></testcase><testcase name="a" classname="c"/></testsuite></testsuites>`, want: Counts{Tests: 1, Passed: 1, Flaky: 1}},
		{name: "namespaces", in: `<j:testsuite xmlns:j="u"><j:testcase name="a"><j:failure/></j:testcase></j:testsuite>`, want: Counts{Tests: 1, Failed: 1}},
		{name: "two documents", in: "<?xml version=\"1.0\"?><testsuite><testcase name=\"a\"/></testsuite>\n<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"b\"><error/></testcase></testsuite>", want: Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "encoding declared UTF-16", in: `<?xml version="1.0" encoding="UTF-16"?><testsuite><testcase name="ü"/></testsuite>`, want: Counts{Tests: 1, Passed: 1}},
		{name: "UTF-16 with its mark", in: utf16LE("<?xml version='1.0' encoding='utf-16'?>\n<testsuite><testcase name='\u00fc'><failure message='\u00e4'/></testcase></testsuite>"), want: Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Name != "ü" || f.Message != "ä" || f.At != 2 {
					t.Errorf("%+v", f)
				}
			}},
		{name: "latin-1", in: "<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='\xfc'><failure/></testcase></testsuite>", want: Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *Report) {
				if r.Failing[0].Name != "ü" {
					t.Errorf("name %q", r.Failing[0].Name)
				}
			}},
		{name: "invalid UTF-8 and controls", in: "<testsuite><testcase name='a\xff\x1b[31mb\x00'><failure message='m\x07'>t\xfe</failure></testcase></testsuite>", want: Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Name != "a\ufffdb" || f.Message != "m" || f.Trace != "t\ufffd" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "cdata", in: `<testsuite><testcase name="a"><failure><![CDATA[a <b> ]] > c]]>d<![CDATA[]]></failure></testcase></testsuite>`, want: Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *Report) {
				if f := r.Failing[0]; f.Trace != "a <b> ]] > cd" {
					t.Errorf("%q", f.Trace)
				}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseString(t, tt.in, Options{})
			if r.Counts != tt.want {
				t.Errorf("counts %+v, want %+v", r.Counts, tt.want)
			}
			var kinds []Kind
			for _, p := range r.Problems {
				kinds = append(kinds, p.Kind)
				if p.Message == "" {
					t.Error("a problem without a message")
				}
			}
			if !slices.Equal(kinds, tt.problems) {
				t.Errorf("problems %+v, want %v", r.Problems, tt.problems)
			}
			if tt.check != nil {
				tt.check(t, r)
			}
		})
	}
}

func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, r := range s {
		b = append(b, byte(r), byte(r>>8))
	}
	return string(b)
}

func TestJUnitPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, attrs, text, file string
		line                    int
	}{
		{"attributes win", `file="a.py" line="3"`, "b.py:9: AssertionError", "a.py", 3},
		{"pytest", "", "def test():\n&gt;   assert f()\n\ntests/test_a.py:25: \n_ _ _\nlib/x.py:7: in f\nE  assert False\n\ntests/test_b.py:12: AssertionError", "tests/test_b.py", 12},
		{"traceback", "", "Traceback (most recent call last):\n  File \"a/test_x.py\", line 24, in test\n  File \"a/x.py\", line 5, in f\n  File \"/usr/lib/python3.11/unittest/case.py\", line 5, in fail\nAssertionError: x", "a/x.py", 5},
		{"jest", "", "Error: x\n    at fail (node_modules/expect/build/index.js:1:2)\n    at Object.t (src/a.test.ts:14:7)", "src/a.test.ts", 14},
		{"java", `classname="x.YTest"`, "java.lang.AssertionError\n\tat org.junit.Assert.fail(Assert.java:86)\n\tat x.Help.f(Help.java:3)\n\tat x.YTest.z(YTest.java:12)", "YTest.java", 12},
		{"go", "", "    x_test.go:12: got 1, want 2", "x_test.go", 12},
		{"ruby", "", "Failure:\nt(Minitest) [test/a_test.rb:5]:\nExpected", "test/a_test.rb", 5},
		{"php", "", "A::t\nFailed asserting that true is false.\n\n/app/tests/AT.php:23", "/app/tests/AT.php", 23},
		{"elixir line attribute", `file="test/a.exs:7"`, "x", "test/a.exs", 7},
		{"c#", "", "Assert.Equal() Failure\n   at N.T.M() in /src/T.cs:line 12", "/src/T.cs", 12},
		{"rust", "", "thread 't' panicked at tests/p.rs:154:5:\nleft: 0", "tests/p.rs", 154},
		{"gtest", "", "a/b_test.cc:271\nValue of: false", "a/b_test.cc", 271},
		{"msvc", "", `C:\a\b_test.cpp(27): error: Value of: false`, `C:\a\b_test.cpp`, 27},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseString(t, "<testsuite><testcase name=\"t\" "+tt.attrs+"><failure>"+tt.text+"</failure></testcase></testsuite>", Options{})
			if f := r.Failing[0]; f.File != tt.file || f.Line != tt.line {
				t.Errorf("%s:%d, want %s:%d", f.File, f.Line, tt.file, tt.line)
			}
		})
	}
}

func TestJUnitForced(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"plain text", "<html><body/></html>", "<a", "<?xml version='1.0'?>"} {
		if _, err := Parse(strings.NewReader(in), Options{Format: "junit"}); !errors.Is(err, ErrUnknownFormat) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]time.Duration{
		"": 0, "x": 0, "-1": 0, "NaN": 0, "1e300": 0, "1.5": 1500 * time.Millisecond, "0,5": 500 * time.Millisecond,
		"1,234.5": 1234500 * time.Millisecond, "1.234,5": 1234500 * time.Millisecond, "1,234,567": 1234567 * time.Second, "2s": 2 * time.Second, "PT0.25S": 250 * time.Millisecond,
	} {
		if got := seconds(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
}

func TestJUnitDepth(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("<testsuite>", 300) + "<testcase name='x'><failure/></testcase>" + strings.Repeat("</testsuite>", 300)
	r := parseString(t, "<testsuites><testcase name='y'/>"+in+"</testsuites>", Options{})
	if r.Green() || len(r.Cut) == 0 || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
}

// longText gives a document whose system-out has n bytes, without holding it.
func longText(n int64) io.Reader {
	return io.MultiReader(
		strings.NewReader("<testsuite><testcase name='x'><system-out>"),
		io.LimitReader(repeated("some output &amp; more\n"), n),
		strings.NewReader("</system-out><failure message='m'>"),
		io.LimitReader(repeated("a trace > of\n"), n),
		strings.NewReader("last</failure></testcase></testsuite>"),
	)
}

type repeated string

func (s repeated) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		n += copy(p[n:], s)
	}
	return len(p), nil
}

func TestJUnitMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Parse(longText(64<<20), Options{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 40<<20 {
		t.Errorf("%d MiB allocated for 128 MiB of text", got>>20)
	}
	if f := r.Failing[0]; !strings.HasSuffix(f.Trace, "last") || len(f.Trace) > 20<<10 {
		t.Errorf("trace of %d bytes", len(f.Trace))
	}
}

func TestJUnitInLog(t *testing.T) {
	t.Parallel()
	in := "2024-01-02T03:04:05.1234567Z + cat out.xml\n" +
		"2024-01-02T03:04:05.1234567Z <?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n" +
		"2024-01-02T03:04:05.1234567Z <testsuites>\n" +
		"2024-01-02T03:04:05.1234567Z <testsuite name=\"s\"><testcase name=\"ü\">\n" +
		"2024-01-02T03:04:05.1234567Z <failure message=\"m\"/></testcase></testsuite>\n" +
		"2024-01-02T03:04:05.1234567Z </testsuites>\n" +
		"2024-01-02T03:04:05.1234567Z --- FAIL: TestAfter (0.00s)\n"
	var seen []int
	r := parseString(t, in, Options{OnLine: func(l Line) { seen = append(seen, l.No) }})
	if r.Counts.Failed != 2 || r.Failing[0].Name != "ü" || r.Failing[0].At != 5 {
		t.Errorf("%+v", r)
	}
	if !slices.Equal(seen, []int{1, 2, 7}) {
		t.Errorf("lines shown: %v", seen)
	}
}

func TestJUnitBrokenOffInLog(t *testing.T) {
	t.Parallel()
	in := "<testsuites>\n<testsuite name='a'>\n<testcase name='x'/>\nError: killed\n" + strings.Repeat("log line\n", 500) + "--- FAIL: TestAfter (0.00s)\n"
	r := parseString(t, "start\n"+in, Options{})
	if r.Green() || r.Counts.Failed != 1 || len(r.Problems) == 0 {
		t.Errorf("%+v", r)
	}
}

func FuzzJUnit(f *testing.F) {
	for _, x := range sharedFiles(f, []string{"structured", "captain", "xunitplugin"}, "junit-xml") {
		if b := x.read(f); len(b) < 64<<10 {
			f.Add(b)
		}
	}
	f.Add([]byte(`<testsuite><testcase name="a"><failure message="m">t</failure></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, in []byte) {
		lim := Limits{Line: 4 << 10, Text: 1 << 10, Failing: 50, Depth: 20}
		failed := 0
		c := NewCollector(lim)
		c.OnTest = func(x *Test) {
			if x.Status == Failed {
				failed++
			}
		}
		info, err := Read(bytes.NewReader(in), Options{Format: "junit", Limits: lim}, c)
		r := c.Finish(info)
		if err != nil {
			return
		}
		if r.Green() && failed > 0 {
			t.Error("green with a failing test")
		}
		for _, x := range r.Failing {
			if len(x.Trace) > 2*lim.Text || len(x.Message) > 2*lim.Text || len(x.Output) > 2*lim.Text {
				t.Error("a text over its limit")
			}
		}
		// What ends early is never green.
		if r.Green() && bytes.Count(in, []byte("<testcase")) > 0 {
			cut := in[:bytes.LastIndex(in, []byte("<testcase"))+5]
			if q, err := Parse(bytes.NewReader(cut), Options{Format: "junit", Limits: lim}); err == nil && q.Green() && bytes.Count(cut, []byte("<!")) == 0 && bytes.Count(cut, []byte("<?")) == 0 {
				t.Errorf("green though cut: %q", cut)
			}
		}
	})
}

// junitDocument returns a document of n tests, one in fifty failing.
func junitDocument(n int) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n")
	for i := range n {
		if i%100 == 0 {
			fmt.Fprintf(&b, "<testsuite name=\"com.example.Suite%d\" tests=\"100\">\n", i/100)
		}
		fmt.Fprintf(&b, "  <testcase name=\"test number %d &amp; more\" classname=\"com.example.Suite%d\" time=\"0.%03d\"", i, i/100, i%1000)
		if i%50 == 0 {
			b.WriteString("><failure message=\"expected: &lt;1&gt; but was: &lt;2&gt;\" type=\"AssertionError\">" +
				strings.Repeat("\tat com.example.Suite.method(Suite.java:12)\n", 20) + "</failure></testcase>\n")
		} else {
			b.WriteString("><system-out><![CDATA[" + strings.Repeat("some line of output > and more\n", 20) + "]]></system-out></testcase>\n")
		}
		if i%100 == 99 || i == n-1 {
			b.WriteString("</testsuite>\n")
		}
	}
	b.WriteString("</testsuites>\n")
	return b.Bytes()
}

func BenchmarkJUnit(b *testing.B) {
	in := junitDocument(10000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Parse(bytes.NewReader(in), Options{})
		if err != nil || r.Counts.Tests != 10000 || r.Counts.Failed != 200 {
			b.Fatal(r, err)
		}
	}
}
