package golang

import (
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// goTestFormat reads the text of go test, verbose or not, of any version.
var goTestFormat = format.Format{
	Name:    "gotest",
	Order:   360,
	Console: func(out model.Sink, lim model.Limits) format.Console { return newGoTest(out, lim) },
}

// goTestText reads one package after the other: go test prints the output of
// each in one piece and its name last.
type goTestText struct {
	out    model.Sink
	lim    model.Limits
	runs   goRuns
	p      *goPackage
	cur    *goTest // what is printed belongs to it
	seen   bool    // a certain line of the package was seen
	result string  // PASS or FAIL on a line of its own
	block  *goBuild
	maybe  *goBuild // a head, not yet confirmed by a message
	builds []*goBuild
	at     int
	mark   int // line that last started or ended a test
	bench  map[string]bool
	used   goUsed
	failed bool // a package or test failed
	ended  bool // a package ended
	sum    *goSummary
	first  *goDone         // totals of a run whose failed tests run again
	broken map[string]bool // packages for which a problem was given
}

func newGoTest(out model.Sink, lim model.Limits) *goTestText {
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
	goInline  = lazyregexp.New(`--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)(?:s| seconds)\)$`)
	goPkgEnd  = lazyregexp.New(`^(ok|FAIL)(\t| {2,}|\s)\s*([^\s\[\]()]+)\s+(\d+(?:\.\d+)?s|\(cached\)|\[build failed\]|\[setup failed\]|\[no tests? to run\]|\[no test files\]|\[no statements\])(?:\s.*)?$`)
	goNoTests = lazyregexp.New(`^\?\s+([^\s\[\]]+)\s+\[no test files\]$`)
)

func (g *goTestText) Line(l lines.Line) bool {
	if g.waits() && !goMeans(l.Text) {
		g.at = l.No
		g.p.out.AddLine(l.Text) // what print does with it
		return false
	}
	return g.look(l)
}

func (g *goTestText) look(l lines.Line) bool {
	g.at = l.No
	s := l.Text
	if len(s) > len(goRun) && s[:len(goRun)] == goRun && !g.sum.open() && g.block == nil && g.maybe == nil && g.starts(s) {
		model.Passing(g.out)
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
	case 'D':
		if g.done(s) {
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
func (g *goTestText) building(l lines.Line) bool {
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
		model.Passing(g.out)
	}
	return true
}

func (g *goTestText) ends(what, name, secs string) {
	g.mark = g.at
	t := g.p.latest(name)
	switch {
	case t == nil:
		t = g.p.add(strings.Clone(name), g.at)
	case t.status != "": // a second run without "=== RUN" (-count, not verbose)
		t = g.p.run(strings.Clone(name), g.at)
	}
	f, ok := parse.PlainDecimal(secs)
	if !ok {
		f, _ = strconv.ParseFloat(secs, 64)
	}
	d := time.Duration(f * float64(time.Second))
	switch what {
	case "PASS":
		g.p.end(t, model.Passed, d, g.at)
	case "FAIL":
		g.p.end(t, model.Failed, d, g.at)
		g.failed = true
	case "SKIP":
		g.p.end(t, model.Skipped, d, g.at)
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
			g.p.end(t, model.Passed, 0, g.at)
		} else if !g.bench[name] {
			g.p.end(g.p.run(name, g.at), model.Passed, 0, g.at)
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
		if strings.HasSuffix(m[4], " failed]") {
			g.sum.notBuilt[g.sum.p.name] = true
		}
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
		g.out.Test(model.Test{Name: g.p.name, Status: model.Passed, Kind: model.KindPackage}) // without -v no test is named
	}
	g.finish(true)
	return true
}

// notBuilt ends a package that did not build or could not be loaded.
func (g *goTestText) notBuilt(pkg, why string) {
	g.failed = true
	kind := model.KindBuild
	if why == "[setup failed]" {
		kind = model.KindSetup
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
	q := model.Problem{Kind: kind, Name: strings.Clone(pkg), At: g.at, Message: "the package does not build"}
	if kind == model.KindSetup {
		q.Message = "the package could not be set up"
	}
	g.problem(q)
}

// problem hands on why a package failed and remembers that it did.
func (g *goTestText) problem(q model.Problem) {
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
	if whole && g.seen && (p.result == "pass" || g.result != "") { // a bare FAIL stands above a failed package's line
		model.Session(g.out, p.at, g.at)
	}
	p.settle(whole)
	g.runs.take(p)
	if p.result == "fail" && p.failedTests() == 0 {
		g.problem(p.problem(g.at))
	}
	g.used.give(p)
	g.reset()
}

func (g *goTestText) End() {
	if g.block != nil {
		g.block.close(g.out)
	}
	for _, b := range g.builds {
		if !b.checked && b.errors > 0 {
			g.failed = true
			g.out.Problem(b.problem(b.pkg, model.KindBuild))
		}
	}
	if g.seen && len(g.p.tests) > 0 {
		g.unnamed()
	}
	if g.sum != nil {
		g.summarised()
	}
	if g.first != nil {
		g.out.Problem(model.Problem{Kind: model.KindExit, Name: "gotestsum", At: g.first.at, Message: g.first.text})
	}
	g.runs.end()
	if g.ended && g.result == "FAIL" && !g.failed {
		g.out.Problem(model.Problem{Kind: model.KindExit, At: g.at, Message: "go test says FAIL and no package says why"})
	}
}

// unnamed ends tests that no package line follows: a test binary that was run
// by hand, or a log that breaks off.
func (g *goTestText) unnamed() {
	p := g.p
	at := g.mark
	if at == 0 {
		at = g.at
	}
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
	g.out.Problem(model.Problem{Kind: model.KindTruncated, At: at, Message: "the output of go test ends before its result"})
}

// framing reads "=== RUN   Name" and its like.
func (g *goTestText) framing(s string) bool {
	rest, ok := strings.CutPrefix(s, "=== ")
	if !ok {
		return false
	}
	verb, name, _ := strings.Cut(rest, " ")
	if g.summary(s) {
		return true
	}
	if g.sum.open() {
		g.sum.line(s, g.at) // gotestsum quotes what the test printed
		return true
	}
	name = strings.TrimSpace(name)
	switch verb {
	case "RUN":
		if name == "" || strings.Contains(name, " ") {
			return false
		}
		g.begins(name)
	case "CONT", "NAME":
		if !g.seen {
			return false
		}
		g.cur = nil
		if name != "" {
			if g.cur = g.p.latest(name); g.cur == nil {
				g.cur = g.p.add(strings.Clone(name), g.at)
			}
		}
	case "PAUSE":
		if !g.seen {
			return false
		}
		g.cur = nil
	case "ATTR":
		return g.seen
	default:
		return false
	}
	return true
}

// fewNames is the number of tests of a package whose names are kept with the
// lines around them.
const fewNames = 2000

const goRun = "=== RUN   "

// starts is framing for the start of a test whose name is plain, as nearly all are.
func (g *goTestText) starts(s string) bool {
	name := s[len(goRun):]
	if c := name[len(name)-1]; name[0] <= ' ' || name[0] >= 0x7f || c <= ' ' || c >= 0x7f || strings.IndexByte(name, ' ') >= 0 {
		return false
	}
	g.mark = g.at
	g.begins(name)
	return true
}

// begins takes the start of a test.
func (g *goTestText) begins(name string) {
	if g.sum.open() {
		g.sum.p = nil
	}
	g.begin()
	if g.cur = g.p.running(name); g.cur == nil {
		if len(g.p.tests) > fewNames || len(name) > lines.ShortLine {
			name = strings.Clone(name) // it keeps other lines
		}
		g.cur = g.p.run(name, g.at)
	}
}

// begin notes the first certain line of a package. What stood before it,
// except a panic, is not the package's.
func (g *goTestText) begin() {
	if !g.seen {
		g.seen = true
		g.p.at = g.at
		if g.p.crashAt == 0 {
			g.p.out.Reset()
		}
	}
}

// waits reports whether a line that goMeans denies is only kept, as printed
// before whatever comes.
func (g *goTestText) waits() bool {
	return !g.seen && g.block == nil && g.maybe == nil && g.sum == nil && g.p.crashAt == 0 && !g.p.inRace
}

// goBytes holds the first bytes of the lines that change an idle reader, but
// for results of subtests, which are indented.
var goBytes = func() (b [256]bool) {
	for _, c := range "#=-oF?PBD" + "pfS*Wes" { // see goTestText.line and goPackage.watch
		b[c] = true
	}
	return b
}()

// goMeans reports whether s may mean something to a reader of go test that is idle.
func goMeans(s string) bool {
	if s == "" {
		return false
	}
	if s[0] != ' ' {
		return goBytes[s[0]]
	}
	i := 1
	for i < len(s) && s[i] == ' ' {
		i++
	}
	return i < len(s) && s[i] == '-'
}

// goResult takes "    --- FAIL: Name (0.00s)" apart; secs is "" where no time
// stands behind the name.
func goResult(s string) (what, name, secs string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " "), "--- ")
	if !ok || len(rest) < 4 {
		return "", "", "", false
	}
	n := 4
	if rest[0] == 'B' {
		n = min(5, len(rest))
	}
	switch what = rest[:n]; what {
	case "PASS", "FAIL", "SKIP", "BENCH":
	default:
		return "", "", "", false
	}
	if name, ok = strings.CutPrefix(rest[n:], ": "); !ok {
		return "", "", "", false
	}
	if name == "" || strings.IndexByte(" \t\r\f\n", name[0]) >= 0 {
		return "", "", "", false
	}
	if i := parse.LastParen(name); ok && i > 0 {
		in, closed := strings.CutSuffix(name[i+2:], " seconds)")
		if !closed {
			in, closed = strings.CutSuffix(name[i+2:], "s)")
		}
		if closed && isDecimal(in) {
			name, secs = name[:i], in
		}
	}
	return what, name, secs, ok
}

// isDecimal reports whether s is digits, or digits with one point between them.
func isDecimal(s string) bool {
	whole, part, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(part))
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// endsTest reports whether name can be a test's. Only benchmarks end without
// a time; names hold no spaces (testing replaces them).
func endsTest(name, secs string) bool {
	if strings.IndexByte(name, ' ') >= 0 || strings.IndexByte(name, '\t') >= 0 {
		return false
	}
	return secs != "" || strings.HasPrefix(name, "Benchmark")
}

// isGoPackage keeps out other tools' lines that begin with ok or FAIL: TAP
// numbers its tests, Jest names source files.
func isGoPackage(name, space string) bool {
	if name[0] >= '0' && name[0] <= '9' && !strings.ContainsAny(name, "./") {
		return false
	}
	if space != "\t" {
		for _, ext := range [...]string{".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".vue", ".py", ".rb", ".php", ".t"} {
			if strings.HasSuffix(name, ext) {
				return false
			}
		}
	}
	return true
}

// goEnd is goPkgEnd.FindStringSubmatch, quicker where nothing follows the time
// and tabs stand where go test prints them.
func goEnd(s string) []string {
	word, gap := "ok", "  "
	rest, ok := strings.CutPrefix(s, "ok  \t")
	if !ok {
		word, gap = "FAIL", "\t"
		rest, ok = strings.CutPrefix(s, "FAIL\t")
	}
	name, secs, tab := strings.Cut(rest, "\t")
	if in, unit := strings.CutSuffix(secs, "s"); ok && tab && unit && isDecimal(in) && plainPackage(name) {
		return []string{s, word, gap, name, secs}
	}
	return goPkgEnd.FindStringSubmatch(s)
}

// plainPackage reports whether name is ASCII that shows, without brackets.
func plainPackage(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c <= ' ', c >= 0x7f, c == '[', c == ']', c == '(', c == ')':
			return false
		}
	}
	return name != ""
}

// goSummary is the list of failures that gotestsum prints at its end, whatever
// it printed before:
//
//	=== FAIL: example.com/a TestB (0.00s)
//	    b_test.go:12: got 1, want 2
type goSummary struct {
	lim   model.Limits
	pkgs  map[string]*goPackage
	order []*goPackage
	p     *goPackage
	t     *goTest // nil where the package itself failed
	at    int     // line of the list's first title
	errs  bool    // below "=== Errors"
	first string  // error of the compiler

	reruns   map[string]int  // "package test": the last attempt that failed
	notBuilt map[string]bool // packages
	runs     int             // of all tests or those that failed
}

var goSumFail = lazyregexp.New(`^=== FAIL: (\S+) (\S*) \((?:re-run (\d+)\) \()?(\d+(?:\.\d+)?)s\)$`)

// summary begins one entry of gotestsum's list. Skipped tests stand there too;
// what follows them is of no interest.
func (g *goTestText) summary(s string) bool {
	switch s {
	case "=== Skipped", "=== Failed", "=== Errors":
		u := g.list()
		u.p, u.errs = nil, s == "=== Errors"
		return true
	}
	if strings.HasPrefix(s, "=== SKIP: ") {
		if g.sum != nil {
			g.sum.p = nil
		}
		return g.sum != nil
	}
	if !strings.HasPrefix(s, "=== FAIL: ") {
		return false
	}
	m := goSumFail.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	g.failed = true
	g.list().begin(m[1], m[2], m[4], g.at)
	if n, _ := strconv.Atoi(m[3]); n > 0 {
		g.sum.reruns[m[1]+" "+m[2]] = n
	}
	return true
}

// list returns the list of gotestsum, which may begin here.
func (g *goTestText) list() *goSummary {
	if g.sum == nil {
		g.sum = &goSummary{lim: g.lim, pkgs: map[string]*goPackage{}, at: g.at, reruns: map[string]int{}, notBuilt: map[string]bool{}}
	}
	return g.sum
}

var goSumDone = lazyregexp.New(`^DONE (?:(\d+) runs, )?(\d+) tests?(?:, (\d+) skipped)?(?:, (\d+) failures?)?(?:, (\d+) errors?)? in \d[\dhms.]*$`)

// done takes the line that gotestsum ends with, "DONE 12 tests, 1 skipped, 8 failures in 0.009s".
// Where the packages were not printed as go test prints them, the list and these totals are all
// that is certain: lines of tests above it have no package.
func (g *goTestText) done(s string) bool {
	if !strings.HasPrefix(s, "DONE ") {
		return false
	}
	m := goSumDone.FindStringSubmatch(s)
	if m == nil {
		return false
	}
	runs, _ := strconv.Atoi(m[1])
	n := goDone{at: g.at, text: strings.TrimPrefix(s, "DONE ")}
	n.tests, _ = strconv.Atoi(m[2])
	n.skipped, _ = strconv.Atoi(m[3])
	n.failures, _ = strconv.Atoi(m[4])
	n.errors, _ = strconv.Atoi(m[5])
	u := g.list()
	u.p, u.errs, u.runs = nil, false, runs
	from := g.p.at
	if from == 0 {
		from = u.at
	}
	if n.failures+n.errors > 0 && len(u.order) == 0 && !g.ended {
		if g.first == nil {
			g.first = &n // the tests that failed run again
		}
		g.sum = nil
		return true
	}
	if runs > 1 && g.first != nil {
		n = *g.first
	}
	g.first = nil
	if !g.ended {
		g.used.give(g.p)
		g.reset()
		failed := 0
		for _, p := range u.order {
			failed += len(p.tests)
		}
		anon := model.NewAnonymous(g.lim)
		anon.Emit(g.out, n.tests-n.skipped-failed, model.Test{Status: model.Passed})
		anon.Emit(g.out, n.skipped, model.Test{Status: model.Skipped})
	}
	g.summarised()
	g.sum, g.ended = nil, false
	model.Session(g.out, from, g.at)
	return true
}

// goDone is what gotestsum's last line counts.
type goDone struct {
	tests, skipped, failures, errors, at int
	text                                 string
}

// open reports whether an entry of the list is being read.
func (u *goSummary) open() bool { return u != nil && u.p != nil }

func (u *goSummary) begin(pkg, test, secs string, at int) {
	p := u.pkgs[pkg]
	if p == nil {
		if len(u.order) >= u.lim.Failing {
			u.p = nil
			return
		}
		p = newGoPackage(strings.Clone(pkg), u.lim, at)
		p.result = "fail"
		u.pkgs[p.name] = p
		u.order = append(u.order, p)
	}
	u.p, u.t = p, nil
	if test == "" {
		return
	}
	u.t = p.test(strings.Clone(test), at)
	f, _ := strconv.ParseFloat(secs, 64)
	p.end(u.t, model.Failed, time.Duration(f*float64(time.Second)), at)
}

// line takes a line below an entry. The list ends with "DONE …".
func (u *goSummary) line(s string, at int) bool {
	if u.errs && u.first == "" {
		u.first = strings.Clone(s)
	}
	if u.p == nil {
		return false
	}
	u.p.print(u.t, s, at)
	return true
}

// summarised hands on what the list holds and the output before it did not.
func (g *goTestText) summarised() {
	u := g.sum
	for _, p := range u.order {
		known := g.known(p.name)
		p.settle(true)
		all := p.tests
		p.tests = nil
		for _, t := range all {
			switch {
			case u.runs > 1 && u.reruns[p.name+" "+t.name] < u.runs-1:
				g.out.Test(model.Test{Name: t.name, Suite: p.name, Status: model.Passed, Flaky: true, Retries: u.reruns[p.name+" "+t.name] + 1})
			case known[t.name] == nil:
				p.tests = append(p.tests, t)
			}
		}
		switch {
		case len(p.tests) > 0:
			g.runs.take(p)
		case len(all) == 0 && len(known) == 0 && !g.isBroken(p.name):
			q := p.problem(p.at)
			if u.notBuilt[p.name] && u.first != "" {
				q.Kind, q.Message = model.KindBuild, u.first
				if file, line, col, ok := parse.Location(strings.SplitN(u.first, ": ", 2)[0]); ok {
					q.File, q.Line, q.Column = file, line, col
					_, q.Message, _ = strings.Cut(u.first, ": ")
				}
			}
			g.problem(q)
		}
	}
}

// known returns the tests that were read of a package, which gotestsum names from the module on.
func (g *goTestText) known(pkg string) map[string]*goWaiting {
	if w := g.runs.wait[pkg]; w != nil {
		return w
	}
	for name, w := range g.runs.wait {
		if strings.HasSuffix(name, "/"+pkg) {
			return w
		}
	}
	return nil
}

// isBroken reports whether a problem of a package was given.
func (g *goTestText) isBroken(pkg string) bool {
	for name := range g.broken {
		if name == pkg || strings.HasSuffix(name, "/"+pkg) {
			return true
		}
	}
	return false
}
