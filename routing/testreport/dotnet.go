package testreport

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// dotnetFormat reads dotnet test (VSTest and the testing platform), the
// consoles of xUnit.net and NUnit, and MSBuild's messages.
var dotnetFormat = format{
	name:  "dotnet",
	order: 730,
	wakes: &wake{flush: "FPSTRAN=[", indent: "FPS", ends: "]", holds: ':'},
	console: func(out Sink, lim Limits) console {
		c := &countingSink{Sink: out}
		d := &dotnetConsole{out: c, lim: lim, anon: newAnonymous(), diags: diagnosticSet{out: c, lim: lim}}
		d.reset()
		return d
	},
}

type dotnetConsole struct {
	out   *countingSink
	lim   Limits
	anon  *anonymous
	diags diagnosticSet

	at      int
	seen    bool // a line that only these tools print
	started bool // tests began; totals must follow
	tests   []*failure
	byName  map[string]*failure
	cur     *failure
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
	*d = dotnetConsole{out: d.out, lim: d.lim, anon: d.anon, diags: d.diags, byName: map[string]*failure{}}
}

var (
	dotnetResult = multimatch.New(`^  (Failed|Passed|Skipped) (\S.*?)(?: \[((?:< )?[\d.,]+ ?m?s|[\d.]+ m(?:in)?(?: [\d.]+ s)?|\d+ h.*)\])?$`)
	dotnetOld    = multimatch.New(`^(Failed|Passed|Skipped)   (\S.*)$`)
	dotnetMTP    = multimatch.New(`^(failed|skipped) (\S.*?) \(((?:\d+[dhms]+ ?)+)\)$`)
	dotnetSum    = multimatch.New(`^(Failed|Passed|Skipped)!\s+- Failed:\s*(\d+), Passed:\s*(\d+), Skipped:\s*(\d+), Total:\s*(\d+)`)
	dotnetTotals = multimatch.New(`^Total tests: (\d+)\. Passed: (\d+)\. Failed: (\d+)\. Skipped: (\d+)\.`)
	dotnetCount  = multimatch.New(`^\s*(?:(Total tests|Passed|Failed|Skipped|total|failed|succeeded|skipped)): (\d+)$`)
	xunitFail    = multimatch.New(`^\[xUnit\.net \d\d:\d\d:\d\d\.\d+\]\s+(.+) \[(FAIL|SKIP)\]$`)
	xunitBare    = multimatch.New(`^    (\S.*) \[(FAIL|SKIP)\]$`)
	xunitTotals  = multimatch.New(`^\s+\S.*\s+Total: (\d+), Errors: (\d+), Failed: (\d+), Skipped: (\d+)(?:, Not Run: \d+)?, Time: `)
	nunitEntry   = multimatch.New(`^\d+\) (Failed|Error|Invalid|SetUp Error|TearDown Error|Failure|Ignored|Skipped|Explicit|Warning) : (\S.*)$`)
	nunitTotals  = multimatch.New(`^\s+Test Count: (\d+), (?:Passed|Pass): (\d+), (?:Failed|Fail): (\d+), (?:Warnings|Warn): (\d+), Inconclusive: (\d+), (?:Skipped|Skip): (\d+)`)
	msbuildLine  = multimatch.New(`^\s*(?:\d+>)?((?:[A-Za-z]:)?[^\s:(][^:(]*|[A-Za-z]:\\[^:(]*)\((\d+)(?:,(\d+))?(?:,\d+,\d+)?\): (error|warning) ([A-Z]+[a-z]*\d+): (.+?)(?: \[([^\[\]]+)\])?$`)
	msbuildTool  = multimatch.New(`^\s*(?:\d+>)?(\S[^:]*\S)\s?: (error|warning) ((?:MSB|NU|NETSDK|CS|FS|BC|AD)\d+): (.+?)(?: \[([^\[\]]+)\])?$`)
)

func (d *dotnetConsole) idle() bool {
	return !d.seen && !d.started && d.cur == nil && d.sum == nil
}

func (d *dotnetConsole) line(l Line) bool {
	if l.Mark != "" && l.Mark != "error" && l.Mark != "warning" {
		if stepOver(l) {
			d.end()
		}
		return false
	}
	if stepOver(l) {
		d.end()
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
		d.cur.text.add(t)
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
		d.cur.text.add("")
	}
}

// message reads "File.cs(12,5): error CS0103: text [/path/x.csproj]".
func (d *dotnetConsole) message(t string) bool {
	if len(t) > 4<<10 {
		return false
	}
	if m := msbuildLine.FindStringSubmatch(t); m != nil {
		if m[7] == "" && !hasAny(m[5], "CS", "FS", "BC", "MSB", "NU", "NETSDK", "AD", "CA", "IDE", "SA", "xUnit", "NUnit") {
			return false // a compiler that prints alike, and no project behind it
		}
		x := Diagnostic{Tool: "msbuild", File: strings.TrimSpace(m[1]), Severity: SevError, Code: m[5], Message: m[6], At: d.at}
		x.Line, _, _ = leadingInt(m[2])
		x.Column, _, _ = leadingInt(m[3])
		if m[4] == "warning" {
			x.Severity = SevWarning
		}
		d.seen = true
		d.diags.add(x)
		return true
	}
	if m := msbuildTool.FindStringSubmatch(t); m != nil {
		x := Diagnostic{Tool: "msbuild", File: firstOf(m[5], m[1]), Severity: SevError, Code: m[3], Message: m[4], At: d.at}
		if m[2] == "warning" {
			x.Severity = SevWarning
		}
		d.seen = true
		d.diags.add(x)
		return true
	}
	return false
}

// capital reads "Failed!  - Failed: 1, …", the old "Failed   Name", "Starting test execution".
func (d *dotnetConsole) capital(t string) bool {
	if strings.Contains(t[:min(len(t), 9)], "!") {
		if m := dotnetSum.FindStringSubmatch(t); m != nil {
			d.begin()
			failed, _, _ := leadingInt(m[2])
			passed, _, _ := leadingInt(m[3])
			skipped, _, _ := leadingInt(m[4])
			d.flush(&gradleTotals{passed + failed + skipped, failed, skipped})
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
		d.out.Problem(Problem{Kind: KindCrash, Name: "testhost", Message: strings.Clone(t[len("The active test run was aborted. Reason: "):]), At: d.at})
		return true
	case t == "Test Run Aborted." || strings.HasPrefix(t, "Test Run Aborted with error"):
		d.begin()
		d.flush(nil)
		d.counted = true
		if d.out.failed == 0 {
			d.out.Problem(Problem{Kind: KindCrash, Name: "testhost", Message: strings.Clone(t), At: d.at})
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
			n, _, _ := leadingInt(m[1])
			failed, _, _ := leadingInt(m[3])
			skipped, _, _ := leadingInt(m[4])
			d.flush(&gradleTotals{n, failed, skipped})
			return true
		}
		if n, _ := numAfter(t, "Total tests: "); strings.HasSuffix(t, fmt.Sprint(n)) {
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
		if d.diags.errors > 0 || d.out.failed == 0 {
			p := Problem{Kind: KindBuild, Name: "dotnet build", Message: strings.Clone(t), At: d.at}
			if d.diags.first.Message != "" {
				p.Message = d.diags.first.Code + ": " + d.diags.first.Message
			}
			d.diags.place(&p)
			d.diags.errors = 0
			d.out.Problem(p)
		}
		return true
	}
	return t == "Build succeeded."
}
