package diagnosis

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func TestClassOfTest(t *testing.T) {
	for _, c := range []struct {
		name string
		test testreport.Test
		want routing.Class
	}{
		{"assertion", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 3 == 4"}, routing.LogicError},
		{"assertion that compares scary words", testreport.Test{Kind: testreport.KindAssertion, Type: "AssertionError", Message: "expected 'connection refused' to equal 'No space left on device'"}, routing.LogicError},
		{"NotImplementedError", testreport.Test{Kind: testreport.KindError, Type: "NotImplementedError", Trace: "a.py:3: in f\n    raise NotImplementedError\nE   NotImplementedError"}, routing.NotImplemented},
		{"source that raises it, not raised", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 1 == 2", Trace: ">   raise NotImplementedError\nE   assert 1 == 2"}, routing.LogicError},
		{"todo!", testreport.Test{Kind: testreport.KindCrash, Message: "not yet implemented", Trace: "thread 'a' panicked at src/lib.rs:3:5:\nnot yet implemented"}, routing.NotImplemented},
		{"missing attribute", testreport.Test{Kind: testreport.KindError, Type: "AttributeError", Message: "AttributeError: module 'app' has no attribute 'slug'"}, routing.NotImplemented},
		{"None has no attribute", testreport.Test{Kind: testreport.KindError, Type: "AttributeError", Message: "AttributeError: 'NoneType' object has no attribute 'x'"}, routing.LogicError},
		{"is not a function", testreport.Test{Message: "TypeError: cart.total is not a function"}, routing.NotImplemented},
		{"undefined property", testreport.Test{Message: "TypeError: Cannot read properties of undefined (reading 'x')"}, routing.LogicError},
		{"404 where 200 was wanted", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 404 == 200"}, routing.NotImplemented},
		{"200 where 404 was wanted", testreport.Test{Kind: testreport.KindAssertion, Message: "assert 200 == 404"}, routing.LogicError},
		{"database is down", testreport.Test{Kind: testreport.KindError, Type: "ConnectionRefusedError", Message: "ConnectionRefusedError: [Errno 111] Connection refused"}, routing.EnvIssue},
		{"runner's limit", testreport.Test{Kind: testreport.KindTimeout, Message: "Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"jest's limit in words", testreport.Test{Message: "thrown: \"Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"missing project module", testreport.Test{Kind: testreport.KindSetup, Message: "ModuleNotFoundError: No module named 'app.services'"}, routing.NotImplemented},
		{"missing dependency", testreport.Test{Kind: testreport.KindSetup, Message: "ModuleNotFoundError: No module named 'numpy'"}, routing.EnvIssue},
		{"missing relative module", testreport.Test{Kind: testreport.KindSetup, Message: "Cannot find module './slug' from 'test/slug.test.js'"}, routing.NotImplemented},
		{"build", testreport.Test{Kind: testreport.KindBuild, Message: "a_test.go:5:2: undefined: Foo"}, routing.TypeError},
		{"python arguments", testreport.Test{Kind: testreport.KindError, Type: "TypeError", Message: "add() missing 1 required positional argument: 'b'"}, routing.TypeError},
		{"race", testreport.Test{Kind: testreport.KindRace, Message: "WARNING: DATA RACE"}, routing.LogicError},
		{"no words", testreport.Test{}, routing.LogicError},
		{"passed on a rerun", testreport.Test{Flaky: true, Message: "boom"}, routing.Flaky},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test.Name, c.test.Status, c.test.At = "t", testreport.Failed, 3
			d := Diagnose(&testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: []testreport.Test{c.test}}, nil, Options{})
			checkInvariants(t, d)
			if d.Class != c.want {
				t.Errorf("%s (%+v), want %s", d.Class, d.Failures[0].Evidence, c.want)
			}
			if d.Failures[0].Evidence[0].Line != 3 {
				t.Errorf("evidence without its line: %+v", d.Failures[0].Evidence)
			}
		})
	}
}

func TestResult(t *testing.T) {
	failing := []testreport.Test{{Name: "t", Kind: testreport.KindAssertion, Message: "assert 1 == 2"}}
	one := 1
	for _, c := range []struct {
		name  string
		rep   testreport.Report
		opt   Options
		want  string
		class routing.Class
	}{
		{"green", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{}, Pass, ""},
		{"green and success", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "success"}, Pass, ""},
		{"green but failure", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "failure"}, Unclear, routing.Unknown},
		{"green but exit 1", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{ExitCode: &one}, Unclear, routing.Unknown},
		{"nothing", testreport.Report{}, Options{Conclusion: "success"}, Unclear, routing.Unknown},
		{"all skipped", testreport.Report{Counts: testreport.Counts{Tests: 2, Skipped: 2}}, Options{}, Unclear, routing.Unknown},
		{"truncated", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}, Problems: []testreport.Problem{{Kind: testreport.KindTruncated}}}, Options{}, Unclear, routing.Unknown},
		{"truncated, one failed", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 1, Failed: 1}, Failing: failing, Problems: []testreport.Problem{{Kind: testreport.KindTruncated}}}, Options{}, Fail, routing.LogicError},
		{"failed and success", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "success"}, Fail, routing.LogicError},
		{"cancelled", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "cancelled"}, Unclear, routing.Unknown},
		{"cancelled, one failed", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "cancelled"}, Fail, routing.LogicError},
		{"timed out", testreport.Report{}, Options{Conclusion: "timed_out"}, Timeout, routing.Timeout},
		{"timed out, one failed", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "timed_out"}, Timeout, routing.Timeout},
		{"build problem", testreport.Report{Problems: []testreport.Problem{{Kind: testreport.KindBuild, Name: "pkg", Message: "a.go:3:2: undefined: x"}}}, Options{}, Fail, routing.TypeError},
		{"coverage", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1}, Problems: []testreport.Problem{{Kind: testreport.KindCoverage, Message: "coverage 71 % is below 80 %"}}}, Options{}, Fail, routing.Quality},
		{"lint", testreport.Report{Diagnostics: []testreport.Diagnostic{{Tool: "eslint", File: "a.js", Line: 3, Severity: testreport.SevError, Message: "no-console"}}}, Options{Conclusion: "failure"}, Fail, routing.Quality},
		{"warnings only", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1}, Diagnostics: []testreport.Diagnostic{{Tool: "eslint", Severity: testreport.SevWarning}}}, Options{}, Pass, ""},
		{"counted, not listed", testreport.Report{Counts: testreport.Counts{Tests: 2, Passed: 1, Failed: 1}}, Options{}, Unclear, routing.Unknown},
		{"passed elsewhere", testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{PassedElsewhere: []string{"t"}}, Fail, routing.Flaky},
		{"passed on retry", testreport.Report{Counts: testreport.Counts{Tests: 1, Passed: 1, Flaky: 1}, Flaky: []testreport.Test{{Name: "t"}}}, Options{}, Pass, routing.Flaky},
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
		if d := Diagnose(nil, nil, Options{Conclusion: concl}); d.Result != Unclear {
			t.Errorf("%s: %s", concl, d.Result)
		}
	}
}

func TestFolding(t *testing.T) {
	rep := &testreport.Report{Counts: testreport.Counts{Tests: 6, Failed: 6}, Failing: []testreport.Test{
		{Name: "TestA", Suite: "p", Trace: "--- FAIL: TestA (0.00s)"},
		{Name: "TestA/x", Suite: "p", Message: "a_test.go:3: 1 != 2"},
		{Name: "TestB", Suite: "p", Message: "own words"},
		{Name: "TestB/x", Suite: "p", Message: "other words"},
		{Name: "TestC", Suite: "one/p", Message: "same"},
		{Name: "TestC", Suite: "two/p", Message: "same"},
		{Name: "TestC", Suite: "one.p", Message: "same"},
	}, Problems: []testreport.Problem{{Kind: testreport.KindPackage, Name: "p"}}}
	d := Diagnose(rep, nil, Options{})
	checkInvariants(t, d)
	var got []string
	for _, f := range d.Failures {
		got = append(got, f.Suite+" "+f.Name)
	}
	want := "p TestA/x,p TestB,p TestB/x,one/p TestC,two/p TestC"
	if strings.Join(got, ",") != want {
		t.Errorf("got %v, want %s", got, want)
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
