package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// uvuFormat reads what uvu prints: blocks `FAIL  suite  "name"` and the totals.
var uvuFormat = format.Format{
	Name:  "uvu",
	Order: 575,
	Wakes: &format.Wake{Indent: "FT\xe2", Ends: ")"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &uvuConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type uvuConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	from    int // line of the first mark
	cur     *failtext.Entry
	entries []*failtext.Entry
	totals  map[string]int
	at      int
}

func (c *uvuConsole) Idle() bool { return c.cur == nil && c.totals == nil }

func (c *uvuConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	s := strings.TrimLeft(t, " ")
	switch {
	case s == "":
		if c.cur != nil {
			c.cur.Add("")
		}
		return false
	case strings.HasSuffix(s, ")") && uvuMarks(s):
		c.close()
		if c.from == 0 {
			c.from = l.No
		}
		return true
	case strings.HasPrefix(t, "   FAIL  ") && strings.HasSuffix(s, `"`):
		return c.fail(l.No, s[len("FAIL"):])
	case strings.HasPrefix(t, "  Total:  "), c.totals != nil:
		return c.total(l.No, t)
	case c.cur != nil && t[0] == ' ' && c.cur.Lines < failtext.FailureLines:
		c.cur.Add(t)
		return true
	}
	return false
}

// uvuMarks recognises " math • ✘ •   (2 / 3)".
func uvuMarks(s string) bool {
	i := strings.LastIndex(s, "(")
	if i < 0 || !strings.Contains(s[:i], "•") && !strings.Contains(s[:i], "✘") {
		return false
	}
	_, rest, ok := parse.LeadingInt(s[i+1:])
	return ok && strings.HasPrefix(rest, " / ")
}

func (c *uvuConsole) fail(no int, s string) bool {
	i := strings.Index(s, `"`)
	if i < 0 || i == len(s)-1 {
		return false
	}
	c.close()
	if len(c.entries) >= 5*c.lim.Failing {
		return false
	}
	c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.entries)), model.Test{Suite: strings.TrimSpace(s[:i]), Name: s[i+1 : len(s)-1], At: no})
	return true
}

func (c *uvuConsole) close() {
	if c.cur != nil {
		c.entries = append(c.entries, c.cur)
	}
	c.cur = nil
}

// total takes "  Total:     7", which leaves the skipped out, and the lines below it.
func (c *uvuConsole) total(no int, t string) bool {
	label, value, ok := strings.Cut(strings.TrimSpace(t), ":")
	n, _, isNum := parse.LeadingInt(strings.TrimSpace(value))
	if !ok || !isNum || !strings.HasPrefix(t, "  ") {
		c.finish()
		return false
	}
	switch label {
	case "Total":
		c.close()
		c.totals = map[string]int{}
	case "Passed", "Skipped":
	case "Duration":
		c.at = no
		c.finish()
		return true
	default:
		c.finish()
		return false
	}
	c.totals[label], c.at = n, no
	return true
}

// finish emits the run. Without the failures or marks that only uvu prints, the totals are
// somebody else's.
func (c *uvuConsole) finish() {
	n := c.totals
	if passed, ok := n["Passed"]; ok && (c.from > 0 || len(c.entries) > 0) {
		for _, e := range c.entries {
			c.out.Test(uvuTest(e))
		}
		c.anon.Emit(c.out, passed, model.Test{Status: model.Passed, At: c.at})
		c.anon.Emit(c.out, n["Skipped"], model.Test{Status: model.Skipped, At: c.at})
		failtext.Unnamed(c.out, "uvu", n["Total"]-passed, len(c.entries), c.at)
		if n["Total"] == 0 {
			c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "uvu", Message: "no tests ran", At: c.at})
		}
		model.Session(c.out, c.from, c.at)
	}
	c.reset()
}

// uvuTest makes a test of a block: the message ends with the assertion's name in brackets.
func uvuTest(e *failtext.Entry) model.Test {
	text := parse.Unindent(e.Text.String())
	head := parse.HeadLine(text)
	if i := strings.LastIndex(head, "  ("); i > 0 && strings.HasSuffix(head, ")") {
		e.Test.Kind = model.KindAssertion
		head = head[:i]
	}
	msg := failtext.FailureHead(text)
	if _, rest, ok := strings.Cut(msg, "\n"); ok {
		head += "\n" + rest
	}
	e.Test.Message = strings.TrimSpace(head)
	t := e.Done()
	if t.Kind == "" {
		t.Kind = model.KindError
	}
	if t.Line > 0 && strings.Contains(t.Trace, "(file://") {
		t.File, t.Line, t.Column = jestPlace(t.Trace)
	}
	return t
}

func (c *uvuConsole) reset() { *c = uvuConsole{out: c.out, lim: c.lim, anon: c.anon} }

func (c *uvuConsole) End() {
	c.close()
	if c.totals != nil {
		c.finish()
	} else if len(c.entries) > 0 && c.from > 0 {
		at := 0
		for _, e := range c.entries {
			at = e.Test.At
			c.out.Test(uvuTest(e))
		}
		c.out.Problem(failtext.CutOff("uvu", "uvu's output ends before its totals", at))
	}
	c.reset()
}
