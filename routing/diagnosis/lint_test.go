package diagnosis

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// TestLintRuns holds what findings of compilers and linters make of a run.
func TestLintRuns(t *testing.T) {
	const (
		soft    = "a.py:1:1: F401 'os' imported but unused\n"
		failing = "##[error]Process completed with exit code 1.\n"
		passing = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
		step    = "##[group]Run go test ./...\nshell: bash\n##[endgroup]\n"
	)
	for _, c := range []struct {
		name, log, conclusion, result string
		class                         routing.Class
	}{
		{"flake8 fails its step", soft + failing, "failure", Fail, routing.Quality},
		{"flake8 alone", soft, "", Fail, routing.Quality},
		{"flake8 that was only looked at", soft + step + passing, "success", Pass, ""},
		{"the same, conclusion unknown", soft + step + passing, "", Pass, ""},
		{"eslint", "/p/a.js\n  2:10  error  x  y\n\n✖ 1 problem (1 error, 0 warnings)\n\n" + failing, "", Fail, routing.Quality},
		{"tests passed before the linter failed", passing + step + soft + failing, "failure", Fail, routing.Quality},
		{"prettier", "Checking formatting...\n[warn] a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.\n" + failing, "failure", Fail, routing.Quality},
		{"black", "would reformat a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.\n", "", Fail, routing.Quality},
		{"tsc", "src/a.ts(3,5): error TS2322: Type 'a' is not assignable\n" + failing, "failure", Fail, routing.TypeError},
		{"gcc", "a.c:1:2: error: 'x' undeclared\nmake: *** [a.o] Error 1\n" + failing, "", Fail, routing.TypeError},
		{"a compiler error and passing tests", "a.c:1:2: error: 'x' undeclared\n" + passing, "", Fail, routing.TypeError},
		{"a compiler was probed", "a.c:1:2: error: 'x' undeclared\n" + step + passing, "success", Pass, ""},
		{"warnings", "a.c:1:2: warning: unused\n" + passing, "", Pass, ""},
		{"warnings alone", "a.c:1:2: warning: unused\n", "", Unclear, routing.Unknown},
		{"a JDK too old", "[ERROR] COMPILATION ERROR : \n[ERROR] /p/A.java:[3,13] cannot access B\n[ERROR]   bad class file: /m/b.jar(B.class)\n[ERROR]     class file has wrong version 55.0, should be 52.0\n" + failing, "failure", Fail, routing.EnvIssue},
		{"a type that is missing", "[ERROR] COMPILATION ERROR : \n[ERROR] /p/A.java:[3,13] cannot find symbol\n" + failing, "failure", Fail, routing.TypeError},
		{"golangci-lint", "a.go:1:2: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1\n" + failing, "failure", Fail, routing.Quality},
	} {
		d := diagnoseText(t, c.log, Options{Conclusion: c.conclusion})
		if d.Result != c.result || d.Class != c.class {
			t.Errorf("%s: %s %s (%s), want %s %s", c.name, d.Result, d.Class, d.Reason, c.result, c.class)
		}
		checkInvariants(t, d)
	}
}
