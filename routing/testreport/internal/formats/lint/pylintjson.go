package lint

import (
	"fmt"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// pylintJSONFormat reads pylint -f json.
var pylintJSONFormat = format.Format{
	Name:  "pylint-json",
	Order: 291,
	Opens: []string{"type", "module", "obj", "line"}, Document: readPylintJSON, SelfDelimiting: true, Lint: true,
	Detect: jsonstream.Detect(`"message-id"`, func(h jsonstream.Head) bool {
		return h.Has("[].message-id") && h.Has("[].symbol") && h.Has("[].path")
	}),
}

func readPylintJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "pylint-json", func(r *jsonstream.Reader) bool {
		at, known, n := r.At(), false, 0
		var first model.Diagnostic
		r.Array(func() {
			f := model.Diagnostic{Tool: "pylint", Severity: model.SevWarning, At: r.At()}
			whole := r.Object(func(key string) {
				switch key {
				case "type":
					if kind := r.Short(40); kind == "error" || kind == "fatal" {
						f.Severity = model.SevError
					}
				case "path":
					f.File = r.Short(1000)
				case "line":
					f.Line = max(r.Int(), 0)
				case "column":
					f.Column = max(r.Int(), 0)
				case "message-id":
					f.Code = r.Short(40)
				case "message":
					f.Message = r.Short(4000)
				}
			})
			if !whole || f.Message == "" {
				return
			}
			known = true
			if n++; n == 1 {
				first = f
			}
			if n <= lintWarnings {
				d.Out.Diagnostic(f)
			}
		})
		if n > 0 {
			d.Out.Problem(model.Problem{Kind: model.KindLint, Name: "pylint", File: first.File, Line: first.Line, Column: first.Column, At: at,
				Message: fmt.Sprintf("pylint found %s; the first: %s", parse.Plural(n, "problem"), first.Message)})
		}
		return known
	})
}
