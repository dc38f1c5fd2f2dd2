package python

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// robotFormat reads the output.xml of Robot Framework 3 to 7.
var robotFormat = format.Format{Name: "robot", Order: 70, Opens: []string{"robot"}, Detect: detectRobot, Document: readRobot}

// detectRobot asks for more than the root's name, which descriptions of real robots share.
func detectRobot(head []byte) int {
	n, rest := xmlstream.Root(head)
	if n == "robot" && (bytes.Contains(xmlstream.RootTag(rest), []byte("generator=")) || bytes.Contains(rest, []byte("<suite"))) {
		return 90
	}
	return 0
}

// robotReader is the state of one document. Tests wait for the end of their
// suites: a tear-down that fails makes them all fail, but in the document they
// passed.
type robotReader struct {
	*xmlstream.Doc
	suites []robotSuite
	held   []model.Test
	bytes  int
	before int  // tests that passed in documents before this one
	fails  int  // failing tests, held ones too
	rebot  bool // written by Rebot, which has put the failures of tear-downs into the tests
}

type robotSuite struct{ name, source string }

func readRobot(d *format.Document) error {
	r := &robotReader{Doc: xmlstream.NewDoc(d, "Robot Framework")}
	return r.Roots(func(tok xmlstream.Token) error {
		r.before, r.fails, r.rebot = r.Passed, 0, strings.HasPrefix(r.Attr("generator"), "Rebot")
		err := r.Children(func(tok xmlstream.Token) error {
			switch tok.Name {
			case "suite":
				return r.suite(tok)
			case "statistics":
				r.flush()
				return r.statistics()
			case "errors":
				return r.errors()
			}
			return r.XML.Skip()
		})
		r.flush()
		return err
	}, "robot")
}

func (r *robotReader) flush() {
	for _, t := range r.held {
		r.Test(t)
	}
	clear(r.held)
	r.held, r.bytes = r.held[:0], 0
}

func (r *robotReader) hold(t model.Test) {
	if t.Status == model.Failed {
		r.fails++
	}
	r.held = append(r.held, t)
	r.bytes += len(t.Message) + len(t.Trace) + len(t.Name) + 400
	if len(r.held) >= failtext.HoldTests || r.bytes > failtext.HoldBytes {
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
func (r *robotReader) suite(tok xmlstream.Token) error {
	if len(r.suites) >= r.Limits.Depth {
		r.Problem(model.Problem{Kind: model.KindTruncated, Name: r.path(), At: tok.Line, Message: fmt.Sprintf("suites nested deeper than %d are not read", r.Limits.Depth)})
		return r.XML.Skip()
	}
	s := robotSuite{r.Attr("name"), r.Attr("source")}
	if n := len(r.suites); s.source == "" && n > 0 {
		s.source = r.suites[n-1].source
	}
	r.suites = append(r.suites, s)
	defer func() { r.suites = r.suites[:len(r.suites)-1] }()
	first, failed, bad := len(r.held), r.fails, r.Bad
	var st robotStatus
	var setup, teardown robotKeyword
	err := r.Children(func(tok xmlstream.Token) error {
		switch tok.Name {
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
		return r.XML.Skip()
	})
	if setup.status.status == "FAIL" {
		r.suiteProblem(setup, "Suite setup failed")
	}
	if teardown.status.status == "FAIL" {
		r.suiteProblem(teardown, "Suite teardown failed")
		if !r.rebot {
			r.failHeld(min(first, len(r.held)), parse.FirstOf(teardown.message(), "Suite teardown failed"))
		}
	}
	if st.status == "FAIL" && r.fails == failed && r.Bad == bad {
		r.Problem(model.Problem{Kind: model.KindPackage, Name: r.path(), File: s.source, At: st.line, Message: parse.FirstOf(st.text, "the suite failed, but no test in it did")})
	}
	return err
}

func (r *robotReader) suiteProblem(k robotKeyword, what string) {
	r.Problem(model.Problem{Kind: model.KindSetup, Name: r.path(), File: r.suites[len(r.suites)-1].source, At: k.line, Message: what + ": " + parse.FirstOf(k.message(), k.name), Trace: k.trace})
}

// failHeld makes the tests of a suite fail whose tear-down did, as Robot
// Framework counts them.
func (r *robotReader) failHeld(first int, message string) {
	for i := first; i < len(r.held); i++ {
		t := &r.held[i]
		switch t.Status {
		case model.Passed:
			t.Status, t.Kind, t.Message = model.Failed, model.KindSetup, "Parent suite teardown failed:\n"+message
			r.fails++
		case model.Failed:
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

func (r *robotReader) status(tok xmlstream.Token, st *robotStatus) error {
	st.status, st.line = r.Attr("status"), tok.Line
	st.optional = r.Attr("critical") == "no"
	if e := r.XML.Attr("elapsed"); e != "" {
		st.elapsed = parse.Seconds(e)
	} else {
		st.elapsed = robotSpan(r.XML.Attr("starttime"), r.XML.Attr("endtime"))
	}
	return r.Into(&st.text)
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

func (k robotKeyword) message() string { return parse.FirstOf(k.status.text, k.fail) }

// robotControl reports whether an element holds keywords.
func robotControl(name string) bool {
	switch name {
	case "kw", "for", "iter", "if", "branch", "try", "while", "group", "return", "continue", "break", "variable", "error", "forloop", "foritem", "setup", "teardown":
		return true
	}
	return false
}

// keyword reads a keyword with all it called.
func (r *robotReader) keyword(tok xmlstream.Token, depth int) (robotKeyword, error) {
	k := robotKeyword{name: r.Attr("name"), kind: r.Attr("type"), line: tok.Line}
	if lib := parse.FirstOf(r.Attr("owner"), r.Attr("library")); lib != "" {
		k.name = lib + "." + k.name
	}
	if tok.Name == "setup" || tok.Name == "teardown" {
		k.kind = tok.Name
	}
	var last string
	err := r.Children(func(tok xmlstream.Token) error {
		switch {
		case tok.Name == "status":
			return r.status(tok, &k.status)
		case tok.Name == "msg":
			return r.message(&k, &last)
		case robotControl(tok.Name):
			sub, err := r.keyword(tok, depth+1)
			if k.fail == "" && sub.fail != "" && sub.status.status != "PASS" {
				k.fail, k.trace = sub.fail, sub.trace
			}
			return err
		}
		return r.XML.Skip()
	})
	if k.status.status == "FAIL" && k.name != "" && depth < 50 {
		k.trace = bounded.CutText(strings.TrimSpace(k.name+"\n"+k.trace), r.Limits.Text)
	}
	return k, err
}

// message reads <msg>: a failure, and the traceback that follows it as DEBUG.
func (r *robotReader) message(k *robotKeyword, last *string) error {
	level := r.Attr("level")
	if level != "FAIL" && (level != "DEBUG" || *last != "FAIL") {
		*last = level
		return r.XML.Skip()
	}
	text, err := r.Content()
	if level == "FAIL" && k.fail == "" {
		k.fail = text
	}
	*last = level
	if len(k.trace) < r.Limits.Text {
		k.trace = strings.TrimSpace(k.trace + "\n" + text)
	}
	return err
}

func (r *robotReader) testCase(tok xmlstream.Token) error {
	t := model.Test{Name: r.Attr("name"), Suite: r.path(), At: tok.Line, Line: max(0, parse.Declared(r.Attr("line")))}
	t.File = r.suites[len(r.suites)-1].source
	var st robotStatus
	var fail, trace string
	err := r.Children(func(tok xmlstream.Token) error {
		switch {
		case tok.Name == "status":
			return r.status(tok, &st)
		case robotControl(tok.Name):
			k, err := r.keyword(tok, 0)
			if k.status.status == "FAIL" && fail == "" {
				fail, trace = parse.FirstOf(k.message(), k.name), k.trace
			}
			return err
		}
		return r.XML.Skip()
	})
	if err != nil && st.status != "FAIL" {
		return err
	}
	t.Duration = st.elapsed
	switch st.status {
	case "PASS":
		t.Status = model.Passed
	case "SKIP", "NOT RUN", "NOT_RUN":
		t.Status, t.Message = model.Skipped, st.text
	case "FAIL":
		t.Status, t.At = model.Failed, st.line
		t.Message, t.Trace = parse.FirstOf(st.text, fail, "the test failed; the report says no more"), trace
		r.Explain(&t)
		t.Kind = robotKind(t)
		if st.optional {
			t.Message += " (the test is not critical)"
		}
	default:
		t.Status = model.Other
	}
	r.hold(t)
	return err
}

func robotKind(t model.Test) model.Kind {
	m := t.Message
	switch {
	case strings.HasPrefix(m, "Setup failed:"), strings.HasPrefix(m, "Parent suite setup failed"), strings.HasPrefix(m, "Teardown failed:"), strings.HasPrefix(m, "No keyword with name"):
		return model.KindSetup
	case strings.HasPrefix(m, "Test timeout ") && strings.Contains(m, " exceeded."), strings.HasPrefix(m, "Keyword timeout ") && strings.Contains(m, " exceeded."):
		return model.KindTimeout
	}
	return t.Kind
}

// statistics compares the totals with what was read.
func (r *robotReader) statistics() error {
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "total" {
			return r.XML.Skip()
		}
		return r.Children(func(tok xmlstream.Token) error {
			pass, fail := parse.Declared(r.Attr("pass")), parse.Declared(r.Attr("fail"))
			name, err := r.Content()
			if name == "All Tests" || name == "" {
				r.Shortfall(name, tok.Line, fail, r.fails)
				r.Fewer(name, tok.Line, pass, r.Passed-r.before)
			}
			return err
		})
	})
}

// errors reads what went wrong while files were parsed and libraries loaded.
// It does not make a run fail: the tests that needed them do.
func (r *robotReader) errors() error {
	return r.Children(func(tok xmlstream.Token) error {
		if tok.Name != "msg" || r.Attr("level") != "ERROR" {
			return r.XML.Skip()
		}
		text, err := r.Content()
		d := model.Diagnostic{Tool: "robot", Severity: model.SevWarning, Message: text, At: tok.Line}
		// Error in file '/a/b.robot' on line 3: …
		if _, rest, ok := strings.Cut(text, "Error in file '"); ok {
			file, rest, _ := strings.Cut(rest, "'")
			d.File = file
			if rest, ok = strings.CutPrefix(rest, " on line "); ok {
				n, _, _ := strings.Cut(rest, ":")
				d.Line, _ = strconv.Atoi(n)
			}
		}
		r.Out.Diagnostic(d)
		return err
	})
}
