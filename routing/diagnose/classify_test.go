package diagnose

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/report"
)

func TestClassOfTest(t *testing.T) {
	for _, c := range []struct {
		name string
		test report.Test
		want routing.Class
	}{
		{"assertion", report.Test{Kind: report.KindAssertion, Message: "assert 3 == 4"}, routing.LogicError},
		{"assertion that compares scary words", report.Test{Kind: report.KindAssertion, Type: "AssertionError", Message: "expected 'connection refused' to equal 'No space left on device'"}, routing.LogicError},
		{"NotImplementedError", report.Test{Kind: report.KindError, Type: "NotImplementedError", Trace: "a.py:3: in f\n    raise NotImplementedError\nE   NotImplementedError"}, routing.NotImplemented},
		{"source that raises it, not raised", report.Test{Kind: report.KindAssertion, Message: "assert 1 == 2", Trace: ">   raise NotImplementedError\nE   assert 1 == 2"}, routing.LogicError},
		{"todo!", report.Test{Kind: report.KindCrash, Message: "not yet implemented", Trace: "thread 'a' panicked at src/lib.rs:3:5:\nnot yet implemented"}, routing.NotImplemented},
		{"missing attribute", report.Test{Kind: report.KindError, Type: "AttributeError", Message: "AttributeError: module 'app' has no attribute 'slug'"}, routing.NotImplemented},
		{"None has no attribute", report.Test{Kind: report.KindError, Type: "AttributeError", Message: "AttributeError: 'NoneType' object has no attribute 'x'"}, routing.LogicError},
		{"is not a function", report.Test{Message: "TypeError: cart.total is not a function"}, routing.NotImplemented},
		{"undefined property", report.Test{Message: "TypeError: Cannot read properties of undefined (reading 'x')"}, routing.LogicError},
		{"404 where 200 was wanted", report.Test{Kind: report.KindAssertion, Message: "assert 404 == 200"}, routing.NotImplemented},
		{"200 where 404 was wanted", report.Test{Kind: report.KindAssertion, Message: "assert 200 == 404"}, routing.LogicError},
		{"database is down", report.Test{Kind: report.KindError, Type: "ConnectionRefusedError", Message: "ConnectionRefusedError: [Errno 111] Connection refused"}, routing.EnvIssue},
		{"runner's limit", report.Test{Kind: report.KindTimeout, Message: "Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"jest's limit in words", report.Test{Message: "thrown: \"Exceeded timeout of 5000 ms for a test."}, routing.Timeout},
		{"missing project module", report.Test{Kind: report.KindSetup, Message: "ModuleNotFoundError: No module named 'app.services'"}, routing.NotImplemented},
		{"missing dependency", report.Test{Kind: report.KindSetup, Message: "ModuleNotFoundError: No module named 'numpy'"}, routing.EnvIssue},
		{"missing relative module", report.Test{Kind: report.KindSetup, Message: "Cannot find module './slug' from 'test/slug.test.js'"}, routing.NotImplemented},
		{"build", report.Test{Kind: report.KindBuild, Message: "a_test.go:5:2: undefined: Foo"}, routing.TypeError},
		{"python arguments", report.Test{Kind: report.KindError, Type: "TypeError", Message: "add() missing 1 required positional argument: 'b'"}, routing.TypeError},
		{"race", report.Test{Kind: report.KindRace, Message: "WARNING: DATA RACE"}, routing.LogicError},
		{"no words", report.Test{}, routing.LogicError},
		{"passed on a rerun", report.Test{Flaky: true, Message: "boom"}, routing.Flaky},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test.Name, c.test.Status, c.test.At = "t", report.Failed, 3
			d := Diagnose(&report.Report{Counts: report.Counts{Tests: 1, Failed: 1}, Failing: []report.Test{c.test}}, nil, Options{})
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
	failing := []report.Test{{Name: "t", Kind: report.KindAssertion, Message: "assert 1 == 2"}}
	one := 1
	for _, c := range []struct {
		name  string
		rep   report.Report
		opt   Options
		want  string
		class routing.Class
	}{
		{"green", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}}, Options{}, Pass, ""},
		{"green and success", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "success"}, Pass, ""},
		{"green but failure", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "failure"}, Unclear, routing.Unknown},
		{"green but exit 1", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}}, Options{ExitCode: &one}, Unclear, routing.Unknown},
		{"nothing", report.Report{}, Options{Conclusion: "success"}, Unclear, routing.Unknown},
		{"all skipped", report.Report{Counts: report.Counts{Tests: 2, Skipped: 2}}, Options{}, Unclear, routing.Unknown},
		{"truncated", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}, Problems: []report.Problem{{Kind: report.KindTruncated}}}, Options{}, Unclear, routing.Unknown},
		{"truncated, one failed", report.Report{Counts: report.Counts{Tests: 2, Passed: 1, Failed: 1}, Failing: failing, Problems: []report.Problem{{Kind: report.KindTruncated}}}, Options{}, Fail, routing.LogicError},
		{"failed and success", report.Report{Counts: report.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "success"}, Fail, routing.LogicError},
		{"cancelled", report.Report{Counts: report.Counts{Tests: 2, Passed: 2}}, Options{Conclusion: "cancelled"}, Unclear, routing.Unknown},
		{"cancelled, one failed", report.Report{Counts: report.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "cancelled"}, Fail, routing.LogicError},
		{"timed out", report.Report{}, Options{Conclusion: "timed_out"}, Timeout, routing.Timeout},
		{"timed out, one failed", report.Report{Counts: report.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{Conclusion: "timed_out"}, Timeout, routing.Timeout},
		{"build problem", report.Report{Problems: []report.Problem{{Kind: report.KindBuild, Name: "pkg", Message: "a.go:3:2: undefined: x"}}}, Options{}, Fail, routing.TypeError},
		{"coverage", report.Report{Counts: report.Counts{Tests: 1, Passed: 1}, Problems: []report.Problem{{Kind: report.KindCoverage, Message: "coverage 71 % is below 80 %"}}}, Options{}, Fail, routing.Quality},
		{"lint", report.Report{Diagnostics: []report.Diagnostic{{Tool: "eslint", File: "a.js", Line: 3, Severity: report.SevError, Message: "no-console"}}}, Options{Conclusion: "failure"}, Fail, routing.Quality},
		{"warnings only", report.Report{Counts: report.Counts{Tests: 1, Passed: 1}, Diagnostics: []report.Diagnostic{{Tool: "eslint", Severity: report.SevWarning}}}, Options{}, Pass, ""},
		{"counted, not listed", report.Report{Counts: report.Counts{Tests: 2, Passed: 1, Failed: 1}}, Options{}, Unclear, routing.Unknown},
		{"passed elsewhere", report.Report{Counts: report.Counts{Tests: 1, Failed: 1}, Failing: failing}, Options{PassedElsewhere: []string{"t"}}, Fail, routing.Flaky},
		{"passed on retry", report.Report{Counts: report.Counts{Tests: 1, Passed: 1, Flaky: 1}, Flaky: []report.Test{{Name: "t"}}}, Options{}, Pass, routing.Flaky},
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
	rep := &report.Report{Counts: report.Counts{Tests: 6, Failed: 6}, Failing: []report.Test{
		{Name: "TestA", Suite: "p", Trace: "--- FAIL: TestA (0.00s)"},
		{Name: "TestA/x", Suite: "p", Message: "a_test.go:3: 1 != 2"},
		{Name: "TestB", Suite: "p", Message: "own words"},
		{Name: "TestB/x", Suite: "p", Message: "other words"},
		{Name: "TestC", Suite: "one/p", Message: "same"},
		{Name: "TestC", Suite: "two/p", Message: "same"},
		{Name: "TestC", Suite: "one.p", Message: "same"},
	}, Problems: []report.Problem{{Kind: report.KindPackage, Name: "p"}}}
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
	rep := &report.Report{Counts: report.Counts{Tests: 2, Failed: 2}, Failing: []report.Test{
		{Name: "a", Kind: report.KindAssertion, Message: "assert 1 == 2"},
		{Name: "b", Kind: report.KindError, Message: "NotImplementedError"},
	}}
	d := Diagnose(rep, nil, Options{})
	if d.Class != routing.NotImplemented || !d.Failures[1].Decisive || d.Failures[0].Class != routing.LogicError {
		t.Errorf("%s %+v", d.Class, d.Failures)
	}
}

func TestSuggestionIsFilled(t *testing.T) {
	x := report.Test{Name: "test_sum", File: "a.py", Line: 3, Kind: report.KindAssertion, Message: "assert 3 == 4", Expected: "4", Actual: "{file} 3"}
	for _, lang := range []string{"en", "ko"} {
		d := Diagnose(&report.Report{Failing: []report.Test{x}}, nil, Options{Language: lang})
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
		col.Line(report.Line{No: i + 1, Text: s})
	}
	d := Diagnose(nil, col, Options{Conclusion: "failure"})
	if d.Class != routing.EnvIssue || d.Failures[0].Suggestion != "Wake lic1." || d.Evidence[0].Signal != "licence server" || d.Evidence[0].Line != 2 {
		t.Errorf("%+v", d)
	}
}
