package testreport

import "strings"

// checkstyleFormat reads Checkstyle's XML, in which many linters report too.
var checkstyleFormat = format{name: "checkstyle", order: 170, opens: []string{"checkstyle"}, detect: detectRoot("checkstyle"), document: readCheckstyle, lint: true}

type checkstyleReader struct {
	*xmlDoc
	file string
}

func readCheckstyle(d *document) error {
	r := &checkstyleReader{xmlDoc: newXMLDoc(d, "Checkstyle")}
	return r.roots(func(tok xmlToken) error { return r.children(r.part) }, "checkstyle")
}

func (r *checkstyleReader) part(tok xmlToken) error {
	switch tok.name {
	case "file":
		r.file = r.attr("name")
		return r.children(r.part)
	case "error":
		return r.diagnostic(tok)
	case "exception": // the linter could not read the file
		s, err := r.content()
		r.problem(Problem{Kind: KindBuild, Name: r.file, File: r.file, At: tok.line, Message: CutText(meaningful("", s, "the linter failed"), 1<<10), Trace: s})
		return err
	}
	return r.x.skip()
}

func (r *checkstyleReader) diagnostic(tok xmlToken) error {
	d := Diagnostic{
		File: r.file, Line: max(0, declared(r.attr("line"))), Column: max(0, declared(r.attr("column"))),
		Severity: SevError, Message: r.attr("message"), At: tok.line,
	}
	d.Tool, d.Code = checkstyleSource(r.attr("source"))
	switch strings.ToLower(r.attr("severity")) {
	case "warning", "warn":
		d.Severity = SevWarning
	case "info", "note", "style", "refactor", "convention":
		d.Severity = SevNote
	case "ignore":
		return r.x.skip()
	}
	r.out.Diagnostic(d)
	return r.x.skip()
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
