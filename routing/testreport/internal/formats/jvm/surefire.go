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

// surefireFormat reads what Maven prints: the tests of Surefire and Failsafe
// (2.x and 3.x), compiler errors, and why a goal failed.
var surefireFormat = format.Format{
	Name:  "surefire",
	Order: 590,
	Wakes: &format.Wake{Flush: format.Digits + "[TRB", Indent: "T", Holds: '<'},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		s := &surefireConsole{out: out, lim: lim, anon: model.NewAnonymous(lim), diags: failtext.Diagnostics{Out: out, Limits: lim}}
		s.reset()
		return s
	},
}

// surefireConsole reads one module after the other. Surefire prints a line per
// class, the failures of it, and at the end of a module its totals, which
// alone are exact where failing tests were run again.
type surefireConsole struct {
	out   model.Sink
	lim   model.Limits
	anon  *model.Anonymous
	diags failtext.Diagnostics

	scanned bool // Maven itself said that it began; its end must follow
	at      int
	module  surefireModule
	failed  int // tests and problems handed on since Maven began
	ended   bool
	tests   bool // any test line was seen since Maven began
	goal    *goalFailure
	crash   bool // a dead process was told of since Maven began
}

// surefireModule is one run of Surefire.
type surefireModule struct {
	open    bool
	at      int
	class   string // of the last line that ended one
	running string // of the last line that began one
	sum     mavenTotals
	tests   []*failtext.Failure
	block   *failtext.Failure
	framed  bool // a stack frame of the block was seen
	results bool // in the list at the end
	list    surefireList
	crash   *model.Problem
}

// mavenTotals is "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0".
type mavenTotals struct{ tests, failures, errors, skipped, flakes int }

func (s *surefireConsole) reset() { s.module = surefireModule{} }

// mavenLevel takes off Maven's level and says which it was. Some log formats
// put the time of day before it.
func mavenLevel(t string) (level, rest string) {
	if len(t) > 9 && t[0] >= '0' && t[0] <= '9' {
		if i := strings.IndexByte(t[:min(len(t), 40)], '['); i > 0 && parse.IsIdent(t[:i], ":.,- +T") {
			t = t[i:]
		}
	}
	if len(t) < 6 || t[0] != '[' {
		return "", t
	}
	for _, l := range [...]string{"[INFO]", "[ERROR]", "[WARNING]", "[WARN]"} {
		if strings.HasPrefix(t, l) {
			return l[1 : len(l)-1], strings.TrimPrefix(t[len(l):], " ")
		}
	}
	return "", t
}

func (s *surefireConsole) Idle() bool {
	return !s.scanned && !s.module.open && !s.module.results && s.module.block == nil && s.goal == nil
}

func (s *surefireConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			s.finish()
		}
		return false
	}
	s.at = l.No
	level, t := mavenLevel(l.Text)
	t = strings.TrimRight(t, " ")
	m := &s.module
	if t == "" {
		s.blank()
		return false
	}
	if level == "" && t[0] == '\t' {
		s.text(t)
		return false
	}
	switch {
	case strings.HasPrefix(t, "Tests run: "):
		return s.totals(t)
	case strings.Contains(t, "<<< "):
		if s.header(t) {
			return true
		}
	case level == "INFO" && t[0] == 'S' && strings.HasPrefix(t, "Scanning for projects..."):
		s.finish()
		s.scanned, s.ended = true, false
		return true
	case t[0] == 'R' && strings.HasPrefix(t, "Running "):
		return s.running(t[len("Running "):])
	case t[0] == 'R' && m.open && (t == "Results :" || t == "Results:"):
		s.closeBlock()
		m.results = true
		return true
	case t[0] == 'T' && t == "T E S T S" || t[0] == ' ' && t == " T E S T S":
		s.begin()
		return true
	case t[0] == 'B' && level == "INFO" && strings.HasPrefix(t, "BUILD "):
		return s.build(t[len("BUILD "):])
	}
	if level == "ERROR" || level == "WARNING" || level == "WARN" {
		if s.plugin(level, t) {
			return true
		}
	} else if s.goal != nil && !s.goal.pending {
		s.closeGoal()
	}
	if m.open && !m.results && isListHead(t) {
		s.closeBlock()
		m.results = true
	}
	if m.results {
		return m.list.line(t, l.No, s.lim)
	}
	if level == "INFO" {
		s.closeBlock()
		return false
	}
	s.text(t)
	return false
}

func (s *surefireConsole) begin() {
	s.closeBlock()
	if s.module.open && s.module.results {
		s.endModule(nil)
	}
	if !s.module.open {
		s.module.open, s.module.at = true, s.at
	}
	s.tests = true
}

// running notes the class that begins. "Running x" alone proves nothing.
func (s *surefireConsole) running(class string) bool {
	if !parse.IsIdent(class, ".$-") || !strings.Contains(class, ".") && !s.module.open {
		return false
	}
	s.closeBlock()
	s.module.running = strings.Clone(class)
	return s.module.open
}

func parseMavenTotals(t string) (mt mavenTotals, rest string, ok bool) {
	rest = t
	for {
		label, after, found := strings.Cut(rest, ": ")
		if !found {
			break
		}
		n, tail, isNum := parse.LeadingInt(after)
		if !isNum {
			break
		}
		switch label {
		case "Tests run":
			mt.tests, ok = n, true
		case "Failures":
			mt.failures = n
		case "Errors":
			mt.errors = n
		case "Skipped":
			mt.skipped = n
			return mt, tail, ok && strings.Contains(t, "Failures: ")
		case "Flakes":
			mt.flakes = n
		default:
			return mt, rest, false
		}
		rest = strings.TrimPrefix(tail, ", ")
	}
	return mt, rest, false // JUnit's own runner has no Skipped
}

// totals reads the line that ends a class, which has a time, or a module.
func (s *surefireConsole) totals(t string) bool {
	mt, rest, ok := parseMavenTotals(t)
	if !ok {
		return false
	}
	m := &s.module
	rest = strings.TrimPrefix(rest, ",")
	if !strings.Contains(rest, "Time elapsed: ") {
		if rest != "" && (!strings.HasPrefix(rest, " ") || m.open && !m.results) { // a test prints it
			return false
		}
		if !m.open {
			s.begin()
		}
		if m.results {
			model.Session(s.out, m.at, s.at)
		}
		s.endModule(&mt)
		return true
	}
	s.begin()
	m.class = m.running
	for _, sep := range [...]string{" -- in ", " - in "} {
		if i := strings.Index(rest, sep); i >= 0 {
			m.class = strings.Clone(strings.TrimSpace(rest[i+len(sep):]))
		}
	}
	m.sum.tests += mt.tests
	m.sum.failures += mt.failures
	m.sum.errors += mt.errors
	m.sum.skipped += mt.skipped
	return true
}

// header reads the line above a failure.
func (s *surefireConsole) header(t string) bool {
	name, rest, ok := strings.Cut(t, "Time elapsed: ")
	if !ok {
		return false
	}
	_, how, ok := strings.Cut(rest, "<<< ")
	how = strings.TrimSuffix(how, "!")
	if !ok || how != "FAILURE" && how != "ERROR" {
		return false
	}
	secs, _, _ := strings.Cut(rest, " ")
	name = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(name, " "), "--"))
	if name == "" {
		return false
	}
	s.begin()
	m := &s.module
	suite, test := surefireName(name, m.class)
	f := failtext.NewFailure(model.Test{Suite: suite, Name: test, Status: model.Failed, Duration: parse.Spent(secs), At: s.at}, failtext.Shrunk(s.lim, len(m.tests)))
	if how == "FAILURE" {
		f.Test.Kind = model.KindAssertion
	}
	if name == suite || test == "initializationError" {
		f.Test.Kind = model.KindSetup
	}
	m.block, m.framed = f, false
	if len(m.tests) < 5*s.lim.Failing {
		m.tests = append(m.tests, f)
	}
	return true
}

// surefireName splits "test(com.x.T)", "com.x.T.test", "test" or "com.x.T".
func surefireName(name, class string) (suite, test string) {
	if strings.HasSuffix(name, ")") {
		if i := strings.LastIndexByte(name, '('); i > 0 && parse.IsIdent(name[i+1:len(name)-1], ".$-") && (class == "" || !strings.HasPrefix(name, class+".")) {
			if in := name[i+1 : len(name)-1]; strings.Contains(in, ".") || in == class || class == "" {
				return in, strings.TrimSpace(name[:i])
			}
		}
	}
	switch {
	case class == "":
		base := name
		if i := strings.IndexAny(name, "([{"); i > 0 {
			base = name[:i]
		}
		if i := strings.LastIndexByte(base, '.'); i > 0 && parse.IsIdent(base, ".$") {
			return name[:i], name[i+1:]
		}
		return "", name
	case name == class:
		return class, class[strings.LastIndexByte(class, '.')+1:]
	case strings.HasPrefix(name, class+"."):
		return class, name[len(class)+1:]
	}
	// A suite runs other classes, a class its nested ones: com.x.T$Inner.test.
	base := name
	if i := strings.IndexAny(name, "([{ "); i > 0 {
		base = name[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && parse.IsIdent(base, ".$") {
		return name[:i], name[i+1:]
	}
	return class, name
}

func (s *surefireConsole) text(t string) {
	m := &s.module
	if m.block == nil {
		return
	}
	m.block.Text.Add(t)
	if t[0] == '\t' {
		m.framed = true
	}
}

func (s *surefireConsole) blank() {
	if m := &s.module; m.block != nil {
		if m.framed {
			s.closeBlock()
			return
		}
		m.block.Text.Add("")
	}
}

func (s *surefireConsole) closeBlock() { s.module.block = nil }

// build reads how Maven ended.
func (s *surefireConsole) build(how string) bool {
	if how != "SUCCESS" && how != "FAILURE" {
		return false
	}
	if s.module.open {
		s.endModule(nil)
	}
	s.ended = true
	if how == "FAILURE" && s.failed == 0 {
		s.goal = &goalFailure{problem: model.Problem{Kind: model.KindExit, Name: "maven", Message: "BUILD FAILURE", At: s.at}, pending: true}
	}
	return true
}

// finish ends a run of Maven: its step, or the log, is over.
func (s *surefireConsole) finish() {
	s.closeGoal()
	if s.module.open {
		s.endModule(nil)
	}
	if s.scanned && s.tests && !s.ended {
		s.problem(model.Problem{Kind: model.KindTruncated, At: s.at, Message: "the output of Maven ends before its result"})
	}
	s.scanned, s.tests, s.ended, s.failed, s.crash = false, false, false, 0, false
}

func (s *surefireConsole) End() { s.finish() }

func (s *surefireConsole) problem(p model.Problem) {
	s.failed++
	s.out.Problem(p)
}

// endModule hands on the tests of a module; without totals the classes' lines
// are all there is, and the module did not end.
func (s *surefireConsole) endModule(mt *mavenTotals) {
	m := &s.module
	s.closeBlock()
	sum := m.sum
	if mt != nil {
		sum = *mt
	}
	m.adopt(s.lim)
	failing := sum.failures + sum.errors
	named := 0
	for _, f := range failtext.Attempts(m.tests, nil, failing) {
		t := f.JVM()
		if m.list.flaky[listKey(t.Suite, t.Name)] || mt != nil && failing == 0 {
			t.Flaky, t.Status, t.Retries = true, model.Passed, max(t.Retries, 1)
			if sum.tests > 0 {
				sum.tests--
				s.out.Test(t)
			}
			continue
		}
		named++
		s.failed++
		s.out.Test(t)
	}
	skipped := min(sum.skipped, max(sum.tests, 0))
	s.anon.Emit(s.out, sum.tests-skipped-max(failing, named), model.Test{Status: model.Passed, At: m.at})
	s.anon.Emit(s.out, skipped, model.Test{Status: model.Skipped, At: m.at})
	if failing > max(named, len(m.tests)) {
		s.problem(failtext.NotNamed(parse.FirstOf(m.class, "surefire"), failing, named, s.at))
	}
	if m.crash != nil {
		s.crash = true
		s.problem(*m.crash)
	} else if mt == nil {
		s.problem(model.Problem{Kind: model.KindTruncated, At: s.at, Message: "the output of Surefire ends before the totals of the module"})
	}
	s.reset()
}

// goalFailure is why a goal of Maven failed, while the lines that say it go on.
type goalFailure struct {
	problem model.Problem
	text    bounded.Block
	pending bool // BUILD FAILURE; the goal has not been named yet
	tests   bool // the goal is one that runs tests
}

var (
	mavenPlace = lazyregexp.New(`^(?:file://)?((?:[A-Za-z]:)?[^\s:\[\]][^:\[\]]*\.\w+):\[(\d+)(?:,(\d+))?\] (.+)$`)
	mavenKt    = lazyregexp.New(`^(?:file://)?((?:[A-Za-z]:)?[^\s:\[\]][^:\[\]]*\.kts?): \((\d+), (\d+)\) (.+)$`)
	mavenScala = lazyregexp.New(`^(?:file://)?((?:[A-Za-z]:)?/[^\s:\[\]][^:\[\]]*\.scala):(\d+): (?:error: )?(.+)$`)
)

// plugin reads the lines of level error and warning that are not of a test.
func (s *surefireConsole) plugin(level, t string) bool {
	if s.place(level, t) {
		return true
	}
	if level != "ERROR" {
		return false
	}
	switch {
	case strings.HasPrefix(t, "Failed to execute goal "):
		if s.goal != nil && s.goal.pending {
			s.goal = nil
		}
		s.closeGoal()
		s.startGoal(t)
		return true
	case strings.HasPrefix(t, "COMPILATION ERROR"):
		s.closeBlock()
		return true
	case strings.HasPrefix(t, "The build could not read ") && strings.Contains(t, " project"),
		strings.HasPrefix(t, "Some problems were encountered while processing the POMs"),
		strings.HasPrefix(t, "Could not find goal '"), strings.HasPrefix(t, "No plugin found for prefix '"), strings.HasPrefix(t, "Unknown lifecycle phase "):
		s.closeGoal()
		s.problem(model.Problem{Kind: model.KindSetup, Name: "maven", Message: t, At: s.at})
		return true
	case isForkCrash(t):
		s.crashed(t)
		return true
	}
	if s.goal == nil || s.goal.pending {
		return false
	}
	if strings.HasPrefix(t, "-> [Help") || strings.HasPrefix(t, "[Help ") || strings.HasPrefix(t, "To see the full stack trace") || strings.HasPrefix(t, "Re-run Maven using") {
		s.closeGoal()
		return true
	}
	s.goal.text.Add(t)
	return true
}

func isForkCrash(t string) bool {
	return strings.Contains(t, "The forked VM terminated without") || strings.Contains(t, "There was a timeout or other error in the fork") ||
		strings.HasPrefix(t, "Crashed tests:") || strings.Contains(t, "Error occurred in starting fork")
}

// crashed notes that the process which ran tests died, once per module.
func (s *surefireConsole) crashed(t string) {
	kind := model.KindCrash
	if strings.Contains(t, "There was a timeout") {
		kind = model.KindTimeout
	}
	m := &s.module
	if s.goal != nil && !s.goal.pending {
		s.goal.problem.Kind = kind
		s.goal.text.Add(t)
		return
	}
	p := model.Problem{Kind: kind, Name: parse.FirstOf(m.running, m.class, "surefire"), Message: strings.Clone(t), At: s.at}
	if !m.open {
		if !s.crash {
			s.crash = true
			s.problem(p)
		}
	} else if m.crash == nil {
		m.crash = &p
	}
}

// place reads "/path/X.java:[12,5] message".
func (s *surefireConsole) place(level, t string) bool {
	tool, re := "", mavenPlace
	switch {
	case strings.Contains(t, ":["):
		tool = "javac"
	case strings.Contains(t, ": ("):
		tool, re = "kotlinc", mavenKt
	case strings.Contains(t, ".scala:"):
		tool, re = "scalac", mavenScala
	default:
		return false
	}
	if len(t) > 4<<10 {
		return false
	}
	m := re.FindStringSubmatch(t)
	if m == nil {
		return false
	}
	switch {
	case strings.HasSuffix(m[1], ".kt") || strings.HasSuffix(m[1], ".kts"):
		tool = "kotlinc"
	case m[len(m)-1][0] == '(' && tool == "javac":
		tool = "checkstyle"
	case !strings.HasSuffix(m[1], ".java") && tool == "javac":
		tool = "maven"
	}
	d := model.Diagnostic{Tool: tool, File: m[1], Severity: model.SevError, Message: m[len(m)-1], At: s.at}
	d.Line, _, _ = parse.LeadingInt(m[2])
	if len(m) > 4 {
		d.Column, _, _ = parse.LeadingInt(m[3])
	}
	if level != "ERROR" {
		d.Severity = model.SevWarning
	}
	s.diags.Add(d)
	return true
}

// startGoal reads "Failed to execute goal org.x:some-maven-plugin:1.0:goal (id) on project p: why".
func (s *surefireConsole) startGoal(t string) {
	rest := strings.TrimPrefix(t, "Failed to execute goal ")
	goal, _, _ := strings.Cut(rest, " ")
	why := rest
	if _, after, ok := strings.Cut(rest, " on project "); ok {
		why = after
		if project, after, ok := strings.Cut(after, ": "); ok {
			why = after
			goal += " on " + project
		}
	}
	why = strings.TrimSpace(strings.TrimSuffix(why, "-> [Help 1]"))
	p := model.Problem{Kind: goalKind(goal, why), Name: strings.Clone(goal), Message: strings.Clone(why), At: s.at}
	g := &goalFailure{problem: p, text: bounded.Block{Max: s.lim.Text / 2}}
	g.tests = strings.Contains(goal, "surefire") || strings.Contains(goal, "failsafe")
	g.text.Add(why)
	s.goal = g
	if strings.Contains(t, "-> [Help") {
		s.closeGoal()
	}
}

// goalKind tells what a goal's failure means by the plugin and what it says.
func goalKind(goal, why string) model.Kind {
	switch {
	case isForkCrash(why) && strings.Contains(why, "timeout"):
		return model.KindTimeout
	case isForkCrash(why):
		return model.KindCrash
	case strings.Contains(why, "Could not resolve dependencies") || strings.Contains(why, "could not be resolved") || strings.Contains(why, "Could not transfer artifact"):
		return model.KindSetup
	case parse.HasAny(goal, "compiler-plugin", "kotlin-maven-plugin", "scala-maven-plugin", "aspectj", "gmavenplus", "antlr", "protobuf-maven-plugin", "gwt-maven-plugin"):
		return model.KindBuild
	case strings.HasPrefix(why, "No tests were executed!") || strings.HasPrefix(why, "No tests matching pattern"):
		return model.KindEmpty
	case strings.Contains(goal, "jacoco") && strings.Contains(goal, ":check"):
		return model.KindCoverage
	}
	return model.KindExit
}

// closeGoal hands on why a goal failed, unless failing tests say it already.
func (s *surefireConsole) closeGoal() {
	g := s.goal
	if g == nil {
		return
	}
	s.goal = nil
	p := g.problem
	text := g.text.String()
	if g.tests && p.Kind == model.KindExit && s.failed > 0 {
		return
	}
	if p.Kind == model.KindExit && isForkCrash(text) {
		p.Kind = model.KindCrash
	}
	if (p.Kind == model.KindCrash || p.Kind == model.KindTimeout) && s.crash {
		return
	}
	if p.Message != text {
		p.Trace = text
	}
	if p.Kind == model.KindCrash || p.Kind == model.KindTimeout {
		for _, line := range strings.Split(text, "\n") {
			if isForkCrash(line) && !strings.HasPrefix(line, "Crashed tests:") {
				p.Message = strings.TrimSpace(line)
				break
			}
		}
	}
	if p.Kind == model.KindBuild && s.diags.First.Message != "" {
		p.Message = s.diags.First.Message
		s.diags.Place(&p)
	}
	s.problem(p)
}

// surefireList is what stands behind "Results": failing tests in one line each.
type surefireList struct {
	section string // "failed", "flaky", ""
	entries []listedTest
	flaky   map[string]bool
	last    string // a name whose runs follow
}

// listedTest is one line of the list.
type listedTest struct {
	class, method string
	line          int
	text          string
	at            int
	error         bool
}

// isListHead reports whether t begins a part of the list; its own heading is
// missing where summaries are switched off.
func isListHead(t string) bool {
	switch t {
	case "Failures:", "Errors:", "Failed tests:", "Tests in error:", "Flaked tests:", "Flakes:":
		return true
	}
	return false
}

// line takes a line between "Results" and the module's totals.
func (s *surefireList) line(t string, at int, lim model.Limits) bool {
	switch strings.TrimSpace(t) {
	case "Failed tests:", "Failures:":
		s.section, s.last = "failure", ""
		return true
	case "Tests in error:", "Errors:":
		s.section, s.last = "error", ""
		return true
	case "Flaked tests:", "Flakes:":
		s.section, s.last = "flaky", ""
		return true
	}
	if s.section == "" || strings.HasPrefix(t, "Tests run:") {
		return false
	}
	// Old versions put the first entry behind the heading.
	for _, h := range [...]string{"Failed tests: ", "Tests in error: "} {
		if rest, ok := strings.CutPrefix(t, h); ok {
			s.section = "failure"
			if h[0] == 'T' {
				s.section = "error"
			}
			t = "  " + strings.TrimSpace(rest)
		}
	}
	text := strings.TrimSpace(t)
	if strings.HasPrefix(text, "Run ") && s.last != "" {
		return true
	}
	if s.section == "flaky" || !strings.HasPrefix(t, " ") {
		// "com.x.T.test" alone; its runs follow.
		if parse.IsIdent(strings.Split(text+"(", "(")[0], ".$[]{}") && strings.Contains(text, ".") {
			s.last = text
			if s.section == "flaky" && len(s.flaky) < lim.Failing {
				if s.flaky == nil {
					s.flaky = map[string]bool{}
				}
				class, method := surefireName(text, "")
				s.flaky[listKey(class, method)] = true
			}
			return true
		}
		return false
	}
	if e, ok := parseListed(text); ok && len(s.entries) < lim.Failing {
		e.at, e.error = at, s.section == "error"
		s.entries = append(s.entries, e)
		return true
	}
	return true
}

// parseListed reads "T.test:12 message", "T.test:12 » NullPointer", "T>Base.test:12",
// "T.test:12->helper:30 message" and "test(com.x.T): message".
func parseListed(text string) (listedTest, bool) {
	if i := strings.IndexByte(text, '('); i > 0 {
		if j := strings.IndexByte(text[i:], ')'); j > 0 && parse.IsIdent(text[i+1:i+j], ".$") && strings.Contains(text[i:i+j], ".") && !strings.Contains(text[:i], ":") {
			return listedTest{class: text[i+1 : i+j], method: text[:i], text: strings.TrimPrefix(text[i+j+1:], ": ")}, true
		}
	}
	head, msg, _ := strings.Cut(text, " » ")
	e := listedTest{text: msg}
	if msg == "" {
		head = text
	}
	colon := strings.IndexByte(head, ':')
	name := head
	if colon > 0 {
		n, rest, ok := parse.LeadingInt(head[colon+1:])
		if ok {
			e.line, name = n, head[:colon]
			if e.text == "" {
				e.text = strings.TrimSpace(rest)
			}
			if strings.HasPrefix(e.text, "->") {
				_, e.text, _ = strings.Cut(e.text, " ")
			}
		}
	}
	if colon < 0 || e.line == 0 {
		name, _, _ = strings.Cut(name, " ")
	}
	i := strings.IndexByte(name, '.')
	if i <= 0 || !parse.IsIdent(name[:i], "$>") {
		return listedTest{}, false
	}
	class := name[:i]
	method := name[i+1:]
	if sub, base, ok := strings.Cut(class, ">"); ok { // Sub>Base.test
		class, e.line = sub, 0
		_ = base
	}
	if k := strings.Index(method, "->"); k > 0 {
		method = method[:k]
	}
	e.class, e.method = class, method
	return e, method != ""
}

// listKey is what an entry and a block of the same test have in common.
func listKey(class, method string) string {
	class = failtext.ClassName(class)
	class = class[strings.LastIndexAny(class, ".$")+1:]
	if i := strings.IndexAny(method, "([{ "); i > 0 {
		method = method[:i]
	}
	return class + "." + method
}

// adopt adds listed tests that no block told of: output that was redirected
// to files, or quiet.
func (m *surefireModule) adopt(lim model.Limits) {
	have := map[string]bool{}
	classes := map[string]string{}
	for _, f := range m.tests {
		have[listKey(f.Test.Suite, f.Test.Name)] = true
		classes[f.Test.Suite[strings.LastIndexAny(f.Test.Suite, ".$")+1:]] = f.Test.Suite
	}
	if len(m.tests) > 0 && len(m.tests) >= len(m.list.entries) {
		return
	}
	for _, e := range m.list.entries {
		if have[listKey(e.class, e.method)] || len(m.tests) >= 5*lim.Failing {
			continue
		}
		// A listed base class, or a set-up method, names no test of its own.
		if len(m.tests) > 0 && classes[e.class] != "" && (e.method == "setUp" || e.method == "<init>" || e.method == "before") {
			continue
		}
		f := failtext.NewFailure(model.Test{Suite: parse.FirstOf(classes[e.class], e.class), Name: e.method, Status: model.Failed, At: e.at, Line: e.line, Kind: model.KindAssertion}, failtext.Shrunk(lim, len(m.tests)))
		if e.line > 0 {
			f.Test.File = e.class[strings.LastIndexAny(e.class, ".$")+1:] + ".java"
		}
		if e.error {
			f.Test.Kind = model.KindError
		}
		f.Test.Message = e.text
		f.Text.Add(e.text)
		m.tests = append(m.tests, f)
	}
}
