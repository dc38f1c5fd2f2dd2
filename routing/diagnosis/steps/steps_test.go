package steps

import (
	"cmp"
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
				t.Errorf("conclusion %q, want %q\n%s", got, c.conclusion, course(tr))
			}
			i, ok := tr.Failing()
			if !ok {
				if c.conclusion == "failure" || c.conclusion == "cancelled" || c.conclusion == "timed_out" {
					t.Errorf("no unit failed\n%s", course(tr))
				}
				return
			}
			if !tr.Units[i].Status.Bad() && tr.Units[0].Status.Bad() && c.failing == "" {
				return
			}
			u := tr.Units[i]
			if c.failing != "" && u.Name != c.failing && u.Command != c.failing {
				t.Errorf("%s %q %q failed, want %q\n%s", u.Kind, u.Name, u.Command, c.failing, course(tr))
			}
			if c.failing == "" && c.conclusion == "" {
				t.Errorf("%s %q %q failed, want none", u.Kind, u.Name, u.Command)
			}
			if role := roleOf(tr, i); c.role != "" && role != c.role {
				t.Errorf("role %q, want %q\n%s", role, c.role, course(tr))
			}
			if code := max(u.ExitCode, tr.Units[0].ExitCode); c.code != 0 && code != c.code && stepCode(tr, i) != c.code {
				t.Errorf("exit code %d, want %d\n%s", code, c.code, course(tr))
			}
		})
	}
}

// TestUnits reads what services, shells and build tools print: every unit with its lines, and how it
// ended.
func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, log, want string }{
		{"GitHub, every step is settled by the next one", githubStep("npm ci", "added 3 packages\n") + githubStep("npm run lint\nnpm test", "##[error]boom\n") + githubStep("npm run build", "##[error]boom\nanother line\nand one more\n") + githubStep("npm run e2e", "##[error]boom\n"), `
1-31 job: failed by line 31
  1-7 step "npm ci" "npm ci", install: passed
  8-15 step "npm run lint" "npm run lint\nnpm test", test
  16-24 step "npm run build" "npm run build", compile
  25-31 step "npm run e2e" "npm run e2e", test: failed by line 31
`},
		{"GitHub, an error above one more line fails the step", githubStep("npm test", "##[error]boom\nno\n") + githubStep("npm run build", "##[error]boom\n\n") + githubEnd, `
1-20 job: failed by line 15
  1-8 step "npm test" "npm test", test
  9-16 step "npm run build" "npm run build", compile: failed by line 15
  17-19 cleanup "Post job cleanup."
    18-19 command "/usr/bin/git version"
  20-20 cleanup "Cleaning up orphan processes"
`},
		{"GitHub, a log that ends in an error", githubStep("npm test", "no\n##[error]boom\n\n"), `
1-9 job: failed by line 8
  1-9 step "npm test" "npm test", test: failed by line 8
`},
		{"GitHub, a log that goes on behind an error", githubStep("npm test", "no\n##[error]boom\nyes\n"), `
1-9 job
  1-9 step "npm test" "npm test", test
`},
		{"GitHub, an error of the work behind the steps", githubStep("npm test", "yes\n") + "Post job cleanup.\n##[error]The process '/usr/bin/git' failed with exit code 1\n##[error]Process completed with exit code 1.\nPost job cleanup.\nCleaning up orphan processes\n", `
1-12 job: passed
  1-7 step "npm test" "npm test", test: passed
  8-10 cleanup "Post job cleanup."
  11-11 cleanup "Post job cleanup."
  12-12 cleanup "Cleaning up orphan processes"
`},
		{"GitHub, groups of a step", githubStep("make", "##[group]Compile\ncc a.c\n##[endgroup]\n##[group]Run of the linter\nfirst\nsecond\n##[endgroup]\n##[group]Run x\n##[group]Test\nno\n##[endgroup]\n[command]/usr/bin/npm test\nno\n##[endgroup]\n"), `
1-20 job
  1-20 step "make" "make", compile
    7-9 group "Compile", compile
    10-13 group "Run of the linter", lint
    14-14 group "Run x"
    15-17 group "Test", test
    18-20 command "/usr/bin/npm test", test
`},
		{"GitHub, a header that an error breaks off", "##[group]Run npm test\nno\n##[error]Process completed with exit code 2.\n", `
1-3 job: failed with 2 by line 3
  1-2 group "Run npm test", test
  3-3 step: failed with 2 by line 3
`},
		{"GitHub, tolerated behind a failed step", githubStep("npm run lint", githubExit) + githubStep("npm test", "yes\n") + githubStep("npm run build", githubExit) + githubStep("tar c dist", "done\n") + githubEnd, `
1-32 job: failed with 1 by line 21
  1-7 step "npm run lint" "npm run lint", lint: tolerated with 1 by line 7
  8-14 step "npm test" "npm test", test: passed
  15-21 step "npm run build" "npm run build", compile: failed with 1 by line 21
  22-28 step "tar c dist" "tar c dist", package: passed
  29-31 cleanup "Post job cleanup."
    30-31 command "/usr/bin/git version"
  32-32 cleanup "Cleaning up orphan processes"
`},
		{"GitHub, cancelled behind a failure", githubStep("npm test", githubExit) + githubStep("npm run e2e", "##[error]The operation was canceled.\n") + githubStep("npm run e2e", githubExit) + githubEnd, `
1-25 job: cancelled by line 14
  1-7 step "npm test" "npm test", test: failed with 1 by line 7
  8-14 step "npm run e2e" "npm run e2e", test: cancelled by line 14
  15-21 step "npm run e2e" "npm run e2e", test: failed with 1 by line 21
  22-24 cleanup "Post job cleanup."
    23-24 command "/usr/bin/git version"
  25-25 cleanup "Cleaning up orphan processes"
`},
		{"GitHub, the log begins within a step", "working\n##[error]Process completed with exit code 3.\n" + githubStep("npm test", "yes\n##[error]Process completed with exit code 0.\n"), `
1-10 job
  1-2 step: tolerated with 3 by line 2
  3-10 step "npm test" "npm test", test: passed by line 10
`},
		{"GitHub, newer runners", "##[start-action display=Run npm ci;id=a]\nyes\n##[end-action id=a;outcome=success;conclusion=success;duration_ms=9]\n##[start-action display=Run npm run lint;id=b]\nno\n##[end-action id=b;outcome=failure;conclusion=success;duration_ms=9]\n##[start-action display=Run npm test;id=c]\n##[end-action id=c;outcome=cancelled;conclusion=cancelled;duration_ms=9]\nPost job cleanup.\n", `
1-9 job: cancelled by line 8
  1-3 step "Run npm ci" "npm ci", install: passed by line 3
  4-6 step "Run npm run lint" "npm run lint", lint: tolerated by line 6
  7-8 step "Run npm test" "npm test", test: cancelled by line 8
  9-9 cleanup "Post job cleanup."
`},
		{"GitHub, an end without a step", githubStep("npm test", "##[end-action id=c;outcome=failure;conclusion=failure;duration_ms=9]\nyes\n") + "Post job cleanup.\n", `
1-9 job: passed
  1-8 step "npm test" "npm test", test: passed
  9-9 cleanup "Post job cleanup."
`},
		{"act", "[CI/test] ⭐ Run Main npm ci\n[CI/test]   ✅  Success - Main npm ci [1.5s]\n[CI/test] ⭐ Run Main npm test\n[CI/test]   | ✓ a\n[CI/test]   ❌  Failure - Main npm test\n[CI/test]   ❌  Failure - Main npm test\n[CI] ⭐ Run Main x\n[CI/test] 🏁  Job failed\n", `
1-8 job: failed by line 8
  1-2 step "npm ci" "npm ci", install: passed by line 2
  3-5 step "npm test" "npm test", test: failed by line 5
`},
		{"Travis", "travis_fold:start:git.checkout\r$ git clone x\ntravis_fold:end:git.checkout\r\n$ npm install\n$ npm test\nno\nThe command \"npm test\" exited with 1.\nThe command \"eval npm run lint\" exited with 0.\ntravis_fold:start:after_failure\r\n$ cat log\ntravis_fold:end:after_failure\r\nDone. Your build exited with 1.\n", `
1-11 job: failed with 1 by line 11
  1-2 command "git clone x", fetch
  3-3 command "npm install", install
  4-6 command "npm test", test: failed with 1 by line 6
  7-7 command "npm run lint", lint: passed by line 7
  8-10 group "after_failure"
    9-10 command "cat log"
`},
		{"Travis, what follows the end", "$ npm test\nThe command \"npm test\" exited with 0.\nDone. Your build exited with 0.\nThe command \"npm run lint\" exited with 2.\n", `
1-4 job: failed with 2 by line 4
  1-2 command "npm test", test: passed by line 2
  4-4 command "npm run lint", lint: failed with 2 by line 4
`},
		{"Travis, a command behind the end", "$ npm test\nDone. Your build exited with 0.\n$ npm run lint\n", `
1-3 job
  1-2 command "npm test", test
  3-3 command "npm run lint", lint
`},
		{"Travis, passed commands and more output", "$ npm test\nThe command \"npm test\" exited with 0.\n" + strings.Repeat("x\n", 20), `
1-22 job: passed by line 2
  1-2 command "npm test", test: passed by line 2
`},
		{"Travis, passed commands and much more output", "$ npm test\nThe command \"npm test\" exited with 0.\n" + strings.Repeat("x\n", 21), `
1-23 job
  1-2 command "npm test", test: passed by line 2
`},
		{"Travis, a command behind one that passed", "$ npm test\nThe command \"npm test\" exited with 0.\n$ npm run lint\nno\n", `
1-4 job
  1-2 command "npm test", test: passed by line 2
  3-4 command "npm run lint", lint
`},
		{"Travis, a fold behind a command that passed", "$ npm test\nThe command \"npm test\" exited with 0.\ntravis_fold:start:cache.2\r\ntravis_fold:end:cache.2\r\n", `
1-4 job: passed by line 2
  1-2 command "npm test", test: passed by line 2
  3-4 group "cache.2"
`},
		{"Travis, a success and 20 lines", "$ npm test\nDone. Your build exited with 0.\n" + strings.Repeat("x\n", 20), `
1-22 job: passed by line 2
  1-22 command "npm test", test
`},
		{"Travis, a success and 21 lines", "$ npm test\nDone. Your build exited with 0.\n" + strings.Repeat("x\n", 21), `
1-23 job
  1-23 command "npm test", test
`},
		{"Travis, a failure and 21 lines", "$ npm test\nDone. Your build exited with 1.\n" + strings.Repeat("x\n", 21), `
1-23 job: failed with 1 by line 2
  1-23 command "npm test", test
`},
		{"Travis, the command was not echoed", "The command \"npm test\" exited with 0.\n", `
1-1 job: passed by line 1
  1-1 command "npm test", test: passed by line 1
`},
		{"Travis, a fold behind the end", "$ npm test\nDone. Your build exited with 0.\ntravis_fold:start:x\r\ntravis_fold:end:x\r\n", `
1-4 job: passed by line 2
  1-2 command "npm test", test
  3-4 group "x"
`},
		{"Travis, no output", "$ npm test\nThe log length has exceeded the limit of 4 MB.\n", `
1-2 job: timed out by line 2
  1-2 command "npm test", test
`},
		{"Travis, the run was cancelled", "$ npm test\nThe job was cancelled by mona.\n", `
1-2 job: cancelled by line 2
  1-1 command "npm test", test
  2-2 step: cancelled by line 2
`},
		{"GitLab", "Getting source from Git repository\nFetching changes\nPreparing environment\nExecuting \"step_script\" stage of the job script\n$ npm ci\n$ npm test\nno\nExecuting \"after_script\" stage of the job script\n$ cat log\nUploading artifacts for failed job\nCleaning up project directory and file based variables\nERROR: Job failed: exit code 1\n", `
1-12 job: failed with 1 by line 12
  1-2 step "Getting source from Git repository", fetch
  3-3 step "Preparing environment"
  4-7 step "step_script"
    5-5 command "npm ci", install
    6-7 command "npm test", test
  8-9 cleanup "after_script"
    9-9 command "cat log"
  10-10 cleanup "Uploading artifacts for failed job"
  11-12 cleanup "Cleaning up project directory and file based variables"
`},
		{"GitLab, sections", "section_start:1:prepare_script\r\x1b[0KPrepare\nsection_end:2:prepare_script\r\x1b[0K\nsection_start:3:build[collapsed=true]\r\x1b[0KBuild\n$ make\nsection_start:3:inner\r\nx\nsection_end:4:build\r\x1b[0K\nsection_end:4:unknown\r\x1b[0K\nJob succeeded\nSaving cache for successful job\n", `
1-10 job: passed by line 9
  4-4 command "make", compile
  5-9 group "inner"
  10-10 cleanup "Saving cache for successful job"
`},
		{"GitLab, a step behind the success", "Executing \"step_script\" stage of the job script\n$ npm test\nJob succeeded\nExecuting \"step_script\" stage of the job script\n$ npm run lint\n", `
1-5 job
  1-3 step "step_script"
    2-3 command "npm test", test
  4-5 step "step_script"
    5-5 command "npm run lint", lint
`},
		{"GitLab, the work behind the steps", "Executing \"step_script\" stage of the job script\n$ npm test\nJob succeeded\nCleaning up project directory and file based variables\n$ rm -rf x\n", `
1-5 job: passed by line 3
  1-3 step "step_script"
    2-3 command "npm test", test
  4-5 cleanup "Cleaning up project directory and file based variables"
    5-5 command "rm -rf x"
`},
		{"GitLab, no reason", "$ npm test\nERROR: Job failed\n", `
1-2 job: failed by line 2
  1-2 command "npm test", test
`},
		{"GitLab, without a level", "$ npm test\nJob failed: exit code 4\n", `
1-2 job: failed with 4 by line 2
  1-2 command "npm test", test
`},
		{"GitLab, no more than that", "$ npm test\nJob failed\n", `
1-2 job: failed by line 2
  1-2 command "npm test", test
`},
		{"Jenkins, a step fails behind the success", "[Pipeline] { (Test)\nFinished: SUCCESS\nERROR: script returned exit code 2\n", `
1-3 job: failed with 2 by line 3
  1-3 step "Test", test: failed with 2 by line 3
`},
		{"Jenkins, stages", "[Pipeline] stage\n[Pipeline] { (Build)\n[Pipeline] sh\n+ make\n[Pipeline] }\n[Pipeline] // stage\n[Pipeline] { (Test)\n+ npm test\nno\nscript returned exit code 2\n[Pipeline] // stage\n[Pipeline] { (Lint)\n[Pipeline] }\n[Pipeline] // stage\n[Pipeline] // stage\n[Pipeline] End of Pipeline\nFinished: FAILURE\n", `
1-17 job: failed by line 17
  2-6 step "Build", compile
    4-6 command "make", compile
  7-11 step "Test", test: failed with 2 by line 10
    8-11 command "npm test", test
  12-14 step "Lint", lint
`},
		{"Jenkins, an exit code and the end", "+ npm test\nERROR: script returned exit code 2\nFinished: FAILURE\n", `
1-3 job: failed with 2 by line 3
  1-3 command "npm test", test
`},
		{"Jenkins, an exit code and another end", "+ npm test\nERROR: script returned exit code 2\nFinished: ABORTED\n", `
1-3 job: cancelled by line 3
  1-3 command "npm test", test
`},
		{"Jenkins, other ends", "[ws] $ /bin/sh -xe /tmp/x.sh\n+ npm test\nBuild was aborted\nBuild timed out (after 9 minutes). Marking the build as aborted.\n", `
1-4 job: timed out by line 4
  1-1 command "/bin/sh -xe /tmp/x.sh"
  2-4 command "npm test", test
`},
		{"Azure", "##[section]Starting: Install\n##[section]Finishing: Install\n##[section]Starting: Run tests\n##[section]Finishing: Install\n##[error]no\n##[section]Finishing: Run tests\n##[section]Starting: Lint\n##[error]Bash exited with code '1'.\n##[section]Finishing: Lint\n##[section]Starting: Post-job: Checkout\n##[section]Finishing: Post-job: Checkout\n##[section]Starting: Finalize Job\n", `
1-12 job: failed by line 5
  1-2 step "Install", install: passed by line 2
  3-6 step "Run tests", test: failed by line 5
  7-9 step "Lint", lint: failed with 1 by line 8
  10-11 cleanup "Post-job: Checkout", fetch
  12-12 cleanup "Finalize Job"
`},
		{"Azure, a log that ends in an error", "##[section]Starting: Run tests\n##[error]no\n", `
1-2 job
  1-2 step "Run tests", test
`},
		{"an error without a step", "##[error]no\n", `
1-1 job
`},
		{"Azure passes", "##[section]Starting: Install\n##[section]Finishing: Install\n##[section]Starting: Finalize Job\n", `
1-3 job
  1-2 step "Install", install: passed by line 2
  3-3 cleanup "Finalize Job"
`},
		{"Buildkite", "~~~ :wrench: Setup\n--- :docker: Building\n--- FAIL: TestA\n+++ :node: Tests\n+ npm test\n++ npm run lint\n+x\n+\n🚨 Error: The command exited with status 1\n", `
1-9 job: failed with 1 by line 9
  1-1 step ":wrench: Setup", install
  2-3 step ":docker: Building", package
  4-9 step ":node: Tests", test
    5-5 command "npm test", test
    6-9 command "npm run lint", lint
`},
		{"a diff is no fold", "--- a.go\n+++ b.go\n~~~ x\n~~~ lower\n", `
1-4 job
`},
		{"Taskcluster", "[taskcluster 2024-05-01 10:00:00.000Z] === Task Starting ===\n+ npm test\n[taskcluster:error] Task timeout after 3600 seconds. Force killing container.\n", `
1-3 job: timed out by line 3
  2-3 command "npm test", test
`},
		{"Taskcluster, cancelled", "+ npm test\n[taskcluster:error] Task was canceled\n", `
1-2 job: cancelled by line 2
  1-2 command "npm test", test
`},
		{"CircleCI", "+ npm test\nExited with code exit status 3\n", `
1-2 job: failed with 3 by line 2
  1-2 command "npm test", test
`},
		{"CircleCI, in other words", "+ npm test\nCircleCI received exit code 137\n", `
1-2 job: failed with 137 by line 2
  1-2 command "npm test", test
`},
		{"echoed commands", "$ npm test\n$ unknown-tool x\n$ Unknown\n$ ends in a stop.\n$ announces:\n$ ./x\n$ FOO=1\n$ # a comment\n$ a\n$\n$ zap\n+ ./x\n+ /usr/bin/x\n+ x.sh\n+ cd x\n+ unknown-tool\n+ FOO=1 npm test\n+ ../y\n", `
1-18 job
  1-1 command "npm test", test
  2-5 command "unknown-tool x"
  6-6 command "./x"
  7-8 command "FOO=1"
  9-10 command "a"
  11-11 command "zap"
  12-12 command "./x"
  13-13 command "/usr/bin/x"
  14-14 command "x.sh"
  15-16 command "cd x"
  17-17 command "FOO=1 npm test", test
  18-18 command "../y"
`},
		{"scripts of package managers", githubStep("npm run test:all", "> app@1.0.0 lint\n> eslint .\n\nno\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 3\nnpm ERR! code ELIFECYCLE\n> app@1.0.0 test\n\n> jest\n> app@1.0.0 late\n\n\n> x\n"+githubExit), `
1-21 job: failed with 1 by line 21
  1-21 step "npm run test:all" "npm run test:all", test: failed with 1 by line 21
    8-15 target "app@1.0.0 lint" "eslint .", lint: failed with 3 by line 12
    16-21 target "app@1.0.0 test" "jest", test
`},
		{"a script without a unit", "npm ERR! errno 3\n+ npm test\nnpm ERR! errno 4\n", `
1-3 job
  2-3 command "npm test", test: failed with 4 by line 3
`},
		{"tox", githubStep("tox", ".pkg: commands[0]> build\n3.12: commands[0]> pytest a\n3.12: exit 2 (0.50 seconds) /w> pytest pid=12\nlint: commands[0]> flake8 src\nlint: exit 1 (0.50 seconds) /w> flake8 src pid=12\nother: exit 1 (0.50 seconds) /w> x pid=12\npy39: commands_pre[0] | pip install x\npy39 run-test: commands[1] | pytest\nno\ndocs: commands[0]> sphinx-build\nstyle: commands[0]> black .\n  lint: OK (1.0 seconds)\n  py39: OK (1.0 seconds)\n  docs: FAIL code 2 (1.0 seconds)\n  style: SKIP (1.0 seconds)\n"+githubExit), `
1-22 job: failed with 1 by line 22
  1-22 step "tox" "tox", test: failed with 1 by line 22
    7-7 target ".pkg" "build"
    8-9 target "3.12" "pytest a", test: failed with 2 by line 9
    10-12 target "lint" "flake8 src", lint: failed with 1 by line 11
    13-13 target "py39" "pip install x", install
    14-15 target "py39" "pytest", test: passed by line 19
    16-16 target "docs" "sphinx-build", package: failed with 2 by line 20
    17-22 target "style" "black .", lint
`},
		{"nox", githubStep("nox", "nox > Running session lint\nnox > flake8 src\nnox > Session lint was successful.\nnox > Running session tests\nnox > python -m pip install pytest\nnox > This is no command.\nnox > pytest\nno\nnox > Command pytest failed with exit code 3\nnox > Session tests failed.\nnox > Running session docs\nnox > Session docs failed.\n"+githubExit) + "nox > Session docs failed.\n", `
1-20 job: failed with 1 by line 19
  1-20 step "nox" "nox", test: failed with 1 by line 19
    7-9 target "lint" "flake8 src", lint: passed by line 9
    10-16 target "tests" "python -m pip install pytest\npytest", test: failed with 3 by line 15
    17-20 target "docs", package: failed by line 18
`},
		{"nox without a session", "nox > Session docs failed.\n> Task :x\nnox > Session docs failed.\n", `
1-3 job
  2-3 target ":x"
`},
		{"make", githubStep("make ci", "make[1]: Entering directory '/w/a'\nno\nmake[1]: *** [Makefile:3: check] Error 2\nmake: *** [Makefile:9: all] Error 1\nx\nx\nx\nx\nmake: *** [lint] Error 4\nmake: [Makefile:3: docs] Error 1 (ignored)\nmake: *** [check] Terminated\nmakefile: x\n"+githubExit), `
1-19 job: failed with 1 by line 19
  1-19 step "make ci" "make ci", compile: failed with 1 by line 19
    1-14 target "check", test: failed by line 17
    1-15 target "lint", lint: failed with 4 by line 15
    1-19 target "docs", package: tolerated with 1 by line 16
`},
		{"make behind a unit", "+ npm ci\n+ make\nno\nno\nmake: *** [Makefile:3: check] Error 2\n+ cd x\n" + strings.Repeat("x\n", 300) + "make: *** [Makefile:3: far] Error 2\n", `
1-307 job
  1-1 command "npm ci", install
  2-5 command "make", compile
    2-5 target "check", test: failed with 2 by line 5
  6-307 command "cd x"
    107-307 target "far": failed with 2 by line 307
`},
		{"Maven", githubStep("mvn -B verify", "[INFO] --- compiler:3.11.0:compile (default-compile) @ app ---\n[INFO] --- maven-surefire-plugin:3.2.5:test (default-test) @ app ---\nno\n[INFO] --- other:1:test (default) @ app ---\n[INFO] --- compiler:3.11.0:testCompile (default-compile) @ app ---\n[INFO] BUILD FAILURE\n[INFO] \n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project app: x\n[ERROR] Failed to execute goal org.x:late-maven-plugin:1:run (default) on project app: x\n"+githubExit), `
1-16 job: failed with 1 by line 16
  1-16 step "mvn -B verify" "mvn -B verify", test: failed with 1 by line 16
    7-7 target "compiler:3.11.0:compile", compile
    8-9 target "maven-surefire-plugin:3.2.5:test", test: failed by line 14
    10-10 target "other:1:test", test
    11-14 target "compiler:3.11.0:testCompile", compile: failed by line 12
    15-16 target "late-maven-plugin:1:run": failed by line 15
`},
		{"Maven passes", "+ mvn verify\n[INFO] --- surefire:3.2.5:test (default-test) @ app ---\nyes\n[INFO] BUILD SUCCESS\nx\n", `
1-5 job
  1-5 command "mvn verify", test: passed by line 4
    2-4 target "surefire:3.2.5:test", test: passed by line 4
`},
		{"Gradle", githubStep("./gradlew build", "> Task :compileJava UP-TO-DATE\n> Task :test\nno\n> Task :lint FAILED\n> Configure project :app\nExecution failed for task ':other'.\nBUILD FAILED in 3s\n"+githubExit), `
1-14 job: failed with 1 by line 14
  1-14 step "./gradlew build" "./gradlew build", test: failed with 1 by line 14
    7-7 target ":compileJava", compile: passed by line 7
    8-9 target ":test", test
    10-10 target ":lint", lint: failed by line 10
    11-11 target ":app"
    11-14 target ":other": failed by line 12
`},
		{"Gradle passes", "+ ./gradlew build\n> Task :test\nyes\nBUILD SUCCESSFUL in 3s\nx\n", `
1-5 job
  1-5 command "./gradlew build", test: passed by line 4
    2-4 target ":test", test: passed by line 4
`},
		{"just", githubStep("just ci", "no\nerror: Recipe `lint` failed on line 5 with exit code 2\nerror: recipe `x` failed\nerror Command failed with exit code 9.\n"+githubExit), `
1-11 job: failed with 1 by line 11
  1-11 step "just ci" "just ci": failed with 1 by line 11
    1-8 target "lint", lint: failed with 2 by line 8
    1-11 target "x": failed with 9 by line 10
`},
		{"ninja", githubStep("cmake --build build", "FAILED: [code=1] a.o b.o\ncc -c a.c\nFAILED: Build did NOT complete\nFAILED: c.o, d.o\nninja: build stopped: subcommand failed.\n"+githubExit), `
1-12 job: failed with 1 by line 12
  1-12 step "cmake --build build" "cmake --build build", compile: failed with 1 by line 12
    1-9 target "a.o": failed by line 7
    1-12 target "c.o": failed by line 10
`},
		{"ninja without a target", "+ ninja\nno\nninja: build stopped: subcommand failed.\n", `
1-3 job
  1-3 command "ninja", compile: failed with 1 by line 3
`},
		{"pnpm", "+ pnpm test\n> app@1.0.0 test /w\n> vitest run\nno\n ELIFECYCLE  Command failed with exit code 4.\n", `
1-5 job
  1-5 command "pnpm test", test
    3-5 target "app@1.0.0 test" "vitest run", test: failed with 4 by line 5
`},
		{"BuildKit", githubStep("docker build .", "#5 [1/3] FROM alpine\n#6 [2/4] RUN apk add git\n#7 [3/4] RUN npm test\n#8 [4/4] RUN npm run build\n#6 CACHED\n#9 DONE 0.1s\n#7 0.3 no\n#8 CANCELED\n#7 ERROR: process \"/bin/sh -c npm test\" did not complete successfully: exit code: 3\n#x\n#7\n"+githubExit), `
1-18 job: failed with 1 by line 18
  1-18 step "docker build ." "docker build .", package: failed with 1 by line 18
    8-11 target "#6" "apk add git", install: passed by line 11
    9-15 target "#7" "npm test", test: failed with 3 by line 15
    10-18 target "#8" "npm run build", compile
`},
		{"the classic builder", "+ docker build .\nStep 1/2 : FROM alpine\nStep 2/2 : RUN npm test\nno\n", `
1-4 job
  1-4 command "docker build .", package
    3-4 target "npm test", test
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := tree(c.log)
			check(t, tr)
			if got := "\n" + course(tr); got != c.want {
				t.Errorf("got:%s\nwant:%s", got, c.want)
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

// course writes a tree with a line for each unit: its first and last line, kind, name, command, role,
// status, exit code, and the line that stated the status.
func course(t *Tree) string {
	var b strings.Builder
	for _, u := range t.Units {
		indent := ""
		for p := u.Parent; p >= 0; p = t.Units[p].Parent {
			indent += "  "
		}
		fmt.Fprintf(&b, "%s%d-%d %s", indent, u.First, u.Last, u.Kind)
		for _, s := range []string{u.Name, u.Command} {
			if s != "" {
				fmt.Fprintf(&b, " %q", s)
			}
		}
		if u.Role != Unknown {
			fmt.Fprintf(&b, ", %s", u.Role)
		}
		if u.Status != Unstated {
			fmt.Fprintf(&b, ": %s", u.Status)
		}
		if u.ExitCode != 0 {
			fmt.Fprintf(&b, " with %d", u.ExitCode)
		}
		if u.Marker != 0 {
			fmt.Fprintf(&b, " by line %d", u.Marker)
		}
		b.WriteByte('\n')
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
		t.Errorf("%q of %d jobs, want failure of 2\n%s", tr.Conclusion(), tr.Jobs(), course(tr))
	}
}

// TestOneLogAfterTheOther: the job of each log is settled as if it were alone.
func TestOneLogAfterTheOther(t *testing.T) {
	t.Parallel()
	passed, unstated := githubStep("npm test", "yes\n")+githubEnd, githubStep("npm test", "yes\n")
	failed, cancelled := githubStep("npm run e2e", githubExit)+githubEnd, githubStep("npm run lint", "##[error]The operation was canceled.\n")+githubEnd
	for _, c := range []struct {
		name    string
		logs    []string
		status  Status
		failing string
	}{
		{"all pass", []string{passed, passed}, Passed, ""},
		{"the second fails", []string{passed, failed}, Failed, "npm run e2e"},
		{"the first fails", []string{failed, passed}, Failed, "npm run e2e"},
		{"the first that did not pass counts", []string{cancelled, failed}, Cancelled, "npm run lint"},
		{"nothing is said of one", []string{passed, unstated}, Unstated, ""},
		{"nothing is said of the first", []string{unstated, passed, passed}, Unstated, ""},
		{"a log that ends in an error", []string{githubStep("npm run lint", "##[error]boom\n"), passed}, Failed, "npm run lint"},
		{"one line each", []string{"working\n", "Finished: FAILURE\n"}, Failed, ""},
		{"only the job failed", []string{passed, "+ cd x\n+ make lint\nno\n+ exit 1\nExited with code exit status 1\n+ later\n"}, Failed, "make lint"},
	} {
		r := NewReader()
		for _, log := range c.logs {
			_, _ = testreport.Parse(strings.NewReader(log), testreport.Options{OnLine: r.Line})
		}
		tr := r.Tree()
		check(t, tr)
		i, ok := tr.Failing()
		name := ""
		if ok {
			name = tr.Units[i].Command
		}
		if tr.Jobs() != len(c.logs) || tr.Status() != c.status || name != c.failing {
			t.Errorf("%s: %d jobs, %q, %q failed\n%s", c.name, tr.Jobs(), tr.Status(), name, course(tr))
		}
	}
}

// TestFailing: of several units that failed, the innermost of the first step that counts.
func TestFailing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, log, want string }{
		{"a target in a step", githubStep("make", "make: *** [Makefile:3: lint] Error 2\n"+githubExit) + githubEnd, "lint"},
		{"the last target of the step", githubStep("make", "make: *** [Makefile:3: lint] Error 2\nx\nx\nx\nx\nmake: *** [Makefile:3: docs] Error 2\n"+githubExit) + githubEnd, "docs"},
		{"a target of a later step", githubStep("make", githubExit) + githubStep("make", "make: *** [Makefile:3: lint] Error 2\n"+githubExit) + githubEnd, "make"},
		{"a step behind a command outside of steps", "+ npm run lint\nExited with code exit status 1\nnpm ERR! errno 4\n" + githubStep("npm test", githubExit), "npm test"},
		{"the later of two commands", "$ npm run lint\nThe command \"npm run lint\" exited with 2.\n$ npm test\nThe command \"npm test\" exited with 1.\n", "npm test"},
		{"the work behind the steps fails no job", githubStep("npm test", githubExit) + "Post job cleanup.\n+ npm run lint\nnpm ERR! errno 4\n", "npm test"},
		{"none", githubStep("npm test", "yes\n") + githubEnd, ""},
	} {
		tr := tree(c.log)
		got := ""
		if i, ok := tr.Failing(); ok {
			got = cmp.Or(tr.Units[i].Command, tr.Units[i].Name)
		}
		if got != c.want {
			t.Errorf("%s: %q failed, want %q\n%s", c.name, got, c.want, course(tr))
		}
	}
}

// TestTree asks a tree what diagnosis asks of it.
func TestTree(t *testing.T) {
	t.Parallel()
	lint := githubStep("npm run lint", githubExit) // lines 1 to 7
	tr := tree(lint + githubStep("npm test", "yes\n+ npm run e2e\nyes\n") + githubEnd)
	for line, want := range map[int]string{1: "npm run lint", 7: "npm run lint", 8: "npm test", 14: "npm test", 15: "npm run e2e", 16: "npm run e2e", 99: ""} {
		if got := tr.Units[tr.At(line)].Command; got != want {
			t.Errorf("line %d is in %q, want %q\n%s", line, got, want, course(tr))
		}
	}
	for line, want := range map[int]bool{1: true, 7: true, 8: false, 16: false} {
		if got := tr.Tolerates(line); got != want {
			t.Errorf("line %d is tolerated: %v", line, got)
		}
	}
	travis := tree("$ npm test\nno\nDone. Your build exited with 0.\nlater\n")
	if !travis.Tolerates(2) || !travis.Tolerates(3) || travis.Tolerates(4) {
		t.Error("what a job prints before it passed is tolerated, and nothing behind it")
	}
	for _, c := range []struct {
		name, log string
		wentOn    bool
		pending   string
	}{
		{"a command in hand", githubStep("npm ci", "yes\n") + githubStep("npm test", "no\n"), true, "npm test"},
		{"behind it the job was cleaned up", githubStep("npm test", "no\n") + githubEnd, true, ""},
		{"the step failed", githubStep("npm test", githubExit), false, ""},
		{"a step behind the failure", githubStep("npm test", githubExit) + githubStep("npm run lint", "yes\n"), true, ""},
		{"a fold within it", "$ npm test\ntravis_fold:start:x\r\n", false, "npm test"},
		{"a command that failed", "$ npm test\nno\nnpm ERR! errno 1\n", false, ""},
		{"a target", "> Task :test\n", false, ":test"},
		{"a step and its failure of the same line", githubStep("npm test", "no\n##[error]boom\n"), false, ""},
		{"nothing", "no\n", false, ""},
	} {
		tr := tree(c.log)
		if got := tr.WentOn(); got != c.wentOn {
			t.Errorf("%s: went on %v\n%s", c.name, got, course(tr))
		}
		u, ok := tr.Pending(Test)
		if got := cmp.Or(u.Command, u.Name); ok != (c.pending != "") || ok && got != c.pending {
			t.Errorf("%s: %q is pending: %v\n%s", c.name, got, ok, course(tr))
		}
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

// TestCompaction: of too many units those are kept that failed, and of too many of these the first
// and the newest.
func TestCompaction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		failed       func(int) bool
		units, first int // units that are kept, and how many from the first on have no gap
	}{
		{"all pass", func(int) bool { return false }, maxUnits, 0},
		{"all fail", func(int) bool { return true }, maxUnits, maxUnits / 4},
		{"some fail", func(i int) bool { return i < 600 }, 602, 600},
	} {
		r := NewReader()
		for i := range 2 * maxUnits {
			code := 0
			if c.failed(i) {
				code = 1
			}
			r.Line(testreport.Line{No: 2*i + 1, Text: fmt.Sprintf("$ ./x %d", i)})
			r.Line(testreport.Line{No: 2*i + 2, Text: fmt.Sprintf("The command \"./x\" exited with %d.", code)})
		}
		r.Line(testreport.Line{No: 5 * maxUnits, Text: "Done. Your build exited with 7."})
		tr := r.Tree()
		check(t, tr)
		if tr.Units[0].ExitCode != 7 {
			t.Errorf("%s: the end of the job is lost", c.name)
		}
		first := 0
		for first+1 < len(tr.Units) && tr.Units[first+1].Command == fmt.Sprintf("./x %d", first) {
			first++
		}
		last := tr.Units[len(tr.Units)-1]
		if len(tr.Units) != c.units || len(tr.Units)+tr.Dropped != 2*maxUnits+1 || first != c.first || last.Command != fmt.Sprintf("./x %d", 2*maxUnits-1) {
			t.Errorf("%s: %d units and %d dropped, %d from the first on, the last is %q", c.name, len(tr.Units), tr.Dropped, first, last.Command)
		}
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
