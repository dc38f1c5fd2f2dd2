package lint

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// readLint reads s as a log with every console.
func readLint(t testing.TB, s string) *model.Report {
	t.Helper()
	rep, err := reader.Parse(strings.NewReader(s), model.Options{})
	if rep == nil {
		t.Fatal(err)
	}
	return rep
}

func shown(d model.Diagnostic) string {
	return fmt.Sprintf("%s|%s|%s:%d:%d|%s|%s", d.Tool, d.Severity, d.File, d.Line, d.Column, d.Code, strings.ReplaceAll(d.Message, "\n", "\\n"))
}

// TestLintLines holds one message of each shape to what is read of it.
func TestLintLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"src/a.c:1:2: error: 'x' undeclared", "cc|error|src/a.c:1:2||'x' undeclared"},
		{"src/a.c:1:2: fatal error: x.h: No such file or directory", "cc|error|src/a.c:1:2||x.h: No such file or directory"},
		{"src/a.c:7: warning: unused", "cc|warning|src/a.c:7:0||unused"},
		{"a.cpp:3:4: warning: use nullptr [modernize-use-nullptr]", "clang-tidy|warning|a.cpp:3:4||use nullptr [modernize-use-nullptr]"},
		{"src/a.ts(3,5): error TS2322: Type 'a' is not", "tsc|error|src/a.ts:3:5|TS2322|Type 'a' is not"},
		{"src/a.ts:3:5 - error TS2322: Type 'a' is not", "tsc|error|src/a.ts:3:5|TS2322|Type 'a' is not"},
		{"error TS18003: No inputs were found.", "tsc|error|:0:0|TS18003|No inputs were found."},
		{"app/a.py:12: error: Incompatible types  [assignment]", "mypy|error|app/a.py:12:0||Incompatible types  [assignment]"},
		{"  /p/a.py:1:2 - error: \"x\" is not defined (reportUndefinedVariable)", "pyright|error|/p/a.py:1:2||\"x\" is not defined (reportUndefinedVariable)"},
		{"a.py:1:1: F401 'os' imported but unused", "flake8|warning|a.py:1:1|F401|'os' imported but unused"},
		{"a.py:1:0: C0114: Missing module docstring (missing-module-docstring)", "pylint|warning|a.py:1:0|C0114|Missing module docstring (missing-module-docstring)"},
		{"F401 [*] `os` imported but unused\n --> a.py:1:8", "ruff|error|a.py:1:8|F401|`os` imported but unused"},
		{"would reformat src/a.py", "black|error|src/a.py:0:0||would be reformatted"},
		{"error: cannot format src/a.py: Cannot parse: 1:3: x = (", "black|error|src/a.py:1:3||cannot format: Cannot parse: 1:3: x = ("},
		{"ERROR: /p/a.py Imports are incorrectly sorted and/or formatted.", "isort|error|/p/a.py:0:0||Imports are incorrectly sorted and/or formatted."},
		{"/p/a.js\n  2:10  error  'x' is defined but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)", "eslint|error|/p/a.js:2:10|no-unused-vars|'x' is defined but never used"},
		{"/p/a.js: line 2, col 10, Error - 'x' is unused. (no-unused-vars)", "eslint|error|/p/a.js:2:10||'x' is unused. (no-unused-vars)"},
		{"/p/a.js:2:10: 'x' is unused. [Error/no-unused-vars]", "eslint|error|/p/a.js:2:10|no-unused-vars|'x' is unused."},
		{"src/a.css\n  1:3  ✖  Unexpected unit  length-zero-no-unit", "stylelint|error|src/a.css:1:3|length-zero-no-unit|Unexpected unit"},
		{"[warn] src/a.js\n[warn] Code style issues found in 1 file. Run Prettier with --write to fix.", "prettier|warning|src/a.js:0:0||is not formatted"},
		{"[error] src/a.js: SyntaxError: Unexpected token (1:2)", "prettier|error|src/a.js:0:0||SyntaxError: Unexpected token (1:2)"},
		{"a.go:3:2: undefined: x", "go|error|a.go:3:2||undefined: x"},
		{"vet: ./a.go:3:2: undefined: x", "go|error|./a.go:3:2||undefined: x"},
		{"a.go:3:2: Error return value is not checked (errcheck)", "golangci-lint|error|a.go:3:2|errcheck|Error return value is not checked (errcheck)"},
		{"a.go:9:9: empty branch (SA9003)", "staticcheck|error|a.go:9:9|SA9003|empty branch (SA9003)"},
		{"lib/a.rb:4:1: C: [Correctable] Layout/X: Extra blank line.", "rubocop|warning|lib/a.rb:4:1||[Correctable] Layout/X: Extra blank line."},
		{"bin/tool:4:1: E: Lint/Syntax: unexpected token", "rubocop|error|bin/tool:4:1||Lint/Syntax: unexpected token"},
		{"FILE: /p/a.php\n------\nFOUND 1 ERROR AFFECTING 1 LINE\n------\n 12 | ERROR | [x] Missing", "phpcs|error|/p/a.php:12:0||Missing"},
		{" ------ ----\n  Line   src/A.php\n ------ ----\n  12     Call to undefined method A::b().", "phpstan|error|src/A.php:12:0||Call to undefined method A::b()."},
		{"ERROR: InvalidReturn - src/A.php:12:5 - The type is wrong (see https://psalm.dev/011)", "psalm|error|src/A.php:12:5|InvalidReturn|The type is wrong (see https://psalm.dev/011)"},
		{"In a.sh line 3:\necho $1\n     ^-- SC2086 (info): Double quote.", "shellcheck|note|a.sh:3:0|SC2086|Double quote."},
		{"a.sh:3:6: note: Double quote. [SC2086]", "shellcheck|note|a.sh:3:6||Double quote. [SC2086]"},
		{"a.yml:1:1: [error] too many blank lines (empty-lines)", "yamllint|error|a.yml:1:1||too many blank lines (empty-lines)"},
		{".github/workflows/ci.yml:3:5: unexpected key \"x\" [syntax-check]", "actionlint|warning|.github/workflows/ci.yml:3:5||unexpected key \"x\" [syntax-check]"},
		{"Dockerfile:3 DL3008 warning: Pin versions", "hadolint|warning|Dockerfile:3:0|DL3008|Pin versions"},
		{"README.md:3:81 MD013/line-length Line length", "markdownlint|warning|README.md:3:81|MD013|Line length"},
		{"README.md:3:81 error MD013/line-length Line length", "markdownlint|error|README.md:3:81|MD013|Line length"},
		{"│ Error: Unsupported argument\n│ \n│   on main.tf line 3, in resource \"a\" \"b\":", "terraform|error|main.tf:3:0||Unsupported argument"},
		{"Error: Unsupported argument\n\n  on main.tf line 3, in resource \"a\" \"b\":", "terraform|error|main.tf:3:0||Unsupported argument"},
		{"/p/A.swift:12:5: error: Force Cast Violation: x (force_cast)", "swiftlint|error|/p/A.swift:12:5||Force Cast Violation: x (force_cast)"},
		{"/p/A.kt:1:1: Unused import (standard:no-unused-imports)", "ktlint|warning|/p/A.kt:1:1||Unused import (standard:no-unused-imports)"},
		{"/p/A.kt:1:1: The function is too long [LongMethod]", "detekt|warning|/p/A.kt:1:1||The function is too long [LongMethod]"},
		{"Program.cs(12,5): error CS1002: ; expected [/p/a.csproj]", "csc|error|Program.cs:12:5|CS1002|; expected [/p/a.csproj]"},
		{`C:\p\a.cpp(12): error C2065: 'x': undeclared`, `cc|error|C:\p\a.cpp:12:0|C2065|'x': undeclared`},
		{"a.proto:1:1:Package name is wrong.", "buf|warning|a.proto:1:1||Package name is wrong."},
		{"[a.proto:1:1] File name should be lower_snake_case.", "protolint|warning|a.proto:1:1||File name should be lower_snake_case."},
		{"src/a.js:1:7 lint/style/useConst  FIXABLE  ━━━━━━\n\n  × This let declares a variable.", "biome|error|src/a.js:1:7|lint/style/useConst|This let declares a variable."},
		{"Diff in /p/src/a.rs:12:", "rustfmt|error|/p/src/a.rs:12:0||is not formatted"},
		{"diff a.go.orig a.go", "gofmt|error|a.go:0:0||is not formatted"},
		{"  error • Undefined name 'x' • lib/a.dart:1:2 • undefined_identifier", "dart|error|lib/a.dart:1:2|undefined_identifier|Undefined name 'x'"},
		{"main.c:(.text+0x5): undefined reference to `f'", "ld|error|main.c:0:0||undefined reference to `f'"},
		{"✘ [ERROR] Could not resolve \"./x\"\n\n    src/a.js:1:7:", "esbuild|error|src/a.js:1:7||Could not resolve \"./x\""},
		{"weird.xyz:1:2: error: no", "|error|weird.xyz:1:2||no"},
		{"test.py:1 at module level:\n        D100: Missing docstring in public module", "pydocstyle|warning|test.py:1:0|D100|Missing docstring in public module"},
	} {
		rep := readLint(t, c.in+"\n")
		if len(rep.Diagnostics) != 1 || shown(rep.Diagnostics[0]) != c.want {
			t.Errorf("%q\n got %d", c.in, len(rep.Diagnostics))
			for _, d := range rep.Diagnostics {
				t.Errorf("     %s", shown(d))
			}
			t.Errorf("want %s", c.want)
		}
	}
}

// TestLintSilence holds lines that are no diagnostic.
func TestLintSilence(t *testing.T) {
	for _, in := range []string{
		"    at foo (src/a.js:1:2)", "src/a.js:12:3", "main.go:12: started", "    a_test.go:12: got 3", "12:30:01 error: x", "http://a.b/c.js:80: x",
		"tests/test_a.py:12: AssertionError", "/usr/lib/a.rb:12:in `x'", "  File \"a.py\", line 3", "Found 0 errors.", "0 problems", "Found 3 errors in the log",
		"3 files inspected, no offenses detected", "3 files inspected, 0 offenses detected", "[warn] not a file", "error: something failed", "2024-01-01 10:00:00:123 x",
		"key.json: 12", "  3:4  errors are listed", "0 issues.", "All done! 2 files would be left unchanged.", "e: x.ktor failed",
	} {
		rep := readLint(t, in+"\n")
		if len(rep.Diagnostics) > 0 {
			t.Errorf("%q: %s", in, shown(rep.Diagnostics[0]))
		}
		for _, p := range rep.Problems {
			t.Errorf("%q: problem %+v", in, p)
		}
	}
}

// TestLintEnds holds how linters end: a finding without severity counts once
// its step failed, and a tool's own failing end always.
func TestLintEnds(t *testing.T) {
	soft := "a.py:1:1: F401 'os' imported but unused\n"
	for _, c := range []struct{ in, want string }{
		{soft, "lint flake8"},
		{soft + "##[error]Process completed with exit code 1.\n", "lint flake8"},
		{"2024-01-01T00:00:00.0000000Z " + soft + "2024-01-01T00:00:00.0000000Z ##[error]Process completed with exit code 1.\n", "lint flake8"},
		{soft + "##[group]Run pytest\nshell: bash\n##[endgroup]\nok\n##[error]Process completed with exit code 1.\n", ""},
		{soft + strings.Repeat("output\n", 100) + "##[error]Process completed with exit code 1.\n", ""},
		{soft + strings.Repeat("output\n", 100), ""},
		{soft + "The command \"flake8\" exited with 0.\n", ""},
		{soft + "The command \"flake8\" exited with 1.\n", "lint flake8"},
		{soft + "Found 1 error.\n", "lint ruff"},
		{"a.c:1:2: warning: unused\n", ""},
		{"/p/a.js\n  2:10  warning  x  y\n\n✖ 1 problem (0 errors, 1 warning)\n", ""},
		{"/p/a.js\n  2:10  error  x  y\n\n✖ 1 problem (1 error, 0 warnings)\n", "lint eslint"},
		{"[warn] a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n", "lint prettier"},
		{"would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.\n", "lint black"},
		{"Would reformat: a.py\n1 file would be reformatted\n", "lint ruff"},
		{"a.rb:1:1: C: x\n\n1 file inspected, 1 offense detected\n", "lint rubocop"},
		{"a.ts:1:2 - error TS2304: x\n\nFound 1 error in a.ts:1\n", "build tsc"},
		{"a.py:1: error: x\nFound 1 error in 1 file (checked 1 source file)\n", "build mypy"},
		{"a.go:1:2: x (errcheck)\n1 issues:\n* errcheck: 1\n", "lint golangci-lint"},
		{"main.c:(.text+0x5): undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n", "build ld"},
		{"3 errors, 1 warning, 0 informations \n", "build pyright"},
		{"Done linting! Found 2 violations, 0 serious in 3 files.\n", ""},
		{"Done linting! Found 2 violations, 1 serious in 3 files.\n", "lint swiftlint"},
		{"Analysis failed with 3 issues.\n", "lint detekt"},
		{"A.java:1: error: ';' expected\nint x\n     ^\n1 error\n", "build javac"},
	} {
		rep := readLint(t, c.in)
		var got []string
		for _, p := range rep.Problems {
			got = append(got, string(p.Kind)+" "+p.Name)
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%q: got %q, want %q", c.in, s, c.want)
		}
		if rep.Green() {
			t.Errorf("%q is green", c.in)
		}
	}
}

var updateLint = flag.Bool("update-lint", false, "write what is read of testdata/lint as expected")

// TestLintRecorded reads what the real tools printed (testdata/lint/make.sh),
// as it is and within a job's log of GitHub.
func TestLintRecorded(t *testing.T) {
	logs, err := filepath.Glob("testdata/lint/*.log")
	if err != nil || len(logs) < 30 {
		t.Fatal(len(logs), err)
	}
	for _, path := range logs {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := lintSeen(readLint(t, string(data)), 0)
		wantFile := strings.TrimSuffix(path, ".log") + ".want"
		if *updateLint {
			if err := os.WriteFile(wantFile, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(wantFile)
		if err != nil || got != string(want) {
			t.Errorf("%s: %v\ngot:\n%swant:\n%s", path, err, got, want)
		}
		if strings.Contains(path, "warnings") == strings.Contains(got, "problem ") {
			t.Errorf("%s: a linter that failed has a problem, one that warned has none:\n%s", path, got)
		}
		job := strings.Builder{}
		job.WriteString("##[group]Run lint\nshell: bash\n##[endgroup]\n")
		for l := range strings.Lines(string(data)) {
			job.WriteString("2024-05-06T07:08:09.1234567Z \x1b[1m" + strings.TrimSuffix(l, "\n") + "\x1b[0m\n")
		}
		if strings.Contains(got, "problem ") {
			job.WriteString("##[error]Process completed with exit code 1.\n")
		}
		if in := lintSeen(readLint(t, job.String()), 3); in != got {
			t.Errorf("%s within a job:\n%swant:\n%s", path, in, got)
		}
	}
}

// lintSeen shows what was read, with lines less those that stand before it.
func lintSeen(rep *model.Report, before int) string {
	var b strings.Builder
	for _, d := range rep.Diagnostics {
		fmt.Fprintf(&b, "%d %s\n", d.At-before, shown(d))
	}
	for _, p := range rep.Problems {
		fmt.Fprintf(&b, "problem %d %s %s %s:%d %s\n", p.At-before, p.Kind, p.Name, p.File, p.Line, strings.ReplaceAll(p.Message, "\n", "\\n"))
	}
	return b.String()
}

func TestLintCaret(t *testing.T) {
	rep := readLint(t, "A.java:1: error: ';' expected\n    int x\n         ^\nA.java:2: warning: old\n")
	if len(rep.Diagnostics) != 2 || rep.Diagnostics[0].Column != 10 || rep.Diagnostics[0].At != 1 {
		t.Errorf("%+v", rep.Diagnostics)
	}
}

func FuzzLint(f *testing.F) {
	files, _ := filepath.Glob("../../../shared/fixtures/errorformat/*.in")
	more, _ := filepath.Glob("testdata/lint/*.log")
	for _, p := range append(files, more...) {
		if b, err := os.ReadFile(p); err == nil && len(b) < 8<<10 {
			f.Add(string(b))
		}
	}
	f.Add("a.py:1:1: F401 x\n##[error]Process completed with exit code 1.\n")
	f.Fuzz(func(t *testing.T, s string) {
		rep, err := reader.Parse(strings.NewReader(s), model.Options{Format: "lint"})
		if err != nil {
			return
		}
		for _, d := range rep.Diagnostics {
			if d.Line < 0 || d.Column < 0 || d.At < 1 || d.At > rep.Lines {
				t.Errorf("%+v of %d lines", d, rep.Lines)
			}
		}
	})
}

func FuzzErrorformat(f *testing.F) {
	f.Add("eslint", "/p/a.js\n  2:10  error  x  y\n")
	f.Add("scalac", "a.scala:6: error: x\n  e\n  ^\n")
	f.Fuzz(func(t *testing.T, name, s string) {
		if errorformats()[name] == nil {
			return
		}
		if rep, err := reader.Parse(strings.NewReader(s), model.Options{Format: "errorformat:" + name}); err == nil && rep.Counts.Tests != 0 {
			t.Error("a linter ran tests")
		}
	})
}

// BenchmarkLintGate measures what lint costs a log without diagnostics.
func BenchmarkLintGate(b *testing.B) {
	all := []string{
		"2021-03-04 10:11:12,345 INFO  [main] org.example.Foo - started component bar in 123 ms with id=42",
		"    at org.example.Foo.bar(Foo.java:123) ~[classes/:na]",
		"Downloading https://example.org/some/long/path/to/an/artifact-1.2.3.jar (123 kB at 4.5 MB/s)",
		"test_module.py::TestThing::test_name[param-1] PASSED                     [ 42%]",
		"  -> building target //a/b:c with flags -O2 -g -Wall -Wextra -Werror --std=c++20",
		"[INFO] Compiling 123 source files to /home/runner/work/project/target/classes",
	}
	n := 0
	for _, l := range all {
		n += len(l)
	}
	c := lintFormat.Console(model.NewCollector(model.Limits{}), model.DefaultLimits())
	b.SetBytes(int64(n))
	for b.Loop() {
		for i, l := range all {
			c.Line(lines.Line{No: i + 1, Text: l})
		}
	}
}
