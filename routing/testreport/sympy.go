package testreport

import (
	"strings"
)

// sympyFormat reads SymPy's own runner, bin/test.
var sympyFormat = format{
	name:  "sympy",
	order: 580,
	wakes: &wake{flush: "="},
	console: func(out Sink, lim Limits) console {
		return &sympyConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

type sympyConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open  bool
	at    int
	cur   *failedEntry
	named int
	rule  bool // the line before was a rule
}

func (c *sympyConsole) budget() *anonymous { return c.anon }

func (c *sympyConsole) idle() bool {
	return !c.open
}

func (c *sympyConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" || len(l.Text) < 5 || !c.open && l.Text[0] != '=' {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		return false
	}
	if title, ok := ruled(t, '='); ok {
		switch {
		case title == "test process starts":
			c.end()
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
	c.rule = onlyOf(t, '_', 60)
	title, ok := ruled(t, '_')
	if !ok && rule { // a title as long as the line has no rules around it
		title, ok = strings.TrimSpace(t), true
	}
	if ok {
		if file, name, found := strings.Cut(title, ".py:"); found && isDotted(name) {
			c.closeEntry()
			c.cur = newFailedEntry(c.lim, Test{Suite: file + ".py", Name: name, At: l.No})
			return true
		}
	}
	if c.cur != nil && c.cur.lines < failureLines && !c.rule {
		c.cur.add(t)
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
	text := f.text.String()
	f.test.Message, f.test.Type = pythonException(text)
	f.test.File, f.test.Line = pythonPlace(text)
	if f.test.File == "" {
		f.test.File = f.test.Suite
	}
	f.test.Kind = KindError
	if f.test.Type == "AssertionError" {
		f.test.Kind = KindAssertion
	}
	c.out.Test(f.done())
}

// totals takes "3 passed, 1 failed, 1 exceptions, in 2.32 seconds".
func (c *sympyConsole) totals(no int, s string) {
	c.closeEntry()
	var passed, failed, skipped int
	s, _, _ = strings.Cut(s, ", in ")
	countedList(s, func(n int, word string) bool {
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
	c.anon.emit(c.out, passed, Test{Status: Passed, At: no})
	c.anon.emit(c.out, skipped, Test{Status: Skipped, At: no})
	unnamed(c.out, "sympy", failed, c.named, no)
	*c = sympyConsole{out: c.out, lim: c.lim, anon: c.anon}
}

func (c *sympyConsole) end() {
	if c.open {
		c.closeEntry()
		c.out.Problem(cutOff("sympy", "bin/test ends before its totals", c.at))
	}
	*c = sympyConsole{out: c.out, lim: c.lim, anon: c.anon}
}
