package testreport

import (
	"fmt"
	"strings"
)

// antFormat reads the tasks of Ant: junit, junitlauncher, testng, javac.
var antFormat = format{
	name:  "ant",
	order: 620,
	wakes: &wake{flush: "B", indent: "["},
	console: func(out Sink, lim Limits) console {
		c := &countingSink{Sink: out}
		return &antConsole{out: c, lim: lim, anon: newAnonymous(), diags: diagnosticSet{out: c, lim: lim}, launcher: newJUnitConsole(c, lim), testng: newTestNG(c, lim)}
	},
}

// countingSink counts the failing tests and problems that pass through.
type countingSink struct {
	Sink
	failed int
}

// Test implements Sink.
func (c *countingSink) Test(t Test) {
	if t.Status == Failed {
		c.failed++
	}
	c.Sink.Test(t)
}

// Problem implements Sink.
func (c *countingSink) Problem(p Problem) {
	c.failed++
	c.Sink.Problem(p)
}

type antConsole struct {
	out      *countingSink
	lim      Limits
	anon     *anonymous
	diags    diagnosticSet
	launcher *junitConsole
	testng   *testNG

	seen  bool // Ant's own first line, or a task of it
	at    int
	suite antSuite
	ended bool
	fail  *kept // below BUILD FAILED
	since int   // line of BUILD FAILED
}

// antSuite is one class that the junit task runs.
type antSuite struct {
	name   string
	at     int
	totals string
	sum    mavenTotals
	tests  []*failure
	cur    *failure
	test   string // of "Testcase: name took 0.1 sec"
	secs   string
	state  string // "Test x FAILED (crashed)"
}

func (a *antConsole) idle() bool {
	return a.fail == nil && !a.seen && a.suite.name == ""
}

func (a *antConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			a.end()
		}
		return false
	}
	a.at = l.No
	t := l.Text
	if t == "" {
		return a.unprefixed(t)
	}
	if t[0] != ' ' {
		return a.unprefixed(t)
	}
	task, rest, ok := antTask(t)
	if !ok {
		return a.fail != nil && a.unprefixed(t)
	}
	switch task {
	case "junit", "junitlauncher", "java", "exec":
		a.begin(task[0] == 'j')
		l.Text = rest
		if a.launcher.line(l) {
			return true
		}
		if task == "java" || task == "exec" {
			return false
		}
		return a.junit(rest)
	case "testng":
		a.begin(true)
		l.Text = rest
		return a.testng.line(l)
	case "javac", "groovyc", "scalac":
		a.begin(true)
		if d, ok := compilerLine(rest); ok {
			d.At = a.at
			a.diags.add(d)
		}
		return true
	}
	return false
}

func (a *antConsole) begin(sure bool) {
	if sure {
		a.seen = true
	}
	a.ended = false
}

// unprefixed reads Ant's own lines.
func (a *antConsole) unprefixed(t string) bool {
	if a.fail != nil {
		if t == "" || strings.HasPrefix(t, "Total time:") {
			a.failure()
			return t != ""
		}
		a.fail.add(t)
		return true
	}
	switch {
	case strings.HasPrefix(t, "Buildfile: "):
		a.seen = true
		return true
	case !a.seen:
		return false
	case t == "BUILD SUCCESSFUL":
		a.flush()
		a.ended = true
		return true
	case t == "BUILD FAILED":
		a.flush()
		a.ended, a.fail, a.since = true, &kept{max: a.lim.Text / 4}, a.at
		return true
	}
	return false
}

// failure hands on why the build failed, unless failing tests say it.
func (a *antConsole) failure() {
	text := a.fail.String()
	a.fail = nil
	a.launcher.end()
	a.testng.end()
	if a.out.failed > 0 {
		a.out.failed = 0
		return
	}
	p := Problem{Kind: KindExit, Name: "ant", Message: firstOf(headLine(text), "BUILD FAILED"), Trace: text, At: a.since}
	if strings.Contains(text, "Compile failed") || a.diags.errors > 0 {
		p.Kind = KindBuild
		a.diags.place(&p)
	}
	a.out.Problem(p)
	a.out.failed = 0
}

// junit reads the plain and the brief formatter, and what the task says itself.
func (a *antConsole) junit(t string) bool {
	s := &a.suite
	switch {
	case strings.HasPrefix(t, "Running ") && isIdent(t[8:], ".$-"):
		a.open(t[len("Running "):])
	case strings.HasPrefix(t, "Testsuite: "):
		a.open(strings.TrimSpace(t[len("Testsuite: "):]))
	case strings.HasPrefix(t, "Tests run: ") && strings.Contains(t, "Time elapsed: "):
		a.totals(t)
	case strings.HasPrefix(t, "Testcase: "):
		a.testcase(t[len("Testcase: "):])
	case t == "\tFAILED" || t == "\tCaused an ERROR" || t == "\tSKIPPED" || strings.HasPrefix(t, "\tSKIPPED: "):
		if s.test != "" {
			a.result(s.name, s.test, s.secs, strings.TrimSpace(t))
		}
	case strings.HasPrefix(t, "Test ") && strings.Contains(t, " FAILED") && isIdent(strings.Split(t[5:], " ")[0], ".$-"):
		if s.name == "" || s.name != strings.Split(t[5:], " ")[0] {
			a.open(strings.Split(t[5:], " ")[0])
		}
		_, s.state, _ = strings.Cut(t, " FAILED")
		s.state = "FAILED" + s.state
		a.flush()
	case s.cur != nil:
		if strings.HasPrefix(t, "------------- ") {
			s.cur = nil
			return true
		}
		s.cur.text.add(t)
	default:
		return s.name != ""
	}
	return true
}

// open begins a class. Two formatters name it twice.
func (a *antConsole) open(name string) {
	if a.suite.name == name && a.suite.totals == "" {
		return
	}
	if a.suite.name == name && len(a.suite.tests) == 0 {
		return // the second formatter's heading
	}
	a.flush()
	a.suite = antSuite{name: strings.Clone(name), at: a.at}
}

func (a *antConsole) totals(t string) {
	s := &a.suite
	counts, _, _ := strings.Cut(t, ", Time elapsed")
	if s.totals != "" || s.name == "" {
		return
	}
	s.totals = strings.Clone(counts)
	s.sum.tests, _ = numAfter(counts, "Tests run:")
	s.sum.failures, _ = numAfter(counts, "Failures:")
	s.sum.errors, _ = numAfter(counts, "Errors:")
	s.sum.skipped, _ = numAfter(counts, "Skipped:")
}

// testcase reads "name took 0.1 sec" and "name(com.x.T):\tFAILED".
func (a *antConsole) testcase(t string) {
	s := &a.suite
	s.cur = nil
	if i := strings.LastIndex(t, " took "); i > 0 {
		s.test = strings.Clone(t[:i])
		s.secs, _, _ = strings.Cut(t[i+6:], " ")
		return
	}
	s.test = ""
	head, how, ok := strings.Cut(t, ":\t")
	if !ok {
		return
	}
	suite, name := s.name, head
	if i := strings.LastIndexByte(head, '('); i > 0 && strings.HasSuffix(head, ")") && isIdent(head[i+1:len(head)-1], ".$") {
		suite, name = head[i+1:len(head)-1], head[:i]
	}
	a.result(suite, name, "", strings.TrimSpace(how))
}

func (a *antConsole) result(suite, name, secs, how string) {
	s := &a.suite
	s.test = ""
	name = strings.TrimPrefix(name, suite+":") // of a process that died
	whole := name == suite
	if whole {
		name = suite[strings.LastIndexByte(suite, '.')+1:]
	}
	t := Test{Suite: suite, Name: name, Status: Failed, Duration: spent(secs), At: a.at}
	switch {
	case how == "FAILED":
		t.Kind = KindAssertion
	case how == "Caused an ERROR":
		t.Kind = KindError
		if name == "warning" || name == "initializationError" || whole {
			t.Kind = KindSetup
		}
	default:
		return // skipped: counted by the totals
	}
	if len(s.tests) < 5*a.lim.Failing {
		s.cur = newFailure(t, shrunk(a.lim, len(s.tests)))
		s.tests = append(s.tests, s.cur)
	}
}

// flush hands on the class that is open.
func (a *antConsole) flush() {
	s := &a.suite
	if s.name == "" {
		return
	}
	for _, f := range s.tests {
		text := f.text.String()
		if first, rest, ok := strings.Cut(text, "\n"); ok && strings.Contains(headLine(rest), first) {
			f.text = kept{max: a.lim.Text} // the message stands above the exception again
			f.text.add(rest)
		}
		t := f.jvm()
		if strings.HasPrefix(t.Message, "Forked Java VM exited abnormally") {
			t.Kind = KindCrash
		} else if strings.HasPrefix(t.Message, "Timeout occurred") {
			t.Kind = KindTimeout
		}
		a.out.Test(t)
	}
	failing := s.sum.failures + s.sum.errors
	a.anon.emit(a.out, s.sum.tests-s.sum.skipped-max(failing, len(s.tests)), Test{Suite: s.name, Status: Passed, At: s.at})
	a.anon.emit(a.out, s.sum.skipped, Test{Suite: s.name, Status: Skipped, At: s.at})
	p := Problem{Name: s.name, At: a.at}
	switch {
	case strings.Contains(s.state, "crashed"):
		p.Kind, p.Message = KindCrash, "the process that ran the class crashed"
	case strings.Contains(s.state, "timeout"):
		p.Kind, p.Message = KindTimeout, "the class ran into the task's time limit"
	case failing > len(s.tests):
		p.Kind, p.Message = KindPackage, fmt.Sprintf("%d failing test(s) stated, %d named", failing, len(s.tests))
	case s.state != "" && len(s.tests) == 0:
		p.Kind, p.Message = KindPackage, "the class failed and no test of it is named"
	case s.totals == "" && s.state == "" && !a.ended:
		p.Kind, p.Message = KindTruncated, "the output of the class ends before its totals"
	}
	if p.Kind != "" {
		a.out.Problem(p)
	}
	a.suite = antSuite{}
}

func (a *antConsole) end() {
	if a.fail != nil {
		a.failure()
	}
	broken := a.suite.name != ""
	a.flush()
	a.launcher.end()
	a.testng.end()
	if broken && !a.ended {
		a.out.Problem(Problem{Kind: KindTruncated, At: a.at, Message: "the output of Ant ends before its result"})
	}
	a.seen, a.ended = false, false
}
