package report

import (
	"fmt"
	"strings"
)

const (
	jestRetries = " LOGGING RETRY ERRORS "
	jestExit    = "  ●  process.exit called with "
)

// jestRun reads one or more runs of Jest, one after the other.
type jestRun struct {
	out  Sink
	lim  Limits
	anon *anonymous

	open     bool
	at       int
	file     string
	failing  bool // the file's header said FAIL
	summary  bool // in "Summary of all failing tests"
	tree     []jestTitle
	inTree   bool
	block    *jestBlock
	tests    []*jestTest
	byKey    map[string]*jestTest
	repeats  []*jestTest // blocks of a test that has one already
	retried  map[string]int
	retrying []jestRetry // logged before the header of their file
	named    struct{ passed, skipped, todo int }
	problems int
	failed   struct{ suites, tests int } // by the totals
}

type jestTitle struct {
	indent int
	title  string
}

// jestRetry is a test whose failed attempts were logged.
type jestRetry struct {
	title string
	n     int
}

type jestTest struct {
	key, file, suite, name string
	at                     int
	blocks                 []*jestBlock
}

// jestBlock is what stands behind one "●".
type jestBlock struct {
	title string
	file  string
	at    int
	text  kept
	flush bool // its lines are not indented
}

func newJestRun(out Sink, lim Limits, anon *anonymous) *jestRun {
	r := &jestRun{out: out, lim: lim, anon: anon}
	r.reset()
	return r
}

func (r *jestRun) reset() {
	*r = jestRun{out: r.out, lim: r.lim, anon: r.anon, byKey: map[string]*jestTest{}, retried: map[string]int{}}
}

func (r *jestRun) end() {
	if r.open {
		r.finish(nil)
	}
}

func (r *jestRun) begin(no int) {
	if !r.open {
		r.open, r.at = true, no
	}
}

func (r *jestRun) line(l Line) bool {
	if l.Mark == "error" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if len(t) == 0 {
		if r.block != nil {
			r.block.text.add("")
		}
		return false
	}
	if claimed, done := r.unindented(l.No, t); done {
		return claimed
	}
	if !r.open {
		return false
	}
	if title, ok := strings.CutPrefix(t, "  ● "); ok {
		r.startBlock(l.No, title)
		return true
	}
	if r.block != nil {
		if t[0] == ' ' || r.block.flush {
			r.block.text.add(t)
			return true
		}
		return false
	}
	return r.inTree && r.treeLine(l.No, t)
}

// unindented takes the lines that structure a run. done says that the line
// has been dealt with.
func (r *jestRun) unindented(no int, t string) (claimed, done bool) {
	switch {
	case strings.HasPrefix(t, jestRetries):
		r.closeBlock()
		r.begin(no)
		if len(r.retrying) < r.lim.Failing {
			r.retrying = append(r.retrying, jestRetry{title: strings.TrimSpace(t[len(jestRetries):])})
		}
		return true, true
	case strings.HasPrefix(t, " RETRY ") && len(r.retrying) > 0:
		r.retrying[len(r.retrying)-1].n++
		return true, true
	case strings.HasPrefix(t, " › ") && r.open: // " › 1 snapshot failed."
		r.closeBlock()
		return true, true
	case strings.HasPrefix(t, jestExit):
		r.begin(no)
		return false, false
	case t[0] == ' ' && len(t) > 1 && t[1] != 'P' && t[1] != 'F':
		return false, false
	case strings.HasPrefix(t, "● "):
		return r.configBlock(no, t), true
	}
	if status, file, ok := jestFile(t); ok {
		r.closeBlock()
		r.begin(no)
		r.file, r.failing, r.inTree, r.tree = file, status == "FAIL", true, r.tree[:0]
		for _, t := range r.retrying {
			r.retried[file+"\x00"+t.title] += max(t.n, 1)
		}
		r.retrying = nil
		return true, true
	}
	switch {
	case isJestSuites(t):
		r.closeBlock()
		r.begin(no)
		r.failed.suites = parseJestTotals(t[len("Test Suites: "):]).failed
		r.inTree = false
		return true, true
	case r.open && strings.HasPrefix(t, "Tests: ") && strings.HasSuffix(t, " total"):
		r.closeBlock()
		sum := parseJestTotals(t[len("Tests: "):])
		r.finish(&sum)
		return true, true
	case t == "Summary of all failing tests" && r.open:
		r.closeBlock()
		r.summary, r.inTree = true, false
		return true, true
	case t == "Snapshot Summary" && r.open, strings.HasPrefix(t, "-----") && strings.Contains(t, "-|-"):
		r.closeBlock()
		return r.open, true
	case strings.HasPrefix(t, "Jest: "):
		return r.coverage(no, t), true
	case strings.HasPrefix(t, "No tests found, exiting with code 1"):
		r.problem(Problem{Kind: KindEmpty, Name: "jest", Message: t, At: no})
		r.reset()
		return true, true
	}
	if r.inTree && t[0] != ' ' {
		r.inTree = false
	}
	return false, false
}

func (r *jestRun) coverage(no int, t string) bool {
	if !strings.Contains(t, " coverage threshold for ") && !strings.HasPrefix(t, "Jest: Coverage data for ") {
		return false
	}
	r.closeBlock()
	r.problem(Problem{Kind: KindCoverage, Name: "coverage", Message: t, At: no})
	return true
}

// configBlock takes a "●" that is not of a test: it stands unindented.
func (r *jestRun) configBlock(no int, t string) bool {
	if r.open && r.failing && !strings.HasPrefix(t, "● Validation ") {
		r.startBlock(no, t[len("● "):]) // quoted without its indentation
		r.block.flush = true
		return true
	}
	if !strings.HasPrefix(t, "● Validation Error:") {
		return false
	}
	r.closeBlock()
	r.begin(no)
	r.block = &jestBlock{title: "Validation Error", at: no, text: kept{max: r.lim.Text}}
	return true
}

func (r *jestRun) problem(p Problem) {
	r.problems++
	r.out.Problem(p)
}

// startBlock opens what stands behind "  ● title". Blocks of files that
// passed, and those of no test, are read and dropped.
func (r *jestRun) startBlock(no int, title string) {
	r.closeBlock()
	r.inTree = false
	r.block = &jestBlock{title: strings.TrimLeft(title, " "), file: r.file, at: no, text: kept{max: r.lim.Text}}
}

func (r *jestRun) closeBlock() {
	b := r.block
	r.block = nil
	switch {
	case b == nil || b.title == "Console":
	case strings.HasPrefix(b.title, "Cannot log after tests are done"),
		strings.HasPrefix(b.title, "Deprecation Warning"):
	case b.title == "Validation Error":
		r.problem(Problem{Kind: KindSetup, Name: "jest", Message: strings.TrimSpace(b.text.String()), At: b.at})
	case strings.HasPrefix(b.title, "process.exit called with"):
		r.problem(r.place(Problem{Kind: KindExit, Name: b.file, Message: b.title, Trace: b.text.String(), At: b.at}, b))
	case b.title == "Test suite failed to run":
		r.suiteFailed(b)
	case r.failing:
		r.testFailed(b)
	}
}

// suiteFailed reports a file none of whose tests could run.
func (r *jestRun) suiteFailed(b *jestBlock) {
	if r.byKey[b.file] != nil {
		return // again, in the summary
	}
	r.byKey[b.file] = &jestTest{}
	msg := unindent(b.text.String())
	p := Problem{Kind: suiteKind(msg), Name: b.file, File: b.file, Message: jestHead(msg), Trace: msg, At: b.at}
	r.problem(r.place(p, b))
}

// suiteKind tells by its message why a file of tests could not run.
func suiteKind(msg string) Kind {
	head := msg[:min(len(msg), 2<<10)]
	switch {
	case strings.Contains(head, "worker process") && strings.Contains(head, "was terminated"),
		strings.Contains(head, "jest-worker: Call retries were exceeded"),
		strings.Contains(head, "A jest worker process"):
		return KindCrash
	case strings.Contains(head, "must contain at least one test"):
		return KindEmpty
	case strings.Contains(head, "SyntaxError"), strings.Contains(head, "error TS"),
		strings.Contains(head, "encountered an unexpected token"), strings.Contains(head, "Transform failed"),
		strings.Contains(head, "Failed to parse source"), strings.Contains(head, "Cannot use import statement outside a module"):
		return KindBuild
	}
	return KindSetup
}

func (r *jestRun) place(p Problem, b *jestBlock) Problem {
	if file, line, col := jestPlace(b.text.String()); line > 0 {
		p.File, p.Line, p.Column = firstNonEmpty(file, b.file), line, col
	}
	return p
}

func (r *jestRun) testFailed(b *jestBlock) {
	key := b.file + "\x00" + b.title
	if t := r.byKey[key]; t != nil {
		if !r.summary {
			if len(t.blocks) < 3 {
				t.blocks = append(t.blocks, b)
			}
			if len(r.repeats) < r.lim.Failing {
				r.repeats = append(r.repeats, &jestTest{file: t.file, suite: t.suite, name: t.name, blocks: []*jestBlock{b}})
			}
		} else if len(t.blocks) == 0 {
			t.blocks = append(t.blocks, b)
		}
		return
	}
	t := &jestTest{file: b.file, at: b.at, blocks: []*jestBlock{b}}
	t.suite, t.name = cutPath(b.title, " › ")
	r.add(key, t)
}

func (r *jestRun) add(key string, t *jestTest) {
	if len(r.tests) >= 20*r.lim.Failing {
		return
	}
	t.key = key
	r.byKey[key] = t
	r.tests = append(r.tests, t)
}

// cutPath cuts "describe › nested › name" at its last separator and joins the
// rest the way the model does.
func cutPath(title, sep string) (suite, name string) {
	i := strings.LastIndex(title, sep)
	if i < 0 {
		return "", title
	}
	return strings.ReplaceAll(title[:i], sep, " > "), title[i+len(sep):]
}

// treeLine takes a line of the tree that the verbose reporter prints.
func (r *jestRun) treeLine(no int, t string) bool {
	text := strings.TrimLeft(t, " ")
	indent := len(t) - len(text)
	if indent < 2 {
		return false
	}
	for len(r.tree) > 0 && r.tree[len(r.tree)-1].indent >= indent {
		r.tree = r.tree[:len(r.tree)-1]
	}
	mark, rest, _ := strings.Cut(text, " ")
	st, ok := jestMarks[mark]
	if !ok || rest == "" {
		if len(r.tree) < 50 {
			r.tree = append(r.tree, jestTitle{indent, CutText(text, 1<<10)})
		}
		return true
	}
	name := rest
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, "s)") {
		if _, _, isNum := leadingInt(name[i+2:]); isNum {
			name = name[:i]
		}
	}
	titles := make([]string, len(r.tree))
	for i, n := range r.tree {
		titles[i] = n.title
	}
	r.treeTest(no, st, strings.Join(titles, " › "), name)
	return true
}

var jestMarks = map[string]Status{
	"✓": Passed, "√": Passed, "✕": Failed, "×": Failed, "○": Skipped, "✎": Pending,
}

func (r *jestRun) treeTest(no int, st Status, path, name string) {
	title := name
	if path != "" {
		title = path + " › " + name
	}
	t := Test{Status: st, Suite: strings.ReplaceAll(path, " › ", " > "), Name: name, File: r.file, At: no}
	switch st {
	case Passed:
		r.named.passed++
		if n := r.retried[r.file+"\x00"+title]; n > 0 {
			t.Flaky, t.Retries = true, n
			delete(r.retried, r.file+"\x00"+title)
		}
	case Skipped:
		t.Name = strings.TrimPrefix(t.Name, "skipped ")
		r.named.skipped++
	case Pending:
		t.Name = strings.TrimPrefix(t.Name, "todo ")
		r.named.todo++
	default:
		if key := r.file + "\x00" + title; r.byKey[key] == nil {
			r.add(key, &jestTest{file: r.file, suite: t.Suite, name: name, at: no})
		}
		return
	}
	r.out.Test(t)
}

// jestTotals are the numbers of a line of totals.
type jestTotals struct{ failed, passed, skipped, todo, total int }

// parseJestTotals reads "1 failed, 2 skipped, 3 todo, 4 passed, 10 total".
func parseJestTotals(s string) jestTotals {
	var t jestTotals
	for _, part := range strings.Split(s[:min(len(s), 300)], ",") {
		n, word, ok := leadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		switch strings.TrimSpace(word) {
		case "failed":
			t.failed = n
		case "passed":
			t.passed = n
		case "skipped", "pending":
			t.skipped += n
		case "todo":
			t.todo = n
		case "total":
			t.total = n
		}
	}
	return t
}

// finish emits the run. sum is nil if the run never printed its totals.
func (r *jestRun) finish(sum *jestTotals) {
	r.closeBlock()
	if sum != nil {
		// Two tests of one file may have the same title: then the totals count
		// more than there are titles, and a repeated block is a test of its own.
		missing := sum.failed - len(r.tests)
		if missing > 0 && missing <= len(r.repeats) {
			r.tests = append(r.tests, r.repeats[:missing]...)
		}
	}
	for _, t := range r.tests {
		r.out.Test(r.failedTest(t))
	}
	for key, n := range r.retried {
		file, title, _ := strings.Cut(key, "\x00")
		if r.byKey[key] == nil && sum != nil {
			t := Test{Status: Passed, Flaky: true, Retries: n, File: file}
			t.Suite, t.Name = cutPath(title, " › ")
			r.named.passed++
			r.out.Test(t)
		}
	}
	if sum == nil && r.file == "" && r.problems > 0 {
		r.reset() // a configuration that is not valid: nothing was to run
		return
	}
	if sum == nil {
		r.problem(Problem{Kind: KindTruncated, Name: "jest", At: r.at, Message: "the run of jest never printed its totals"})
	} else {
		r.reconcile(sum)
	}
	r.reset()
}

// reconcile makes the events agree with the totals.
func (r *jestRun) reconcile(sum *jestTotals) {
	r.anon.emit(r.out, sum.passed-r.named.passed, Test{Status: Passed})
	r.anon.emit(r.out, sum.skipped-r.named.skipped, Test{Status: Skipped})
	r.anon.emit(r.out, sum.todo-r.named.todo, Test{Status: Pending})
	if n := sum.failed - len(r.tests); n > 0 {
		r.problem(Problem{Kind: KindExit, Name: "jest", At: r.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, sum.failed)})
	}
	if r.failed.suites > 0 && len(r.tests) == 0 && r.problems == 0 {
		r.problem(Problem{Kind: KindPackage, Name: "jest", At: r.at, Message: fmt.Sprintf("%d test suites failed", r.failed.suites)})
	}
	if sum.total == 0 && r.problems == 0 {
		r.problem(Problem{Kind: KindEmpty, Name: "jest", At: r.at, Message: "no tests ran"})
	}
}

// failedTest makes a Test of what the blocks of one failed test say.
func (r *jestRun) failedTest(t *jestTest) Test {
	out := Test{Status: Failed, Suite: t.suite, Name: t.name, File: t.file, At: t.at}
	out.Retries = r.retried[t.key]
	if len(t.blocks) == 0 {
		return out
	}
	var traces []string
	for _, b := range t.blocks {
		traces = append(traces, unindent(b.text.String()))
	}
	out.At = t.blocks[0].at
	text := traces[0]
	out.Trace = strings.Join(traces, "\n\n")
	out.Message = jestHead(text)
	out.Kind, out.Type = jestKind(out.Message)
	for _, tr := range traces {
		if file, line, col := jestPlace(tr); line > 0 {
			out.File, out.Line, out.Column = firstNonEmpty(file, t.file), line, col
			break
		}
	}
	out.Expected, out.Actual = jestSides(out.Message)
	return out
}

// jestSides returns what a matcher of Jest or Vitest says was expected and
// received: "Expected substring: "a"" too, and the diff of a snapshot.
func jestSides(msg string) (expected, actual string) {
	var hasE, hasA bool
	for _, l := range strings.Split(msg[:min(len(msg), 8<<10)], "\n") {
		label, value, ok := strings.Cut(strings.TrimLeft(l, " "), ": ")
		switch {
		case !ok || len(label) > 40:
		case !hasE && strings.HasPrefix(label, "Expected"):
			expected, hasE = strings.TrimSpace(value), true
		case !hasA && strings.HasPrefix(label, "Received"):
			actual, hasA = strings.TrimSpace(value), true
		}
	}
	if hasE && hasA {
		return expected, actual
	}
	if strings.Contains(msg, " to be called ") || strings.Contains(msg, "toHaveBeenCalled") {
		return "", "" // a list of calls is no value
	}
	expected, actual, _ = splitAssertion(strings.Replace(msg, "\n- Snapshot ", "\n- Expected ", 1))
	return expected, actual
}

func jestKind(msg string) (Kind, string) {
	typ := jsError(msg)
	switch {
	case strings.Contains(msg, "Exceeded timeout of "), strings.Contains(msg, "Async callback was not invoked within"),
		strings.HasPrefix(msg, "Timeout - "):
		return KindTimeout, typ
	case strings.HasPrefix(msg, "expect("), typ == "AssertionError", typ == "JestAssertionError",
		strings.Contains(msg, "\nExpected") && strings.Contains(msg, "\nReceived"), strings.HasPrefix(msg, "assert"),
		strings.Contains(headLine(msg), "expect("):
		return KindAssertion, typ
	}
	return KindError, typ
}

// jestHead returns the message of a block: what stands before the code frame
// and the stack.
func jestHead(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		s := strings.TrimLeft(l, " ")
		if _, _, _, frame := jsFrame(s); i > 0 && frame || isCodeFrame(s) {
			lines = lines[:i]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// isCodeFrame recognises "> 12 | code" and "12 | code".
func isCodeFrame(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, ">"), " ")
	_, rest, ok := leadingInt(s)
	return ok && strings.HasPrefix(rest, " |")
}

// jestPlace returns where a block says it failed: the first frame in the
// project, else the line that the code frame points at (without a file), else
// TypeScript's "a.ts:3:5 - error".
func jestPlace(text string) (file string, line, col int) {
	marked := 0
	for _, l := range strings.Split(text, "\n") {
		s := strings.TrimLeft(l, " ")
		switch {
		case strings.HasPrefix(s, "at ") || strings.HasPrefix(s, "❯ "):
			if f, n, c, ok := jsFrame(s); ok && !foreign(f) {
				return f, n, c
			}
		case marked == 0 && strings.HasPrefix(s, "> ") && isCodeFrame(s):
			marked, _, _ = leadingInt(strings.TrimLeft(s[2:], " "))
		case strings.HasPrefix(s, "File: "):
			if f, n, c, ok := location(s[len("File: "):]); ok && c > 0 {
				return f, n, c
			}
		case strings.Contains(s, " - error TS"):
			loc, _, _ := strings.Cut(s, " - error TS")
			if f, n, c, ok := location(loc); ok {
				return f, n, c
			}
		}
	}
	return "", marked, 0
}

// unindent removes the indentation that all lines of a block share.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	least := 1 << 20
	for _, l := range lines {
		if s := strings.TrimLeft(l, " "); s != "" && !strings.HasPrefix(s, "[… ") {
			least = min(least, len(l)-len(s))
		}
	}
	for i, l := range lines {
		lines[i] = l[min(least, len(l)-len(strings.TrimLeft(l, " "))):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}
