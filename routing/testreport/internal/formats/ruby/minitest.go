package ruby

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// minitestFormat reads minitest (plain, Rails, the reporters of
// minitest-reporters that keep its list) and test-unit.
var minitestFormat = format.Format{
	Name:  "minitest",
	Order: 450,
	Wakes: &format.Wake{Flush: format.Digits + format.Capitals + "=#", Indent: format.Digits + "FE", Ends: ")", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		open := func() format.Console { return &minitestConsole{out: out, lim: lim, anon: anon} }
		return &format.BehindPrefix{Plain: open(), Open: open,
			Starts: func(t string) bool {
				return t == "# Running:" || t == "# Running tests:" || strings.HasPrefix(t, "Run options: ")
			},
			May: func(t string) bool {
				return strings.Contains(t, " Run options: ") || strings.HasSuffix(t, "# Running:")
			}}
	},
}

type minitestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	title   string // of the entry whose next line is the test's name
	titleAt int
	rails   bool
	cur     *failtext.Entry
	skipped bool // the entry is not of a failure
	rule    bool // the line before was test-unit's rule
	unit    bool // the entry is test-unit's
	blank   bool
	list    []*failtext.Entry
	soft    []*failtext.Entry // read from lines that only the totals make certain
	isSoft  bool              // the entry is of those
	class   string            // last line that was a class's name
	dropped int
	running int  // line that began a run whose totals follow "Finished in"
	loaded  bool // the line before was test-unit's "Loaded suite"
	ended   bool // behind "Finished in"
}

func (c *minitestConsole) Idle() bool {
	return c.title == "" && c.cur == nil && !c.rule
}

func (c *minitestConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	loaded := c.loaded
	c.loaded = strings.HasPrefix(t, "Loaded suite ")
	switch {
	case t == "# Running:" || t == "Started" && loaded:
		if c.running > 0 {
			c.End()
		}
		c.running, c.ended = l.No, false
		return false
	case strings.HasPrefix(t, "Finished in "):
		c.ended = true
	}
	title, rule := c.title, c.rule
	c.title, c.rule = "", len(t) >= failtext.UnittestRule && t[0] == '=' && parse.OnlyOf(t, '=', failtext.UnittestRule)
	if title != "" && c.entry(title, l.No, t) {
		return true
	}
	blank := c.blank
	c.blank = t == ""
	switch {
	case t == "":
		if c.cur != nil {
			c.cur.Add("")
		}
		return false
	case c.rule:
		claimed := c.cur != nil && c.unit
		if claimed {
			c.closeEntry()
			c.rule = false // it ends an entry, and begins none
		}
		return claimed
	case t[0] >= '0' && t[0] <= '9' && c.totals(l.No, t):
		return true
	case rule && c.unitEntry(l.No, t):
		return true
	case c.running > 0 && !c.ended && t[0] == ' ' && strings.Contains(t, ") "):
		return false // what a test prints: the list follows the end of the run
	case c.isTitle(l.No, t), c.reporter(l.No, t):
		return false
	case c.cur == nil:
		return false
	case c.cur.Lines > failtext.FailureLines, !c.unit && blank && c.over(t):
		c.closeEntry()
		return false
	}
	c.cur.Add(t)
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
	title, test := "", model.Test{At: no}
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
		if _, _, isNum := parse.LeadingInt(rest); !ok || !isNum || !strings.HasSuffix(name, " ") {
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
		_, rest, ok := parse.LeadingInt(strings.TrimLeft(t, " "))
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
	test := model.Test{At: c.titleAt}
	if strings.HasSuffix(name, "]") {
		i := strings.LastIndex(name, " [")
		if i < 0 {
			return false
		}
		file, line, _, ok := parse.Location(name[i+2 : len(name)-1])
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

func (c *minitestConsole) open(title string, t model.Test) {
	c.closeEntry()
	switch title {
	case "Failure":
		t.Kind = model.KindAssertion
	case "Error":
		t.Kind = model.KindError
	}
	c.isSoft = false
	c.skipped = title != "Failure" && title != "Error"
	c.cur = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)+len(c.soft)), t)
}

// classHook names what failed before or behind the tests of a class, until the trace says which.
const classHook = "startup or shutdown"

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
		c.open(title, model.Test{At: no})
		c.unit = true
		return true
	default:
		return false
	}
	test := model.Test{At: no}
	if class, msg, ok := strings.Cut(rest, ": "); ok && parse.IsDotted(strings.ReplaceAll(class, "::", ".")) { // a class's startup or shutdown
		test.Suite, test.Name, test.Kind = class, classHook, model.KindSetup
		c.open(title, test)
		c.unit = true
		c.cur.Add(msg)
		return true
	}
	i := strings.Index(rest, ")")
	if i < 0 {
		return false
	}
	if test.Suite, test.Name, ok = rubyTest(rest[:i+1]); !ok {
		return false
	}
	c.open(title, test)
	c.unit = true
	if msg, found := strings.CutPrefix(rest[i+1:], ": "); found {
		c.cur.Add(msg)
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
func (c *minitestConsole) test(f *failtext.Entry) model.Test {
	text := parse.Unindent(f.Text.String())
	lines := strings.Split(text, "\n")
	if f.Test.Name == classHook {
		for _, hook := range [...]string{"startup", "shutdown"} {
			if strings.Contains(text, ":in `"+hook+"'") || strings.Contains(text, ":in '"+f.Test.Suite+"."+hook+"'") {
				f.Test.Name = hook
			}
		}
	}
	var msg []string
	for _, l := range lines {
		s := strings.TrimLeft(l, " ")
		if failtext.IsStackFrame(s) || strings.HasPrefix(s, "=> ") || failtext.IsCodeLine(s) {
			if f.Test.Line == 0 {
				if p, ok := failtext.PlaceInLine(s, ""); ok && !parse.Foreign(p.File) {
					f.Test.File, f.Test.Line = p.File, p.Line
				}
			}
			continue
		}
		if len(msg) < 40 {
			msg = append(msg, l)
		}
	}
	f.Test.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if e, a, ok := strings.Cut(f.Test.Message, "> expected but was\n<"); ok {
		if _, sides, found := strings.Cut(e, "<"); found {
			f.Test.Expected, f.Test.Actual = sides, strings.TrimSuffix(parse.HeadLine(a), ">")
		}
	}
	if f.Test.Kind == model.KindError {
		head, _, _ := strings.Cut(parse.HeadLine(f.Test.Message), ":")
		if name, _, found := strings.Cut(parse.HeadLine(f.Test.Message), ": "); found && isRubyClass(name+":") {
			f.Test.Type = name
		} else if isRubyClass(head + ":") {
			f.Test.Type = head
		}
	}
	return f.Done()
}

// totals takes "5 runs, 9 assertions, 1 failures, 0 errors, 0 skips".
func (c *minitestConsole) totals(no int, t string) bool {
	if _, _, ok := parse.Counted(t); !ok || !strings.Contains(t, " assertions, ") && !strings.Contains(t, " assertion, ") {
		return false
	}
	var tests, failures, errors, skips int
	ok := parse.CountedList(t, func(n int, word string) bool {
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
	if !ok || !strings.Contains(t, " failure") || !strings.Contains(t, " error") || c.running > 0 && !c.ended {
		return false
	}
	c.closeEntry()
	if len(c.list) == 0 {
		c.list = c.soft
	}
	if failures+errors == 0 {
		c.list = nil // what a test printed: the totals say that none failed
	}
	for _, f := range c.list {
		c.out.Test(c.test(f))
	}
	named := len(c.list) + c.dropped
	c.anon.Emit(c.out, tests-max(failures+errors, named)-skips, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, skips, model.Test{Status: model.Skipped, At: no})
	failtext.Unnamed(c.out, "minitest", failures+errors, named, no)
	*c = minitestConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *minitestConsole) End() {
	c.closeEntry()
	at := 0
	for _, f := range c.list {
		at = max(at, f.Test.At)
		c.out.Test(c.test(f))
	}
	if len(c.list) > 0 || c.running > 0 {
		at = max(at, c.running)
		c.out.Problem(failtext.CutOff("minitest", "minitest's output ends before its totals", at))
	}
	*c = minitestConsole{out: c.out, lim: c.lim, anon: c.anon}
}
