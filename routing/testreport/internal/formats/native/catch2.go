package native

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/internal/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// catch2Format reads the console reporter of Catch2, versions 1 to 3.
var catch2Format = format.Format{
	Name:  "catch2",
	Order: 680,
	Wakes: &format.Wake{Flush: "-.=~tAN", Ends: "."},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &catchConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// catchConsole reads one test program after the other. Only tests that failed
// are shown, once per section and assertion.
type catchConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open  bool
	at    int
	rule  string // "-" or "." when the line before was a rule of it
	head  []string
	inHd  bool // between two rules of "-"
	place string
	cur   *failtext.Failure
	tests []*failtext.Failure
	byKey map[string]*failtext.Failure
}

var (
	catchHost   = lazyregexp.New(`^\S.* is a Catch2? v\d+\.\d+.* host application\.$`)
	catchFailed = lazyregexp.New(`^(\S.*?)(?::(\d+)|\((\d+)\)): (FAILED:|FAILED|error: )`)
)

func (c *catchConsole) Idle() bool {
	return !c.open && c.cur == nil
}

func (c *catchConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			c.End()
		}
		return false
	}
	c.at = l.No
	t := l.Text
	if t == "" {
		if c.cur != nil {
			c.cur.Text.Add("")
		}
		return false
	}
	switch t[0] {
	case '-', '.', '=', '~':
		if len(t) >= 70 && strings.TrimRight(t, t[:1]) == "" {
			return c.ruled(t[0])
		}
	case 't':
		if strings.HasPrefix(t, "test cases: ") && strings.Contains(t, " | ") {
			return c.totals(t)
		}
	case 'a':
		if c.open && strings.HasPrefix(t, "assertions: ") {
			c.finish(true)
			return true
		}
	case 'A':
		if strings.HasPrefix(t, "All tests passed (") && strings.Contains(t, " test case") {
			return c.green(t)
		}
	case 'N':
		if strings.HasPrefix(t, "No tests ran") && c.open {
			c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "catch2", Message: t, At: l.No})
			c.open = false
			return true
		}
	}
	if strings.HasSuffix(t, " host application.") && catchHost.MatchString(t) {
		c.begin()
		return true
	}
	return c.body(t)
}

func (c *catchConsole) begin() {
	if !c.open {
		c.open, c.byKey = true, map[string]*failtext.Failure{}
		c.tests, c.cur, c.head = nil, nil, nil
	}
}

// ruled reads the rules that frame a test's heading and its body.
func (c *catchConsole) ruled(r byte) bool {
	switch r {
	case '-':
		if !c.open {
			return false
		}
		if c.inHd {
			c.inHd = false
			c.rule = "-"
			return true
		}
		c.inHd, c.head, c.cur = true, nil, nil
	case '.':
		c.rule = ""
		return c.open
	case '=':
		c.cur, c.inHd = nil, false
		return c.open
	case '~':
		return c.open
	}
	return true
}

func (c *catchConsole) body(t string) bool {
	if !c.open {
		return false
	}
	if c.inHd {
		if len(c.head) < 20 {
			c.head = append(c.head, strings.Clone(strings.TrimSpace(t)))
		}
		return true
	}
	if c.rule == "-" { // the place of the test
		c.place, c.rule = strings.Clone(t), ""
		return true
	}
	if m := catchFailed.FindStringSubmatch(t); m != nil && len(c.head) > 0 && (m[4] != "error: " || strings.HasSuffix(t, "FAILED:")) {
		c.failed(m, t)
		return true
	}
	if c.cur != nil {
		c.cur.Text.Add(t)
		return true
	}
	return false
}

// failed begins an assertion that failed. All of a test case are one failure.
func (c *catchConsole) failed(m []string, t string) {
	f := c.byKey[c.head[0]]
	if f == nil {
		f = failtext.NewFailure(model.Test{Name: c.head[0], Status: model.Failed, At: c.at, File: m[1]}, failtext.Shrunk(c.lim, len(c.tests)))
		f.Test.Line, _, _ = parse.LeadingInt(m[2] + m[3])
		if len(c.tests) < 5*c.lim.Failing {
			c.tests = append(c.tests, f)
			c.byKey[c.head[0]] = f
		}
	} else if f.Text.Head.Len() > 0 {
		f.Text.Add("")
	}
	if len(c.head) > 1 {
		f.Text.Add("in " + strings.Join(c.head[1:], " > "))
	}
	f.Text.Add(t)
	c.cur = f
}

// totals reads "test cases: 3 | 1 passed | 2 failed".
func (c *catchConsole) totals(t string) bool {
	n, _ := parse.NumAfter(t, "test cases:")
	if !c.open && len(c.tests) == 0 && !strings.Contains(t, "passed") && !strings.Contains(t, "failed") {
		return false
	}
	c.begin()
	c.cur = nil
	failed, _ := parse.NumBefore(t, " failed\x00")
	for _, part := range strings.Split(t, "|") {
		if v, ok := parse.NumBefore(part, " failed"); ok && !strings.Contains(part, "as expected") {
			failed = v
		}
	}
	skipped, _ := parse.NumBefore(t, " skipped")
	named := c.emit()
	c.anon.Emit(c.out, n-max(failed, named)-skipped, model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: c.at})
	if failed > named {
		c.out.Problem(model.Problem{Kind: model.KindPackage, Name: "catch2", At: c.at, Message: fmt.Sprintf("%d failing test case(s) stated, %d named", failed, named)})
	}
	return true
}

func (c *catchConsole) green(t string) bool {
	i := strings.Index(t, " in ")
	if i < 0 {
		return false
	}
	n, _, ok := parse.LeadingInt(t[i+len(" in "):])
	if !ok {
		return false
	}
	c.anon.Emit(c.out, n, model.Test{Status: model.Passed, At: c.at})
	c.open, c.cur, c.tests = false, nil, nil
	return true
}

func (c *catchConsole) emit() int {
	for _, f := range c.tests {
		text := strings.TrimSpace(f.Text.String())
		explainCatch(&f.Test, text)
		c.out.Test(f.Test)
	}
	n := len(c.tests)
	c.tests, c.byKey = nil, map[string]*failtext.Failure{}
	return n
}

// explainCatch reads "f.cpp:12: FAILED:\n  REQUIRE( a == b )\nwith expansion:\n  1 == 2".
func explainCatch(t *model.Test, text string) {
	t.Trace, t.Kind = text, model.KindAssertion
	_, msg, ok := strings.Cut(text, "FAILED:\n")
	if !ok {
		msg = text
	}
	if i := strings.Index(msg, "FAILED:\n"); i >= 0 {
		msg = msg[:strings.LastIndexByte(msg[:i], '\n')+1]
	}
	t.Message = strings.TrimSpace(parse.Dedent(msg))
	switch {
	case strings.Contains(msg, "due to a fatal error condition"):
		t.Kind = model.KindCrash
	case strings.Contains(msg, "due to unexpected exception"):
		t.Kind = model.KindError
	}
	if e, a, ok := failtext.SplitAssertion(msg); ok {
		t.Expected, t.Actual = e, a
	}
}

func (c *catchConsole) finish(summed bool) {
	if !c.open {
		return
	}
	c.emit()
	if !summed {
		c.out.Problem(model.Problem{Kind: model.KindTruncated, At: c.at, Message: "the output of Catch2 ends before its totals"})
	}
	c.open, c.cur, c.head, c.inHd = false, nil, nil, false
}

func (c *catchConsole) End() { c.finish(false) }
