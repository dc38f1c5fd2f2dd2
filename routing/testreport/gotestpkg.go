package testreport

import (
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// goPackage is one run of one package's tests, as far as it was read. The text
// and the JSON reader both feed it; it knows what the end of the run means for
// tests that did not end.
type goPackage struct {
	name  string
	tests []*goTest // in order of first sight
	used  *goUsed
	names goNames
	lim   Limits

	out       textBuf // printed outside tests
	crash     textBuf // from the line of a panic on, whoever printed it
	crashAt   int
	timedOut  bool
	race      bool
	build     bool // [build failed]
	setup     bool // [setup failed]
	exit      string
	listing   bool     // reading the list of running tests of a timeout
	timed     []string // that list
	stacks    goStacks // of the crash
	raceText  textBuf  // the last report of the race detector
	inRace    bool
	failedFor string // FailedBuild
	at        int    // line of the first event
	result    string // "pass", "fail", "skip", "" while it runs
}

// goTest is one run of one test.
type goTest struct {
	name     string
	status   Status // "" while it runs
	dur      time.Duration
	at       int // line where it ended, or was first seen
	out      textBuf
	printed  bool // printed the first line of the crash
	panicked bool // is what the crash brought down
	bench    bool // printed a benchmark's result
	parent   bool // a subtest of it failed
	kind     Kind
	message  string // set where the package's end explains the test's
}

func newGoPackage(name string, lim Limits, at int) *goPackage {
	return newGoPackageOf(new(goUsed), name, lim, at)
}

// newGoPackageOf is newGoPackage with memory of packages that ended.
func newGoPackageOf(used *goUsed, name string, lim Limits, at int) *goPackage {
	p := &goPackage{name: name, lim: lim, at: at, used: used}
	p.tests, p.names = used.tests[:0], used.names
	used.tests, used.names = nil, goNames{}
	p.out.max, p.crash.max, p.raceText.max = lim.Text/2, lim.Text/2, lim.Text/4
	return p
}

// test returns the latest test of that name, a new one if there is none. The
// name is kept, and with it the text that it is a part of.
func (p *goPackage) test(name string, at int) *goTest {
	if t := p.latest(name); t != nil {
		return t
	}
	return p.add(name, at)
}

// run begins a test. A name that ran to its end before begins again (-count).
// The name is kept as by test.
func (p *goPackage) run(name string, at int) *goTest {
	if t := p.running(name); t != nil {
		return t
	}
	p.alive()
	return p.add(name, at)
}

func (p *goPackage) add(name string, at int) *goTest {
	t := p.used.take()
	t.name, t.at = name, at
	t.out.max = p.lim.Text / 4
	p.tests = append(p.tests, t)
	p.names.begins(t)
	return t
}

// end ends a test. What a passing one printed is dropped.
func (p *goPackage) end(t *goTest, s Status, d time.Duration, at int) {
	p.names.ends(t)
	t.status, t.dur, t.at = s, d, at
	if s == Passed {
		t.out = textBuf{}
	}
}

// print takes one line that t printed, or the package where t is nil.
func (p *goPackage) print(t *goTest, line string, at int) {
	p.watch(t, line, at)
	if t == nil {
		p.out.addLine(line)
		return
	}
	if t.status == Passed || isFraming(line) {
		return
	}
	if t.out.max == 0 {
		t.out.max = p.lim.Text / 4
	}
	t.out.addLine(line)
}

func (t *textBuf) addLine(s string) {
	if len(t.head) == t.max && len(t.tail)+len(s) < 2*t.max {
		t.tail = append(append(t.tail, s...), '\n') // as below
		return
	}
	t.addString(s)
	t.addString("\n")
}

func (t *textBuf) addString(s string) {
	if n := min(t.max-len(t.head), len(s)); n > 0 {
		t.head, s = append(t.head, s[:n]...), s[n:]
	}
	if s == "" {
		return
	}
	if len(s) > t.max {
		t.dropped += len(s) - t.max
		s = s[len(s)-t.max:]
	}
	t.tail = append(t.tail, s...)
	t.shrink()
}

// isFraming reports whether a line is go test's own and no test's.
func isFraming(line string) bool {
	s := strings.TrimLeft(line, " ")
	return strings.HasPrefix(s, "=== ") || strings.HasPrefix(s, "--- ")
}

// watch looks for what explains the end of a package.
func (p *goPackage) watch(t *goTest, line string, at int) {
	if p.crashAt > 0 {
		if !isFraming(line) {
			p.crash.addLine(line)
			p.stacks.line(line)
		}
		p.list(line)
	}
	if p.inRace {
		p.raceText.addLine(line)
		p.inRace = !strings.HasPrefix(line, "==========")
	}
	if len(line) == 0 {
		return
	}
	switch line[0] {
	case 'p':
		if p.crashAt == 0 && strings.HasPrefix(line, "panic: ") {
			p.crashed(t, line, at)
			p.timedOut = strings.HasPrefix(line, "panic: test timed out after")
		}
	case 'f', 'S':
		if p.crashAt == 0 && (strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "SIGSEGV: ") || strings.HasPrefix(line, "SIGQUIT: ") || strings.HasPrefix(line, "SIGABRT: ")) {
			p.crashed(t, line, at)
		}
	case '*': // *** Test killed with quit: ran too long (11m0s).
		if strings.HasPrefix(line, "*** Test killed") {
			p.timedOut = true
			if p.crashAt == 0 {
				p.crashed(t, line, at)
			}
		}
	case 'W':
		if line == "WARNING: DATA RACE" {
			p.race, p.inRace = true, true
			p.raceText.reset()
			p.raceText.addLine(line)
		}
	case 'e', 's':
		if strings.HasPrefix(line, "exit status ") || strings.HasPrefix(line, "signal: ") {
			p.exit = strings.Clone(line)
		}
	case 'B':
		if t != nil && strings.HasPrefix(t.name, "Benchmark") && benchLine.MatchString(line) {
			t.bench = true
		}
	}
}

// benchLine is the result of a benchmark.
var benchLine = multimatch.New(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s+[\d.e+]+ ns/op`)

func (p *goPackage) crashed(t *goTest, line string, at int) {
	p.crashAt = max(at, 1)
	p.crash.addLine(line)
	if t != nil {
		t.printed = true
	}
}

// alive forgets a crash: a test that begins behind it shows that the process
// lives on and that the line only looked like one.
func (p *goPackage) alive() {
	if p.crashAt == 0 {
		return
	}
	p.crash.reset()
	p.crashAt, p.timedOut, p.listing, p.timed, p.stacks = 0, false, false, nil, goStacks{}
	for _, t := range p.tests {
		t.printed = false
	}
}

// list reads the names below "running tests:" of a timeout.
func (p *goPackage) list(line string) {
	s := strings.TrimSpace(line)
	switch {
	case s == "running tests:":
		p.listing = true
	case p.listing && s == "":
		p.listing = false
	case p.listing && len(p.timed) < 1000:
		if i := strings.LastIndex(s, " ("); i > 0 {
			s = s[:i]
		}
		p.timed = append(p.timed, strings.Clone(s))
	}
}

// settle decides what became of tests that have no end of their own, and marks
// the parents of failing ones. Whole tells that the package's end was seen.
func (p *goPackage) settle(whole bool) {
	if p.crashAt > 0 && p.result != "pass" {
		kind := KindCrash
		if p.timedOut {
			kind = KindTimeout
		}
		for _, t := range p.culprits() {
			if t.status == "" {
				t.at = p.crashAt
			}
			t.status, t.kind, t.panicked = Failed, kind, true
		}
	}
	named := false
	for _, t := range p.tests {
		named = named || t.kind != ""
	}
	for _, t := range p.tests {
		if t.status == "" {
			p.unfinished(t, whole, named)
		}
	}
	for _, t := range p.tests {
		if t.status != Failed {
			continue
		}
		for name := t.name; ; {
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				break
			}
			name = name[:i]
			if q := p.latest(name); q != nil && q != t && (q.status == Failed || q.status == Other) {
				q.parent, q.status = true, Failed
			}
		}
	}
}

// unfinished gives a status to a test of which no end was seen. It passed if a
// parent did; go test loses such events. Where the package failed, or says
// nothing else, it failed; where another test brought the package down or the
// input broke off, nobody knows.
func (p *goPackage) unfinished(t *goTest, whole, named bool) {
	root, _, _ := strings.Cut(t.name, "/")
	if r := p.latest(root); r != nil && r != t && r.status == Passed || t.bench && p.result == "pass" {
		t.status = Passed
		return
	}
	switch {
	case !whole:
		t.status, t.message = Other, "the output ends before this test does"
	case named:
		t.status, t.message = Other, "did not finish: another test ended the package"
	default:
		t.status = Failed
		if p.crashAt > 0 || p.result == "fail" {
			t.kind = KindCrash
			if p.timedOut {
				t.kind = KindTimeout
			}
			t.panicked = p.crashAt > 0
		}
		t.message = "the test did not finish"
	}
}

// failedTests counts the failing tests.
func (p *goPackage) failedTests() int {
	n := 0
	for _, t := range p.tests {
		if t.status == Failed {
			n++
		}
	}
	return n
}

// problem returns why a package failed that has no failing test.
func (p *goPackage) problem(at int) Problem {
	q := Problem{Kind: KindPackage, Name: p.name, At: at}
	trace := lastLines(strings.TrimSpace(p.out.String()), 60)
	switch {
	case p.build:
		q.Kind, q.Message = KindBuild, "the package does not build"
	case p.setup:
		q.Kind, q.Message = KindSetup, "the package could not be set up"
	case p.crashAt > 0:
		trace = strings.TrimSpace(p.crash.String())
		q.Kind, q.Message, q.At = KindCrash, firstLine(trace), p.crashAt
		if p.timedOut {
			q.Kind = KindTimeout
		}
		q.File, q.Line = crashPlace(trace)
	case p.race:
		trace = strings.TrimSpace(p.raceText.String())
		q.Kind, q.Message = KindRace, "data race outside a test"
		q.File, q.Line = crashPlace(trace)
	default:
		q.Message = lastWords(trace)
		if p.exit != "" && p.exit != "exit status 1" {
			q.Kind = KindExit
		}
		if q.Message == "" {
			q.Message = firstOf(p.exit, "the package failed and no test says why")
		}
	}
	q.Trace = trace
	return q
}

// lastWords returns the last line that is not go test's own.
func lastWords(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0 && i > len(lines)-30; i-- {
		s := strings.TrimSpace(lines[i])
		if s == "" || goFrame.MatchString(lines[i]) || goCall.MatchString(s) || s == "FAIL" || s == "PASS" || isFraming(s) || strings.HasPrefix(s, "FAIL\t") || strings.HasPrefix(s, "exit status ") || strings.HasPrefix(s, "coverage: ") || strings.HasPrefix(s, "FAIL ") {
			continue
		}
		return s
	}
	return ""
}

// lastLines returns the last n lines of s: before the first package of a log
// stands what other steps printed.
func lastLines(s string, n int) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '\n' {
			if n--; n == 0 {
				return s[i+1:]
			}
		}
	}
	return s
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.TrimSpace(s)
}
