package testreport

import (
	"strings"
)

// jasmineFormat reads jasmine's console reporter.
var jasmineFormat = format{
	name:  "jasmine",
	order: 550,
	wakes: &wake{flush: digits + "FI"},
	console: func(out Sink, lim Limits) console {
		return &jasmineConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

type jasmineConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	list    bool // below "Failures:"
	title   string
	titleAt int
	suite   bool // the title is of a suite
	cur     *failedEntry
	entries []jasmineEntry
	dropped int
	sure    bool
	count   int
}

type jasmineEntry struct {
	f     *failedEntry
	suite bool
}

func (c *jasmineConsole) budget() *anonymous { return c.anon }

func (c *jasmineConsole) idle() bool {
	return !c.list && c.cur == nil
}

func (c *jasmineConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" || len(l.Text) < 4 {
		if c.cur != nil && l.Mark == "" {
			c.cur.add("")
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
	case t == "Failures:":
		c.list, c.count = true, 0
		return false
	case t[0] == 'I' && strings.HasPrefix(t, "Incomplete: "):
		c.out.Problem(Problem{Kind: KindExit, Name: "jasmine", Message: t, At: l.No})
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
	if n, rest, ok := leadingInt(strings.TrimPrefix(t, "  ")); ok && strings.HasPrefix(rest, ") ") && n == c.count+1 {
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
		c.cur = newFailedEntry(shrunk(c.lim, len(c.entries)), Test{Name: c.title, At: c.titleAt})
		c.title, c.sure = "", true
		return true
	}
	if c.title != "" {
		c.title = "" // a list of something else
	}
	if c.cur == nil {
		return false
	}
	if c.cur.lines > failureLines {
		c.closeEntry()
		return false
	}
	if s := strings.TrimSpace(t); s != "Message:" && s != "Stack:" && s != "Stacktrace:" && s != "at <Jasmine>" {
		c.cur.add(t)
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
		t := e.f.done()
		if strings.HasPrefix(t.Message, "Not run because a beforeAll function failed") {
			t.Kind = KindSetup
		}
		if e.suite {
			suites++
			c.out.Problem(Problem{Kind: KindSetup, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
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
	ok := countedList(t, func(n int, word string) bool {
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
	c.anon.emit(c.out, specs-max(failed, failures-suites)-pending, Test{Status: Passed, At: no})
	c.anon.emit(c.out, pending, Test{Status: Pending, At: no})
	unnamed(c.out, "jasmine", failures, failed+suites+c.dropped, no)
	*c = jasmineConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *jasmineConsole) end() {
	if c.sure {
		at := c.titleAt
		c.emit()
		c.out.Problem(cutOff("jasmine", "jasmine's output ends before its totals", at))
	}
	*c = jasmineConsole{out: c.out, lim: c.lim, anon: c.anon}
}
