package testreport

import (
	"fmt"
	"strings"
)

// gradleFormat reads what Gradle prints: tests, the compilers' messages, and
// what went wrong.
var gradleFormat = format{
	name:  "gradle",
	order: 600,
	wakes: &wake{flush: digits + ">:WSF*B", indent: "T", ends: "DTR"},
	console: func(out Sink, lim Limits) console {
		g := &gradleConsole{out: out, lim: lim, anon: newAnonymous(), diags: diagnosticSet{out: out, lim: lim}}
		g.reset()
		return g
	},
}

// gradleConsole reads one build after the other. Gradle names tests that
// failed as they fail, and says how many ran only where one did.
type gradleConsole struct {
	out   Sink
	lim   Limits
	anon  *anonymous
	diags diagnosticSet

	seen   bool // a line that only Gradle prints
	hinted bool // a line that Gradle might have printed
	at     int
	tests  []*failure          // failed since the last totals
	byName map[string]*failure // of them
	passed map[string]bool     // since the last totals, only names that failed before
	named  struct{ passed, skipped int }
	block  *failure
	maybe  *failure // "T FAILED", to be confirmed by the next line
	class  string   // a heading of the test logger
	logged []*failure
	tasks  map[string]bool // test tasks that ran; false once they failed
	order  []string
	failed int // tests and problems handed on in this build
	ended  bool
	wrong  *gradleWrong
	carry  int // failing tests handed on at the build's end, before their totals
	why    int // "What went wrong" blocks of this build
}

func (g *gradleConsole) reset() {
	*g = gradleConsole{out: g.out, lim: g.lim, anon: g.anon, diags: g.diags, byName: map[string]*failure{}, passed: map[string]bool{}, tasks: map[string]bool{}}
}

func (g *gradleConsole) idle() bool {
	return !g.seen && !g.hinted && g.maybe == nil && g.wrong == nil && g.block == nil && g.class == ""
}

func (g *gradleConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			g.finish()
		}
		return false
	}
	g.at = l.No
	t := l.Text
	if len(t) == 0 {
		g.blank()
		return false
	}
	if t[0] == ' ' || t[0] == '\t' {
		return g.indented(t)
	}
	t = strings.TrimRight(t, " ")
	if g.maybe != nil {
		g.maybe = nil
	}
	if g.wrong != nil && g.wrong.line(g, t) {
		return true
	}
	if g.block != nil && t[0] != '\t' {
		g.block = nil
	}
	if g.marker(t) {
		return true
	}
	return g.outcome(t) || (g.seen || g.hinted) && g.compiler(t)
}

func (g *gradleConsole) blank() {
	g.maybe = nil
	if g.block != nil {
		g.block.text.add("")
	}
	if g.wrong != nil {
		g.wrong.text.add("")
	}
}

// indented takes the text below a failure; nested builds that tests print are
// indented too and are not looked at.
func (g *gradleConsole) indented(t string) bool {
	if g.maybe != nil {
		if strings.HasPrefix(t, "    ") && isJVMType(strings.Split(strings.TrimSpace(t)+":", ":")[0]) {
			g.fail(g.maybe)
		}
		g.maybe = nil
	}
	if g.wrong != nil {
		g.wrong.text.add(t)
		return true
	}
	if g.block != nil {
		g.block.text.add(t)
		return false
	}
	if strings.HasPrefix(t, "  Test ") {
		return g.logger(t[len("  Test "):])
	}
	return false
}

// marker reads the lines that structure a build.
func (g *gradleConsole) marker(t string) bool {
	switch t[0] {
	case '>':
		if task, ok := strings.CutPrefix(t, "> Task :"); ok {
			g.task(task)
			return true
		}
	case ':':
		return g.oldTask(t[1:])
	case 'W':
		if strings.HasPrefix(t, "Welcome to Gradle ") {
			g.begin()
			return true
		}
	case 'S':
		if strings.HasPrefix(t, "Starting a Gradle Daemon") {
			g.begin()
			return true
		}
	case 'F':
		if strings.HasPrefix(t, "FAILURE: Build failed with an exception.") || strings.HasPrefix(t, "FAILURE: Build completed with ") {
			g.begin()
			return true
		}
	case '*':
		if t == "* What went wrong:" {
			g.begin()
			g.why++
			g.wrong = newGradleWrong(g.at, g.lim)
			return true
		}
	case 'B':
		if strings.HasPrefix(t, "BUILD SUCCESSFUL") && (t == "BUILD SUCCESSFUL" || strings.HasPrefix(t[16:], " in ")) || strings.HasPrefix(t, "BUILD FAILED") && (t == "BUILD FAILED" || strings.HasPrefix(t[12:], " in ")) {
			return g.build(strings.HasPrefix(t, "BUILD FAILED"))
		}
	}
	if t[0] >= '0' && t[0] <= '9' && strings.Contains(t, " completed, ") {
		return g.totals(t)
	}
	return false
}

// oldTask reads ":x:test" and ":x:test UP-TO-DATE" as Gradle 4 prints them.
// Without an outcome such a line alone does not prove that Gradle runs.
func (g *gradleConsole) oldTask(t string) bool {
	name, outcome, _ := strings.Cut(t, " ")
	if !isIdent(name, ":-.") {
		// The first message stands behind the task on its line.
		if i := strings.IndexByte(t, '/'); i > 0 && strings.Contains(t[:i], "compile") && isIdent(t[:i], ":-.") {
			return g.compiler(t[i:])
		}
		return false
	}
	switch outcome {
	case "UP-TO-DATE", "NO-SOURCE", "FAILED", "SKIPPED", "FROM-CACHE":
		g.task(t)
		return true
	case "":
		g.hinted = true
		g.note(name, "")
		return g.seen
	}
	return false
}

// begin notes a line that only Gradle prints; behind a build's end it opens the next.
func (g *gradleConsole) begin() {
	g.seen = true
	if g.ended {
		g.diags.errors = 0
		g.reset()
		g.seen = true
	}
}

// task reads "x:test", "x:test FAILED", "x:test UP-TO-DATE".
func (g *gradleConsole) task(t string) {
	g.begin()
	name, outcome, _ := strings.Cut(t, " ")
	g.note(name, outcome)
}

func (g *gradleConsole) note(name, outcome string) {
	if !isTestTask(name) || len(g.tasks) > 1<<12 {
		return
	}
	if _, known := g.tasks[name]; !known && outcome == "" {
		name = strings.Clone(name)
		g.tasks[name] = true
		g.order = append(g.order, name)
	}
	if outcome != "" && g.tasks[name] {
		g.tasks[name] = false
	}
}

// isTestTask reports whether a task is of the kind that runs tests, by its name.
func isTestTask(task string) bool {
	name := task[strings.LastIndexByte(task, ':')+1:]
	if strings.HasPrefix(name, "clean") || strings.HasPrefix(name, "compile") || strings.HasPrefix(name, "process") || strings.HasPrefix(name, "generate") || strings.HasSuffix(name, "Classes") {
		return false
	}
	return name == "test" || strings.HasSuffix(name, "Test") || strings.HasSuffix(name, "UnitTest") || strings.HasPrefix(name, "test") && len(name) > 4 && name[4] >= 'A' && name[4] <= 'Z' && strings.HasSuffix(name, "UnitTest")
}

// totals reads "3 tests completed, 1 failed, 1 skipped". Old versions may
// have lost the number in front, which a progress bar overwrote.
func (g *gradleConsole) totals(t string) bool {
	n, rest, _ := leadingInt(t)
	if !strings.HasPrefix(rest, " tests completed, ") && !strings.HasPrefix(rest, " test completed, ") {
		return false
	}
	failed, ok := numBefore(rest, " failed")
	if !ok {
		return false
	}
	if !g.ended { // where the two streams mix, totals may follow the end
		g.begin()
	}
	skipped, _ := numBefore(rest, " skipped")
	g.flush(&gradleTotals{n, failed, skipped})
	return true
}

type gradleTotals struct{ tests, failed, skipped int }

// flush hands on what ran since the last totals.
func (g *gradleConsole) flush(sum *gradleTotals) {
	g.block, g.maybe = nil, nil
	stated := len(g.tests)
	if sum != nil {
		stated = sum.failed
	}
	named := 0
	for _, f := range attempts(g.tests, g.passed, stated) {
		t := f.jvm()
		if t.Flaky {
			g.named.passed++
		} else {
			named++
			g.failed++
		}
		g.out.Test(t)
	}
	for _, f := range g.logged {
		if !g.knows(f) {
			named++
			g.failed++
			g.out.Test(f.jvm())
		}
	}
	if sum == nil {
		g.carry += named
	} else {
		named += g.carry
		g.carry = 0
		skipped := max(sum.skipped-g.named.skipped, 0)
		g.anon.emit(g.out, sum.tests-sum.skipped-max(sum.failed, named)-g.named.passed, Test{Status: Passed, At: g.at})
		g.anon.emit(g.out, skipped, Test{Status: Skipped, At: g.at})
		if sum.failed > max(named, len(g.tests)) {
			g.problem(Problem{Kind: KindPackage, Name: "gradle", At: g.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", sum.failed, named)})
		}
	}
	g.tests, g.logged, g.byName, g.passed = nil, nil, map[string]*failure{}, map[string]bool{}
	g.named.passed, g.named.skipped = 0, 0
}

// knows reports whether Gradle itself named the test that a plugin logged.
func (g *gradleConsole) knows(f *failure) bool {
	for _, o := range g.tests[:min(len(g.tests), 200)] {
		if o.t.Name == f.t.Name && (f.t.Suite == "" || listKey(o.t.Suite, "") == listKey(f.t.Suite, "")) {
			return true
		}
	}
	return false
}

func (g *gradleConsole) problem(p Problem) {
	g.failed++
	g.out.Problem(p)
}

// build reads how the build ended.
func (g *gradleConsole) build(failed bool) bool {
	if !g.seen && !g.hinted {
		return false
	}
	g.seen = true
	if g.ended {
		return true
	}
	g.closeWrong()
	g.flush(nil)
	g.groups()
	if failed && g.failed == 0 {
		g.problem(Problem{Kind: KindExit, Name: "gradle", Message: "BUILD FAILED", At: g.at})
	}
	g.ended = true
	return true
}

// groups tells of the test tasks that passed without naming a test.
func (g *gradleConsole) groups() {
	for _, name := range g.order {
		if g.tasks[name] {
			g.out.Test(Test{Name: ":" + name, Status: Passed, Kind: KindPackage})
		}
	}
	g.order, g.tasks = nil, map[string]bool{}
}

// finish ends what is open: the step, or the log, is over.
func (g *gradleConsole) finish() {
	if g.seen && !g.ended {
		open := len(g.tests)+len(g.order)+g.named.passed+g.named.skipped+g.failed > 0 || g.wrong != nil
		g.closeWrong()
		g.flush(nil)
		if open {
			g.problem(Problem{Kind: KindTruncated, At: g.at, Message: "the output of Gradle ends before its result"})
		}
	}
	g.reset()
}

func (g *gradleConsole) end() { g.finish() }
