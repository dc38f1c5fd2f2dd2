package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// jasmineFormat reads jasmine's console reporter.
var jasmineFormat = format.Format{
	Name:  "jasmine",
	Order: 550,
	Wakes: &format.Wake{Flush: format.Digits + "FIRS"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &jasmineConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type jasmineConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	list    bool // below "Failures:"
	title   string
	titleAt int
	suite   bool // the title is of a suite
	cur     *failtext.Entry
	entries []jasmineEntry
	dropped int
	sure    bool
	count   int
	seeded  int // line
	started int // line
}

type jasmineEntry struct {
	f     *failtext.Entry
	suite bool
}

func (c *jasmineConsole) Idle() bool {
	return !c.list && c.cur == nil
}

func (c *jasmineConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" || len(l.Text) < 4 {
		if c.cur != nil && l.Mark == "" {
			c.cur.Add("")
		}
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		return false
	}
	switch {
	case t[0] >= '0' && t[0] <= '9' && (strings.Contains(t, " spec") || c.sure && strings.Contains(t, " assertion")) && c.totals(l.No, t):
		return true
	case t[0] == 'R' && strings.HasPrefix(t, "Randomized with seed "):
		c.seeded = l.No
		return false
	case t == "Started":
		c.started = l.No
		return false
	case t == "Failures:":
		c.list, c.count = true, 0
		return false
	case c.started > 0 && !c.list && strings.HasPrefix(t, "Suite error: "): // no spec failed
		c.list, c.count = true, 0
	case t[0] == 'I' && strings.HasPrefix(t, "Incomplete: "):
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: "jasmine", Message: t, At: l.No})
		c.started = 0
		return true
	}
	if !c.list {
		return false
	}
	return c.inList(l.No, t)
}

func (c *jasmineConsole) inList(no int, t string) bool {
	if t == "Pending:" {
		c.closeEntry()
		c.list = false
		return false
	}
	if n, rest, ok := parse.LeadingInt(strings.TrimPrefix(t, "  ")); ok && strings.HasPrefix(rest, ") ") && n == c.count+1 {
		c.closeEntry()
		c.title, c.titleAt, c.suite = rest[2:], no, false
		c.count++
		return false
	}
	if name, ok := strings.CutPrefix(t, "Suite error: "); ok {
		c.closeEntry()
		c.title, c.titleAt, c.suite = name, no, true
		return c.sure
	}
	if (t == "  Message:" || t == "   Message:") && c.title != "" {
		c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.entries)), model.Test{Name: c.title, At: c.titleAt})
		c.title, c.sure = "", true
		return true
	}
	if c.title != "" {
		c.title = "" // a list of something else
	}
	if c.cur == nil {
		return false
	}
	if c.cur.Lines > failtext.FailureLines {
		c.closeEntry()
		return false
	}
	if s := strings.TrimSpace(t); s != "Message:" && s != "Stack:" && s != "Stacktrace:" && s != "at <Jasmine>" {
		c.cur.Add(t)
	}
	return true
}

func (c *jasmineConsole) closeEntry() {
	if c.cur != nil {
		if len(c.entries) < 5*c.lim.Failing {
			c.entries = append(c.entries, jasmineEntry{c.cur, c.suite})
		} else {
			c.dropped++
		}
	}
	c.cur = nil
}

func (c *jasmineConsole) emit() (specs, suites int) {
	c.closeEntry()
	for _, e := range c.entries {
		t := e.f.Done()
		if strings.HasPrefix(t.Message, "Not run because a beforeAll function failed") {
			t.Kind = model.KindSetup
		}
		if e.suite {
			suites++
			c.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
			continue
		}
		specs++
		c.out.Test(t)
	}
	return specs, suites
}

// totals takes "7 specs, 5 failures, 2 pending specs". Failures count suites too.
func (c *jasmineConsole) totals(no int, t string) bool {
	var specs, failures, pending int
	ok := parse.CountedList(t, func(n int, word string) bool {
		switch word {
		case "spec", "specs", "test", "tests": // jasmine-node
			specs = n
		case "assertion", "assertions":
		case "failure", "failures":
			failures = n
		case "pending spec", "pending specs", "skipped":
			pending = n
		default:
			return false
		}
		return true
	})
	if !ok || !strings.Contains(t, " failure") {
		return false
	}
	failed, suites := c.emit()
	c.anon.Emit(c.out, specs-max(failed, failures-suites)-pending, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, pending, model.Test{Status: model.Pending, At: no})
	model.Session(c.out, c.started, no)
	failtext.Unnamed(c.out, "jasmine", failures, failed+suites+c.dropped, no)
	*c = jasmineConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *jasmineConsole) End() {
	if c.sure || c.started > 0 && c.seeded > 0 && c.started == c.seeded+1 {
		at := max(c.titleAt, c.started)
		c.emit()
		c.out.Problem(failtext.CutOff("jasmine", "jasmine's output ends before its totals", at))
	}
	*c = jasmineConsole{out: c.out, lim: c.lim, anon: c.anon}
}
