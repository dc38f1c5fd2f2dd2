package native

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// qtestFormat reads the XML of QTestLib (-xml, -o file,xml). One test function
// is one test, as on the command line; its data rows stand in its trace.
var qtestFormat = format.Format{Name: "qtest", Order: 120, Detect: detectQTest, Document: readQTest}

func detectQTest(head []byte) int {
	n, rest := xmlstream.Root(head)
	switch {
	case n != "TestCase":
		return 0
	case strings.Contains(string(rest), "<QtVersion") || strings.Contains(string(rest), "<TestFunction"):
		return 90
	}
	return 0
}

var (
	qtestExpected = lazyregexp.New(`(?m)^\s*(?:Expected|Baseline)\s+\(.*\)\s*:(.*)$`)
	qtestActual   = lazyregexp.New(`(?m)^\s*Actual\s+\(.*\)\s*:(.*)$`)
)

type qtestReader struct{ *xmlstream.Doc }

func readQTest(d *format.Document) error {
	r := qtestReader{xmlstream.NewDoc(d, "QTestLib")}
	return r.Roots(func(tok xmlstream.Token) error {
		class := r.Attr("name")
		return r.Children(func(tok xmlstream.Token) error {
			if tok.Name == "TestFunction" {
				return r.function(tok, class)
			}
			return r.XML.Skip()
		})
	}, "TestCase")
}

// qtestFunction gathers the incidents of one function.
type qtestFunction struct {
	t       model.Test
	passed  int
	failed  int
	skipped int
}

func (r qtestReader) function(tok xmlstream.Token, class string) error {
	f := qtestFunction{t: model.Test{Name: r.Attr("name"), Suite: class, At: tok.Line}}
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "Incident", "Message":
			return r.incident(tok, &f)
		case "Duration":
			f.t.Duration = parse.Milliseconds(r.XML.Attr("msecs"))
		}
		return r.XML.Skip()
	})
	if err != nil && f.failed == 0 {
		return err
	}
	t := &f.t
	switch {
	case f.failed > 0:
		t.Status = model.Failed
		if t.Name == "initTestCase" || t.Name == "cleanupTestCase" || t.Name == "init" || t.Name == "cleanup" {
			t.Kind = model.KindSetup
		}
		r.Explain(t)
		failtext.SidesBy(t, qtestExpected, qtestActual)
	case f.passed == 0 && f.skipped > 0:
		t.Status = model.Skipped
	case f.passed > 0:
		t.Status, t.Message, t.Trace, t.File, t.Line = model.Passed, "", "", "", 0
	default:
		t.Status = model.Other // neither passed nor failed nor skipped is reported
	}
	r.Test(*t)
	return err
}

func (r qtestReader) incident(tok xmlstream.Token, f *qtestFunction) error {
	typ, file, line := r.Attr("type"), r.Attr("file"), parse.Declared(r.Attr("line"))
	if file == "Unknown file" || strings.HasSuffix(file, "qtestcase.cpp") {
		file, line = "", 0
	}
	var tag, text string
	err := r.Fields(map[string]*string{"DataTag": &tag, "Description": &text})
	if err != nil && typ == "pass" {
		return err
	}
	kind := model.Kind("")
	switch typ {
	case "pass", "bpass", "bfail", "bxpass", "bxfail": // "b": on the list of tests that may fail
		f.passed++
		return err
	case "xfail":
		return err // expected; the function goes on, or passed
	case "skip":
		f.skipped++
		if f.t.Message == "" && f.failed == 0 {
			f.t.Message = text
		}
		return err
	case "fail":
		kind = model.KindAssertion
	case "xpass":
		kind, text = model.KindAssertion, strings.TrimSpace("passed, but was expected to fail: "+text)
	case "qfatal", "fatal":
		kind = model.KindCrash
	default:
		return err
	}
	f.failed++
	f.add(r, model.Test{Kind: kind, File: file, Line: max(0, line), Message: text, At: tok.Line}, tag)
	return err
}

// add takes a failing incident: the first gives message and place, all stand
// in the trace.
func (f *qtestFunction) add(r qtestReader, in model.Test, tag string) {
	if tag != "" {
		in.Message = tag + ": " + in.Message
	}
	t := &f.t
	if f.failed == 1 {
		t.Kind, t.File, t.Line, t.Message, t.At = in.Kind, in.File, in.Line, in.Message, in.At
		switch {
		case strings.Contains(in.Message, "Test function timed out"):
			t.Kind = model.KindTimeout
		case strings.Contains(in.Message, "Received a fatal error") || strings.Contains(in.Message, "Received signal"):
			t.Kind = model.KindCrash
		case strings.Contains(in.Message, "Caught unhandled exception"):
			t.Kind = model.KindError
		}
	}
	if len(t.Trace) < r.Limits.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + in.Message)
	}
}
