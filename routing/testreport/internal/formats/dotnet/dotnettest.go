package dotnet

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// dotnetFormat reads dotnet test (VSTest and the testing platform), the
// consoles of xUnit.net and NUnit, and MSBuild's messages.
var dotnetFormat = format.Format{
	Name:  "dotnet",
	Order: 730,
	Wakes: &format.Wake{Flush: "FPSTRAN=[", Indent: "FPS", Ends: "]", Holds: ':'},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		c := &failtext.CountingSink{Sink: out}
		d := &dotnetConsole{out: c, lim: lim, anon: model.NewAnonymous(lim), diags: failtext.Diagnostics{Out: c, Limits: lim}}
		d.reset()
		return d
	},
}

type dotnetConsole struct {
	out   *failtext.CountingSink
	lim   model.Limits
	anon  *model.Anonymous
	diags failtext.Diagnostics

	at      int
	seen    bool // a line that only these tools print
	started bool // tests began; totals must follow
	tests   []*failtext.Failure
	byName  map[string]*failtext.Failure
	cur     *failtext.Failure
	part    string // "Error Message:", "Stack Trace:" and so on
	passed  int    // named
	skipped int
	sum     map[string]int // "Total tests: 3" and the lines below
	sumAt   int
	nunit   bool
	counted bool // totals were read
	failed  string
}

func (d *dotnetConsole) reset() {
	*d = dotnetConsole{out: d.out, lim: d.lim, anon: d.anon, diags: d.diags, byName: map[string]*failtext.Failure{}}
}

var (
	dotnetResult = lazyregexp.New(`^  (Failed|Passed|Skipped) (\S.*?)(?: \[((?:< )?[\d.,]+ ?m?s|[\d.]+ m(?:in)?(?: [\d.]+ s)?|\d+ h.*)\])?$`)
	dotnetOld    = lazyregexp.New(`^(Failed|Passed|Skipped)   (\S.*)$`)
	dotnetMTP    = lazyregexp.New(`^(failed|skipped) (\S.*?) \(((?:\d+[dhms]+ ?)+)\)$`)
	dotnetSum    = lazyregexp.New(`^(Failed|Passed|Skipped)!\s+- Failed:\s*(\d+), Passed:\s*(\d+), Skipped:\s*(\d+), Total:\s*(\d+)`)
	dotnetTotals = lazyregexp.New(`^Total tests: (\d+)\. Passed: (\d+)\. Failed: (\d+)\. Skipped: (\d+)\.`)
	dotnetCount  = lazyregexp.New(`^\s*(?:(Total tests|Passed|Failed|Skipped|total|failed|succeeded|skipped)): (\d+)$`)
	xunitFail    = lazyregexp.New(`^\[xUnit\.net \d\d:\d\d:\d\d\.\d+\]\s+(.+) \[(FAIL|SKIP)\]$`)
	xunitBare    = lazyregexp.New(`^    (\S.*) \[(FAIL|SKIP)\]$`)
	xunitTotals  = lazyregexp.New(`^\s+\S.*\s+Total: (\d+), Errors: (\d+), Failed: (\d+), Skipped: (\d+)(?:, Not Run: \d+)?, Time: `)
	nunitEntry   = lazyregexp.New(`^\d+\) (Failed|Error|Invalid|SetUp Error|TearDown Error|Failure|Ignored|Skipped|Explicit|Warning) : (\S.*)$`)
	nunitTotals  = lazyregexp.New(`^\s+Test Count: (\d+), (?:Passed|Pass): (\d+), (?:Failed|Fail): (\d+), (?:Warnings|Warn): (\d+), Inconclusive: (\d+), (?:Skipped|Skip): (\d+)`)
	msbuildLine  = lazyregexp.New(`^\s*(?:\d+>)?((?:[A-Za-z]:)?[^\s:(][^:(]*|[A-Za-z]:\\[^:(]*)\((\d+)(?:,(\d+))?(?:,\d+,\d+)?\): (error|warning) ([A-Z]+[a-z]*\d+): (.+?)(?: \[([^\[\]]+)\])?$`)
	msbuildTool  = lazyregexp.New(`^\s*(?:\d+>)?(\S[^:]*\S)\s?: (error|warning) ((?:MSB|NU|NETSDK|CS|FS|BC|AD)\d+): (.+?)(?: \[([^\[\]]+)\])?$`)
)

func (d *dotnetConsole) Idle() bool {
	return !d.seen && !d.started && d.cur == nil && d.sum == nil
}

func (d *dotnetConsole) Line(l lines.Line) bool {
	if l.Mark != "" && l.Mark != "error" && l.Mark != "warning" {
		if lines.StepOver(l) {
			d.End()
		}
		return false
	}
	if lines.StepOver(l) {
		d.End()
		return false
	}
	d.at = l.No
	t := strings.TrimRight(l.Text, " ")
	if t == "" {
		d.blank()
		return false
	}
	if saysError(t) && d.message(t) {
		return true
	}
	if l.Mark != "" {
		return false
	}
	switch t[0] {
	case ' ', '\t':
		return d.indented(t)
	case '[':
		if strings.HasPrefix(t, "[xUnit.net ") {
			return d.xunitLine(t)
		}
	case 'F', 'P', 'S':
		if d.capital(t) {
			return true
		}
	case 'T':
		if d.test(t) {
			return true
		}
	case 'B':
		if d.build(t) {
			return true
		}
	case 'f', 's':
		if !d.seen {
			break
		}
		if m := dotnetMTP.FindStringSubmatch(t); m != nil {
			d.result(m[1], m[2], m[3])
			d.part = "Error Message:"
			return true
		}
	case 'R':
		if strings.HasPrefix(t, "Running tests from ") && strings.HasSuffix(t, ")") {
			d.begin()
			return true
		}
	case 'A':
		if strings.HasPrefix(t, "A total of ") && strings.HasSuffix(t, " test files matched the specified pattern.") {
			d.begin()
			return true
		}
	case 'N':
		if strings.HasPrefix(t, "No test is available in ") || strings.HasPrefix(t, "No test matches the given testcase filter") {
			d.seen = true
			return true
		}
		if strings.HasPrefix(t, "NUnit Console ") {
			d.seen, d.nunit = true, true
			return true
		}
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if !d.seen {
			break
		}
		if m := nunitEntry.FindStringSubmatch(t); m != nil {
			d.nunitEntry(m)
			return true
		}
	case '=':
		if strings.HasPrefix(t, "=== TEST EXECUTION SUMMARY ===") {
			d.seen, d.cur = true, nil
			return true
		}
	}
	if d.cur != nil && (d.nunit || d.part != "") {
		d.cur.Text.Add(t)
		return d.seen
	}
	return false
}

// saysError finds ": error " or ": warning " in one pass over the colons.
func saysError(t string) bool {
	for {
		i := strings.IndexByte(t, ':')
		if i < 0 || i+len(": error ") > len(t) {
			return false
		}
		t = t[i+1:]
		if t[0] == ' ' && (t[1] == 'e' && strings.HasPrefix(t, " error ") || t[1] == 'w' && strings.HasPrefix(t, " warning ")) {
			return true
		}
	}
}

func (d *dotnetConsole) begin() {
	d.seen, d.started, d.counted = true, true, false
}

func (d *dotnetConsole) blank() {
	if d.cur != nil {
		d.cur.Text.Add("")
	}
}

// message reads "File.cs(12,5): error CS0103: text [/path/x.csproj]".
func (d *dotnetConsole) message(t string) bool {
	if len(t) > 4<<10 {
		return false
	}
	if m := msbuildLine.FindStringSubmatch(t); m != nil {
		if m[7] == "" && !parse.HasAny(m[5], "CS", "FS", "BC", "MSB", "NU", "NETSDK", "AD", "CA", "IDE", "SA", "xUnit", "NUnit") {
			return false // a compiler that prints alike, and no project behind it
		}
		x := model.Diagnostic{Tool: "msbuild", File: strings.TrimSpace(m[1]), Severity: model.SevError, Code: m[5], Message: m[6], At: d.at}
		x.Line, _, _ = parse.LeadingInt(m[2])
		x.Column, _, _ = parse.LeadingInt(m[3])
		if m[4] == "warning" {
			x.Severity = model.SevWarning
		}
		d.seen = true
		d.diags.Add(x)
		return true
	}
	if m := msbuildTool.FindStringSubmatch(t); m != nil {
		x := model.Diagnostic{Tool: "msbuild", File: parse.FirstOf(m[5], m[1]), Severity: model.SevError, Code: m[3], Message: m[4], At: d.at}
		if m[2] == "warning" {
			x.Severity = model.SevWarning
		}
		d.seen = true
		d.diags.Add(x)
		return true
	}
	return false
}

// capital reads "Failed!  - Failed: 1, …", the old "Failed   Name", "Starting test execution".
func (d *dotnetConsole) capital(t string) bool {
	if strings.Contains(t[:min(len(t), 9)], "!") {
		if m := dotnetSum.FindStringSubmatch(t); m != nil {
			d.begin()
			failed, _, _ := parse.LeadingInt(m[2])
			passed, _, _ := parse.LeadingInt(m[3])
			skipped, _, _ := parse.LeadingInt(m[4])
			d.flush(&runTotals{passed + failed + skipped, failed, skipped})
			return true
		}
	}
	if strings.HasPrefix(t, "Starting test execution, please wait...") {
		d.begin()
		return true
	}
	if d.started {
		if m := dotnetOld.FindStringSubmatch(t); m != nil {
			d.result(m[1], m[2], "")
			return true
		}
	}
	return false
}

// test reads VSTest's own lines.
func (d *dotnetConsole) test(t string) bool {
	switch {
	case strings.HasPrefix(t, "Test run for ") && strings.HasSuffix(t, ")"), t == "Test Run Successful.", t == "Test Run Failed.":
		d.cur = nil
		d.begin()
		return true
	case strings.HasPrefix(t, "The active test run was aborted. Reason: "):

		d.begin()
		d.out.Problem(model.Problem{Kind: model.KindCrash, Name: "testhost", Message: strings.Clone(t[len("The active test run was aborted. Reason: "):]), At: d.at})
		return true
	case t == "Test Run Aborted." || strings.HasPrefix(t, "Test Run Aborted with error"):
		d.begin()
		d.flush(nil)
		d.counted = true
		if d.out.Failed == 0 {
			d.out.Problem(model.Problem{Kind: model.KindCrash, Name: "testhost", Message: strings.Clone(t), At: d.at})
		}
		return true
	case strings.HasPrefix(t, "Test run summary: "):
		d.cur = nil
		d.begin()
		d.sum, d.sumAt = map[string]int{}, d.at
		d.failed = strings.Clone(t[len("Test run summary: "):])
		return true
	case strings.HasPrefix(t, "Total tests: "):
		if m := dotnetTotals.FindStringSubmatch(t); m != nil {
			d.begin()
			n, _, _ := parse.LeadingInt(m[1])
			failed, _, _ := parse.LeadingInt(m[3])
			skipped, _, _ := parse.LeadingInt(m[4])
			d.flush(&runTotals{n, failed, skipped})
			return true
		}
		if n, _ := parse.NumAfter(t, "Total tests: "); strings.HasSuffix(t, fmt.Sprint(n)) {
			d.begin()
			d.cur = nil
			d.sum, d.sumAt = map[string]int{"total": n}, d.at
			return true
		}
	case t == "Test Run Summary" && d.seen:
		d.cur, d.nunit = nil, true
		return true
	}
	return false
}

// build reads how MSBuild ended.
func (d *dotnetConsole) build(t string) bool {
	if !d.seen {
		return false
	}
	if t == "Build FAILED." || strings.HasPrefix(t, "Build failed with ") {
		if d.diags.Errors > 0 || d.out.Failed == 0 {
			p := model.Problem{Kind: model.KindBuild, Name: "dotnet build", Message: strings.Clone(t), At: d.at}
			if d.diags.First.Message != "" {
				p.Message = d.diags.First.Code + ": " + d.diags.First.Message
			}
			d.diags.Place(&p)
			d.diags.Errors = 0
			d.out.Problem(p)
		}
		return true
	}
	return t == "Build succeeded."
}

// runTotals are the totals of a run.
type runTotals struct{ tests, failed, skipped int }

// indented reads results and what explains them.
func (d *dotnetConsole) indented(t string) bool {
	if d.sum != nil && d.countLine(t) {
		return true
	}
	if len(t) > 3 && t[2] != ' ' && t[0] == ' ' && t[1] == ' ' {
		if !strings.HasPrefix(t, "  Failed ") && !strings.HasPrefix(t, "  Passed ") && !strings.HasPrefix(t, "  Skipped ") {
			// no result
		} else if m := dotnetResult.FindStringSubmatch(t); m != nil && (m[3] != "" || d.started) {
			d.begin()
			d.result(m[1], m[2], m[3])
			return true
		}
		if d.cur != nil && t[len(t)-1] == ':' {
			switch t {
			case "  Error Message:", "  Stack Trace:", "  Standard Output Messages:", "  Standard Error Messages:", "  Attachments:", "  Debug Trace Messages:", "  TestContext Messages:":
				d.part = strings.TrimSpace(t)
				return true
			}
		}
	}
	if strings.HasSuffix(t, " [FAIL]") && len(t) > 5 && t[4] != ' ' {
		if m := xunitBare.FindStringSubmatch(t); m != nil {
			d.part = "xunit"
			d.start(m[1], "")
			return d.seen
		}
	}
	if !strings.Contains(t, "Total: ") {
		return d.below(t)
	}
	if m := xunitTotals.FindStringSubmatch(t); m != nil {
		n, _, _ := parse.LeadingInt(m[1])
		failed, _, _ := parse.LeadingInt(m[3])
		skipped, _, _ := parse.LeadingInt(m[4])
		errors, _, _ := parse.LeadingInt(m[2])
		d.seen = true
		d.flush(&runTotals{n, failed, skipped})
		if errors > 0 {
			d.out.Problem(model.Problem{Kind: model.KindSetup, Name: "xunit", Message: fmt.Sprintf("%d error(s) outside the tests", errors), At: d.at})
		}
		return true
	}
	return d.below(t)
}

// below reads NUnit's totals and the text below a failing test.
func (d *dotnetConsole) below(t string) bool {
	if d.nunit && strings.Contains(t, "Test Count: ") {
		if m := nunitTotals.FindStringSubmatch(t); m != nil {
			n, _, _ := parse.LeadingInt(m[1])
			failed, _, _ := parse.LeadingInt(m[3])
			inconclusive, _, _ := parse.LeadingInt(m[5])
			skipped, _, _ := parse.LeadingInt(m[6])
			d.sum, d.sumAt = map[string]int{"total": n, "failed": failed, "skipped": skipped + inconclusive, "nunit": 1}, d.at
			d.started = true
			return true
		}
	}
	if d.cur == nil {
		return false
	}
	switch d.part {
	case "Standard Output Messages:", "Standard Error Messages:", "Attachments:", "Debug Trace Messages:", "TestContext Messages:":
		if len(d.cur.Test.Output) < 4<<10 {
			d.cur.Test.Output += strings.TrimSpace(t) + "\n"
		}
	default:
		d.cur.Text.Add(t)
	}
	return d.seen
}

// countLine reads the lines below "Total tests: 3" or "Test run summary:".
func (d *dotnetConsole) countLine(t string) bool {
	m := dotnetCount.FindStringSubmatch(t)
	if m == nil {
		if s := strings.TrimSpace(t); strings.HasPrefix(s, "Total time:") || strings.HasPrefix(s, "duration:") {
			d.summed()
			return true
		}
		return false
	}
	n, _, _ := parse.LeadingInt(m[2])
	d.sum[strings.ToLower(m[1])] = n
	return true
}

// summed hands on the tests whose totals stand on lines of their own.
func (d *dotnetConsole) summed() {
	s := d.sum
	d.sum = nil
	d.flush(&runTotals{s["total"], s["failed"], s["skipped"]})
}

func (d *dotnetConsole) xunitLine(t string) bool {
	d.seen = true
	if m := xunitFail.FindStringSubmatch(t); m != nil {
		if m[2] == "FAIL" {
			d.start(m[1], "")
			d.part, d.cur = "", nil // the text comes again below VSTest's own line
		}
		return true
	}
	if strings.HasSuffix(t, "Starting:") || strings.Contains(t, "  Starting:    ") {
		d.begin()
	}
	return true
}

func (d *dotnetConsole) nunitEntry(m []string) {
	d.nunit = true
	d.cur = nil
	switch m[1] {
	case "Ignored", "Skipped", "Explicit", "Warning":
		return
	}
	d.start(m[2], "")
	if d.cur != nil && (strings.HasPrefix(m[1], "SetUp") || strings.HasPrefix(m[1], "TearDown")) {
		d.cur.Test.Kind = model.KindSetup
	}
	d.part = "nunit"
}

// result reads one test's result.
func (d *dotnetConsole) result(how, name, took string) {
	d.cur, d.part = nil, ""
	switch strings.ToLower(how) {
	case "passed":
		d.passed++
		suite, leaf := dotnetName(name)
		d.out.Test(model.Test{Suite: suite, Name: leaf, Status: model.Passed, Duration: dotnetTime(took), At: d.at})
	case "skipped":
		d.skipped++
		suite, leaf := dotnetName(name)
		d.out.Test(model.Test{Suite: suite, Name: leaf, Status: model.Skipped, At: d.at})
	case "failed":
		d.start(name, took)
	}
}

// start begins a failing test. xUnit names it before VSTest does.
func (d *dotnetConsole) start(name, took string) {
	if f := d.byName[name]; f != nil && f.Text.Head.Len() == 0 && len(f.Text.Tail) == 0 {
		f.Test.At, f.Test.Duration = d.at, dotnetTime(took)
		d.cur = f
		return
	}
	suite, leaf := dotnetName(name)
	f := failtext.NewFailure(model.Test{Suite: suite, Name: leaf, Status: model.Failed, Duration: dotnetTime(took), At: d.at}, failtext.Shrunk(d.lim, len(d.tests)))
	d.cur = f
	if len(d.tests) < 5*d.lim.Failing {
		d.tests = append(d.tests, f)
		d.byName[strings.Clone(name)] = f
	}
}

// dotnetName splits "Ns.Class.Method(x: 1.5)" at the dot before the method.
func dotnetName(s string) (suite, name string) {
	base := s
	if i := strings.IndexAny(s, "(<["); i > 0 {
		base = s[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && !strings.Contains(base, " ") {
		return s[:i], s[i+1:]
	}
	return "", s
}

// dotnetTime reads "12 ms", "< 1 ms", "1 s", "1 m 2 s", "1s 234ms".
func dotnetTime(s string) time.Duration {
	s = strings.NewReplacer("< ", "", " ", "", ",", "", "min", "m").Replace(s)
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0
	}
	return d
}

var (
	dotnetType  = lazyregexp.New(`^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Exception|Error)) ?: (.*)$`)
	xunitPlace  = lazyregexp.New(`(?m)^\s*(\S+\.(?:cs|fs|vb))\((\d+),\d+\): at `)
	dotnetAfter = lazyregexp.New(`(?s)\n\s*Stack Trace:\n.*$`)
)

// explainDotnet fills in what the text of a failure says.
func explainDotnet(t *model.Test, text string) {
	text = strings.TrimSpace(parse.Dedent(text))
	t.Trace = text
	msg := text
	if i := frameAt(msg); i >= 0 {
		msg = msg[:i]
	}
	msg = strings.TrimSpace(dotnetAfter.ReplaceAllString(msg, ""))
	msg = strings.TrimSpace(strings.TrimSuffix(msg, "Stack Trace:"))
	t.Message = msg
	first, _, _ := strings.Cut(msg, "\n")
	if m := dotnetType.FindStringSubmatch(first); m != nil {
		t.Type = m[1]
	}
	if t.Kind == "" {
		switch {
		case strings.Contains(first, "TimeoutException") || strings.Contains(first, "exceeded execution timeout"):
			t.Kind = model.KindTimeout
		case strings.Contains(first, "Initialization method ") || strings.Contains(first, "Class fixture type") || strings.HasPrefix(first, "OneTimeSetUp:") || strings.HasPrefix(first, "SetUp :"):
			t.Kind = model.KindSetup
		case t.Type != "" && !strings.Contains(t.Type, "Assert") && !strings.HasPrefix(t.Type, "Xunit.") && !strings.HasPrefix(t.Type, "NUnit.") && !strings.HasPrefix(t.Type, "Shouldly") && !strings.HasPrefix(t.Type, "FluentAssertions"):
			t.Kind = model.KindError
		default:
			t.Kind = model.KindAssertion
		}
	}
	if m := xunitPlace.FindStringSubmatch(text); m != nil {
		t.File = m[1]
		t.Line, _, _ = parse.LeadingInt(m[2])
	} else if file, line := failtext.PlaceIn(text, "", ""); line > 0 {
		t.File, t.Line = file, line
	}
	if e, a, ok := failtext.SplitAssertion(msg); ok {
		t.Expected, t.Actual = e, a
	}
	t.Output = strings.TrimSpace(t.Output)
}

// frameAt finds the first stack frame: "   at Ns.Class.Method() in file:line 3".
func frameAt(s string) int {
	for off := 0; off < len(s); {
		line := s[off:]
		if i := strings.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "at ") && strings.Contains(t, "(") || t == "--- End of stack trace from previous location ---" || t == "Stack Trace:" {
			return off
		}
		off += len(line) + 1
	}
	return -1
}

// flush hands on the tests since the last totals.
func (d *dotnetConsole) flush(sum *runTotals) {
	d.cur, d.part = nil, ""
	for _, f := range d.tests {
		explainDotnet(&f.Test, f.Text.String())
		d.out.Test(f.Test)
	}
	named := len(d.tests)
	if sum != nil {
		d.anon.Emit(d.out, sum.tests-sum.skipped-max(sum.failed, named)-d.passed, model.Test{Status: model.Passed, At: d.at})
		d.anon.Emit(d.out, sum.skipped-d.skipped, model.Test{Status: model.Skipped, At: d.at})
		if sum.failed > named {
			failtext.Unnamed(d.out, "dotnet", sum.failed, named, d.at)
		}
		d.counted = true
	}
	d.tests, d.byName, d.passed, d.skipped = nil, map[string]*failtext.Failure{}, 0, 0
}

func (d *dotnetConsole) End() {
	if d.sum != nil {
		if _, ok := d.sum["total"]; ok {
			d.summed()
		}
	}
	open := d.seen && (len(d.tests) > 0 || d.passed > 0 || d.started && !d.counted)
	if d.seen {
		d.flush(nil)
	}
	if d.diags.Errors > 0 && d.out.Failed == 0 {
		p := model.Problem{Kind: model.KindBuild, Name: "dotnet build", Message: d.diags.First.Code + ": " + d.diags.First.Message, At: d.diags.First.At}
		d.diags.Place(&p)
		d.out.Problem(p)
	} else if open && d.out.Failed == 0 {
		d.out.Problem(model.Problem{Kind: model.KindTruncated, At: d.at, Message: "the output of dotnet test ends before its totals"})
	}
	d.diags.Errors, d.out.Failed = 0, 0
	d.reset()
}
