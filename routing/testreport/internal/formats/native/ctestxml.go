package native

import (
	"bytes"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// ctestXMLFormat reads Test.xml, which `ctest -T Test` writes for a dashboard.
var ctestXMLFormat = format.Format{Name: "ctest-xml", Order: 140, Detect: detectCTestXML, Document: readCTestXML}

func detectCTestXML(head []byte) int {
	n, rest := xmlstream.Root(head)
	if n == "Site" && bytes.Contains(rest, []byte("<Testing")) {
		return 90
	}
	return 0
}

type ctestXMLReader struct {
	*xmlstream.Doc
	planned, listed int
}

func readCTestXML(d *format.Document) error {
	r := &ctestXMLReader{Doc: xmlstream.NewDoc(d, "CTest")}
	return r.Roots(func(tok xmlstream.Token) error {
		r.planned, r.listed = 0, 0
		err := r.Children(r.part)
		if err == nil {
			r.Fewer("", tok.Line, r.planned, r.listed)
		}
		return err
	}, "Site")
}

func (r *ctestXMLReader) part(tok xmlstream.Token) error {
	switch {
	case tok.Name == "Testing":
		return r.Children(r.part)
	case tok.Name == "TestList":
		return r.Children(func(xmlstream.Token) error {
			r.planned++
			return r.XML.Skip()
		})
	case tok.Name == "Test" && r.XML.Attr("Status") != "":
		return r.testCase(tok)
	}
	return r.XML.Skip()
}

// ctestResults are the measurements of one test.
type ctestResults struct{ exit, value, reason, completion, time, output string }

func (r *ctestXMLReader) testCase(tok xmlstream.Token) error {
	t := model.Test{At: tok.Line}
	status := r.Attr("Status")
	var m ctestResults
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
		case "Name":
			return r.Into(&t.Name)
		case "Results":
			return r.Children(func(tok xmlstream.Token) error { return r.measurement(tok, &m) })
		}
		return r.XML.Skip()
	})
	if err != nil && (status == "passed" || t.Name == "") {
		return err
	}
	t.Duration = parse.Seconds(m.time)
	switch {
	case status == "passed":
		t.Status = model.Passed
	case status == "notrun" && (m.completion == "Disabled" || strings.HasPrefix(m.completion, "SKIP_") || strings.HasPrefix(m.exit, "Skip")):
		t.Status, t.Message = model.Skipped, m.completion
	default:
		// CTest counts a test that it could not start as failed.
		t.Status, t.Trace = model.Failed, m.output
		t.Message = parse.FirstOf(m.reason, ctestWords(status, m))
		t.Kind = ctestKind(status, m)
		r.Explain(&t)
	}
	r.listed++
	r.Test(t)
	return err
}

func (r *ctestXMLReader) measurement(tok xmlstream.Token, m *ctestResults) error {
	into := map[string]*string{"Exit Code": &m.exit, "Exit Value": &m.value, "Fail Reason": &m.reason, "Completion Status": &m.completion, "Execution Time": &m.time}[r.XML.Attr("name")]
	switch {
	case tok.Name == "Measurement":
		into = &m.output
	case tok.Name != "NamedMeasurement" || into == nil:
		return r.XML.Skip()
	}
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "Value" || r.XML.Attr("encoding") != "" {
			return r.XML.Skip()
		}
		return r.Into(into)
	})
}

func ctestWords(status string, m ctestResults) string {
	switch {
	case status == "notrun":
		return "the test was not run: " + parse.FirstOf(m.completion, "no reason is given")
	case m.exit != "" && m.exit != "Failed":
		return "the test ended with " + m.exit
	}
	if m.output == "" {
		return strings.TrimSpace("the test failed with exit value " + m.value)
	}
	return "" // its output says more
}

func ctestKind(status string, m ctestResults) model.Kind {
	switch {
	case status == "notrun":
		return model.KindSetup
	case m.exit == "Timeout" || m.completion == "Timeout":
		return model.KindTimeout
	case parse.HasAny(m.exit, "SEGFAULT", "ILLEGAL", "NUMERICAL", "OTHER_FAULT", "Subprocess aborted", "BAD_COMMAND", "INTERRUPT"):
		return model.KindCrash
	}
	return ""
}
