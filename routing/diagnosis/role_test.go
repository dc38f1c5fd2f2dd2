package diagnosis

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestClassOfRun checks the order in which a run gets its class: family of messages, majority of the
// failures, role of the unit that failed.
func TestClassOfRun(t *testing.T) {
	stop := "##[error]Process completed with exit code 1.\n"
	step := func(command, out string) string {
		return "##[group]Run " + command + "\n" + command + "\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n" + out + stop
	}
	for _, c := range []struct {
		name, log string
		want      routing.Class
	}{
		{"any fatal of git", step("git rev-parse HEAD~40", "fatal: ambiguous argument 'HEAD~40': unknown revision or path not in the working tree.\n"), routing.EnvIssue},
		{"a variable that is not set", step("./deploy.sh", "./deploy.sh: line 3: DEPLOY_HOST: unbound variable\n"), routing.EnvIssue},
		{"bad interpreter", step("./run", "bash: ./run: /usr/bin/python2: bad interpreter: No such file or directory\n"), routing.EnvIssue},
		{"externally managed pip", step("pip install x", "error: externally-managed-environment\n\n× This environment is externally managed\n"), routing.EnvIssue},
		{"address in use", step("./serve", "OSError: [Errno 98] Address already in use\n"), routing.EnvIssue},
		{"a shell's syntax error", step("./x.sh", "./x.sh: line 9: syntax error near unexpected token `fi'\n"), routing.TypeError},
		{"an exception that nobody caught", step("./report.py", "Traceback (most recent call last):\n  File \"report.py\", line 3, in <module>\n    total(None)\nValueError: no rows\n"), routing.LogicError},
		{"Perl dies", step("./report.pl", "Illegal division by zero at ./report.pl line 7.\n"), routing.LogicError},
		{"a linter's own words", step("npx dockerlint .", "line three is not to our taste\n"), routing.Unknown},
		{"lint by its role", step("npx eslint .", "this project wants another order of keys\n"), routing.Quality},
		{"compiling by its role", step("tsc -p .", "the configuration is not what was wanted\n"), routing.TypeError},
		{"a check of a contract by its role", step("npx openapi-lint spec.yml", "path /users is gone\n"), routing.DesignMismatch},
		{"an installation that says nothing", step("npm ci", "added 3 packages\n"), routing.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diagnoseText(t, c.log, Options{Conclusion: "failure"})
			checkInvariants(t, d)
			if d.Class != c.want {
				t.Errorf("class %s, want %s: %s %+v", d.Class, c.want, d.Reason, first(d.ErrorLines, 3))
			}
		})
	}
}

func TestClassOfMostFailures(t *testing.T) {
	rep := &testreport.Report{Counts: testreport.Counts{Tests: 3, Failed: 3}}
	for i, message := range []string{"ConnectionRefusedError: [Errno 111] Connection refused", "ValueError: a", "KeyError: 'b'"} {
		rep.Failing = append(rep.Failing, testreport.Test{Name: string(rune('a' + i)), Status: testreport.Failed, Kind: testreport.KindError, Message: message, At: i + 1})
	}
	if d := Diagnose(rep, nil, Options{}); d.Class != routing.LogicError {
		t.Errorf("class %s: one test of three without a server puts the case on hold", d.Class)
	}
}

func TestClassOfTool(t *testing.T) {
	for _, c := range []struct {
		test testreport.Test
		want routing.Class
	}{
		{testreport.Test{Suite: "mypy", Name: "mypy-py3_11-linux", Message: "a.py:3: error: Incompatible types"}, routing.TypeError},
		{testreport.Test{Suite: "mypy plugin", Name: "t", Kind: testreport.KindAssertion, Message: "1 != 2"}, routing.LogicError},
		{testreport.Test{Suite: "tests.test_lint", Name: "t", Message: "1 != 2"}, routing.LogicError},
	} {
		c.test.Status = testreport.Failed
		d := Diagnose(&testreport.Report{Counts: testreport.Counts{Tests: 1, Failed: 1}, Failing: []testreport.Test{c.test}}, nil, Options{})
		if d.Class != c.want {
			t.Errorf("%s: class %s, want %s", c.test.Suite, d.Class, c.want)
		}
	}
}
