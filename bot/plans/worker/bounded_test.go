package worker

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/plan"
)

// Whatever a testing worker says: what is handed on is small enough for a message, says that it
// is cut, and still begins with what it began with.
func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<é\x01", 300_000)
	many := make([]plan.FailedTest, 5000)
	for i := range many {
		many[i] = plan.FailedTest{Name: fmt.Sprintf("test %d %s", i, strings.Repeat("n", 90))}
	}
	for name, f := range map[string]plan.TestFeedback{
		"S2-24 one long trace":         {FailedTests: []plan.FailedTest{{Name: "test 0", StackTrace: long}}},
		"S2-24 long names and hints":   {FailedTests: []plan.FailedTest{{Name: "test 0" + long, File: long}}, Suggestions: []string{long, long}},
		"S2-24 many tests":             {FailedTests: many},
		"S2-23 many hints and no test": {FailedTests: []plan.FailedTest{}, Suggestions: strings.Split(strings.Repeat("do this, ", 20_000), ",")},
	} {
		t.Run(name, func(t *testing.T) {
			got := bounded(masked(f))
			text := asJSON(got)
			if len(text) > mostFeedback+200 || !utf8.Valid(text) || got.Validate() != nil {
				t.Errorf("%d bytes, %v", len(text), got.Validate())
			}
			if len(f.FailedTests) > 0 && (len(got.FailedTests) == 0 || !strings.HasPrefix(got.FailedTests[0].Name, "test 0")) {
				t.Errorf("%.300s", text)
			}
			if s := string(text); !strings.Contains(s, "[…]") && !strings.Contains(s, "more failed tests and suggestions are left out here") {
				t.Errorf("it does not say that it is cut: %.300s", text)
			}
		})
	}
	t.Run("what is short is as it was", func(t *testing.T) {
		f := plan.TestFeedback{FailedTests: []plan.FailedTest{{Name: "a", StackTrace: strings.Repeat("x", 20_000)}}, Suggestions: []string{}}
		if got := bounded(masked(f)); string(asJSON(got)) != string(asJSON(f)) {
			t.Errorf("%s", asJSON(got))
		}
	})
}
