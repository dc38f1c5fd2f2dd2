package php

import (
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// pestFormat reads Pest and "artisan test", whose printer is Collision's.
var pestFormat = format.Format{
	Name:  "pest",
	Order: 470,
	Wakes: &format.Wake{Indent: format.Capitals},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &pestConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type pestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	class  string
	at     int
	failed []pestTest
	cur    *failtext.Entry // the block below "FAILED  Class > name"
	blocks []*failtext.Entry
}

type pestTest struct {
	class, name string
	at          int
}

func (c *pestConsole) Idle() bool {
	return c.class == "" && c.cur == nil
}

func (c *pestConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	if len(l.Text) < 4 || l.Text[0] != ' ' {
		if c.cur != nil {
			c.cur.Add(l.Text)
		}
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	s := strings.TrimLeft(t, " ")
	if s == "" {
		return false
	}
	if s[0] >= 'A' && s[0] <= 'Z' {
		if c.heading(l.No, len(t)-len(s), s) {
			return true
		}
	}
	if c.class == "" {
		return false
	}
	if s[0] >= utf8.RuneSelf && c.cur == nil || strings.HasPrefix(s, "⨯ ") {
		return c.result(l.No, s)
	}
	if c.cur != nil && c.cur.Lines < failtext.FailureLines {
		c.cur.Add(t)
		return true
	}
	return false
}

// heading takes "FAIL  Tests\Feature\SumsTest", "FAILED  Class > name" and the totals.
func (c *pestConsole) heading(no, indent int, s string) bool {
	word, rest, ok := strings.Cut(s, "  ")
	if !ok {
		return false
	}
	rest = strings.TrimLeft(rest, " ")
	switch word {
	case "PASS", "FAIL", "WARN", "RISK", "TODO", "DEPR", "NOTI", "SKIP":
		if indent < 2 || !strings.Contains(rest, `\`) || !isPHPClass(rest) {
			return false
		}
		c.closeBlock()
		c.class, c.at = rest, no
		return true
	case "FAILED":
		if c.class == "" || !strings.Contains(rest, " > ") {
			return false
		}
		c.closeBlock()
		c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.blocks)), model.Test{At: no, Name: rest})
		return true
	case "Tests:":
		return c.class != "" && c.totals(no, rest)
	}
	return false
}

// result takes "⨯ it adds up    0.02s".
func (c *pestConsole) result(no int, s string) bool {
	mark, name, ok := strings.Cut(s, " ")
	if !ok || mark != "⨯" && mark != "✓" && mark != "✔" && mark != "✘" && mark != "…" {
		return false
	}
	c.at = no
	if (mark == "⨯" || mark == "✘") && len(c.failed) < 5*c.lim.Failing {
		if i := strings.LastIndexByte(name, ' '); i > 0 && strings.HasSuffix(name, "s") {
			if _, _, isNum := parse.LeadingInt(name[i+1:]); isNum {
				name = strings.TrimRight(name[:i], " ")
			}
		}
		c.failed = append(c.failed, pestTest{class: c.class, name: name, at: no})
	}
	return true
}

func (c *pestConsole) closeBlock() {
	if c.cur != nil && len(c.blocks) < 5*c.lim.Failing {
		c.blocks = append(c.blocks, c.cur)
	}
	c.cur = nil
}

// totals takes "1 failed, 1 skipped, 2 passed (3 assertions)".
func (c *pestConsole) totals(no int, s string) bool {
	if i := strings.LastIndex(s, " ("); i > 0 {
		s = s[:i]
	}
	var failed, passed, skipped int
	ok := parse.CountedList(s, func(n int, word string) bool {
		switch word {
		case "failed":
			failed = n
		case "passed", "risky", "warnings", "warning", "warned", "deprecated", "notices", "notice":
			passed += n
		case "skipped", "todo", "todos", "pending", "incomplete", "incompleted":
			skipped += n
		default:
			return false
		}
		return true
	})
	if !ok {
		return false
	}
	named := c.emit()
	c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: no})
	failtext.Unnamed(c.out, "pest", failed, named, no)
	*c = pestConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

// emit joins the marked tests with their blocks, which stand in the same order.
func (c *pestConsole) emit() (named int) {
	c.closeBlock()
	next := 0
	for _, f := range c.failed {
		e := failtext.NewEntry(failtext.Shrunk(c.lim, len(c.blocks)), model.Test{})
		for i := next; i < len(c.blocks) && i < next+50; i++ {
			title := c.blocks[i].Test.Name
			if rest, ok := strings.CutPrefix(title, f.class+" > "); ok && strings.HasPrefix(rest, strings.TrimSuffix(f.name, "…")) {
				e, next = c.blocks[i], i+1
				if typ := strings.TrimSpace(strings.TrimPrefix(rest, f.name)); isPHPClass(typ) {
					e.Test.Type = typ
				}
				break
			}
		}
		e.Test.Suite, e.Test.Name = f.class, f.name
		if e.Test.At == 0 {
			e.Test.At = f.at
		}
		c.out.Test(pestTestOf(e))
	}
	return len(c.failed)
}

// pestTestOf completes a block: message, "at file:line", a listing.
func pestTestOf(f *failtext.Entry) model.Test {
	text := parse.Unindent(f.Text.String())
	var msg []string
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(s, "at "); ok {
			if file, line, _, ok := parse.Location(rest); ok {
				f.Test.File, f.Test.Line = file, line
				break
			}
		}
		if strings.HasPrefix(s, "--- Expected") {
			break
		}
		msg = append(msg, l)
	}
	f.Test.Message = strings.TrimSpace(strings.Join(msg[:min(len(msg), 100)], "\n"))
	return f.Done()
}

func (c *pestConsole) End() {
	if c.class != "" {
		c.emit()
		c.out.Problem(failtext.CutOff("pest", "Pest's output ends before its totals", c.at))
	}
	*c = pestConsole{out: c.out, lim: c.lim, anon: c.anon}
}
