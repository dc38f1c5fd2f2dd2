package testreport

import "strings"

// playwrightJSONFormat reads what playwright test --reporter=json writes.
var playwrightJSONFormat = format{
	name:  "playwright-json",
	order: 200,
	opens: []string{"config", "suites"}, document: readPlaywrightJSON, leaves: true,
	detect: detectJSON(`"config"`, func(h jsonHead) bool {
		return h.has("config") && h.any("config.projects", "config.rootDir", "config.configFile") && h.any("suites", "errors", "config.rootDir", "config.fullyParallel", "config.forbidOnly")
	}),
}

type playwrightJSON struct {
	d          *document
	r          *jsonReader
	projects   int
	failed     int
	unexpected int // as the totals say
	expected   int // as the totals say
	passed     int // as expected, in the first run
	broken     int // runs that were interrupted
}

func readPlaywrightJSON(d *document) error {
	return readJSON(d, "playwright-json", func(r *jsonReader) bool {
		n := tallied(d)
		p := &playwrightJSON{d: d, r: r}
		at := r.at()
		known := false
		whole := r.object(func(key string) {
			switch key {
			case "config":
				r.object(func(key string) {
					if key == "projects" {
						r.array(func() { p.projects++ })
					}
				})
			case "suites":
				known = true
				r.array(func() { p.suite("", "", true) })
			case "errors":
				known = true
				r.array(func() { p.problem() })
			case "stats":
				r.object(func(key string) {
					switch key {
					case "unexpected":
						p.unexpected = r.int()
					case "expected":
						p.expected = r.int()
					}
				})
			}
		})
		if whole {
			missing(d.out, at, p.unexpected, p.failed, "playwright")
			n.fewer("playwright", at, p.expected, p.passed)
			if p.broken > 0 && p.failed == 0 {
				// Playwright itself lists such tests as skipped.
				d.out.Problem(Problem{Kind: KindTruncated, Name: "playwright", At: at, Message: "the run was interrupted while " + plural(p.broken, "test") + " ran"})
			}
		}
		return known
	})
}

// problem reads an error outside of all tests.
func (p *playwrightJSON) problem() {
	at := p.r.at()
	e := p.error()
	text := e.text()
	kind := KindSetup
	switch {
	case strings.Contains(text, "No tests found"):
		kind = KindEmpty
	case strings.HasPrefix(headLine(text), "SyntaxError"), strings.Contains(headLine(text), "Unexpected token"):
		kind = KindBuild
	case strings.HasPrefix(headLine(text), "Timed out waiting "):
		kind = KindTimeout
	case strings.Contains(headLine(text), "worker process exited unexpectedly"):
		kind = KindCrash
	}
	out := Problem{Kind: kind, Name: "playwright", File: e.file, Line: e.line, Column: e.column, Message: firstOf(jestHead(text), "an error outside of all tests"), Trace: text, At: at}
	if out.File == "" {
		out.File, out.Line, out.Column = jestPlace(text)
	}
	p.d.out.Problem(out)
}

// playwrightError is an error of a result or of the run.
type playwrightError struct {
	message, stack, snippet, value string
	file                           string
	line, column                   int
}

func (e *playwrightError) text() string {
	text := firstOf(e.message, e.value)
	switch {
	case e.stack != "" && strings.Contains(e.stack, firstOf(e.message, e.stack)):
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
	r.object(func(key string) {
		switch key {
		case "message":
			e.message = strings.TrimSpace(r.str())
		case "stack":
			e.stack = r.str()
		case "snippet":
			e.snippet = r.str()
		case "value":
			e.value = r.str()
		case "location":
			r.object(func(key string) {
				switch key {
				case "file":
					e.file = r.short(1000)
				case "line":
					e.line = max(r.int(), 0)
				case "column":
					e.column = max(r.int(), 0)
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
	r.object(func(key string) {
		switch key {
		case "title":
			if title := r.short(1000); !outermost {
				path = joinPath(path, title)
			}
		case "file":
			file = r.short(1000)
		case "specs":
			r.array(func() { p.spec(path, file) })
		case "suites":
			r.array(func() { p.suite(path, file, false) })
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
	r.object(func(key string) {
		switch key {
		case "title":
			title = r.short(2000)
		case "file":
			file = r.short(1000)
		case "line":
			line = max(r.int(), 0)
		case "column":
			column = max(r.int(), 0)
		case "tests":
			r.array(func() {
				if t, ok := p.test(); ok {
					held.add(t, p.d.out)
				}
			})
		}
	})
	held.flush(p.d.out, func(t *Test) {
		t.Name = firstOf(title, "(no name)")
		t.Suite = joinPath(t.Suite, path)
		t.File, t.Line, t.Column = firstOf(file, t.File), line, column
	})
}

// test reads a test of one project with all its runs.
func (p *playwrightJSON) test() (Test, bool) {
	r := p.r
	t := Test{At: r.at()}
	var expected, status, project, last, failed string
	var e playwrightError
	runs := 0
	whole := r.object(func(key string) {
		switch key {
		case "expectedStatus":
			expected = r.short(40)
		case "projectName":
			project = r.short(200)
		case "status":
			status = r.short(40)
		case "results":
			r.array(func() {
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
		t.Status = Passed
		if expected == "skipped" {
			t.Status = Skipped
		}
	case "flaky":
		t.Status, t.Flaky = Passed, true
	case "skipped":
		t.Status = Skipped
	case "unexpected":
		t.Status = Failed
	default: // breaks off, or a version without it
		t.Status = Other
		if last != "" && last != expected && last != "skipped" {
			t.Status = Failed
		} else if last == "passed" {
			t.Status = Passed
		}
	}
	if t.Status == Failed {
		p.failed++
	}
	if t.Status == Failed || t.Flaky {
		playwrightFailure(&t, e, firstOf(failed, last), expected)
	}
	return t, whole || t.Status == Failed
}

func playwrightFailure(t *Test, e playwrightError, status, expected string) {
	text := e.text()
	if text == "" {
		if expected == "failed" && status == "passed" {
			t.Message, t.Kind = "Expected the test to fail, but it did not", KindAssertion
		} else {
			t.Message = "the test ended as " + status
		}
	} else {
		t.Message = jestHead(firstOf(e.message, text))
		jsDescribe(t, text)
	}
	switch status {
	case "timedOut":
		t.Kind = KindTimeout
	case "interrupted":
		t.Kind = KindCrash
	}
}

// result reads one run and adds its duration and output to t.
func (p *playwrightJSON) result(t *Test) (status string, e playwrightError) {
	r := p.r
	var several []playwrightError
	r.object(func(key string) {
		switch key {
		case "status":
			status = r.short(40)
		case "duration":
			t.Duration += millis(r.float())
		case "error":
			if r.peek() == '{' {
				e = p.error()
			}
		case "errors":
			r.array(func() {
				if one := p.error(); len(several) < maxOutcomes {
					several = append(several, one)
				}
			})
		case "stdout", "stderr":
			r.array(func() {
				r.object(func(key string) {
					if key == "text" && len(t.Output) < p.d.lim.Text {
						t.Output += r.str()
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
