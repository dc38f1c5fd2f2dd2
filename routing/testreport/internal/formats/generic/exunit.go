package generic

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// exunitFormat reads ExUnit (mix test), also of an umbrella project.
var exunitFormat = format.Format{
	Name:  "exunit",
	Order: 530,
	Wakes: &format.Wake{Flush: format.Digits + "=F", Indent: format.Digits},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &exunitConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

type exunitConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	cur     *failtext.Entry
	module  bool // the entry is of a whole module: setup_all failed
	sure    bool // the entry's second line was a place
	list    []*failtext.Entry
	dropped int
	groups  int // modules that failed
	build   *failtext.Entry
	after   bool // behind "Finished in"
}

func (c *exunitConsole) Idle() bool {
	return c.cur == nil && c.build == nil
}

func (c *exunitConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		if c.cur != nil {
			c.cur.Add("")
		}
		return false
	}
	if c.build != nil && c.inBuild(t) {
		return true
	}
	switch {
	case t[0] == ' ':
		return c.indented(l.No, t)
	case t[0] == '=' && strings.HasPrefix(t, "== Compilation error in file ") && strings.HasSuffix(t, " =="):
		c.build = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)), model.Test{At: l.No, File: strings.TrimSuffix(t[len("== Compilation error in file "):], " ==")})
		return true
	case t[0] >= '0' && t[0] <= '9':
		return c.totals(l.No, t)
	case strings.HasPrefix(t, "Finished in "):
		c.closeEntry()
		c.after = true
	}
	return false
}

// indented takes "  1) test name (Module)" and what stands below it.
func (c *exunitConsole) indented(no int, t string) bool {
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	if indent <= 3 && s[0] >= '0' && s[0] <= '9' {
		if _, rest, ok := parse.LeadingInt(s); ok && strings.HasPrefix(rest, ") ") && c.title(no, rest[2:]) {
			return c.sure
		}
	}
	if c.cur == nil || indent < 5 || c.cur.Lines > failtext.FailureLines {
		return false
	}
	if c.cur.Lines == 0 && !c.module {
		file, line, _, ok := parse.Location(s)
		if !ok || !isElixir(file) {
			c.cur = nil // a list of something else
			return false
		}
		c.cur.Test.File, c.cur.Test.Line, c.sure = file, line, true
		c.cur.Lines++
		return true
	}
	c.cur.Add(t)
	return true
}

func isElixir(file string) bool {
	return strings.HasSuffix(file, ".exs") || strings.HasSuffix(file, ".ex") || strings.HasSuffix(file, ".md")
}

// title reads "test add/2 adds up (SumsTest)", "property x (M)", "doctest M.f/1 (1) (M)".
func (c *exunitConsole) title(no int, s string) bool {
	if module, ok := strings.CutSuffix(s, ": failure on setup_all callback, all tests have been invalidated"); ok {
		c.closeEntry()
		c.cur, c.module = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)), model.Test{Name: module, At: no}), true
		return true
	}
	i := strings.LastIndex(s, " (")
	if i < 0 || !strings.HasSuffix(s, ")") || !parse.IsDotted(s[i+2:len(s)-1]) {
		return false
	}
	c.closeEntry()
	c.cur, c.module = failtext.NewEntry(failtext.Shrunk(c.lim, len(c.list)), model.Test{Suite: s[i+2 : len(s)-1], Name: s[:i], At: no}), false
	return true
}

func (c *exunitConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	switch {
	case f == nil || f.Lines == 0:
	case c.module:
		c.groups++
		t := exunitTest(f)
		c.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
	case len(c.list) >= 5*c.lim.Failing:
		c.dropped++
	default:
		c.list = append(c.list, f)
	}
}

// exunitTest completes an entry: "** (ArgumentError) bad", or an assertion's
// text with its code and sides.
func exunitTest(f *failtext.Entry) model.Test {
	text := parse.Unindent(f.Text.String())
	declared := f.Test
	f.Test.Line = 0
	var msg []string
	stack := false
	for _, l := range strings.Split(text, "\n") {
		if l == "stacktrace:" {
			stack = true
			continue
		}
		if stack && f.Test.Line == 0 {
			if file, line, ok := exunitFrame(l); ok {
				f.Test.File, f.Test.Line = file, line
			}
		}
		if !stack && !strings.HasPrefix(l, "code: ") && len(msg) < 40 {
			msg = append(msg, l)
		}
	}
	if f.Test.Line == 0 {
		f.Test.File, f.Test.Line = declared.File, declared.Line
	}
	f.Test.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if rest, ok := strings.CutPrefix(f.Test.Message, "** ("); ok {
		if typ, what, found := strings.Cut(rest, ") "); found && parse.IsDotted(typ) {
			f.Test.Type, f.Test.Message, f.Test.Kind = typ, what, model.KindError
		}
	}
	switch {
	case f.Test.Type == "ExUnit.TimeoutError":
		f.Test.Kind = model.KindTimeout
	case f.Test.Kind == "":
		f.Test.Kind = model.KindAssertion
	}
	return f.Done()
}

// exunitFrame reads "test/sums_test.exs:5: (test)"; frames of libraries begin
// with "(app version)".
func exunitFrame(l string) (file string, line int, ok bool) {
	s := strings.TrimSpace(l)
	if strings.HasPrefix(s, "(") {
		return "", 0, false
	}
	place, _, found := strings.Cut(s, ": ")
	if !found {
		return "", 0, false
	}
	file, line, _, ok = parse.Location(place)
	return file, line, ok && isElixir(file)
}

// inBuild collects a compilation error.
func (c *exunitConsole) inBuild(t string) bool {
	if c.build.Lines < 50 && (c.build.Lines == 0 || t[0] == ' ' || strings.HasPrefix(t, "** (")) {
		c.build.Add(t)
		return true
	}
	c.closeBuild()
	return false
}

func (c *exunitConsole) closeBuild() {
	f := c.build
	c.build = nil
	text := parse.Unindent(f.Text.String())
	file, line := f.Test.File, 0
	if p, n := failtext.PlaceIn(parse.HeadLine(text), "", ""); n > 0 && failtext.SameFile(p, file) {
		line = n
	}
	c.out.Problem(model.Problem{Kind: model.KindBuild, Name: file, File: file, Line: line, Message: parse.HeadLine(text), Trace: text, At: f.Test.At})
}

// totals takes "1 doctest, 3 tests, 1 failure, 1 excluded, 2 invalid, 1 skipped".
func (c *exunitConsole) totals(no int, t string) bool {
	var tests, failures, excluded, invalid, skipped int
	ok := (c.after || len(c.list) > 0) && parse.CountedList(t, func(n int, word string) bool {
		switch strings.TrimSuffix(word, "s") {
		case "test", "doctest", "feature":
			tests += n
		case "property", "propertie":
			tests += n
		case "failure":
			failures = n
		case "excluded":
			excluded = n
		case "invalid":
			invalid = n
		case "skipped":
			skipped = n
		default:
			return false
		}
		return true
	})
	if !ok || !strings.Contains(t, " failure") {
		return false
	}
	c.closeEntry()
	for _, f := range c.list {
		c.out.Test(exunitTest(f))
	}
	named := len(c.list) + c.dropped
	c.anon.Emit(c.out, tests-max(failures, named)-excluded-invalid-skipped, model.Test{Status: model.Passed, At: no})
	c.anon.Emit(c.out, excluded+skipped, model.Test{Status: model.Skipped, At: no})
	c.anon.Emit(c.out, invalid, model.Test{Status: model.Other, At: no})
	failtext.Unnamed(c.out, "exunit", failures, named, no)
	if invalid > 0 && c.groups == 0 {
		failtext.Unnamed(c.out, "exunit (invalid)", invalid, 0, no)
	}
	*c = exunitConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *exunitConsole) End() {
	if c.build != nil {
		c.closeBuild()
	}
	c.closeEntry()
	at := 0
	for _, f := range c.list {
		at = max(at, f.Test.At)
		c.out.Test(exunitTest(f))
	}
	if len(c.list) > 0 {
		c.out.Problem(failtext.CutOff("exunit", "ExUnit's output ends before its totals", at))
	}
	*c = exunitConsole{out: c.out, lim: c.lim, anon: c.anon}
}
