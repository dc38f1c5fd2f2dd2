package js

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// jestFormat reads the default and the verbose reporter of Jest, also behind
// the prefixes of docker compose, Maven, lerna, nx and turbo.
var jestFormat = format.Format{
	Name:  "jest",
	Order: 380,
	Wakes: &format.Wake{Flush: "PFTJN\xe2", Indent: "PFL\xe2", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		return &jestGroups{in: &format.Prefixed{Starts: startsJest, Open: func() format.Console { return newJestRun(out, lim, anon) }}}
	},
}

// jestGroups gives a run the lines of groups in which Jest's reporter for GitHub puts what is of one
// file: "Errors thrown in src/a.test.js", "PASS src/a.test.js".
type jestGroups struct{ in *format.Prefixed }

func (g *jestGroups) Line(l lines.Line) bool {
	if l.Mark == "group" {
		text := l.Text
		if file, ok := strings.CutPrefix(text, jestThrown); ok && parse.IsScript(file) {
			text = "FAIL " + file
		}
		if _, _, ok := jestFile(text); ok {
			return g.in.Line(lines.Line{No: l.No, Text: text, Props: "group"})
		}
	}
	return g.in.Line(l)
}

func (g *jestGroups) Idle() bool { return g.in.Idle() }

func (g *jestGroups) End() { g.in.End() }

const jestThrown = "Errors thrown in "

// vitestFormat reads the default and the verbose reporter of Vitest.
var vitestFormat = format.Format{
	Name:  "vitest",
	Order: 390,
	Wakes: &format.Wake{Indent: "RD", Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		return &format.Prefixed{Starts: startsVitest, Open: func() format.Console { return newVitestRun(out, lim, anon) }}
	},
}

// startsJest recognises the lines that only Jest prints.
func startsJest(t string) bool {
	if len(t) < 8 {
		return false
	}
	switch t[0] {
	case 'P', 'F':
		_, _, ok := jestFile(t)
		return ok
	case ' ':
		switch t[1] {
		case 'P', 'F':
			_, _, ok := jestFile(t)
			return ok
		case 'L':
			return strings.HasPrefix(t, jestRetries)
		case ' ':
			return strings.HasPrefix(t, jestExit)
		}
		return false
	case 'T':
		return isJestSuites(t)
	case 'J':
		return isJestCoverage(t)
	case 'N':
		return strings.HasPrefix(t, "No tests found, exiting with code 1")
	}
	return strings.HasPrefix(t, "● Validation Error:")
}

// isJestSuites recognises "Test Suites: 1 failed, 1 total".
func isJestSuites(t string) bool {
	return strings.HasPrefix(t, "Test Suites: ") && strings.HasSuffix(strings.TrimRight(t, " "), " total")
}

// jestFile reads "PASS src/a.test.js (5.3 s)", " FAIL   project  src/a.test.js".
func jestFile(t string) (status, file string, ok bool) {
	t = strings.TrimPrefix(t, " ")
	if len(t) < 8 || t[0] != 'P' && t[0] != 'F' {
		return "", "", false
	}
	t = parse.TrimSpaces(t)
	if len(t) < 8 || len(t) > 1<<12 || t[4] != ' ' {
		return "", "", false
	}
	status, rest := t[:4], strings.TrimLeft(t[4:], " ")
	if status != "PASS" && status != "FAIL" {
		return "", "", false
	}
	if strings.HasSuffix(rest, ")") {
		if i := strings.LastIndex(rest, " ("); i > 0 {
			inside := rest[i+2 : len(rest)-1]
			if _, _, isNum := parse.LeadingInt(inside); !isNum {
				return "", "", false
			}
			rest = rest[:i]
			// "(5.3 s, 120 MB heap size)" or "(5.3 s) (120 MB heap size)"
			if strings.HasSuffix(rest, ")") {
				if i := strings.LastIndex(rest, " ("); i > 0 {
					rest = rest[:i]
				}
			}
		}
	}
	if i := strings.LastIndexByte(rest, ' '); i >= 0 { // a project's name
		if strings.ContainsAny(rest[:i], ">[]:") {
			return "", "", false
		}
		rest = rest[i+1:]
	}
	if !parse.IsScript(rest) {
		return "", "", false
	}
	return status, rest, true
}

const (
	jestRetries = " LOGGING RETRY ERRORS "
	jestExit    = "  ●  process.exit called with "
)

// jestRun reads one or more runs of Jest, one after the other.
type jestRun struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	open     bool
	at, last int // lines
	file     string
	failing  bool // the file's header said FAIL
	grouped  bool // a header is a group's
	summary  bool // in "Summary of all failing tests"
	tree     []jestTitle
	path     jestPath // of the tree
	joined   bool     // path is of the tree as it is now
	inTree   bool
	block    *jestBlock
	tests    []*jestTest
	byKey    map[string]*jestTest
	repeats  []*jestTest // blocks of a test that has one already
	retried  map[string]int
	retrying []jestRetry // logged before the header of their file
	now      model.Test  // the test in hand
	named    struct{ passed, skipped, todo int }
	problems int
	failed   struct{ suites, tests int } // by the totals
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
	text  bounded.Block
	flush bool // its lines are not indented
}

func newJestRun(out model.Sink, lim model.Limits, anon *model.Anonymous) *jestRun {
	r := &jestRun{out: out, lim: lim, anon: anon}
	r.reset()
	return r
}

func (r *jestRun) reset() {
	*r = jestRun{out: r.out, lim: r.lim, anon: r.anon, byKey: map[string]*jestTest{}, retried: map[string]int{}}
}

func (r *jestRun) End() {
	if r.open {
		r.finish(nil)
	}
}

func (r *jestRun) begin(no int) {
	if !r.open {
		r.open, r.at = true, no
	}
}

func (r *jestRun) Line(l lines.Line) bool {
	if l.Mark == "error" {
		return false
	}
	t := parse.TrimSpaces(l.Text)
	if len(t) == 0 {
		if r.block != nil {
			r.block.text.Add("")
		}
		return false
	}
	if len(t) < 2 || t[0] != ' ' || t[1] != ' ' || strings.HasPrefix(t, jestExit) {
		if claimed, done := r.unindented(l.No, t, l.Props == "group"); done {
			return claimed
		}
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
			r.block.text.Add(t)
			return true
		}
		return false
	}
	return r.inTree && r.treeLine(l.No, t)
}

// unindented takes the lines that structure a run. done says that the line
// has been dealt with.
func (r *jestRun) unindented(no int, t string, group bool) (claimed, done bool) {
	switch {
	case strings.HasPrefix(t, jestRetries):
		r.closeBlock()
		r.begin(no)
		if len(r.retrying) < r.lim.Failing {
			r.retrying = append(r.retrying, jestRetry{title: strings.Clone(strings.TrimSpace(t[len(jestRetries):]))})
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
		r.grouped = r.grouped || group
		r.file, r.failing, r.inTree, r.tree = strings.Clone(file), status == "FAIL", true, r.tree[:0]
		r.joined = false
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
		r.last = no
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
		r.problem(model.Problem{Kind: model.KindEmpty, Name: "jest", Message: t, At: no})
		r.reset()
		return true, true
	}
	if r.inTree && t[0] != ' ' {
		r.inTree = false
	}
	return false, false
}

// isJestCoverage recognises `Jest: "global" coverage threshold for lines (90%) not met: 66%`, and
// since version 30 `Jest: Coverage for lines (66%) does not meet "global" threshold (90%)`.
func isJestCoverage(t string) bool {
	return strings.HasPrefix(t, `Jest: "`) && strings.Contains(t, `" coverage threshold for `) ||
		strings.HasPrefix(t, "Jest: Coverage for ") && strings.Contains(t, " does not meet ")
}

func (r *jestRun) coverage(no int, t string) bool {
	if !isJestCoverage(t) && !strings.HasPrefix(t, "Jest: Coverage data for ") {
		return false
	}
	r.closeBlock()
	r.problem(model.Problem{Kind: model.KindCoverage, Name: "coverage", Message: t, At: no})
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
	r.block = &jestBlock{title: "Validation Error", at: no, text: bounded.Block{Max: r.lim.Text}}
	return true
}

func (r *jestRun) problem(p model.Problem) {
	r.problems++
	r.out.Problem(p)
}

// startBlock opens what stands behind "  ● title". Blocks of files that
// passed, and those of no test, are read and dropped.
func (r *jestRun) startBlock(no int, title string) {
	r.closeBlock()
	r.inTree = false
	r.block = &jestBlock{title: strings.Clone(strings.TrimLeft(title, " ")), file: r.file, at: no, text: bounded.Block{Max: r.lim.Text}}
}

func (r *jestRun) closeBlock() {
	b := r.block
	r.block = nil
	switch {
	case b == nil || b.title == "Console":
	case strings.HasPrefix(b.title, "Cannot log after tests are done"),
		strings.HasPrefix(b.title, "Deprecation Warning"):
	case b.title == "Validation Error":
		r.problem(model.Problem{Kind: model.KindSetup, Name: "jest", Message: strings.TrimSpace(b.text.String()), At: b.at})
	case strings.HasPrefix(b.title, "process.exit called with"):
		r.problem(r.place(model.Problem{Kind: model.KindExit, Name: b.file, Message: b.title, Trace: b.text.String(), At: b.at}, b))
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
	msg := parse.Unindent(b.text.String())
	p := model.Problem{Kind: suiteKind(msg), Name: b.file, File: b.file, Message: jestHead(msg), Trace: msg, At: b.at}
	r.problem(r.place(p, b))
}

func (r *jestRun) place(p model.Problem, b *jestBlock) model.Problem {
	if file, line, col := jestPlace(b.text.String()); line > 0 {
		p.File, p.Line, p.Column = parse.FirstOf(file, b.file), line, col
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
			if len(t.blocks) > 1 && len(r.repeats) < r.lim.Failing { // the first is that of a line of the tree
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

// jestTitle is a line of the tree that groups tests.
type jestTitle struct {
	indent int
	title  string
}

// treeLine takes a line of the tree that the verbose reporter prints.
func (r *jestRun) treeLine(no int, t string) bool {
	indent := 0
	for indent < len(t) && t[indent] == ' ' {
		indent++
	}
	text := t[indent:]
	if indent < 2 {
		return false
	}
	for len(r.tree) > 0 && r.tree[len(r.tree)-1].indent >= indent {
		r.tree = r.tree[:len(r.tree)-1]
		r.joined = false
	}
	st, rest := jestMark(text)
	if rest == "" {
		if len(r.tree) < 50 {
			r.tree = append(r.tree, jestTitle{indent, strings.Clone(bounded.CutText(text, 1<<10))})
			r.joined = false
		}
		return true
	}
	r.treeTest(no, st, trimJestTime(rest))
	return true
}

// trimJestTime removes " (12 ms)" at the end of a test's name.
func trimJestTime(name string) string {
	if strings.HasSuffix(name, "s)") {
		if i := parse.LastParen(name); i > 0 {
			if c := name[i+2]; c >= '0' && c <= '9' { // at least "s)" stands there
				return name[:i]
			}
		}
	}
	return name
}

// treePath joins the titles of the tree as Jest does and as a suite is named.
// Tests in a row mostly share them.
func (r *jestRun) treePath() (path, suite string) {
	p := &r.path
	if r.joined {
		return p.path, p.suite
	}
	r.joined = true
	if !slices.EqualFunc(p.of, r.tree, func(s string, t jestTitle) bool { return s == t.title }) {
		p.of = p.of[:0]
		for _, t := range r.tree {
			p.of = append(p.of, t.title)
		}
		p.path = strings.Join(p.of, " › ")
		p.suite = strings.ReplaceAll(p.path, " › ", " > ")
	}
	return p.path, p.suite
}

// jestMark cuts the mark off a line of the tree. rest is empty if the line is
// a title.
func jestMark(text string) (st model.Status, rest string) {
	if text == "" || text[0] != 0xe2 && text[0] != 0xc3 {
		return "", ""
	}
	n := 3
	if text[0] == 0xc3 {
		n = 2
	}
	if len(text) < n+2 || text[n] != ' ' {
		return "", ""
	}
	rest = text[n+1:]
	switch text[:n] {
	case "✓", "√":
		return model.Passed, rest
	case "✕", "×":
		return model.Failed, rest
	case "○":
		return model.Skipped, rest
	case "✎":
		return model.Pending, rest
	}
	return "", ""
}

func (r *jestRun) treeTest(no int, st model.Status, name string) {
	path, suite := r.treePath()
	key := func() string {
		if path == "" {
			return r.file + "\x00" + name
		}
		return r.file + "\x00" + path + " › " + name
	}
	t := &r.now // no other field of it is ever set
	t.Status, t.Suite, t.Name, t.File, t.At, t.Flaky, t.Retries = st, suite, name, r.file, no, false, 0
	switch st {
	case model.Passed:
		r.named.passed++
		if len(r.retried) == 0 {
			break
		}
		if k := key(); r.retried[k] > 0 {
			t.Flaky, t.Retries = true, r.retried[k]
			delete(r.retried, k)
		}
	case model.Skipped:
		t.Name = strings.TrimPrefix(t.Name, "skipped ")
		r.named.skipped++
	case model.Pending:
		t.Name = strings.TrimPrefix(t.Name, "todo ")
		r.named.todo++
	default:
		if k := key(); r.byKey[k] == nil {
			r.add(k, &jestTest{file: r.file, suite: t.Suite, name: strings.Clone(name), at: no})
		}
		return
	}
	model.Hand(r.out, t)
}

// jestPath is the joined titles of a tree.
type jestPath struct {
	of          []string
	path, suite string
}

// suiteKind tells by its message why a file of tests could not run.
func suiteKind(msg string) model.Kind {
	head := msg[:min(len(msg), 2<<10)]
	switch {
	case strings.Contains(head, "worker process") && strings.Contains(head, "was terminated"),
		strings.Contains(head, "jest-worker: Call retries were exceeded"),
		strings.Contains(head, "A jest worker process"):
		return model.KindCrash
	case strings.Contains(head, "must contain at least one test"):
		return model.KindEmpty
	case strings.Contains(head, "SyntaxError"), strings.Contains(head, "error TS"),
		strings.Contains(head, "encountered an unexpected token"), strings.Contains(head, "Transform failed"),
		strings.Contains(head, "Failed to parse source"), strings.Contains(head, "Parse failure"), strings.Contains(head, "PARSE_ERROR"), strings.Contains(head, "Cannot use import statement outside a module"):
		return model.KindBuild
	}
	return model.KindSetup
}

// jestTotals are the numbers of a line of totals.
type jestTotals struct{ failed, passed, skipped, todo, total, sum int }

// parseJestTotals reads "1 failed, 2 skipped, 3 todo, 4 passed, 10 total".
func parseJestTotals(s string) jestTotals {
	var t jestTotals
	for _, part := range strings.Split(s[:min(len(s), 300)], ",") {
		n, word, ok := parse.LeadingInt(strings.TrimSpace(part))
		if !ok {
			continue
		}
		if strings.TrimSpace(word) != "total" {
			t.sum += n
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
			twins := r.twins()
			for _, t := range r.repeats {
				if len(twins) < missing && !slices.Contains(twins, t) {
					twins = append(twins, t)
				}
			}
			r.tests = append(r.tests, twins[:missing]...)
		}
	}
	if sum != nil && sum.failed == 0 && sum.passed > 0 && r.failed.suites == 0 {
		r.tests = nil // a test printed them
	}
	if sum == nil && r.grouped {
		r.tests = append(r.tests, r.twins()...)
	}
	for _, t := range r.tests {
		r.out.Test(r.failedTest(t))
	}
	for _, key := range slices.Sorted(maps.Keys(r.retried)) {
		n := r.retried[key]
		file, title, _ := strings.Cut(key, "\x00")
		if r.byKey[key] == nil && sum != nil {
			t := model.Test{Status: model.Passed, Flaky: true, Retries: n, File: file}
			t.Suite, t.Name = cutPath(title, " › ")
			r.named.passed++
			r.out.Test(t)
		}
	}
	if sum == nil && r.file == "" && r.problems > 0 {
		r.reset() // a configuration that is not valid: nothing was to run
		return
	}
	if sum != nil {
		model.Session(r.out, r.at, r.last)
	}
	switch {
	case sum == nil && r.grouped && len(r.tests)+r.problems > 0: // the reporter for GitHub prints no totals
	case sum == nil:
		r.problem(model.Problem{Kind: model.KindTruncated, Name: "jest", At: r.at, Message: "the run of jest never printed its totals"})
	default:
		r.reconcile(sum)
	}
	r.reset()
}

// twins returns the repeated blocks that fail in another place than the first of their title: where
// there are no totals, only that tells tests of one title from a block that is printed again.
func (r *jestRun) twins() (twins []*jestTest) {
	for _, t := range r.repeats {
		place := func(b *jestBlock) string {
			file, line, col := jestPlace(b.text.String())
			return fmt.Sprint(file, ":", line, ":", col)
		}
		key := t.blocks[0].file + "\x00" + t.blocks[0].title
		if first := r.byKey[key]; first != nil && len(first.blocks) > 0 && place(first.blocks[0]) != place(t.blocks[0]) {
			first.blocks = first.blocks[:1]
			twins = append(twins, t)
		}
	}
	return twins
}

// reconcile makes the events agree with the totals.
func (r *jestRun) reconcile(sum *jestTotals) {
	r.anon.Emit(r.out, sum.passed-r.named.passed, model.Test{Status: model.Passed})
	r.anon.Emit(r.out, sum.skipped-r.named.skipped, model.Test{Status: model.Skipped})
	r.anon.Emit(r.out, sum.todo-r.named.todo, model.Test{Status: model.Pending})
	if n := sum.failed - len(r.tests); n > 0 {
		r.problem(model.Problem{Kind: model.KindExit, Name: "jest", At: r.at, Message: fmt.Sprintf("%d of %d failed tests are not named in the output", n, sum.failed)})
	}
	if r.failed.suites > 0 && len(r.tests) == 0 && r.problems == 0 {
		r.problem(model.Problem{Kind: model.KindPackage, Name: "jest", At: r.at, Message: fmt.Sprintf("%d test suites failed", r.failed.suites)})
	}
	if r.problems == 0 && len(r.tests) == 0 {
		failtext.RanFewer(r.out, "jest", r.at, sum.sum, sum.total)
	}
	if sum.total == 0 && r.problems == 0 {
		r.problem(model.Problem{Kind: model.KindEmpty, Name: "jest", At: r.at, Message: "no tests ran"})
	}
}

// failedTest makes a Test of what the blocks of one failed test say.
func (r *jestRun) failedTest(t *jestTest) model.Test {
	out := model.Test{Status: model.Failed, Suite: t.suite, Name: t.name, File: t.file, At: t.at}
	out.Retries = r.retried[t.key]
	if len(t.blocks) == 0 {
		return out
	}
	var traces []string
	for _, b := range t.blocks {
		traces = append(traces, parse.Unindent(b.text.String()))
	}
	out.At = t.blocks[0].at
	text := traces[0]
	out.Trace = strings.Join(traces, "\n\n")
	out.Message = jestHead(text)
	out.Kind, out.Type = jestKind(out.Message)
	for _, tr := range traces {
		if file, line, col := jestPlace(tr); line > 0 {
			out.File, out.Line, out.Column = parse.FirstOf(file, t.file), line, col
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
	expected, actual, _ = failtext.SplitAssertion(strings.Replace(msg, "\n- Snapshot ", "\n- Expected ", 1))
	return expected, actual
}

func jestKind(msg string) (model.Kind, string) {
	typ := failtext.JSErrorType(msg)
	switch {
	case strings.Contains(msg, "Exceeded timeout of "), strings.Contains(msg, "Async callback was not invoked within"),
		strings.HasPrefix(msg, "Timeout - "):
		return model.KindTimeout, typ
	case strings.HasPrefix(msg, "expect("), typ == "AssertionError", typ == "JestAssertionError",
		strings.Contains(msg, "\nExpected") && strings.Contains(msg, "\nReceived"), strings.HasPrefix(msg, "assert"),
		strings.Contains(parse.HeadLine(msg), "expect("):
		return model.KindAssertion, typ
	}
	return model.KindError, typ
}

// jestHead returns the message of a block: what stands before the code frame
// and the stack.
func jestHead(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		s := strings.TrimLeft(l, " ")
		if _, _, _, frame := failtext.JSFrame(s); i > 0 && frame || failtext.IsCodeFrame(s) {
			lines = lines[:i]
			break
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
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
			if f, n, c, ok := failtext.JSFrame(s); ok && !parse.Foreign(f) {
				return f, n, c
			}
		case marked == 0 && strings.HasPrefix(s, "> ") && failtext.IsCodeFrame(s):
			marked, _, _ = parse.LeadingInt(strings.TrimLeft(s[2:], " "))
		case strings.HasPrefix(s, "File: "):
			if f, n, c, ok := parse.Location(s[len("File: "):]); ok && c > 0 {
				return f, n, c
			}
		case strings.Contains(s, " - error TS"):
			loc, _, _ := strings.Cut(s, " - error TS")
			if f, n, c, ok := parse.Location(loc); ok {
				return f, n, c
			}
		}
	}
	return "", marked, 0
}
