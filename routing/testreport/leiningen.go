package testreport

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// leiningenFormat reads clojure.test, as leiningen and the Clojure CLI run it.
var leiningenFormat = format{
	name:    "leiningen",
	order:   750,
	wakes:   &wake{flush: digits + "lTFER"},
	console: func(out Sink, lim Limits) console { return &cljConsole{out: out, lim: lim, anon: newAnonymous()} },
}

type cljConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	at    int
	ns    string
	ran   int // "Ran 2 tests"; -1 before it
	tests []*failure
	byKey map[string]*failure
	cur   *failure
	open  bool
}

var (
	cljFail = multimatch.New(`^(FAIL|ERROR) in (?:\((.+)\) )?\(([^()]*?):(-?\d+)\)$`)
	cljRan  = multimatch.New(`^Ran (\d+) tests containing (\d+) assertions\.$`)
	cljSum  = multimatch.New(`^(\d+) failures?, (\d+) errors?\.$`)
)

func (c *cljConsole) idle() bool {
	return !c.open && c.cur == nil
}

func (c *cljConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			c.end()
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
			if isIdent(rest, ".-*+!?<>=/") {
				c.begin(rest)
				return true
			}
		}
	case 'T':
		if rest, ok := strings.CutPrefix(t, "Testing "); ok && strings.Contains(rest, ".") && isIdent(rest, ".-*+!?<>=") {
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
			c.ran, _, _ = leadingInt(m[1])
			c.cur, c.open = nil, true
			if c.ran == 0 {
				c.out.Problem(Problem{Kind: KindEmpty, Name: "clojure.test", Message: t, At: l.No})
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
		c.cur.text.add(t)
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
		f = newFailure(Test{Suite: c.ns, Name: name, Status: Failed, Kind: KindAssertion, At: c.at, File: strings.Clone(m[3])}, shrunk(c.lim, len(c.tests)))
		f.t.Line, _, _ = leadingInt(m[4])
		if m[1] == "ERROR" {
			f.t.Kind = KindError
		}
		if c.byKey == nil {
			c.byKey = map[string]*failure{}
		}
		if len(c.tests) < 5*c.lim.Failing {
			c.tests = append(c.tests, f)
			c.byKey[key] = f
		}
	} else {
		f.text.add("")
	}
	c.cur = f
}

func (c *cljConsole) totals(m []string) {
	failures, _, _ := leadingInt(m[1])
	errors, _, _ := leadingInt(m[2])
	named := c.emit()
	c.anon.emit(c.out, c.ran-named, Test{Status: Passed, At: c.at})
	if failures+errors > 0 && named == 0 {
		c.out.Problem(Problem{Kind: KindPackage, Name: "clojure.test", At: c.at, Message: fmt.Sprintf("%d failure(s) and %d error(s) stated, none named", failures, errors)})
	}
	c.open, c.ran, c.ns = false, -1, ""
}

func (c *cljConsole) emit() int {
	for _, f := range c.tests {
		text := strings.TrimSpace(f.text.String())
		t := &f.t
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
		if t.Kind == KindError {
			if typ, msg := splitException(t.Actual); typ != "" {
				t.Type, t.Message = typ, firstOf(msg, t.Message)
			}
			t.Expected, t.Actual = "", ""
		}
		c.out.Test(*t)
	}
	n := len(c.tests)
	c.tests, c.byKey, c.cur = nil, nil, nil
	return n
}

func (c *cljConsole) end() {
	if c.open && (len(c.tests) > 0 || c.ns != "") && (len(c.tests) > 0 || c.ran > 0) {
		c.emit()
		c.out.Problem(Problem{Kind: KindTruncated, At: c.at, Message: "the output of clojure.test ends before its totals"})
	}
	*c = cljConsole{out: c.out, lim: c.lim, anon: c.anon, ran: -1}
}
