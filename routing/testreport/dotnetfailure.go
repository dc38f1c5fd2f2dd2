package testreport

import (
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

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
	dotnetType  = multimatch.New(`^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Exception|Error)) ?: (.*)$`)
	xunitPlace  = multimatch.New(`(?m)^\s*(\S+\.(?:cs|fs|vb))\((\d+),\d+\): at `)
	dotnetAfter = multimatch.New(`(?s)\n\s*Stack Trace:\n.*$`)
)

// explainDotnet fills in what the text of a failure says.
func explainDotnet(t *Test, text string) {
	text = strings.TrimSpace(dedent(text))
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
			t.Kind = KindTimeout
		case strings.Contains(first, "Initialization method ") || strings.Contains(first, "Class fixture type") || strings.HasPrefix(first, "OneTimeSetUp:") || strings.HasPrefix(first, "SetUp :"):
			t.Kind = KindSetup
		case t.Type != "" && !strings.Contains(t.Type, "Assert") && !strings.HasPrefix(t.Type, "Xunit.") && !strings.HasPrefix(t.Type, "NUnit.") && !strings.HasPrefix(t.Type, "Shouldly") && !strings.HasPrefix(t.Type, "FluentAssertions"):
			t.Kind = KindError
		default:
			t.Kind = KindAssertion
		}
	}
	if m := xunitPlace.FindStringSubmatch(text); m != nil {
		t.File = m[1]
		t.Line, _, _ = leadingInt(m[2])
	} else if file, line := placeIn(text, "", ""); line > 0 {
		t.File, t.Line = file, line
	}
	if e, a, ok := splitAssertion(msg); ok {
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
func (d *dotnetConsole) flush(sum *gradleTotals) {
	d.cur, d.part = nil, ""
	for _, f := range d.tests {
		explainDotnet(&f.t, f.text.String())
		d.out.Test(f.t)
	}
	named := len(d.tests)
	if sum != nil {
		d.anon.emit(d.out, sum.tests-sum.skipped-max(sum.failed, named)-d.passed, Test{Status: Passed, At: d.at})
		d.anon.emit(d.out, sum.skipped-d.skipped, Test{Status: Skipped, At: d.at})
		if sum.failed > named {
			d.out.Problem(Problem{Kind: KindPackage, Name: "dotnet", At: d.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", sum.failed, named)})
		}
		d.counted = true
	}
	d.tests, d.byName, d.passed, d.skipped = nil, map[string]*failure{}, 0, 0
}

func (d *dotnetConsole) end() {
	if d.sum != nil {
		if _, ok := d.sum["total"]; ok {
			d.summed()
		}
	}
	open := d.seen && (len(d.tests) > 0 || d.passed > 0 || d.started && !d.counted)
	if d.seen {
		d.flush(nil)
	}
	if d.diags.errors > 0 && d.out.failed == 0 {
		p := Problem{Kind: KindBuild, Name: "dotnet build", Message: d.diags.first.Code + ": " + d.diags.first.Message, At: d.diags.first.At}
		d.diags.place(&p)
		d.out.Problem(p)
	} else if open && d.out.failed == 0 {
		d.out.Problem(Problem{Kind: KindTruncated, At: d.at, Message: "the output of dotnet test ends before its totals"})
	}
	d.diags.errors, d.out.failed = 0, 0
	d.reset()
}
