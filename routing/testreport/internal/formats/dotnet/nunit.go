package dotnet

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// nunit3Format reads the results of NUnit 3 and 4 and of Unity's test runner. Some runners leave out
// the root and write the suite of an assembly alone.
var nunit3Format = format.Format{Name: "nunit3", Order: 30, Opens: []string{"test-run"}, Detect: detectNUnit3, Document: readNUnit3}

func detectNUnit3(head []byte) int {
	switch root, rest := xmlstream.Root(head); {
	case root == "test-run", root == "test-suite" && bytes.Contains(rest, []byte("<test-case")):
		return 90
	}
	return 0
}

// nunit2Format reads the results of NUnit 2, which other tools write too.
var nunit2Format = format.Format{Name: "nunit2", Order: 40, Opens: []string{"test-results"}, Detect: xmlstream.DetectRoot("test-results"), Document: readNUnit2}

// nunitReader is the state of one document of NUnit.
type nunitReader struct {
	*xmlstream.Doc
	cases *int // listed, whatever became of them
}

func readNUnit3(d *format.Document) error {
	r := nunitReader{xmlstream.NewDoc(d, "NUnit"), new(int)}
	return r.Roots(r.run, "test-run", "test-suite")
}

// run reads <test-run>, which holds suites of assemblies, or one such suite.
func (r nunitReader) run(tok xmlstream.Token) error {
	failed, passed, bad := r.Failed, r.Passed, r.Bad
	declaredFailed, declaredPassed, result := parse.Declared(r.Attr("failed")), parse.Declared(r.Attr("passed")), r.Attr("result")
	var err error
	if tok.Name == "test-suite" {
		err = r.suite(tok, nunitSuite{})
	} else {
		err = r.Children(func(tok xmlstream.Token) error { return r.part(tok, nunitSuite{}) })
	}
	if err != nil {
		return err
	}
	r.Shortfall("", tok.Line, declaredFailed, r.Failed-failed)
	r.Fewer("", tok.Line, declaredPassed, r.Passed-passed)
	if strings.HasPrefix(result, "Failed") && r.Failed == failed && r.Bad == bad {
		r.Problem(model.Problem{Kind: model.KindExit, At: tok.Line, Message: "the run's result is " + result + ", but no test says why"})
	}
	return nil
}

func readNUnit2(d *format.Document) error {
	r := nunitReader{xmlstream.NewDoc(d, "NUnit 2"), new(int)}
	return r.Roots(func(tok xmlstream.Token) error {
		failed, bad, listed := r.Failed, r.Bad, *r.cases
		total := parse.Declared(r.Attr("total"))
		want := max(parse.Declared(r.Attr("errors")), 0) + max(parse.Declared(r.Attr("failures")), 0)
		name := r.Attr("name")
		if err := r.Children(func(tok xmlstream.Token) error { return r.part(tok, nunitSuite{}) }); err != nil {
			return err
		}
		// Set-up failures of a suite are counted among the failures.
		r.Shortfall(name, tok.Line, want, r.Failed-failed+r.Bad-bad)
		// Some count what was not run in the total, some do not.
		r.Fewer(name, tok.Line, total, *r.cases-listed)
		return nil
	}, "test-results")
}

// nunitSuite is the suite around what is read.
type nunitSuite struct{ name, space string }

// part reads a suite or a case, or what holds them.
func (r nunitReader) part(tok xmlstream.Token, in nunitSuite) error {
	switch tok.Name {
	case "test-suite":
		return r.suite(tok, in)
	case "test-case":
		return r.testCase(tok, in)
	case "results":
		return r.Children(func(tok xmlstream.Token) error { return r.part(tok, in) })
	}
	return r.XML.Skip()
}

// nunitOutcome is what <failure> or <reason> says.
type nunitOutcome struct{ message, trace string }

func (r nunitReader) outcome(o *nunitOutcome) error {
	return r.Fields(map[string]*string{"message": &o.message, "stack-trace": &o.trace})
}

func (r nunitReader) suite(tok xmlstream.Token, in nunitSuite) error {
	kind, name := r.Attr("type"), r.Attr("fullname")
	if name == "" { // NUnit 2 gives a part of the name on each level
		if name = r.Attr("name"); in.space != "" && len(in.space) < 1<<10 {
			name = in.space + "." + name
		}
	}
	space := ""
	if kind == "Namespace" {
		space = name
	}
	result, label, site := r.Attr("result"), r.Attr("label"), r.Attr("site")
	if result == "" && r.Attr("success") == "False" {
		result = "Failure" // NUnit 2.4
	}
	failed, bad := r.Failed, r.Bad
	var o nunitOutcome
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "failure", "reason":
			if o.message == "" {
				return r.outcome(&o)
			}
			return r.XML.Skip()
		}
		return r.part(tok, nunitSuite{name, space})
	})
	if err != nil {
		return err
	}
	broken := parse.HasAny(result, "Fail", "Error", "NotRunnable") || strings.HasPrefix(label, "Invalid")
	// A suite that fails for its tests has no trace of its own.
	atSetup := site == "SetUp" || site == "TearDown" || site == "" && o.trace != ""
	if !broken || !atSetup && (r.Failed > failed || r.Bad > bad) {
		return nil
	}
	p := model.Problem{Kind: model.KindPackage, Name: name, At: tok.Line, Message: o.message, Trace: o.trace}
	if atSetup || label != "" {
		p.Kind = model.KindSetup
	}
	if p.Message == "" {
		p.Message = "the result of the " + parse.FirstOf(kind, "suite") + " is " + strings.TrimSpace(result+" "+label)
	}
	p.File, p.Line = failtext.PlaceIn(o.trace, "", "")
	r.Problem(p)
	return nil
}

// testCase reads one test; NUnit 2 gives its full name as name.
func (r nunitReader) testCase(tok xmlstream.Token, in nunitSuite) error {
	t := model.Test{Status: model.Passed, Name: r.Attr("name"), Suite: r.Attr("classname"), At: tok.Line, Duration: parse.Seconds(parse.FirstOf(r.Attr("duration"), r.Attr("time")))}
	if full := r.Attr("fullname"); full == "" {
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
	result, label, site := r.Attr("result"), r.Attr("label"), r.Attr("site")
	executed, success := r.Attr("executed"), r.Attr("success")
	var o, reason nunitOutcome
	failure := false
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "failure":
			t.At, failure = tok.Line, true
			return r.outcome(&o)
		case "reason":
			return r.outcome(&reason)
		case "output":
			return r.Into(&t.Output)
		}
		return r.XML.Skip()
	})
	if err != nil && o.message == "" {
		return err
	}
	if o.message == "" {
		o = reason
	}
	t.Message, t.Trace = o.message, o.trace
	t.Status, t.Kind = nunitStatus(result, label, executed, success)
	if failure && (t.Status == model.Passed || t.Status == model.Other) {
		t.Status = model.Failed // it has a failure; NUnit 2 can leave out success, too
	}
	if t.Status == model.Failed {
		r.fail(&t, site)
	} else {
		t.Output, t.Trace = "", ""
	}
	*r.cases++
	r.Test(t)
	return err
}

// nunitStatus says how a test ended. Inconclusive tests are neither passed nor
// failed to NUnit; nothing was found out, as for those skipped. Those that it
// could not run count as failed in its exit code.
func nunitStatus(result, label, executed, success string) (model.Status, model.Kind) {
	// Unity joins them: "Failed(Error)".
	if r, l, ok := strings.Cut(strings.TrimSuffix(result, ")"), "("); ok {
		result, label = r, parse.FirstOf(label, l)
	}
	notRun := strings.EqualFold(label, "Invalid") || strings.EqualFold(label, "NotRunnable")
	switch strings.ToLower(result) {
	case "passed", "success", "warning":
		return model.Passed, ""
	case "notrunnable", "invalid":
		return model.Failed, model.KindSetup
	case "cancelled":
		return model.Failed, model.KindTimeout
	case "failed", "failure", "error":
		switch {
		case notRun:
			return model.Failed, model.KindSetup
		case strings.EqualFold(result, "Error") || label == "Error":
			return model.Failed, model.KindError
		case label == "Cancelled":
			return model.Failed, model.KindTimeout
		}
		return model.Failed, ""
	case "skipped", "ignored", "inconclusive", "explicit":
		return model.Skipped, ""
	case "":
		switch {
		case strings.EqualFold(executed, "False"):
			return model.Skipped, ""
		case strings.EqualFold(success, "True"):
			return model.Passed, ""
		case strings.EqualFold(success, "False"):
			return model.Failed, ""
		}
	}
	return model.Other, ""
}

func (r nunitReader) fail(t *model.Test, site string) {
	if m := dotNetType.FindStringSubmatch(t.Message); m != nil {
		t.Type = m[1]
	}
	if t.Kind == model.KindError && t.Type == "" && strings.HasPrefix(t.Message, "Test exceeded Timeout") {
		t.Kind = model.KindTimeout
	}
	switch {
	case site == "SetUp" || site == "TearDown" || site == "Parent":
		t.Kind = model.KindSetup
	case strings.HasPrefix(t.Message, "SetUp : "), strings.HasPrefix(t.Message, "OneTimeSetUp: "), strings.HasPrefix(t.Message, "TearDown : "), strings.HasPrefix(t.Message, "TestFixtureSetUp failed"):
		t.Kind = model.KindSetup
	case strings.Contains(t.Message, "exceeded Timeout value"):
		t.Kind = model.KindTimeout
	}
	if t.Message == "" && t.Trace == "" {
		t.Message = "the test failed; the report says no more"
	}
	r.Explain(t)
}
