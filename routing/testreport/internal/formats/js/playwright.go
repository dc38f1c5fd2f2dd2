package js

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// playwrightFormat reads the list, line and dot reporters of Playwright Test.
var playwrightFormat = format.Format{
	Name:  "playwright",
	Order: 520,
	Wakes: &format.Wake{Flush: "RM"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &playwrightConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type playwrightConsole struct {
	from int // line

	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	planned int // of "Running 9 tests using 2 workers"
	at      int
	blocks  map[string]*failtext.Entry // by title; the first attempt's text
	order   []string
	cur     *failtext.Entry
	retry   bool // the lines are of a further attempt
	section string
	totals  bool
	listed  map[string]string // title to the section of the totals
	titles  []string          // of listed, in order
	counts  map[string]int
	blank   bool
}

const playwrightRule = "──────"

func (c *playwrightConsole) Idle() bool {
	return c.planned == 0
}

func (c *playwrightConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := l.Text
	if c.planned == 0 {
		if len(t) < 8 || t[0] != 'R' && t[0] != 'M' {
			return false
		}
		return c.starts(l.No, t)
	}
	blank := c.blank
	c.blank = strings.TrimSpace(t) == ""
	if c.blank {
		if c.cur != nil && !c.retry {
			c.cur.Add("")
		}
		return false
	}
	c.at = l.No
	return c.inside(l.No, t, blank)
}

func (c *playwrightConsole) starts(no int, t string) bool {
	if strings.HasPrefix(t, "Make sure that arguments are regular expressions matching test files.") {
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "playwright", Message: "No tests found", At: no})
		return true
	}
	rest, ok := strings.CutPrefix(t, "Running ")
	if !ok {
		return false
	}
	n, word, ok := parse.Counted(rest)
	if !ok || n == 0 || !strings.HasPrefix(word, "tests using ") && !strings.HasPrefix(word, "test using ") || !strings.Contains(word, " worker") {
		return false
	}
	c.planned, c.at, c.from = n, no, no
	c.blocks, c.listed, c.counts = map[string]*failtext.Entry{}, map[string]string{}, map[string]int{}
	return true
}

func (c *playwrightConsole) inside(no int, t string, blank bool) bool {
	s := strings.TrimSpace(t)
	indent := len(t) - len(strings.TrimLeft(t, " "))
	if s[0] >= '0' && s[0] <= '9' && indent <= 4 {
		n, rest, _ := parse.LeadingInt(s)
		if strings.HasPrefix(rest, ") ") && strings.Contains(rest, " › ") && strings.Contains(rest, ":") {
			c.openBlock(no, playwrightTitle(rest[2:]))
			return true
		}
		if c.count(n, strings.TrimPrefix(rest, " ")) {
			return true
		}
	}
	switch {
	case c.totals && c.section != "" && indent >= 4 && strings.Contains(s, " › "):
		if len(c.listed) < 5*c.lim.Failing {
			title := playwrightTitle(s)
			c.listed[title], c.titles = c.section, append(c.titles, title)
		}
		return true
	case c.totals:
		c.finish()
		return false
	case c.cur != nil && strings.HasPrefix(s, "Retry #") && strings.Contains(s, playwrightRule):
		n, _, _ := parse.LeadingInt(s[len("Retry #"):])
		c.cur.Test.Retries, c.retry = max(c.cur.Test.Retries, n), true
		return true
	case c.cur != nil && (indent >= 4 || strings.HasPrefix(t, "  ")):
		if !c.retry && c.cur.Lines < failtext.FailureLines {
			c.cur.Add(t)
		}
		return true
	case c.cur != nil && blank:
		c.cur = nil
	case strings.HasPrefix(t, "Running ") && strings.Contains(t, " using "):
		c.End()
		return c.starts(no, t)
	}
	return false
}

// playwrightTitle cuts the rule behind a title.
func playwrightTitle(s string) string {
	if i := strings.Index(s, " ───"); i > 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

func (c *playwrightConsole) openBlock(no int, title string) {
	c.cur, c.retry = c.blocks[title], true
	if c.cur == nil {
		c.cur, c.retry = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.blocks)), model.Test{At: no}), false
		if len(c.blocks) < 5*c.lim.Failing {
			c.blocks[title] = c.cur
			c.order = append(c.order, title)
		}
	}
}

// count takes a line of the totals: "3 failed", "2 passed (1.5s)".
func (c *playwrightConsole) count(n int, word string) bool {
	if i := strings.Index(word, " ("); i > 0 && strings.HasSuffix(word, ")") {
		word = word[:i]
	}
	switch word {
	case "failed", "flaky", "skipped", "did not run", "interrupted", "passed":
	default:
		if strings.HasPrefix(word, "error was not a part of any test") || strings.HasPrefix(word, "errors were not a part of any test") {
			c.cur, c.totals, c.section = nil, true, ""
			c.counts["errors"] = n
			return true
		}
		return false
	}
	c.cur, c.totals, c.section = nil, true, word
	c.counts[word] = n
	if word == "passed" {
		c.finish()
	}
	return true
}

// test makes a test of a title: "[chromium] › tests/a.spec.ts:3:1 › suite › name".
func (c *playwrightConsole) test(title string) model.Test {
	f := c.blocks[title]
	if f == nil {
		f = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.blocks)), model.Test{At: c.at})
	}
	parts := strings.Split(title, " › ")
	project := ""
	if strings.HasPrefix(parts[0], "[") && len(parts) > 1 {
		project, parts = parts[0], parts[1:]
	}
	var declared model.Test
	if file, line, col, ok := parse.Location(parts[0]); ok {
		declared.File, declared.Line, declared.Column = file, line, col
		parts[0] = file
	}
	if project != "" {
		parts = append([]string{project}, parts...)
	}
	last := len(parts) - 1
	f.Test.Suite, f.Test.Name = strings.Join(parts[:last], " > "), parts[last]
	t := f.Done()
	if t.Line == 0 || t.File == "" {
		t.File, t.Line, t.Column = declared.File, declared.Line, declared.Column
	}
	return t
}

// finish emits what the totals list; the blocks explain it.
func (c *playwrightConsole) finish() {
	failed, flaky := 0, 0
	for _, title := range c.order {
		if c.listed[title] == "" && !c.totals {
			c.listed[title] = "failed" // cut off: no totals say otherwise
		}
	}
	for _, title := range c.titles {
		if c.blocks[title] == nil && !c.inStep(title) {
			c.order = append(c.order, title)
		}
	}
	if c.totals {
		model.Session(c.out, c.from, c.at)
	}
	for _, title := range c.order {
		switch c.listed[title] {
		case "failed", "interrupted":
			failed++
			c.out.Test(c.test(title))
		case "flaky":
			t := c.test(title)
			t.Status, t.Flaky, t.Retries = model.Passed, true, max(t.Retries, 1)
			c.counts["flaky"]--
			flaky++
			c.out.Test(t)
		}
	}
	flaky += max(c.counts["flaky"], 0)
	c.anon.Emit(c.out, c.counts["passed"]+max(c.counts["flaky"], 0), model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, c.counts["skipped"]+c.counts["did not run"], model.Test{Status: model.Skipped, At: c.at})
	if n := c.counts["errors"]; n > 0 {
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: "playwright", Message: fmt.Sprintf("%d error(s) were not a part of any test", n), At: c.at})
	}
	failtext.Unnamed(c.out, "playwright", c.counts["failed"]+c.counts["interrupted"], failed, c.at)
	if n := c.counts; c.totals && failed+n["failed"]+n["interrupted"]+n["errors"] == 0 {
		// What did not run waits for a test that failed, or for a run that was stopped.
		failtext.RanFewer(c.out, "playwright", c.at, n["passed"]+n["skipped"]+flaky, c.planned)
	}
	if !c.totals {
		c.out.Problem(failtext.CutOff("playwright", fmt.Sprintf("Playwright was to run %d test(s); its output ends before the totals", c.planned), c.at))
	}
	*c = playwrightConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// inStep gives a listed test the block of a step of it that failed, whose title has the step's behind
// the test's.
func (c *playwrightConsole) inStep(title string) bool {
	for i, t := range c.order {
		if strings.HasPrefix(t, title+" › ") && c.listed[t] == "" {
			c.blocks[title], c.order[i] = c.blocks[t], title
			delete(c.blocks, t)
			return true
		}
	}
	return false
}

func (c *playwrightConsole) End() {
	if c.planned > 0 {
		c.finish()
	}
	*c = playwrightConsole{out: c.out, lim: c.lim, anon: c.anon}
}
