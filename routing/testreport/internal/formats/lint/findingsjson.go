package lint

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// findingsJSONFormat reads the JSON of linters and compilers by its shape: an object with a message
// and a line is a finding, and its file is in it or around it. ESLint, oxlint, ShellCheck, go vet,
// Staticcheck, golangci-lint, Ruff, RuboCop, Stylelint, Semgrep and cargo write nothing else.
var findingsJSONFormat = format.Format{
	Name:  "lint-json",
	Order: 299,
	Opens: []string{"filePath", "filename", "diagnostics", "comments", "Issues", "generalDiagnostics", "reason", "code", "cell", "message"}, Document: readFindings, SelfDelimiting: true, Lint: true,
	Detect: jsonstream.Detect(`"`, findingsHead),
}

// findingKeys are what keys mean, in lower case and without separators.
var findingKeys = map[string]byte{
	"file": 'f', "filepath": 'f', "filename": 'f', "path": 'f', "uri": 'f', "source": 'f',
	"line": 'l', "row": 'l', "startline": 'l', "linenumber": 'l', "linestart": 'l', "begin": 'l',
	"column": 'c', "col": 'c', "startcolumn": 'c', "columnstart": 'c', "columnnumber": 'c',
	"message": 'm', "text": 'm', "msg": 'm', "description": 'm', "issuetext": 'm', "ruledescription": 'm',
	"code": 'r', "ruleid": 'r', "rule": 'r', "checkname": 'r', "checkid": 'r', "copname": 'r', "symbol": 'r', "testid": 'r', "identifier": 'r', "fromlinter": 'r',
	"severity": 's', "level": 's', "issueseverity": 's',
	"posn": 'p', "offset": 'o',
}

// findingParts are keys of objects that say more of the finding around them.
var findingParts = map[string]bool{
	"location": true, "span": true, "spans": true, "labels": true, "range": true, "start": true, "position": true, "pos": true, "lines": true, "extra": true,
}

// findingAsides are keys of what is no finding of its own: notes, and how to correct one.
var findingAsides = map[string]bool{"children": true, "fix": true, "fixes": true, "suggestions": true, "suggestion": true, "related": true, "end": true, "rendered": true}

func findingKey(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// findingsHead reports whether the paths of a document are those of findings.
func findingsHead(h jsonstream.Head) bool {
	has := map[string]string{} // by object
	files := map[string]bool{}
	for path := range h {
		parts := strings.Split(path, ".")
		last := len(parts) - 1
		leaf := findingKey(parts[last])
		for last > 0 && findingParts[findingKey(strings.TrimRight(parts[last-1], "[]"))] {
			last--
		}
		object := strings.Join(parts[:last], ".")
		if k, ok := findingKeys[leaf]; ok {
			has[object] += string(k)
			if k == 'f' || k == 'p' {
				files[object] = true
			}
		}
	}
	for object, keys := range has {
		told := strings.ContainsRune(keys, 's') && object != "" || strings.ContainsRune(keys, 'r')
		switch {
		case !strings.ContainsRune(keys, 'm'):
		case strings.ContainsRune(keys, 'p'):
			return true
		case strings.ContainsAny(keys, "lo") && told:
			if strings.Contains(object, "/") {
				return true // a map by file
			}
			for of := range files {
				if of == object || of == "" || strings.HasPrefix(object, of) {
					return true
				}
			}
		}
	}
	return false
}

// finding is a message, and what is known of it.
type finding struct {
	model.Diagnostic
	severe bool // its severity is stated
	posn   bool // its place is stated as one text
	offset bool // its place is stated, and not by a line
}

// maxFindings bounds what is kept of a document.
const maxFindings = 10000

func readFindings(d *format.Document) error {
	return jsonstream.ReadDocument(d, "lint-json", func(r *jsonstream.Reader) bool {
		w := findingsWalk{r: r}
		w.value("", 0)
		known, n := false, 0
		for i := range w.found {
			f := &w.found[i].Diagnostic
			if f.File == "" {
				continue
			}
			known = true
			if f.Tool == "shellcheck" {
				n++
			}
			d.Out.Diagnostic(*f)
		}
		if n > 0 { // it fails for remarks as well
			f := &w.found[0]
			d.Out.Problem(model.Problem{Kind: model.KindLint, Name: "shellcheck", File: f.File, Line: f.Line, Column: f.Column, Message: "shellcheck found " + parse.Plural(n, "problem") + "; the first: " + f.Message, At: f.At})
		}
		return known
	})
}

type findingsWalk struct {
	r     *jsonstream.Reader
	found []finding
}

// value reads a value below key; file is that of the object around it.
func (w *findingsWalk) value(key string, depth int) {
	switch w.r.Peek() {
	case '{':
		w.object(key, depth)
	case '[':
		w.r.Array(func() { w.value(key, depth+1) })
	}
}

// object reads an object. What is found below it takes over its file.
func (w *findingsWalk) object(key string, depth int) {
	if depth > 40 {
		return
	}
	first := len(w.found)
	var f finding
	f.At = w.r.At()
	w.fields(&f, depth, "")
	file := f.File
	if file == "" && strings.ContainsAny(key, "/.") && !strings.Contains(key, " ") {
		if _, ok := sourceFile(key); ok {
			file = key // a map by file
		}
	}
	for i := first; i < len(w.found); i++ {
		if w.found[i].File == "" {
			w.found[i].File = strings.TrimPrefix(file, "file://")
		}
	}
	told := f.posn || f.Code != "" || f.severe && depth > 0
	if f.Message == "" || f.Line <= 0 && !f.offset || !told || len(w.found) >= maxFindings {
		return
	}
	f.File = strings.TrimPrefix(f.File, "file://")
	f.Tool = findingTool(&f, key)
	if !f.severe {
		f.Severity = model.SevError
	}
	w.found = append(w.found, f)
}

// fields reads the keys of an object into f, or those of a part of it; in names the part.
func (w *findingsWalk) fields(f *finding, depth int, in string) {
	r := w.r
	r.Object(func(key string) {
		name := findingKey(key)
		c := r.Peek()
		switch {
		case findingAsides[name]:
			return
		case c == '{' && (findingParts[name] || name == "rule" || name == "code" || name == "message" && f.Message == ""):
			if name == "message" { // of cargo: the finding itself
				w.value(key, depth+1)
				return
			}
			w.fields(f, depth+1, name)
			return
		case c == '[' && findingParts[name]:
			r.Array(func() {
				if r.Peek() == '{' {
					w.fields(f, depth+1, name)
				}
			})
			return
		case c == '{' || c == '[':
			w.value(key, depth+1)
			return
		}
		w.field(f, name, in)
	})
}

// field reads one key with a text or a number.
func (w *findingsWalk) field(f *finding, name, in string) {
	r := w.r
	kind := findingKeys[name]
	if (in == "rule" || in == "code") && (name == "id" || name == "name" || name == "code") {
		kind = 'r'
	}
	switch kind {
	case 'f':
		if s := r.Short(1000); f.File == "" {
			f.File = s
		}
	case 'o':
		f.offset = f.offset || in == "span"
	case 'l':
		if n := r.Int(); f.Line == 0 {
			f.Line = max(n, 0)
		}
	case 'c':
		if n := r.Int(); f.Column == 0 {
			f.Column = max(n, 0)
		}
	case 'm':
		if s := r.Short(4000); f.Message == "" && in != "spans" && in != "labels" {
			f.Message = s
		}
	case 'r':
		if s := r.Short(100); f.Code == "" && s != "null" {
			f.Code = s
		}
	case 's':
		s := strings.ToLower(r.Short(40))
		if sev, ok := severities[s]; ok {
			f.Severity, f.severe = sev, true
		} else if s == "2" || s == "1" { // ESLint
			f.Severity, f.severe = map[string]model.Severity{"2": model.SevError, "1": model.SevWarning}[s], true
		}
	case 'p':
		if file, line, col, ok := parse.Location(r.Short(1000)); ok {
			f.File, f.Line, f.Column, f.posn = file, line, col, true
		}
	}
}

// findingTool returns the tool of a finding as far as its class depends on it.
func findingTool(f *finding, key string) string {
	switch {
	case strings.HasPrefix(f.Code, "clippy::"):
		return "clippy"
	case strings.HasSuffix(f.File, ".rs") && (key == "message" || len(f.Code) == 5 && f.Code[0] == 'E'):
		return "rustc"
	case key == "comments":
		return "shellcheck"
	case key == "generalDiagnostics":
		return "pyright"
	}
	return "lint"
}
