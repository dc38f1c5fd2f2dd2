package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// qtestFormat reads the XML of QTestLib (-xml, -o file,xml). One test function
// is one test, as on the command line; its data rows stand in its trace.
var qtestFormat = format{name: "qtest", order: 120, detect: detectQTest, document: readQTest}

func detectQTest(head []byte) int {
	n, rest := xmlRoot(head)
	switch {
	case n != "TestCase":
		return 0
	case strings.Contains(string(rest), "<QtVersion") || strings.Contains(string(rest), "<TestFunction"):
		return 90
	}
	return 0
}

var (
	qtestExpected = multimatch.New(`(?m)^\s*(?:Expected|Baseline)\s+\(.*\)\s*:(.*)$`)
	qtestActual   = multimatch.New(`(?m)^\s*Actual\s+\(.*\)\s*:(.*)$`)
)

type qtestReader struct{ *xmlDoc }

func readQTest(d *document) error {
	r := qtestReader{newXMLDoc(d, "QTestLib")}
	return r.roots(func(tok xmlToken) error {
		class := r.attr("name")
		return r.children(func(tok xmlToken) error {
			if tok.name == "TestFunction" {
				return r.function(tok, class)
			}
			return r.x.skip()
		})
	}, "TestCase")
}

// qtestFunction gathers the incidents of one function.
type qtestFunction struct {
	t       Test
	passed  int
	failed  int
	skipped int
}

func (r qtestReader) function(tok xmlToken, class string) error {
	f := qtestFunction{t: Test{Name: r.attr("name"), Suite: class, At: tok.line}}
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "Incident", "Message":
			return r.incident(tok, &f)
		case "Duration":
			f.t.Duration = milliseconds(r.x.attr("msecs"))
		}
		return r.x.skip()
	})
	if err != nil && f.failed == 0 {
		return err
	}
	t := &f.t
	switch {
	case f.failed > 0:
		t.Status = Failed
		if t.Name == "initTestCase" || t.Name == "cleanupTestCase" || t.Name == "init" || t.Name == "cleanup" {
			t.Kind = KindSetup
		}
		r.explain(t)
		sidesBy(t, qtestExpected, qtestActual)
	case f.passed == 0 && f.skipped > 0:
		t.Status = Skipped
	case f.passed > 0:
		t.Status, t.Message, t.Trace, t.File, t.Line = Passed, "", "", "", 0
	default:
		t.Status = Other // neither passed nor failed nor skipped is reported
	}
	r.test(*t)
	return err
}

func (r qtestReader) incident(tok xmlToken, f *qtestFunction) error {
	typ, file, line := r.attr("type"), r.attr("file"), declared(r.attr("line"))
	if file == "Unknown file" || strings.HasSuffix(file, "qtestcase.cpp") {
		file, line = "", 0
	}
	var tag, text string
	err := r.fields(map[string]*string{"DataTag": &tag, "Description": &text})
	if err != nil && typ == "pass" {
		return err
	}
	kind := Kind("")
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
		kind = KindAssertion
	case "xpass":
		kind, text = KindAssertion, strings.TrimSpace("passed, but was expected to fail: "+text)
	case "qfatal", "fatal":
		kind = KindCrash
	default:
		return err
	}
	f.failed++
	f.add(r, Test{Kind: kind, File: file, Line: max(0, line), Message: text, At: tok.line}, tag)
	return err
}

// add takes a failing incident: the first gives message and place, all stand
// in the trace.
func (f *qtestFunction) add(r qtestReader, in Test, tag string) {
	if tag != "" {
		in.Message = tag + ": " + in.Message
	}
	t := &f.t
	if f.failed == 1 {
		t.Kind, t.File, t.Line, t.Message, t.At = in.Kind, in.File, in.Line, in.Message, in.At
		switch {
		case strings.Contains(in.Message, "Test function timed out"):
			t.Kind = KindTimeout
		case strings.Contains(in.Message, "Received a fatal error") || strings.Contains(in.Message, "Received signal"):
			t.Kind = KindCrash
		case strings.Contains(in.Message, "Caught unhandled exception"):
			t.Kind = KindError
		}
	}
	if len(t.Trace) < r.lim.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + in.Message)
	}
}
