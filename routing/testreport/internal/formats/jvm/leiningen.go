package jvm

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// leiningenFormat reads clojure.test, as leiningen and the Clojure CLI run it.
var leiningenFormat = format.Format{
	Name:  "leiningen",
	Order: 750,
	Wakes: &format.Wake{Flush: format.Digits + "lTFER"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &cljConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type cljConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	at    int
	ns    string
	ran   int // "Ran 2 tests"; -1 before it
	tests []*failtext.Failure
	byKey map[string]*failtext.Failure
	cur   *failtext.Failure
	open  bool
}

var (
	cljFail = lazyregexp.New(`^(FAIL|ERROR) in (?:\((.+)\) )?\(([^()]*?):(-?\d+)\)$`)
	cljRan  = lazyregexp.New(`^Ran (\d+) tests containing (\d+) assertions\.$`)
	cljSum  = lazyregexp.New(`^(\d+) failures?, (\d+) errors?\.$`)
)

func (c *cljConsole) Idle() bool {
	return !c.open && c.cur == nil
}

func (c *cljConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			c.End()
		}
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	c.at = l.No
	if t == "" {
		return false
	}
	switch t[0] {
	case 'l':
		if rest, ok := strings.CutPrefix(t, "lein test "); ok {
			if strings.HasPrefix(rest, ":only ") {
				return true
			}
			if parse.IsIdent(rest, ".-*+!?<>=/") {
				c.begin(rest)
				return true
			}
		}
	case 'T':
		if rest, ok := strings.CutPrefix(t, "Testing "); ok && strings.Contains(rest, ".") && parse.IsIdent(rest, ".-*+!?<>=") {
			c.begin(rest)
			return false
		}
		if t == "Tests failed." {
			return c.open
		}
	case 'F', 'E':
		if m := cljFail.FindStringSubmatch(t); m != nil {
			c.fail(m)
			return true
		}
	case 'R':
		if m := cljRan.FindStringSubmatch(t); m != nil {
			c.ran, _, _ = parse.LeadingInt(m[1])
			c.cur, c.open = nil, true
			if c.ran == 0 {
				c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "clojure.test", Message: t, At: l.No})
			}
			return true
		}
	}
	if t[0] >= '0' && t[0] <= '9' && c.ran >= 0 && c.open {
		if m := cljSum.FindStringSubmatch(t); m != nil {
			c.totals(m)
			return true
		}
	}
	if c.cur != nil {
		c.cur.Text.Add(t)
		return true
	}
	return false
}

func (c *cljConsole) begin(ns string) {
	c.cur = nil
	c.ns = strings.Clone(ns)
	if !c.open {
		c.open, c.ran = true, -1
	}
}

// fail reads "FAIL in (name) (file.clj:7)". A test may fail more than once.
func (c *cljConsole) fail(m []string) {
	if !c.open {
		c.open, c.ran = true, -1
	}
	name := m[2]
	if name == "" {
		name = "fixture"
	}
	key := c.ns + "\x00" + name
	f := c.byKey[key]
	if f == nil {
		f = failtext.NewFailure(model.Test{Suite: c.ns, Name: name, Status: model.Failed, Kind: model.KindAssertion, At: c.at, File: strings.Clone(m[3])}, failtext.Shrunk(c.lim, len(c.tests)))
		f.Test.Line, _, _ = parse.LeadingInt(m[4])
		if m[1] == "ERROR" {
			f.Test.Kind = model.KindError
		}
		if c.byKey == nil {
			c.byKey = map[string]*failtext.Failure{}
		}
		if len(c.tests) < 5*c.lim.Failing {
			c.tests = append(c.tests, f)
			c.byKey[key] = f
		}
	} else {
		f.Text.Add("")
	}
	c.cur = f
}

func (c *cljConsole) totals(m []string) {
	failures, _, _ := parse.LeadingInt(m[1])
	errors, _, _ := parse.LeadingInt(m[2])
	named := c.emit()
	c.anon.Emit(c.out, c.ran-named, model.Test{Status: model.Passed, At: c.at})
	if failures+errors > 0 && named == 0 {
		c.out.Problem(model.Problem{Kind: model.KindPackage, Name: "clojure.test", At: c.at, Message: fmt.Sprintf("%d failure(s) and %d error(s) stated, none named", failures, errors)})
	}
	c.open, c.ran, c.ns = false, -1, ""
}

func (c *cljConsole) emit() int {
	for _, f := range c.tests {
		text := strings.TrimSpace(f.Text.String())
		t := &f.Test
		t.Trace = text
		first, _, _ := strings.Cut(text, "\n\n")
		t.Message = first
		for _, line := range strings.Split(first, "\n") {
			s := strings.TrimSpace(line)
			if v, ok := strings.CutPrefix(s, "expected: "); ok && t.Expected == "" {
				t.Expected = v
			} else if v, ok := strings.CutPrefix(s, "actual: "); ok && t.Actual == "" {
				t.Actual = v
			}
		}
		if t.Kind == model.KindError {
			if typ, msg := failtext.SplitException(t.Actual); typ != "" {
				t.Type, t.Message = typ, parse.FirstOf(msg, t.Message)
			}
			t.Expected, t.Actual = "", ""
		}
		c.out.Test(*t)
	}
	n := len(c.tests)
	c.tests, c.byKey, c.cur = nil, nil, nil
	return n
}

func (c *cljConsole) End() {
	if c.open && (len(c.tests) > 0 || c.ns != "") && (len(c.tests) > 0 || c.ran > 0) {
		c.emit()
		c.out.Problem(model.Problem{Kind: model.KindTruncated, At: c.at, Message: "the output of clojure.test ends before its totals"})
	}
	*c = cljConsole{out: c.out, lim: c.lim, anon: c.anon, ran: -1}
}
