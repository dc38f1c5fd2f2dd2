package testreport

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// robotFormat reads the output.xml of Robot Framework 3 to 7.
var robotFormat = format{name: "robot", order: 70, opens: []string{"robot"}, detect: detectRobot, document: readRobot}

// detectRobot asks for more than the root's name, which descriptions of real robots share.
func detectRobot(head []byte) int {
	n, rest := xmlRoot(head)
	if n == "robot" && (bytes.Contains(rootTag(rest), []byte("generator=")) || bytes.Contains(rest, []byte("<suite"))) {
		return 90
	}
	return 0
}

// robotReader is the state of one document. Tests wait for the end of their
// suites: a tear-down that fails makes them all fail, but in the document they
// passed.
type robotReader struct {
	*xmlDoc
	suites []robotSuite
	held   []Test
	bytes  int
	before int  // tests that passed in documents before this one
	fails  int  // failing tests, held ones too
	rebot  bool // written by Rebot, which has put the failures of tear-downs into the tests
}

type robotSuite struct{ name, source string }

func readRobot(d *document) error {
	r := &robotReader{xmlDoc: newXMLDoc(d, "Robot Framework")}
	return r.roots(func(tok xmlToken) error {
		r.before, r.fails, r.rebot = r.passed, 0, strings.HasPrefix(r.attr("generator"), "Rebot")
		err := r.children(func(tok xmlToken) error {
			switch tok.name {
			case "suite":
				return r.suite(tok)
			case "statistics":
				r.flush()
				return r.statistics()
			case "errors":
				return r.errors()
			}
			return r.x.skip()
		})
		r.flush()
		return err
	}, "robot")
}

func (r *robotReader) flush() {
	for _, t := range r.held {
		r.test(t)
	}
	clear(r.held)
	r.held, r.bytes = r.held[:0], 0
}

func (r *robotReader) hold(t Test) {
	if t.Status == Failed {
		r.fails++
	}
	r.held = append(r.held, t)
	r.bytes += len(t.Message) + len(t.Trace) + len(t.Name) + 400
	if len(r.held) >= holdTests || r.bytes > holdBytes {
		r.flush()
	}
}

func (r *robotReader) path() string {
	var names []string
	for _, s := range r.suites {
		names = append(names, s.name)
	}
	return strings.Join(names, " > ")
}

// suite reads <suite>; its status stands at its end.
func (r *robotReader) suite(tok xmlToken) error {
	if len(r.suites) >= r.lim.Depth {
		r.problem(Problem{Kind: KindTruncated, Name: r.path(), At: tok.line, Message: fmt.Sprintf("suites nested deeper than %d are not read", r.lim.Depth)})
		return r.x.skip()
	}
	s := robotSuite{r.attr("name"), r.attr("source")}
	if n := len(r.suites); s.source == "" && n > 0 {
		s.source = r.suites[n-1].source
	}
	r.suites = append(r.suites, s)
	defer func() { r.suites = r.suites[:len(r.suites)-1] }()
	first, failed, bad := len(r.held), r.fails, r.bad
	var st robotStatus
	var setup, teardown robotKeyword
	err := r.children(func(tok xmlToken) error {
		switch tok.name {
		case "suite":
			return r.suite(tok)
		case "test":
			return r.testCase(tok)
		case "kw", "setup", "teardown":
			k, err := r.keyword(tok, 0)
			switch {
			case k.is("setup"):
				setup = k
			case k.is("teardown"):
				teardown = k
			}
			return err
		case "status":
			return r.status(tok, &st)
		}
		return r.x.skip()
	})
	if setup.status.status == "FAIL" {
		r.suiteProblem(setup, "Suite setup failed")
	}
	if teardown.status.status == "FAIL" {
		r.suiteProblem(teardown, "Suite teardown failed")
		if !r.rebot {
			r.failHeld(min(first, len(r.held)), firstOf(teardown.message(), "Suite teardown failed"))
		}
	}
	if st.status == "FAIL" && r.fails == failed && r.bad == bad {
		r.problem(Problem{Kind: KindPackage, Name: r.path(), File: s.source, At: st.line, Message: firstOf(st.text, "the suite failed, but no test in it did")})
	}
	return err
}

func (r *robotReader) suiteProblem(k robotKeyword, what string) {
	r.problem(Problem{Kind: KindSetup, Name: r.path(), File: r.suites[len(r.suites)-1].source, At: k.line, Message: what + ": " + firstOf(k.message(), k.name), Trace: k.trace})
}

// failHeld makes the tests of a suite fail whose tear-down did, as Robot
// Framework counts them.
func (r *robotReader) failHeld(first int, message string) {
	for i := first; i < len(r.held); i++ {
		t := &r.held[i]
		switch t.Status {
		case Passed:
			t.Status, t.Kind, t.Message = Failed, KindSetup, "Parent suite teardown failed:\n"+message
			r.fails++
		case Failed:
			t.Message += "\n\nAlso parent suite teardown failed:\n" + message
		}
	}
}

// robotStatus is a <status>.
type robotStatus struct {
	status, text string
	line         int
	elapsed      time.Duration
	optional     bool // critical="no", up to version 3
}

func (r *robotReader) status(tok xmlToken, st *robotStatus) error {
	st.status, st.line = r.attr("status"), tok.line
	st.optional = r.attr("critical") == "no"
	if e := r.x.attr("elapsed"); e != "" {
		st.elapsed = seconds(e)
	} else {
		st.elapsed = robotSpan(r.x.attr("starttime"), r.x.attr("endtime"))
	}
	return r.into(&st.text)
}

// robotSpan returns the time between two stamps like "20240102 03:04:05.678".
func robotSpan(start, end string) time.Duration {
	const layout = "20060102 15:04:05.000"
	s, err1 := time.Parse(layout, start)
	e, err2 := time.Parse(layout, end)
	if err1 != nil || err2 != nil || e.Before(s) {
		return 0
	}
	return e.Sub(s)
}

// robotKeyword is a keyword or control structure as far as it says why something failed.
type robotKeyword struct {
	name, kind string
	line       int
	status     robotStatus
	fail       string // first message of level FAIL in it
	trace      string // the call chain and messages down to it
}

func (k robotKeyword) is(kind string) bool { return strings.EqualFold(k.kind, kind) }

func (k robotKeyword) message() string { return firstOf(k.status.text, k.fail) }

// robotControl reports whether an element holds keywords.
func robotControl(name string) bool {
	switch name {
	case "kw", "for", "iter", "if", "branch", "try", "while", "group", "return", "continue", "break", "variable", "error", "forloop", "foritem", "setup", "teardown":
		return true
	}
	return false
}

// keyword reads a keyword with all it called.
func (r *robotReader) keyword(tok xmlToken, depth int) (robotKeyword, error) {
	k := robotKeyword{name: r.attr("name"), kind: r.attr("type"), line: tok.line}
	if lib := firstOf(r.attr("owner"), r.attr("library")); lib != "" {
		k.name = lib + "." + k.name
	}
	if tok.name == "setup" || tok.name == "teardown" {
		k.kind = tok.name
	}
	var last string
	err := r.children(func(tok xmlToken) error {
		switch {
		case tok.name == "status":
			return r.status(tok, &k.status)
		case tok.name == "msg":
			return r.message(&k, &last)
		case robotControl(tok.name):
			sub, err := r.keyword(tok, depth+1)
			if k.fail == "" && sub.fail != "" && sub.status.status != "PASS" {
				k.fail, k.trace = sub.fail, sub.trace
			}
			return err
		}
		return r.x.skip()
	})
	if k.status.status == "FAIL" && k.name != "" && depth < 50 {
		k.trace = CutText(strings.TrimSpace(k.name+"\n"+k.trace), r.lim.Text)
	}
	return k, err
}

// message reads <msg>: a failure, and the traceback that follows it as DEBUG.
func (r *robotReader) message(k *robotKeyword, last *string) error {
	level := r.attr("level")
	if level != "FAIL" && (level != "DEBUG" || *last != "FAIL") {
		*last = level
		return r.x.skip()
	}
	text, err := r.content()
	if level == "FAIL" && k.fail == "" {
		k.fail = text
	}
	*last = level
	if len(k.trace) < r.lim.Text {
		k.trace = strings.TrimSpace(k.trace + "\n" + text)
	}
	return err
}

func (r *robotReader) testCase(tok xmlToken) error {
	t := Test{Name: r.attr("name"), Suite: r.path(), At: tok.line, Line: max(0, declared(r.attr("line")))}
	t.File = r.suites[len(r.suites)-1].source
	var st robotStatus
	var fail, trace string
	err := r.children(func(tok xmlToken) error {
		switch {
		case tok.name == "status":
			return r.status(tok, &st)
		case robotControl(tok.name):
			k, err := r.keyword(tok, 0)
			if k.status.status == "FAIL" && fail == "" {
				fail, trace = firstOf(k.message(), k.name), k.trace
			}
			return err
		}
		return r.x.skip()
	})
	if err != nil && st.status != "FAIL" {
		return err
	}
	t.Duration = st.elapsed
	switch st.status {
	case "PASS":
		t.Status = Passed
	case "SKIP", "NOT RUN", "NOT_RUN":
		t.Status, t.Message = Skipped, st.text
	case "FAIL":
		t.Status, t.At = Failed, st.line
		t.Message, t.Trace = firstOf(st.text, fail, "the test failed; the report says no more"), trace
		r.explain(&t)
		t.Kind = robotKind(t)
		if st.optional {
			t.Message += " (the test is not critical)"
		}
	default:
		t.Status = Other
	}
	r.hold(t)
	return err
}

func robotKind(t Test) Kind {
	m := t.Message
	switch {
	case strings.HasPrefix(m, "Setup failed:"), strings.HasPrefix(m, "Parent suite setup failed"), strings.HasPrefix(m, "Teardown failed:"), strings.HasPrefix(m, "No keyword with name"):
		return KindSetup
	case strings.HasPrefix(m, "Test timeout ") && strings.Contains(m, " exceeded."), strings.HasPrefix(m, "Keyword timeout ") && strings.Contains(m, " exceeded."):
		return KindTimeout
	}
	return t.Kind
}

// statistics compares the totals with what was read.
func (r *robotReader) statistics() error {
	return r.children(func(tok xmlToken) error {
		if tok.name != "total" {
			return r.x.skip()
		}
		return r.children(func(tok xmlToken) error {
			pass, fail := declared(r.attr("pass")), declared(r.attr("fail"))
			name, err := r.content()
			if name == "All Tests" || name == "" {
				r.shortfall(name, tok.line, fail, r.fails)
				r.fewer(name, tok.line, pass, r.passed-r.before)
			}
			return err
		})
	})
}

// errors reads what went wrong while files were parsed and libraries loaded.
// It does not make a run fail: the tests that needed them do.
func (r *robotReader) errors() error {
	return r.children(func(tok xmlToken) error {
		if tok.name != "msg" || r.attr("level") != "ERROR" {
			return r.x.skip()
		}
		text, err := r.content()
		d := Diagnostic{Tool: "robot", Severity: SevWarning, Message: text, At: tok.line}
		// Error in file '/a/b.robot' on line 3: …
		if _, rest, ok := strings.Cut(text, "Error in file '"); ok {
			file, rest, _ := strings.Cut(rest, "'")
			d.File = file
			if rest, ok = strings.CutPrefix(rest, " on line "); ok {
				n, _, _ := strings.Cut(rest, ":")
				d.Line, _ = strconv.Atoi(n)
			}
		}
		r.out.Diagnostic(d)
		return err
	})
}
