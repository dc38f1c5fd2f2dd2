package testreport

import (
	"strings"
)

// exunitFormat reads ExUnit (mix test), also of an umbrella project.
var exunitFormat = format{
	name:  "exunit",
	order: 530,
	wakes: &wake{flush: digits + "=F", indent: digits},
	console: func(out Sink, lim Limits) console {
		return &exunitConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

type exunitConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	cur     *failedEntry
	module  bool // the entry is of a whole module: setup_all failed
	sure    bool // the entry's second line was a place
	list    []*failedEntry
	dropped int
	groups  int // modules that failed
	build   *failedEntry
	after   bool // behind "Finished in"
}

func (c *exunitConsole) budget() *anonymous { return c.anon }

func (c *exunitConsole) idle() bool {
	return c.cur == nil && c.build == nil
}

func (c *exunitConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		if c.cur != nil {
			c.cur.add("")
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
		c.build = newFailedEntry(shrunk(c.lim, len(c.list)), Test{At: l.No, File: strings.TrimSuffix(t[len("== Compilation error in file "):], " ==")})
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
		if _, rest, ok := leadingInt(s); ok && strings.HasPrefix(rest, ") ") && c.title(no, rest[2:]) {
			return c.sure
		}
	}
	if c.cur == nil || indent < 5 || c.cur.lines > failureLines {
		return false
	}
	if c.cur.lines == 0 && !c.module {
		file, line, _, ok := location(s)
		if !ok || !isElixir(file) {
			c.cur = nil // a list of something else
			return false
		}
		c.cur.test.File, c.cur.test.Line, c.sure = file, line, true
		c.cur.lines++
		return true
	}
	c.cur.add(t)
	return true
}

func isElixir(file string) bool {
	return strings.HasSuffix(file, ".exs") || strings.HasSuffix(file, ".ex") || strings.HasSuffix(file, ".md")
}

// title reads "test add/2 adds up (SumsTest)", "property x (M)", "doctest M.f/1 (1) (M)".
func (c *exunitConsole) title(no int, s string) bool {
	if module, ok := strings.CutSuffix(s, ": failure on setup_all callback, all tests have been invalidated"); ok {
		c.closeEntry()
		c.cur, c.module = newFailedEntry(shrunk(c.lim, len(c.list)), Test{Name: module, At: no}), true
		return true
	}
	i := strings.LastIndex(s, " (")
	if i < 0 || !strings.HasSuffix(s, ")") || !isDotted(s[i+2:len(s)-1]) {
		return false
	}
	c.closeEntry()
	c.cur, c.module = newFailedEntry(shrunk(c.lim, len(c.list)), Test{Suite: s[i+2 : len(s)-1], Name: s[:i], At: no}), false
	return true
}

func (c *exunitConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	switch {
	case f == nil || f.lines == 0:
	case c.module:
		c.groups++
		t := exunitTest(f)
		c.out.Problem(Problem{Kind: KindSetup, Name: t.Name, File: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, At: t.At})
	case len(c.list) >= 5*c.lim.Failing:
		c.dropped++
	default:
		c.list = append(c.list, f)
	}
}

// exunitTest completes an entry: "** (ArgumentError) bad", or an assertion's
// text with its code and sides.
func exunitTest(f *failedEntry) Test {
	text := unindent(f.text.String())
	declared := f.test
	f.test.Line = 0
	var msg []string
	stack := false
	for _, l := range strings.Split(text, "\n") {
		if l == "stacktrace:" {
			stack = true
			continue
		}
		if stack && f.test.Line == 0 {
			if file, line, ok := exunitFrame(l); ok {
				f.test.File, f.test.Line = file, line
			}
		}
		if !stack && !strings.HasPrefix(l, "code: ") && len(msg) < 40 {
			msg = append(msg, l)
		}
	}
	if f.test.Line == 0 {
		f.test.File, f.test.Line = declared.File, declared.Line
	}
	f.test.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if rest, ok := strings.CutPrefix(f.test.Message, "** ("); ok {
		if typ, what, found := strings.Cut(rest, ") "); found && isDotted(typ) {
			f.test.Type, f.test.Message, f.test.Kind = typ, what, KindError
		}
	}
	switch {
	case f.test.Type == "ExUnit.TimeoutError":
		f.test.Kind = KindTimeout
	case f.test.Kind == "":
		f.test.Kind = KindAssertion
	}
	return f.done()
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
	file, line, _, ok = location(place)
	return file, line, ok && isElixir(file)
}

// inBuild collects a compilation error.
func (c *exunitConsole) inBuild(t string) bool {
	if c.build.lines < 50 && (c.build.lines == 0 || t[0] == ' ' || strings.HasPrefix(t, "** (")) {
		c.build.add(t)
		return true
	}
	c.closeBuild()
	return false
}

func (c *exunitConsole) closeBuild() {
	f := c.build
	c.build = nil
	text := unindent(f.text.String())
	file, line := f.test.File, 0
	if p, n := placeIn(headLine(text), "", ""); n > 0 && sameFile(p, file) {
		line = n
	}
	c.out.Problem(Problem{Kind: KindBuild, Name: file, File: file, Line: line, Message: headLine(text), Trace: text, At: f.test.At})
}

// totals takes "1 doctest, 3 tests, 1 failure, 1 excluded, 2 invalid, 1 skipped".
func (c *exunitConsole) totals(no int, t string) bool {
	var tests, failures, excluded, invalid, skipped int
	ok := (c.after || len(c.list) > 0) && countedList(t, func(n int, word string) bool {
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
	c.anon.emit(c.out, tests-max(failures, named)-excluded-invalid-skipped, Test{Status: Passed, At: no})
	c.anon.emit(c.out, excluded+skipped, Test{Status: Skipped, At: no})
	c.anon.emit(c.out, invalid, Test{Status: Other, At: no})
	unnamed(c.out, "exunit", failures, named, no)
	if invalid > 0 && c.groups == 0 {
		unnamed(c.out, "exunit (invalid)", invalid, 0, no)
	}
	*c = exunitConsole{out: c.out, lim: c.lim, anon: c.anon}
	return true
}

func (c *exunitConsole) end() {
	if c.build != nil {
		c.closeBuild()
	}
	c.closeEntry()
	at := 0
	for _, f := range c.list {
		at = max(at, f.test.At)
		c.out.Test(exunitTest(f))
	}
	if len(c.list) > 0 {
		c.out.Problem(cutOff("exunit", "ExUnit's output ends before its totals", at))
	}
	*c = exunitConsole{out: c.out, lim: c.lim, anon: c.anon}
}
