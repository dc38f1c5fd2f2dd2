package testreport

import (
	"strings"
)

// bunFormat reads bun test.
var bunFormat = format{
	name:  "bun",
	order: 500,
	wakes: &wake{flush: "b"},
	console: func(out Sink, lim Limits) console {
		return &bunConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

type bunConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open   bool
	file   string
	at     int
	body   *failedEntry // what stands before the next result
	last   *failedEntry // the failing test whose reason may follow
	load   *failedEntry // an error between tests
	rules  int          // of "-----" around it
	repeat bool         // the failures are listed again
	named  struct{ failed, skipped, todo, passed, errors int }
	stated struct{ failed, skipped, todo, passed, errors int }
}

func (c *bunConsole) budget() *anonymous { return c.anon }

func (c *bunConsole) idle() bool {
	return !c.open
}

func (c *bunConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if strings.HasPrefix(t, "bun test v") && strings.Contains(t, "(") {
		c.end()
		c.open, c.at = true, l.No
		return true
	}
	if !c.open || l.Mark != "" && l.Mark != "group" {
		return false
	}
	if t == "" {
		return false
	}
	c.at = l.No
	if c.load != nil && c.inLoad(t) {
		return true
	}
	return c.take(l.No, t)
}

func (c *bunConsole) take(no int, t string) bool {
	switch {
	case t[0] == '(' || t[0] == 0xE2 || t[0] == 0xC2:
		if st, name, ok := bunResult(t); ok {
			c.result(no, st, name)
			return true
		}
	case t[0] == ' ' && c.last != nil && strings.HasPrefix(t, "  ^ "):
		c.last.add(t[len("  ^ "):])
		if strings.Contains(t, " timed out ") {
			c.last.test.Kind = KindTimeout
		}
		return true
	case t[0] == ' ' && c.count(t):
		return true
	case strings.HasSuffix(t, ":") && isScript(t[:len(t)-1]) && strings.IndexByte(t, ' ') < 0:
		c.closeLast()
		c.file, c.body = t[:len(t)-1], nil
		return true
	case strings.HasPrefix(t, "# Unhandled error between tests"):
		c.closeLast()
		c.load, c.rules = newFailedEntry(c.lim, Test{At: no}), 0
		return true
	case t[0] >= '0' && t[0] <= '9' && bunAgain(t):
		c.closeLast()
		c.repeat = true
		return true
	case strings.HasPrefix(t, "Ran ") && strings.Contains(t, " test") && strings.Contains(t, " across "):
		c.finish(no)
		return true
	case strings.HasPrefix(t, "The following filters did not match any test files"), strings.HasPrefix(t, "No tests found!"):
		c.out.Problem(Problem{Kind: KindEmpty, Name: "bun", Message: t, At: no})
		c.reset()
		return true
	}
	c.closeLast()
	if c.body == nil {
		c.body = newFailedEntry(c.lim, Test{})
	}
	c.body.add(t)
	return false
}

// bunAgain recognises "2 tests failed:", behind which they are listed again.
func bunAgain(t string) bool {
	_, word, ok := counted(t)
	return ok && (strings.HasPrefix(word, "test ") || strings.HasPrefix(word, "tests ")) && strings.HasSuffix(word, ":")
}

// bunResult reads "(fail) suite > name [1.50ms]", on a terminal "✗ suite > name".
func bunResult(t string) (st Status, name string, ok bool) {
	mark, name, found := strings.Cut(t, " ")
	if !found {
		return "", "", false
	}
	switch mark {
	case "(pass)", "✓":
		st = Passed
	case "(fail)", "✗":
		st = Failed
	case "(skip)", "»":
		st = Skipped
	case "(todo)", "✎":
		st = Pending
	default:
		return "", "", false
	}
	if i := strings.LastIndex(name, " ["); i > 0 && strings.HasSuffix(name, "ms]") {
		name = name[:i]
	}
	return st, name, true
}

func (c *bunConsole) result(no int, st Status, name string) {
	c.closeLast()
	body := c.body
	c.body = nil
	if c.repeat {
		return
	}
	t := Test{Status: st, At: no, File: c.file}
	t.Suite, t.Name = cutPath(name, " > ")
	switch st {
	case Passed:
		c.named.passed++
	case Skipped:
		c.named.skipped++
	case Pending:
		c.named.todo++
	case Failed:
		c.named.failed++
		if body == nil {
			body = newFailedEntry(c.lim, Test{})
		}
		body.test = t
		if t.Name == "(unnamed)" {
			body.test.Kind = KindSetup
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
		text := unindent(f.text.String())
		f.test.Message = bunMessage(text)
		c.out.Test(f.done())
	}
}

// bunMessage returns the error below the listing of code.
func bunMessage(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !isCodeFrame(strings.TrimLeft(l, " ")) && strings.TrimSpace(l) != "" && strings.Trim(l, " ^") != "" {
			msg := failureHead(strings.Join(lines[i:], "\n"))
			return strings.TrimPrefix(msg, "error: ")
		}
	}
	return ""
}

// inLoad takes the lines of an error between two rules.
func (c *bunConsole) inLoad(t string) bool {
	if onlyOf(t, '-', 20) {
		if c.rules++; c.rules == 2 {
			c.closeLoad()
		}
		return true
	}
	if c.load.lines > failureLines {
		c.closeLoad()
		return false
	}
	c.load.add(t)
	return true
}

func (c *bunConsole) closeLoad() {
	f := c.load
	c.load = nil
	text := unindent(f.text.String())
	file, line := placeIn(text, "", "")
	if line == 0 {
		file = c.file
	}
	c.named.errors++
	c.out.Problem(Problem{Kind: KindSetup, Name: c.file, File: file, Line: line, Message: bunMessage(text), Trace: text, At: f.test.At})
}

// count takes " 3 pass".
func (c *bunConsole) count(t string) bool {
	n, word, ok := counted(strings.TrimLeft(t, " "))
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
	c.anon.emit(c.out, c.stated.passed-c.named.passed, Test{Status: Passed, At: no})
	c.anon.emit(c.out, c.stated.skipped-c.named.skipped, Test{Status: Skipped, At: no})
	c.anon.emit(c.out, c.stated.todo-c.named.todo, Test{Status: Pending, At: no})
	unnamed(c.out, "bun", c.stated.failed, c.named.failed+c.named.errors, no)
	unnamed(c.out, "bun (outside of tests)", c.stated.errors, c.named.errors, no)
	c.reset()
}

func (c *bunConsole) reset() { *c = bunConsole{out: c.out, lim: c.lim, anon: c.anon} }

func (c *bunConsole) end() {
	if c.open {
		c.closeLast()
		if c.load != nil {
			c.closeLoad()
		}
		c.out.Problem(cutOff("bun", "bun's output ends before its totals", c.at))
	}
	c.reset()
}
