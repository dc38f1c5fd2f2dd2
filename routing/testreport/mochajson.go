package testreport

import (
	"strings"
)

// mochaJSONFormat reads mocha --reporter json.
var mochaJSONFormat = format{
	name:  "mocha-json",
	order: 220,
	opens: []string{"stats", "tests"}, document: readMochaJSON, leaves: true,
	detect: detectJSON(`"passes"`, func(h jsonHead) bool {
		return h.has("stats.passes", "stats.failures", "stats.tests") && !h.any("results", "stats.testsRegistered", "stats.passPercent", "results[].suites")
	}),
}

// mochaStreamFormat reads the lines of mocha --reporter json-stream.
var mochaStreamFormat = format{
	name:  "mocha-json-stream",
	order: 300, machine: true,
	begins:  "[",
	console: func(out Sink, lim Limits) console { return &mochaStream{out: out, lim: lim, anon: newAnonymous()} },
}

func readMochaJSON(d *document) error {
	return readJSON(d, "mocha-json", func(r *jsonReader) bool {
		at := r.at()
		n := tallied(d)
		declared, passed, failed, seen := -1, 0, 0, 0
		list := func(st Status) {
			seen++
			r.array(func() {
				t, ok := mochaTest(r, st)
				if !ok {
					return
				}
				if st == Failed {
					failed++
				}
				d.out.Test(t)
			})
		}
		whole := r.object(func(key string) {
			switch key {
			case "stats":
				r.object(func(key string) {
					switch key {
					case "failures":
						declared = r.int()
					case "passes":
						passed = r.int()
					}
				})
			case "passes":
				list(Passed)
			case "failures":
				list(Failed)
			case "pending":
				list(Pending)
			}
		})
		if whole {
			missing(d.out, at, declared, failed, "mocha")
			n.fewer("mocha", at, passed, n.passed)
		}
		return seen > 0 || declared >= 0
	})
}

// mochaTest reads one test of a list whose tests ended with st.
func mochaTest(r *jsonReader, st Status) (Test, bool) {
	t := Test{Status: st, At: r.at()}
	var full, stack, code string
	whole := r.object(func(key string) {
		switch key {
		case "title":
			t.Name = r.short(2000)
		case "fullTitle":
			full = r.short(2000)
		case "file":
			t.File = r.short(1000)
		case "duration":
			t.Duration = millis(r.float())
		case "currentRetry":
			t.Retries = max(r.int(), 0)
		case "stack":
			stack = r.str()
		case "err":
			if r.peek() != '{' {
				t.Message = r.str()
				return
			}
			stack, code = mochaError(r, &t)
		}
	})
	mochaNames(&t, full)
	if st == Failed {
		mochaFailure(&t, stack, code)
	}
	t.Flaky = st == Passed && t.Retries > 0
	return t, whole || st == Failed && t.Name != "(no name)"
}

// mochaError reads the object err of a failed test.
func mochaError(r *jsonReader, t *Test) (stack, code string) {
	r.object(func(key string) {
		switch key {
		case "message":
			t.Message = strings.TrimSpace(r.str())
		case "stack", "estack":
			stack = r.str()
		case "name":
			t.Type = r.short(200)
		case "code":
			code = r.short(100)
		case "expected":
			t.Expected = r.str()
		case "actual":
			t.Actual = r.str()
		}
	})
	return stack, code
}

// mochaNames takes the names of the suites from the full title: they stand
// before the test's own, joined by blanks.
func mochaNames(t *Test, full string) {
	t.Name = firstOf(t.Name, full, "(no name)")
	if suite, ok := strings.CutSuffix(full, " "+t.Name); ok {
		t.Suite = strings.TrimSpace(suite)
	}
}

func mochaFailure(t *Test, stack, code string) {
	e, a := t.Expected, t.Actual
	jsFailure(t, firstOf(stack, t.Message))
	if e != "" || a != "" {
		t.Expected, t.Actual = e, a
	}
	switch {
	case code == "ERR_MOCHA_TIMEOUT":
		t.Kind = KindTimeout
	case mochaHook(t.Name):
		t.Kind = KindSetup
	case t.Type == "AssertionError" || code == "ERR_ASSERTION" || t.Expected != "" && t.Actual != "":
		t.Kind = KindAssertion
	}
}

// mochaHook recognises the title that mocha gives a failed hook.
func mochaHook(name string) bool {
	return strings.HasPrefix(name, `"`) && hasAny(name, `" hook`)
}

// mochaStream is the reader of json-stream: ["start",{…}], ["pass",{…}],
// ["fail",{…}], ["end",{…}], each on a line of its own. Pending tests have no
// line; only the last one counts them.
type mochaStream struct {
	out    Sink
	lim    Limits
	r      jsonReader
	anon   *anonymous
	open   bool // after start, before end
	at     int
	passed int
	failed int
	total  int
}

func (m *mochaStream) line(l Line) bool {
	t := l.Text
	if len(t) < 8 || t[0] != '[' || t[1] != '"' {
		return false
	}
	var st Status
	switch event, _, _ := strings.Cut(t[2:min(len(t), 12)], `",{`); event {
	case "start":
		return m.start(l)
	case "end":
		return m.finish(l)
	case "pass":
		st = Passed
	case "fail":
		st = Failed
	default:
		return false
	}
	if !m.open {
		return false
	}
	var test Test
	ok := false
	m.pair(l, func() { test, ok = mochaTest(&m.r, st) })
	if !ok {
		return false
	}
	test.At = l.No
	if st == Failed {
		m.failed++
	} else {
		m.passed++
	}
	m.out.Test(test)
	return true
}

// pair reads the second element of the line's array.
func (m *mochaStream) pair(l Line, fn func()) bool {
	m.r.reset(l.Text, m.lim, l.No)
	n := 0
	m.r.array(func() {
		if n++; n == 2 {
			fn()
		}
	})
	return n == 2 && (m.r.err == nil || l.Cut > 0) // a line that breaks off is none
}

func (m *mochaStream) start(l Line) bool {
	total := -1
	ok := m.pair(l, func() {
		m.r.object(func(key string) {
			if key == "total" {
				total = m.r.int()
			}
		})
	})
	if !ok || total < 0 {
		return false
	}
	m.end()
	m.open, m.at, m.total, m.passed, m.failed = true, l.No, total, 0, 0
	return true
}

func (m *mochaStream) finish(l Line) bool {
	if !m.open {
		return false
	}
	tests, passes, failures, pending := -1, 0, 0, 0
	whole := m.pair(l, func() {
		m.r.object(func(key string) {
			switch key {
			case "tests":
				tests = m.r.int()
			case "passes":
				passes = m.r.int()
			case "failures":
				failures = m.r.int()
			case "pending":
				pending = m.r.int()
			}
		})
	})
	if tests < 0 || !whole {
		return false
	}
	m.anon.emit(m.out, pending, Test{Status: Pending, Name: "(pending)", At: l.No})
	missing(m.out, l.No, failures, m.failed, "mocha")
	if passes > m.passed {
		incomplete(m.out, failures+m.failed > 0, Problem{Name: "mocha", At: l.No, Message: fewerTests(m.passed, passes)})
	}
	m.open = false
	return true
}

func (m *mochaStream) end() {
	if m.open {
		m.out.Problem(Problem{Kind: KindTruncated, Name: "mocha", At: m.at, Message: "mocha's stream of events ends before the run does"})
	}
	m.open = false
}
