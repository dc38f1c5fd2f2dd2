package diagnosis

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/diagnosis/rank"
	"github.com/switchback-ci/switchback/routing/testreport"
)

var update = flag.Bool("update", false, "write testdata/candidates.txt")

// namesOf returns the names of the features that v has, without that of rules, which is a number.
func namesOf(v rank.Vector) string {
	var out []string
	for f := rank.Rule + 1; f < rank.Features; f++ {
		if v[f] != 0 {
			out = append(out, f.String())
		}
	}
	return strings.Join(out, " ")
}

// filler is output that says nothing.
func filler(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "step %d of the work is as usual\n", i)
	}
	return b.String()
}

const failedJob = "a failed job: "

// candidateLogs are logs whose lines have every feature of place and structure. The last lines of
// programs that failed are badEnds.
func candidateLogs() map[string]string {
	const stop = "##[error]Process completed with exit code 1.\n"
	step := func(command, output string) string {
		return "##[group]Run " + command + "\n\x1b[36;1m" + command + "\x1b[0m\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n" + output
	}
	return map[string]string{
		"a trace of Java":            "starting\njava.lang.IllegalStateException: boom\n\tat com.x.Main.main(Main.java:3)\n\n\tat com.x.Other.run(Other.java:4)\nCaused by: java.io.IOException: disk\n\tat com.x.Disk.read(Disk.java:9)\nError: it ended\n",
		"a trace of Python":          "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\n  File \"a.py\", line 9, in main\n\nValueError: boom\nError: it ended\n",
		"a trace of Ruby":            "a.rb:3:in `x': boom (RuntimeError)\n    from a.rb:5:in `<main>'\n    b.rb:6:in 'y'\nError: it ended\n",
		"a trace of PHP":             "Error: boom\n\n#0 /w/a.php(3): x()\n#1 {main}\n#2\nError: it ended\n",
		"a trace far from its head":  "Error: boom\n\n\n\tat com.x.Main.main(Main.java:3)\nError: it ended\n",
		"a trace of Go":              "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:4 +0x1d\nexit status 2\n",
		"a banner":                   "========= FAILURES =========\n---\nthe first thing is wrong\nthe second is as well\nthe third comes too late\n",
		"a heading":                  "The following errors occurred:\n  * value is off\n  * size is off\n  * name is off\n0 errors:\nError: it ended\n",
		"heads of tests":             "value is off\n--- FAIL: TestA\n    size is off\n    --- FAIL: TestB\nFAIL: x\n\nnot ok 3 - name\nplain words\nFAILED tests/a.py::b\n[  FAILED  ] C.d\n",
		"a table":                    "| Lint      | PASS |\n| Unit      | FAIL |\n| Docs      | PASS |\n| Docs | x  | PASS |\n\n| Unit      | FAIL |\n| Style     | ok   |\n",
		"a table without a good row": "| Kind | State |\n| Unit | FAIL |\n| Docs | other |\n| Style | PASS |\n",
		"a table of dots":            "lint ........ ok\nunit ........ FAILED\ndocs ........ ok\n",
		"many of one form":           strings.Repeat("Error: code 17 of disk\n", 9) + "Error: another thing\n" + strings.Repeat("fatal: 3 of them\n", 8),
		"a long log":                 "Error: at the very start\n" + filler(12) + "Error: early\n" + filler(300) + "Error: in the middle\n" + filler(60) + "Error: a good deal before\n" + filler(40) + "Error: before\n" + filler(15) + "Error: shortly before\n" + filler(3) + "Error: at the end\n\n",
		"a long step":                step("make", "Error: first\n"+filler(420)+"Error: far\n"+filler(310)+"Error: near 400\n"+filler(70)+"Error: near 100\n"+filler(12)+"Error: near 20\n"+filler(4)+"Error: near 3\nthe last words\n"+stop) + "Error: behind\n",
		"two steps":                  step("npm run lint", "Error: of lint\n") + step("npm test", "Error: of the test\n\nlast words\n"+stop) + step("cat log", "Error: of the log\n") + "Post job cleanup.\nError: of the cleanup\n##[error]Process completed with exit code 2.\n",
		"steps that went on":         step("npm run lint", "== problems of lint ==\nwhat it says\nError: of lint\n") + step("cat log", "nothing\n") + step("npm test", "Error: of the test\n"+stop),
		"words at the end":           step("npm test", "Tests run: 3\nTest run aborted\n      it\n  Exit: 3\nrun aborted by us\n") + "x\n",
		"tests that failed":          step("go test ./...", "=== RUN   TestA\n    a_test.go:3: 1 != 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n"+stop) + "--- FAIL: TestB (0.00s)\n    b_test.go:3: Error: 1 != 2\nFAIL\nFAIL\texample.com/b\t0.01s\n",
		"findings of compilers":      step("npm run build", "src/a.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.\n"+stop) + "src/b.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n",
		"two stops of one step":      step("npm test", "Error: of the test\n"+stop+"more\n"+stop),
		"headers of steps":           "##[group]Run actions/a@v1\nwith:\n  x: Error: input\n##[endgroup]\nError: of the action\n##[group]Run actions/b@v1\nenv:\n  X: Error: environment\n##[endgroup]\nError: of another\n##[group]Run of the linter\nError: of the fold\n##[endgroup]\n##[group]Run alone\n##[endgroup]\nError: alone\n##[group]Run broken\nError: held\n##[group]inner\nError: inner\n##[endgroup]\n" + stop + "##[group]Run cut\nError: cut\n",
		"folds":                      "travis_fold:start:Error: x\ntravis_time:start:Error: x\nsection_start:1:Error: x\nsection_end:1:Error: x\nError: it\nsection\n",
		"a full disk and a compiler": step("npm run build", "src/a.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.\ntar: write error: No space left on device\n"+stop),
		"a full disk and a linter":   step("npm run lint", "src/a.py:1:1: F401 'os' imported but unused\ntar: write error: No space left on device\n"+stop),
		"a full disk and a test":     step("go test ./...", "=== RUN   TestA\n    a_test.go:3: 1 != 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\ntar: write error: No space left on device\n"+stop),
		"no rule matches":            step("npm test", "one thing\n\nit went on\nand stopped\n\n"+stop),
		"the last paragraph":         "one thing\n\nfirst of nine\n2\n3\n4\n5\n6\n7\n8\nlast of nine\n",
		"marks of the runner":        step("npm test", "##[error]boom\n##[warning]Error: soft\n##[notice]Error: noted\n##[debug]Error: debugged\n[command]Error: x\nError: plain\n"+stop),
		"wrappers":                   step("npm test", "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nmake: *** [Makefile:3: check] Error 2\nError: Command failed with exit code 1\n"+stop),
		"only words":                 "it failed\nthis is an error of ours\nnothing\n",
	}
}

// TestCandidates compares the lines that may state why a run failed, with the features by which they
// are ranked, with those in testdata/candidates.txt. Run it with -update after a change of the
// rules.
func TestCandidates(t *testing.T) {
	t.Parallel()
	logs := candidateLogs()
	for _, bad := range badEnds {
		logs[failedJob+bad.name] = services[1].before + bad.text + services[1].failed
	}
	for name, text := range recordings(t) {
		logs["recorded: "+name] = text
	}
	failing, err := filepath.Glob("../testreport/testdata/*/failing.txt")
	if err != nil || len(failing) < 20 {
		t.Fatalf("%d recordings of tools: %v", len(failing), err)
	}
	for _, file := range failing {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		logs["recorded: "+filepath.Base(filepath.Dir(file))] = string(text)
	}
	var names []string
	for name := range logs {
		names = append(names, name)
	}
	slices.Sort(names)
	rules := Variant{}.Rules()
	var b strings.Builder
	var baseline Baseline
	for _, l := range []string{"Error: of lint", "last words", "before"} {
		baseline.Line(testreport.Line{Text: l})
	}
	for _, name := range names {
		fmt.Fprintf(&b, "## %s\n", name)
		writeCandidates(t, &b, rules, logs[name], Options{})
	}
	for _, bad := range badEnds {
		fmt.Fprintf(&b, "## behind tests: %s\n", bad.name)
		for _, conclusion := range []string{"", "success", "failure", "cancelled", "timed_out"} {
			d := diagnoseText(t, greens["pytest"]+bad.text, Options{Brief: true, Conclusion: conclusion})
			fmt.Fprintf(&b, "%s: %s %s: %s\n", cmp.Or(conclusion, "no conclusion"), d.Result, cmp.Or(string(d.Class), "-"), d.Reason)
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintln(&b, "## two steps, of which a run that passed has some lines")
	writeCandidates(t, &b, rules, logs["two steps"], Options{Brief: true, Baseline: &baseline})
	const file = "testdata/candidates.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(b.String(), "\n")
	for i, w := range strings.Split(string(want), "\n") {
		if i >= len(got) || got[i] != w {
			t.Fatalf("line %d of %s:\n got %s\nwant %s", i+1, file, slices.Concat(got, make([]string, i+1))[i], w)
		}
	}
}

// writeCandidates diagnoses a log, and writes its class and reason, its candidates in the order of
// their lines, the numbers of its error lines, best first, and its failures.
func writeCandidates(t *testing.T, b *strings.Builder, rules *Rules, log string, opt Options) {
	t.Helper()
	var all []Candidate
	rules.variant.Ranked = func(c []Candidate) { all = slices.Clone(c) }
	col := NewCollector(rules)
	rep := parse(t, strings.NewReader(log), col)
	d := Diagnose(rep, col, opt)
	fmt.Fprintf(b, "%s %s: %s\n", d.Result, cmp.Or(string(d.Class), "-"), d.Reason)
	slices.SortFunc(all, func(x, y Candidate) int { return cmp.Compare(x.Line.Line, y.Line.Line) })
	for _, c := range all {
		fmt.Fprintf(b, "%4d %4.0f %s\n", c.Line.Line, c.Features[rank.Rule]*100, namesOf(c.Features))
	}
	b.WriteString("error lines:")
	for _, l := range d.ErrorLines {
		fmt.Fprintf(b, " %d", l.Line)
	}
	b.WriteString("\n")
	for _, f := range d.Failures {
		fmt.Fprintf(b, "%s %q of %q: %s at %q, line %d, %s\n", cmp.Or(f.Kind, "-"), f.Name, f.Suite, f.Class, f.File, f.Line, f.Fingerprint)
		fmt.Fprintf(b, "  message %q\n  trace %q\n  suggestion %q\n", f.Message, f.Trace, f.Suggestion)
	}
	b.WriteString("\n")
}

func TestTextFeatures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "short"},
		{"  ", "indented short"},
		{"12345678901234", "short decoration leads_number"},
		{"123456789012345", "decoration leads_number"},
		{"  indented text of a line", "indented"},
		{"\ttab indented text", "indented"},
		{"plain words of some line", ""},
		{strings.Repeat("word ", 60), ""},
		{strings.Repeat("word ", 61) + "x", "long"},
		{strings.Repeat("x ", 200) + "error:", "long"},
		{"error in a line of text", "leads_error holds_error"},
		{"[ERROR] in a line of text", "leads_error"},
		{"*** fatal in a line", "banner leads_error"},
		{"> FAILED in a line of text", "leads_error"},
		{"an error: in the text", "holds_error"},
		{"some failed: in the text", "holds_error"},
		{"some error in the text", "holds_error"},
		{"terror in the text is this", "holds_error"},
		{"got a ValueError in it", "holds_error exception"},
		{"a java.io.IOException.", "exception"},
		{"ErrorHandler has begun", "leads_error"},
		{"MyErrors are not ones", ""},
		{"Error alone is no type", "leads_error holds_error"},
		{"xFailure: of something", "exception"},
		{"anErrorx or aError", "exception"},
		{"see a.go:12 for more of it", "place"},
		{"see a.go:x for more of it", ""},
		{"a.b (12) of it is here", ""},
		{"dir/file.ts(3,5): of it", "place"},
		{"no dot:12 in this line", ""},
		{"dot. here:12 in this line", ""},
		{"x.y :12 in this line", ""},
		{".a:1 in the very beginning", "place"},
		{"a 'quoted' text is here", "quoted"},
		{"don't say this in text", ""},
		{"a \"quoted\" text is here", "quoted"},
		{"a `quoted` text is here", "quoted"},
		{"it cannot be done by us", "denial"},
		{"expected one and got two", "difference"},
		{"3 failed of the tests", "count leads_number"},
		{"a failed of the tests", ""},
		{"x3failed of the tests", ""},
		{"errors: 2 of the tests", "leads_error count"},
		{"errors = 2 of the tests", "leads_error"},
		{"errors: none of the tests", "leads_error"},
		{"errors 2 of the tests", "leads_error"},
		{"error:2", "leads_error holds_error short"},
		{"fail: ", "banner leads_error ends_colon short"},
		{"failures: 7 of tests", "leads_error count"},
		{"1 error of tests", "holds_error count leads_number"},
		{"the failures are these:", "banner ends_colon"},
		{"these are fine things:", "ends_colon"},
		{"=== FAILURES of it ===", "banner"},
		{"--- 0 failures of it ---", "count"},
		{"--- no error of it ---", "holds_error"},
		{"-- problems of this --", "banner"},
		{"=- wrong with this =-", ""},
		{"err", "short"},
		{"-ab-", "short"},
		{"fai:", "ends_colon short"},
		{"fail:", "banner leads_error ends_colon short"},
		{strings.Repeat("-", 70) + "failure---", "banner leads_error decoration"},
		{strings.Repeat("-", 71) + "failure---", "leads_error decoration"},
		{"warning: of something", "soft"},
		{"we are skipping of it", "soft"},
		{"9 lives has this cat", "leads_number"},
		{"-------- a ---------", "decoration"},
		{"::::::::::::::::::::::::abc", "decoration"},
		{"ab 12345", "short decoration"},
		{"abc 1234", "short decoration"},
	} {
		var v rank.Vector
		textFeatures(&v, c.text)
		if got := namesOf(v); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestFrame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text          string
		at0, indented bool // whether it is a frame
	}{
		{"at com.x.A(A.java:3)", true, true},
		{"at last", false, false},
		{"at :x", true, true},
		{`File "a.py", line 3`, true, true},
		{`File "a.py"`, false, false},
		{"from a.rb:5:in `x'", true, true},
		{"from nowhere", false, false},
		{"#0 x(", true, true},
		{"#1 x", false, false},
		{"#a (", false, false},
		{"#0:", false, false},
		{"#12:", true, true},
		{"  :in `x'", false, true},
	} {
		if at0, indented := isFrame(c.text, 0), isFrame(c.text, 1); at0 != c.at0 || indented != c.indented {
			t.Errorf("%q is a frame: %v, indented %v", c.text, at0, indented)
		}
	}
}

// TestShapesAreBounded: of a log of any length the shapes of the newest lines are known.
func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	var s shapes
	for no := range 5*maxShapes + 17 {
		l := testreport.Line{No: no + 1, Text: "    at a.b(c.js:1)"}
		s.line(l)
		s.seen(l)
		if len(s.of) > maxShapes {
			t.Fatalf("%d shapes are kept", len(s.of))
		}
		for n := max(1, no+3-maxShapes/2); n <= no+1; n += 97 {
			if s.of[n]&traceFrame == 0 {
				t.Fatalf("at line %d the shape of line %d is lost", no+1, n)
			}
		}
	}
	s = shapes{}
	for no := range 2 * maxShapes { // two lines with one number, as of several logs
		s.set(maxShapes+no%maxShapes, traceEnd)
		s.set(no, traceHead)
	}
	if len(s.of) > maxShapes {
		t.Errorf("%d shapes of two logs are kept", len(s.of))
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	for d, want := range map[int]int{-1: 0, 0: 6, 20: 6, 21: 4, 80: 4, 81: 2, 400: 2, 401: 0} {
		if got := near(d); got != want {
			t.Errorf("%d lines before the stop: %d, want %d", d, got, want)
		}
	}
}
