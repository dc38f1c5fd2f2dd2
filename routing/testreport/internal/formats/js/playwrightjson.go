package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// playwrightJSONFormat reads what playwright test --reporter=json writes.
var playwrightJSONFormat = format.Format{
	Name:  "playwright-json",
	Order: 200,
	Opens: []string{"config", "suites"}, Document: readPlaywrightJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"config"`, func(h jsonstream.Head) bool {
		return h.Has("config") && h.Any("config.projects", "config.rootDir", "config.configFile") && h.Any("suites", "errors", "config.rootDir", "config.fullyParallel", "config.forbidOnly")
	}),
}

type playwrightJSON struct {
	d          *format.Document
	r          *jsonstream.Reader
	projects   int
	failed     int
	unexpected int // as the totals say
	expected   int // as the totals say
	passed     int // as expected, in the first run
	broken     int // runs that were interrupted
}

func readPlaywrightJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "playwright-json", func(r *jsonstream.Reader) bool {
		n := failtext.NewTally(d)
		p := &playwrightJSON{d: d, r: r}
		at := r.At()
		known := false
		whole := r.Object(func(key string) {
			switch key {
			case "config":
				r.Object(func(key string) {
					if key == "projects" {
						r.Array(func() { p.projects++ })
					}
				})
			case "suites":
				known = true
				r.Array(func() { p.suite("", "", true) })
			case "errors":
				known = true
				r.Array(func() { p.problem() })
			case "stats":
				r.Object(func(key string) {
					switch key {
					case "unexpected":
						p.unexpected = r.Int()
					case "expected":
						p.expected = r.Int()
					}
				})
			}
		})
		if whole {
			failtext.UnnamedFailures(d.Out, at, p.unexpected, p.failed, "playwright")
			n.Fewer("playwright", at, p.expected, p.passed)
			if p.broken > 0 && p.failed == 0 {
				// Playwright itself lists such tests as skipped.
				d.Out.Problem(model.Problem{Kind: model.KindTruncated, Name: "playwright", At: at, Message: "the run was interrupted while " + parse.Plural(p.broken, "test") + " ran"})
			}
		}
		return known
	})
}

// problem reads an error outside of all tests.
func (p *playwrightJSON) problem() {
	at := p.r.At()
	e := p.error()
	text := e.text()
	kind := model.KindSetup
	switch {
	case strings.Contains(text, "No tests found"):
		kind = model.KindEmpty
	case strings.HasPrefix(parse.HeadLine(text), "SyntaxError"), strings.Contains(parse.HeadLine(text), "Unexpected token"):
		kind = model.KindBuild
	case strings.HasPrefix(parse.HeadLine(text), "Timed out waiting "):
		kind = model.KindTimeout
	case strings.Contains(parse.HeadLine(text), "worker process exited unexpectedly"):
		kind = model.KindCrash
	}
	out := model.Problem{Kind: kind, Name: "playwright", File: e.file, Line: e.line, Column: e.column, Message: parse.FirstOf(jestHead(text), "an error outside of all tests"), Trace: text, At: at}
	if out.File == "" {
		out.File, out.Line, out.Column = jestPlace(text)
	}
	p.d.Out.Problem(out)
}

// playwrightError is an error of a result or of the run.
type playwrightError struct {
	message, stack, snippet, value string
	file                           string
	line, column                   int
}

func (e *playwrightError) text() string {
	text := parse.FirstOf(e.message, e.value)
	switch {
	case e.stack != "" && strings.Contains(e.stack, parse.FirstOf(e.message, e.stack)):
		text = e.stack
	case e.stack != "":
		text += "\n" + e.stack
	}
	if e.snippet != "" {
		text += "\n\n" + e.snippet
	}
	return strings.TrimSpace(text)
}

func (p *playwrightJSON) error() playwrightError {
	var e playwrightError
	r := p.r
	r.Object(func(key string) {
		switch key {
		case "message":
			e.message = strings.TrimSpace(r.Str())
		case "stack":
			e.stack = r.Str()
		case "snippet":
			e.snippet = r.Str()
		case "value":
			e.value = r.Str()
		case "location":
			r.Object(func(key string) {
				switch key {
				case "file":
					e.file = r.Short(1000)
				case "line":
					e.line = max(r.Int(), 0)
				case "column":
					e.column = max(r.Int(), 0)
				}
			})
		}
	})
	return e
}

// suite reads a suite. The outermost ones are files, whose name is that of
// the file of the tests in them too.
func (p *playwrightJSON) suite(path, file string, outermost bool) {
	r := p.r
	r.Object(func(key string) {
		switch key {
		case "title":
			if title := r.Short(1000); !outermost {
				path = parse.JoinPath(path, title)
			}
		case "file":
			file = r.Short(1000)
		case "specs":
			r.Array(func() { p.spec(path, file) })
		case "suites":
			r.Array(func() { p.suite(path, file, false) })
		}
	})
}

// spec reads a declared test, which ran once for each project. Its place
// stands behind its runs.
func (p *playwrightJSON) spec(path, file string) {
	r := p.r
	var held heldTests
	title := ""
	line, column := 0, 0
	r.Object(func(key string) {
		switch key {
		case "title":
			title = r.Short(2000)
		case "file":
			file = r.Short(1000)
		case "line":
			line = max(r.Int(), 0)
		case "column":
			column = max(r.Int(), 0)
		case "tests":
			r.Array(func() {
				if t, ok := p.test(); ok {
					held.add(t, p.d.Out)
				}
			})
		}
	})
	held.flush(p.d.Out, func(t *model.Test) {
		t.Name = parse.FirstOf(title, "(no name)")
		t.Suite = parse.JoinPath(t.Suite, path)
		t.File, t.Line, t.Column = parse.FirstOf(file, t.File), line, column
	})
}

// test reads a test of one project with all its runs.
func (p *playwrightJSON) test() (model.Test, bool) {
	r := p.r
	t := model.Test{At: r.At()}
	var expected, status, project, last, failed string
	var e playwrightError
	runs := 0
	whole := r.Object(func(key string) {
		switch key {
		case "expectedStatus":
			expected = r.Short(40)
		case "projectName":
			project = r.Short(200)
		case "status":
			status = r.Short(40)
		case "results":
			r.Array(func() {
				runs++
				st, err := p.result(&t)
				if st == "interrupted" {
					p.broken++
				}
				if last = st; st != "passed" && st != "skipped" {
					failed, e = st, err
				}
			})
		}
	})
	if p.projects > 1 && project != "" {
		t.Suite = "[" + project + "]"
	}
	t.Retries = max(runs-1, 0)
	switch status {
	case "expected":
		p.passed++
		t.Status = model.Passed
		if expected == "skipped" {
			t.Status = model.Skipped
		}
	case "flaky":
		t.Status, t.Flaky = model.Passed, true
	case "skipped":
		t.Status = model.Skipped
	case "unexpected":
		t.Status = model.Failed
	default: // breaks off, or a version without it
		t.Status = model.Other
		if last != "" && last != expected && last != "skipped" {
			t.Status = model.Failed
		} else if last == "passed" && status == "" {
			t.Status = model.Passed
		}
	}
	if t.Status == model.Failed {
		p.failed++
	}
	if t.Status == model.Failed || t.Flaky {
		playwrightFailure(&t, e, parse.FirstOf(failed, last), expected)
	}
	return t, whole || t.Status == model.Failed
}

func playwrightFailure(t *model.Test, e playwrightError, status, expected string) {
	text := e.text()
	if text == "" {
		if expected == "failed" && status == "passed" {
			t.Message, t.Kind = "Expected the test to fail, but it did not", model.KindAssertion
		} else {
			t.Message = "the test ended as " + status
		}
	} else {
		t.Message = jestHead(parse.FirstOf(e.message, text))
		jsDescribe(t, text)
	}
	switch status {
	case "timedOut":
		t.Kind = model.KindTimeout
	case "interrupted":
		t.Kind = model.KindCrash
	}
}

// result reads one run and adds its duration and output to t.
func (p *playwrightJSON) result(t *model.Test) (status string, e playwrightError) {
	r := p.r
	var several []playwrightError
	r.Object(func(key string) {
		switch key {
		case "status":
			status = r.Short(40)
		case "duration":
			t.Duration += parse.Millis(r.Float())
		case "error":
			if r.Peek() == '{' {
				e = p.error()
			}
		case "errors":
			r.Array(func() {
				if one := p.error(); len(several) < failtext.MaxOutcomes {
					several = append(several, one)
				}
			})
		case "stdout", "stderr":
			r.Array(func() {
				r.Object(func(key string) {
					if key == "text" && len(t.Output) < p.d.Limits.Text {
						t.Output += r.Str()
					}
				})
			})
		}
	})
	if len(several) > 0 {
		if e.message == "" && e.value == "" {
			e = several[0]
		}
		for _, more := range several[1:] {
			e.snippet += "\n\n" + more.text()
		}
	}
	if status == "passed" || status == "skipped" {
		t.Output = ""
	}
	return status, e
}
