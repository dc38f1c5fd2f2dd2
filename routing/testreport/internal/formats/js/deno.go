package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// denoFormat reads deno test.
var denoFormat = format.Format{
	Name:  "deno",
	Order: 510,
	Wakes: &format.Wake{Flush: "rUeoF", Indent: "E"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &denoConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type denoConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open    bool
	at      int
	section denoSection
	cur     *failtext.Entry
	load    bool // the entry is of a module
	named   int
	planned int // tests of all modules
	from    int // line
	blank   bool
}

type denoSection int

const (
	denoRun denoSection = iota
	denoErrors
	denoFailures
)

func (c *denoConsole) Idle() bool {
	return !c.open && c.cur == nil
}

func (c *denoConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" || len(l.Text) < 4 {
		if l.Mark == "" {
			c.blank = true
			if c.cur != nil {
				c.cur.Add(l.Text)
			}
		}
		return false
	}
	t := l.Text
	blank := c.blank
	c.blank = false
	switch t[0] {
	case 'r':
		if isDenoRunning(t) {
			n, _, _ := parse.Counted(strings.TrimPrefix(t, "running "))
			if !c.open {
				c.from = l.No
			}
			c.open, c.at = true, l.No
			c.planned += n
			return true
		}
	case 'U':
		if strings.HasPrefix(t, "Uncaught error from ") && strings.HasSuffix(t, " FAILED") {
			c.open, c.at = true, l.No
			return true
		}
	case ' ':
		if !c.open && strings.TrimRight(t, " ") == " ERRORS" { // --reporter=dot names no files
			c.open, c.at, c.from = true, l.No, l.No
		}
	case 'o', 'F':
		if !c.open && isDenoTotals(t) {
			c.from = l.No
			return c.totals(l.No, t)
		}
	case 'e':
		if t == "error: Type checking failed." {
			c.out.Problem(model.Problem{Kind: model.KindBuild, Name: "deno", Message: t, At: l.No})
			return true
		}
	}
	if !c.open {
		return false
	}
	c.at = l.No
	return c.inside(l.No, t, blank)
}

// isDenoRunning recognises "running 3 tests from ./a_test.ts".
func isDenoRunning(t string) bool {
	rest, ok := strings.CutPrefix(t, "running ")
	if !ok {
		return false
	}
	_, word, ok := parse.Counted(rest)
	return ok && (strings.HasPrefix(word, "tests from ") || strings.HasPrefix(word, "test from "))
}

// isDenoTotals recognises "ok | 1 passed | 0 failed (9ms)".
func isDenoTotals(t string) bool {
	return (strings.HasPrefix(t, "ok | ") || strings.HasPrefix(t, "FAILED | ")) && strings.Contains(t, " passed") && strings.Contains(t, " failed") && strings.HasSuffix(t, "s)")
}

func (c *denoConsole) inside(no int, t string, blank bool) bool {
	s := strings.TrimSpace(t)
	switch {
	case s == "ERRORS" && t[0] == ' ':
		c.section = denoErrors
		return true
	case s == "FAILURES" && t[0] == ' ':
		c.closeEntry()
		c.section = denoFailures
		return true
	case (strings.HasPrefix(t, "ok | ") || strings.HasPrefix(t, "FAILED | ")) && c.totals(no, t):
		return true
	case c.section == denoErrors && (blank || c.cur == nil) && t[0] != ' ' && c.entry(no, s):
		return true
	case c.section == denoErrors && c.cur != nil:
		if c.cur.Lines < failtext.FailureLines {
			c.cur.Add(t)
		}
		return true
	case c.section == denoFailures:
		return strings.Contains(t, " => ") || strings.HasSuffix(t, " (uncaught error)")
	}
	return isDenoResult(s)
}

func isDenoResult(s string) bool {
	i := strings.LastIndex(s, " ... ")
	if i < 0 {
		return false
	}
	w := s[i+5:]
	return strings.HasPrefix(w, "ok (") || strings.HasPrefix(w, "FAILED (") || strings.HasPrefix(w, "ignored (")
}

// entry opens "name => ./a_test.ts:3:6", "./a_test.ts (uncaught error)".
func (c *denoConsole) entry(no int, s string) bool {
	if name, ok := strings.CutSuffix(s, " (uncaught error)"); ok {
		c.closeEntry()
		c.cur, c.load = failtext.NewEntry(c.lim, model.Test{Name: name, At: no}), true
		return true
	}
	i := strings.LastIndex(s, " => ")
	if i <= 0 {
		return false
	}
	file, line, col, ok := parse.Location(s[i+len(" => "):])
	if !ok {
		return false
	}
	c.closeEntry()
	t := model.Test{At: no, File: file, Line: line, Column: col}
	t.Suite, t.Name = cutPath(s[:i], " ... ")
	c.cur, c.load = failtext.NewEntry(c.lim, t), false
	return true
}

func (c *denoConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	c.named++
	declared := f.Test
	text := strings.TrimPrefix(parse.Unindent(f.Text.String()), "error: ")
	f.Test.Message = strings.TrimPrefix(denoMessage(text), "(in promise) ")
	for _, l := range strings.Split(text, "\n") {
		if file, line, col, ok := failtext.JSFrame(l); ok && !parse.Foreign(file) && !strings.HasPrefix(file, "ext:") {
			f.Test.File, f.Test.Line, f.Test.Column = file, line, col
			break
		}
	}
	t := f.Done()
	if c.load {
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: declared.Name, File: t.File, Line: t.Line, Column: t.Column, Message: t.Message, Trace: t.Trace, At: t.At})
		return
	}
	c.out.Test(t)
}

// denoMessage ends before the source line that deno marks with a caret.
func denoMessage(text string) string {
	lines := strings.Split(failtext.FailureHead(text), "\n")
	for i, l := range lines {
		if i > 1 && strings.Trim(l, " ~^") == "" && strings.Contains(l, "^") {
			lines = lines[:i-1]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// totals takes "FAILED | 2 passed (1 step) | 1 failed | 1 ignored (10ms)".
func (c *denoConsole) totals(no int, t string) bool {
	var passed, failed, ignored int
	parts := strings.Split(t, " | ")
	for _, part := range parts[1:] {
		n, word, ok := parse.Counted(strings.TrimSpace(part))
		if !ok {
			return false
		}
		word, _, _ = strings.Cut(word, " ")
		switch word {
		case "passed":
			passed = n
		case "failed":
			failed = n
		case "ignored":
			ignored = n
		case "measured", "filtered":
		default:
			return false
		}
	}
	c.closeEntry()
	model.Session(c.out, c.from, no)
	c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, ignored, model.Test{Status: model.Skipped, At: no})
	failtext.Unnamed(c.out, "deno", failed, c.named, no)
	if failed == 0 && parts[0] == "FAILED" && c.named == 0 {
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: "deno", Message: t, At: no})
	}
	if failed == 0 && c.named == 0 {
		failtext.RanFewer(c.out, "deno", no, passed+ignored, c.planned)
	}
	*c = denoConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *denoConsole) End() {
	if c.open {
		c.closeEntry()
		c.out.Problem(failtext.CutOff("deno", "deno's output ends before its totals", c.at))
	}
	*c = denoConsole{out: c.out, lim: c.lim, anon: c.anon}
}
