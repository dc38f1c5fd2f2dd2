package testreport_test

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestPrintedResults: what a test prints is no result where the runner's own totals deny it, and a
// result where nothing does.
func TestPrintedResults(t *testing.T) {
	t.Parallel()
	const (
		boost  = "Running 2 test cases...\na.cc(4): error: in \"other/test\": check x has failed [3 != 4]\n"
		rule   = "==============================================================================="
		banner = "~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\na is a Catch v2.13.10 host application.\nRun with -? for options\n\n"
		block  = "  ---\n  message: |\n    not ok 2 other\n  ...\n"
	)
	for name, c := range map[string]struct {
		log    string
		failed int
		clean  bool // no problem outside of tests
	}{
		"Boost.Test: totals behind printed ones":              {boost + "*** 1 failure is detected in the test module \"Other\"\n\n*** No errors detected\n", 0, true},
		"Boost.Test: printed totals behind a failure":         {boost + "*** No errors detected\n\n*** 1 failure is detected in the test module \"A\"\n", 1, true},
		"Boost.Test: totals behind a line that was left open": {boost + "done*** \n*** 1 failure is detected in the test module \"A\"\n", 1, true},
		"Boost.Test: a failure behind printed totals":         {"Running 1 test case...\n*** No errors detected\na.cc(4): error: in \"adds\": check x has failed\n", 1, false},
		"Boost.Test: another program behind a failing one":    {boost + "\n*** 1 failure is detected in the test module \"A\"\nRunning 1 test case...\n\n*** No errors detected\n", 1, true},
		"Catch2: printed totals before the banner":            {"test cases: 1 | 1 failed\n\n" + banner + rule + "\nAll tests passed (2 assertions in 2 test cases)\n", 0, true},
		"Catch2: totals of which the beginning is lost":       {rule + "\ntest cases: 2 | 1 passed | 1 failed\n", 1, false},
		"TAP: a block below a point that passes":              {"TAP version 13\n1..2\nok 1 a\n" + block + "ok 2 b\n", 0, true},
		"TAP: a block below a point that fails":               {"TAP version 13\n1..2\nnot ok 1 a\n" + block + "ok 2 b\n", 1, true},
		"TAP: a point of another stream, or a printed one":    {"not ok 1 - inner\nok 1 a\n# tests 1\n# pass 1\n# fail 0\n1..1\n", 1, false},
		"TAP: a point of its own before a stream that counts": {"not ok 1 - inner\nok 1 a\n1..1\n", 1, false},
		"TAP: a point before a stream that fails":             {"not ok 1 - inner\nnot ok 1 a\n# tests 1\n# pass 0\n# fail 1\n1..1\n", 2, false},
		"TAP: a printed point of a number that follows":       {"TAP version 13\nnot ok 1 - inner\nok 1 - a\n1..1\n# tests 1\n# pass 1\n# fail 0\n", 0, true},
		"TAP: a number twice, and totals with a failure":      {"TAP version 13\nnot ok 1 - a\nok 1 - inner\n1..1\n# tests 1\n# pass 0\n# fail 1\n", 1, true},
		"luaunit: printed totals":                             {"Ran 1 tests in 0.0 seconds, 0 successes, 1 failure\nRan 2 tests in 0.0 seconds, 2 successes, 0 failures\n", 0, true},
		"luaunit: totals without a list":                      {"Ran 1 tests in 0.0 seconds, 0 successes, 1 failure\n", 1, false},
		"RSpec: a marked failure, and the end is lost":        {"\nCart\n  works\n  fails (FAILED - 1)\n", 1, false},
		"RSpec: a marked failure, and its list":               {"\nCart\n  fails (FAILED - 1)\n\nFailures:\n\n  1) Cart fails\n     Failure/Error: expect(1).to eq 2\n\nFinished in 0.1 seconds\n1 example, 1 failure\n", 1, true},
		"RSpec: a printed mark":                               {"\nCart\n  fails (FAILED - 1)\n\nFinished in 0.1 seconds\n1 example, 0 failures\n", 0, true},
		"EUnit: a set-up that failed":                         {"undefined\n*** context setup failed ***\n**in function a:'-b_test_/0-fun-5-'/0 (a.erl, line 29)\n**error:no_database\n\n\n=======================================================\n  Failed: 0.  Skipped: 0.  Passed: 2.\nOne or more tests were cancelled.\n", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rep, err := testreport.Parse(strings.NewReader(c.log), testreport.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Counts.Failed != c.failed || len(rep.Problems) == 0 != c.clean {
				t.Errorf("got %+v, %+v, want %d failed, clean %v", rep.Counts, rep.Problems, c.failed, c.clean)
			}
		})
	}
}
