package lint

import (
	"bytes"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// cppcheckXMLFormat reads cppcheck --xml.
var cppcheckXMLFormat = format.Format{Name: "cppcheck-xml", Order: 171, Opens: []string{"results"}, Detect: detectCppcheckXML, Document: readCppcheckXML, Lint: true}

func detectCppcheckXML(head []byte) int {
	if name, rest := xmlstream.Root(head); name == "results" && bytes.Contains(rest, []byte("<cppcheck ")) {
		return 80
	}
	return 0
}

type cppcheckXMLReader struct{ *xmlstream.Doc }

func readCppcheckXML(d *format.Document) error {
	r := &cppcheckXMLReader{xmlstream.NewDoc(d, "cppcheck")}
	return r.Roots(func(xmlstream.Token) error { return r.Children(r.part) }, "results")
}

func (r *cppcheckXMLReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "errors":
		return r.Children(r.part)
	case "error":
		return r.diagnostic(tok)
	}
	return r.XML.Skip()
}

// diagnostic reads a finding, which stands at the first of its locations: the others are how it came
// about.
func (r *cppcheckXMLReader) diagnostic(tok xmlstream.Token) error {
	d := model.Diagnostic{Tool: "cppcheck", Code: r.Attr("id"), Message: r.Attr("msg"), At: tok.Line, Severity: model.SevWarning}
	switch r.Attr("severity") {
	case "error":
		d.Severity = model.SevError
	case "information", "debug", "none":
		d.Severity = model.SevNote
	}
	err := r.Children(func(in xmlstream.Token) error {
		if in.Name == "location" && d.File == "" {
			d.File, d.Line, d.Column = r.Attr("file"), max(0, parse.Declared(r.Attr("line"))), max(0, parse.Declared(r.Attr("column")))
		}
		return r.XML.Skip()
	})
	r.Out.Diagnostic(d)
	return err
}
