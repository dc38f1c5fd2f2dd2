package testruns

import "testing"

func TestCountsFailures(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"3 tests, 1 failure":       true,
		"  2 examples, 0 failures": false,
		"========================= 1 failed, 2 passed in 0.12s ==========================": true,
		"============================== 20 passed in 0.12s ==============================": false,
		"Tests run: 5, Failures: 1, Errors: 0":                                             true,
		"Tests: 3, Assertions: 3, Failures: 1.":                                            true,
		"FAILED (failures=1)":                                                              true,
		"ℹ fail 2":                                                                         true,
		"ℹ fail 0":                                                                         false,
		"# fail 1":                                                                         true,
		"Result: FAIL":                                                                     true,
		"Result: PASS":                                                                     false,
		"Failed 1/2 test programs. 1/5 subtests failed.":                                   true,
		"1) adds fails 2 times":                                                            false,
		"the request failed 3 times":                                                       false,
		"error: 3 failed":                                                                  false,
	} {
		if got := CountsFailures(line); got != want {
			t.Errorf("%q: %t", line, got)
		}
	}
}
