package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/internal/corpus/recording"
	"github.com/switchback-ci/switchback/routing"
)

// quotedFailures are what tests print that passes on, or checks, the output of another program.
var quotedFailures = []struct{ name, text string }{
	{"go test", "--- FAIL: TestX (0.00s)\n    x_test.go:3: want 1, got 2\nFAIL\nFAIL\texample.com/x\t0.012s\n"},
	{"go test, a line", "--- FAIL: TestX (0.00s)\n"},
	{"TAP", "not ok 1 - adds\n"},
	{"pytest", "FAILED tests/x.py::test_y - assert 1 == 2\n"},
	{"pytest, totals", "=========================== short test summary info ============================\nFAILED tests/x.py::test_y - assert 1 == 2\n========================= 1 failed, 2 passed in 0.12s ==========================\n"},
	{"a cross", "  ✕ adds two numbers (3 ms)\n"},
	{"another cross", "✖ adds two numbers (1.2ms)\n"},
	{"Jest, totals", "Tests:       1 failed, 2 passed, 3 total\n"},
	{"Jest", "FAIL src/x.test.js\n  ● sums › adds\n\n    expect(received).toBe(expected)\n\n    Expected: 1\n    Received: 2\n\n"},
	{"JUnit XML", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"1\" failures=\"1\">\n<testsuite name=\"s\" tests=\"1\" failures=\"1\">\n<testcase classname=\"s\" name=\"quoted\"><failure message=\"want 1, got 2\">x.py:3</failure></testcase>\n</testsuite>\n</testsuites>\n"},
	{"JUnit XML on one line", "<testsuite name=\"s\" tests=\"1\" failures=\"1\"><testcase classname=\"s\" name=\"quoted\"><failure message=\"want 1, got 2\">x.py:3</failure></testcase></testsuite>\n"},
	{"unittest", "FAIL: test_x (tests.test_a.A.test_x)\n"},
	{"unittest, totals", "Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n"},
	{"RSpec", "Failures:\n\n  1) Sums adds\n     Failure/Error: expect(1).to eq(2)\n\n       expected: 2\n            got: 1\n     # ./spec/a_spec.rb:3:in `block'\n\n"},
	{"cargo", "test a ... FAILED\n"},
	{"GoogleTest", "[  FAILED  ] A.b (0 ms)\n"},
	{"PHPUnit", "FAILURES!\nTests: 3, Assertions: 3, Failures: 1.\n"},
	{"Mocha", "  1 failing\n\n  1) sums\n       adds:\n     AssertionError: expected 1 to equal 2\n      at Context.<anonymous> (x.js:3:5)\n\n"},
	{"a compiler", "src/a.c:3:4: error: expected ';' before '}' token\n"},
	{"TypeScript", "src/a.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.\n"},
	{"an exception", "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)\n"},
	{"a traceback", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: no\n"},
	{"a logger", "2026-01-15 10:00:00 ERROR [main] could not connect to the database\n"},
}

// quotedIn returns the text of a console with the quoted lines between those of its tests, "" if it
// prints none.
func quotedIn(text, quoted string) string {
	lines := strings.SplitAfter(text, "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return sumsUp.MatchString(plain(l)) })
	if end < 1 {
		return ""
	}
	at := (end + 1) / 2
	return strings.Join(lines[:at], "") + quoted + strings.Join(lines[at:], "")
}

// TestQuotedFailures: what a test prints of another run is none of the run's own, which ends with
// totals that count no failure. The consoles of runners that passed stand for the run, with lines
// of failures of all kinds between those of their tests. What raises something is bounded, as it
// can be told apart only where the runner says both how its run begins and how it ended.
func TestQuotedFailures(t *testing.T) {
	t.Parallel()
	tried, raised := 0, map[recording.Form]int{}
	for i, c := range consoles(t, routing.Pass) {
		for j, q := range quotedFailures {
			if (i+j)%3 > 0 {
				continue // a third of the combinations, for the time
			}
			text := quotedIn(c.text, indented(q.text, []string{"", "    "}[i/3%2]))
			if text == "" {
				continue
			}
			tried++
			for form, log := range map[recording.Form]string{recording.Console: text, recording.GitHub: string(recording.JobLog("make test", []byte(text), 0))} {
				if v := analyze(t, log).Verdict; v.Result != routing.Pass || len(v.Failures) > 0 {
					raised[form]++
				}
			}
		}
	}
	t.Logf("of %d: %v", tried, raised)
	for form, most := range map[recording.Form]float64{recording.Console: 0.25, recording.GitHub: 0.17} {
		if got := float64(raised[form]) / float64(tried); got > most {
			t.Errorf("%s: %.3f raise a failure, want at most %.2f", form, got, most)
		}
	}
}

func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}

// quotedPasses are what tests print of other programs that passed.
var quotedPasses = []string{
	"ok  \texample.com/x\t0.012s\n",
	"============================== 20 passed in 0.12s ==============================\n",
	"Tests:       3 passed, 3 total\n",
	"Ran 3 tests in 0.001s\n\nOK\n",
	"test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
	"# tests 2\n# pass 2\n# fail 0\n",
	"ℹ tests 2\nℹ pass 2\nℹ fail 0\n",
	"  2 passing (5ms)\n",
	"<testsuite name=\"s\" tests=\"1\" failures=\"0\"><testcase classname=\"s\" name=\"quoted\"/></testsuite>\n",
	"BUILD SUCCESSFUL in 1s\n",
	"Finished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 0 failures\n",
}

// TestQuotedPasses: what a test prints of another run that passed hides no failure of its own.
func TestQuotedPasses(t *testing.T) {
	t.Parallel()
	for i, c := range consoles(t, routing.Fail) {
		if analyze(t, c.text).Report.Counts.Failed == 0 {
			continue // no run of tests
		}
		lines := strings.SplitAfter(c.text, "\n")
		for j, q := range quotedPasses {
			if (i+j)%4 > 0 {
				continue // a quarter of the combinations, for the time
			}
			at := len(lines) / (2 + i%2)
			text := strings.Join(lines[:at], "") + indented(q, []string{"", "    "}[i/4%2]) + strings.Join(lines[at:], "")
			unfinished(t, fmt.Sprintf("%s, with %q", c.name, q), text)
			unfinished(t, fmt.Sprintf("%s, with %q, as a job", c.name, q), string(recording.JobLog("make test", []byte(text), 1)))
		}
	}
}
