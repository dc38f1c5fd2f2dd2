package lint

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// TestFindingsJSON: findings are read by the shape of the document, whoever wrote it, and what is no
// finding is not.
func TestFindingsJSON(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"ESLint":        {`[{"filePath":"/p/a.js","messages":[{"ruleId":"eqeqeq","severity":2,"message":"use ===","line":3,"column":5},{"ruleId":"no-x","severity":1,"message":"x","line":4,"column":1}]}]`, "lint|error|/p/a.js:3:5|eqeqeq|use ===; lint|warning|/p/a.js:4:1|no-x|x"},
		"Ruff":          {`[{"cell":null,"code":"F401","end_location":{"column":10,"row":1},"filename":"/p/a.py","fix":{"message":"Remove","edits":[]},"location":{"column":8,"row":1},"message":"os imported but unused"}]`, "lint|error|/p/a.py:1:8|F401|os imported but unused"},
		"golangci-lint": {`{"Issues":[{"FromLinter":"errcheck","Text":"not checked","Severity":"","Pos":{"Filename":"a.go","Offset":40,"Line":7,"Column":3}}],"Report":{}}`, "lint|error|a.go:7:3|errcheck|not checked"},
		"RuboCop":       {`{"metadata":{"rubocop_version":"1"},"files":[{"path":"lib/a.rb","offenses":[{"severity":"convention","message":"too long","cop_name":"Layout/LineLength","location":{"start_line":2,"start_column":1,"line":2,"column":1}}]}]}`, "lint|warning|lib/a.rb:2:1|Layout/LineLength|too long"},
		"Stylelint":     {`[{"source":"/p/a.css","warnings":[{"line":2,"column":3,"rule":"color-no-invalid-hex","severity":"error","text":"bad hex"}]}]`, "lint|error|/p/a.css:2:3|color-no-invalid-hex|bad hex"},
		"Semgrep":       {`{"results":[{"check_id":"no-eval","path":"a.py","start":{"line":4,"col":2},"end":{"line":4,"col":9},"extra":{"message":"eval is unsafe","severity":"ERROR"}}]}`, "lint|error|a.py:4:2|no-eval|eval is unsafe"},
		"go vet":        {`{"example.com/a":{"printf":[{"posn":"/p/a.go:6:14","message":"bad format"}]}}`, "lint|error|/p/a.go:6:14||bad format"},
		"Staticcheck":   {`{"code":"U1000","severity":"error","location":{"file":"/p/a.go","line":5,"column":6},"end":{"file":"","line":0,"column":0},"message":"unused"}`, "lint|error|/p/a.go:5:6|U1000|unused"},
		"cargo":         {`{"reason":"compiler-message","message":{"rendered":"x","children":[{"message":"a note","level":"note","spans":[]}],"level":"error","message":"mismatched types","spans":[{"file_name":"src/a.rs","line_start":2,"column_start":18,"is_primary":true,"text":[]}],"code":{"code":"E0308","explanation":null}}}`, "rustc|error|src/a.rs:2:18|E0308|mismatched types"},
		"PHPStan":       {`{"totals":{"errors":0,"file_errors":1},"files":{"/p/src/a.php":{"errors":1,"messages":[{"message":"no such method","line":9,"ignorable":true,"identifier":"method.notFound"}]}},"errors":[]}`, "lint|error|/p/src/a.php:9:0|method.notFound|no such method"},
		"a logger":      {`{"level":"error","message":"could not connect","file":"db.go","line":12}`, ""},
		"no findings":   {`[{"filePath":"/p/a.js","messages":[],"errorCount":0}]`, ""},
		"a service":     {`{"code":404,"message":"not found","path":"/users"}`, ""},
	} {
		for form, text := range map[string]string{"alone": c.in, "in a log": corpustest.JobLog("checking\n" + c.in + "\ndone\n")} {
			if form == "in a log" && (name == "go vet" || name == "RuboCop" || name == "Stylelint" || name == "Semgrep" || name == "PHPStan") {
				continue // their first keys are no sign of a document
			}
			var got []string
			for _, d := range readLint(t, text).Diagnostics {
				got = append(got, shown(d))
			}
			if s := strings.Join(got, "; "); s != c.want {
				t.Errorf("%s, %s: %s, want %s", name, form, s, c.want)
			}
		}
	}
}

// TestLoggerIsNoFinding: a lone object with a severity and a place is a line of a logger, also where
// the format is named.
func TestLoggerIsNoFinding(t *testing.T) {
	in := `{"level":"error","message":"could not connect","file":"db.go","line":12}`
	if rep, _ := reader.Parse(strings.NewReader(in), model.Options{Format: "lint-json"}); rep != nil && len(rep.Diagnostics) > 0 {
		t.Errorf("%+v", rep.Diagnostics)
	}
}

// TestWorkflowCommands: a linter's command is a finding, one of a reporter of tests is none beside the
// test, or where the test passed on another attempt.
func TestWorkflowCommands(t *testing.T) {
	for in, want := range map[string]string{
		"::error title=lint/noDebugger,file=a.js,line=2,col=5::no debugger\n":            "lint|error|a.js:2:5|lint/noDebugger|no debugger",
		"::error file=a.yaml,line=3,col=1::3:1 [key-duplicates] twice\n":                 "lint|error|a.yaml:3:1||3:1 [key-duplicates] twice",
		"::warning file=a.js,line=2::a remark\n":                                         "",
		"::error file=a.js::no line\n":                                                   "",
		"::error file=a.spec.ts,line=4,title=[chromium] › a.spec.ts › adds::it failed\n": "",
		"::error file=test_a.py,line=4,title=test_a::assert 1 == 2%0Aat test_a.py\n":     "",
	} {
		var got []string
		for _, d := range readLint(t, in).Diagnostics {
			got = append(got, shown(d))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q: %s, want %s", in, s, want)
		}
	}
}

// TestFramedFindings: what tools written in Rust draw around a finding.
func TestFramedFindings(t *testing.T) {
	for in, want := range map[string]string{
		"  × eslint(no-debugger): `debugger` is not allowed\n   ╭─[src/a.js:2:3]\n 2 │   debugger\n   ╰────\n": "oxlint|error|src/a.js:2:3|eslint(no-debugger)|`debugger` is not allowed",
		"  ⚠ eslint(no-var): use let\n   ╭─[src/a.js:2:3]\n":                                                   "oxlint|warning|src/a.js:2:3|eslint(no-var)|use let",
		"  x Unexpected token\n   ,-[a.js:1:9]\n":                                                              "|error|a.js:1:9||Unexpected token",
		"  × a message\n  │ a\n  │ b\n  │ c\n  │ d\n   ╭─[src/a.js:2:3]\n":                                     "",
		"   ╭─[src/a.js:2:3]\n":            "",
		"  × a test failed\n  × another\n": "",
	} {
		var got []string
		for _, d := range readLint(t, in).Diagnostics {
			got = append(got, shown(d))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%q: %s, want %s", in, s, want)
		}
	}
}
