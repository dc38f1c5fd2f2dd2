package testreport

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// boostXMLFormat reads the XML log of Boost.Test (--log_format=XML), its XML
// report (--report_format=XML), and both in one file.
var boostXMLFormat = format{name: "boost-xml", order: 150, opens: []string{"TestLog"}, detect: detectBoostXML, document: readBoostXML}

func detectBoostXML(head []byte) int {
	switch n, rest := xmlRoot(head); {
	case n == "TestLog":
		return 80
	case n == "TestResult" && bytes.Contains(rest, []byte("assertions_")):
		return 80
	}
	return 0
}

// The two sides of "check a == b has failed [1 != 2]".
var (
	boostExpected = multimatch.New(`(?s) has failed \[.+? != (.+)\]`)
	boostActual   = multimatch.New(`(?s) has failed \[(.+?) != .+\]`)
)

type boostXMLReader struct {
	*xmlDoc
	path   []string
	logged bool // a log was read: the report repeats it
	result int  // failed test cases of the report
}

func readBoostXML(d *document) error {
	r := &boostXMLReader{xmlDoc: newXMLDoc(d, "Boost.Test")}
	return r.roots(func(tok xmlToken) error {
		if tok.name == "TestLog" {
			r.logged = true
			return r.children(r.part)
		}
		r.result = 0
		err := r.children(r.resultPart)
		if err == nil && r.logged {
			r.shortfall("", tok.line, r.result, r.failed+r.bad)
		}
		return err
	}, "TestLog", "TestResult")
}

// in calls fn with the name of the suite just opened added to the path.
func (r *boostXMLReader) in(fn func(xmlToken) error) error {
	if name := r.attr("name"); len(r.path) < r.lim.Depth {
		r.path = append(r.path, name)
		defer func() { r.path = r.path[:len(r.path)-1] }()
	}
	return r.children(fn)
}

func (r *boostXMLReader) suite() string { return strings.Join(r.path, " > ") }

// part reads the log.
func (r *boostXMLReader) part(tok xmlToken) error {
	switch tok.name {
	case "TestSuite":
		return r.in(r.part)
	case "TestCase":
		return r.testCase(tok)
	case "Error", "FatalError", "Exception":
		return r.suiteFailure(tok)
	}
	return r.x.skip()
}

// suiteFailure reads what failed outside a test case: a fixture of a suite.
func (r *boostXMLReader) suiteFailure(tok xmlToken) error {
	p := Problem{Kind: KindSetup, Name: r.suite(), File: r.attr("file"), Line: max(0, declared(r.attr("line"))), At: tok.line}
	var err error
	p.Message, err = r.ownText()
	p.Message = firstOf(p.Message, "failed outside the test cases")
	r.problem(p)
	return err
}

func (r *boostXMLReader) testCase(tok xmlToken) error {
	t := Test{Status: Passed, Suite: r.suite(), Name: r.attr("name"), File: r.attr("file"), Line: max(0, declared(r.attr("line"))), At: tok.line}
	if r.attr("skipped") == "yes" {
		t.Status, t.Message = Skipped, r.attr("reason")
	}
	var micro string
	err := r.children(func(in xmlToken) error {
		switch in.name {
		case "Error", "FatalError", "Exception":
			return r.failure(in, &t)
		case "TestingTime":
			return r.into(&micro)
		}
		return r.x.skip()
	})
	if err != nil && t.Status != Failed {
		return err
	}
	t.Duration = seconds(micro) / 1e6
	if t.Status == Failed {
		r.explain(&t)
		t.Expected, t.Actual = "", ""
		sidesBy(&t, boostExpected, boostActual)
	}
	r.test(t)
	return err
}

// failure reads a failed check or an exception: the first gives message and
// place, all stand in the trace.
func (r *boostXMLReader) failure(tok xmlToken, t *Test) error {
	file, line := r.attr("file"), max(0, declared(r.attr("line")))
	text, err := r.ownText() // not the last checkpoint and the context
	if t.Status != Failed {
		t.Status, t.Message, t.At, t.Kind = Failed, text, tok.line, KindAssertion
		if tok.name == "Exception" {
			t.Kind = KindError
			if hasAny(text, "signal:", "memory access violation", "fatal error in") {
				t.Kind = KindCrash
			}
		}
		if file != "" && file != "unknown location" {
			t.File, t.Line = file, line
		}
	}
	if len(t.Trace) < r.lim.Text {
		t.Trace = strings.TrimSpace(t.Trace + "\n" + text)
	}
	return err
}

// resultPart reads the report, which names the failed cases without a reason.
func (r *boostXMLReader) resultPart(tok xmlToken) error {
	switch tok.name {
	case "TestSuite":
		return r.in(r.resultPart)
	case "TestCase":
	default:
		return r.x.skip()
	}
	t := Test{Suite: r.suite(), Name: r.attr("name"), At: tok.line}
	result := r.attr("result")
	if err := r.x.skip(); err != nil {
		return err
	}
	switch result {
	case "passed":
		t.Status = Passed
	case "skipped":
		t.Status = Skipped
	default:
		t.Status, t.Message = Failed, "the result is "+firstOf(result, "not stated")
		if result == "aborted" { // by an exception or a check that must hold
			t.Kind = KindError
		}
		r.result++
	}
	if !r.logged {
		r.test(t)
	}
	return nil
}
