package generic

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

func parseString(t testing.TB, s string, opt model.Options) *model.Report {
	t.Helper()
	r, err := reader.Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJUnitFixtures(t *testing.T) {
	t.Parallel()
	for _, f := range corpustest.SharedFiles(t, []string{"structured", "captain", "xunitplugin"}, "junit-xml") {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			r, err := reader.Parse(bytes.NewReader(f.Read(t)), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Formats, []string{"junit"}) {
				t.Errorf("formats %v", r.Formats)
			}
			corpustest.CheckShared(t, f, r)
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
		want     model.Counts
		problems []model.Kind
		check    func(*testing.T, *model.Report)
	}{
		{name: "failing test in a nested suite",
			in:   `<testsuites><testsuite name="a"><testsuite name="b"><testcase name="x"><failure message="m"/></testcase></testsuite><testcase name="y"/></testsuite></testsuites>`,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if got := r.Failing[0].FullName(); got != "a > b > x" {
					t.Errorf("name %q", got)
				}
			}},
		{name: "suite error", in: `<testsuite name="s"><error message="no database">at set-up</error><testcase name="x"/></testsuite>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindSetup}},
		{name: "declared failure that no case shows", in: `<testsuites><testsuite name="s" tests="1" failures="0" errors="1"><testcase name="x"/></testsuite></testsuites>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "declared once, said once", in: `<testsuites failures="1"><testsuite failures="1"><testcase name="x"/></testsuite></testsuites>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "cases under testsuites", in: `<testsuites><testcase name="x" classname="c"/></testsuites>`, want: model.Counts{Tests: 1, Passed: 1}},
		{name: "no tests", in: `<testsuites name="n" tests="0"/>`, want: model.Counts{}},
		{name: "declares tests and holds none", in: `<testsuites><testsuite name="a" tests="3"/><testsuite><testcase name="x"/></testsuite></testsuites>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "truncated in a case", in: `<testsuite><testcase name="x"/><testcase name="y">`, want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "truncated in a failure", in: `<testsuite><testcase name="x"/><testcase name="y"><failure message="m">half`, want: model.Counts{Tests: 2, Passed: 1, Failed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "truncated in a tag", in: `<testsuite><testcase name="x"/><testcase name="y`, want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "truncated between cases", in: "<testsuite>\n<testcase name=\"x\"/>\n", want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "odd quotes swallow cases", in: `<testsuite><testcase name="x/><testcase name="y"><failure/></testcase></testsuite>`, want: model.Counts{}, problems: []model.Kind{model.KindTruncated},
			check: func(t *testing.T, r *model.Report) {
				if r.Green() {
					t.Error("green")
				}
			}},
		{name: "bare markup in a text", in: `<testsuite><testcase name="x"><failure>expected <a> but was <b></failure></testcase><testcase name="y"/></testsuite>`,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "bare ampersand and less-than", in: `<testsuite><testcase name="a & b < c"><failure message="1 < 2 && x">a && b < c</failure></testcase></testsuite>`,
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Name != "a & b < c" || f.Message != "1 < 2 && x" || f.Trace != "a && b < c" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "external entity", in: `<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "&x;&x;">]><testsuite><testcase name="&y;"><failure message="&x;"/></testcase></testsuite>`,
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Name != "&y;" || f.Message != "&x;" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "statuses without elements", in: `<testsuite><testcase name="a" status="failed"/><testcase name="b" status="disabled"/><testcase name="c" status="notrun"/><testcase name="d" result="skipped"/><testcase name="e" status="run" result="completed"/><testcase name="f" status="pending"/></testsuite>`,
			want: model.Counts{Tests: 6, Passed: 1, Failed: 1, Skipped: 4}},
		{name: "several failures", in: `<testsuite failures="1"><testcase name="a"><failure message="one">1</failure><failure message="two">2</failure><error message="three"/></testcase></testsuite>`,
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Message != "one" || f.Trace != "1\n\n2\n\nthree" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "failure and skipped", in: `<testsuite><testcase name="a"><skipped/><failure/></testcase></testsuite>`, want: model.Counts{Tests: 1, Failed: 1}},
		{name: "surefire flaky", in: `<testsuite><testcase name="a" classname="c"><flakyFailure message="m" type="T"><stackTrace>at c.a(C.java:5)</stackTrace></flakyFailure></testcase></testsuite>`,
			want: model.Counts{Tests: 1, Passed: 1, Flaky: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Flaky[0]; f.Retries != 1 || f.File != "C.java" || f.Line != 5 {
					t.Errorf("%+v", f)
				}
			}},
		{name: "surefire rerun", in: `<testsuite><testcase name="a" classname="c"><failure message="m"/><rerunFailure message="m"/><rerunError/></testcase></testsuite>`,
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Retries != 2 || f.Flaky {
					t.Errorf("%+v", f)
				}
			}},
		{name: "equal names stay apart", in: `<testsuite><testcase name="a" classname="c" file="f" line="3"/><testcase name="a" classname="c" file="f" line="3"/></testsuite>`, want: model.Counts{Tests: 2, Passed: 2}},
		{name: "equal names, one fails, nothing tells of a rerun", in: `<testsuite><testcase name="a" classname="c"/><testcase name="a" classname="c"><failure/></testcase></testsuite>`, want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "equal names in suites of their own", in: `<testsuites><testsuite name="s1"><testcase name="a" file="f" line="3"/></testsuite><testsuite name="s2"><testcase name="a" file="f" line="3"><failure/></testcase></testsuite></testsuites>`, want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "pytest rerun", in: `<testsuites><testsuite name="pytest"><testcase name="a" classname="c"><failure message="1"/></testcase><testcase name="a" classname="c"/></testsuite></testsuites>`, want: model.Counts{Tests: 1, Passed: 1, Flaky: 1}},
		{name: "namespaces", in: `<j:testsuite xmlns:j="u"><j:testcase name="a"><j:failure/></j:testcase></j:testsuite>`, want: model.Counts{Tests: 1, Failed: 1}},
		{name: "two documents", in: "<?xml version=\"1.0\"?><testsuite><testcase name=\"a\"/></testsuite>\n<?xml version=\"1.0\"?>\n<testsuite><testcase name=\"b\"><error/></testcase></testsuite>", want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "encoding declared UTF-16", in: `<?xml version="1.0" encoding="UTF-16"?><testsuite><testcase name="ü"/></testsuite>`, want: model.Counts{Tests: 1, Passed: 1}},
		{name: "UTF-16 with its mark", in: utf16LE("<?xml version='1.0' encoding='utf-16'?>\n<testsuite><testcase name='\u00fc'><failure message='\u00e4'/></testcase></testsuite>"), want: model.Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Name != "ü" || f.Message != "ä" || f.At != 2 {
					t.Errorf("%+v", f)
				}
			}},
		{name: "latin-1", in: "<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='\xfc'><failure/></testcase></testsuite>", want: model.Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if r.Failing[0].Name != "ü" {
					t.Errorf("name %q", r.Failing[0].Name)
				}
			}},
		{name: "invalid UTF-8 and controls", in: "<testsuite><testcase name='a\xff\x1b[31mb\x00'><failure message='m\x07'>t\xfe</failure></testcase></testsuite>", want: model.Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Name != "a\ufffdb" || f.Message != "m" || f.Trace != "t\ufffd" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "cdata", in: `<testsuite><testcase name="a"><failure><![CDATA[a <b> ]] > c]]>d<![CDATA[]]></failure></testcase></testsuite>`, want: model.Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Trace != "a <b> ]] > cd" {
					t.Errorf("%q", f.Trace)
				}
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseString(t, tt.in, model.Options{})
			if r.Counts != tt.want {
				t.Errorf("counts %+v, want %+v", r.Counts, tt.want)
			}
			var kinds []model.Kind
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
			r := parseString(t, "<testsuite><testcase name=\"t\" "+tt.attrs+"><failure>"+tt.text+"</failure></testcase></testsuite>", model.Options{})
			if f := r.Failing[0]; f.File != tt.file || f.Line != tt.line {
				t.Errorf("%s:%d, want %s:%d", f.File, f.Line, tt.file, tt.line)
			}
		})
	}
}

func TestJUnitForced(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"plain text", "<html><body/></html>", "<a", "<?xml version='1.0'?>"} {
		if _, err := reader.Parse(strings.NewReader(in), model.Options{Format: "junit"}); !errors.Is(err, model.ErrUnknownFormat) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestJUnitDepth(t *testing.T) {
	t.Parallel()
	in := strings.Repeat("<testsuite>", 300) + "<testcase name='x'><failure/></testcase>" + strings.Repeat("</testsuite>", 300)
	r := parseString(t, "<testsuites><testcase name='y'/>"+in+"</testsuites>", model.Options{})
	if r.Green() || len(r.Cut) == 0 || len(r.Problems) != 1 {
		t.Errorf("%+v", r)
	}
}

// longText gives a document whose system-out has n bytes, without holding it.
func longText(n int64) io.Reader {
	return io.MultiReader(
		strings.NewReader("<testsuite><testcase name='x'><system-out>"),
		io.LimitReader(corpustest.Repeated("some output &amp; more\n"), n),
		strings.NewReader("</system-out><failure message='m'>"),
		io.LimitReader(corpustest.Repeated("a trace > of\n"), n),
		strings.NewReader("last</failure></testcase></testsuite>"),
	)
}

func TestJUnitMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := reader.Parse(longText(64<<20), model.Options{})
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
	r := parseString(t, in, model.Options{OnLine: func(l lines.Line) { seen = append(seen, l.No) }})
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
	r := parseString(t, "start\n"+in, model.Options{})
	if r.Green() || r.Counts.Failed != 1 || len(r.Problems) == 0 {
		t.Errorf("%+v", r)
	}
}

func FuzzJUnit(f *testing.F) {
	for _, x := range corpustest.SharedFiles(f, []string{"structured", "captain", "xunitplugin"}, "junit-xml") {
		if b := x.Read(f); len(b) < 64<<10 {
			f.Add(b)
		}
	}
	f.Add([]byte(`<testsuite><testcase name="a"><failure message="m">t</failure></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, in []byte) {
		lim := model.Limits{Line: 4 << 10, Text: 1 << 10, Failing: 50, Depth: 20}
		failed := 0
		c := model.NewCollector(lim)
		c.OnTest = func(x *model.Test) {
			if x.Status == model.Failed {
				failed++
			}
		}
		info, err := reader.Read(bytes.NewReader(in), model.Options{Format: "junit", Limits: lim}, c)
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
			if q, err := reader.Parse(bytes.NewReader(cut), model.Options{Format: "junit", Limits: lim}); err == nil && q.Green() && bytes.Count(cut, []byte("<!")) == 0 && bytes.Count(cut, []byte("<?")) == 0 {
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
		r, err := reader.Parse(bytes.NewReader(in), model.Options{})
		if err != nil || r.Counts.Tests != 10000 || r.Counts.Failed != 200 {
			b.Fatal(r, err)
		}
	}
}

// TestJUnitListsFewerThanDeclared reads well-formed documents that hold fewer
// test cases than they declare: unclear, unless what the producer counts, as
// known of it, explains the difference.
func TestJUnitListsFewerThanDeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		problem  string // in the message; "" demands green
	}{
		{"one of five", `<testsuite name="s" tests="5"><testcase name="a"/></testsuite>`, "the suite lists 1 of 5 declared tests"},
		{"one of five with a place", `<testsuite name="s" tests="5" skipped="0" time="1"><testcase name="a" classname="s" file="a.py" line="3"/></testsuite>`, "lists 1 of 5"},
		{"in a nested suite", `<testsuites><testsuite name="s"><testsuite name="n" tests="2"><testcase name="a"/></testsuite></testsuite></testsuites>`, "lists 1 of 2"},
		{"a whole suite is missing", `<testsuites tests="5"><testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>`, "lists 2 of 5"},
		{"in two suites", `<testsuites><testsuite name="s" tests="2"><testcase name="a"/></testsuite><testsuite name="n" tests="4"><testcase name="a"/></testsuite></testsuites>`, "lists 1 of 2 declared tests; 2 suites lack 4 tests in all"},
		{"said once of the innermost", `<testsuites tests="4"><testsuite name="s" tests="4"><testsuite name="n" tests="4"><testcase name="a"/></testsuite></testsuite></testsuites>`, "lists 1 of 4 declared tests"},
		{"more than was skipped", `<testsuite name="s" tests="5" skipped="2"><testcase name="a"/></testsuite>`, "lists 1 of 5"},
		{"the skipped ones are listed", `<testsuite name="s" tests="3" skipped="1"><testcase name="a"/><testcase name="b"><skipped/></testcase></testsuite>`, "lists 2 of 3"},
		{"more than was run again", `<testsuite name="s" tests="4"><testcase name="a"><flakyFailure/></testcase></testsuite>`, "lists 1 of 4"},
		{"pytest, and nothing at all", `<testsuites><testsuite name="pytest" tests="5"/><testsuite name="s"><testcase name="a"/></testsuite></testsuites>`, "declares 5 tests and holds none"},

		{"Surefire counts attempts", `<testsuite name="s" tests="4"><testcase name="a"><flakyFailure/><flakyError/></testcase><testcase name="b"/></testsuite>`, ""},
		{"PHPUnit counts the tests of a skipped class", `<testsuites><testsuite name="p" tests="3" skipped="2"><testsuite name="A" tests="2" skipped="2"/><testsuite name="B" tests="1" skipped="0"><testcase name="b" class="B"/></testsuite></testsuite></testsuites>`, ""},
		{"GoogleTest counts disabled tests", `<testsuites tests="3" disabled="1"><testsuite name="S" tests="3" disabled="1"><testcase name="a" status="run"/><testcase name="b" status="run"/></testsuite></testsuites>`, ""},
		{"Catch2 counts assertions", `<testsuites><testsuite name="a.out" errors="0" failures="0" tests="26" hostname="tbd" time="0.1"><testcase classname="a.out.global" name="x" status="run"/></testsuite></testsuites>`, ""},
		{"doctest counts assertions", `<testsuites><testsuite name="all_tests" errors="0" failures="0" tests="9"><testcase classname="/src/a_test.cpp" name="x" time="0.000001" status="run"/></testsuite></testsuites>`, ""},
		{"Behat counts steps", `<testsuite classname="behat.features" errors="0" failures="0" name="User sessions" tests="12" time="66.8"><testcase classname="User sessions" name="Login"/><testcase classname="User sessions" name="Logout"/></testsuite>`, ""},
		{"pytest counts subtests", `<testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="5"><testcase classname="a" name="test_a"/></testsuite></testsuites>`, ""},
		{"pytest counts subtests, in a suite of another name", `<testsuites name="pytest tests"><testsuite name="mine" tests="5"><testcase classname="a" name="test_a"/></testsuite></testsuites>`, ""},
		{"mocha-junit-reporter and --grep", `<testsuites name="Mocha Tests" tests="1"><testsuite name="Root Suite" tests="0"/><testsuite name="cart" tests="4"><testcase name="cart adds" classname="adds"/></testsuite></testsuites>`, ""},
		{"a total that counts nested suites again", `<testsuites tests="4"><testsuite name="s" tests="2"><testsuite name="n" tests="2"><testcase name="a"/><testcase name="b"/></testsuite></testsuite></testsuites>`, ""},
		{"fewer declared than listed", `<testsuites tests="1"><testsuite name="s" tests="1"><testcase name="a"/><testcase name="b"/></testsuite></testsuites>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseString(t, tt.in, model.Options{})
			switch {
			case tt.problem == "" && !r.Green():
				t.Errorf("not green: %+v", r.Problems)
			case tt.problem == "":
			case r.Green():
				t.Errorf("green: %+v", r.Counts)
			case len(r.Problems) != 1 || r.Problems[0].Kind != model.KindTruncated || !strings.Contains(r.Problems[0].Message, tt.problem):
				t.Errorf("problems %+v, want %q", r.Problems, tt.problem)
			}
		})
	}
}

// A runner that stops at a failure leaves out the rest: the failure says why
// the run is red, and that tests are missing is a note.
func TestJUnitMissingTestsBesideAFailure(t *testing.T) {
	t.Parallel()
	r := parseString(t, `<testsuites><testsuite name="s" tests="5"><testcase name="a"><failure message="m"/></testcase></testsuite></testsuites>`, model.Options{})
	if r.Counts.Failed != 1 || len(r.Problems) != 0 {
		t.Errorf("%+v, problems %+v", r.Counts, r.Problems)
	}
	if !slices.ContainsFunc(r.Cut, func(c string) bool { return strings.Contains(c, "lists 1 of 5 declared tests") }) {
		t.Errorf("no note: %q", r.Cut)
	}
}
