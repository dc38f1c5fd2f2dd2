package js

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// vitestRun reads one or more runs of Vitest, one after the other.
type vitestRun struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open    bool
	at      int
	section vitestSection
	file    string // of the progress
	heads   []vitestHead
	block   *bounded.Block
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
	suiteOnly               bool     // a file or a hook, not a test
	repeats                 []string // texts below further heads of the same name
}

func startsVitest(t string) bool {
	if len(t) < 8 || t[0] != ' ' {
		return false
	}
	s := strings.TrimLeft(t, " ")
	for _, p := range [...]string{"RUN  v", "DEV  v"} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			_, rest, isNum := parse.LeadingInt(rest)
			return isNum && strings.HasPrefix(rest, ".") && strings.Contains(rest, " ")
		}
	}
	return false
}

func newVitestRun(out model.Sink, lim model.Limits, anon *model.Anonymous) *vitestRun {
	r := &vitestRun{out: out, lim: lim, anon: anon}
	r.reset()
	return r
}

func (r *vitestRun) reset() {
	*r = vitestRun{out: r.out, lim: r.lim, anon: r.anon, byName: map[string]*vitestTest{}}
}

func (r *vitestRun) End() {
	if r.open {
		r.finish()
	}
}

func (r *vitestRun) Line(l lines.Line) bool {
	if l.Mark == "error" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if startsVitest(l.Text) {
		r.End()
		r.open, r.at = true, l.No
		return true
	}
	if !r.open {
		return false
	}
	if t == "" {
		if r.block != nil {
			r.block.Add("")
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
		r.block, r.blockAt = &bounded.Block{Max: r.lim.Text}, no
	case title == "" || strings.HasPrefix(title, "["):
	case r.section == vitestUnhandled:
		r.kind = title // what kind of unhandled error
		r.block, r.blockAt = &bounded.Block{Max: r.lim.Text}, no
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
		r.block, r.blockAt = &bounded.Block{Max: r.lim.Text}, no
	}
	r.block.Add(t)
	return true
}

// closeBlock gives the open block to the tests it is of.
func (r *vitestRun) closeBlock() {
	text := ""
	if r.block != nil {
		text = parse.Unindent(r.block.String())
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
	kind := model.KindError
	if strings.Contains(r.kind, "Source") || strings.Contains(r.kind, "Type") {
		kind = model.KindBuild
	}
	p := model.Problem{Kind: kind, Name: r.kind, Message: vitestHeadOf(text), Trace: text, At: r.blockAt}
	if strings.Contains(p.Message, "Timeout calling") || strings.Contains(p.Message, "timed out") {
		p.Kind = model.KindTimeout
	}
	p.File, p.Line, p.Column = jestPlace(text)
	r.problem(p)
}

func (r *vitestRun) problem(p model.Problem) {
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
		if len(t.repeats) < 100 { // an attempt that a retry followed, or a test of the same name
			t.repeats = append(t.repeats, text)
		}
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
	if i := strings.LastIndexByte(file, ' '); i > 0 && parse.IsScript(file) {
		file = file[i+1:] // a coloured project name
	}
	if !ok {
		return file, "", file
	}
	if isLocated, _, _, ok := parse.Location(file); ok {
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
	r.problem(model.Problem{Kind: model.KindEmpty, Name: "vitest", Message: t, At: no})
	r.reset()
	return true
}

// vitestFile reads "src/a.test.ts (4 tests | 2 failed) 8ms".
func vitestFile(s string) (string, bool) {
	i := strings.Index(s, " (")
	if i <= 0 {
		return "", false
	}
	n, after, isNum := parse.LeadingInt(s[i+2:])
	if !isNum || n < 0 || !strings.HasPrefix(after, " test") {
		return "", false
	}
	file := strings.TrimSpace(s[:i])
	if j := strings.LastIndexByte(file, ' '); j >= 0 {
		file = file[j+1:]
	}
	return file, parse.IsScript(file)
}

// trimVitestSuffix removes "12ms", "(retry x2)" and "(repeat x3)".
func trimVitestSuffix(s string) (name string, retries int) {
	for {
		i := strings.LastIndexByte(s, ' ')
		if i <= 0 {
			return s, retries
		}
		last := s[i+1:]
		if _, unit, ok := parse.LeadingInt(strings.ReplaceAll(last, ".", "")); ok && (unit == "ms" || unit == "s") {
			s = strings.TrimRight(s[:i], " ")
			continue
		}
		if strings.HasPrefix(last, "x") && strings.HasSuffix(last, ")") {
			if j := strings.LastIndex(s, " (re"); j > 0 && i-j < 10 {
				n, _, _ := parse.LeadingInt(last[1:])
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
	if file, _, _ := strings.Cut(name, " > "); r.file != "" && !parse.IsScript(file) {
		path = r.file + " > " + name
	}
	t := &vitestTest{path: path, at: no}
	t.file, t.suite, t.name = vitestPath(path)
	r.marked = append(r.marked, t)
}

func (r *vitestRun) flakyTest(no int, name string, retries int) {
	t := model.Test{Status: model.Passed, Flaky: true, Retries: retries, File: r.file, At: no}
	if file, rest, ok := strings.Cut(name, " > "); ok && parse.IsScript(file) {
		t.File, name = file, rest
	}
	t.Suite, t.Name = cutPath(name, " > ")
	r.flaky++
	r.out.Test(t)
}

// vitestTotals are the numbers of "Tests  1 failed | 3 passed (4)".
type vitestTotals struct{ failed, passed, skipped, todo, total, sum int }

// totals takes the lines of the summary.
func (r *vitestRun) totals(no int, t string) bool {
	s := strings.TrimLeft(t, " ")
	if len(s) == len(t) {
		if strings.HasPrefix(t, "ERROR: Coverage for ") && strings.Contains(t, " does not meet ") {
			r.problem(model.Problem{Kind: model.KindCoverage, Name: "coverage", Message: t, At: no})
			return true
		}
		return false
	}
	switch {
	case strings.HasPrefix(s, "Test Files  "):
		r.closeBlock()
		r.section = vitestProgress
		r.files = parseVitestTotals(s[len("Test Files  "):])
	case strings.HasPrefix(s, "Tests  ") && r.files != nil:
		r.sum = parseVitestTotals(s[len("Tests  "):])
	case strings.HasPrefix(s, "Type Errors  ") && r.files != nil:
	case strings.HasPrefix(s, "Errors  ") && r.files != nil:
		r.errors, _, _ = parse.LeadingInt(s[len("Errors  "):])
	case strings.HasPrefix(s, "Duration  ") && r.files != nil:
		r.finishTests(no)
	default:
		return false
	}
	return true
}

func parseVitestTotals(s string) *vitestTotals {
	t := &vitestTotals{}
	if i := strings.LastIndexByte(s, '('); i > 0 && strings.HasSuffix(s, ")") {
		t.total, _, _ = parse.LeadingInt(s[i+1:])
		s = s[:i]
	}
	for _, part := range strings.Split(s[:min(len(s), 300)], "|") {
		n, word, ok := parse.LeadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		t.sum += n // also "1 expected fail"
		switch strings.TrimSpace(word) {
		case "failed":
			t.failed = n
		case "passed", "expected fail":
			t.passed += n
		case "skipped":
			t.skipped = n
		case "todo":
			t.todo = n
		}
	}
	return t
}

// finishTests emits what the summary completes. The run stays open: a
// threshold of the coverage is checked after it.
func (r *vitestRun) finishTests(no int) {
	if r.sum == nil {
		return
	}
	r.emit()
	model.Session(r.out, r.at, no)
	open, at := r.open, r.at
	r.reset()
	r.open, r.at, r.sum = open, at, &vitestTotals{total: -1}
}

func (r *vitestRun) finish() {
	r.closeBlock()
	if r.sum != nil && r.sum.total < 0 { // already emitted
		r.reset()
		return
	}
	r.emit()
	r.reset()
}

func (r *vitestRun) emit() {
	if r.needsMarks() {
		r.addMarks()
	}
	failed := 0
	missing := r.missing()
	for _, t := range r.tests {
		if t.suiteOnly {
			r.suite(t)
			continue
		}
		// The totals tell tests of the same name from attempts of one test.
		twins := min(len(t.repeats), missing)
		missing -= twins
		failed += 1 + twins
		out := vitestFailed(t)
		out.Retries = len(t.repeats) - twins
		r.out.Test(out)
		for _, text := range t.repeats[:twins] {
			twin := *t
			twin.text = text
			r.out.Test(vitestFailed(&twin))
		}
	}
	if r.sum == nil {
		if r.problems == 0 || r.files == nil {
			r.problem(model.Problem{Kind: model.KindTruncated, Name: "vitest", At: r.at, Message: "the run of vitest never printed its totals"})
		}
		return
	}
	r.reconcile(failed)
}

// needsMarks reports whether the progress knows failures that no block shows.
func (r *vitestRun) needsMarks() bool {
	n := 0
	for _, t := range r.tests {
		if !t.suiteOnly {
			n += len(t.repeats)
		}
	}
	return r.sum == nil || r.missing() > n
}

// missing returns how many failed tests the totals count beyond those named.
func (r *vitestRun) missing() int {
	if r.sum == nil {
		return 0
	}
	n := r.sum.failed
	for _, t := range r.tests {
		if !t.suiteOnly {
			n--
		}
	}
	return max(n, 0)
}

func (r *vitestRun) addMarks() {
	// Of a test in a group the progress may show the last name only.
	known := map[string]bool{}
	for _, t := range r.tests {
		known[t.file+" > "+t.name] = true
	}
	for _, t := range r.marked {
		if !known[t.file+" > "+t.name] {
			r.tests = append(r.tests, t)
		}
	}
}

func (r *vitestRun) suite(t *vitestTest) {
	msg := vitestHeadOf(t.text)
	p := model.Problem{Kind: suiteKind(msg), Name: t.path, File: t.file, Message: msg, Trace: t.text, At: t.at}
	if strings.Contains(msg, "No test suite found in file") {
		p.Kind = model.KindEmpty
	}
	if file, line, col := jestPlace(t.text); line > 0 {
		p.File, p.Line, p.Column = parse.FirstOf(file, t.file), line, col
		if p.File == "/"+t.file {
			p.File = t.file // Vite names it from the root of the project
		}
	}
	r.problem(p)
}

// reconcile makes the events agree with the totals.
func (r *vitestRun) reconcile(failed int) {
	r.anon.Emit(r.out, r.sum.passed-r.flaky, model.Test{Status: model.Passed})
	r.anon.Emit(r.out, r.sum.skipped, model.Test{Status: model.Skipped})
	r.anon.Emit(r.out, r.sum.todo, model.Test{Status: model.Pending})
	if n := r.sum.failed - failed; n > 0 {
		r.problem(model.Problem{Kind: model.KindExit, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, r.sum.failed)})
	}
	switch {
	case r.problems > 0 || failed > 0:
	case r.errors > 0:
		r.problem(model.Problem{Kind: model.KindError, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d unhandled errors", r.errors)})
	case r.files.failed > 0:
		r.problem(model.Problem{Kind: model.KindPackage, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d test files failed", r.files.failed)})
	case r.sum.total > r.sum.sum: // cancelled, or a worker died
		failtext.RanFewer(r.out, "vitest", r.at, r.sum.sum, r.sum.total)
	case r.files.total > r.files.sum:
		r.problem(model.Problem{Kind: model.KindTruncated, Name: "vitest", At: r.at, Message: fmt.Sprintf("%d of %s ran", r.files.sum, parse.Plural(r.files.total, "test file"))})
	case r.sum.passed+r.sum.failed+r.sum.skipped+r.sum.todo == 0:
		r.problem(model.Problem{Kind: model.KindEmpty, Name: "vitest", At: r.at, Message: "no tests ran"})
	}
}

// vitestFailed makes a Test of a failure.
func vitestFailed(t *vitestTest) model.Test {
	out := model.Test{Status: model.Failed, Suite: t.suite, Name: t.name, File: t.file, At: t.at, Trace: t.text}
	if t.text == "" {
		return out
	}
	out.Message = vitestHeadOf(t.text)
	out.Kind, out.Type = jestKind(out.Message)
	if strings.Contains(out.Message, "Test timed out in ") || strings.Contains(out.Message, "Hook timed out in ") {
		out.Kind = model.KindTimeout
	}
	if file, line, col := jestPlace(t.text); line > 0 {
		out.File, out.Line, out.Column = parse.FirstOf(file, t.file), line, col
	}
	out.Expected, out.Actual = jestSides(out.Message)
	return out
}

// vitestHeadOf returns what stands before the stack.
func vitestHeadOf(text string) string {
	if i := strings.Index("\n"+text, "\n❯ "); i >= 0 {
		text = text[:max(i-1, 0)]
	}
	if i := strings.Index("\n"+text, "\n ❯ "); i >= 0 {
		text = text[:max(i-1, 0)]
	}
	return strings.TrimSpace(text)
}
