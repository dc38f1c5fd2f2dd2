package native

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
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
	Wakes: &format.Wake{Flush: "-.=~tANFPe", Ends: "."},
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
	ended int                 // the line of the last rule of "="
	held  *catchTotals        // totals, until nothing shows that a test printed them
	short []*failtext.Failure // of the compact reporter, which names no tests
}

// catchTotals is the line that counts test cases.
type catchTotals struct {
	n, failed, expected, skipped, at int
	alone                            bool // nothing of Catch2 stands before it, as a failing run's totals never do
}

var (
	catchCompact = lazyregexp.New(`^(\S.*?)(?::(\d+)|\((\d+)\)): failed: (.+)$`)
	catchSum     = lazyregexp.New(`^(?:Failed|Passed) (?:all |both )?(\d+) test cases?(?:, (?:failed|passed)| with) (?:(?:all|both) )?\d+ assertions?`)
	catchHost    = lazyregexp.New(`^\S.* is a Catch2? v\d+\.\d+.* host application\.$`)
	catchFailed  = lazyregexp.New(`^(\S.*?)(?::(\d+)|\((\d+)\)): (FAILED:|FAILED|error: )`)
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
		if c.open && c.held != nil && strings.HasPrefix(t, "assertions: ") {
			return true
		}
	case 'e':
		if strings.HasPrefix(t, "error: TEST_CASE( \"") && strings.HasSuffix(t, "already defined.") {
			c.out.Problem(model.Problem{Kind: model.KindSetup, Name: "catch2", Message: t, At: l.No})
			return true
		}
	case 'F', 'P':
		if c.compactEnd(t) {
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
		c.commit()
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
		if len(c.head) > 0 {
			c.held = nil // a test follows the totals: another printed them
		}
		return c.open
	case '=':
		c.cur, c.inHd, c.ended = nil, false, c.at
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
		if n := len(c.head); n == 1 && t[0] != ' ' && len(c.head[0]) > 40 { // a long name; those of sections are indented
			c.head[0] += " " + strings.TrimSpace(t)
		} else if n < 20 {
			c.head = append(c.head, strings.Clone(strings.TrimSpace(t)))
		}
		return true
	}
	if len(c.short) > 0 || !c.inHd && len(c.head) == 0 {
		if m := catchCompact.FindStringSubmatch(t); m != nil {
			c.compact(m)
			return true
		}
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
	if !c.open && (c.ended == 0 || c.ended != c.at-1) {
		return false // a test printed them: those of a run stand below a rule
	}
	alone := !c.open
	c.begin()
	c.cur = nil
	failed, _ := parse.NumBefore(t, " failed\x00")
	for _, part := range strings.Split(t, "|") {
		if v, ok := parse.NumBefore(part, " failed"); ok && !strings.Contains(part, "as expected") {
			failed = v
		}
	}
	skipped, _ := parse.NumBefore(t, " skipped")
	expected, _ := parse.NumBefore(t, " failed as expected")
	if !strings.Contains(t, " failed as expected") {
		expected = 0
	}
	c.held = &catchTotals{n: n, failed: failed, expected: expected, skipped: skipped, at: c.at, alone: alone}
	return true
}

// commit hands on what was read up to the totals.
func (c *catchConsole) commit() {
	h := c.held
	if h == nil {
		return
	}
	c.held = nil
	if h.failed == 0 && h.expected >= len(c.tests) {
		c.tests = nil // all of them failed as expected
	}
	named := c.emit()
	c.anon.Emit(c.out, h.n-max(h.failed, named)-h.skipped, model.Test{Status: model.Passed, At: h.at})
	c.anon.Emit(c.out, h.skipped, model.Test{Status: model.Skipped, At: h.at})
	failtext.Unnamed(c.out, "catch2", h.failed, named, h.at)
	c.open, c.cur, c.head, c.inHd = false, nil, nil, false
}

// compact takes an assertion that failed as the compact reporter prints it.
func (c *catchConsole) compact(m []string) {
	if len(c.short) < c.lim.Failing {
		f := failtext.NewFailure(model.Test{Name: m[1] + ":" + m[2] + m[3], Status: model.Failed, Kind: model.KindAssertion, At: c.at, File: strings.Clone(m[1]), Message: strings.Clone(m[4])}, c.lim)
		f.Test.Line, _, _ = parse.LeadingInt(m[2] + m[3])
		c.short = append(c.short, f)
	}
}

// compactEnd reads "Failed 7 test cases, failed 7 assertions.", the end of the compact reporter.
func (c *catchConsole) compactEnd(t string) bool {
	m := catchSum.FindStringSubmatch(t)
	if m == nil || t[len(t)-1] != '.' {
		return false
	}
	n, _, _ := parse.LeadingInt(m[1])
	switch {
	case t[0] == 'P':
		c.anon.Emit(c.out, n, model.Test{Status: model.Passed, At: c.at})
	default:
		p := failtext.NotNamed("catch2", n, 0, c.at)
		if len(c.short) > 0 {
			f := c.short[0].Test
			p.File, p.Line, p.Message, p.At = f.File, f.Line, f.Message, f.At
		}
		c.out.Problem(p)
	}
	c.open, c.cur, c.tests, c.short, c.held = false, nil, nil, nil, nil
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
	if c.held != nil && c.held.alone {
		c.held = nil // a test printed them: those of a run stand below its heading
	}
	c.commit()
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
	c.commit()
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
