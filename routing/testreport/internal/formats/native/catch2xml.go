package native

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// catch2XMLFormat reads the XML reporters of Catch2 and of doctest, which
// writes nearly the same.
var catch2XMLFormat = format.Format{Name: "catch2-xml", Order: 160, Opens: []string{"Catch2TestRun", "Catch", "doctest"}, Detect: xmlstream.DetectRoot("Catch2TestRun", "Catch", "doctest"), Document: readCatch2XML}

type catch2XMLReader struct{ *xmlstream.Doc }

func readCatch2XML(d *format.Document) error {
	r := catch2XMLReader{xmlstream.NewDoc(d, "Catch2")}
	return r.Roots(func(tok xmlstream.Token) error {
		failed, passed := r.Failed, r.Passed
		want := catch2Totals{-1, -1}
		err := r.Children(func(tok xmlstream.Token) error { return r.part(tok, &want, "") })
		if err == nil {
			r.Shortfall("", tok.Line, want.failed, r.Failed-failed)
			r.Fewer("", tok.Line, want.passed, r.Passed-passed)
		}
		return err
	}, "Catch2TestRun", "Catch", "doctest")
}

// catch2Totals are the test cases of a run, -1 where it does not say.
type catch2Totals struct{ failed, passed int }

func (r catch2XMLReader) part(tok xmlstream.Token, want *catch2Totals, suite string) error {
	switch tok.Name {
	case "Group", "TestSuite":
		name := r.Attr("name")
		if tok.Name == "Group" {
			name = "" // the name of the executable
		}
		return r.Children(func(tok xmlstream.Token) error { return r.part(tok, want, name) })
	case "TestCase":
		return r.testCase(tok, suite)
	case "OverallResultsCases", "OverallResultsTestCases": // the last is that of the whole run
		*want = catch2Totals{parse.Declared(r.Attr("failures")), parse.Declared(r.Attr("successes"))}
	}
	return r.XML.Skip()
}

// catch2Case gathers what one test case holds.
type catch2Case struct {
	t        model.Test
	sections []string
	success  string // as the case itself states it
	skips    int
	seen     bool
}

func (r catch2XMLReader) testCase(tok xmlstream.Token, suite string) error {
	c := &catch2Case{t: model.Test{Suite: suite, Name: r.Attr("name"), File: r.Attr("filename"), Line: max(0, parse.Declared(r.Attr("line"))), At: tok.Line}}
	skipped := r.Attr("skipped") == "true"
	err := r.Children(func(tok xmlstream.Token) error { return r.child(tok, c) })
	t := &c.t
	if err != nil && t.Message == "" {
		return err
	}
	switch {
	case skipped:
		t.Status = model.Skipped
	case c.success == "false" || !c.seen && t.Message != "":
		t.Status = model.Failed
		t.Message = parse.FirstOf(t.Message, "the test failed; the report says no more")
		r.Explain(t)
	case c.skips > 0:
		*t = model.Test{Suite: t.Suite, Name: t.Name, Status: model.Skipped, At: t.At, Duration: t.Duration}
	case c.seen && (c.success == "true" || c.success == ""):
		*t = model.Test{Suite: t.Suite, Name: t.Name, Status: model.Passed, At: t.At, Duration: t.Duration} // also one that may fail
	default:
		t.Status = model.Other
	}
	r.Test(*t)
	return err
}

func (r catch2XMLReader) child(tok xmlstream.Token, c *catch2Case) error {
	switch tok.Name {
	case "Section", "SubCase":
		c.sections = append(c.sections, r.Attr("name"))
		err := r.Children(func(tok xmlstream.Token) error { return r.child(tok, c) })
		c.sections = c.sections[:len(c.sections)-1]
		return err
	case "OverallResult", "OverallResultsAsserts":
		c.seen, c.success = true, parse.FirstOf(r.Attr("success"), r.Attr("test_case_success"))
		c.skips = max(0, parse.Declared(r.Attr("skips")))
		c.t.Duration = parse.Seconds(parse.FirstOf(r.Attr("durationInSeconds"), r.Attr("duration")))
		if c.success == "" && parse.Declared(r.Attr("failures")) > 0 {
			c.success = "false"
		}
	case "Expression":
		if r.Attr("success") != "true" {
			return r.expression(tok, c)
		}
	case "Failure", "FatalErrorCondition", "Exception":
		return r.failure(tok, c)
	case "Message":
		if strings.EqualFold(r.Attr("type"), "FATAL ERROR") || strings.EqualFold(r.Attr("type"), "ERROR") {
			return r.failure(tok, c)
		}
	}
	return r.XML.Skip()
}

func (r catch2XMLReader) expression(tok xmlstream.Token, c *catch2Case) error {
	typ, file, line := r.Attr("type"), r.Attr("filename"), max(0, parse.Declared(r.Attr("line")))
	var original, expanded, exception, fatal string
	err := r.Fields(map[string]*string{"Original": &original, "Expanded": &expanded, "Exception": &exception, "ExpectedException": new(string), "FatalErrorCondition": &fatal})
	f := model.Test{Kind: model.KindAssertion, File: file, Line: line, At: tok.Line, Message: typ + "( " + original + " )"}
	switch {
	case fatal != "":
		f.Kind = model.KindCrash
		f.Message += "\n" + fatal
	case exception != "":
		f.Kind = model.KindError
		f.Message += "\n" + exception
	case expanded != "" && expanded != original:
		f.Message += "\nwith expansion:\n" + expanded
	}
	c.fail(r, f)
	return err
}

func (r catch2XMLReader) failure(tok xmlstream.Token, c *catch2Case) error {
	f := model.Test{Kind: model.KindAssertion, File: r.Attr("filename"), Line: max(0, parse.Declared(r.Attr("line"))), At: tok.Line}
	switch tok.Name {
	case "FatalErrorCondition":
		f.Kind = model.KindCrash
	case "Exception":
		if f.Kind = model.KindError; r.Attr("crash") == "true" {
			f.Kind = model.KindCrash
		}
	}
	err := r.Into(&f.Message)
	c.fail(r, f)
	return err
}

// fail takes a failure: the first gives message and place, all stand in the trace.
func (c *catch2Case) fail(r catch2XMLReader, f model.Test) {
	t := &c.t
	text := f.Message
	if len(c.sections) > 0 {
		text = strings.Join(c.sections, " > ") + ": " + text
	}
	if t.Message == "" {
		t.Message, t.Kind, t.At = parse.FirstOf(text, "an assertion failed"), f.Kind, f.At
		if f.File != "" {
			t.File, t.Line = f.File, f.Line
		}
	}
	if len(t.Trace) < r.Limits.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + text)
	}
}
