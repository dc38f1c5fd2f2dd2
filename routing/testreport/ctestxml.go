package testreport

import (
	"bytes"
	"strings"
)

// ctestXMLFormat reads Test.xml, which `ctest -T Test` writes for a dashboard.
var ctestXMLFormat = format{name: "ctest-xml", order: 140, detect: detectCTestXML, document: readCTestXML}

func detectCTestXML(head []byte) int {
	n, rest := xmlRoot(head)
	if n == "Site" && bytes.Contains(rest, []byte("<Testing")) {
		return 90
	}
	return 0
}

type ctestXMLReader struct {
	*xmlDoc
	planned, listed int
}

func readCTestXML(d *document) error {
	r := &ctestXMLReader{xmlDoc: newXMLDoc(d, "CTest")}
	return r.roots(func(tok xmlToken) error {
		r.planned, r.listed = 0, 0
		err := r.children(r.part)
		if err == nil {
			r.fewer("", tok.line, r.planned, r.listed)
		}
		return err
	}, "Site")
}

func (r *ctestXMLReader) part(tok xmlToken) error {
	switch {
	case tok.name == "Testing":
		return r.children(r.part)
	case tok.name == "TestList":
		return r.children(func(xmlToken) error {
			r.planned++
			return r.x.skip()
		})
	case tok.name == "Test" && r.x.attr("Status") != "":
		return r.testCase(tok)
	}
	return r.x.skip()
}

// ctestResults are the measurements of one test.
type ctestResults struct{ exit, value, reason, completion, time, output string }

func (r *ctestXMLReader) testCase(tok xmlToken) error {
	t := Test{At: tok.line}
	status := r.attr("Status")
	var m ctestResults
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "Name":
			return r.into(&t.Name)
		case "Results":
			return r.children(func(tok xmlToken) error { return r.measurement(tok, &m) })
		}
		return r.x.skip()
	})
	if err != nil && (status == "passed" || t.Name == "") {
		return err
	}
	t.Duration = seconds(m.time)
	switch {
	case status == "passed":
		t.Status = Passed
	case status == "notrun" && (m.completion == "Disabled" || strings.HasPrefix(m.completion, "SKIP_") || strings.HasPrefix(m.exit, "Skip")):
		t.Status, t.Message = Skipped, m.completion
	default:
		// CTest counts a test that it could not start as failed.
		t.Status, t.Trace = Failed, m.output
		t.Message = firstOf(m.reason, ctestWords(status, m))
		t.Kind = ctestKind(status, m)
		r.explain(&t)
	}
	r.listed++
	r.test(t)
	return err
}

func (r *ctestXMLReader) measurement(tok xmlToken, m *ctestResults) error {
	into := map[string]*string{"Exit Code": &m.exit, "Exit Value": &m.value, "Fail Reason": &m.reason, "Completion Status": &m.completion, "Execution Time": &m.time}[r.x.attr("name")]
	switch {
	case tok.name == "Measurement":
		into = &m.output
	case tok.name != "NamedMeasurement" || into == nil:
		return r.x.skip()
	}
	return r.children(func(tok xmlToken) error {
		if tok.name != "Value" || r.x.attr("encoding") != "" {
			return r.x.skip()
		}
		return r.into(into)
	})
}

func ctestWords(status string, m ctestResults) string {
	switch {
	case status == "notrun":
		return "the test was not run: " + firstOf(m.completion, "no reason is given")
	case m.exit != "" && m.exit != "Failed":
		return "the test ended with " + m.exit
	}
	if m.output == "" {
		return strings.TrimSpace("the test failed with exit value " + m.value)
	}
	return "" // its output says more
}

func ctestKind(status string, m ctestResults) Kind {
	switch {
	case status == "notrun":
		return KindSetup
	case m.exit == "Timeout" || m.completion == "Timeout":
		return KindTimeout
	case hasAny(m.exit, "SEGFAULT", "ILLEGAL", "NUMERICAL", "OTHER_FAULT", "Subprocess aborted", "BAD_COMMAND", "INTERRUPT"):
		return KindCrash
	}
	return ""
}
