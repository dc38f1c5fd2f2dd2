package analysis

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

const (
	greenXML = `<testsuite name="s" tests="2"><testcase classname="tests.test_cart" name="test_a"/><testcase classname="tests.test_cart" name="test_b"/></testsuite>`
	redXML   = `<testsuite name="s" tests="2"><testcase classname="tests.test_cart" name="test_a"/><testcase classname="tests.test_cart" name="test_b"><failure message="AssertionError: assert 1 == 2">def test_b():
&gt;       assert 1 == 2
E       assert 1 == 2

tests/test_cart.py:7: AssertionError</failure></testcase></testsuite>`
	greenGo = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
	redGo   = "=== RUN   TestA\n    a_test.go:5: got 1, want 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n"
)

func text(name, s string) Source {
	return Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
}

func run(t *testing.T, in Input) Output {
	t.Helper()
	out, err := Analyze(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// failing is a reader that breaks.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func utf16le(s string, bom bool) string {
	var b strings.Builder
	if bom {
		b.WriteString("\xff\xfe")
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b.WriteByte(byte(u))
		b.WriteByte(byte(u >> 8))
	}
	return b.String()
}

// What may be read later is no finding: the analysis ends, and whoever asked for it tries again.
func TestWhatMayBeReadLaterIsNoFinding(t *testing.T) {
	t.Parallel()
	later := advice.New("the database starts", advice.Advice{Kind: advice.Later})
	gone := advice.New("the log is gone", advice.Advice{Kind: advice.Gone})
	opens := func(err error) Source {
		return Source{Name: "log", Open: func() (io.ReadCloser, error) { return nil, fmt.Errorf("read: %w", err) }}
	}
	breaks := func(after string, err error) Source {
		return Source{Name: "log", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(strings.NewReader(after), failing{fmt.Errorf("read: %w", err)})), nil
		}}
	}
	long := strings.Repeat("ok\n", 1<<20)
	for _, c := range []struct {
		name  string
		of    Source
		later bool
	}{
		{"cannot be opened", opens(later), true},
		{"breaks at once", breaks("", later), true},
		{"breaks in the middle", breaks(greenXML[:80], later), true},
		{"breaks late", breaks(long, later), true},
		{"breaks behind a report", breaks(greenXML, later), true},
		{"gone", opens(gone), false},
		{"gone in the middle", breaks(greenXML[:80], gone), false},
	} {
		for _, sources := range [][]Source{{c.of}, {text("a.xml", greenXML), c.of}, {c.of, text("a.xml", greenXML)}} {
			out, err := Analyze(Input{Sources: sources, Conclusion: "success"})
			if got := errors.Is(err, later); got != c.later || !c.later && err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if out.Verdict.Result == routing.Pass {
				t.Errorf("%s: passed", c.name)
			}
		}
	}
}

// What cannot be read, or says nothing, is never a pass, whatever the run's
// conclusion says, and the reason names it.
func TestWhatSaysNothingIsNoPass(t *testing.T) {
	t.Parallel()
	broken := Source{Name: "r.xml", Open: func() (io.ReadCloser, error) { return nil, errors.New("permission denied") }}
	breaks := Source{Name: "r.xml", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(greenXML[:80]), failing{errors.New("connection lost")})), nil
	}}
	atOnce := Source{Name: "r.xml", Open: func() (io.ReadCloser, error) { return io.NopCloser(failing{errors.New("is a directory")}), nil }}
	for _, c := range []struct {
		name    string
		sources []Source
		reason  string // in the reason or the notes
	}{
		{"no report at all", nil, "no test report was found (looked for reports/**/*.xml)"},
		{"a report that cannot be opened", []Source{broken}, "no report could be read: r.xml could not be opened: permission denied"},
		{"one of two cannot be opened", []Source{text("a.xml", greenXML), broken}, "r.xml could not be opened: permission denied"},
		{"a reader that breaks in the middle", []Source{breaks}, ""},
		{"a reader that breaks at once", []Source{atOnce}, "is a directory"},
		{"an empty file", []Source{text("r.xml", "")}, "r.xml is empty"},
		{"white space", []Source{text("r.xml", " \n\t\r\n")}, "r.xml is empty"},
		{"one of two is empty", []Source{text("a.xml", greenXML), text("r.xml", "")}, "r.xml is empty"},
		{"a byte order mark alone", []Source{text("r.xml", "\xef\xbb\xbf")}, "r.xml is empty"},
		{"NUL bytes alone", []Source{text("r.xml", strings.Repeat("\x00", 5000))}, ""},
		{"zero tests", []Source{text("r.xml", `<testsuites tests="0"></testsuites>`)}, ""},
		{"zero tests in a suite", []Source{text("r.xml", `<testsuite name="s" tests="0"/>`)}, ""},
		{"only skipped tests", []Source{text("r.xml", `<testsuite name="s"><testcase name="a"><skipped/></testcase></testsuite>`)}, ""},
		{"truncated XML", []Source{text("r.xml", greenXML[:len(greenXML)-30])}, ""},
		{"XML cut in a tag", []Source{text("r.xml", greenXML[:70])}, ""},
		{"no report but prose", []Source{text("r.txt", "everything is fine\nall tests passed, honest\n")}, "holds no test output of a known format"},
		{"binary", []Source{text("r.bin", "\x7fELF\x02\x01\x01\x00\xff\xfe\xfd\x00\x01\x02passed 5\n\xc3\x28")}, ""},
		{"JSON of something else", []Source{text("r.json", `{"passed": true, "tests": 12}`)}, ""},
		{"an XML of something else", []Source{text("r.xml", `<?xml version="1.0"?><project><passed>12</passed></project>`)}, ""},
		{"gotest -json without end", []Source{text("r.json", `{"Action":"run","Package":"p","Test":"TestA"}`+"\n")}, ""},
		{"UTF-16 of an empty suite", []Source{text("r.xml", utf16le(`<testsuite name="s" tests="0"/>`, true))}, ""},
	} {
		for _, conclusion := range []string{"", "success", "failure"} {
			t.Run(c.name+"/"+conclusion, func(t *testing.T) {
				t.Parallel()
				v := run(t, Input{Sources: c.sources, Looked: []string{"reports/**/*.xml"}, Conclusion: conclusion}).Verdict
				if v.Result == routing.Pass {
					t.Fatalf("passed: %s", v.Reason)
				}
				if v.Result != routing.Unclear && v.Result != routing.Fail {
					t.Errorf("result is %s", v.Result)
				}
				if v.Reason == "" {
					t.Error("no reason is given")
				}
				if all := v.Reason + "\n" + strings.Join(v.Notes, "\n"); !strings.Contains(all, c.reason) {
					t.Errorf("neither reason nor notes say %q:\n%s", c.reason, all)
				}
			})
		}
	}
}

// The same report in other encodings says the same.
func TestEncodings(t *testing.T) {
	t.Parallel()
	for name, enc := range map[string]func(string) string{
		"UTF-8":                func(s string) string { return s },
		"byte order mark":      func(s string) string { return "\xef\xbb\xbf" + s },
		"UTF-16 with mark":     func(s string) string { return utf16le(s, true) },
		"UTF-16 without mark":  func(s string) string { return utf16le(s, false) },
		"NUL bytes in between": func(s string) string { return strings.ReplaceAll(s, "><", ">\x00\x00<") },
		"CRLF":                 func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"invalid UTF-8":        func(s string) string { return strings.Replace(s, "AssertionError:", "Assertion\xff\xfeError:", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			green := run(t, Input{Sources: []Source{text("r.xml", enc(greenXML))}}).Verdict
			if green.Result != routing.Pass || green.Counts.Passed != 2 {
				t.Errorf("green: %s (%s), %+v", green.Result, green.Reason, green.Counts)
			}
			red := run(t, Input{Sources: []Source{text("r.xml", enc(redXML))}}).Verdict
			if red.Result != routing.Fail || red.Counts.Failed != 1 || len(red.Failures) != 1 || red.Failures[0].Name != "test_b" {
				t.Errorf("red: %s (%s), %+v", red.Result, red.Reason, red.Counts)
			}
		})
	}
}

// Every conclusion that GitHub knows, with a green and with a red report: only
// success, or no conclusion, lets a green report be a pass.
func TestConclusions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		conclusion string
		green, red routing.Result
	}{
		{"", routing.Pass, routing.Fail},
		{"success", routing.Pass, routing.Fail},
		{"failure", routing.Unclear, routing.Fail},
		{"cancelled", routing.Unclear, routing.Fail},
		{"timed_out", routing.TimedOut, routing.TimedOut},
		{"skipped", routing.Unclear, routing.Fail},
		{"neutral", routing.Unclear, routing.Fail},
		{"action_required", routing.Unclear, routing.Fail},
		{"startup_failure", routing.Unclear, routing.Fail},
		{"stale", routing.Unclear, routing.Fail},
		{"something GitHub adds one day", routing.Unclear, routing.Fail},
	} {
		for kind, docs := range map[string][2]string{"document": {greenXML, redXML}, "console": {greenGo, redGo}} {
			for i, want := range []routing.Result{c.green, c.red} {
				v := run(t, Input{Sources: []Source{text("r", docs[i])}, Conclusion: c.conclusion}).Verdict
				if v.Result != want {
					t.Errorf("conclusion %q, %s %d: %s (%s), want %s", c.conclusion, kind, i, v.Result, v.Reason, want)
				}
			}
		}
		v := run(t, Input{Conclusion: c.conclusion}).Verdict
		if v.Result == routing.Pass {
			t.Errorf("conclusion %q and no report: passed", c.conclusion)
		}
		if c.conclusion != "" && c.conclusion != "success" && c.conclusion != "failure" && !strings.Contains(v.Reason, c.conclusion) {
			t.Errorf("conclusion %q and no report: the reason does not say it: %s", c.conclusion, v.Reason)
		}
	}
}

func TestReportOptional(t *testing.T) {
	t.Parallel()
	no := false
	crit := config.Criteria{RequireReport: &no}
	for _, c := range []struct {
		name       string
		sources    []Source
		conclusion string
		pass       bool
	}{
		{"nothing", nil, "success", true},
		{"a log without tests", []Source{text("log", "eslint: no problems\n")}, "success", true},
		{"the run failed", nil, "failure", false},
		{"no conclusion", nil, "", false},
		{"cancelled", nil, "cancelled", false},
		{"a report that cannot be read", []Source{text("r.xml", "")}, "success", false},
		{"a report of zero tests", []Source{text("r.xml", `<testsuite name="s" tests="0"/>`)}, "success", false},
		{"a red report", []Source{text("r.xml", redXML)}, "success", false},
	} {
		v := run(t, Input{Sources: c.sources, Conclusion: c.conclusion, Criteria: crit}).Verdict
		if got := v.Result == routing.Pass; got != c.pass {
			t.Errorf("%s: %s (%s)", c.name, v.Result, v.Reason)
		}
	}
}

func TestCriteria(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	xml := `<testsuite name="s"><testcase name="a"/><testcase name="b"/><testcase name="c"><skipped/></testcase></testsuite>`
	for _, c := range []struct {
		name string
		crit config.Criteria
		want string
	}{
		{"S0-3 every criterion met passes", config.Criteria{MinTests: n(3), MaxSkipped: n(1), MaxFlaky: n(0)}, ""},
		{"S0-4 too few tests", config.Criteria{MinTests: n(4)}, "3 tests ran, at least 4 are wanted (min_tests)"},
		{"S0-4 too many skipped", config.Criteria{MaxSkipped: n(0)}, "1 tests were skipped, at most 0 may be (max_skipped)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := run(t, Input{Sources: []Source{text("r.xml", xml)}, Criteria: c.crit}).Verdict
			v.Checkpoint, v.Run = "ci", routing.Run{ID: "1"}
			d := routing.Decide(routing.Case{Key: "a/b#1"}, v, routing.DefaultPolicy(), v.At)
			if got := strings.Join(v.Unmet, ";"); got != c.want {
				t.Errorf("unmet %q, want %q", got, c.want)
			}
			if want := map[bool]routing.Kind{true: routing.KindPass, false: routing.KindUnclear}[c.want == ""]; d.Kind != want {
				t.Errorf("decided %s, want %s", d.Kind, want)
			}
		})
	}
}

// tests records what the CTRF writer would get.
type tests struct {
	of   [][]string
	left map[int]bool
}

func (ts *tests) Source()                { ts.of = append(ts.of, nil) }
func (ts *tests) Add(t *testreport.Test) { ts.of[len(ts.of)-1] = append(ts.of[len(ts.of)-1], t.Name) }
func (ts *tests) Leave(n int)            { ts.left[n] = true }
func newTests() *tests                   { return &tests{left: map[int]bool{}} }

func console(failures ...string) string {
	s := "============================= test session starts ==============================\ncollected 9 items\n\n"
	if len(failures) == 0 {
		return s + "tests/test_cart.py .........                                       [100%]\n\n============================== 9 passed in 0.12s ===============================\n"
	}
	s += "tests/test_cart.py .F                                       [100%]\n\n=================================== FAILURES ===================================\n"
	var short string
	for _, f := range failures {
		file, name, _ := strings.Cut(f, "::")
		s += fmt.Sprintf("_____________________________ %s ______________________________\n\n    def %s():\n>       assert 1 == 2\nE       assert 1 == 2\n\n%s:7: AssertionError\n", name, name, file)
		short += "FAILED " + f + " - assert 1 == 2\n"
	}
	return s + "=========================== short test summary info ============================\n" + short +
		fmt.Sprintf("========================= %d failed, 8 passed in 0.12s =========================\n", len(failures))
}

// A report and the console of the same run: counted once, and nothing that
// only the console knows is lost.
func TestReportBesideConsole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		sources []Source
		result  routing.Result
		counts  routing.Counts
		names   string
		left    []int
	}{
		{"the same green tests", []Source{text("r.xml", greenXML), text("log", console())}, routing.Pass, routing.Counts{Tests: 2, Passed: 2}, "", []int{1}},
		{"console first", []Source{text("log", console()), text("r.xml", greenXML)}, routing.Pass, routing.Counts{Tests: 2, Passed: 2}, "", []int{0}},
		{"the same failure", []Source{text("r.xml", redXML), text("log", console("tests/test_cart.py::test_b"))}, routing.Fail, routing.Counts{Tests: 2, Passed: 1, Failed: 1}, "test_b", []int{1}},
		{"a further failure in the console", []Source{text("r.xml", redXML), text("log", console("tests/test_cart.py::test_b", "tests/test_tax.py::test_zero"))}, routing.Fail, routing.Counts{Tests: 3, Passed: 1, Failed: 2}, "test_b test_zero", []int{1}},
		{"a namesake in another file", []Source{text("r.xml", redXML), text("log", console("tests/test_cart.py::test_b", "tests/test_tax.py::test_b"))}, routing.Fail, routing.Counts{Tests: 3, Passed: 1, Failed: 2}, "test_b test_b", []int{1}},
		{"the report is green, the console is not", []Source{text("r.xml", greenXML), text("log", console("tests/test_tax.py::test_zero"))}, routing.Fail, routing.Counts{Tests: 3, Passed: 2, Failed: 1}, "test_zero", []int{1}},
		{"two consoles add up", []Source{text("a", greenGo), text("b", redGo)}, routing.Fail, routing.Counts{Tests: 2, Passed: 1, Failed: 1}, "TestA", nil},
		{"two reports add up", []Source{text("a.xml", greenXML), text("b.xml", redXML)}, routing.Fail, routing.Counts{Tests: 4, Passed: 3, Failed: 1}, "test_b", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			ts := newTests()
			v := run(t, Input{Sources: c.sources, Tests: ts}).Verdict
			if v.Result != c.result || v.Counts != c.counts {
				t.Errorf("got %s %+v, want %s %+v (%s)", v.Result, v.Counts, c.result, c.counts, v.Reason)
			}
			var names []string
			for _, f := range v.Failures {
				names = append(names, f.Name)
			}
			if got := strings.Join(names, " "); got != c.names {
				t.Errorf("failures %q, want %q", got, c.names)
			}
			if len(ts.of) != len(c.sources) || len(ts.left) != len(c.left) {
				t.Errorf("sources %v, left %v, want %v", ts.of, ts.left, c.left)
			}
			for _, n := range c.left {
				if !ts.left[n] {
					t.Errorf("source %d is not left out", n)
				}
			}
		})
	}
}

func TestFlakyInReportIsNoFailureInConsole(t *testing.T) {
	t.Parallel()
	xml := `<testsuite name="s"><testcase classname="tests.test_cart" name="test_b"><flakyFailure message="once">x</flakyFailure></testcase></testsuite>`
	v := run(t, Input{Sources: []Source{text("r.xml", xml), text("log", console("tests/test_cart.py::test_b"))}, Conclusion: "success"}).Verdict
	if v.Counts.Failed != 0 || v.Counts.Flaky != 1 || len(v.Failures) != 0 {
		t.Errorf("%s %+v %v", v.Result, v.Counts, v.Failures)
	}
}

func TestExcerptsOfTheDecisiveFirst(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`<testsuite name="s"><testcase classname="a" name="net" file="net.py" line="2"><error message="dial tcp 10.0.0.1:5432: connect: connection refused"/></testcase>`)
	for i := range 30 {
		fmt.Fprintf(&b, `<testcase classname="a" name="t%d" file="a.py" line="2"><failure message="assert %d == 0"/></testcase>`, i, i+1)
	}
	b.WriteString(`</testsuite>`)
	var asked []string
	v := run(t, Input{Sources: []Source{text("r.xml", b.String())}, ReadFile: func(p string) ([]byte, error) {
		asked = append(asked, p)
		return []byte("one\ntwo\nthree\n"), nil
	}}).Verdict
	if !v.Failures[0].Decisive || v.Failures[0].Name != "t0" || v.Failures[0].Excerpt == nil {
		t.Errorf("the decisive failure is not first with its excerpt: %+v", v.Failures[0])
	}
	if len(asked) != 20 {
		t.Errorf("%d files were read for excerpts, want 20", len(asked))
	}
}

func TestExcerptsStayInTheRepository(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"/etc/passwd", "../../secret", "a/../../b"} {
		xml := fmt.Sprintf(`<testsuite name="s"><testcase name="a" file="%s" line="1"><failure message="no"/></testcase></testsuite>`, file)
		run(t, Input{Sources: []Source{text("r.xml", xml)}, ReadFile: func(p string) ([]byte, error) {
			t.Errorf("asked for %s", p)
			return nil, nil
		}})
	}
}

func TestUnreadableSourceIsNamed(t *testing.T) {
	t.Parallel()
	dir := Source{Name: "reports", Open: func() (io.ReadCloser, error) { return os.Open(t.TempDir()) }}
	v := run(t, Input{Sources: []Source{dir}, Conclusion: "success"}).Verdict
	if v.Result != routing.Unclear || !strings.Contains(v.Reason, "no report could be read: reports could not be read") {
		t.Errorf("%s: %s", v.Result, v.Reason)
	}
}

func TestUnknownFormatIsAMistake(t *testing.T) {
	t.Parallel()
	_, err := Analyze(Input{Sources: []Source{text("r", greenXML)}, Format: "cobol"})
	if err == nil || !strings.Contains(err.Error(), `"cobol"`) {
		t.Errorf("got %v", err)
	}
}

// A test that failed only because a subtest did is not to be fixed besides.
func TestParentsAreNotCounted(t *testing.T) {
	t.Parallel()
	const console = "=== RUN   TestA\n=== RUN   TestA/x\n    a_test.go:3: got 1, want 2\n=== RUN   TestA/y\n    a_test.go:3: got 2, want 3\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/x (0.00s)\n    --- FAIL: TestA/y (0.00s)\n" +
		"=== RUN   TestB\n--- PASS: TestB (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\nFAIL\n"
	out, err := Analyze(Input{Sources: []Source{text("log", console)}})
	if err != nil {
		t.Fatal(err)
	}
	if v := out.Verdict; v.Counts != (routing.Counts{Tests: 4, Passed: 1, Failed: 2, Parents: 1}) || len(v.Failures) != 2 {
		t.Errorf("%+v, %d failures", v.Counts, len(v.Failures))
	}
}
