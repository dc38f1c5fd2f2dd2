package mobile

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// xctestFormat reads XCTest (swift test, xcodebuild) and Swift Testing.
var xctestFormat = format.Format{
	Name:  "xctest",
	Order: 760,
	Wakes: &format.Wake{Flush: "TF*/<e" + format.AnyByte[0x80:]},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		x := &xcConsole{out: &failtext.CountingSink{Sink: out}, lim: lim, anon: model.NewAnonymous(lim)}
		x.diags = failtext.Diagnostics{Out: x.out, Limits: lim}
		x.reset()
		return x
	},
}

type xcConsole struct {
	out   *failtext.CountingSink
	lim   model.Limits
	anon  *model.Anonymous
	diags failtext.Diagnostics

	at      int
	open    bool // a suite or a test began
	depth   int  // suites that began and did not end
	running string
	cur     *failtext.Failure            // of the running test
	byName  map[string]*failtext.Failure // handed on as failed, for the list at the end
	named   int                          // tests that ended
	list    bool                         // "Failing tests:"
	swift   map[string]*failtext.Failure // Swift Testing: issues of tests that run
	swiftOn bool
	last    *failtext.Failure
}

func (x *xcConsole) reset() {
	*x = xcConsole{out: x.out, lim: x.lim, anon: x.anon, diags: x.diags, byName: map[string]*failtext.Failure{}, swift: map[string]*failtext.Failure{}}
}

var (
	xcCase   = lazyregexp.New(`^Test [Cc]ase '(.+?)' (started|passed|failed|skipped)(?: (?:at|on) .*?)?(?: \((\d+(?:\.\d+)?) seconds\))?\.?$`)
	xcError  = lazyregexp.New(`^(\S.*?|<unknown>):(\d+): error: (-\[.+?\]|[\w.]+) : (.*)$`)
	xcDiag   = lazyregexp.New(`^(/\S.*?\.(?:swift|m|mm|h|c|cpp)):(\d+):(\d+): (error|warning): (.+)$`)
	xcSum    = lazyregexp.New(`^\s*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures? \((\d+) unexpected\) in `)
	swIssue  = lazyregexp.New(`^\S+ +Test (.+?) recorded an issue(?: with (?:\d+ )?arguments? (.+?))? at (\S+?):(\d+)(?::(\d+))?: (.*)$`)
	swResult = lazyregexp.New(`^\S+ +Test (.+?) (passed|failed|skipped)(?: after (\d+(?:\.\d+)?) seconds)?(?: with (\d+) (?:known )?issues?.*)?(?:: ".*")?\.?$`)
	swRun    = lazyregexp.New(`^\S+ +Test run with (\d+) tests?(?: in \d+ suites?)? (passed|failed) after `)
)

func (x *xcConsole) Idle() bool {
	return !x.open && !x.swiftOn && x.cur == nil && x.running == "" && !x.list && x.last == nil
}

func (x *xcConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			x.End()
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
			x.last.Text.Add(t)
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
			x.cur.Test.Kind = model.KindCrash
			x.cur.Text.Add(t)
			return true
		}
	case c == 'e' && (strings.HasPrefix(t, "error: fatalError") || strings.HasPrefix(t, "error: Exited with ")):
		if strings.HasPrefix(t, "error: Exited with ") {
			x.out.Problem(model.Problem{Kind: model.KindCrash, Name: parse.FirstOf(x.running, "swift test"), Message: strings.Clone(t), At: l.No})
			x.finish(true)
		}
		return true
	}
	if x.cur != nil && x.running != "" {
		x.cur.Text.Add(t)
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
		x.cur = failtext.NewFailure(model.Test{Suite: suite, Name: name, At: x.at}, x.lim)
		return true
	case "failed":
		f := x.cur
		if f == nil || x.running != m[1] {
			f = failtext.NewFailure(model.Test{Suite: suite, Name: name, At: x.at}, x.lim)
		}
		f.Test.Status, f.Test.Duration = model.Failed, parse.Spent(m[3])
		x.emit(f, m[1])
	default:
		x.named++
		s := model.Passed
		if m[2] == "skipped" {
			s = model.Skipped
		}
		x.out.Test(model.Test{Suite: suite, Name: name, Status: s, Duration: parse.Spent(m[3]), At: x.at})
	}
	x.running, x.cur = "", nil
	return true
}

func (x *xcConsole) emit(f *failtext.Failure, id string) {
	x.named++
	t := &f.Test
	t.Trace = strings.TrimSpace(f.Text.String())
	if t.Message == "" {
		t.Message = parse.FirstLine(t.Trace)
	}
	if t.Kind == "" {
		t.Kind = model.KindAssertion
		if strings.Contains(t.Message, "threw error") || strings.Contains(t.Message, "caught error") {
			t.Kind = model.KindError
		} else if strings.Contains(t.Message, "Asynchronous wait failed: Exceeded timeout") || strings.Contains(t.Message, "exceeded execution time allowance") {
			t.Kind = model.KindTimeout
		}
	}
	if e, a, ok := failtext.SplitAssertion(t.Message); ok {
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
		if f == nil || f.Test.Name != name || f.Test.Suite != suite {
			return x.open
		}
		if f.Test.Message == "" {
			f.Test.At, f.Test.Message = x.at, strings.Clone(m[4])
			if m[1][0] != '<' { // <unknown>, <EXPR>
				f.Test.File = strings.Clone(m[1])
				f.Test.Line, _, _ = parse.LeadingInt(m[2])
			}
		}
		f.Text.Add(t)
		return true
	}
	m := xcDiag.FindStringSubmatch(t)
	if m == nil || !strings.HasSuffix(m[1], ".swift") {
		return false
	}
	d := model.Diagnostic{Tool: "swiftc", File: m[1], Severity: model.Severity(m[4]), Message: m[5], At: x.at}
	d.Line, _, _ = parse.LeadingInt(m[2])
	d.Column, _, _ = parse.LeadingInt(m[3])
	x.diags.Add(d)
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
	n, _, _ := parse.LeadingInt(m[1])
	failures, _, _ := parse.LeadingInt(m[3])
	if failures > 0 && x.out.Failed == 0 {
		x.out.Problem(model.Problem{Kind: model.KindPackage, Name: "xctest", At: x.at, Message: fmt.Sprintf("%d failure(s) stated, no test named", failures)})
	}
	x.anon.Emit(x.out, n-x.named, model.Test{Status: model.Passed, At: x.at})
	x.finish(true)
	return true
}

// listed reads xcodebuild's list: "Class.test()".
func (x *xcConsole) listed(s string) bool {
	suite, name := xcName(strings.TrimPrefix(s, "-"))
	if c, n, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s, "-["), "]"), " "); ok {
		suite, name = c, n
	}
	if suite == "" || !parse.IsIdent(suite, ".") || !parse.IsIdent(strings.TrimSuffix(name, "()"), "(:)") {
		x.list = false
		return false
	}
	if x.byName[xcKey(suite, name)] == nil {
		f := failtext.NewFailure(model.Test{Suite: suite, Name: name, Status: model.Failed, At: x.at}, x.lim)
		x.emit(f, s)
	}
	return true
}

func (x *xcConsole) build(t string) {
	x.finish(true)
	if x.out.Failed > 0 {
		return
	}
	p := model.Problem{Kind: model.KindExit, Name: "xcodebuild", Message: strings.Trim(strings.Clone(t), "* "), At: x.at}
	if strings.Contains(t, "BUILD") || x.diags.Errors > 0 {
		p.Kind = model.KindBuild
		x.diags.Place(&p)
	}
	x.out.Problem(p)
}

// finish ends a run of XCTest; a test that still runs brought it down.
func (x *xcConsole) finish(whole bool) {
	if x.running != "" && x.cur != nil {
		f := x.cur
		f.Test.Status = model.Failed
		f.Test.Kind = model.KindCrash
		if f.Test.Message == "" {
			f.Test.Message = parse.FirstOf(failtext.LastWords(f.Text.String()), "the test began and did not end")
		}
		x.emit(f, x.running)
	} else if !whole && (x.open && (x.depth > 0 || x.named > 0) || x.swiftOn) {
		x.out.Problem(model.Problem{Kind: model.KindTruncated, At: x.at, Message: "the output of the tests ends before their totals"})
	}
	x.open, x.depth, x.named, x.running, x.cur = false, 0, 0, "", nil
}

func (x *xcConsole) End() {
	if x.open || x.swiftOn {
		for _, f := range x.swift {
			f.Test.Trace = f.Text.String()
		}
		x.finish(false)
	}
	if x.diags.Errors > 0 && x.out.Failed == 0 {
		p := model.Problem{Kind: model.KindBuild, Name: "swift build", Message: x.diags.First.Message, At: x.diags.First.At}
		x.diags.Place(&p)
		x.out.Problem(p)
	}
	x.diags.Errors, x.out.Failed = 0, 0
	x.reset()
}
