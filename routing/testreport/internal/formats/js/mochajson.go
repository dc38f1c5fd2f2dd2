package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/jsonstream"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// mochaJSONFormat reads mocha --reporter json.
var mochaJSONFormat = format.Format{
	Name:  "mocha-json",
	Order: 220,
	Opens: []string{"stats", "tests"}, Document: readMochaJSON, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"passes"`, func(h jsonstream.Head) bool {
		return h.Has("stats.passes", "stats.failures", "stats.tests") && !h.Any("results", "stats.testsRegistered", "stats.passPercent", "results[].suites")
	}),
}

// mochaStreamFormat reads the lines of mocha --reporter json-stream.
var mochaStreamFormat = format.Format{
	Name:  "mocha-json-stream",
	Order: 300, Machine: true,
	Begins: "[",
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &mochaStream{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

func readMochaJSON(d *format.Document) error {
	return jsonstream.ReadDocument(d, "mocha-json", func(r *jsonstream.Reader) bool {
		at := r.At()
		n := failtext.NewTally(d)
		declared, passed, failed, seen := -1, 0, 0, 0
		list := func(st model.Status) {
			seen++
			r.Array(func() {
				t, ok := mochaTest(r, st)
				if !ok {
					return
				}
				if st == model.Failed {
					failed++
				}
				d.Out.Test(t)
			})
		}
		whole := r.Object(func(key string) {
			switch key {
			case "stats":
				r.Object(func(key string) {
					switch key {
					case "failures":
						declared = r.Int()
					case "passes":
						passed = r.Int()
					}
				})
			case "passes":
				list(model.Passed)
			case "failures":
				list(model.Failed)
			case "pending":
				list(model.Pending)
			}
		})
		if whole {
			failtext.UnnamedFailures(d.Out, at, declared, failed, "mocha")
			n.Fewer("mocha", at, passed, n.Passed)
		}
		return seen > 0 || declared >= 0
	})
}

// mochaTest reads one test of a list whose tests ended with st.
func mochaTest(r *jsonstream.Reader, st model.Status) (model.Test, bool) {
	t := model.Test{Status: st, At: r.At()}
	var full, stack, code string
	whole := r.Object(func(key string) {
		switch key {
		case "title":
			t.Name = r.Short(2000)
		case "fullTitle":
			full = r.Short(2000)
		case "file":
			t.File = r.Short(1000)
		case "duration":
			t.Duration = parse.Millis(r.Float())
		case "currentRetry":
			t.Retries = max(r.Int(), 0)
		case "stack":
			stack = r.Str()
		case "err":
			if r.Peek() != '{' {
				t.Message = r.Str()
				return
			}
			stack, code = mochaError(r, &t)
		}
	})
	mochaNames(&t, full)
	if st == model.Failed {
		mochaFailure(&t, stack, code)
	}
	t.Flaky = st == model.Passed && t.Retries > 0
	return t, whole || st == model.Failed && t.Name != "(no name)"
}

// mochaError reads the object err of a failed test.
func mochaError(r *jsonstream.Reader, t *model.Test) (stack, code string) {
	r.Object(func(key string) {
		switch key {
		case "message":
			t.Message = strings.TrimSpace(r.Str())
		case "stack", "estack":
			stack = r.Str()
		case "name":
			t.Type = r.Short(200)
		case "code":
			code = r.Short(100)
		case "expected":
			t.Expected = r.Str()
		case "actual":
			t.Actual = r.Str()
		}
	})
	return stack, code
}

// mochaNames takes the names of the suites from the full title: they stand
// before the test's own, joined by blanks.
func mochaNames(t *model.Test, full string) {
	t.Name = parse.FirstOf(t.Name, full, "(no name)")
	if suite, ok := strings.CutSuffix(full, " "+t.Name); ok {
		t.Suite = strings.TrimSpace(suite)
	}
}

func mochaFailure(t *model.Test, stack, code string) {
	e, a := t.Expected, t.Actual
	jsFailure(t, parse.FirstOf(stack, t.Message))
	if e != "" || a != "" {
		t.Expected, t.Actual = e, a
	}
	switch {
	case code == "ERR_MOCHA_TIMEOUT":
		t.Kind = model.KindTimeout
	case mochaHook(t.Name):
		t.Kind = model.KindSetup
	case t.Type == "AssertionError" || code == "ERR_ASSERTION" || t.Expected != "" && t.Actual != "":
		t.Kind = model.KindAssertion
	}
}

// mochaHook recognises the title that mocha gives a failed hook.
func mochaHook(name string) bool {
	return strings.HasPrefix(name, `"`) && parse.HasAny(name, `" hook`)
}

// mochaStream is the reader of json-stream: ["start",{…}], ["pass",{…}],
// ["fail",{…}], ["end",{…}], each on a line of its own. Pending tests have no
// line; only the last one counts them.
type mochaStream struct {
	out    model.Sink
	lim    model.Limits
	r      jsonstream.Reader
	anon   *model.Anonymous
	open   bool // after start, before end
	at     int
	passed int
	failed int
	total  int
}

func (m *mochaStream) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 8 || t[0] != '[' || t[1] != '"' {
		return false
	}
	var st model.Status
	switch event, _, _ := strings.Cut(t[2:min(len(t), 12)], `",{`); event {
	case "start":
		return m.start(l)
	case "end":
		return m.finish(l)
	case "pass":
		st = model.Passed
	case "fail":
		st = model.Failed
	default:
		return false
	}
	if !m.open {
		return false
	}
	var test model.Test
	ok := false
	m.pair(l, func() { test, ok = mochaTest(&m.r, st) })
	if !ok {
		return false
	}
	test.At = l.No
	if st == model.Failed {
		m.failed++
	} else {
		m.passed++
	}
	m.out.Test(test)
	return true
}

// pair reads the second element of the line's array.
func (m *mochaStream) pair(l lines.Line, fn func()) bool {
	m.r.Reset(l.Text, m.lim, l.No)
	n := 0
	m.r.Array(func() {
		if n++; n == 2 {
			fn()
		}
	})
	return n == 2 && (m.r.Err == nil || l.Cut > 0) // a line that breaks off is none
}

func (m *mochaStream) start(l lines.Line) bool {
	total := -1
	ok := m.pair(l, func() {
		m.r.Object(func(key string) {
			if key == "total" {
				total = m.r.Int()
			}
		})
	})
	if !ok || total < 0 {
		return false
	}
	m.End()
	m.open, m.at, m.total, m.passed, m.failed = true, l.No, total, 0, 0
	return true
}

func (m *mochaStream) finish(l lines.Line) bool {
	if !m.open {
		return false
	}
	tests, passes, failures, pending := -1, 0, 0, 0
	whole := m.pair(l, func() {
		m.r.Object(func(key string) {
			switch key {
			case "tests":
				tests = m.r.Int()
			case "passes":
				passes = m.r.Int()
			case "failures":
				failures = m.r.Int()
			case "pending":
				pending = m.r.Int()
			}
		})
	})
	if tests < 0 || !whole {
		return false
	}
	m.anon.Emit(m.out, pending, model.Test{Status: model.Pending, Name: "(pending)", At: l.No})
	failtext.UnnamedFailures(m.out, l.No, failures, m.failed, "mocha")
	if passes > m.passed {
		failtext.Incomplete(m.out, failures+m.failed > 0, model.Problem{Name: "mocha", At: l.No, Message: failtext.FewerTests(m.passed, passes)})
	}
	m.open = false
	return true
}

func (m *mochaStream) End() {
	if m.open {
		m.out.Problem(model.Problem{Kind: model.KindTruncated, Name: "mocha", At: m.at, Message: "mocha's stream of events ends before the run does"})
	}
	m.open = false
}

// mochawesomeFormat reads the JSON of mochawesome, which Cypress runs use too.
var mochawesomeFormat = format.Format{
	Name:  "mochawesome",
	Order: 210,
	Opens: []string{"stats"}, Document: readMochawesome, SelfDelimiting: true,
	Detect: jsonstream.Detect(`"stats"`, func(h jsonstream.Head) bool {
		return h.Has("stats.failures") && h.Any("results", "stats.testsRegistered", "stats.passPercent")
	}),
}

type mochawesome struct {
	d      *format.Document
	r      *jsonstream.Reader
	failed int
}

func readMochawesome(d *format.Document) error {
	return jsonstream.ReadDocument(d, "mochawesome", func(r *jsonstream.Reader) bool {
		n := failtext.NewTally(d)
		m := &mochawesome{d: d, r: r}
		at := r.At()
		declared, passed, known := 0, 0, false
		whole := r.Object(func(key string) {
			switch key {
			case "stats":
				known = true
				r.Object(func(key string) {
					switch key {
					case "failures":
						declared = r.Int()
					case "passes":
						passed = r.Int()
					}
				})
			case "results":
				known = true
				r.Array(func() { m.suite("", "") })
			}
		})
		if whole {
			failtext.UnnamedFailures(d.Out, at, declared, m.failed, "mocha")
			n.Fewer("mocha", at, passed, n.Passed)
		}
		return known
	})
}

func (m *mochawesome) suite(path, file string) {
	r := m.r
	outer := file
	r.Object(func(key string) {
		switch key {
		case "title":
			path = parse.JoinPath(path, r.Short(1000))
		case "file", "fullFile":
			if f := r.Short(1000); f != "" && (key == "fullFile" || file == "" || file == outer) {
				file = f
			}
		case "tests", "beforeHooks", "afterHooks":
			r.Array(func() { m.test(path, file) })
		case "suites":
			r.Array(func() { m.suite(path, file) })
		}
	})
}

func (m *mochawesome) test(path, file string) {
	r := m.r
	t := model.Test{Suite: path, File: file, At: r.At()}
	var state, full, stack, code string
	var fail, pass, pending, skipped, hook, timedOut bool
	whole := r.Object(func(key string) {
		switch key {
		case "title":
			t.Name = r.Short(2000)
		case "fullTitle":
			full = r.Short(2000)
		case "state":
			state = r.Short(40)
		case "duration":
			t.Duration = parse.Millis(r.Float())
		case "fail":
			fail = r.Truth()
		case "pass":
			pass = r.Truth()
		case "pending":
			pending = r.Truth()
		case "skipped":
			skipped = r.Truth()
		case "isHook":
			hook = r.Truth()
		case "timedOut":
			timedOut = r.Truth()
		case "err":
			stack, code = mochaError(r, &t)
		}
	})
	t.Name = parse.FirstOf(t.Name, full, "(no name)")
	switch {
	case state == "failed" || fail:
		t.Status = model.Failed
		m.failed++
		mochaFailure(&t, stack, code)
		if timedOut {
			t.Kind = model.KindTimeout
		}
		if hook {
			t.Kind = model.KindSetup
		}
		m.d.Out.Test(t)
		return
	case !whole || hook:
		return // hooks that pass are no tests
	case state == "passed" || pass:
		t.Status = model.Passed
	case state == "pending" || pending:
		t.Status = model.Pending
	case skipped || state == "skipped":
		t.Status = model.Skipped
	default:
		t.Status = model.Other
	}
	t.Message, t.Expected, t.Actual = "", "", ""
	m.d.Out.Test(t)
}
