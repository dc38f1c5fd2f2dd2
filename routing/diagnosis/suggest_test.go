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

// The line at which a test noticed it is not what has to be changed, and what a class advises is no
// remedy.
func TestSuggestionIsNotTheLineOfTheTest(t *testing.T) {
	for name, c := range map[string]struct {
		test    testreport.Test
		certain bool
	}{
		"a stub that a test calls":   {testreport.Test{Name: "TestDiscount", File: "coupon_test.go", Line: 23, Message: "Discount(1000): not implemented"}, true},
		"an assertion":               {testreport.Test{Name: "test_sum", File: "tests/test_sum.py", Line: 3, Kind: testreport.KindAssertion, Message: "assert 3 == 4", Expected: "4", Actual: "3"}, false},
		"a message and nothing else": {testreport.Test{Name: "TestX", File: "x_test.go", Line: 9, Message: "it is wrong"}, false},
	} {
		f := Diagnose(&testreport.Report{Failing: []testreport.Test{c.test}}, nil, Options{}).Failures[0]
		if strings.Contains(f.Suggestion, c.test.File) || f.Suggestion == "" || f.Certain != c.certain {
			t.Errorf("%s: %q, certain %v", name, f.Suggestion, f.Certain)
		}
	}
	compiler := testreport.Report{Diagnostics: []testreport.Diagnostic{{Tool: "go", File: "x_test.go", Line: 9, Message: "undefined: y", Severity: testreport.SevError}}}
	if f := Diagnose(&compiler, nil, Options{}).Failures[0]; !strings.Contains(f.Suggestion, "x_test.go:9") {
		t.Errorf("what a compiler says of a test: %q", f.Suggestion)
	}
}
