package testreport

import (
	"strings"
)

// nunit3Format reads the results of NUnit 3 and 4 and of Unity's test runner.
var nunit3Format = format{name: "nunit3", order: 30, opens: []string{"test-run"}, detect: detectRoot("test-run"), document: readNUnit3}

// nunit2Format reads the results of NUnit 2, which other tools write too.
var nunit2Format = format{name: "nunit2", order: 40, opens: []string{"test-results"}, detect: detectRoot("test-results"), document: readNUnit2}

// nunitReader is the state of one document of NUnit.
type nunitReader struct {
	*xmlDoc
	cases *int // listed, whatever became of them
}

func readNUnit3(d *document) error {
	r := nunitReader{newXMLDoc(d, "NUnit"), new(int)}
	return r.roots(r.run, "test-run")
}

// run reads <test-run>, which holds suites of assemblies.
func (r nunitReader) run(tok xmlToken) error {
	failed, passed, bad := r.failed, r.passed, r.bad
	declaredFailed, declaredPassed, result := declared(r.attr("failed")), declared(r.attr("passed")), r.attr("result")
	err := r.children(func(tok xmlToken) error { return r.part(tok, nunitSuite{}) })
	if err != nil {
		return err
	}
	r.shortfall("", tok.line, declaredFailed, r.failed-failed)
	r.fewer("", tok.line, declaredPassed, r.passed-passed)
	if strings.HasPrefix(result, "Failed") && r.failed == failed && r.bad == bad {
		r.problem(Problem{Kind: KindExit, At: tok.line, Message: "the run's result is " + result + ", but no test says why"})
	}
	return nil
}

func readNUnit2(d *document) error {
	r := nunitReader{newXMLDoc(d, "NUnit 2"), new(int)}
	return r.roots(func(tok xmlToken) error {
		failed, bad, listed := r.failed, r.bad, *r.cases
		total := declared(r.attr("total"))
		want := max(declared(r.attr("errors")), 0) + max(declared(r.attr("failures")), 0)
		name := r.attr("name")
		if err := r.children(func(tok xmlToken) error { return r.part(tok, nunitSuite{}) }); err != nil {
			return err
		}
		// Set-up failures of a suite are counted among the failures.
		r.shortfall(name, tok.line, want, r.failed-failed+r.bad-bad)
		// Some count what was not run in the total, some do not.
		r.fewer(name, tok.line, total, *r.cases-listed)
		return nil
	}, "test-results")
}

// nunitSuite is the suite around what is read.
type nunitSuite struct{ name, space string }

// part reads a suite or a case, or what holds them.
func (r nunitReader) part(tok xmlToken, in nunitSuite) error {
	switch tok.name {
	case "test-suite":
		return r.suite(tok, in)
	case "test-case":
		return r.testCase(tok, in)
	case "results":
		return r.children(func(tok xmlToken) error { return r.part(tok, in) })
	}
	return r.x.skip()
}

// nunitOutcome is what <failure> or <reason> says.
type nunitOutcome struct{ message, trace string }

func (r nunitReader) outcome(o *nunitOutcome) error {
	return r.fields(map[string]*string{"message": &o.message, "stack-trace": &o.trace})
}

func (r nunitReader) suite(tok xmlToken, in nunitSuite) error {
	kind, name := r.attr("type"), r.attr("fullname")
	if name == "" { // NUnit 2 gives a part of the name on each level
		if name = r.attr("name"); in.space != "" && len(in.space) < 1<<10 {
			name = in.space + "." + name
		}
	}
	space := ""
	if kind == "Namespace" {
		space = name
	}
	result, label, site := r.attr("result"), r.attr("label"), r.attr("site")
	if result == "" && r.attr("success") == "False" {
		result = "Failure" // NUnit 2.4
	}
	failed, bad := r.failed, r.bad
	var o nunitOutcome
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "failure", "reason":
			if o.message == "" {
				return r.outcome(&o)
			}
			return r.x.skip()
		}
		return r.part(tok, nunitSuite{name, space})
	})
	if err != nil {
		return err
	}
	broken := hasAny(result, "Fail", "Error", "NotRunnable") || strings.HasPrefix(label, "Invalid")
	// A suite that fails for its tests has no trace of its own.
	atSetup := site == "SetUp" || site == "TearDown" || site == "" && o.trace != ""
	if !broken || !atSetup && (r.failed > failed || r.bad > bad) {
		return nil
	}
	p := Problem{Kind: KindPackage, Name: name, At: tok.line, Message: o.message, Trace: o.trace}
	if atSetup || label != "" {
		p.Kind = KindSetup
	}
	if p.Message == "" {
		p.Message = "the result of the " + firstOf(kind, "suite") + " is " + strings.TrimSpace(result+" "+label)
	}
	p.File, p.Line = placeIn(o.trace, "", "")
	r.problem(p)
	return nil
}

// testCase reads one test; NUnit 2 gives its full name as name.
func (r nunitReader) testCase(tok xmlToken, in nunitSuite) error {
	t := Test{Status: Passed, Name: r.attr("name"), Suite: r.attr("classname"), At: tok.line, Duration: seconds(firstOf(r.attr("duration"), r.attr("time")))}
	if full := r.attr("fullname"); full == "" {
		t.Suite, t.Name = splitMember(t.Name)
	} else if s := strings.TrimSuffix(full, "."+t.Name); t.Suite == "" || strings.HasPrefix(s, t.Suite+"(") {
		// The suite's full name has the arguments of a parametrised fixture.
		if t.Suite = s; s == full {
			t.Suite, _ = splitMember(full)
		}
	}
	if t.Suite == "" {
		t.Suite = in.name
		t.Name = strings.TrimPrefix(t.Name, in.name+".")
	}
	result, label, site := r.attr("result"), r.attr("label"), r.attr("site")
	executed, success := r.attr("executed"), r.attr("success")
	var o, reason nunitOutcome
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "failure":
			t.At = tok.line
			return r.outcome(&o)
		case "reason":
			return r.outcome(&reason)
		case "output":
			return r.into(&t.Output)
		}
		return r.x.skip()
	})
	if err != nil && o.message == "" {
		return err
	}
	if o.message == "" {
		o = reason
	}
	t.Message, t.Trace = o.message, o.trace
	t.Status, t.Kind = nunitStatus(result, label, executed, success)
	if t.Status == Failed {
		r.fail(&t, site)
	} else {
		t.Output, t.Trace = "", ""
	}
	*r.cases++
	r.test(t)
	return err
}

// nunitStatus says how a test ended. Inconclusive tests are neither passed nor
// failed to NUnit; nothing was found out, as for those skipped. Those that it
// could not run count as failed in its exit code.
func nunitStatus(result, label, executed, success string) (Status, Kind) {
	// Unity joins them: "Failed(Error)".
	if r, l, ok := strings.Cut(strings.TrimSuffix(result, ")"), "("); ok {
		result, label = r, firstOf(label, l)
	}
	notRun := strings.EqualFold(label, "Invalid") || strings.EqualFold(label, "NotRunnable")
	switch strings.ToLower(result) {
	case "passed", "success", "warning":
		return Passed, ""
	case "notrunnable", "invalid":
		return Failed, KindSetup
	case "cancelled":
		return Failed, KindTimeout
	case "failed", "failure", "error":
		switch {
		case notRun:
			return Failed, KindSetup
		case strings.EqualFold(result, "Error") || label == "Error":
			return Failed, KindError
		case label == "Cancelled":
			return Failed, KindTimeout
		}
		return Failed, ""
	case "skipped", "ignored", "inconclusive", "explicit":
		return Skipped, ""
	case "":
		switch {
		case strings.EqualFold(executed, "False"):
			return Skipped, ""
		case strings.EqualFold(success, "True"):
			return Passed, ""
		case strings.EqualFold(success, "False"):
			return Failed, ""
		}
	}
	return Other, ""
}

func (r nunitReader) fail(t *Test, site string) {
	if m := dotNetType.FindStringSubmatch(t.Message); m != nil {
		t.Type = m[1]
	}
	if t.Kind == KindError && t.Type == "" && strings.HasPrefix(t.Message, "Test exceeded Timeout") {
		t.Kind = KindTimeout
	}
	switch {
	case site == "SetUp" || site == "TearDown" || site == "Parent":
		t.Kind = KindSetup
	case strings.HasPrefix(t.Message, "SetUp : "), strings.HasPrefix(t.Message, "OneTimeSetUp: "), strings.HasPrefix(t.Message, "TearDown : "), strings.HasPrefix(t.Message, "TestFixtureSetUp failed"):
		t.Kind = KindSetup
	case strings.Contains(t.Message, "exceeded Timeout value"):
		t.Kind = KindTimeout
	}
	if t.Message == "" && t.Trace == "" {
		t.Message = "the test failed; the report says no more"
	}
	r.explain(t)
}
