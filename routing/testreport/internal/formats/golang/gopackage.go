package golang

import (
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// goPackage is one run of one package's tests, as far as it was read. The text
// and the JSON reader both feed it; it knows what the end of the run means for
// tests that did not end.
type goPackage struct {
	name  string
	tests []*goTest // in order of first sight
	used  *goUsed
	names goNames
	lim   model.Limits

	out       bounded.Text // printed outside tests
	crash     bounded.Text // from the line of a panic on, whoever printed it
	crashAt   int
	timedOut  bool
	race      bool
	build     bool // [build failed]
	setup     bool // [setup failed]
	exit      string
	listing   bool         // reading the list of running tests of a timeout
	timed     []string     // that list
	stacks    goStacks     // of the crash
	raceText  bounded.Text // the last report of the race detector
	inRace    bool
	failedFor string // FailedBuild
	at        int    // line of the first event
	result    string // "pass", "fail", "skip", "" while it runs
}

// goTest is one run of one test.
type goTest struct {
	name     string
	status   model.Status // "" while it runs
	dur      time.Duration
	at       int // line where it ended, or was first seen
	out      bounded.Text
	printed  bool // printed the first line of the crash
	panicked bool // is what the crash brought down
	bench    bool // printed a benchmark's result
	parent   bool // a subtest of it failed
	kind     model.Kind
	message  string // set where the package's end explains the test's
}

func newGoPackage(name string, lim model.Limits, at int) *goPackage {
	return newGoPackageOf(new(goUsed), name, lim, at)
}

// newGoPackageOf is newGoPackage with memory of packages that ended.
func newGoPackageOf(used *goUsed, name string, lim model.Limits, at int) *goPackage {
	p := &goPackage{name: name, lim: lim, at: at, used: used}
	p.tests, p.names = used.tests[:0], used.names
	used.tests, used.names = nil, goNames{}
	p.out.Max, p.crash.Max, p.raceText.Max = lim.Text/2, lim.Text/2, lim.Text/4
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
	t.out.Max = p.lim.Text / 4
	p.tests = append(p.tests, t)
	p.names.begins(t)
	return t
}

// end ends a test. What a passing one printed is dropped.
func (p *goPackage) end(t *goTest, s model.Status, d time.Duration, at int) {
	p.names.ends(t)
	t.status, t.dur, t.at = s, d, at
	if s == model.Passed {
		t.out = bounded.Text{}
	}
}

// print takes one line that t printed, or the package where t is nil.
func (p *goPackage) print(t *goTest, line string, at int) {
	p.watch(t, line, at)
	if t == nil {
		p.out.AddLine(line)
		return
	}
	if t.status == model.Passed || failtext.IsGoFraming(line) {
		return
	}
	if t.out.Max == 0 {
		t.out.Max = p.lim.Text / 4
	}
	t.out.AddLine(line)
}

// watch looks for what explains the end of a package.
func (p *goPackage) watch(t *goTest, line string, at int) {
	if p.crashAt > 0 {
		if !failtext.IsGoFraming(line) {
			p.crash.AddLine(line)
			p.stacks.line(line)
		}
		p.list(line)
	}
	if p.inRace {
		p.raceText.AddLine(line)
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
			p.raceText.Reset()
			p.raceText.AddLine(line)
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
var benchLine = lazyregexp.New(`^(Benchmark\S*?)(?:-\d+)?\s+\d+\s+[\d.e+]+ ns/op`)

func (p *goPackage) crashed(t *goTest, line string, at int) {
	p.crashAt = max(at, 1)
	p.crash.AddLine(line)
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
	p.crash.Reset()
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
		kind := model.KindCrash
		if p.timedOut {
			kind = model.KindTimeout
		}
		for _, t := range p.culprits() {
			if t.status == "" {
				t.at = p.crashAt
			}
			t.status, t.kind, t.panicked = model.Failed, kind, true
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
		if t.status != model.Failed {
			continue
		}
		for name := t.name; ; {
			i := strings.LastIndexByte(name, '/')
			if i < 0 {
				break
			}
			name = name[:i]
			if q := p.latest(name); q != nil && q != t && (q.status == model.Failed || q.status == model.Other) {
				q.parent, q.status = true, model.Failed
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
	if r := p.latest(root); r != nil && r != t && r.status == model.Passed || t.bench && p.result == "pass" {
		t.status = model.Passed
		return
	}
	switch {
	case !whole:
		t.status, t.message = model.Other, "the output ends before this test does"
	case named:
		t.status, t.message = model.Other, "did not finish: another test ended the package"
	default:
		t.status = model.Failed
		if p.crashAt > 0 || p.result == "fail" {
			t.kind = model.KindCrash
			if p.timedOut {
				t.kind = model.KindTimeout
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
		if t.status == model.Failed {
			n++
		}
	}
	return n
}

// problem returns why a package failed that has no failing test.
func (p *goPackage) problem(at int) model.Problem {
	q := model.Problem{Kind: model.KindPackage, Name: p.name, At: at}
	trace := lastLines(strings.TrimSpace(p.out.String()), 60)
	switch {
	case p.build:
		q.Kind, q.Message = model.KindBuild, "the package does not build"
	case p.setup:
		q.Kind, q.Message = model.KindSetup, "the package could not be set up"
	case p.crashAt > 0:
		trace = strings.TrimSpace(p.crash.String())
		q.Kind, q.Message, q.At = model.KindCrash, parse.FirstLine(trace), p.crashAt
		if p.timedOut {
			q.Kind = model.KindTimeout
		}
		q.File, q.Line = crashPlace(trace)
	case p.race:
		trace = strings.TrimSpace(p.raceText.String())
		q.Kind, q.Message = model.KindRace, "data race outside a test"
		q.File, q.Line = crashPlace(trace)
	default:
		q.Message = failtext.LastWords(trace)
		if p.exit != "" && p.exit != "exit status 1" {
			q.Kind = model.KindExit
		}
		if q.Message == "" {
			q.Message = parse.FirstOf(p.exit, "the package failed and no test says why")
		}
	}
	q.Trace = trace
	return q
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

// goNames finds the latest run of a name among the tests of a package. While
// few tests run at once, those are looked through and no map is needed: most
// tests begin and end before the next one begins.
type goNames struct {
	open []*goTest          // tests without an end, unless many
	many bool               // more ran at once than are looked through
	last map[string]*goTest // the latest of each name among the first
	done int                // how many of the tests last holds
}

// fewOpen is how many running tests are looked through.
const fewOpen = 8

// begins notes a new test, whose name no running test has.
func (n *goNames) begins(t *goTest) {
	switch {
	case n.many:
	case len(n.open) < fewOpen:
		n.open = append(n.open, t)
	default:
		n.many, n.open = true, n.open[:0]
	}
}

// ends notes that t has an end.
func (n *goNames) ends(t *goTest) {
	for i := len(n.open) - 1; i >= 0; i-- {
		if n.open[i] == t {
			n.open = append(n.open[:i], n.open[i+1:]...)
			return
		}
	}
}

func (n *goNames) find(name string) *goTest {
	for i := len(n.open) - 1; i >= 0; i-- {
		if n.open[i].name == name {
			return n.open[i]
		}
	}
	return nil
}

// clear forgets all but the memory.
func (n *goNames) clear() {
	clear(n.last)
	clear(n.open[:cap(n.open)])
	n.open, n.many, n.done = n.open[:0], false, 0
}

// latest returns the latest run of that name, nil if there is none. A test
// that runs is the latest of its name.
func (p *goPackage) latest(name string) *goTest {
	n := &p.names
	if t := n.find(name); t != nil {
		return t
	}
	if n.last == nil {
		n.last = map[string]*goTest{}
	}
	for _, t := range p.tests[n.done:] {
		n.last[t.name] = t
	}
	n.done = len(p.tests)
	return n.last[name]
}

// running returns the test of that name that has no end yet, nil if there is none.
func (p *goPackage) running(name string) *goTest {
	if !p.names.many {
		return p.names.find(name)
	}
	if t := p.latest(name); t != nil && t.status == "" {
		return t
	}
	return nil
}

// ownName returns name, a part of line, so that to keep it does not keep a
// line that is much longer.
func ownName(name, line string) string {
	if len(line) > 2*len(name)+64 {
		return strings.Clone(name)
	}
	return name
}

// goUsed is the memory of packages that ended, for the next ones.
type goUsed struct {
	free  []*goTest
	slab  []goTest // of which the next ones are taken
	tests []*goTest
	names goNames
}

// take returns an empty test.
func (u *goUsed) take() *goTest {
	if n := len(u.free); n > 0 {
		t := u.free[n-1]
		u.free = u.free[:n-1]
		*t = goTest{}
		return t
	}
	if len(u.slab) == 0 {
		u.slab = make([]goTest, 16)
	}
	t := &u.slab[0]
	u.slab = u.slab[1:]
	return t
}

// give takes over the memory of a package that is not looked at again, unless
// it is larger than most.
func (u *goUsed) give(p *goPackage) {
	const most = 4096
	if len(p.tests) > most || len(u.free) > most {
		return
	}
	u.free = append(u.free, p.tests...)
	clear(p.tests)
	p.names.clear()
	u.tests, u.names = p.tests, p.names
	p.tests, p.names = nil, goNames{}
}

// goRuns hands on the tests of packages that ended. Failing ones wait for the
// end of the input, because gotestsum runs them again in the same stream.
type goRuns struct {
	out  model.Sink
	lim  model.Limits
	wait map[string]map[string]*goWaiting // package, name
	list []*goWaiting
	now  model.Test // the test in hand, of those that passed
}

type goWaiting struct {
	test    model.Test
	passing map[string]bool // subtests that passed beside the failing ones
}

// take hands on the tests of a package run that ended and says whether it was
// a rerun of failing tests only.
func (g *goRuns) take(p *goPackage) {
	waiting := g.wait[p.name]
	rerun := len(waiting) > 0 && len(p.tests) > 0
	for i := 0; rerun && i < len(p.tests); i++ {
		root, _, _ := strings.Cut(p.tests[i].name, "/")
		rerun = waiting[root] != nil
	}
	var both map[string]bool // names that passed in a run of this package, if any failed
	if p.failedTests() > 0 {
		both = map[string]bool{}
		for _, t := range p.tests {
			if t.status == model.Passed {
				both[t.name] = true
			}
		}
	}
	for _, t := range p.tests {
		if t.status == model.Passed && !rerun {
			r := &g.now // as goTestOf; no other field of it is ever set
			r.Name, r.Suite, r.Status, r.Duration, r.At, r.Kind, r.Parent = t.name, p.name, model.Passed, t.dur, t.at, t.kind, t.parent && !t.panicked
			model.Hand(g.out, r)
			continue
		}
		r := p.goTestOf(t)
		r.Parent = t.parent && !t.panicked
		switch {
		case rerun:
			g.again(p.name, r)
		case r.Status == model.Failed:
			r.Flaky = both[r.Name] // -count: the same run, both results
			g.failed(p.name, r)
		default:
			g.out.Test(r)
		}
	}
	if !rerun {
		g.remember(p)
	}
}

// failed keeps a failing test until the end.
func (g *goRuns) failed(pkg string, r model.Test) {
	if len(g.list) >= 2*g.lim.Failing {
		g.out.Test(r)
		return
	}
	if g.wait == nil {
		g.wait = map[string]map[string]*goWaiting{}
	}
	if g.wait[pkg] == nil {
		g.wait[pkg] = map[string]*goWaiting{}
	}
	w := &goWaiting{test: r}
	g.list = append(g.list, w)
	g.wait[pkg][r.Name] = w
}

// remember notes which subtests passed under a failing test, so that a rerun
// of it does not count them again.
func (g *goRuns) remember(p *goPackage) {
	waiting := g.wait[p.name]
	if waiting == nil {
		return
	}
	for _, t := range p.tests {
		root, _, sub := strings.Cut(t.name, "/")
		if !sub || t.status == model.Failed {
			continue
		}
		if w := waiting[root]; w != nil {
			if w.passing == nil {
				w.passing = map[string]bool{}
			}
			w.passing[t.name] = true
		}
	}
}

// again takes a test of a rerun: the last result counts.
func (g *goRuns) again(pkg string, r model.Test) {
	w := g.wait[pkg][r.Name]
	if w == nil {
		root, _, _ := strings.Cut(r.Name, "/")
		if g.wait[pkg][root].passing[r.Name] && r.Status != model.Failed {
			return
		}
		if r.Status == model.Failed {
			g.failed(pkg, r)
		} else {
			g.out.Test(r)
		}
		return
	}
	retries, dur := w.test.Retries+1, w.test.Duration+r.Duration
	switch {
	case r.Status == model.Failed:
		w.test = r
	case r.Status == model.Passed:
		w.test.Status, w.test.Flaky, w.test.Parent = model.Passed, true, false
	}
	w.test.Retries, w.test.Duration = retries, dur
}

// end hands on what waited.
func (g *goRuns) end() {
	for _, w := range g.list {
		g.out.Test(w.test)
	}
	g.list, g.wait = nil, nil
}
