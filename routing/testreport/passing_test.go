package testreport_test

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// TestPassingLines: what starts or passes a test is marked so, and nothing else is.
func TestPassingLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		log     string
		passing []string
	}{
		"go test": {
			"=== RUN   TestDeadline\n    a_test.go:3: error: refused\n--- PASS: TestDeadline (0.01s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\tx\t0.01s\n",
			[]string{"=== RUN   TestDeadline", "--- PASS: TestDeadline (0.01s)", "=== RUN   TestB"},
		},
		"jest": {
			"FAIL src/a.test.js\n  sum\n    ✓ says error: timed out (2 ms)\n    ✕ adds (1 ms)\n    ○ skipped later\n\n  ● sum › adds\n\n    Error: boom\n\nTests:       1 failed, 1 skipped, 1 passed, 3 total\n",
			[]string{"    ✓ says error: timed out (2 ms)"},
		},
		"pytest": {
			"============================= test session starts ==============================\ncollected 2 items\n\ntest_a.py::test_connection_refused PASSED                                [ 50%]\ntest_a.py::test_b FAILED                                                 [100%]\n\n=========================== short test summary info ============================\nFAILED test_a.py::test_b - assert 0\n========================= 1 failed, 1 passed in 0.01s ==========================\n",
			[]string{"test_a.py::test_connection_refused PASSED                                [ 50%]"},
		},
		"no test at all": {"✓ built\nPASSED\n--- PASS: nothing\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			_, err := reader.Read(strings.NewReader(c.log), model.Options{OnLine: func(l lines.Line) {
				if l.Passing {
					got = append(got, l.Text)
				}
			}}, model.NewCollector(model.DefaultLimits()))
			if c.passing != nil && err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != strings.Join(c.passing, "\n") {
				t.Errorf("got %q, want %q", got, c.passing)
			}
		})
	}
}
