package native

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// boostXMLFormat reads the XML log of Boost.Test (--log_format=XML), its XML
// report (--report_format=XML), and both in one file.
var boostXMLFormat = format.Format{Name: "boost-xml", Order: 150, Opens: []string{"TestLog"}, Detect: detectBoostXML, Document: readBoostXML}

func detectBoostXML(head []byte) int {
	switch n, rest := xmlstream.Root(head); {
	case n == "TestLog":
		return 80
	case n == "TestResult" && bytes.Contains(rest, []byte("assertions_")):
		return 80
	}
	return 0
}

// The two sides of "check a == b has failed [1 != 2]".
var (
	boostExpected = lazyregexp.New(`(?s) has failed \[.+? != (.+)\]`)
	boostActual   = lazyregexp.New(`(?s) has failed \[(.+?) != .+\]`)
)

type boostXMLReader struct {
	*xmlstream.Doc
	path   []string
	logged bool // a log was read: the report repeats it
	result int  // failed test cases of the report
}

func readBoostXML(d *format.Document) error {
	r := &boostXMLReader{Doc: xmlstream.NewDoc(d, "Boost.Test")}
	return r.Roots(func(tok xmlstream.Token) error {
		if tok.Name == "TestLog" {
			r.logged = true
			return r.Children(r.part)
		}
		r.result = 0
		err := r.Children(r.resultPart)
		if err == nil && r.logged {
			r.Shortfall("", tok.Line, r.result, r.Failed+r.Bad)
		}
		return err
	}, "TestLog", "TestResult")
}

// in calls fn with the name of the suite just opened added to the path.
func (r *boostXMLReader) in(fn func(xmlstream.Token) error) error {
	if name := r.Attr("name"); len(r.path) < r.Limits.Depth {
		r.path = append(r.path, name)
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	return r.Children(fn)
}

func (r *boostXMLReader) suite() string { return strings.Join(r.path, " > ") }

// part reads the log.
func (r *boostXMLReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "TestSuite":
		return r.in(r.part)
	case "TestCase":
		return r.testCase(tok)
	case "Error", "FatalError", "Exception":
		return r.suiteFailure(tok)
	}
	return r.XML.Skip()
}

// suiteFailure reads what failed outside a test case: a fixture of a suite.
func (r *boostXMLReader) suiteFailure(tok xmlstream.Token) error {
	p := model.Problem{Kind: model.KindSetup, Name: r.suite(), File: r.Attr("file"), Line: max(0, parse.Declared(r.Attr("line"))), At: tok.Line}
	var err error
	p.Message, err = r.OwnText()
	p.Message = parse.FirstOf(p.Message, "failed outside the test cases")
	r.Problem(p)
	return err
}

func (r *boostXMLReader) testCase(tok xmlstream.Token) error {
	t := model.Test{Status: model.Passed, Suite: r.suite(), Name: r.Attr("name"), File: r.Attr("file"), Line: max(0, parse.Declared(r.Attr("line"))), At: tok.Line}
	if r.Attr("skipped") == "yes" {
		t.Status, t.Message = model.Skipped, r.Attr("reason")
	}
	var micro string
	nested := false
	err := r.Children(func(in xmlstream.Token) error {
		switch in.Name {
		case "TestSuite", "TestCase": // registered while the test case ran
			nested = true
			if len(r.path) < r.Limits.Depth {
				r.path = append(r.path, t.Name)
				defer func() { r.path = r.path[:len(r.path)-1] }()
			}
			return r.part(in)
		case "Error", "FatalError", "Exception":
			return r.failure(in, &t)
		case "TestingTime":
			return r.Into(&micro)
		}
		return r.XML.Skip()
	})
	if err != nil && t.Status != model.Failed {
		return err
	}
	if nested && t.Status == model.Passed {
		return err // it is the tests in it
	}
	t.Duration = parse.Seconds(micro) / 1e6
	if t.Status == model.Failed {
		r.Explain(&t)
		t.Expected, t.Actual = "", ""
		failtext.SidesBy(&t, boostExpected, boostActual)
	}
	r.Test(t)
	return err
}

// failure reads a failed check or an exception: the first gives message and
// place, all stand in the trace.
func (r *boostXMLReader) failure(tok xmlstream.Token, t *model.Test) error {
	file, line := r.Attr("file"), max(0, parse.Declared(r.Attr("line")))
	text, err := r.OwnText() // not the last checkpoint and the context
	if t.Status != model.Failed {
		t.Status, t.Message, t.At, t.Kind = model.Failed, text, tok.Line, model.KindAssertion
		if tok.Name == "Exception" {
			t.Kind = model.KindError
			if parse.HasAny(text, "signal:", "memory access violation", "fatal error in") {
				t.Kind = model.KindCrash
			}
		}
		if file != "" && file != "unknown location" {
			t.File, t.Line = file, line
		}
	}
	if len(t.Trace) < r.Limits.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + text)
	}
	return err
}

// resultPart reads the report, which names the failed cases without a reason.
func (r *boostXMLReader) resultPart(tok xmlstream.Token) error {
	switch tok.Name {
	case "TestSuite":
		return r.in(r.resultPart)
	case "TestCase":
	default:
		return r.XML.Skip()
	}
	t := model.Test{Suite: r.suite(), Name: r.Attr("name"), At: tok.Line}
	result := r.Attr("result")
	if err := r.XML.Skip(); err != nil {
		return err
	}
	switch result {
	case "passed":
		t.Status = model.Passed
	case "skipped":
		t.Status = model.Skipped
	default:
		t.Status, t.Message = model.Failed, "the result is "+parse.FirstOf(result, "not stated")
		if result == "aborted" { // by an exception or a check that must hold
			t.Kind = model.KindError
		}
		r.result++
	}
	if !r.logged {
		r.Test(t)
	}
	return nil
}
