package python

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// sympyFormat reads SymPy's own runner, bin/test.
var sympyFormat = format.Format{
	Name:  "sympy",
	Order: 580,
	Wakes: &format.Wake{Flush: "="},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &sympyConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type sympyConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open  bool
	at    int
	cur   *failtext.Entry
	named int
	rule  bool // the line before was a rule
}

func (c *sympyConsole) Idle() bool {
	return !c.open
}

func (c *sympyConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" || len(l.Text) < 5 || !c.open && l.Text[0] != '=' {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		return false
	}
	if title, ok := parse.Ruled(t, '='); ok {
		switch {
		case title == "test process starts":
			c.End()
			c.open, c.at = true, l.No
			return true
		case c.open && strings.HasPrefix(title, "tests finished: "):
			c.totals(l.No, title[len("tests finished: "):])
			return true
		}
	}
	if !c.open {
		return false
	}
	c.at = l.No
	rule := c.rule
	c.rule = parse.OnlyOf(t, '_', 60)
	title, ok := parse.Ruled(t, '_')
	if !ok && rule { // a title as long as the line has no rules around it
		title, ok = strings.TrimSpace(t), true
	}
	if ok {
		if file, name, found := strings.Cut(title, ".py:"); found && parse.IsDotted(name) {
			c.closeEntry()
			c.cur = failtext.NewEntry(c.lim, model.Test{Suite: file + ".py", Name: name, At: l.No})
			return true
		}
	}
	if c.cur != nil && c.cur.Lines < failtext.FailureLines && !c.rule {
		c.cur.Add(t)
		return true
	}
	return false
}

func (c *sympyConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	c.named++
	text := f.Text.String()
	f.Test.Message, f.Test.Type = failtext.PythonException(text)
	f.Test.File, f.Test.Line = pythonPlace(text)
	if f.Test.File == "" {
		f.Test.File = f.Test.Suite
	}
	f.Test.Kind = model.KindError
	if f.Test.Type == "AssertionError" {
		f.Test.Kind = model.KindAssertion
	}
	c.out.Test(f.Done())
}

// totals takes "3 passed, 1 failed, 1 exceptions, in 2.32 seconds".
func (c *sympyConsole) totals(no int, s string) {
	c.closeEntry()
	var passed, failed, skipped int
	s, _, _ = strings.Cut(s, ", in ")
	parse.CountedList(s, func(n int, word string) bool {
		switch word {
		case "passed":
			passed = n
		case "failed", "exceptions":
			failed += n
		case "skipped", "expected to fail":
			skipped += n
		case "expected to fail but passed":
			passed += n
		}
		return true
	})
	c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: no})
	failtext.Unnamed(c.out, "sympy", failed, c.named, no)
	*c = sympyConsole{out: c.out, lim: c.lim, anon: c.anon}
}

func (c *sympyConsole) End() {
	if c.open {
		c.closeEntry()
		c.out.Problem(failtext.CutOff("sympy", "bin/test ends before its totals", c.at))
	}
	*c = sympyConsole{out: c.out, lim: c.lim, anon: c.anon}
}
