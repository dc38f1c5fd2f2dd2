package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// nodeTestFormat reads the spec reporter of node:test.
var nodeTestFormat = format.Format{
	Name:  "node-test",
	Order: 490,
	Wakes: &format.Wake{Flush: "\xe2\xefFX/fn", Indent: "\xe2\xef"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &nodeTestConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// nodeTestConsole keeps what the tree says about failing tests until the
// totals, which make certain that it is node's.
type nodeTestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	groups []nodeGroup
	from   int          // the first of marked that is not used
	marked []nodeMarked // lines "✖ name (1.5ms)" of the tree
	totals map[string]int
	at     int
	list   bool // behind "✖ failing tests:"
	place  string
	cur    *failtext.Entry
	title  string
	named  int
	outer  int  // suites whose hooks failed
	first  int  // line of the first mark
	end    int  // line of the last entry of the list
	good   int  // line of the first mark of a test that passed, or of a group
	dotted bool // the list is the dot reporter's, which prints no totals
	before bool // the last entry of the list was cancelled: its suite follows

	crashes failtext.NodeCrashes
}

type nodeGroup struct {
	indent int
	name   string
}

type nodeMarked struct {
	path, title string
	at          int
	group, used bool
}

func (c *nodeTestConsole) Idle() bool {
	return c.cur == nil && !c.list && c.totals == nil && !c.crashes.Open()
}

func (c *nodeTestConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" || len(l.Text) < 4 {
		if c.cur != nil && l.Mark == "" {
			c.cur.Add(l.Text)
		}
		return false
	}
	t := l.Text
	if c.crashes.Open() || t[0] == '/' || t[0] == 'f' || t[0] == 'n' {
		c.crashes.Line(t)
	}
	if t == "Failed tests:" && c.totals == nil {
		c.list, c.dotted, c.totals, c.at = true, true, map[string]int{}, l.No
		return true
	}
	if c.list {
		if claimed, done := c.inList(l.No, t); done {
			return claimed
		}
	}
	s := strings.TrimLeft(t, " ")
	if len(s) < 4 || s[0] != 0xE2 && s[0] != 0xEF { // ✔ ✖ ▶ ℹ ﹣ ⚠
		if c.totals != nil && t[0] != ' ' {
			c.finish()
		}
		return false
	}
	return c.marks(l.No, len(t)-len(s), strings.TrimRight(s, " "))
}

func (c *nodeTestConsole) marks(no, indent int, s string) bool {
	mark, rest, ok := strings.Cut(s, " ")
	if !ok {
		return false
	}
	if c.first == 0 {
		c.first = no
	}
	if c.good == 0 && (mark == "✔" || mark == "▶") {
		c.good = no
	}
	switch mark {
	case "ℹ":
		if indent == 0 && c.totals != nil && strings.HasPrefix(rest, "Error: ") && strings.Contains(rest, " coverage does not meet threshold of ") {
			c.out.Problem(model.Problem{Kind: model.KindCoverage, Name: "coverage", Message: rest[len("Error: "):], At: no})
			return true
		}
		return indent == 0 && c.total(no, rest)
	case "▶":
		c.group(indent, rest)
	case "✖":
		if c.totals != nil && rest == "failing tests:" {
			c.list = true
			return true
		}
		c.mark(no, indent, rest)
	}
	return false
}

// group opens a suite, or closes it where older versions repeat its name.
func (c *nodeTestConsole) group(indent int, name string) {
	if n := len(c.groups); n > 0 && c.groups[n-1].indent == indent && c.groups[n-1].name == nodeName(name) && name != nodeName(name) {
		c.groups = c.groups[:n-1]
		return
	}
	c.popTo(indent)
	if len(c.groups) < 50 {
		c.groups = append(c.groups, nodeGroup{indent, nodeName(name)})
	}
}

func (c *nodeTestConsole) popTo(indent int) {
	for n := len(c.groups); n > 0 && c.groups[n-1].indent >= indent; n-- {
		c.groups = c.groups[:n-1]
	}
}

// nodeTodo reports whether a failing test may fail: " # TODO", or "(1.5ms) # why" of older versions.
func nodeTodo(title string) bool {
	return strings.Contains(title, " # TODO") || strings.Contains(title, "ms) # ")
}

// nodeName cuts " (1.5ms)" and a directive off.
func nodeName(s string) string {
	for _, d := range [...]string{" # TODO", " # SKIP", " # EXPECTED FAILURE"} {
		if i := strings.LastIndex(s, d); i > 0 {
			s = s[:i]
		}
	}
	if i := strings.LastIndex(s, " ("); i > 0 && strings.HasSuffix(s, "ms)") {
		if _, _, ok := parse.LeadingInt(s[i+2:]); ok {
			s = s[:i]
		}
	}
	return s
}

// mark keeps a failing line of the tree.
func (c *nodeTestConsole) mark(no, indent int, title string) {
	group := false
	for n := len(c.groups); n > 0 && c.groups[n-1].indent >= indent; n-- {
		group = c.groups[n-1].indent == indent && c.groups[n-1].name == nodeName(title)
		c.groups = c.groups[:n-1]
	}
	if len(c.marked) >= 5*c.lim.Failing {
		return
	}
	path := make([]string, len(c.groups))
	for i, g := range c.groups {
		path[i] = g.name
	}
	c.marked = append(c.marked, nodeMarked{path: strings.Join(path, " > "), title: title, at: no, group: group})
}

// total takes "tests 3" and the like; "tests" comes first.
func (c *nodeTestConsole) total(no int, s string) bool {
	word, num, ok := strings.Cut(s, " ")
	n, rest, isNum := parse.LeadingInt(num)
	if !ok || !isNum {
		return false
	}
	switch word {
	case "tests":
		if c.totals != nil {
			c.finish()
		}
		c.totals = map[string]int{}
	case "suites", "pass", "fail", "cancelled", "skipped", "todo":
	case "duration_ms":
		return c.totals != nil
	default:
		return false
	}
	if c.totals == nil || rest != "" {
		return false
	}
	c.totals[word], c.at = n, no
	return true
}

// inList takes a line behind "✖ failing tests:".
func (c *nodeTestConsole) inList(no int, t string) (claimed, done bool) {
	switch {
	case strings.HasPrefix(t, "test at "):
		c.closeEntry()
		c.place = t[len("test at "):]
		return true, true
	case strings.HasPrefix(t, "⚠ "): // a test that may fail
		c.closeEntry()
		c.place = ""
		return true, true
	case strings.HasPrefix(t, "✖ "):
		c.closeEntry()
		c.title = t[len("✖ "):]
		c.cur, c.end = failtext.NewEntry(c.lim, model.Test{At: no}), no
		return true, true
	case c.cur != nil && t[0] == ' ' && c.cur.Lines < failtext.FailureLines:
		c.cur.Add(t)
		if nodeTodo(c.title) { // it may fail
			model.Passing(c.out)
		}
		return true, true
	case t[0] == ' ' || strings.TrimSpace(t) == "":
		return false, true
	}
	if c.cur != nil && len(strings.TrimSpace(c.cur.Text.String())) > 0 {
		c.finish()
		return false, false
	}
	return false, true
}

// nodeParent recognises the message of a test that failed only because a subtest did.
func nodeParent(msg string) bool {
	_, rest, ok := parse.LeadingInt(strings.Trim(msg, "'"))
	return ok && (rest == " subtest failed" || rest == " subtests failed")
}

// closeEntry emits an entry of the list, with the path that the tree gave it.
func (c *nodeTestConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil || nodeTodo(c.title) {
		return
	}
	f.Test.Name = nodeName(c.title)
	group := false
	for c.from < len(c.marked) && c.marked[c.from].used {
		c.from++
	}
	for i := c.from; i < min(len(c.marked), c.from+500); i++ {
		m := &c.marked[i]
		if !m.used && m.title == c.title {
			m.used, group, f.Test.Suite = true, m.group, m.path
			break
		}
	}
	t := f.Done()
	t.Message = parse.YAMLScalar(t.Message)
	if c.dotted && nodeParent(t.Message) {
		return
	}
	if file, line, col, ok := parse.Location(c.place); ok && t.Line == 0 {
		t.File, t.Line, t.Column = file, line, col
	}
	c.place = ""
	if t.Message == "test failed" && parse.IsScript(t.Name) && c.fileFailed(&t) {
		return
	}
	cancelled := strings.Contains(t.Message, "was cancelled")
	if cancelled {
		t.Kind = model.KindSetup
	}
	if c.dotted && c.before && !cancelled {
		group = true
	}
	c.before = cancelled
	if group {
		c.outer++
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: strings.TrimPrefix(t.Suite+" > "+t.Name, " > "), File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
		return
	}
	c.named++
	c.out.Test(t)
}

// fileFailed reports why a file that node counts as a test could not run.
func (c *nodeTestConsole) fileFailed(t *model.Test) bool {
	crash, ok := c.crashes.Of(t.Name)
	if !ok {
		return false
	}
	p := model.Problem{Kind: suiteKind(crash.Message), Name: t.Name, File: t.Name, Message: crash.Message, Trace: crash.Text, At: t.At}
	if crash.File != "" {
		p.File, p.Line = crash.File, crash.Line
	}
	c.outer++
	c.out.Problem(p)
	return true
}

// finish emits what the totals say. Node counts a test whose subtest failed as
// failed; its line in the tree closes a group.
func (c *nodeTestConsole) finish() {
	c.closeEntry()
	parents := 0
	for _, m := range c.marked {
		if m.group {
			parents++
		}
	}
	n, said := c.totals["fail"]
	if !c.list && !(said && n+c.totals["cancelled"] == 0) { // else a test printed the crosses
		for _, m := range c.marked { // the list is missing: the tree names them
			if !m.group && !nodeTodo(m.title) {
				c.named++
				c.out.Test(model.Test{Name: nodeName(m.title), Suite: m.path, Status: model.Failed, At: m.at})
			}
		}
	}
	c.anon.Emit(c.out, c.totals["pass"], model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, c.totals["skipped"]+c.totals["todo"], model.Test{Status: model.Skipped, At: c.at})
	if c.dotted { // there are no totals
		model.Session(c.out, c.at, max(c.at, c.end))
		*c = nodeTestConsole{out: c.out, lim: c.lim, anon: c.anon}
		return
	}
	if n, ok := c.totals["fail"]; ok {
		from := c.first
		if n+c.totals["cancelled"] == 0 && c.good > 0 {
			from = c.good // what failed before is of something else
		}
		model.Session(c.out, from, max(c.at, c.end))
	}
	failtext.Unnamed(c.out, "node:test", c.totals["fail"]+c.totals["cancelled"], c.named+parents+c.outer, c.at)
	if _, ok := c.totals["fail"]; !ok {
		c.out.Problem(failtext.CutOff("node:test", "the totals of node:test are not complete", c.at))
	} else if n := c.totals; n["fail"]+n["cancelled"]+c.named+parents+c.outer == 0 {
		failtext.RanFewer(c.out, "node:test", c.at, n["pass"]+n["skipped"]+n["todo"], n["tests"])
	}
	*c = nodeTestConsole{out: c.out, lim: c.lim, anon: c.anon}
}

func (c *nodeTestConsole) End() {
	if c.totals != nil {
		c.finish()
	}
	*c = nodeTestConsole{out: c.out, lim: c.lim, anon: c.anon}
}
