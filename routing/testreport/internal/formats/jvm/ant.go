package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// antFormat reads the tasks of Ant: junit, junitlauncher, testng, javac.
var antFormat = format.Format{
	Name:  "ant",
	Order: 620,
	Wakes: &format.Wake{Flush: "B", Indent: "["},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		c := &failtext.CountingSink{Sink: out}
		return &antConsole{out: c, lim: lim, anon: model.NewAnonymous(lim), diags: failtext.Diagnostics{Out: c, Limits: lim}, launcher: newJUnitConsole(c, lim), testng: newTestNG(c, lim)}
	},
}

type antConsole struct {
	out      *failtext.CountingSink
	lim      model.Limits
	anon     *model.Anonymous
	diags    failtext.Diagnostics
	launcher *junitConsole
	testng   *testNG

	seen  bool // Ant's own first line, or a task of it
	at    int
	suite antSuite
	ended bool
	fail  *bounded.Block // below BUILD FAILED
	since int            // line of BUILD FAILED
}

// antSuite is one class that the junit task runs.
type antSuite struct {
	name   string
	at     int
	totals string
	sum    mavenTotals
	tests  []*failtext.Failure
	cur    *failtext.Failure
	test   string // of "Testcase: name took 0.1 sec"
	secs   string
	state  string // "Test x FAILED (crashed)"
}

func (a *antConsole) Idle() bool {
	return a.fail == nil && !a.seen && a.suite.name == ""
}

func (a *antConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			a.End()
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
	task, rest, ok := failtext.AntTask(t)
	if !ok {
		return a.fail != nil && a.unprefixed(t)
	}
	switch task {
	case "junit", "junitlauncher", "java", "exec":
		a.begin(task[0] == 'j')
		l.Text = rest
		if a.launcher.Line(l) {
			return true
		}
		if task == "java" || task == "exec" {
			return false
		}
		return a.junit(rest)
	case "testng":
		a.begin(true)
		l.Text = rest
		return a.testng.Line(l)
	case "javac", "groovyc", "scalac":
		a.begin(true)
		if d, ok := compilerLine(rest); ok {
			d.At = a.at
			a.diags.Add(d)
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
		a.fail.Add(t)
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
		a.ended, a.fail, a.since = true, &bounded.Block{Max: a.lim.Text / 4}, a.at
		return true
	}
	return false
}

// failure hands on why the build failed, unless failing tests say it.
func (a *antConsole) failure() {
	text := a.fail.String()
	a.fail = nil
	a.launcher.End()
	a.testng.End()
	if a.out.Failed > 0 {
		a.out.Failed = 0
		return
	}
	p := model.Problem{Kind: model.KindExit, Name: "ant", Message: parse.FirstOf(parse.HeadLine(text), "BUILD FAILED"), Trace: text, At: a.since}
	if strings.Contains(text, "Compile failed") || a.diags.Errors > 0 {
		p.Kind = model.KindBuild
		a.diags.Place(&p)
	}
	a.out.Problem(p)
	a.out.Failed = 0
}

// junit reads the plain and the brief formatter, and what the task says itself.
func (a *antConsole) junit(t string) bool {
	s := &a.suite
	switch {
	case strings.HasPrefix(t, "Running ") && parse.IsIdent(t[8:], ".$-"):
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
	case strings.HasPrefix(t, "Test ") && strings.Contains(t, " FAILED") && parse.IsIdent(strings.Split(t[5:], " ")[0], ".$-"):
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
		s.cur.Text.Add(t)
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
	s.sum.tests, _ = parse.NumAfter(counts, "Tests run:")
	s.sum.failures, _ = parse.NumAfter(counts, "Failures:")
	s.sum.errors, _ = parse.NumAfter(counts, "Errors:")
	s.sum.skipped, _ = parse.NumAfter(counts, "Skipped:")
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
	if i := strings.LastIndexByte(head, '('); i > 0 && strings.HasSuffix(head, ")") && parse.IsIdent(head[i+1:len(head)-1], ".$") {
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
	t := model.Test{Suite: suite, Name: name, Status: model.Failed, Duration: parse.Spent(secs), At: a.at}
	switch {
	case how == "FAILED":
		t.Kind = model.KindAssertion
	case how == "Caused an ERROR":
		t.Kind = model.KindError
		if name == "warning" || name == "initializationError" || whole {
			t.Kind = model.KindSetup
		}
	default:
		return // skipped: counted by the totals
	}
	if len(s.tests) < 5*a.lim.Failing {
		s.cur = failtext.NewFailure(t, failtext.Shrunk(a.lim, len(s.tests)))
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
		text := f.Text.String()
		if first, rest, ok := strings.Cut(text, "\n"); ok && strings.Contains(parse.HeadLine(rest), first) {
			f.Text = bounded.Block{Max: a.lim.Text} // the message stands above the exception again
			f.Text.Add(rest)
		}
		t := f.JVM()
		if strings.HasPrefix(t.Message, "Forked Java VM exited abnormally") {
			t.Kind = model.KindCrash
		} else if strings.HasPrefix(t.Message, "Timeout occurred") {
			t.Kind = model.KindTimeout
		}
		a.out.Test(t)
	}
	failing := s.sum.failures + s.sum.errors
	a.anon.Emit(a.out, s.sum.tests-s.sum.skipped-max(failing, len(s.tests)), model.Test{Suite: s.name, Status: model.Passed, At: s.at})
	a.anon.Emit(a.out, s.sum.skipped, model.Test{Suite: s.name, Status: model.Skipped, At: s.at})
	p := model.Problem{Name: s.name, At: a.at}
	switch {
	case strings.Contains(s.state, "crashed"):
		p.Kind, p.Message = model.KindCrash, "the process that ran the class crashed"
	case strings.Contains(s.state, "timeout"):
		p.Kind, p.Message = model.KindTimeout, "the class ran into the task's time limit"
	case failing > len(s.tests):
		p = failtext.NotNamed(s.name, failing, len(s.tests), a.at)
	case s.state != "" && len(s.tests) == 0:
		p.Kind, p.Message = model.KindPackage, "the class failed and no test of it is named"
	case s.totals == "" && s.state == "" && !a.ended:
		p.Kind, p.Message = model.KindTruncated, "the output of the class ends before its totals"
	}
	if p.Kind != "" {
		a.out.Problem(p)
	}
	a.suite = antSuite{}
}

func (a *antConsole) End() {
	if a.fail != nil {
		a.failure()
	}
	broken := a.suite.name != ""
	a.flush()
	a.launcher.End()
	a.testng.End()
	if broken && !a.ended {
		a.out.Problem(model.Problem{Kind: model.KindTruncated, At: a.at, Message: "the output of Ant ends before its result"})
	}
	a.seen, a.ended = false, false
}
