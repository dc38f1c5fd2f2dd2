package testreport

import (
	"strings"
)

// pytestJSONFormat reads what pytest-json-report writes.
var pytestJSONFormat = format{
	name:  "pytest-json",
	order: 240,
	opens: []string{"created", "duration", "exitcode"}, document: readPytestJSON, leaves: true,
	detect: detectJSON(`"exitcode"`, func(h jsonHead) bool {
		return h.has("exitcode", "root") && h.any("summary", "tests", "created", "environment")
	}),
}

func readPytestJSON(d *document) error {
	return readJSON(d, "pytest-json", func(r *jsonReader) bool {
		at := r.at()
		known := false
		n := tallied(d)
		failed, declared, passed, problems, tests, exit := 0, 0, 0, 0, 0, 0
		whole := r.object(func(key string) {
			switch key {
			case "exitcode":
				exit, known = r.int(), true
			case "summary":
				r.object(func(key string) {
					switch key {
					case "failed", "error":
						declared += r.int()
					case "passed":
						passed = r.int()
					}
				})
			case "collectors":
				r.array(func() {
					if p, ok := pytestCollector(r); ok {
						problems++
						d.out.Problem(p)
					}
				})
			case "tests":
				known = true
				r.array(func() {
					t, ok := pytestJSONTest(r)
					if !ok {
						return
					}
					tests++
					if t.Status == Failed {
						failed++
					}
					d.out.Test(t)
				})
			}
		})
		if !whole {
			return known
		}
		if problems == 0 {
			missing(d.out, at, declared, failed, "pytest")
		}
		if tests > 0 {
			n.fewer("pytest", at, passed, n.passed)
		}
		if p, ok := pytestExit(exit, failed > 0 || problems > 0); ok {
			p.At = at
			d.out.Problem(p)
		}
		return known
	})
}

// pytestExit says what pytest's exit status tells beyond failed tests.
func pytestExit(status int, named bool) (Problem, bool) {
	p := Problem{Kind: KindExit, Name: "pytest"}
	switch {
	case status == 0 || status == 1 && named:
		return p, false
	case status == 1:
		p.Message = "pytest ended with exit status 1, but no test failed"
	case status == 2 && named:
		return p, false // collection errors end so
	case status == 2:
		p.Kind, p.Message = KindTruncated, "pytest was interrupted"
	case status == 3:
		p.Kind, p.Message = KindCrash, "pytest ended with an internal error"
	case status == 4:
		p.Kind, p.Message = KindSetup, "pytest ended with a usage error"
	case status == 5:
		p.Kind, p.Message = KindEmpty, "pytest collected no tests"
	default:
		p.Message = "pytest ended with exit status " + strings.TrimPrefix(plural(status, ""), " ")
	}
	return p, true
}

// pytestNode splits a node id into the file and classes, and the test's name
// with its parameters, in which "::" may stand.
func pytestNode(id string) (file, suite, name string) {
	head, params := id, ""
	if i := strings.IndexByte(id, '['); i >= 0 {
		head, params = id[:i], id[i:]
	}
	file, _, _ = strings.Cut(head, "::")
	i := strings.LastIndex(head, "::")
	if i < 0 {
		return file, "", id
	}
	return file, head[:i], head[i+2:] + params
}

func pytestCollector(r *jsonReader) (Problem, bool) {
	p := Problem{Kind: KindSetup, At: r.at()}
	var outcome string
	whole := r.object(func(key string) {
		switch key {
		case "nodeid":
			p.Name = r.short(1000)
		case "outcome":
			outcome = r.short(40)
		case "longrepr":
			repr := pytestRepr(r)
			p.Trace = repr.text()
		}
	})
	if outcome != "failed" {
		return p, false
	}
	return pytestCollect(p), whole
}

// pytestCollect fills the problem of a file that could not be collected from
// its trace.
func pytestCollect(p Problem) Problem {
	p.File = p.Name
	p.Message = pytestLast(p.Trace)
	if f, l := placeIn(p.Trace, "", p.Name); f != "" {
		p.File, p.Line = f, l
	}
	if strings.HasPrefix(p.Message, "SyntaxError") || strings.HasPrefix(p.Message, "IndentationError") {
		p.Kind = KindBuild
	}
	return p
}

// pytestLast returns the last line marked with E, else the last line at all.
func pytestLast(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if e, ok := strings.CutPrefix(lines[i], "E  "); ok {
			return strings.TrimSpace(e)
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// pytestPhase is the result of the set-up, the call or the tear-down of a test.
type pytestPhase struct {
	when, outcome string
	repr          pytestLong
	skip          string
	output        string
	duration      float64
	xfail         bool
	at            int
}

func pytestJSONTest(r *jsonReader) (Test, bool) {
	t := Test{At: r.at()}
	var id, outcome string
	var phases []pytestPhase
	whole := r.object(func(key string) {
		switch key {
		case "nodeid":
			id = r.short(4000)
		case "lineno":
			t.Line = max(r.int()+1, 0)
		case "outcome":
			outcome = r.short(40)
		case "setup", "call", "teardown":
			phases = append(phases, pytestJSONPhase(r, key))
		}
	})
	if id == "" || len(phases) > 10 {
		return t, false
	}
	t.File, t.Suite, t.Name = pytestNode(id)
	pytestOutcome(&t, outcome)
	for i := range phases {
		p := &phases[i]
		t.Duration += secs(p.duration)
		if p.outcome == "failed" && t.Status == Failed {
			p.fail(&t)
		}
		if p.outcome == "skipped" && t.Status == Skipped {
			t.Message = p.skipReason()
		}
	}
	return t, whole || t.Status == Failed
}

func pytestOutcome(t *Test, outcome string) {
	switch outcome {
	case "passed", "xpassed":
		t.Status = Passed
	case "failed", "error":
		t.Status = Failed
	case "skipped", "xfailed":
		t.Status = Skipped
	default:
		t.Status = Other
	}
}

func pytestJSONPhase(r *jsonReader, when string) pytestPhase {
	p := pytestPhase{when: when}
	crash := pytestLong{}
	r.object(func(key string) {
		switch key {
		case "outcome":
			p.outcome = r.short(40)
		case "duration":
			p.duration = r.float()
		case "longrepr":
			p.repr = pytestRepr(r)
		case "crash":
			crash.crash(r)
		case "stdout", "stderr":
			p.output += r.str()
		}
	})
	p.repr.message, p.repr.file, p.repr.line = firstOf(crash.message, p.repr.message), firstOf(crash.file, p.repr.file), max(crash.line, p.repr.line)
	return p
}

// fail takes the phase's failure as the test's; of several, the first is the
// message and all are in the trace.
func (p *pytestPhase) fail(t *Test) {
	text := p.repr.text()
	if t.Trace != "" {
		t.Trace += "\n\n" + text
		return
	}
	t.Trace = text
	t.Message = firstOf(p.repr.message, pytestLast(text))
	if msg := strings.TrimSpace(t.Message); msg != "" {
		t.Message = msg
	}
	t.Output = strings.TrimSpace(p.output)
	t.Kind, t.Type = pytestKind(t.Message)
	if p.when != "call" && p.when != "" {
		t.Kind = KindSetup
	}
	if e, a, ok := splitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
}

// pytestKind tells by the first line of a failure what it was.
func pytestKind(msg string) (Kind, string) {
	head := headLine(msg)
	typ := ""
	if exceptionMessage.MatchString(head) {
		typ, _, _ = strings.Cut(head, ":")
	}
	switch {
	case strings.HasPrefix(head, "Failed: Timeout"):
		return KindTimeout, "Failed"
	case strings.HasPrefix(head, "assert "), strings.HasSuffix(typ, "AssertionError"), strings.HasPrefix(head, "Failed: "):
		return KindAssertion, typ
	case typ != "":
		return KindError, strings.TrimSpace(typ)
	}
	return KindAssertion, ""
}

func (p *pytestPhase) skipReason() string {
	return strings.TrimPrefix(firstOf(p.skip, p.repr.message, p.repr.whole), "Skipped: ")
}
