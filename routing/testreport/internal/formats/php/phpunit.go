package php

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// phpunitFormat reads PHPUnit's default and testdox printers, ParaTest too.
var phpunitFormat = format.Format{
	Name:  "phpunit",
	Order: 460,
	Wakes: &format.Wake{Flush: "PTOFEWN", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		open := func() format.Console { return &phpunitConsole{out: out, lim: lim, anon: anon} }
		return &format.BehindPrefix{Plain: open(), Open: open,
			Starts: func(t string) bool {
				return strings.HasPrefix(t, "PHPUnit ") && strings.Contains(t, " by Sebastian Bergmann")
			},
			May: func(t string) bool { return t[len(t)-1] == '.' && strings.Contains(t, "PHPUnit ") }}
	},
}

type phpunitConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	header   int  // line of "PHPUnit 9.6.7 by Sebastian Bergmann"
	started  bool // something was run behind it
	section  string
	want     int // entries of the section
	seen     int
	cur      *failtext.Entry
	blank    bool
	list     []*failtext.Entry
	dropped  int
	class    string // of testdox
	heading  string // of testdox, where it states a class only in words
	timed    bool   // behind the line that states time and memory
	dox      []*failtext.Entry
	inDox    bool
	verdict  string // "FAILURES!", whose next line holds the totals
	lastLine int
}

func (c *phpunitConsole) Idle() bool {
	return c.header == 0 && c.section == "" && c.verdict == ""
}

func (c *phpunitConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	if c.header == 0 && c.section == "" && c.verdict == "" {
		if len(l.Text) < 7 {
			return false
		}
		switch l.Text[0] {
		case 'P', 'T', 'O', 'F', 'E', 'W', 'N':
		default:
			return false
		}
	}
	t := strings.TrimRight(l.Text, " ")
	blank := c.blank
	c.blank = t == ""
	if t == "" {
		if c.cur != nil {
			c.cur.Add("")
		}
		return false
	}
	c.lastLine = l.No
	return c.take(l.No, t, blank)
}

func (c *phpunitConsole) take(no int, t string, blank bool) bool {
	switch t[0] {
	case 'P':
		if strings.HasPrefix(t, "PHPUnit ") && strings.Contains(t, " by Sebastian Bergmann") {
			c.End()
			c.header = no
			return true
		}
	case 'T':
		switch {
		case strings.HasPrefix(t, "Time: ") && strings.Contains(t, "Memory: "):
			c.timed = true
		case c.header > 0 && !c.timed:
			// what a test prints: PHPUnit states its time before the results
		case strings.HasPrefix(t, "There was ") || strings.HasPrefix(t, "There were "):
			if c.opens(t) {
				return true
			}
		case c.verdict != "" && strings.HasPrefix(t, "Tests: "):
			return c.totals(no, t)
		}
	case 'O':
		if c.okLine(no, t) {
			return true
		}
	case 'F', 'E', 'W', 'N':
		if c.verdictLine(no, t) {
			return true
		}
	case '-':
		if t == "--" && c.section != "" {
			c.closeEntry()
			c.section = ""
			return true
		}
	}
	if c.verdict != "" && !blank {
		c.verdict = ""
	}
	if c.section != "" {
		return c.body(no, t, blank)
	}
	return c.progress(no, t)
}

// opens takes "There was 1 failure:", "There were 2 errors:".
func (c *phpunitConsole) opens(t string) bool {
	_, rest, _ := strings.Cut(t[len("There "):], " ")
	n, word, ok := parse.Counted(rest)
	if !ok || !strings.HasSuffix(word, ":") {
		return false
	}
	word = strings.TrimSuffix(strings.TrimSuffix(word, ":"), "s")
	switch word {
	case "failure", "error", "warning", "risky test", "skipped test", "incomplete test",
		"PHPUnit error", "PHPUnit test runner warning", "PHPUnit warning", "PHPUnit deprecation", "notice", "deprecation":
	default:
		return false
	}
	c.closeEntry()
	c.section, c.want, c.seen, c.started, c.inDox = word, n, 0, true, false
	return c.header > 0 || len(c.list) > 0 // JUnit prints the same
}

func (c *phpunitConsole) body(no int, t string, blank bool) bool {
	if n, rest, ok := parse.LeadingInt(t); ok && strings.HasPrefix(rest, ") ") && n == c.seen+1 && n <= c.want {
		c.closeEntry()
		if c.header == 0 && n == 1 && len(c.list) == 0 && !strings.Contains(rest, "::") && !strings.HasSuffix(rest, ".phpt") {
			c.section, c.started = "", false // JUnit's list: name(class)
			return false
		}
		c.seen = n
		test := model.Test{At: no}
		test.Suite, test.Name = phpTest(rest[2:])
		switch c.section {
		case "failure":
			test.Kind = model.KindAssertion
		case "error", "PHPUnit error":
			test.Kind = model.KindError
		}
		c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)+len(c.dox)), test)
		return true
	}
	if c.cur == nil {
		return false
	}
	if c.cur.Lines > failtext.FailureLines {
		c.closeEntry()
		c.section = ""
		return false
	}
	c.cur.Add(t)
	return true
}

// phpTest cuts `Ns\Class::test with data set #0 (1)` at the "::" of its class.
func phpTest(s string) (suite, name string) {
	i := strings.Index(s, "::")
	if i <= 0 || strings.ContainsAny(s[:i], " (") {
		return "", s
	}
	return s[:i], s[i+2:]
}

func (c *phpunitConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	switch {
	case f == nil:
	case c.inDox:
		if len(c.dox) < c.lim.Failing {
			c.dox = append(c.dox, f)
		}
	case c.section != "failure" && c.section != "error" && c.section != "PHPUnit error":
	case len(c.list) >= 5*c.lim.Failing:
		c.dropped++
	default:
		c.list = append(c.list, f)
	}
}

// phpTestOf completes an entry: the message ends before the first frame,
// which stands behind a blank line.
func phpTestOf(f *failtext.Entry) model.Test {
	lines := strings.Split(parse.Unindent(f.Text.String()), "\n")
	var msg []string
	diff := false
	for _, l := range lines {
		diff = diff || strings.HasPrefix(l, "--- Expected")
		if file, line, _, ok := parse.Location(l); ok && strings.Contains(file, ".php") && !strings.Contains(l, " ") {
			if f.Test.Line == 0 && !strings.Contains(file, "/vendor/") && !strings.Contains(file, "phar://") {
				f.Test.File, f.Test.Line = file, line
			}
			continue
		}
		if f.Test.Line == 0 && !diff && len(msg) < 100 {
			msg = append(msg, l)
		}
	}
	f.Test.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if strings.HasPrefix(f.Test.Name, "setUpBeforeClass") || strings.HasPrefix(f.Test.Name, "tearDownAfterClass") {
		f.Test.Kind = model.KindSetup
	}
	return f.Done()
}

// progress takes the lines behind the header: "..F  3 / 3 (100%)" and testdox.
func (c *phpunitConsole) progress(no int, t string) bool {
	if c.header == 0 {
		return false
	}
	if t[0] == ' ' && c.testdox(no, t) {
		return true
	}
	if strings.HasSuffix(t, ")") && t[0] != ' ' {
		if i := strings.LastIndex(t, " ("); i > 0 && isPHPClass(t[i+2:len(t)-1]) {
			c.closeEntry()
			c.class, c.heading = t[i+2:len(t)-1], ""
			return true
		}
	}
	if t[0] >= 'A' && t[0] <= 'Z' && len(t) < 200 && parse.IsIdent(t, " ") && !c.timed { // testdox: a class in words
		c.closeEntry()
		c.class, c.heading = "", t
	}
	end := strings.IndexByte(t, ' ')
	if end < 0 {
		end = len(t)
	}
	for i := 0; i < end; i++ {
		if strings.IndexByte(".FEWRSIND", t[i]) < 0 {
			return false
		}
	}
	c.started = true
	return end == len(t) || strings.Contains(t, " / ")
}

func isPHPClass(s string) bool {
	return s != "" && s[0] >= 'A' && s[0] <= 'Z' && parse.IsDotted(strings.ReplaceAll(s, `\`, "."))
}

// testdox takes " ✔ Ok", " ✘ Fails" and the text below, which has a bar.
func (c *phpunitConsole) testdox(no int, t string) bool {
	s := strings.TrimLeft(t, " ")
	mark, name, ok := strings.Cut(s, " ")
	switch {
	case ok && mark == "✘" && (c.class != "" || c.heading != ""):
		c.closeEntry()
		c.inDox, c.started = true, true
		c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)+len(c.dox)), model.Test{Suite: parse.FirstOf(c.class, c.heading), Name: name, At: no})
		return true
	case ok && (mark == "✔" || mark == "↩" || mark == "∅" || mark == "☢" || mark == "⚠") && (c.class != "" || c.heading != ""):
		c.closeEntry()
		c.started = true
		return true
	case c.cur != nil && c.inDox && (mark == "│" || mark == "├" || mark == "┊" || mark == "┴" || mark == "┐"):
		c.cur.Add(name)
		return true
	}
	return false
}

// okLine takes "OK (2 tests, 2 assertions)" and "OK, but …".
func (c *phpunitConsole) okLine(no int, t string) bool {
	if strings.HasPrefix(t, "OK, but ") && strings.HasSuffix(t, "!") {
		c.closeEntry()
		c.verdict = t
		return true
	}
	in, ok := strings.CutPrefix(t, "OK (")
	if !ok || !strings.HasSuffix(in, ")") || !strings.Contains(in, " assertion") {
		return false
	}
	n, rest, ok := parse.LeadingInt(in)
	if !ok || !strings.HasPrefix(rest, " test") {
		return false
	}
	c.closeEntry()
	c.finish(phpunitTotals{tests: n}, no)
	return true
}

// verdictLine takes "FAILURES!" and the like.
func (c *phpunitConsole) verdictLine(no int, t string) bool {
	if c.header > 0 && !c.timed && t != "No tests executed!" {
		return false
	}
	switch t {
	case "FAILURES!", "ERRORS!", "WARNINGS!", "ERRORS AND FAILURES!":
		c.closeEntry()
		c.section, c.verdict = "", t
		return c.header > 0 || len(c.list) > 0
	case "No tests executed!":
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "phpunit", Message: t, At: no})
		c.reset()
		return true
	}
	return false
}

type phpunitTotals struct{ tests, failed, skipped int }

// totals takes "Tests: 3, Assertions: 3, Failures: 1.".
func (c *phpunitConsole) totals(no int, t string) bool {
	var sum phpunitTotals
	if !strings.Contains(t, "Assertions: ") || !strings.HasSuffix(t, ".") {
		return false
	}
	for _, part := range strings.Split(strings.TrimSuffix(t, "."), ", ") {
		word, num, ok := strings.Cut(part, ": ")
		n, _, isNum := parse.LeadingInt(num)
		if !ok || !isNum {
			return false
		}
		switch word {
		case "Tests":
			sum.tests = n
		case "Errors", "Failures":
			sum.failed += n
		case "Skipped", "Incomplete":
			sum.skipped += n
		}
	}
	c.finish(sum, no)
	return true
}

func (c *phpunitConsole) finish(sum phpunitTotals, no int) {
	c.closeEntry()
	if len(c.list) == 0 {
		c.list = c.dox
	}
	for _, f := range c.list {
		c.out.Test(phpTestOf(f))
	}
	named := len(c.list) + c.dropped
	c.anon.Emit(c.out, sum.tests-max(sum.failed, named)-sum.skipped, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, sum.skipped, model.Test{Status: model.Skipped, At: no})
	failtext.Unnamed(c.out, "phpunit", sum.failed, named, no)
	c.reset()
}

func (c *phpunitConsole) reset() {
	*c = phpunitConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// End emits what was named of a run without totals.
func (c *phpunitConsole) End() {
	c.closeEntry()
	if c.started && c.header > 0 {
		if len(c.list) == 0 {
			c.list = c.dox
		}
		for _, f := range c.list {
			c.out.Test(phpTestOf(f))
		}
		c.out.Problem(failtext.CutOff("phpunit", "PHPUnit's output ends before its totals", c.lastLine))
	}
	c.reset()
}
