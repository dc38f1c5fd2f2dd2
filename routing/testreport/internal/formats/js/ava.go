package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// avaFormat reads AVA's default reporter.
var avaFormat = format.Format{
	Name:  "ava",
	Order: 570,
	Wakes: &format.Wake{Indent: avaMarks},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &avaConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// avaMarks are what the mark before a failed title may begin with: no letter
// or digit but the x that stands for a cross, whatever the encoding made of it.
var avaMarks = "x" + strings.Map(func(r rune) rune {
	if strings.ContainsRune(format.Digits+format.Capitals+strings.ToLower(format.Capitals), r) {
		return -1
	}
	return r
}, format.AnyByte[:0x80]) + format.AnyByte[0x80:]

type avaConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	failed []avaTest
	from   int // the first of them without its block
	rules  int // lines "─" seen
	blank  int
	cur    *avaTest
	counts map[string]int
	at     int
}

type avaTest struct {
	title string // with the message behind it, as the first list has it
	name  string // as its block has it
	f     *failtext.Entry
}

func (c *avaConsole) Idle() bool {
	return c.rules == 0 && c.cur == nil && c.counts == nil && len(c.failed) == 0
}

func (c *avaConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	s := strings.TrimLeft(t, " ")
	if s == "" {
		c.blank++
		if c.cur != nil {
			c.cur.f.Add("")
		}
		return false
	}
	blank := c.blank
	c.blank = 0
	if len(t)-len(s) != 2 {
		return c.body(t)
	}
	if i := strings.Index(s[:min(len(s), 5+len(" [fail]: "))], " [fail]: "); i > 0 && strings.IndexByte(avaMarks, s[0]) >= 0 {
		if len(c.failed) < 5*c.lim.Failing {
			c.failed = append(c.failed, avaTest{title: s[i+len(" [fail]: "):], f: failtext.NewEntry(failtext.Shrunk(c.lim, len(c.failed)), model.Test{At: l.No})})
		}
		return true
	}
	if s == "─" {
		c.cur = nil
		c.rules++
		return false
	}
	if c.rules > 0 && s[0] >= '0' && s[0] <= '9' && c.count(l.No, s) {
		return true
	}
	if c.rules > 0 && blank > 0 && c.block(l.No, s) {
		return true
	}
	if c.counts != nil {
		c.finish()
	}
	return c.body(t)
}

func (c *avaConsole) body(t string) bool {
	if c.cur == nil || c.cur.f.Lines > failtext.FailureLines {
		return false
	}
	c.cur.f.Add(t)
	return true
}

// block opens what stands below a failing test's title.
func (c *avaConsole) block(no int, s string) bool {
	for c.from < len(c.failed) && c.failed[c.from].name != "" {
		c.from++
	}
	for i := c.from; i < min(len(c.failed), c.from+50); i++ {
		f := &c.failed[i]
		if f.name == "" && (f.title == s || strings.HasPrefix(f.title, s+" ")) {
			f.name = s
			f.f.Test.At = no
			c.cur = f
			return true
		}
	}
	return false
}

// count takes "2 tests failed" and its like, which stand at the end.
func (c *avaConsole) count(no int, s string) bool {
	n, word, ok := parse.Counted(s)
	if !ok {
		return false
	}
	switch word {
	case "test passed", "tests passed":
		word = "passed"
	case "test failed", "tests failed", "hook failed", "hooks failed":
		word = "failed"
	case "known failure", "known failures":
		word = "passed"
	case "test skipped", "tests skipped", "test todo", "tests todo":
		word = "skipped"
	case "uncaught exception", "uncaught exceptions", "unhandled rejection", "unhandled rejections", "test remaining in", "tests remaining in":
		word = "outside"
	default:
		return false
	}
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.cur, c.at = nil, no
	c.counts[word] += n
	return true
}

func (c *avaConsole) finish() {
	for i := range c.failed {
		f := &c.failed[i]
		name := parse.FirstOf(f.name, f.title)
		f.f.Test.Suite, f.f.Test.Name = cutPath(name, " › ")
		text := parse.Unindent(f.f.Text.String())
		file, line, _, ok := parse.Location(parse.HeadLine(text))
		f.f.Test.Message = avaMessage(text)
		t := f.f.Done()
		if rest, found := strings.CutPrefix(f.title, name+" "); found && f.name != "" {
			t.Message = rest
		}
		if ok && parse.IsScript(file) {
			t.File, t.Line = file, line
		}
		if strings.Contains(text, "Difference (- actual, + expected)") || strings.Contains(text, "Value is not ") {
			t.Kind = model.KindAssertion
		}
		c.out.Test(t)
	}
	c.anon.Emit(c.out, c.counts["passed"], model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, c.counts["skipped"], model.Test{Status: model.Skipped, At: c.at})
	failtext.Unnamed(c.out, "ava", c.counts["failed"], len(c.failed), c.at)
	if n := c.counts["outside"]; n > 0 {
		c.out.Problem(model.Problem{Kind: model.KindError, Name: "ava", Message: "uncaught exceptions or unhandled rejections", At: c.at})
	}
	*c = avaConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// avaMessage leaves the place and the listing of code out.
func avaMessage(text string) string {
	var msg []string
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimSpace(l)
		if _, _, _, place := parse.Location(s); place && !strings.Contains(s, " ") || failtext.IsCodeLine(s) || s == "" && len(msg) == 0 {
			continue
		}
		msg = append(msg, l)
	}
	return failtext.FailureHead(strings.Join(msg, "\n"))
}

func (c *avaConsole) End() {
	if c.counts != nil || len(c.failed) > 0 {
		cut := c.counts == nil
		at := 0
		for _, f := range c.failed {
			at = max(at, f.f.Test.At)
		}
		c.finish()
		if cut {
			c.out.Problem(failtext.CutOff("ava", "AVA's output ends before its totals", at))
		}
	}
	*c = avaConsole{out: c.out, lim: c.lim, anon: c.anon}
}
