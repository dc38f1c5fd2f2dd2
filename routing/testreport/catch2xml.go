package testreport

import (
	"strings"
)

// catch2XMLFormat reads the XML reporters of Catch2 and of doctest, which
// writes nearly the same.
var catch2XMLFormat = format{name: "catch2-xml", order: 160, opens: []string{"Catch2TestRun", "Catch", "doctest"}, detect: detectRoot("Catch2TestRun", "Catch", "doctest"), document: readCatch2XML}

type catch2XMLReader struct{ *xmlDoc }

func readCatch2XML(d *document) error {
	r := catch2XMLReader{newXMLDoc(d, "Catch2")}
	return r.roots(func(tok xmlToken) error {
		failed, passed := r.failed, r.passed
		want := catch2Totals{-1, -1}
		err := r.children(func(tok xmlToken) error { return r.part(tok, &want, "") })
		if err == nil {
			r.shortfall("", tok.line, want.failed, r.failed-failed)
			r.fewer("", tok.line, want.passed, r.passed-passed)
		}
		return err
	}, "Catch2TestRun", "Catch", "doctest")
}

// catch2Totals are the test cases of a run, -1 where it does not say.
type catch2Totals struct{ failed, passed int }

func (r catch2XMLReader) part(tok xmlToken, want *catch2Totals, suite string) error {
	switch tok.name {
	case "Group", "TestSuite":
		name := r.attr("name")
		if tok.name == "Group" {
			name = "" // the name of the executable
		}
		return r.children(func(tok xmlToken) error { return r.part(tok, want, name) })
	case "TestCase":
		return r.testCase(tok, suite)
	case "OverallResultsCases", "OverallResultsTestCases": // the last is that of the whole run
		*want = catch2Totals{declared(r.attr("failures")), declared(r.attr("successes"))}
	}
	return r.x.skip()
}

// catch2Case gathers what one test case holds.
type catch2Case struct {
	t        Test
	sections []string
	success  string // as the case itself states it
	skips    int
	seen     bool
}

func (r catch2XMLReader) testCase(tok xmlToken, suite string) error {
	c := &catch2Case{t: Test{Suite: suite, Name: r.attr("name"), File: r.attr("filename"), Line: max(0, declared(r.attr("line"))), At: tok.line}}
	skipped := r.attr("skipped") == "true"
	err := r.children(func(tok xmlToken) error { return r.child(tok, c) })
	t := &c.t
	if err != nil && t.Message == "" {
		return err
	}
	switch {
	case skipped:
		t.Status = Skipped
	case c.success == "false" || !c.seen && t.Message != "":
		t.Status = Failed
		t.Message = firstOf(t.Message, "the test failed; the report says no more")
		r.explain(t)
	case c.skips > 0:
		*t = Test{Suite: t.Suite, Name: t.Name, Status: Skipped, At: t.At, Duration: t.Duration}
	case c.seen:
		*t = Test{Suite: t.Suite, Name: t.Name, Status: Passed, At: t.At, Duration: t.Duration} // also one that may fail
	default:
		t.Status = Other
	}
	r.test(*t)
	return err
}

func (r catch2XMLReader) child(tok xmlToken, c *catch2Case) error {
	switch tok.name {
	case "Section", "SubCase":
		c.sections = append(c.sections, r.attr("name"))
		err := r.children(func(tok xmlToken) error { return r.child(tok, c) })
		c.sections = c.sections[:len(c.sections)-1]
		return err
	case "OverallResult", "OverallResultsAsserts":
		c.seen, c.success = true, firstOf(r.attr("success"), r.attr("test_case_success"))
		c.skips = max(0, declared(r.attr("skips")))
		c.t.Duration = seconds(firstOf(r.attr("durationInSeconds"), r.attr("duration")))
		if c.success == "" && declared(r.attr("failures")) > 0 {
			c.success = "false"
		}
	case "Expression":
		if r.attr("success") != "true" {
			return r.expression(tok, c)
		}
	case "Failure", "FatalErrorCondition", "Exception":
		return r.failure(tok, c)
	case "Message":
		if strings.EqualFold(r.attr("type"), "FATAL ERROR") || strings.EqualFold(r.attr("type"), "ERROR") {
			return r.failure(tok, c)
		}
	}
	return r.x.skip()
}

func (r catch2XMLReader) expression(tok xmlToken, c *catch2Case) error {
	typ, file, line := r.attr("type"), r.attr("filename"), max(0, declared(r.attr("line")))
	var original, expanded, exception, fatal string
	err := r.fields(map[string]*string{"Original": &original, "Expanded": &expanded, "Exception": &exception, "ExpectedException": new(string), "FatalErrorCondition": &fatal})
	f := Test{Kind: KindAssertion, File: file, Line: line, At: tok.line, Message: typ + "( " + original + " )"}
	switch {
	case fatal != "":
		f.Kind = KindCrash
		f.Message += "\n" + fatal
	case exception != "":
		f.Kind = KindError
		f.Message += "\n" + exception
	case expanded != "" && expanded != original:
		f.Message += "\nwith expansion:\n" + expanded
	}
	c.fail(r, f)
	return err
}

func (r catch2XMLReader) failure(tok xmlToken, c *catch2Case) error {
	f := Test{Kind: KindAssertion, File: r.attr("filename"), Line: max(0, declared(r.attr("line"))), At: tok.line}
	switch tok.name {
	case "FatalErrorCondition":
		f.Kind = KindCrash
	case "Exception":
		if f.Kind = KindError; r.attr("crash") == "true" {
			f.Kind = KindCrash
		}
	}
	err := r.into(&f.Message)
	c.fail(r, f)
	return err
}

// fail takes a failure: the first gives message and place, all stand in the trace.
func (c *catch2Case) fail(r catch2XMLReader, f Test) {
	t := &c.t
	text := f.Message
	if len(c.sections) > 0 {
		text = strings.Join(c.sections, " > ") + ": " + text
	}
	if t.Message == "" {
		t.Message, t.Kind, t.At = firstOf(text, "an assertion failed"), f.Kind, f.At
		if f.File != "" {
			t.File, t.Line = f.File, f.Line
		}
	}
	if len(t.Trace) < r.lim.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + text)
	}
}
