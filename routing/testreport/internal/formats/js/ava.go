package js

import (
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// avaFormat reads AVA's default reporter.
var avaFormat = format.Format{
	Name:  "ava",
	Order: 570,
	Wakes: &format.Wake{Indent: avaMarks + "U"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &avaConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// avaMarks are what the mark before a failed title may begin with: no letter
// or digit but the x that stands for a cross, whatever the encoding made of it.
var avaMarks = "x" + strings.Map(func(r rune) rune {
	if strings.ContainsRune(format.Digits+format.Capitals+strings.ToLower(format.Capitals), r) {
		return -1
	}
	return r
}, format.AnyByte[:0x80]) + format.AnyByte[0x80:]

type avaConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	failed []avaTest
	from   int // the first of them without its block
	rules  int // lines "─" seen
	blank  int
	cur    *avaTest
	counts map[string]int
	at     int

	first   int // line of the first mark
	passed  int // marks
	outside []avaOutside
	out1    *avaOutside     // being read
	ended   []model.Problem // of the processes of files
	pending []avaTest       // when the run timed out
	timeout int             // line that says so
}

// avaOutside is an error outside of the tests of a file.
type avaOutside struct {
	file string
	f    *failtext.Entry
}

type avaTest struct {
	title string // with the message behind it, as the first list has it
	name  string // as its block has it
	f     *failtext.Entry
}

func (c *avaConsole) Idle() bool {
	return c.rules == 0 && c.cur == nil && c.counts == nil && len(c.failed) == 0 && c.out1 == nil && c.timeout == 0 && len(c.ended) == 0
}

func (c *avaConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	s := strings.TrimLeft(t, " ")
	if s == "" {
		c.blank++
		if c.cur != nil {
			c.cur.f.Add("")
		} else if c.out1 != nil {
			c.out1.f.Add("")
		}
		return false
	}
	blank := c.blank
	c.blank = 0
	if len(t)-len(s) != 2 {
		return c.body(t)
	}
	if claimed, done := c.marks(l.No, s); done {
		return claimed
	}
	if i := strings.Index(s[:min(len(s), 5+len(" [fail]: "))], " [fail]: "); i > 0 && strings.IndexByte(avaMarks, s[0]) >= 0 {
		if len(c.failed) < 5*c.lim.Failing {
			c.failed = append(c.failed, avaTest{title: s[i+len(" [fail]: "):], f: failtext.NewEntry(failtext.Shrunk(c.lim, len(c.failed)), model.Test{At: l.No})})
		}
		return true
	}
	if s == "─" {
		c.cur = nil
		c.rules++
		return false
	}
	if c.rules > 0 && s[0] >= '0' && s[0] <= '9' && c.count(l.No, s) {
		return true
	}
	if c.rules > 0 && blank > 0 && c.block(l.No, s) {
		return true
	}
	if c.counts != nil {
		c.finish()
	}
	return c.body(t)
}

// marks takes the lines of the progress that are no failed tests.
func (c *avaConsole) marks(no int, s string) (claimed, done bool) {
	switch {
	case strings.HasPrefix(s, "✔ "), strings.HasPrefix(s, "√ "):
		c.begins(no)
		if _, rest, _ := strings.Cut(s, " "); !strings.HasPrefix(rest, "[expected fail] ") {
			c.passed++
		}
		return false, true
	case strings.HasPrefix(s, "✘ ") || strings.HasPrefix(s, "× "):
		c.begins(no)
		c.out1 = nil
		if strings.Contains(s, " Timed out while running tests") {
			c.timeout = no
			return true, true
		}
		if c.process(no, s) {
			return true, true
		}
	case c.timeout > 0 && strings.HasPrefix(s, "◌ "):
		if len(c.pending) < c.lim.Failing {
			c.pending = append(c.pending, avaTest{name: s[len("◌ "):], f: failtext.NewEntry(c.lim, model.Test{At: no})})
		}
		return true, true
	case strings.HasPrefix(s, "Uncaught exception in "), strings.HasPrefix(s, "Unhandled rejection in "):
		_, file, _ := strings.Cut(s, " in ")
		if parse.IsScript(file) && len(c.outside) < c.lim.Failing {
			c.begins(no)
			c.outside = append(c.outside, avaOutside{file, failtext.NewEntry(failtext.Shrunk(c.lim, len(c.outside)), model.Test{At: no})})
			c.out1, c.cur = &c.outside[len(c.outside)-1], nil
			return true, true
		}
	case s == "─":
		c.out1 = nil
	case c.out1 != nil:
		return c.body("  " + s), true
	}
	return false, false
}

// process takes what AVA says of the process of a file behind the mark of a failed test.
func (c *avaConsole) process(no int, s string) bool {
	_, s, _ = strings.Cut(s, " ")
	kind := model.KindExit
	file, ok := strings.CutPrefix(s, "Exiting due to process.exit() when running ")
	if ok {
		kind = model.KindCrash
	} else {
		for _, said := range []string{" exited with a non-zero exit code: ", " exited due to "} {
			if f, _, found := strings.Cut(s, said); found {
				file, ok = f, true
				if said == " exited due to " {
					kind = model.KindCrash
				}
			}
		}
	}
	if f, found := strings.CutPrefix(s, "No tests found in "); found {
		file, ok, kind = strings.TrimSuffix(f, ", make sure to import \"ava\" at the top of your test file"), true, model.KindEmpty
	}
	if !ok || !parse.IsScript(file) {
		return false
	}
	if len(c.ended) < c.lim.Failing && !slices.ContainsFunc(c.ended, func(p model.Problem) bool { return p.File == file }) {
		c.ended = append(c.ended, model.Problem{Kind: kind, Name: file, File: file, Message: s, At: no})
	}
	return true
}

func (c *avaConsole) begins(no int) {
	if c.first == 0 {
		c.first = no
	}
}

func (c *avaConsole) body(t string) bool {
	if c.out1 != nil && c.out1.f.Lines < failtext.FailureLines {
		c.out1.f.Add(t)
		return true
	}
	if c.cur == nil || c.cur.f.Lines > failtext.FailureLines {
		return false
	}
	c.cur.f.Add(t)
	return true
}

// block opens what stands below a failing test's title.
func (c *avaConsole) block(no int, s string) bool {
	for c.from < len(c.failed) && c.failed[c.from].name != "" {
		c.from++
	}
	for i := c.from; i < min(len(c.failed), c.from+50); i++ {
		f := &c.failed[i]
		if f.name == "" && (f.title == s || strings.HasPrefix(f.title, s+" ")) {
			f.name = s
			f.f.Test.At = no
			c.cur = f
			return true
		}
	}
	return false
}

// count takes "2 tests failed" and its like, which stand at the end.
func (c *avaConsole) count(no int, s string) bool {
	n, word, ok := parse.Counted(s)
	if !ok {
		return false
	}
	switch word {
	case "test remained pending after a timeout", "tests remained pending after a timeout", "test remained pending", "tests remained pending":
		word = "pending"
	case "test passed", "tests passed":
		word = "passed"
	case "test failed", "tests failed", "hook failed", "hooks failed":
		word = "failed"
	case "known failure", "known failures":
		word = "known"
	case "test skipped", "tests skipped", "test todo", "tests todo":
		word = "skipped"
	case "uncaught exception", "uncaught exceptions", "unhandled rejection", "unhandled rejections", "test remaining in", "tests remaining in":
		word = "outside"
	default:
		return false
	}
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.cur, c.at = nil, no
	c.counts[word] += n
	return true
}

func (c *avaConsole) finish() {
	for i := range c.failed {
		f := &c.failed[i]
		name := parse.FirstOf(f.name, f.title)
		f.f.Test.Suite, f.f.Test.Name = cutPath(name, " › ")
		text := parse.Unindent(f.f.Text.String())
		file, line, _, ok := parse.Location(parse.HeadLine(text))
		f.f.Test.Message = avaMessage(text)
		t := f.f.Done()
		if rest, found := strings.CutPrefix(f.title, name+" "); found && f.name != "" {
			t.Message = rest
			if rest == "Error thrown in test" || rest == "Rejected promise returned by test" || rest == "Error thrown in hook" {
				avaThrown(&t, text)
			}
		}
		if ok && parse.IsScript(file) {
			t.File, t.Line = file, line
		}
		if strings.Contains(text, "Difference (- actual, + expected)") || strings.Contains(text, "Value is not ") {
			t.Kind = model.KindAssertion
		}
		c.out.Test(t)
	}
	c.ends()
	passed, ok := c.counts["passed"]
	if !ok {
		passed = c.passed // not stated where tests failed
	}
	c.anon.Emit(c.out, passed+c.counts["known"], model.Test{Status: model.Passed, At: c.at})
	c.anon.Emit(c.out, c.counts["skipped"], model.Test{Status: model.Skipped, At: c.at})
	failtext.Unnamed(c.out, "ava", c.counts["failed"], len(c.failed), c.at)
	if n := c.counts["outside"]; n > 0 && len(c.outside) == 0 {
		c.out.Problem(model.Problem{Kind: model.KindError, Name: "ava", Message: "uncaught exceptions or unhandled rejections", At: c.at})
	}
	*c = avaConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// ends emits what stands outside of tests that ended, and notes the run.
func (c *avaConsole) ends() {
	model.Session(c.out, c.first, c.at)
	for _, o := range c.outside {
		t := o.f.Done()
		p := model.Problem{Kind: suiteKind(t.Message), Name: o.file, File: o.file, Message: t.Message, Trace: t.Trace, At: t.At}
		if failtext.SameFile(t.File, o.file) {
			p.Line = t.Line
		}
		c.out.Problem(p)
	}
	for _, p := range c.ended {
		if !slices.ContainsFunc(c.outside, func(o avaOutside) bool { return o.file == p.File }) {
			c.out.Problem(p)
		}
	}
	for _, f := range c.pending {
		t := f.f.Test
		t.Suite, t.Name = cutPath(f.name, " › ")
		t.Status, t.Kind, t.Message = model.Failed, model.KindTimeout, "Timed out while running tests"
		c.out.Test(t)
	}
	if len(c.pending) == 0 && (c.timeout > 0 || c.counts["pending"] > 0) {
		c.out.Problem(model.Problem{Kind: model.KindTimeout, Name: "ava", Message: "Timed out while running tests", At: max(c.timeout, c.at)})
	}
}

// avaThrown takes the error that a test threw, "RangeError: text" above its stack.
func avaThrown(t *model.Test, text string) {
	ls := strings.Split(text, "\n")
	for i, l := range ls {
		if typ, ok := strings.CutSuffix(l, "Error {"); ok && i+1 < len(ls) && !strings.Contains(typ, " ") { // as an object
			if _, message, ok := strings.Cut(ls[i+1], "message: "); ok {
				t.Type, t.Kind = typ+"Error", model.KindError
				t.Message = t.Type + ": " + parse.YAMLScalar(strings.TrimSuffix(message, ","))
			}
		}
	}
	for _, l := range ls {
		if typ := failtext.JSErrorType(l); typ != "" && l[0] != ' ' {
			t.Message, t.Type, t.Kind = strings.TrimSpace(l), typ, model.KindError
			return
		}
	}
}

// avaMessage leaves the place and the listing of code out.
func avaMessage(text string) string {
	var msg []string
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimSpace(l)
		if strings.HasPrefix(s, "› file:") {
			continue
		}
		if _, _, _, place := parse.Location(s); place && !strings.Contains(s, " ") || failtext.IsCodeLine(s) || s == "" && len(msg) == 0 {
			continue
		}
		msg = append(msg, l)
	}
	return failtext.FailureHead(strings.Join(msg, "\n"))
}

func (c *avaConsole) End() {
	if c.counts == nil && len(c.failed) == 0 && (c.timeout > 0 || len(c.outside)+len(c.ended) > 0) {
		c.at = max(c.timeout, c.at)
		c.ends()
	}
	if c.counts != nil || len(c.failed) > 0 {
		cut := c.counts == nil
		at := 0
		for _, f := range c.failed {
			at = max(at, f.f.Test.At)
		}
		c.finish()
		if cut {
			c.out.Problem(failtext.CutOff("ava", "AVA's output ends before its totals", at))
		}
	}
	*c = avaConsole{out: c.out, lim: c.lim, anon: c.anon}
}
