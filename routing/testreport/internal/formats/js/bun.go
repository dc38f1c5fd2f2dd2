package js

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// bunFormat reads bun test.
var bunFormat = format.Format{
	Name:  "bun",
	Order: 500,
	Wakes: &format.Wake{Flush: "b"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &bunConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type bunConsole struct {
	from int // line

	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open   bool
	file   string
	at     int
	body   *failtext.Entry // what stands before the next result
	last   *failtext.Entry // the failing test whose reason may follow
	load   *failtext.Entry // an error between tests
	rules  int             // of "-----" around it
	repeat bool            // the failures are listed again
	totals bool            // a blank line or a total stands before: totals may follow
	named  struct{ failed, skipped, todo, passed, errors int }
	stated struct{ failed, skipped, todo, passed, errors int }
}

func (c *bunConsole) Idle() bool {
	return !c.open
}

func (c *bunConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if strings.HasPrefix(t, "bun test v") && strings.Contains(t, "(") {
		c.End()
		c.open, c.at, c.from = true, l.No, l.No
		return true
	}
	if !c.open || l.Mark != "" && l.Mark != "group" {
		return false
	}
	if t == "" {
		c.totals = true
		return false
	}
	c.at = l.No
	if c.load != nil && c.inLoad(t) {
		return true
	}
	return c.take(l.No, t)
}

func (c *bunConsole) take(no int, t string) bool {
	totals := c.totals
	c.totals = false
	switch {
	case t[0] == '(' || t[0] == 0xE2 || t[0] == 0xC2:
		if st, name, ok := bunResult(t); ok {
			c.result(no, st, name)
			return true
		}
	case t[0] == ' ' && c.last != nil && strings.HasPrefix(t, "  ^ "):
		c.last.Add(t[len("  ^ "):])
		if strings.Contains(t, " timed out ") {
			c.last.Test.Kind = model.KindTimeout
		}
		return true
	case (t[0] == ' ' || totals && t[0] >= '0' && t[0] <= '9') && c.count(t): // with --dots they are not indented
		c.totals = true
		return true
	case strings.HasSuffix(t, ":") && parse.IsScript(t[:len(t)-1]) && strings.IndexByte(t, ' ') < 0:
		c.closeLast()
		c.file, c.body = t[:len(t)-1], nil
		return true
	case strings.HasPrefix(t, "# Unhandled error between tests"):
		c.closeLast()
		c.load, c.rules = failtext.NewEntry(c.lim, model.Test{At: no}), 0
		return true
	case t[0] >= '0' && t[0] <= '9' && bunAgain(t):
		c.closeLast()
		c.repeat = true
		return true
	case strings.HasPrefix(t, "Ran ") && strings.Contains(t, " test") && strings.Contains(t, " across "):
		model.Session(c.out, c.from, no)
		c.finish(no)
		return true
	case strings.HasPrefix(t, "The following filters did not match any test files"), strings.HasPrefix(t, "No tests found!"):
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "bun", Message: t, At: no})
		c.reset()
		return true
	}
	c.closeLast()
	if c.body == nil {
		c.body = failtext.NewEntry(c.lim, model.Test{})
	}
	c.body.Add(t)
	return false
}

// bunAgain recognises "2 tests failed:", behind which they are listed again.
func bunAgain(t string) bool {
	_, word, ok := parse.Counted(t)
	return ok && (strings.HasPrefix(word, "test ") || strings.HasPrefix(word, "tests ")) && strings.HasSuffix(word, ":")
}

// bunResult reads "(fail) suite > name [1.50ms]", on a terminal "✗ suite > name".
func bunResult(t string) (st model.Status, name string, ok bool) {
	mark, name, found := strings.Cut(t, " ")
	if !found {
		return "", "", false
	}
	switch mark {
	case "(pass)", "✓":
		st = model.Passed
	case "(fail)", "✗":
		st = model.Failed
	case "(skip)", "»":
		st = model.Skipped
	case "(todo)", "✎":
		st = model.Pending
	default:
		return "", "", false
	}
	if i := strings.LastIndex(name, " ["); i > 0 && strings.HasSuffix(name, "ms]") {
		name = name[:i]
	}
	return st, name, true
}

func (c *bunConsole) result(no int, st model.Status, name string) {
	c.closeLast()
	body := c.body
	c.body = nil
	if c.repeat {
		return
	}
	t := model.Test{Status: st, At: no, File: c.file}
	t.Suite, t.Name = cutPath(name, " > ")
	switch st {
	case model.Passed:
		c.named.passed++
	case model.Skipped:
		c.named.skipped++
	case model.Pending:
		c.named.todo++
	case model.Failed:
		c.named.failed++
		if body == nil {
			body = failtext.NewEntry(c.lim, model.Test{})
		}
		body.Test = t
		if t.Name == "(unnamed)" {
			body.Test.Kind = model.KindSetup
		}
		c.last = body
		return
	}
	c.out.Test(t)
}

func (c *bunConsole) closeLast() {
	if c.last != nil {
		f := c.last
		c.last = nil
		text := parse.Unindent(f.Text.String())
		f.Test.Message = bunMessage(text)
		c.out.Test(f.Done())
	}
}

// bunMessage returns the error below the listing of code.
func bunMessage(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !failtext.IsCodeFrame(strings.TrimLeft(l, " ")) && strings.TrimSpace(l) != "" && strings.Trim(l, " ^") != "" {
			msg := failtext.FailureHead(strings.Join(lines[i:], "\n"))
			return strings.TrimPrefix(msg, "error: ")
		}
	}
	return ""
}

// inLoad takes the lines of an error between two rules.
func (c *bunConsole) inLoad(t string) bool {
	if parse.OnlyOf(t, '-', 20) {
		if c.rules++; c.rules == 2 {
			c.closeLoad()
		}
		return true
	}
	if c.load.Lines > failtext.FailureLines {
		c.closeLoad()
		return false
	}
	c.load.Add(t)
	return true
}

func (c *bunConsole) closeLoad() {
	f := c.load
	c.load = nil
	text := parse.Unindent(f.Text.String())
	file, line := failtext.PlaceIn(text, "", "")
	if line == 0 {
		file = c.file
	}
	c.named.errors++
	kind := model.KindSetup
	if bunParses(text) {
		kind = model.KindBuild
	}
	c.out.Problem(model.Problem{Kind: kind, Name: c.file, File: file, Line: line, Message: bunMessage(text), Trace: text, At: f.Test.At})
}

// bunParses recognises an error of bun's parser: it has a place, and no function at it.
func bunParses(text string) bool {
	said, place := false, false
	for l := range strings.Lines(text) {
		s := strings.TrimSpace(l)
		switch at, ok := strings.CutPrefix(s, "at "); {
		case strings.HasPrefix(s, "error: "):
			said = true
		case ok && (place || strings.ContainsAny(at, "()<>")):
			return false
		case ok:
			_, _, _, place = parse.Location(at)
		}
	}
	return said && place
}

// count takes " 3 pass".
func (c *bunConsole) count(t string) bool {
	n, word, ok := parse.Counted(strings.TrimLeft(t, " "))
	if !ok {
		return false
	}
	switch word {
	case "pass":
		c.stated.passed = n
	case "skip":
		c.stated.skipped = n
	case "todo":
		c.stated.todo = n
	case "fail":
		c.stated.failed = n
	case "error", "errors":
		c.stated.errors = n
	default:
		return strings.HasPrefix(word, "expect() call") || strings.HasPrefix(word, "snapshots") || strings.HasPrefix(word, "filtered out")
	}
	c.closeLast()
	return true
}

func (c *bunConsole) finish(no int) {
	c.closeLast()
	c.anon.Emit(c.out, c.stated.passed-c.named.passed, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, c.stated.skipped-c.named.skipped, model.Test{Status: model.Skipped, At: no})
	c.anon.Emit(c.out, c.stated.todo-c.named.todo, model.Test{Status: model.Pending, At: no})
	failtext.Unnamed(c.out, "bun", c.stated.failed, c.named.failed+c.named.errors, no)
	failtext.Unnamed(c.out, "bun (outside of tests)", c.stated.errors, c.named.errors, no)
	c.reset()
}

func (c *bunConsole) reset() { *c = bunConsole{out: c.out, lim: c.lim, anon: c.anon} }

func (c *bunConsole) End() {
	if c.open {
		c.closeLast()
		if c.load != nil {
			c.closeLoad()
		}
		c.out.Problem(failtext.CutOff("bun", "bun's output ends before its totals", c.at))
	}
	c.reset()
}
