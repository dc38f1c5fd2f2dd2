package testreport

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// xctestFormat reads XCTest (swift test, xcodebuild) and Swift Testing.
var xctestFormat = format{
	name:  "xctest",
	order: 760,
	wakes: &wake{flush: "TF*/<e" + anyByte[0x80:]},
	console: func(out Sink, lim Limits) console {
		x := &xcConsole{out: &countingSink{Sink: out}, lim: lim, anon: newAnonymous()}
		x.diags = diagnosticSet{out: x.out, lim: lim}
		x.reset()
		return x
	},
}

type xcConsole struct {
	out   *countingSink
	lim   Limits
	anon  *anonymous
	diags diagnosticSet

	at      int
	open    bool // a suite or a test began
	depth   int  // suites that began and did not end
	running string
	cur     *failure            // of the running test
	byName  map[string]*failure // handed on as failed, for the list at the end
	named   int                 // tests that ended
	list    bool                // "Failing tests:"
	swift   map[string]*failure // Swift Testing: issues of tests that run
	swiftOn bool
	last    *failure
}

func (x *xcConsole) reset() {
	*x = xcConsole{out: x.out, lim: x.lim, anon: x.anon, diags: x.diags, byName: map[string]*failure{}, swift: map[string]*failure{}}
}

var (
	xcCase   = multimatch.New(`^Test [Cc]ase '(.+?)' (started|passed|failed|skipped)(?: (?:at|on) .*?)?(?: \((\d+(?:\.\d+)?) seconds\))?\.?$`)
	xcError  = multimatch.New(`^(\S.*?|<unknown>):(\d+): error: (-\[.+?\]|[\w.]+) : (.*)$`)
	xcDiag   = multimatch.New(`^(/\S.*?\.(?:swift|m|mm|h|c|cpp)):(\d+):(\d+): (error|warning): (.+)$`)
	xcSum    = multimatch.New(`^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures? \((\d+) unexpected\) in `)
	swIssue  = multimatch.New(`^\S+ +Test (.+?) recorded an issue(?: with (?:\d+ )?arguments? (.+?))? at (\S+?):(\d+)(?::(\d+))?: (.*)$`)
	swResult = multimatch.New(`^\S+ +Test (.+?) (passed|failed|skipped)(?: after (\d+(?:\.\d+)?) seconds)?(?: with (\d+) (?:known )?issues?.*)?(?:: ".*")?\.?$`)
	swRun    = multimatch.New(`^\S+ +Test run with (\d+) tests?(?: in \d+ suites?)? (passed|failed) after `)
)

func (x *xcConsole) idle() bool {
	return !x.open && !x.swiftOn && x.cur == nil && x.running == "" && !x.list && x.last == nil
}

func (x *xcConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			x.end()
		}
		return false
	}
	t := l.Text
	if t == "" {
		x.list = false
		return false
	}
	x.at = l.No
	switch c := t[0]; {
	case c == 'T':
		if strings.HasPrefix(t, "Test Case '") || strings.HasPrefix(t, "Test case '") {
			return x.testCase(t)
		}
		if strings.HasPrefix(t, "Test Suite '") {
			return x.suite(t)
		}
	case c >= 0x80:
		if strings.Contains(t, " Test ") || strings.Contains(t, " Suite ") {
			return x.swiftTesting(t)
		}
		if x.last != nil && x.swiftOn {
			x.last.text.add(t)
		}
		return false
	case c == '\t' || c == ' ':
		if strings.Contains(t, "Executed ") && x.open {
			return x.executed(t)
		}
		if x.list && c == '\t' {
			return x.listed(strings.TrimSpace(t))
		}
	case c == 'F' && strings.TrimSpace(t) == "Failing tests:":
		x.list = true
		return true
	case c == '*' && (strings.HasPrefix(t, "** TEST FAILED **") || strings.HasPrefix(t, "** BUILD FAILED **") || strings.HasPrefix(t, "** TEST EXECUTE FAILED **")):
		x.build(t)
		return true
	case c == '/' || c == '<':
		if strings.Contains(t, ": error: ") || strings.Contains(t, ": warning: ") {
			return x.message(t)
		}
	case c == 'F' && strings.HasPrefix(t, "Fatal error: ") || strings.Contains(t, ": Fatal error: "):
		if x.running != "" && x.cur != nil {
			x.cur.t.Kind = KindCrash
			x.cur.text.add(t)
			return true
		}
	case c == 'e' && (strings.HasPrefix(t, "error: fatalError") || strings.HasPrefix(t, "error: Exited with ")):
		if strings.HasPrefix(t, "error: Exited with ") {
			x.out.Problem(Problem{Kind: KindCrash, Name: firstOf(x.running, "swift test"), Message: strings.Clone(t), At: l.No})
			x.finish(true)
		}
		return true
	}
	if x.cur != nil && x.running != "" {
		x.cur.text.add(t)
	}
	return false
}

// xcName splits "-[Mod.Class test]" and "Class.test".
func xcName(s string) (suite, name string) {
	if in, ok := strings.CutPrefix(s, "-["); ok {
		in = strings.TrimSuffix(in, "]")
		if c, n, ok := strings.Cut(in, " "); ok {
			return c, n
		}
	}
	if i := strings.LastIndexByte(s, '.'); i > 0 {
		return s[:i], s[i+1:]
	}
	if c, n, ok := strings.Cut(s, "/"); ok {
		return c, n
	}
	return "", s
}

func (x *xcConsole) testCase(t string) bool {
	m := xcCase.FindStringSubmatch(t)
	if m == nil {
		return false
	}
	suite, name := xcName(m[1])
	x.open = true
	switch m[2] {
	case "started":
		x.running = strings.Clone(m[1])
		x.cur = newFailure(Test{Suite: suite, Name: name, At: x.at}, x.lim)
		return true
	case "failed":
		f := x.cur
		if f == nil || x.running != m[1] {
			f = newFailure(Test{Suite: suite, Name: name, At: x.at}, x.lim)
		}
		f.t.Status, f.t.Duration = Failed, spent(m[3])
		x.emit(f, m[1])
	default:
		x.named++
		s := Passed
		if m[2] == "skipped" {
			s = Skipped
		}
		x.out.Test(Test{Suite: suite, Name: name, Status: s, Duration: spent(m[3]), At: x.at})
	}
	x.running, x.cur = "", nil
	return true
}

func (x *xcConsole) emit(f *failure, id string) {
	x.named++
	t := &f.t
	t.Trace = strings.TrimSpace(f.text.String())
	if t.Message == "" {
		t.Message = firstLine(t.Trace)
	}
	if t.Kind == "" {
		t.Kind = KindAssertion
		if strings.Contains(t.Message, "threw error") || strings.Contains(t.Message, "caught error") {
			t.Kind = KindError
		} else if strings.Contains(t.Message, "Asynchronous wait failed: Exceeded timeout") || strings.Contains(t.Message, "exceeded execution time allowance") {
			t.Kind = KindTimeout
		}
	}
	if e, a, ok := splitAssertion(t.Message); ok {
		t.Expected, t.Actual = e, a
	}
	if len(x.byName) < x.lim.Failing {
		x.byName[xcKey(t.Suite, t.Name)] = f
	}
	_ = id
	x.out.Test(*t)
}

// xcKey is a test's name without module and parentheses, as the list has it.
func xcKey(suite, name string) string {
	return suite[strings.LastIndexByte(suite, '.')+1:] + "." + strings.TrimSuffix(name, "()")
}

// message reads an assertion's place, or a compiler's message.
func (x *xcConsole) message(t string) bool {
	if len(t) > 16<<10 {
		return false
	}
	if m := xcError.FindStringSubmatch(t); m != nil {
		suite, name := xcName(m[3])
		f := x.cur
		if f == nil || f.t.Name != name || f.t.Suite != suite {
			return x.open
		}
		if f.t.Message == "" {
			f.t.At, f.t.Message = x.at, strings.Clone(m[4])
			if m[1][0] != '<' { // <unknown>, <EXPR>
				f.t.File = strings.Clone(m[1])
				f.t.Line, _, _ = leadingInt(m[2])
			}
		}
		f.text.add(t)
		return true
	}
	m := xcDiag.FindStringSubmatch(t)
	if m == nil || !strings.HasSuffix(m[1], ".swift") {
		return false
	}
	d := Diagnostic{Tool: "swiftc", File: m[1], Severity: Severity(m[4]), Message: m[5], At: x.at}
	d.Line, _, _ = leadingInt(m[2])
	d.Column, _, _ = leadingInt(m[3])
	x.diags.add(d)
	return true
}

func (x *xcConsole) suite(t string) bool {
	switch {
	case strings.Contains(t, "' started at ") || strings.HasSuffix(t, "' started"):
		x.open = true
		x.depth++
	case strings.Contains(t, "' passed at ") || strings.Contains(t, "' failed at ") || strings.HasSuffix(t, "' passed") || strings.HasSuffix(t, "' failed"):
		x.depth = max(x.depth-1, 0)
	default:
		return false
	}
	return true
}

// executed reads the totals of a suite; the outermost says how many ran.
func (x *xcConsole) executed(t string) bool {
	m := xcSum.FindStringSubmatch(t)
	if m == nil {
		return false
	}
	if x.depth > 0 {
		return true
	}
	n, _, _ := leadingInt(m[1])
	failures, _, _ := leadingInt(m[3])
	if failures > 0 && x.out.failed == 0 {
		x.out.Problem(Problem{Kind: KindPackage, Name: "xctest", At: x.at, Message: fmt.Sprintf("%d failure(s) stated, no test named", failures)})
	}
	x.anon.emit(x.out, n-x.named, Test{Status: Passed, At: x.at})
	x.finish(true)
	return true
}

// listed reads xcodebuild's list: "Class.test()".
func (x *xcConsole) listed(s string) bool {
	suite, name := xcName(strings.TrimPrefix(s, "-"))
	if c, n, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s, "-["), "]"), " "); ok {
		suite, name = c, n
	}
	if suite == "" || !isIdent(suite, ".") || !isIdent(strings.TrimSuffix(name, "()"), "(:)") {
		x.list = false
		return false
	}
	if x.byName[xcKey(suite, name)] == nil {
		f := newFailure(Test{Suite: suite, Name: name, Status: Failed, At: x.at}, x.lim)
		x.emit(f, s)
	}
	return true
}

func (x *xcConsole) build(t string) {
	x.finish(true)
	if x.out.failed > 0 {
		return
	}
	p := Problem{Kind: KindExit, Name: "xcodebuild", Message: strings.Trim(strings.Clone(t), "* "), At: x.at}
	if strings.Contains(t, "BUILD") || x.diags.errors > 0 {
		p.Kind = KindBuild
		x.diags.place(&p)
	}
	x.out.Problem(p)
}

// finish ends a run of XCTest; a test that still runs brought it down.
func (x *xcConsole) finish(whole bool) {
	if x.running != "" && x.cur != nil {
		f := x.cur
		f.t.Status = Failed
		f.t.Kind = KindCrash
		if f.t.Message == "" {
			f.t.Message = firstOf(lastWords(f.text.String()), "the test began and did not end")
		}
		x.emit(f, x.running)
	} else if !whole && (x.open && (x.depth > 0 || x.named > 0) || x.swiftOn) {
		x.out.Problem(Problem{Kind: KindTruncated, At: x.at, Message: "the output of the tests ends before their totals"})
	}
	x.open, x.depth, x.named, x.running, x.cur = false, 0, 0, "", nil
}

func (x *xcConsole) end() {
	if x.open || x.swiftOn {
		for _, f := range x.swift {
			f.t.Trace = f.text.String()
		}
		x.finish(false)
	}
	if x.diags.errors > 0 && x.out.failed == 0 {
		p := Problem{Kind: KindBuild, Name: "swift build", Message: x.diags.first.Message, At: x.diags.first.At}
		x.diags.place(&p)
		x.out.Problem(p)
	}
	x.diags.errors, x.out.failed = 0, 0
	x.reset()
}
