package testreport

import (
	"strings"
)

// minitestFormat reads minitest (plain, Rails, the reporters of
// minitest-reporters that keep its list) and test-unit.
var minitestFormat = format{
	name:  "minitest",
	order: 450,
	wakes: &wake{flush: digits + capital + "=", indent: digits + "FE", ends: ")", prefix: true},
	console: func(out Sink, lim Limits) console {
		anon := newAnonymous()
		open := func() console { return &minitestConsole{out: out, lim: lim, anon: anon} }
		return &behindPrefix{plain: open(), open: open,
			starts: func(t string) bool {
				return t == "# Running:" || t == "# Running tests:" || strings.HasPrefix(t, "Run options: ")
			},
			may: func(t string) bool {
				return strings.Contains(t, " Run options: ") || strings.HasSuffix(t, "# Running:")
			}}
	},
}

type minitestConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	title   string // of the entry whose next line is the test's name
	titleAt int
	rails   bool
	cur     *failedEntry
	skipped bool // the entry is not of a failure
	rule    bool // the line before was test-unit's rule
	unit    bool // the entry is test-unit's
	blank   bool
	list    []*failedEntry
	soft    []*failedEntry // read from lines that only the totals make certain
	isSoft  bool           // the entry is of those
	class   string         // last line that was a class's name
	dropped int
}

func (c *minitestConsole) budget() *anonymous { return c.anon }

func (c *minitestConsole) idle() bool {
	return c.title == "" && c.cur == nil && !c.rule
}

func (c *minitestConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	title, rule := c.title, c.rule
	c.title, c.rule = "", len(t) >= unittestRule && t[0] == '=' && onlyOf(t, '=', unittestRule)
	if title != "" && c.entry(title, l.No, t) {
		return true
	}
	blank := c.blank
	c.blank = t == ""
	switch {
	case t == "":
		if c.cur != nil {
			c.cur.add("")
		}
		return false
	case c.rule:
		claimed := c.cur != nil && c.unit
		if claimed {
			c.closeEntry()
		}
		return claimed
	case t[0] >= '0' && t[0] <= '9' && c.totals(l.No, t):
		return true
	case rule && c.unitEntry(l.No, t):
		return true
	case c.isTitle(l.No, t), c.reporter(l.No, t):
		return false
	case c.cur == nil:
		return false
	case c.cur.lines > failureLines, !c.unit && blank && c.over(t):
		c.closeEntry()
		return false
	}
	c.cur.add(t)
	return !c.isSoft
}

// reporter reads what minitest-reporters prints: "  test_x    FAIL (0.00s)" below
// a class's name, and ` FAIL["test_x", "TestY", 0.01]`.
func (c *minitestConsole) reporter(no int, t string) bool {
	if t[0] != ' ' {
		if t[0] >= 'A' && t[0] <= 'Z' && len(t) < 200 && strings.IndexByte(t, ' ') < 0 && isRubyClass(t+":") {
			c.class = t
		}
		return false
	}
	s := strings.TrimLeft(t, " ")
	title, test := "", Test{At: no}
	if rest, ok := strings.CutPrefix(s, `FAIL["`); ok {
		title, s = "Failure", rest
	} else if rest, ok := strings.CutPrefix(s, `ERROR["`); ok {
		title, s = "Error", rest
	}
	if title != "" {
		name, rest, ok := strings.Cut(s, `", `)
		class, _, found := strings.Cut(rest, ", ")
		if !ok || !found {
			return false
		}
		test.Name, test.Suite = name, strings.Trim(class, `"#<>`)
		c.open(title, test)
		c.isSoft, c.unit = true, false
		return true
	}
	if !strings.HasSuffix(s, "s)") {
		return false
	}
	for _, w := range [...]struct{ word, title string }{{" FAIL (", "Failure"}, {" ERROR (", "Error"}, {" PASS (", ""}, {" SKIP (", ""}} {
		title := w.title
		name, rest, ok := strings.Cut(s, w.word)
		if _, _, isNum := leadingInt(rest); !ok || !isNum || !strings.HasSuffix(name, " ") {
			continue
		}
		c.closeEntry()
		if title != "" && c.class != "" {
			test.Name, test.Suite = strings.TrimRight(name, " "), c.class
			c.open(title, test)
			c.isSoft, c.unit = true, false
		}
		return true
	}
	return false
}

// over reports whether a line behind a blank one cannot be part of an entry.
func (c *minitestConsole) over(t string) bool {
	return strings.HasPrefix(t, "Finished in ") || c.rails && (strings.HasPrefix(t, "bin/rails test ") || strings.HasPrefix(t, "rails test ") || strings.HasPrefix(t, "rake test "))
}

// isTitle recognises "  1) Failure:" and Rails' "Failure:".
func (c *minitestConsole) isTitle(no int, t string) bool {
	s := t
	rails := true
	if t[0] == ' ' {
		_, rest, ok := leadingInt(strings.TrimLeft(t, " "))
		if !ok || !strings.HasPrefix(rest, ") ") {
			return false
		}
		s, rails = rest[2:], false
	}
	switch s {
	case "Failure:", "Error:", "Skipped:":
		c.title, c.titleAt, c.rails = s[:len(s)-1], no, rails
		return true
	}
	return false
}

// entry takes the line below a title: "TestX#test_y [a_test.rb:12]:", "test_y(TestX):".
func (c *minitestConsole) entry(title string, no int, t string) bool {
	name, ok := strings.CutSuffix(t, ":")
	if !ok {
		return false
	}
	test := Test{At: c.titleAt}
	if strings.HasSuffix(name, "]") {
		i := strings.LastIndex(name, " [")
		if i < 0 {
			return false
		}
		file, line, _, ok := location(name[i+2 : len(name)-1])
		if !ok {
			return false
		}
		test.File, test.Line, name = file, line, name[:i]
	}
	test.Suite, test.Name, ok = rubyTest(name)
	if !ok {
		return false
	}
	c.open(title, test)
	c.unit = false
	return true
}

func (c *minitestConsole) open(title string, t Test) {
	c.closeEntry()
	switch title {
	case "Failure":
		t.Kind = KindAssertion
	case "Error":
		t.Kind = KindError
	}
	c.isSoft = false
	c.skipped = title != "Failure" && title != "Error"
	c.cur = newFailedEntry(shrunk(c.lim, len(c.list)+len(c.soft)), t)
}

// rubyTest reads "TestX#test_y" and "test_y(TestX)".
func rubyTest(s string) (suite, name string, ok bool) {
	if len(s) > 2<<10 {
		return "", "", false
	}
	if i := strings.Index(s, "#"); i > 0 && i+1 < len(s) && !strings.HasPrefix(s[i+1:], " ") {
		return s[:i], s[i+1:], true
	}
	if i := strings.LastIndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") && i+2 < len(s) && s[i+1] >= 'A' && s[i+1] <= 'Z' {
		return s[i+1 : len(s)-1], strings.TrimRight(s[:i], " "), true
	}
	return "", "", false
}

// unitEntry opens an entry of test-unit: "Failure: test_x(TestY): message".
func (c *minitestConsole) unitEntry(no int, t string) bool {
	title, rest, ok := strings.Cut(t, ": ")
	if !ok {
		return false
	}
	switch title {
	case "Failure", "Error":
	case "Omission", "Pending", "Notification":
		c.open(title, Test{At: no})
		c.unit = true
		return true
	default:
		return false
	}
	i := strings.Index(rest, ")")
	if i < 0 {
		return false
	}
	test := Test{At: no}
	if test.Suite, test.Name, ok = rubyTest(rest[:i+1]); !ok {
		return false
	}
	c.open(title, test)
	c.unit = true
	if msg, found := strings.CutPrefix(rest[i+1:], ": "); found {
		c.cur.add(msg)
	}
	return true
}

func (c *minitestConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	switch {
	case f == nil || c.skipped:
		return
	case c.isSoft:
		if len(c.soft) < c.lim.Failing {
			c.soft = append(c.soft, f)
		}
		return
	}
	if len(c.list) >= 5*c.lim.Failing {
		c.dropped++
		return
	}
	c.list = append(c.list, f)
}

// test completes an entry. test-unit prints the place and the source first.
func (c *minitestConsole) test(f *failedEntry) Test {
	text := unindent(f.text.String())
	lines := strings.Split(text, "\n")
	var msg []string
	for _, l := range lines {
		s := strings.TrimLeft(l, " ")
		if isStackFrame(s) || strings.HasPrefix(s, "=> ") || isCodeLine(s) {
			if f.test.Line == 0 {
				if p, ok := placeInLine(s, ""); ok && !foreign(p.file) {
					f.test.File, f.test.Line = p.file, p.line
				}
			}
			continue
		}
		if len(msg) < 40 {
			msg = append(msg, l)
		}
	}
	f.test.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if e, a, ok := strings.Cut(f.test.Message, "> expected but was\n<"); ok {
		if _, sides, found := strings.Cut(e, "<"); found {
			f.test.Expected, f.test.Actual = sides, strings.TrimSuffix(headLine(a), ">")
		}
	}
	if f.test.Kind == KindError {
		head, _, _ := strings.Cut(headLine(f.test.Message), ":")
		if name, _, found := strings.Cut(headLine(f.test.Message), ": "); found && isRubyClass(name+":") {
			f.test.Type = name
		} else if isRubyClass(head + ":") {
			f.test.Type = head
		}
	}
	return f.done()
}

// isCodeLine recognises "12: code" of test-unit's listing.
func isCodeLine(s string) bool {
	_, rest, ok := leadingInt(s)
	return ok && strings.HasPrefix(rest, ":")
}

// totals takes "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips".
func (c *minitestConsole) totals(no int, t string) bool {
	if _, _, ok := counted(t); !ok || !strings.Contains(t, " assertions, ") && !strings.Contains(t, " assertion, ") {
		return false
	}
	var tests, failures, errors, skips int
	ok := countedList(t, func(n int, word string) bool {
		switch strings.TrimSuffix(word, "s") {
		case "run", "test":
			tests = n
		case "failure":
			failures = n
		case "error":
			errors = n
		case "skip", "pending", "omission":
			skips += n
		case "assertion", "notification":
		default:
			return false
		}
		return true
	})
	if !ok || !strings.Contains(t, " failure") || !strings.Contains(t, " error") {
		return false
	}
	c.closeEntry()
	if len(c.list) == 0 {
		c.list = c.soft
	}
	for _, f := range c.list {
		c.out.Test(c.test(f))
	}
	named := len(c.list) + c.dropped
	c.anon.emit(c.out, tests-max(failures+errors, named)-skips, Test{Status: Passed, At: no})
	c.anon.emit(c.out, skips, Test{Status: Skipped, At: no})
	unnamed(c.out, "minitest", failures+errors, named, no)
	*c = minitestConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *minitestConsole) end() {
	c.closeEntry()
	at := 0
	for _, f := range c.list {
		at = max(at, f.test.At)
		c.out.Test(c.test(f))
	}
	if len(c.list) > 0 {
		c.out.Problem(cutOff("minitest", "minitest's output ends before its totals", at))
	}
	*c = minitestConsole{out: c.out, lim: c.lim, anon: c.anon}
}
