package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestSuggestionIsFilled(t *testing.T) {
	x := testreport.Test{Name: "test_sum", File: "a.py", Line: 3, Kind: testreport.KindAssertion, Message: "assert 3 == 4", Expected: "4", Actual: "{file} 3"}
	for _, lang := range []string{"en", "ko"} {
		d := Diagnose(&testreport.Report{Failing: []testreport.Test{x}}, nil, Options{Language: lang})
		s := d.Failures[0].Suggestion
		for _, want := range []string{"4", "{file} 3", "a.py:3", "test_sum"} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: %q lacks %q", lang, s, want)
			}
		}
	}
}
