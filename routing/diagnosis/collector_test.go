package diagnosis

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

const stepHeader = "##[group]Run make %s\nmake %s\nshell: /usr/bin/bash -e {0}\nenv:\n  ERROR_MODE: fatal: error: x\n##[endgroup]\n"

func ghStep(name, body string) string {
	return fmt.Sprintf(stepHeader, name, name) + body
}

// TestDecisiveBlock checks that the class comes from the block that stopped
// the run and from nowhere else.
func TestDecisiveBlock(t *testing.T) {
	scary := "Error: connect ECONNREFUSED 127.0.0.1:5432\nfatal: unable to access 'https://x/': Could not resolve host: x\ncurl: (7) Failed to connect\n"
	stop := "##[error]Process completed with exit code 2.\n"
	for _, c := range []struct {
		name, log string
		want      routing.Class
		first     string // text of the best error line
	}{
		{"the step that passed does not count", ghStep("fetch", scary) + ghStep("build", "src/a.go:3:2: undefined: Foo\n"+stop), routing.TypeError, "undefined: Foo"},
		{"the echoed script does not count", "##[group]Run npm ci || echo \"Error: ENOSPC: No space left on device\"\nError: No space left on device\nshell: bash\n##[endgroup]\n" + "error[E0425]: cannot find function `add` in this scope\n" + stop, routing.TypeError, "E0425"},
		{"a program's own group called Run counts", ghStep("test", "##[group]Run unit tests\nsrc/a.go:3:2: undefined: Foo\n##[endgroup]\n"+stop), routing.TypeError, "undefined: Foo"},
		{"clean-up after the failure does not count", ghStep("build", "src/a.go:3:2: undefined: Foo\n"+stop) + "Post job cleanup.\nfatal: unable to access 'https://x/': Could not resolve host: x\n", routing.TypeError, "undefined: Foo"},
		{"the last attempt counts", ghStep("co", "##[error]fatal: couldn't find remote ref refs/x\nWaiting 10 seconds before trying again\n##[error]fatal: couldn't find remote ref refs/x\n"+stop), routing.EnvIssue, "couldn't find remote ref"},
		{"unknown words: the last paragraph", ghStep("check", "hello\n\nYour branch has the wrong colour\nplease repaint it\n\n"+stop), routing.Unknown, "Your branch has the wrong colour"},
		{"exit code 137", ghStep("test", "working\n##[error]Process completed with exit code 137.\n"), routing.EnvIssue, "137"},
		{"time limit", ghStep("test", "working\n##[error]The action 'Test' has timed out after 360 minutes.\n"), routing.Timeout, "timed out"},
		{"cancelled", ghStep("test", "working\n##[error]The operation was canceled.\n"), routing.Unknown, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diagnoseText(t, c.log, Options{})
			checkInvariants(t, d)
			if d.Class != c.want {
				t.Errorf("class %s, want %s (%s)", d.Class, c.want, d.Reason)
			}
			if len(d.ErrorLines) == 0 || !strings.Contains(d.ErrorLines[0].Text, c.first) {
				t.Errorf("error lines %+v, want first %q", d.ErrorLines, c.first)
			}
		})
	}
}

// scaryPass are lines of runs that pass.
var scaryPass = []string{
	"2024/01/01 10:00:00 dial tcp 127.0.0.1:1: connect: connection refused",
	"    client_test.go:12: got expected error: Get \"http://127.0.0.1:1\": dial tcp 127.0.0.1:1: connect: connection refused",
	"ERROR: could not read config (expected by the test)",
	"panic recovered: not implemented",
	"Error: No such file or directory, using the default",
	"java.net.ConnectException: Connection refused",
	"  ✓ rejects with timed out after 300ms",
	"npm WARN deprecated request@2.88.2: request has been deprecated",
	"warning: fatal: could not read the cache",
	"Traceback (most recent call last):",
	"ValueError: logged and handled",
	"0 errors, 0 failures",
	"No errors found",
}

func TestSilenceOnPassingLogs(t *testing.T) {
	scary := strings.Join(scaryPass, "\n") + "\n"
	for name, log := range map[string]string{
		"go":     "=== RUN   TestConnectionRefused\n" + scary + "--- PASS: TestConnectionRefused (0.00s)\n" + strings.Repeat("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", 3) + "PASS\nok  \texample.org/a\t0.012s\n",
		"pytest": "============================= test session starts ==============================\nplatform linux -- Python 3.11.4, pytest-7.4.0\ncollected 2 items\n\ntests/test_a.py::test_connection_refused PASSED [ 50%]\ntests/test_a.py::test_not_implemented PASSED [100%]\n\n" + scary + "============================== 2 passed in 0.02s ===============================\n",
		"jest":   scary + "PASS src/a.test.js\n  ✓ throws TypeError: x is not a function (2 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.\n",
	} {
		for _, conclusion := range []string{"", "success"} {
			t.Run(name+"/"+conclusion, func(t *testing.T) {
				d, rep := diagnoseReader(t, strings.NewReader(log), Options{Conclusion: conclusion})
				if len(d.Failures) > 0 && conclusion == "success" {
					t.Errorf("failures on success: %+v", d.Failures)
				}
				if rep.Green() && d.Result != routing.Pass {
					t.Errorf("%s: %s %+v", d.Result, d.Reason, d.ErrorLines)
				}
			})
		}
	}
}

// TestBounded feeds many steps and lines and looks at what is kept.
func TestBounded(t *testing.T) {
	c := NewCollector(nil)
	for i := range 200_000 {
		l := testreport.Line{No: i + 1, Text: fmt.Sprintf("Error: boom %d %s", i, strings.Repeat("x", 100))}
		switch i % 50 {
		case 0:
			l = testreport.Line{No: i + 1, Mark: "group", Text: "Run x"}
		case 1:
			l = testreport.Line{No: i + 1, Mark: "endgroup"}
		case 49:
			l = testreport.Line{No: i + 1, Mark: "error", Text: "Process completed with exit code 1."}
		}
		c.Line(l)
	}
	if len(c.steps.all) > maxSteps || len(c.stops) > maxStops {
		t.Errorf("%d steps and %d stops are kept", len(c.steps.all), len(c.stops))
	}
	for _, s := range c.steps.all {
		if len(s.head) > headPerStep || len(s.tail) > tailPerStep {
			t.Errorf("step keeps %d and %d lines", len(s.head), len(s.tail))
		}
	}
}

func FuzzCollector(f *testing.F) {
	f.Add("##[group]Run x\nshell: bash\n##[endgroup]\nError: x\n##[error]Process completed with exit code 1.\n", "failure")
	f.Add("FAILED a.py::b - NotImplementedError\n\x1b[31mE\x1b[0m  \xff\xfe", "")
	f.Add(strings.Join(scaryPass, "\n"), "success")
	f.Fuzz(func(t *testing.T, log, conclusion string) {
		d, _ := diagnoseReader(t, strings.NewReader(log), Options{Conclusion: conclusion})
		checkInvariants(t, d)
		again, _ := diagnoseReader(t, strings.NewReader(log), Options{Conclusion: conclusion})
		if d.Result != again.Result || d.Class != again.Class || len(d.ErrorLines) != len(again.ErrorLines) {
			t.Errorf("two diagnoses of one log differ: %+v, %+v", d, again)
		}
	})
}

// BenchmarkCollector measures Line alone, on a passing log and a failing one.
func BenchmarkCollector(b *testing.B) {
	for name, text := range benchLogs(b) {
		var lines []testreport.Line
		for i, s := range strings.Split(text, "\n") {
			lines = append(lines, testreport.Line{No: i + 1, Text: s})
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c := NewCollector(nil)
				for _, l := range lines {
					c.Line(l)
				}
			}
		})
	}
}

func benchLogs(b *testing.B) map[string]string {
	var plain bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&plain, "=== RUN   TestThing/case_%d\n    thing_test.go:%d: checked the value of the thing and its neighbours\n--- PASS: TestThing/case_%d (0.00s)\n[INFO] Downloading org/example/lib-%d.jar (12 kB at 3.4 MB/s)\n", i, i%300, i, i)
	}
	out := map[string]string{"passing": plain.String(), "recorded": recordedLogs(b, "../testreport/testdata")}
	if s := recordedLogs(b, filepath.Join(fixtures, "bugswarm_gha")); s != "" {
		out["jobs"] = s
	}
	for _, p := range []string{"treeherder/asan_too_large.log", "cidiff/jodatime_2082.log"} {
		if data, err := os.ReadFile(filepath.Join(fixtures, p)); err == nil {
			out[filepath.Base(p)] = string(data)
		}
	}
	return out
}

// recordedLogs returns all logs below root, one after the other.
func recordedLogs(b *testing.B, root string) string {
	var all strings.Builder
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".txt" && filepath.Ext(name) != ".log" {
			return nil // there may be no fixtures here
		}
		data, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = testreport.Read(bytes.NewReader(data), testreport.Options{OnLine: func(l testreport.Line) { all.WriteString(l.Text + "\n") }}, testreport.NewCollector(testreport.Limits{}))
		return nil
	})
	return all.String()
}

// TestPassingTestIsNoEvidence: the name of a test that passed says nothing of
// what went wrong, however it sounds.
func TestPassingTestIsNoEvidence(t *testing.T) {
	for _, passing := range []bool{false, true} {
		c := NewCollector(nil)
		c.Line(testreport.Line{No: 1, Text: "Error: connect ECONNREFUSED 127.0.0.1:5432", Passing: passing})
		n := 0
		for _, s := range c.steps.all {
			n += len(s.head) + len(s.tail)
		}
		if (n == 0) != passing {
			t.Errorf("passing %v: %d lines are kept", passing, n)
		}
	}
}
