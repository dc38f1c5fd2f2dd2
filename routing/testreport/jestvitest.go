package testreport

import (
	"strings"
)

// vitestRun reads one or more runs of Vitest, one after the other.
type vitestRun struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open    bool
	at      int
	section vitestSection
	file    string // of the progress
	heads   []vitestHead
	block   *kept
	blockAt int
	kind    string // title of an unhandled error
	tests   []*vitestTest
	byName  map[string]*vitestTest
	marked  []*vitestTest // failed by the progress, in case no block follows
	flaky   int

	problems int
	errors   int
	files    *vitestTotals
	sum      *vitestTotals
}

type vitestSection int

const (
	vitestProgress vitestSection = iota
	vitestTests
	vitestSuites
	vitestUnhandled
)

// vitestHead is one " FAIL  …" line; several may stand before one error.
type vitestHead struct {
	path string
	at   int
}

type vitestTest struct {
	path, file, suite, name string
	at                      int
	text                    string
	named                   bool
	suiteOnly               bool // a file or a hook, not a test
	repeats                 int  // further heads of the same name
}

func startsVitest(t string) bool {
	if len(t) < 8 || t[0] != ' ' {
		return false
	}
	s := strings.TrimLeft(t, " ")
	for _, p := range [...]string{"RUN  v", "DEV  v"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			_, rest, isNum := leadingInt(rest)
			return isNum && strings.HasPrefix(rest, ".") && strings.Contains(rest, " ")
		}
	}
	return false
}

func newVitestRun(out Sink, lim Limits, anon *anonymous) *vitestRun {
	r := &vitestRun{out: out, lim: lim, anon: anon}
	r.reset()
	return r
}

func (r *vitestRun) reset() {
	*r = vitestRun{out: r.out, lim: r.lim, anon: r.anon, byName: map[string]*vitestTest{}}
}

func (r *vitestRun) end() {
	if r.open {
		r.finish()
	}
}

func (r *vitestRun) line(l Line) bool {
	if l.Mark == "error" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if startsVitest(l.Text) {
		r.end()
		r.open, r.at = true, l.No
		return true
	}
	if !r.open {
		return false
	}
	if t == "" {
		if r.block != nil {
			r.block.add("")
		}
		return false
	}
	if title, ok := ruledVitest(t); ok {
		return r.header(l.No, title)
	}
	if r.totals(l.No, t) {
		return true
	}
	if r.section == vitestProgress {
		return r.progress(l.No, t)
	}
	return r.inSection(l.No, t)
}

// ruledVitest reads "⎯⎯⎯ Failed Tests 2 ⎯⎯⎯" and the rule "⎯⎯⎯[1/2]⎯".
func ruledVitest(t string) (string, bool) {
	if !strings.HasPrefix(t, "⎯") {
		return "", false
	}
	return strings.TrimSpace(strings.Trim(t, "⎯")), true
}

func (r *vitestRun) header(no int, title string) bool {
	r.closeBlock()
	switch {
	case strings.HasPrefix(title, "Failed Tests "):
		r.section = vitestTests
	case strings.HasPrefix(title, "Failed Suites "), strings.HasPrefix(title, "Failed Typecheck"):
		r.section = vitestSuites
	case strings.HasPrefix(title, "Unhandled "), strings.HasPrefix(title, "Uncaught "),
		title == "Startup Error", title == "Typecheck Error", title == "Vitest Type Error":
		r.section, r.kind = vitestUnhandled, title
		r.block, r.blockAt = &kept{max: r.lim.Text}, no
	case title == "" || strings.HasPrefix(title, "["):
	case r.section == vitestUnhandled:
		r.kind = title // what kind of unhandled error
		r.block, r.blockAt = &kept{max: r.lim.Text}, no
	}
	return true
}

// inSection takes a line of a failure.
func (r *vitestRun) inSection(no int, t string) bool {
	if path, ok := strings.CutPrefix(t, " FAIL  "); ok && r.section != vitestUnhandled {
		if r.block != nil {
			r.closeBlock()
		}
		if len(r.heads) < 10000 {
			r.heads = append(r.heads, vitestHead{path, no})
		}
		return true
	}
	if r.block == nil {
		if len(r.heads) == 0 {
			return false
		}
		r.block, r.blockAt = &kept{max: r.lim.Text}, no
	}
	r.block.add(t)
	return true
}

// closeBlock gives the open block to the tests it is of.
func (r *vitestRun) closeBlock() {
	text := ""
	if r.block != nil {
		text = unindent(r.block.String())
	}
	if r.section == vitestUnhandled && r.block != nil {
		r.unhandled(text)
	}
	for _, h := range r.heads {
		r.failed(h, text)
	}
	r.block, r.heads = nil, nil
}

func (r *vitestRun) unhandled(text string) {
	if strings.HasPrefix(text, "Vitest caught ") || strings.TrimSpace(text) == "" {
		return // the introduction; what was caught follows
	}
	kind := KindError
	if strings.Contains(r.kind, "Source") || strings.Contains(r.kind, "Type") {
		kind = KindBuild
	}
	p := Problem{Kind: kind, Name: r.kind, Message: vitestHeadOf(text), Trace: text, At: r.blockAt}
	if strings.Contains(p.Message, "Timeout calling") || strings.Contains(p.Message, "timed out") {
		p.Kind = KindTimeout
	}
	p.File, p.Line, p.Column = jestPlace(text)
	r.problem(p)
}

func (r *vitestRun) problem(p Problem) {
	r.problems++
	r.out.Problem(p)
}

// failed notes one failing test, or a suite that could not run.
func (r *vitestRun) failed(h vitestHead, text string) {
	path, suite := h.path, r.section == vitestSuites
	if i := strings.LastIndex(path, " [ "); i > 0 && strings.HasSuffix(path, " ]") {
		path, suite = path[:i], true
	}
	if t := r.byName[path]; t != nil && t.named {
		t.repeats++ // an attempt that a retry followed, or a test of the same name
		return
	}
	t := r.test(path, h.at)
	t.text, t.at, t.named = text, h.at, true
	t.suiteOnly = suite
}

func (r *vitestRun) test(path string, at int) *vitestTest {
	t := &vitestTest{path: path, at: at}
	t.file, t.suite, t.name = vitestPath(path)
	if len(r.tests) < 20*r.lim.Failing {
		r.byName[path] = t
		r.tests = append(r.tests, t)
	}
	return t
}

// vitestPath cuts "|project| src/a.test.ts > describe > name".
func vitestPath(path string) (file, suite, name string) {
	if strings.HasPrefix(path, "|") {
		if i := strings.Index(path, "| "); i > 0 {
			path = path[i+2:]
		}
	}
	file, rest, ok := strings.Cut(path, " > ")
	file = strings.TrimSpace(file)
	if i := strings.LastIndexByte(file, ' '); i > 0 && isScript(file) {
		file = file[i+1:] // a coloured project name
	}
	if !ok {
		return file, "", file
	}
	if isLocated, _, _, ok := location(file); ok {
		file = isLocated
	}
	suite, name = cutPath(rest, " > ")
	return file, suite, name
}

// progress takes a line before the first section: files, and with the verbose
// reporter or for files with failures also tests.
func (r *vitestRun) progress(no int, t string) bool {
	text := strings.TrimLeft(t, " ")
	indent := len(t) - len(text)
	mark, rest, ok := strings.Cut(text, " ")
	if !ok || indent == 0 {
		return strings.HasPrefix(t, "No test files found, exiting with code 1") && r.none(no, t)
	}
	switch mark {
	case "✓", "√", "❯", "×", "↓":
	default:
		return false
	}
	rest = strings.TrimLeft(rest, " ")
	if file, ok := vitestFile(rest); ok {
		r.file = file
		return true
	}
	name, retries := trimVitestSuffix(rest)
	if mark == "×" {
		r.mark(no, name)
	} else if retries > 0 && mark == "✓" {
		r.flakyTest(no, name, retries)
	}
	return true
}

func (r *vitestRun) none(no int, t string) bool {
	r.problem(Problem{Kind: KindEmpty, Name: "vitest", Message: t, At: no})
	r.reset()
	return true
}

// vitestFile reads "src/a.test.ts (4 tests | 2 failed) 8ms".
func vitestFile(s string) (string, bool) {
	i := strings.Index(s, " (")
	if i <= 0 {
		return "", false
	}
	n, after, isNum := leadingInt(s[i+2:])
	if !isNum || n < 0 || !strings.HasPrefix(after, " test") {
		return "", false
	}
	file := strings.TrimSpace(s[:i])
	if j := strings.LastIndexByte(file, ' '); j >= 0 {
		file = file[j+1:]
	}
	return file, isScript(file)
}

// trimVitestSuffix removes "12ms", "(retry x2)" and "(repeat x3)".
func trimVitestSuffix(s string) (name string, retries int) {
	for {
		i := strings.LastIndexByte(s, ' ')
		if i <= 0 {
			return s, retries
		}
		last := s[i+1:]
		if _, unit, ok := leadingInt(strings.ReplaceAll(last, ".", "")); ok && (unit == "ms" || unit == "s") {
			s = strings.TrimRight(s[:i], " ")
			continue
		}
		if strings.HasPrefix(last, "x") && strings.HasSuffix(last, ")") {
			if j := strings.LastIndex(s, " (re"); j > 0 && i-j < 10 {
				n, _, _ := leadingInt(last[1:])
				if strings.HasPrefix(s[j:], " (retry ") {
					retries = n
				}
				s = strings.TrimRight(s[:j], " ")
				continue
			}
		}
		return s, retries
	}
}

func (r *vitestRun) mark(no int, name string) {
	if len(r.marked) >= 20*r.lim.Failing {
		return
	}
	path := name
	if file, _, _ := strings.Cut(name, " > "); r.file != "" && !isScript(file) {
		path = r.file + " > " + name
	}
	t := &vitestTest{path: path, at: no}
	t.file, t.suite, t.name = vitestPath(path)
	r.marked = append(r.marked, t)
}

func (r *vitestRun) flakyTest(no int, name string, retries int) {
	t := Test{Status: Passed, Flaky: true, Retries: retries, File: r.file, At: no}
	if file, rest, ok := strings.Cut(name, " > "); ok && isScript(file) {
		t.File, name = file, rest
	}
	t.Suite, t.Name = cutPath(name, " > ")
	r.flaky++
	r.out.Test(t)
}
