package steps

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// tree reads a log as diagnosis does.
func tree(log string) *Tree {
	r := NewReader()
	_, _ = testreport.Parse(strings.NewReader(log), testreport.Options{OnLine: r.Line}) // most logs here hold no tests
	return r.Tree()
}

// githubStep is a step of a job as GitHub's runner logs it.
func githubStep(script, output string) string {
	first, _, _ := strings.Cut(script, "\n")
	return "##[group]Run " + first + "\n\x1b[36;1m" + strings.ReplaceAll(script, "\n", "\x1b[0m\n\x1b[36;1m") + "\x1b[0m\nshell: /usr/bin/bash -e {0}\nenv:\n  CI: true\n##[endgroup]\n" + output
}

const (
	githubExit = "##[error]Process completed with exit code 1.\n"
	githubEnd  = "Post job cleanup.\n[command]/usr/bin/git version\ngit version 2.45.1\nCleaning up orphan processes\n"
)

// TestCourse reads the log of a job of every service and tool: how the job ended, which unit made it
// fail, and what that unit is for.
func TestCourse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log  string
		conclusion string
		failing    string // name or command of the failing unit
		role       Role
		code       int
	}{
		{"GitHub, a step fails", githubStep("npm ci", "added 3 packages\n") + githubStep("npm test", "no\n"+githubExit) + githubEnd, "failure", "npm test", Test, 1},
		{"GitHub, all pass", githubStep("npm ci", "added 3 packages\n") + githubStep("npm test", "yes\n") + githubEnd, "success", "", "", 0},
		{"GitHub, the log ends in a step", githubStep("npm test", "yes\n"), "", "", "", 0},
		{"GitHub, continue-on-error", githubStep("npm run lint", "no\n"+githubExit) + githubStep("npm test", "yes\n") + githubEnd, "success", "", "", 0},
		{"GitHub, a report behind the failure", githubStep("npm test", "no\n"+githubExit) + "##[group]Run actions/upload-artifact@v4\nwith:\n  name: test-results\n##[endgroup]\ndone\n" + githubEnd, "failure", "npm test", Test, 1},
		{"GitHub, cancelled", githubStep("npm test", "working\n##[error]The operation was canceled.\n") + githubEnd, "cancelled", "npm test", Test, 0},
		{"GitHub, over time", githubStep("npm test", "working\n##[error]The action 'Run npm test' has timed out after 10 minutes.\n") + githubEnd, "timed_out", "npm test", Test, 0},
		{"GitHub, an action fails", "##[group]Run actions/checkout@v4\nwith:\n  ref: x\n##[endgroup]\n##[error]The process '/usr/bin/git' failed with exit code 128\n" + githubEnd, "failure", "actions/checkout@v4", Fetch, 0},
		{"GitHub, an action without inputs", "##[group]Run actions/checkout@v4\n##[endgroup]\n" + githubEnd, "success", "", "", 0},
		{"GitHub, what looks like another service's end", githubStep("npm test", "Finished: SUCCESS\n"+githubExit) + githubEnd, "failure", "npm test", Test, 1},
		{"GitHub, a fold of the program", githubStep("make", "##[group]Run of the linter\nx\n##[endgroup]\n"+githubExit), "failure", "make", Compile, 1},
		{"GitHub, the log begins in a step", "working\n" + githubExit, "failure", "", "", 1},
		{"GitHub, newer runners", "##[start-action display=Run npm test;id=__run]\nno\n##[end-action id=__run;outcome=failure;conclusion=failure;duration_ms=9]\n", "failure", "npm test", Test, 0},
		{"GitHub, newer runners, continue-on-error", "##[start-action display=Run npm test;id=__run]\nno\n##[end-action id=__run;outcome=failure;conclusion=success;duration_ms=9]\n", "", "", "", 0},
		{"act", "[CI/test] ⭐ Run Main npm test\n[CI/test]   | no\n[CI/test]   ❌  Failure - Main npm test\n[CI/test] 🏁  Job failed\n", "failure", "npm test", Test, 0},
		{"act passes", "[CI/test] ⭐ Run Main npm test\n[CI/test]   ✅  Success - Main npm test\n[CI/test] 🏁  Job succeeded\n", "success", "", "", 0},

		{"Travis", "travis_fold:start:git\n$ git clone x\ntravis_fold:end:git\n$ npm install\n$ npm test\nno\nThe command \"npm test\" exited with 1.\n\nDone. Your build exited with 1.\n", "failure", "npm test", Test, 1},
		{"Travis, a later command passes", "$ npm run lint\nThe command \"npm run lint\" exited with 2.\n$ npm test\nThe command \"npm test\" exited with 0.\n", "failure", "npm run lint", Lint, 2},
		{"Travis passes", "$ npm test\nThe command \"npm test\" exited with 0.\n\nDone. Your build exited with 0.\n", "success", "", "", 0},
		{"Travis, the log ends at the command", "$ npm test\nThe command \"npm test\" exited with 0.\n", "success", "", "", 0},
		{"Travis, an allowed failure", "$ npm run lint\nThe command \"npm run lint\" exited with 1.\n$ npm test\nThe command \"npm test\" exited with 0.\nDone. Your build exited with 0.\n", "success", "", "", 0},
		{"Travis, installation", "$ npm install\nThe command \"npm install\" failed and exited with 1 during .\n\nYour build has been stopped.\n", "failure", "npm install", Install, 1},
		{"Travis, over time", "$ npm test\nworking\nThe job exceeded the maximum time limit for jobs, and has been terminated.\n", "timed_out", "npm test", Test, 0},

		{"GitLab", "Getting source from Git repository\nFetching changes\nExecuting \"step_script\" stage of the job script\n$ npm ci\n$ npm test\nno\nUploading artifacts for failed job\nUploading artifacts...\nCleaning up project directory and file based variables\nERROR: Job failed: exit code 1\n", "failure", "npm test", Test, 1},
		{"GitLab passes", "Executing \"step_script\" stage of the job script\n$ npm test\nyes\nJob succeeded\n", "success", "", "", 0},
		{"GitLab, sections", "section_start:1:build\r\x1b[0KBuild\n$ make\nno\nsection_end:2:build\r\x1b[0K\nERROR: Job failed: exit status 2\n", "failure", "make", Compile, 2},
		{"GitLab, over time", "$ npm test\nERROR: Job failed: execution took longer than 1h0m0s seconds\n", "timed_out", "npm test", Test, 0},
		{"GitLab, cancelled", "$ npm test\nERROR: Job failed: canceled\n", "cancelled", "npm test", Test, 0},
		{"GitLab, the runner's system", "Preparing the \"docker\" executor\nERROR: Job failed (system failure): no such image\n", "failure", "", "", 0},

		{"Jenkins", "[Pipeline] stage\n[Pipeline] { (Build)\n[Pipeline] sh\n+ make\n[Pipeline] }\n[Pipeline] // stage\n[Pipeline] stage\n[Pipeline] { (Test)\n[Pipeline] sh\n+ npm test\nno\n[Pipeline] }\n[Pipeline] // stage\n[Pipeline] End of Pipeline\nERROR: script returned exit code 1\nFinished: FAILURE\n", "failure", "npm test", Test, 1},
		{"Jenkins passes", "[Pipeline] { (Test)\n+ npm test\n[Pipeline] End of Pipeline\nFinished: SUCCESS\n", "success", "", "", 0},
		{"Jenkins, unstable", "+ npm test\nFinished: UNSTABLE\n", "failure", "npm test", Test, 0},
		{"Jenkins, aborted", "+ npm test\nAborted by user\nFinished: ABORTED\n", "cancelled", "npm test", Test, 0},
		{"Jenkins, freestyle", "[ws] $ /bin/sh -xe /tmp/jenkins1.sh\n+ mvn verify\n[INFO] BUILD FAILURE\nBuild step 'Execute shell' marked build as failure\nFinished: FAILURE\n", "failure", "mvn verify", Test, 0},

		{"CircleCI", "#!/bin/bash -eo pipefail\nnpm test\n\nno\n\nExited with code exit status 1\n", "failure", "", "", 1},
		{"CircleCI, no output", "working\nToo long with no output (exceeded 10m0s): context deadline exceeded\n", "timed_out", "", "", 0},

		{"Azure", "##[section]Starting: Install\n##[section]Finishing: Install\n##[section]Starting: Run tests\n##[error]Bash exited with code '1'.\n##[section]Finishing: Run tests\n", "failure", "Run tests", Test, 1},
		{"Azure goes on", "##[section]Starting: Lint\n##[error]Bash exited with code '1'.\n##[section]Finishing: Lint\n##[section]Starting: Run tests\n##[section]Finishing: Run tests\n", "", "", "", 0},
		{"Azure, cancelled", "##[section]Starting: Run tests\n##[error]The operation was canceled.\n##[section]Finishing: Run tests\n", "cancelled", "Run tests", Test, 0},

		{"Buildkite", "~~~ Preparing working directory\n$ git clone x\n~~~ Running commands\n$ npm test\nno\n^^^ +++\n🚨 Error: The command exited with status 1\n", "failure", "npm test", Test, 1},
		{"Buildkite, folds", "~~~ :wrench: Setup\n--- :docker: Building\n+++ :node: Tests\n$ npm test\nuser command error: exit status 1\n🚨 Error: The command exited with status 1\n", "failure", "npm test", Test, 1},

		{"Taskcluster", "[taskcluster 2024-05-01 10:00:00.000Z] === Task Starting ===\n+ npm test\n[taskcluster 2024-05-01 10:00:00.000Z] Unsuccessful task run with exit code: 1 completed in 3 seconds\n", "failure", "npm test", Test, 1},

		{"set -x", "+ pip install -r requirements.txt\n+ pytest -q\nno\n", "", "", "", 0},
		{"npm", githubStep("npm run all", "\n> app@1.0.0 lint\n> eslint .\n\nno\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\n"+githubExit), "failure", "app@1.0.0 lint", Lint, 1},
		{"yarn", githubStep("yarn test", "yarn run v1.22.19\n$ jest\nno\nerror Command failed with exit code 1.\n"+githubExit), "failure", "jest", Test, 1},
		{"pnpm", githubStep("pnpm test", "> app@1.0.0 test /w\n> vitest run\nno\n\u2009ELIFECYCLE\u2009 Test failed. See above for more details.\n"+githubExit), "failure", "app@1.0.0 test", Test, 0},
		{"tox 4", githubStep("tox", "lint: commands[0]> flake8 src\nno\nlint: exit 1 (0.50 seconds) /w> flake8 src pid=12\n  lint: FAIL code 1 (1.0=setup[0.5]+cmd[0.5] seconds)\n  evaluation failed :( (1.1 seconds)\n"+githubExit), "failure", "lint", Lint, 1},
		{"nox", githubStep("nox", "nox > Running session tests-3.12\nnox > python -m pip install pytest\nnox > pytest\nno\nnox > Command pytest failed with exit code 1\nnox > Session tests-3.12 failed.\n"+githubExit), "failure", "tests-3.12", Test, 1},
		{"make", githubStep("make ci", "gcc -c a.c\nno\nmake: *** [Makefile:12: lint] Error 2\n"+githubExit), "failure", "lint", Lint, 2},
		{"make in make", githubStep("make", "make[1]: Entering directory '/w/a'\nno\nmake[1]: *** [Makefile:3: check] Error 1\nmake: *** [Makefile:9: all] Error 2\n"+githubExit), "failure", "check", Test, 1},
		{"make goes on", githubStep("make", "make: [Makefile:3: lint] Error 1 (ignored)\nok\n") + githubEnd, "success", "", "", 0},
		{"Maven", githubStep("mvn -B verify", "[INFO] --- compiler:3.11.0:compile (default-compile) @ app ---\n[INFO] --- surefire:3.2.5:test (default-test) @ app ---\nno\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project app: x\n"+githubExit), "failure", "surefire:3.2.5:test", Test, 0},
		{"Maven, compiler", githubStep("mvn -B verify", "[INFO] --- maven-compiler-plugin:3.11.0:compile (default-compile) @ app ---\nno\n[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project app: x\n"+githubExit), "failure", "maven-compiler-plugin:3.11.0:compile", Compile, 0},
		{"Gradle", githubStep("./gradlew build", "> Task :compileJava\n> Task :checkstyleMain FAILED\nno\nFAILURE: Build failed with an exception.\nExecution failed for task ':checkstyleMain'.\nBUILD FAILED in 3s\n"+githubExit), "failure", ":checkstyleMain", Lint, 0},
		{"just", githubStep("just ci", "no\nerror: Recipe `lint` failed on line 5 with exit code 2\n"+githubExit), "failure", "lint", Lint, 2},
		{"ninja", githubStep("cmake --build build", "[1/2] Building C object a.o\nFAILED: a.o\ncc -c a.c\nninja: build stopped: subcommand failed.\n"+githubExit), "failure", "a.o", Compile, 0},
		{"BuildKit", githubStep("docker build .", "#5 [1/3] FROM alpine\n#6 [2/3] RUN apk add git\n#6 DONE 1.2s\n#7 [3/3] RUN npm test\n#7 0.3 no\n#7 ERROR: process \"/bin/sh -c npm test\" did not complete successfully: exit code: 3\n"+githubExit), "failure", "npm test", Test, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tr := tree(c.log)
			check(t, tr)
			if got := tr.Conclusion(); got != c.conclusion {
				t.Errorf("conclusion %q, want %q\n%s", got, c.conclusion, show(tr))
			}
			i, ok := tr.Failing()
			if !ok {
				if c.conclusion == "failure" || c.conclusion == "cancelled" || c.conclusion == "timed_out" {
					t.Errorf("no unit failed\n%s", show(tr))
				}
				return
			}
			if !tr.Units[i].Status.Bad() && tr.Units[0].Status.Bad() && c.failing == "" {
				return
			}
			u := tr.Units[i]
			if c.failing != "" && u.Name != c.failing && u.Command != c.failing {
				t.Errorf("%s %q %q failed, want %q\n%s", u.Kind, u.Name, u.Command, c.failing, show(tr))
			}
			if c.failing == "" && c.conclusion == "" {
				t.Errorf("%s %q %q failed, want none", u.Kind, u.Name, u.Command)
			}
			if role := roleOf(tr, i); c.role != "" && role != c.role {
				t.Errorf("role %q, want %q\n%s", role, c.role, show(tr))
			}
			if code := max(u.ExitCode, tr.Units[0].ExitCode); c.code != 0 && code != c.code && stepCode(tr, i) != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, show(tr))
			}
		})
	}
}

// stepCode returns the exit code of the units around unit i.
func stepCode(t *Tree, i int) int {
	for ; i >= 0; i = t.Units[i].Parent {
		if t.Units[i].ExitCode != 0 {
			return t.Units[i].ExitCode
		}
	}
	return 0
}

func show(t *Tree) string {
	var b strings.Builder
	for i, u := range t.Units {
		fmt.Fprintf(&b, "%d in %d: %s %q %q %s %s(%d) %d-%d\n", i, u.Parent, u.Kind, u.Name, u.Command, u.Role, u.Status, u.ExitCode, u.First, u.Last)
	}
	return b.String()
}

// check holds what every tree promises.
func check(t testing.TB, tr *Tree) {
	t.Helper()
	if len(tr.Units) == 0 || tr.Units[0].Kind != Job || len(tr.Units) > 2*maxUnits+1 {
		t.Fatalf("%d units", len(tr.Units))
	}
	for i, u := range tr.Units {
		if u.Parent >= i || u.Kind != Job && u.Parent < 0 || u.First > u.Last && u.Last != 0 {
			t.Errorf("unit %d: %+v", i, u)
		}
	}
	if i, ok := tr.Failing(); ok && (i < 0 || i >= len(tr.Units)) {
		t.Errorf("unit %d failed", i)
	}
}

// TestSeveralLogs: logs of several jobs are read one after the other, and a job that passed excuses
// none that failed.
func TestSeveralLogs(t *testing.T) {
	t.Parallel()
	r := NewReader()
	for _, log := range []string{githubStep("npm test", "no\n"+githubExit) + githubEnd, githubStep("go test ./...", "yes\n") + githubEnd} {
		_, _ = testreport.Parse(strings.NewReader(log), testreport.Options{OnLine: r.Line})
	}
	tr := r.Tree()
	check(t, tr)
	if tr.Conclusion() != "failure" || tr.Jobs() != 2 {
		t.Errorf("%q of %d jobs, want failure of 2\n%s", tr.Conclusion(), tr.Jobs(), show(tr))
	}
}

// TestBounded: a log of any length keeps a bounded number of units, and those that failed.
func TestBounded(t *testing.T) {
	t.Parallel()
	r := NewReader()
	no := 0
	line := func(text, mark string) {
		no++
		r.Line(testreport.Line{No: no, Text: text, Mark: mark})
	}
	line("make: *** [Makefile:1: first] Error 1", "")
	for i := range 20_000 {
		line(fmt.Sprintf("+ echo %d", i), "")
		line("::group::x", "group")
	}
	tr := r.Tree()
	check(t, tr)
	if tr.Dropped == 0 || tr.Units[1].Name != "first" {
		t.Errorf("%d dropped, first unit %+v", tr.Dropped, tr.Units[1])
	}
}

func FuzzReader(f *testing.F) {
	f.Add(githubStep("npm test", "no\n"+githubExit) + githubEnd)
	f.Add("travis_fold:start:a\n$ x\nThe command \"x\" exited with 1.\n[Pipeline] { (a)\n+ make\n#7 [1/1] RUN x\n#7 ERROR: exit code: 3\n")
	f.Add("##[section]Starting: a\nmake: *** [x] Error 1\nnox > Running session a\n> Task :a FAILED\na: commands[0]> b\na: exit 1 (\n")
	f.Fuzz(func(t *testing.T, log string) { check(t, tree(log)) })
}

// roleOf returns the role of a unit, or of the innermost one around it that has one.
func roleOf(t *Tree, i int) Role {
	for ; i >= 0; i = t.Units[i].Parent {
		if r := t.Units[i].Role; r != Unknown {
			return r
		}
	}
	return Unknown
}
