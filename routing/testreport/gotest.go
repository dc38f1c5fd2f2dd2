package testreport

import (
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// goTestFormat reads the text of go test, verbose or not, of any version.
var goTestFormat = format{
	name:    "gotest",
	order:   360,
	console: func(out Sink, lim Limits) console { return newGoTest(out, lim) },
}

// goTestText reads one package after the other: go test prints the output of
// each in one piece and its name last.
type goTestText struct {
	out    Sink
	lim    Limits
	runs   goRuns
	p      *goPackage
	cur    *goTest // what is printed belongs to it
	seen   bool    // a certain line of the package was seen
	result string  // PASS or FAIL on a line of its own
	block  *goBuild
	maybe  *goBuild // a head, not yet confirmed by a message
	builds []*goBuild
	at     int
	bench  map[string]bool
	used   goUsed
	failed bool // a package or test failed
	ended  bool // a package ended
	sum    *goSummary
	broken map[string]bool // packages for which a problem was given
}

func newGoTest(out Sink, lim Limits) *goTestText {
	g := &goTestText{out: out, lim: lim, runs: goRuns{out: out, lim: lim}}
	g.reset()
	return g
}

func (g *goTestText) reset() {
	g.p = newGoPackageOf(&g.used, "", g.lim, 0)
	g.cur, g.seen, g.result = nil, false, ""
	g.bench = nil
}

var (
	goInline  = multimatch.New(`--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)(?:s| seconds)\)$`)
	goPkgEnd  = multimatch.New(`^(ok|FAIL)(\t| {2,}|\s)\s*([^\s\[\]()]+)\s+(\d+(?:\.\d+)?s|\(cached\)|\[build failed\]|\[setup failed\]|\[no tests? to run\]|\[no test files\]|\[no statements\])(?:\s.*)?$`)
	goNoTests = multimatch.New(`^\?\s+([^\s\[\]]+)\s+\[no test files\]$`)
)

func (g *goTestText) line(l Line) bool {
	if g.waits() && !goMeans(l.Text) {
		g.at = l.No
		g.p.out.addLine(l.Text) // what print does with it
		return false
	}
	return g.look(l)
}

func (g *goTestText) look(l Line) bool {
	g.at = l.No
	s := l.Text
	if len(s) > len(goRun) && s[:len(goRun)] == goRun && g.block == nil && g.maybe == nil && g.starts(s) {
		passing(g.out)
		return true
	}
	if g.building(l) {
		return true
	}
	if len(s) == 0 {
		g.print(s)
		return false
	}
	switch s[0] {
	case '=':
		if g.framing(s) {
			return true
		}
	case '-', ' ':
		if g.ending(s) {
			return true
		}
	case 'o', 'F', '?':
		if g.packageEnd(s) {
			return true
		}
	case 'P':
		if s == "PASS" && g.seen {
			g.result, g.cur = s, nil
			return true
		}
	case 'B':
		if g.benchmark(s) {
			return true
		}
	}
	if g.inline(s) {
		return true
	}
	g.print(s)
	return false
}

func (g *goTestText) print(s string) {
	if g.sum != nil && g.sum.line(s, g.at) {
		return
	}
	g.p.print(g.cur, s, g.at)
}

// building reads "# package" blocks. The head alone proves nothing: a line
// that begins with "# " is common.
func (g *goTestText) building(l Line) bool {
	s := l.Text
	if b := newGoBuild(s, l.No, g.lim); b != nil {
		if g.block != nil {
			g.block.close(g.out)
			g.block = nil
		}
		g.maybe = b
		return false
	}
	b := g.block
	if b == nil {
		b = g.maybe
	}
	if b == nil {
		return false
	}
	if b == g.maybe && !goVetHead.MatchString(s) && !goDiag.MatchString(s) {
		g.maybe = nil
		return false
	}
	if !b.line(s, l.No, g.out) {
		b.close(g.out)
		g.block = nil
		return false
	}
	if b == g.maybe && !goVetHead.MatchString(s) {
		g.block, g.maybe = b, nil
		if len(g.builds) < g.lim.Failing {
			g.builds = append(g.builds, b)
		}
	}
	return true
}

// ending reads "--- FAIL: Name (0.00s)", indented for subtests.
func (g *goTestText) ending(s string) bool {
	what, name, secs, ok := goResult(s)
	if !ok || !endsTest(name, secs) {
		return false
	}
	if g.sum.open() {
		return true // the list repeats it
	}
	g.begin()
	if what == "BENCH" {
		g.cur = nil
		return true
	}
	g.ends(what, name, secs)
	if what == "PASS" {
		passing(g.out)
	}
	return true
}

func (g *goTestText) ends(what, name, secs string) {
	t := g.p.latest(name)
	switch {
	case t == nil:
		t = g.p.add(strings.Clone(name), g.at)
	case t.status != "": // a second run without "=== RUN" (-count, not verbose)
		t = g.p.run(strings.Clone(name), g.at)
	}
	f, ok := plainDecimal(secs)
	if !ok {
		f, _ = strconv.ParseFloat(secs, 64)
	}
	d := time.Duration(f * float64(time.Second))
	switch what {
	case "PASS":
		g.p.end(t, Passed, d, g.at)
	case "FAIL":
		g.p.end(t, Failed, d, g.at)
		g.failed = true
	case "SKIP":
		g.p.end(t, Skipped, d, g.at)
	}
	g.cur = t // older versions and runs without -v print what it logged below
}

// inline finds the end of the running test behind what it printed without a
// new line.
func (g *goTestText) inline(s string) bool {
	if len(g.p.tests) == 0 || s == "" || s[len(s)-1] != ')' || !strings.Contains(s, "--- ") {
		return false
	}
	m := goInline.FindStringSubmatchIndex(s)
	if m == nil {
		return false
	}
	name := s[m[4]:m[5]]
	if g.p.running(name) == nil {
		return false
	}
	g.print(s[:m[0]])
	g.ends(s[m[2]:m[3]], name, s[m[6]:m[7]])
	return true
}

// benchmark reads the result of a benchmark, or its name on a line of its own,
// which verbose runs print before it.
func (g *goTestText) benchmark(s string) bool {
	if m := benchLine.FindStringSubmatch(s); m != nil {
		g.begin()
		name := strings.Clone(m[1])
		if t := g.p.running(name); t != nil {
			g.p.end(t, Passed, 0, g.at)
		} else if !g.bench[name] {
			g.p.end(g.p.run(name, g.at), Passed, 0, g.at)
		}
		if g.bench == nil {
			g.bench = map[string]bool{}
		}
		g.bench[name] = true
		g.cur = nil
		return true
	}
	return false
}

// packageEnd reads the line that ends a package: "ok", "FAIL" or "?".
func (g *goTestText) packageEnd(s string) bool {
	if s == "FAIL" {
		if !g.seen && !g.ended {
			return false
		}
		g.result, g.cur = s, nil
		return true
	}
	switch {
	case s[0] == '?':
		return goNoTests.MatchString(s)
	case !strings.HasPrefix(s, "ok") && !strings.HasPrefix(s, "FAIL"):
		return false
	}
	m := goEnd(s)
	if m == nil || !isGoPackage(m[3], m[2]) {
		return false
	}
	if g.sum.open() {
		return true
	}
	g.ended = true
	if strings.HasSuffix(m[4], " failed]") {
		g.notBuilt(m[3], m[4])
		return true
	}
	g.p.name, g.p.result = strings.Clone(m[3]), "pass"
	switch {
	case m[1] == "FAIL":
		g.p.result = "fail"
	case !g.seen && !strings.HasPrefix(m[4], "[") && !strings.Contains(s, "[no tests to run]"):
		g.out.Test(Test{Name: g.p.name, Status: Passed, Kind: KindPackage}) // without -v no test is named
	}
	g.finish(true)
	return true
}

// notBuilt ends a package that did not build or could not be loaded.
func (g *goTestText) notBuilt(pkg, why string) {
	g.failed = true
	kind := KindBuild
	if why == "[setup failed]" {
		kind = KindSetup
	}
	if g.block != nil {
		g.block.close(g.out)
		g.block = nil
	}
	for _, b := range g.builds {
		if !b.checked && (b.pkg == pkg || b.of == pkg) {
			b.checked = true
			g.problem(b.problem(pkg, kind))
			return
		}
	}
	q := Problem{Kind: kind, Name: strings.Clone(pkg), At: g.at, Message: "the package does not build"}
	if kind == KindSetup {
		q.Message = "the package could not be set up"
	}
	g.problem(q)
}

// problem hands on why a package failed and remembers that it did.
func (g *goTestText) problem(q Problem) {
	if g.broken == nil {
		g.broken = map[string]bool{}
	}
	g.broken[q.Name] = true
	g.out.Problem(q)
}

// finish ends the package.
func (g *goTestText) finish(whole bool) {
	p := g.p
	if p.result == "fail" {
		g.failed = true
	}
	p.settle(whole)
	g.runs.take(p)
	if p.result == "fail" && p.failedTests() == 0 {
		g.problem(p.problem(g.at))
	}
	g.used.give(p)
	g.reset()
}

func (g *goTestText) end() {
	if g.block != nil {
		g.block.close(g.out)
	}
	for _, b := range g.builds {
		if !b.checked && b.errors > 0 {
			g.failed = true
			g.out.Problem(b.problem(b.pkg, KindBuild))
		}
	}
	if g.seen && len(g.p.tests) > 0 {
		g.unnamed()
	}
	if g.sum != nil {
		g.summarised()
	}
	g.runs.end()
	if g.ended && g.result == "FAIL" && !g.failed {
		g.out.Problem(Problem{Kind: KindExit, At: g.at, Message: "go test says FAIL and no package says why"})
	}
}

// unnamed ends tests that no package line follows: a test binary that was run
// by hand, or a log that breaks off.
func (g *goTestText) unnamed() {
	p := g.p
	at := g.at
	switch g.result {
	case "PASS":
		p.result = "pass"
	case "FAIL":
		p.result = "fail"
	}
	if p.result == "" && p.crashAt > 0 {
		p.result = "fail"
	}
	if p.result != "" {
		g.finish(true)
		return
	}
	g.finish(false)
	g.out.Problem(Problem{Kind: KindTruncated, At: at, Message: "the output of go test ends before its result"})
}
