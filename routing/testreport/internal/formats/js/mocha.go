package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// mochaFormat reads what mocha's reporters end with: the totals and the
// numbered list of failures; also under Cypress, Electron and Karma's mocha reporter.
var mochaFormat = format.Format{
	Name:  "mocha",
	Order: 430,
	Wakes: &format.Wake{Flush: "E", Indent: format.Digits + "E(\xe2", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		open := func() format.Console { return &mochaConsole{out: out, lim: lim, anon: anon} }
		return &format.BehindPrefix{Plain: open(), Open: open, Starts: startsMocha, May: func(t string) bool { return strings.Contains(t, " passing (") }}
	},
}

// startsMocha recognises "  3 passing (5ms)".
func startsMocha(t string) bool {
	if !strings.HasPrefix(t, " ") {
		return false
	}
	t = strings.TrimSpace(t)
	if t == "" || t[0] < '0' || t[0] > '9' {
		return false
	}
	_, rest, ok := parse.LeadingInt(t)
	return ok && isMochaPassing(rest)
}

type mochaConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	numbered int // lines "n) title" of the tree since the last totals, in order
	attempts []mochaAttempt

	state                    mochaState
	at                       int
	passing, pending, failed int
	behind                   bool // something stands behind the totals
	indent                   int  // of the list's numbers
	cur                      *failtext.Entry
	titles                   []string
	inTitle                  bool
	named                    int
	blank                    int
	framed                   bool
	emitted                  int // failures of this step, for Cypress's table
	load                     *failtext.Entry
	first                    int // line of the first mark
	good                     int // line of the first mark of a test that passed
	end                      int // of the run
	foreign                  int // lines of others inside the totals
}

// mochaAttempt is a test that Cypress tried again.
type mochaAttempt struct {
	title string
	n     int
}

type mochaState int

const (
	mochaIdle   mochaState = iota
	mochaTotals            // behind "3 passing"
	mochaList              // behind "1 failing"
)

func (c *mochaConsole) Idle() bool {
	return c.load == nil && c.state == mochaIdle
}

func (c *mochaConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	if c.load != nil && c.loadLine(l.Text) {
		return true
	}
	if c.state == mochaIdle && (len(l.Text) < 4 || l.Text[0] != ' ' && l.Text[0] != 'E') {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if c.state != mochaIdle {
		if claimed, done := c.inside(l.No, t); done {
			return claimed
		}
	}
	return c.outside(l.No, t)
}

// outside looks for totals and for what mocha says when it cannot start.
func (c *mochaConsole) outside(no int, t string) bool {
	if t == "" {
		return false
	}
	if t[0] == 'E' {
		if strings.HasPrefix(t, "Error: No test files found") {
			c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "mocha", Message: t, At: no})
			return true
		}
		return false
	}
	s := strings.TrimLeft(t, " ")
	switch {
	case s == "":
	case s[0] >= '0' && s[0] <= '9':
		n, rest, _ := parse.LeadingInt(s)
		if isMochaPassing(rest) {
			c.state, c.at, c.passing = mochaTotals, no, n
			return true
		}
		if strings.HasPrefix(rest, ") ") && (n == c.numbered+1 || n == 1) {
			c.begins(no, false)
			c.numbered = n
		}
	case s[0] == 'E' && strings.HasPrefix(t, " Exception during run: "):
		c.load = failtext.NewEntry(c.lim, model.Test{At: no})
		c.load.Add(strings.TrimPrefix(s, "Exception during run: "))
		return true
	case s[0] == '(' && strings.HasPrefix(s, "(Attempt "):
		c.attempt(s)
	case strings.HasPrefix(s, "✓ "):
		c.begins(no, true)
	case strings.HasPrefix(s, "✔ "):
		c.begins(no, true)
		return c.oldTotals(no, s[len("✔ "):])
	case strings.HasPrefix(s, "✖"):
		s = strings.TrimSpace(s[len("✖"):])
		if c.oldTotals(no, s) {
			return true
		}
		c.cypressTable(no, s)
	}
	return false
}

// begins notes the first mark of a run. A numbered line may be of another runner's list of failures.
func (c *mochaConsole) begins(no int, good bool) {
	if c.first == 0 {
		c.first = no
	}
	if good && c.good == 0 {
		c.good = no
	}
}

// oldTotals takes what mocha before 1.9 ended with: "✔ 5 tests complete (10ms)",
// "✖ 2 of 5 tests failed:".
func (c *mochaConsole) oldTotals(no int, s string) bool {
	n, rest, ok := parse.LeadingInt(s)
	if !ok {
		return false
	}
	if (strings.HasPrefix(rest, " tests complete (") || strings.HasPrefix(rest, " test complete (")) && strings.HasSuffix(rest, ")") {
		c.state, c.at, c.passing = mochaTotals, no, n
		return true
	}
	if rest, ok = strings.CutPrefix(rest, " of "); !ok {
		return false
	}
	all, rest, ok := parse.LeadingInt(rest)
	if !ok || rest != " tests failed:" && rest != " test failed:" {
		return false
	}
	c.state, c.at, c.passing, c.failed = mochaList, no, max(all-n, 0), n
	return true
}

// isMochaPassing recognises what stands behind the number of passing tests.
func isMochaPassing(rest string) bool {
	if !strings.HasPrefix(rest, " passing") {
		return false
	}
	rest = rest[len(" passing"):]
	return rest == "" || strings.HasPrefix(rest, " (") && strings.HasSuffix(rest, ")")
}

// loadLine collects the error of a file that could not be loaded.
func (c *mochaConsole) loadLine(t string) bool {
	if text := c.load.Text.String(); c.load.Lines < 10 && !strings.Contains(text, "Error") {
		if _, _, _, ok := parse.Location(parse.HeadLine(text)); ok { // the code stands above the error
			c.load.Add(t)
			return true
		}
	}
	if c.load.Lines < 60 && (t != "" && (t[0] == ' ' || t[0] == '-' || t[0] == '}' || strings.HasPrefix(t, "Require stack"))) {
		c.load.Add(t)
		return true
	}
	c.closeLoad()
	return false
}

func (c *mochaConsole) closeLoad() {
	t := c.load.Done()
	c.load = nil
	if file, line, _, ok := parse.Location(parse.HeadLine(t.Message)); ok { // node shows the place and the code first
		for text := t.Trace; text != ""; {
			var l string
			if l, text, _ = strings.Cut(text, "\n"); failtext.JSErrorType(l) != "" {
				t.File, t.Line, t.Message = file, line, strings.TrimSpace(l)
				break
			}
		}
	}
	c.out.Problem(model.Problem{Kind: suiteKind(t.Message), Name: "mocha", File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
}

// attempt notes "(Attempt 1 of 3) title" of Cypress.
func (c *mochaConsole) attempt(s string) {
	n, rest, ok := parse.LeadingInt(s[len("(Attempt "):])
	_, title, found := strings.Cut(rest, ") ")
	if !ok || !found || !strings.HasPrefix(rest, " of ") || len(c.attempts) >= c.lim.Failing {
		return
	}
	for i := range c.attempts {
		if c.attempts[i].title == title {
			c.attempts[i].n = max(c.attempts[i].n, n)
			return
		}
	}
	c.attempts = append(c.attempts, mochaAttempt{title, n})
}

// cypressTable reads "1 of 2 failed (50%)": a spec may have failed without a test.
func (c *mochaConsole) cypressTable(no int, s string) {
	n, rest, ok := parse.LeadingInt(s)
	if !ok || n == 0 || !strings.HasPrefix(rest, " of ") || !strings.Contains(rest, " failed (") || c.emitted > 0 {
		return
	}
	c.out.Problem(model.Problem{Kind: model.KindExit, Name: "cypress", Message: strings.Join(strings.Fields(s), " "), At: no})
}

// inside takes a line behind the totals. done is false if the run is over and
// the line may be anything.
func (c *mochaConsole) inside(no int, t string) (claimed, done bool) {
	if t == "" {
		c.blank++
		if c.cur != nil {
			c.inTitle = false
			c.cur.Add("")
			if c.blank >= 3 && c.named >= c.failed {
				c.finish()
			}
		}
		return false, true
	}
	blank := c.blank
	c.blank = 0
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	if n, rest, ok := parse.LeadingInt(s); ok {
		switch {
		case c.state == mochaTotals && rest == " pending":
			c.pending = n
			return true, true
		case c.state == mochaTotals && rest == " failing":
			c.failed, c.state = n, mochaList
			return true, true
		case c.state == mochaList && strings.HasPrefix(rest, ") ") && n == c.named+1 && n <= c.failed && (c.cur == nil && indent > 0 || indent == c.indent):
			c.next(no, indent, rest[2:])
			return true, true
		}
	}
	switch {
	case t == "Post job cleanup.": // the job went on, and shows no failure of the step
		c.behind = true
		c.finish()
		return false, false
	case c.cur == nil && c.expects() && c.foreign < maxForeign:
		c.foreign++ // another process writes to the same log
		return false, true
	case c.cur == nil:
		c.behind = true
		c.finish()
		return false, false
	case c.inTitle && indent == c.indent+3+2*len(c.titles) && len(c.titles) < 60:
		c.titles = append(c.titles, s)
		return true, true
	}
	c.inTitle = false
	if indent == 0 && c.framed && blank > 0 && c.named >= c.failed || c.cur.Lines > failtext.FailureLines {
		c.behind = true
		c.finish()
		return false, false
	}
	c.framed = c.framed || strings.HasPrefix(s, "at ")
	c.cur.Add(t)
	return true, true
}

// maxForeign bounds the lines of others inside the totals.
const maxForeign = 200

// expects reports whether more of the totals has to come: the list of failures, or their number
// where the tree shows some.
func (c *mochaConsole) expects() bool {
	return c.state == mochaList && c.named < c.failed || c.state == mochaTotals && c.numbered > 0
}

func (c *mochaConsole) next(no, indent int, title string) {
	c.closeEntry()
	c.named++
	c.end = no
	c.indent, c.inTitle, c.framed = indent, true, false
	c.cur = failtext.NewEntry(c.lim, model.Test{At: no})
	c.titles = append(c.titles[:0], title)
}

func (c *mochaConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	last := len(c.titles) - 1
	c.titles[last] = strings.TrimSuffix(c.titles[last], ":")
	f.Test.Suite, f.Test.Name = strings.Join(c.titles[:last], " > "), c.titles[last]
	if strings.Contains(f.Test.Name, `"before `) || strings.Contains(f.Test.Name, `"after `) {
		if strings.Contains(f.Test.Name, `" hook`) {
			f.Test.Kind = model.KindSetup
		}
	}
	for i, a := range c.attempts {
		if a.title == f.Test.Name {
			f.Test.Retries = a.n
			c.attempts = append(c.attempts[:i], c.attempts[i+1:]...)
			break
		}
	}
	c.emitted++
	t := f.Done()
	if head := parse.HeadLine(t.Message); t.File == "" && t.Kind == model.KindTimeout && strings.HasSuffix(head, ")") {
		if i := strings.LastIndexByte(head, '('); i > 0 && parse.IsScript(head[i+1:len(head)-1]) {
			t.File = head[i+1 : len(head)-1]
		}
	}
	c.out.Test(t)
}

// finish emits what the totals count and nothing names.
func (c *mochaConsole) finish() {
	c.closeEntry()
	passing := c.passing
	for _, a := range c.attempts {
		if passing > 0 { // tried again and not failed
			passing--
			c.out.Test(model.Test{Name: a.title, Status: model.Passed, Flaky: true, Retries: a.n, At: c.at})
		}
	}
	c.anon.Emit(c.out, passing, model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, c.pending, model.Test{Status: model.Pending, At: c.at})
	from := c.first
	if c.failed == 0 && c.good > 0 {
		from = c.good
	}
	model.Session(c.out, from, max(c.at, c.end))
	failtext.Unnamed(c.out, "mocha", c.failed, c.named, c.at)
	if c.failed == 0 && c.numbered > 0 && !c.behind && c.blank == 0 {
		c.out.Problem(failtext.CutOff("mocha", "mocha's output ends before the number of failures", c.at))
	}
	*c = mochaConsole{out: c.out, lim: c.lim, anon: c.anon, emitted: c.emitted}
}

func (c *mochaConsole) End() {
	if c.load != nil {
		c.closeLoad()
	}
	if c.state != mochaIdle {
		c.finish()
	}
	*c = mochaConsole{out: c.out, lim: c.lim, anon: c.anon}
}
