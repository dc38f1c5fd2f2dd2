package lint

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// checkstyleFormat reads Checkstyle's XML, in which many linters report too.
var checkstyleFormat = format.Format{Name: "checkstyle", Order: 170, Opens: []string{"checkstyle"}, Detect: xmlstream.DetectRoot("checkstyle"), Document: readCheckstyle, Lint: true}

type checkstyleReader struct {
	*xmlstream.Doc
	file string
}

func readCheckstyle(d *format.Document) error {
	r := &checkstyleReader{Doc: xmlstream.NewDoc(d, "Checkstyle")}
	return r.Roots(func(tok xmlstream.Token) error { return r.Children(r.part) }, "checkstyle")
}

func (r *checkstyleReader) part(tok xmlstream.Token) error {
	switch tok.Name {
	case "file":
		r.file = r.Attr("name")
		return r.Children(r.part)
	case "error":
		return r.diagnostic(tok)
	case "exception": // the linter could not read the file
		s, err := r.Content()
		r.Problem(model.Problem{Kind: model.KindBuild, Name: r.file, File: r.file, At: tok.Line, Message: bounded.CutText(failtext.Meaningful("", s, "the linter failed"), 1<<10), Trace: s})
		return err
	}
	return r.XML.Skip()
}

func (r *checkstyleReader) diagnostic(tok xmlstream.Token) error {
	d := model.Diagnostic{
		File: r.file, Line: max(0, parse.Declared(r.Attr("line"))), Column: max(0, parse.Declared(r.Attr("column"))),
		Severity: model.SevError, Message: r.Attr("message"), At: tok.Line,
	}
	d.Tool, d.Code = checkstyleSource(r.Attr("source"))
	switch strings.ToLower(r.Attr("severity")) {
	case "warning", "warn":
		d.Severity = model.SevWarning
	case "info", "note", "style", "refactor", "convention":
		d.Severity = model.SevNote
	case "ignore":
		return r.XML.Skip()
	}
	r.Out.Diagnostic(d)
	return r.XML.Skip()
}

// checkstyleSource parts the name of a rule from what names the tool.
func checkstyleSource(s string) (tool, code string) {
	switch {
	case strings.HasPrefix(s, "com.puppycrawl.tools.checkstyle."):
		return "checkstyle", strings.TrimSuffix(s[strings.LastIndexByte(s, '.')+1:], "Check")
	case strings.HasPrefix(s, "eslint.rules."):
		return "eslint", strings.TrimPrefix(s, "eslint.rules.")
	case strings.HasPrefix(s, "detekt."):
		return "detekt", strings.TrimPrefix(s, "detekt.")
	case strings.HasPrefix(s, "ShellCheck."):
		return "shellcheck", strings.TrimPrefix(s, "ShellCheck.")
	}
	return "checkstyle", s
}
