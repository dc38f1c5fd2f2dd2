package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// TestFeedback is what the testing worker says of one turn.
type TestFeedback struct {
	Success     bool         `json:"success"`
	FailedTests []FailedTest `json:"failed_tests"`
	Suggestions []string     `json:"suggestions"`
	Metrics     Metrics      `json:"metrics"`
}

// FailedTest is one test that failed.
type FailedTest struct {
	Name         string `json:"name"`
	Expected     string `json:"expected"`
	Actual       string `json:"actual"`
	StackTrace   string `json:"stack_trace"`
	SuggestedFix string `json:"suggested_fix"`
	File         string `json:"file,omitempty"`
	Line         int    `json:"line,omitempty"`
}

// Metrics are the totals of a turn's tests.
type Metrics struct {
	Total   int     `json:"total"`
	Passed  int     `json:"passed"`
	Failed  int     `json:"failed"`
	Skipped int     `json:"skipped"`
	Seconds float64 `json:"seconds,omitempty"`
}

// ParseFeedback reads feedback from JSON. Unknown keys are taken as news of a
// later version; what contradicts itself is refused.
func ParseFeedback(data []byte) (TestFeedback, error) {
	var in struct {
		Success *bool `json:"success"`
		TestFeedback
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return TestFeedback{}, fmt.Errorf("the feedback is not readable: %w", err)
	}
	if in.Success == nil {
		return TestFeedback{}, fmt.Errorf("the feedback does not say whether the tests passed; write \"success\": true or false")
	}
	f := in.TestFeedback
	f.Success = *in.Success
	return f, f.Validate()
}

// Validate returns why the feedback contradicts itself.
func (f TestFeedback) Validate() error {
	m := f.Metrics
	switch {
	case f.Success && (len(f.FailedTests) > 0 || m.Failed > 0):
		return fmt.Errorf("the feedback says success, and %d failed tests", max(len(f.FailedTests), m.Failed))
	case min(m.Total, m.Passed, m.Failed, m.Skipped) < 0 || m.Seconds < 0:
		return fmt.Errorf("the feedback counts less than no tests")
	}
	for i, t := range f.FailedTests {
		if strings.TrimSpace(t.Name) == "" {
			return fmt.Errorf("failed test %d has no name", i+1)
		}
	}
	return nil
}

// FeedbackOf returns the feedback of a verdict. Only a pass whose criteria are
// met is a success.
func FeedbackOf(v routing.Verdict, took time.Duration) TestFeedback {
	c := v.Counts
	f := TestFeedback{
		Success: v.Result == routing.Pass && len(v.Unmet) == 0, FailedTests: []FailedTest{}, Suggestions: []string{},
		Metrics: Metrics{c.Tests, c.Passed, c.Failed, c.Skipped, took.Seconds()},
	}
	if f.Success {
		return f
	}
	for _, x := range v.Failures {
		if x.Quarantined {
			continue
		}
		f.FailedTests = append(f.FailedTests, FailedTest{Name: orElse(x.Name, "(no name)"), Expected: x.Expected, Actual: orElse(x.Actual, x.Message),
			StackTrace: x.Trace, SuggestedFix: x.Suggestion, File: x.File, Line: x.Line})
		if x.Suggestion != "" && !slices.Contains(f.Suggestions, x.Suggestion) {
			f.Suggestions = append(f.Suggestions, x.Suggestion)
		}
	}
	for _, u := range v.Unmet {
		f.Suggestions = append(f.Suggestions, "criterion not met: "+u)
	}
	if len(f.FailedTests) == 0 && v.Reason != "" {
		f.Suggestions = append(f.Suggestions, v.Reason)
	}
	return f
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
