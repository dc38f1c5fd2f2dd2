package diagnosis

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestResult(t *testing.T) {
	failing := []testreport.Test{{Name: "t", Kind: testreport.KindAssertion, Message: "assert 1 == 2"}}
	one := 1
	for _, c := range []struct {
		name  string
		rep   testreport.Report
		opt   Options
		want  routing.Result
		class routing.Class
	}{
		{"green", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{}, routing.Pass, ""},
		{"green and success", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "success"}, routing.Pass, ""},
		{"green but failure", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "failure"}, routing.Unclear, routing.Unknown},
		{"green but exit 1", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{ExitCode: &one}, routing.Unclear, routing.Unknown},
		{"nothing", testreport.Report{}, Options{Conclusion: "success"}, routing.Unclear, routing.Unknown},
		{"all skipped", testreport.Report{Counts: testreport.Counts{Tests: 2, Skipped: 2}}, Options{}, routing.Unclear, routing.Unknown},
		{"truncated", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}, Problems: []testreport.Problem{{Kind: testreport.KindTruncated}}}, Options{}, routing.Unclear, routing.Unknown},
		{"truncated, one failed", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 1, Failed: 1}, Failing: failing, Problems: []testreport.Problem{{Kind: testreport.KindTruncated}}}, Options{}, routing.Fail, routing.LogicError},
		{"failed and success", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "success"}, routing.Fail, routing.LogicError},
		{"cancelled", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "cancelled"}, routing.Unclear, routing.Unknown},
		{"cancelled, one failed", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "cancelled"}, routing.Fail, routing.LogicError},
		{"timed out", testreport.Report{}, Options{Conclusion: "timed_out"}, routing.TimedOut, routing.Timeout},
		{"timed out, one failed", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "timed_out"}, routing.TimedOut, routing.Timeout},
		{"build problem", testreport.Report{Problems: []testreport.Problem{{Kind: testreport.KindBuild, Name: "pkg", Message: "a.go:3:2: undefined: x"}}}, Options{}, routing.Fail, routing.TypeError},
		{"coverage", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1}, Problems: []testreport.Problem{{Kind: testreport.KindCoverage, Message: "coverage 71 % is below 80 %"}}}, Options{}, routing.Fail, routing.Quality},
		{"lint", testreport.Report{Diagnostics: []testreport.Diagnostic{{Tool: "eslint", File: "a.js", Line: 3, Severity: testreport.SevError, Message: "no-console"}}}, Options{Conclusion: "failure"}, routing.Fail, routing.Quality},
		{"warnings only", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1}, Diagnostics: []testreport.Diagnostic{{Tool: "eslint", Severity: testreport.SevWarning}}}, Options{}, routing.Pass, ""},
		{"counted, not listed", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 1, Failed: 1}}, Options{}, routing.Unclear, routing.Unknown},
		{"passed elsewhere", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{PassedElsewhere: []string{"t"}}, routing.Fail, routing.Flaky},
		{"passed on retry", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1, Flaky: 1}, Flaky: []testreport.Test{{Name: "t"}}}, Options{}, routing.Pass, routing.Flaky},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Diagnose(&c.rep, nil, c.opt)
			checkInvariants(t, d)
			if d.Result != c.want || d.Class != c.class {
				t.Errorf("%s %s (%s), want %s %s", d.Result, d.Class, d.Reason, c.want, c.class)
			}
		})
	}
	for _, concl := range []string{"skipped", "neutral", "startup_failure", "action_required", "stale"} {
		if d := Diagnose(nil, nil, Options{Conclusion: concl}); d.Result != routing.Unclear {
			t.Errorf("%s: %s", concl, d.Result)
		}
	}
}

func TestPrecedence(t *testing.T) {
	rep := &testreport.Report{Counts: testreport.Counts{Tests: 2, Failed: 2}, Failing: []testreport.Test{
		{Name: "a", Kind: testreport.KindAssertion, Message: "assert 1 == 2"},
		{Name: "b", Kind: testreport.KindError, Message: "NotImplementedError"},
	}}
	d := Diagnose(rep, nil, Options{})
	if d.Class != routing.NotImplemented || !d.Failures[1].Decisive || d.Failures[0].Class != routing.LogicError {
		t.Errorf("%s %+v", d.Class, d.Failures)
	}
}

func TestUserRuleDecides(t *testing.T) {
	rules, err := Compile([]UserRule{{Name: "licence server", Pattern: `licence server (\S+) is down`, Class: routing.EnvIssue, Suggestion: "Wake {match}."}})
	if err != nil {
		t.Fatal(err)
	}
	col := NewCollector(rules)
	for i, s := range []string{"--- FAIL: TestX (0.00s)", "licence server lic1 is down"} {
		col.Line(testreport.Line{No: i + 1, Text: s})
	}
	d := Diagnose(nil, col, Options{Conclusion: "failure"})
	if d.Class != routing.EnvIssue || d.Failures[0].Suggestion != "Wake lic1." || d.Evidence[0].Signal != "licence server" || d.Evidence[0].Line != 2 {
		t.Errorf("%+v", d)
	}
}

// TestLintRuns holds what findings of compilers and linters make of a run.
func TestLintRuns(t *testing.T) {
	const (
		soft    = "a.py:1:1: F401 'os' imported but unused\n"
		failing = "##[error]Process completed with exit code 1.\n"
		passing = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
		step    = "##[group]Run go test ./...\nshell: bash\n##[endgroup]\n"
	)
	for _, c := range []struct {
		name, log, conclusion string
		result                routing.Result
		class                 routing.Class
	}{
		{"flake8 fails its step", soft + failing, "failure", routing.Fail, routing.Quality},
		{"flake8 alone", soft, "", routing.Fail, routing.Quality},
		{"flake8 that was only looked at", soft + step + passing, "success", routing.Pass, ""},
		{"the same, conclusion unknown", soft + step + passing, "", routing.Pass, ""},
		{"eslint", "/p/a.js\n  2:10  error  x  y\n\n✖ 1 problem (1 error, 0 warnings)\n\n" + failing, "", routing.Fail, routing.Quality},
		{"tests passed before the linter failed", passing + step + soft + failing, "failure", routing.Fail, routing.Quality},
		{"prettier", "Checking formatting...\n[warn] a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n" + failing, "failure", routing.Fail, routing.Quality},
		{"black", "would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.\n", "", routing.Fail, routing.Quality},
		{"tsc", "src/a.ts(3,5): error TS2322: Type 'a' is not assignable\n" + failing, "failure", routing.Fail, routing.TypeError},
		{"gcc", "a.c:1:2: error: 'x' undeclared\nmake: *** [a.o] Error 1\n" + failing, "", routing.Fail, routing.TypeError},
		{"a compiler error and passing tests", "a.c:1:2: error: 'x' undeclared\n" + passing, "", routing.Fail, routing.TypeError},
		{"a compiler was probed", "a.c:1:2: error: 'x' undeclared\n" + step + passing, "success", routing.Pass, ""},
		{"warnings", "a.c:1:2: warning: unused\n" + passing, "", routing.Pass, ""},
		{"warnings alone", "a.c:1:2: warning: unused\n", "", routing.Unclear, routing.Unknown},
		{"a JDK too old", "[ERROR] COMPILATION ERROR : \n[ERROR] /p/A.java:[3,13] cannot access B\n[ERROR]   bad class file: /m/b.jar(B.class)\n[ERROR]     class file has wrong version 55.0, should be 52.0\n" + failing, "failure", routing.Fail, routing.EnvIssue},
		{"a type that is missing", "[ERROR] COMPILATION ERROR : \n[ERROR] /p/A.java:[3,13] cannot find symbol\n" + failing, "failure", routing.Fail, routing.TypeError},
		{"golangci-lint", "a.go:1:2: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1\n" + failing, "failure", routing.Fail, routing.Quality},
	} {
		d := diagnoseText(t, c.log, Options{Conclusion: c.conclusion})
		if d.Result != c.result || d.Class != c.class {
			t.Errorf("%s: %s %s (%s), want %s %s", c.name, d.Result, d.Class, d.Reason, c.result, c.class)
		}
		checkInvariants(t, d)
	}
}

// TestLastWords: a log whose tests passed and whose last words are a failure is
// no pass, unless the run's conclusion says so.
func TestLastWords(t *testing.T) {
	t.Parallel()
	const green = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
	for _, c := range []struct {
		name, in, conclusion string
		want                 routing.Result
	}{
		{"make", green + "make: *** [Makefile:12: check] Error 1\n", "", routing.Unclear},
		{"make, and the run succeeded", green + "make: *** [Makefile:12: check] Error 1\n", "success", routing.Pass},
		{"a crash", green + "Segmentation fault (core dumped)\n", "", routing.Unclear},
		{"a crash before the tests", "Segmentation fault (core dumped)\n" + green, "", routing.Pass},
		{"make, then something that went well", green + "make: *** [Makefile:12: lint] Error 1\nok, going on\n", "", routing.Pass},
		{"make, long before the end", green + "make: *** [Makefile:12: lint] Error 1\n" + strings.Repeat("uploading\n", 9), "", routing.Pass},
		{"Jenkins ends well", green + "[Pipeline] }\n[Pipeline] End of Pipeline\nFinished: SUCCESS\n", "", routing.Pass},
		{"nothing more", green, "", routing.Pass},
		{"a command that is missing", green + "bash: foo: command not found\n", "", routing.Unclear},
		{"a script that raised", green + "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: bad thing\n", "", routing.Unclear},
		{"a script that raised, and was tolerated", green + "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: bad thing\n", "success", routing.Pass},
		{"a test that raised as expected", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: bad thing\n" + green, "", routing.Pass},
		{"a trace, and the run went on", green + "panic: no cache\n\ngoroutine 1 [running]:\nmain.main()\nbuilding the docs\nuploading\n", "", routing.Pass},
		{"a panic", green + "panic: no cache\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:4 +0x1d\nexit status 2\n", "", routing.Unclear},
		{"tests that ran over", green + "panic: test timed out after 10m0s\n", "", routing.Unclear},
		{"tests that ran over, whatever the conclusion", green + "panic: test timed out after 10m0s\n", "success", routing.Unclear},
		{"a sanitizer", green + "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\n    #0 0x4 in f a.c:3\nSUMMARY: AddressSanitizer: heap-use-after-free\n", "success", routing.Unclear},
		{"cancelled", green + "##[error]The operation was canceled.\n", "", routing.Unclear},
		{"cancelled, whatever the conclusion", green + "##[error]The operation was canceled.\n", "success", routing.Unclear},
		{"cancelled, with the runner's cleanup behind it", green + "##[error]The operation was canceled.\nPost job cleanup.\na\nb\nc\nd\n", "success", routing.Unclear},
		{"GitLab", green + "Job failed: exit code 1\n", "", routing.Unclear},
		{"Azure", green + "##[error]Bash exited with code '1'.\n", "", routing.Unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			col := NewCollector(nil)
			rep, err := testreport.Parse(strings.NewReader(c.in), testreport.Options{OnLine: col.Line})
			if err != nil {
				t.Fatal(err)
			}
			if d := Diagnose(rep, col, Options{Conclusion: c.conclusion}); d.Result != c.want || d.Reason == "" {
				t.Errorf("%s: %s, want %s", d.Result, d.Reason, c.want)
			}
		})
	}
}

// recordings returns the output of the runs that the demo replays, by the names of their files.
func recordings(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../cmd/switchback/demo/[0-9]*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	out := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = string(text)
	}
	return out
}

// TestEvidenceStandsAtItsLine holds the evidence of recorded runs against the
// input: the text stands on the line it names, or, where the runner alone names
// a place, within the few lines above its report.
func TestEvidenceStandsAtItsLine(t *testing.T) {
	seen := 0
	for name, text := range recordings(t) {
		lines := strings.Split(text, "\n")
		d := diagnoseText(t, text, Options{})
		for _, f := range d.Failures {
			for _, e := range f.Evidence {
				seen++
				if e.Line < 1 || e.Line > len(lines) || !strings.Contains(strings.Join(lines[max(0, e.Line-6):e.Line], "\n"), e.Text) {
					t.Errorf("%s: evidence %+v is not at its line", name, e)
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d pieces of evidence", seen)
	}
}

// Whoever serves many runs reads and diagnoses them at once, with one set of rules
// and with tables that are made when they are first needed. What they find is what
// one alone finds. `make test` runs this one under the race detector.
func TestReadAtOnce(t *testing.T) {
	t.Parallel()
	var texts [][]byte
	dirs, err := os.ReadDir(filepath.Join("..", "testreport", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs { // the smallest recording of each format
		var least []byte
		err := filepath.WalkDir(filepath.Join("..", "testreport", "testdata", dir.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if least == nil || len(data) < len(least) {
				least = data
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(least) > 0 && len(least) < 64<<10 {
			texts = append(texts, least)
		}
	}
	if len(texts) < 50 {
		t.Fatalf("%d formats", len(texts))
	}
	rules, err := Compile([]UserRule{{Name: "own", Pattern: "(?i)out of cheese", Class: "ENV_ISSUE"}})
	if err != nil {
		t.Fatal(err)
	}
	read := func(text []byte) Diagnosis {
		col := NewCollector(rules)
		rep, err := testreport.Parse(bytes.NewReader(text), testreport.Options{OnLine: col.Line})
		if err != nil && !errors.Is(err, testreport.ErrUnknownFormat) && !errors.Is(err, testreport.ErrEmpty) {
			t.Errorf("%.60q: %v", text, err)
			return Diagnosis{}
		}
		return Diagnose(rep, col, Options{})
	}
	const readers = 4
	var found [readers][]Diagnosis
	var all sync.WaitGroup
	for i := range readers {
		found[i] = make([]Diagnosis, len(texts))
		all.Go(func() {
			for n := range texts {
				at := (n + i*3) % len(texts) // each meets what another has just begun to make
				found[i][at] = read(texts[at])
			}
		})
	}
	all.Wait()
	for n, text := range texts {
		alone := read(text)
		for i := range readers {
			if !reflect.DeepEqual(found[i][n], alone) {
				t.Errorf("reader %d of %.60q:\n%+v\nalone:\n%+v", i, text, found[i][n], alone)
			}
		}
	}
}

// TestUnknownStatusIsUnclear: a test whose status nobody knows has not passed, whatever the run's
// conclusion is.
func TestUnknownStatusIsUnclear(t *testing.T) {
	t.Parallel()
	const doc = `<TestRun id="1"><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/><UnitTestResult testId="2" testName="b" outcome="Exploded"/></Results></TestRun>`
	for _, conclusion := range []string{"", "success"} {
		if d := diagnoseText(t, doc, Options{Conclusion: conclusion}); d.Result != routing.Unclear {
			t.Errorf("conclusion %q: %s: %s", conclusion, d.Result, d.Reason)
		}
	}
}

// TestContractsThatDisagree: where two sources contradict each other, the contract and the code or
// two releases of an interface, none of them is wrong by itself: that is a DESIGN_MISMATCH.
func TestContractsThatDisagree(t *testing.T) {
	t.Parallel()
	for tool, log := range map[string]string{
		"oasdiff":             "3 changes: 2 error, 0 warning, 1 info\nerror\t[request-parameter-removed] at spec.yaml\n\tin API GET /users\n\t\tdeleted the query request parameter page\n",
		"cargo-semver-checks": "     Parsed app v0.2.0 (current)\n     Checked [   0.010s] 120 checks: 119 pass, 1 fail, 0 warn, 0 skip\n\n--- failure function_missing: pub fn removed or renamed ---\n\nFailed in:\n  function app::add, previously in file src/lib.rs:3\n\n     Summary semver requires new major version: 1 major and 0 minor checks failed\n",
		"Pact":                "Verifying a pact between web and users\n  a request for a user\n    returns a response which\n      has a matching body (FAILED)\n\nFailures:\n\n1) Verifying a pact between web and users - a request for a user\n    1.1) has a matching body\n           $.name -> Expected \"a\" but was missing\n",
		"GraphQL Inspector":   "\nDetected the following changes (2) between schemas:\n\n✖  Field email was removed from object type User\n✔  Field name was added to object type User\n\nError: Detected 1 breaking change\n",
		"Prisma":              "Error: drift detected: Your database schema is not in sync with your migration history.\n",
		"japicmp":             "[ERROR] Failed to execute goal com.github.siom79.japicmp:japicmp-maven-plugin:0.18.3:cmp (default) on project app: There is at least one incompatibility: com.x.A.b(int):METHOD_REMOVED -> [Help 1]\n",
	} {
		d := diagnoseText(t, log+"##[error]Process completed with exit code 1.\n", Options{})
		if d.Result != routing.Fail || d.Class != routing.DesignMismatch {
			t.Errorf("%s: %s %s: %s", tool, d.Result, d.Class, d.Reason)
		}
	}
}
