package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// gradleFormat reads what Gradle prints: tests, the compilers' messages, and
// what went wrong.
var gradleFormat = format.Format{
	Name:  "gradle",
	Order: 600,
	Wakes: &format.Wake{Flush: format.Digits + ">:WSF*B", Indent: "T", Ends: "DTR"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		g := &gradleConsole{out: out, lim: lim, anon: model.NewAnonymous(lim), diags: failtext.Diagnostics{Out: out, Limits: lim}}
		g.reset()
		return g
	},
}

// gradleConsole reads one build after the other. Gradle names tests that
// failed as they fail, and says how many ran only where one did.
type gradleConsole struct {
	out   model.Sink
	lim   model.Limits
	anon  *model.Anonymous
	diags failtext.Diagnostics

	seen   bool // a line that only Gradle prints
	hinted bool // a line that Gradle might have printed
	at     int
	tests  []*failtext.Failure          // failed since the last totals
	byName map[string]*failtext.Failure // of them
	passed map[string]bool              // since the last totals, only names that failed before
	named  struct{ passed, skipped int }
	block  *failtext.Failure
	maybe  *failtext.Failure // "T FAILED", to be confirmed by the next line
	class  string            // a heading of the test logger
	logged []*failtext.Failure
	tasks  map[string]bool // test tasks that ran; false once they failed
	order  []string
	failed int // tests and problems handed on in this build
	ended  bool
	wrong  *gradleWrong
	carry  int // failing tests handed on at the build's end, before their totals
	why    int // "What went wrong" blocks of this build
}

func (g *gradleConsole) reset() {
	*g = gradleConsole{out: g.out, lim: g.lim, anon: g.anon, diags: g.diags, byName: map[string]*failtext.Failure{}, passed: map[string]bool{}, tasks: map[string]bool{}}
}

func (g *gradleConsole) Idle() bool {
	return !g.seen && !g.hinted && g.maybe == nil && g.wrong == nil && g.block == nil && g.class == ""
}

func (g *gradleConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
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
		g.block.Text.Add("")
	}
	if g.wrong != nil {
		g.wrong.text.Add("")
	}
}

// indented takes the text below a failure; nested builds that tests print are
// indented too and are not looked at.
func (g *gradleConsole) indented(t string) bool {
	if g.maybe != nil {
		if strings.HasPrefix(t, "    ") && failtext.IsJVMType(strings.Split(strings.TrimSpace(t)+":", ":")[0]) {
			g.fail(g.maybe)
		}
		g.maybe = nil
	}
	if g.wrong != nil {
		g.wrong.text.Add(t)
		return true
	}
	if g.block != nil {
		g.block.Text.Add(t)
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
	if !parse.IsIdent(name, ":-.") {
		// The first message stands behind the task on its line.
		if i := strings.IndexByte(t, '/'); i > 0 && strings.Contains(t[:i], "compile") && parse.IsIdent(t[:i], ":-.") {
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
		g.diags.Errors = 0
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
	n, rest, _ := parse.LeadingInt(t)
	if !strings.HasPrefix(rest, " tests completed, ") && !strings.HasPrefix(rest, " test completed, ") {
		return false
	}
	failed, ok := parse.NumBefore(rest, " failed")
	if !ok {
		return false
	}
	if !g.ended { // where the two streams mix, totals may follow the end
		g.begin()
	}
	skipped, _ := parse.NumBefore(rest, " skipped")
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
	for _, f := range failtext.Attempts(g.tests, g.passed, stated) {
		t := f.JVM()
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
			g.out.Test(f.JVM())
		}
	}
	if sum == nil {
		g.carry += named
	} else {
		named += g.carry
		g.carry = 0
		skipped := max(sum.skipped-g.named.skipped, 0)
		g.anon.Emit(g.out, sum.tests-sum.skipped-max(sum.failed, named)-g.named.passed, model.Test{Status: model.Passed, At: g.at})
		g.anon.Emit(g.out, skipped, model.Test{Status: model.Skipped, At: g.at})
		if sum.failed > max(named, len(g.tests)) {
			g.problem(failtext.NotNamed("gradle", sum.failed, named, g.at))
		}
	}
	g.tests, g.logged, g.byName, g.passed = nil, nil, map[string]*failtext.Failure{}, map[string]bool{}
	g.named.passed, g.named.skipped = 0, 0
}

// knows reports whether Gradle itself named the test that a plugin logged.
func (g *gradleConsole) knows(f *failtext.Failure) bool {
	for _, o := range g.tests[:min(len(g.tests), 200)] {
		if o.Test.Name == f.Test.Name && (f.Test.Suite == "" || listKey(o.Test.Suite, "") == listKey(f.Test.Suite, "")) {
			return true
		}
	}
	return false
}

func (g *gradleConsole) problem(p model.Problem) {
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
		g.problem(model.Problem{Kind: model.KindExit, Name: "gradle", Message: "BUILD FAILED", At: g.at})
	}
	g.ended = true
	return true
}

// groups tells of the test tasks that passed without naming a test.
func (g *gradleConsole) groups() {
	for _, name := range g.order {
		if g.tasks[name] {
			g.out.Test(model.Test{Name: ":" + name, Status: model.Passed, Kind: model.KindPackage})
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
			g.problem(model.Problem{Kind: model.KindTruncated, At: g.at, Message: "the output of Gradle ends before its result"})
		}
	}
	g.reset()
}

func (g *gradleConsole) End() { g.finish() }

// outcomes are what Gradle prints behind a test's name.
var gradleOutcomes = [...]string{" FAILED", " PASSED", " SKIPPED", " STARTED", " STANDARD_OUT", " STANDARD_ERROR", " STANDARD_ERR"}

// outcome reads "T > test() FAILED".
func (g *gradleConsole) outcome(t string) bool {
	last := t[len(t)-1]
	if last != 'D' && last != 'T' && last != 'R' || len(t) > 4<<10 {
		return false
	}
	name, how := t, ""
	for _, o := range gradleOutcomes {
		if n, ok := strings.CutSuffix(t, o); ok {
			name, how = n, o[1:]
			break
		}
	}
	if how == "" {
		return false
	}
	i := strings.LastIndex(name, " > ")
	if i <= 0 {
		if how == "FAILED" && g.seen && parse.IsIdent(name, ".$ ") && name[0] >= 'A' {
			g.maybe = failtext.NewFailure(model.Test{Suite: name, Name: failtext.ClassName(name), Status: model.Failed, Kind: model.KindSetup, At: g.at}, failtext.Shrunk(g.lim, len(g.tests)))
		}
		return false
	}
	if !gradleSuite(name[:i]) {
		return false
	}
	t0 := model.Test{Suite: name[:i], Name: name[i+3:], At: g.at}
	switch how {
	case "FAILED":
		t0.Status = model.Failed
		if t0.Name == "initializationError" || t0.Name == "classMethod" || t0.Name == "executionError" {
			t0.Kind = model.KindSetup
		}
		g.fail(failtext.NewFailure(t0, failtext.Shrunk(g.lim, len(g.tests))))
	case "PASSED":
		if g.byName[t0.Suite+"\x00"+t0.Name] != nil && len(g.passed) < g.lim.Failing {
			g.passed[strings.Clone(t0.Suite+"\x00"+t0.Name)] = true
			break // told when the task ends
		}
		if !g.seen {
			return false
		}
		g.named.passed++
		t0.Status = model.Passed
		g.out.Test(t0)
	case "SKIPPED":
		if !g.seen {
			return false
		}
		g.named.skipped++
		t0.Status = model.Skipped
		g.out.Test(t0)
	}
	return g.seen
}

// gradleSuite reports whether s can be what stands before a test's name: a
// class, or a path of classes and display names.
func gradleSuite(s string) bool {
	first, _, _ := strings.Cut(s, " > ")
	return first != "" && !strings.ContainsAny(first[:1], "-+*#>|<[({\"'`$/\\=~:") && !strings.Contains(first, "::") && !strings.HasSuffix(first, ":") && !parse.IsScript(first)
}

// fail begins the failure of a test. The same name again is a further attempt,
// or a test that is run with several values.
func (g *gradleConsole) fail(f *failtext.Failure) {
	g.block = f
	if len(g.tests) < 5*g.lim.Failing {
		g.tests = append(g.tests, f)
		g.byName[f.Test.Suite+"\x00"+f.Test.Name] = f
	}
}

// logger reads the lines of the test-logger plugin: "name FAILED (1.2s)".
func (g *gradleConsole) logger(t string) bool {
	t = strings.TrimRight(t, " ")
	if strings.HasSuffix(t, ")") {
		if i := strings.LastIndex(t, " ("); i > 0 {
			t = t[:i]
		}
	}
	name, ok := strings.CutSuffix(t, " FAILED")
	if !ok || !g.seen || len(g.logged) >= g.lim.Failing {
		return false
	}
	f := failtext.NewFailure(model.Test{Name: name, Status: model.Failed, At: g.at}, failtext.Shrunk(g.lim, len(g.tests)))
	f.Test.Suite = g.class
	g.logged = append(g.logged, f)
	g.block = f
	return true
}

// gradleWrong is the text below "* What went wrong:".
type gradleWrong struct {
	at   int
	task string
	text bounded.Block
}

func newGradleWrong(at int, lim model.Limits) *gradleWrong {
	return &gradleWrong{at: at, text: bounded.Block{Max: lim.Text / 2}}
}

// line takes an unindented line; "* Try:" and its like end the block.
func (w *gradleWrong) line(g *gradleConsole, t string) bool {
	if strings.HasPrefix(t, "* ") || strings.HasPrefix(t, "BUILD ") || strings.HasPrefix(t, "=====") {
		g.closeWrong()
		return strings.HasPrefix(t, "* Try") || strings.HasPrefix(t, "* Get more help") || strings.HasPrefix(t, "* Exception is")
	}
	if strings.HasPrefix(t, "> Task :") { // the two streams mix
		return false
	}
	if rest, ok := strings.CutPrefix(t, "Execution failed for task '"); ok {
		w.task, _, _ = strings.Cut(rest, "'")
		w.task = strings.Clone(w.task)
	}
	w.text.Add(t)
	return true
}

// closeWrong hands on why the build failed, unless failing tests say it.
func (g *gradleConsole) closeWrong() {
	w := g.wrong
	if w == nil {
		return
	}
	g.wrong = nil
	text := strings.TrimSpace(w.text.String())
	if strings.Contains(text, "> There were failing tests") && g.failed+len(g.tests)+len(g.logged) > 0 {
		return
	}
	p := model.Problem{Kind: gradleKind(w.task, text), Name: parse.FirstOf(w.task, "gradle"), Message: gradleReason(text), Trace: text, At: w.at}
	if p.Kind == model.KindBuild {
		g.diags.Place(&p)
	}
	if m := gradleScript.FindStringSubmatch(text); m != nil && p.File == "" {
		p.File = m[1]
		p.Line, _, _ = parse.LeadingInt(m[2])
	}
	g.problem(p)
}

var gradleScript = lazyregexp.New(`(?m)^\s*(?:[Bb]uild|Settings|Script|Initialization script) file '([^'\n]+)'(?: line)?: (\d+)`)

// gradleReason returns the line behind ">", which says more than the first.
func gradleReason(text string) string {
	for rest := text; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), "> "); ok && why != "" {
			return why
		}
	}
	return parse.HeadLine(text)
}

func gradleKind(task, text string) model.Kind {
	name := task[strings.LastIndexByte(task, ':')+1:]
	switch {
	case strings.Contains(text, "Could not resolve ") || strings.Contains(text, "Could not download ") || strings.Contains(text, "Could not GET ") || strings.Contains(text, "Could not HEAD "):
		return model.KindSetup
	case strings.Contains(text, "Timeout has been exceeded"):
		return model.KindTimeout
	case strings.Contains(text, "Gradle Test Executor") || strings.Contains(text, "finished with non-zero exit value") && isTestTask(name),
		strings.Contains(text, "Gradle build daemon disappeared unexpectedly"):
		return model.KindCrash
	case strings.HasPrefix(name, "compile") || strings.HasPrefix(name, "ksp") || strings.HasPrefix(name, "kapt") || strings.Contains(text, "Compilation failed") || strings.Contains(text, "Compilation error"),
		strings.Contains(text, "Could not compile "), strings.Contains(text, "Script compilation error"):
		return model.KindBuild
	case strings.Contains(text, "> No tests found for given includes"):
		return model.KindEmpty
	case strings.HasPrefix(name, "jacoco") && strings.Contains(text, "Rule violated"):
		return model.KindCoverage
	case task == "" && (strings.Contains(text, "A problem occurred ") || strings.Contains(text, "Could not determine the dependencies of task")):
		return model.KindSetup
	}
	return model.KindExit
}

var (
	javacLine   = lazyregexp.New(`^((?:[A-Za-z]:)?[^\s:][^:]*\.(?:java|groovy|scala|kt|aj)):(\d+): (error: |warning: )?(.+)$`)
	kotlincLine = lazyregexp.New(`^([ewi]): (?:file://)?((?:[A-Za-z]:)?[^:]+\.kts?):(?: \((\d+), (\d+)\):|(\d+):(\d+):?) (.+)$`)
	groovyLine  = lazyregexp.New(`^((?:[A-Za-z]:)?[^\s:][^:]*\.groovy): (\d+): (.+)$`)
)

// compiler reads the messages of javac, kotlinc and groovyc.
func (g *gradleConsole) compiler(t string) bool {
	d, ok := compilerLine(t)
	if ok {
		d.At = g.at
		g.diags.Add(d)
	}
	return ok
}

// compilerLine reads one message of javac, kotlinc or groovyc.
func compilerLine(t string) (model.Diagnostic, bool) {
	if len(t) > 4<<10 || len(t) < 8 {
		return model.Diagnostic{}, false
	}
	if t[1] == ':' && t[2] == ' ' && (t[0] == 'e' || t[0] == 'w') {
		m := kotlincLine.FindStringSubmatch(t)
		if m == nil {
			return model.Diagnostic{}, false
		}
		d := model.Diagnostic{Tool: "kotlinc", File: m[2], Severity: model.SevError, Message: m[7]}
		if t[0] == 'w' {
			d.Severity = model.SevWarning
		}
		d.Line, _, _ = parse.LeadingInt(m[3] + m[5])
		d.Column, _, _ = parse.LeadingInt(m[4] + m[6])
		return d, true
	}
	if strings.Contains(t, ".java:") && (strings.Contains(t, ": error: ") || strings.Contains(t, ": warning: ")) {
		m := javacLine.FindStringSubmatch(t)
		if m == nil || m[3] == "" {
			return model.Diagnostic{}, false
		}
		d := model.Diagnostic{Tool: "javac", File: m[1], Severity: model.SevError, Message: m[4]}
		if m[3][0] == 'w' {
			d.Severity = model.SevWarning
		}
		d.Line, _, _ = parse.LeadingInt(m[2])
		return d, true
	}
	if strings.Contains(t, ".groovy: ") {
		if m := groovyLine.FindStringSubmatch(t); m != nil {
			d := model.Diagnostic{Tool: "groovyc", File: m[1], Severity: model.SevError, Message: m[3]}
			d.Line, _, _ = parse.LeadingInt(m[2])
			return d, true
		}
	}
	return model.Diagnostic{}, false
}
