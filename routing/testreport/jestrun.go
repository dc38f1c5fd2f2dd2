package testreport

import "strings"

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
	path     jestPath // of the tree
	joined   bool     // path is of the tree as it is now
	inTree   bool
	block    *jestBlock
	tests    []*jestTest
	byKey    map[string]*jestTest
	repeats  []*jestTest // blocks of a test that has one already
	retried  map[string]int
	retrying []jestRetry // logged before the header of their file
	now      Test        // the test in hand
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
	t := trimSpaces(l.Text)
	if len(t) == 0 {
		if r.block != nil {
			r.block.text.add("")
		}
		return false
	}
	if len(t) < 2 || t[0] != ' ' || t[1] != ' ' || strings.HasPrefix(t, jestExit) {
		if claimed, done := r.unindented(l.No, t); done {
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
	r.block = &jestBlock{title: strings.Clone(strings.TrimLeft(title, " ")), file: r.file, at: no, text: kept{max: r.lim.Text}}
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
