package diagnosis

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/internal/testruns"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// greens is the output of runs of tests that passed.
var greens = map[string]string{
	"go":       "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.012s\n",
	"pytest":   "..........                                                               [100%]\n10 passed in 0.02s\n",
	"unittest": "....\n----------------------------------------------------------------------\nRan 4 tests in 0.001s\n\nOK\n",
	"jest":     "PASS src/a.test.js\n  ✓ adds (2 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        1.2 s\nRan all test suites.\n",
	"cargo":    "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n",
	"mocha":    "\n\n  sums\n    ✔ adds\n    ✔ subtracts\n\n\n  2 passing (5ms)\n\n",
	"prove":    "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs ( 0.01 usr  0.00 sys +  0.02 cusr  0.00 csys =  0.03 CPU)\nResult: PASS\n",
	"minitest": "Run options: --seed 1\n\n# Running:\n\n..\n\nFinished in 0.001s, 10.0 runs/s, 10.0 assertions/s.\n\n2 runs, 2 assertions, 0 failures, 0 errors, 0 skips\n",
	"surefire": "[INFO] Scanning for projects...\n[INFO] --- surefire:3.2.5:test (default-test) @ app ---\n[INFO]  T E S T S\n[INFO] Running com.x.GreenTest\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in com.x.GreenTest\n[INFO] \n[INFO] Results:\n[INFO] \n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n[INFO] BUILD SUCCESS\n",
	"node":     "✔ adds (1.2ms)\n✔ subtracts (0.1ms)\nℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 40.1\n",
}

// service wraps output as the log of a service, with and without its last words.
type service struct{ name, before, failed, passed string }

var services = []service{
	{name: "none"},
	{"GitHub", "##[group]Run make ci\n\x1b[36;1mmake ci\x1b[0m\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n", "##[error]Process completed with exit code 1.\nPost job cleanup.\n[command]/usr/bin/git version\nCleaning up orphan processes\n", "Post job cleanup.\n[command]/usr/bin/git version\nCleaning up orphan processes\n"},
	{"Travis", "travis_fold:start:git\n$ git clone x\ntravis_fold:end:git\n$ make ci\n", "The command \"make ci\" exited with 1.\n\nDone. Your build exited with 1.\n", "The command \"make ci\" exited with 0.\n\nDone. Your build exited with 0.\n"},
	{"GitLab", "Executing \"step_script\" stage of the job script\n$ make ci\n", "Uploading artifacts for failed job\nCleaning up project directory and file based variables\nERROR: Job failed: exit code 1\n", "Saving cache for successful job\nCleaning up project directory and file based variables\nJob succeeded\n"},
	{"Jenkins", "[Pipeline] stage\n[Pipeline] { (Test)\n[Pipeline] sh\n+ make ci\n", "[Pipeline] }\n[Pipeline] // stage\n[Pipeline] End of Pipeline\nERROR: script returned exit code 1\nFinished: FAILURE\n", "[Pipeline] }\n[Pipeline] // stage\n[Pipeline] End of Pipeline\nFinished: SUCCESS\n"},
	{"CircleCI", "#!/bin/bash -eo pipefail\nmake ci\n", "\nExited with code exit status 1\n", ""},
	{"Azure", "##[section]Starting: Run tests\n========================== Starting Command Output ===========================\n[command]/usr/bin/bash --noprofile --norc /home/vsts/work/_temp/a.sh\n", "##[error]Bash exited with code '1'.\n##[section]Finishing: Run tests\n", ""},
	{"Buildkite", "~~~ Preparing working directory\n~~~ Running commands\n$ make ci\n", "^^^ +++\n🚨 Error: The command exited with status 1\nuser command error: exit status 1\n", ""},
}

// servicesFor returns the services whose logs a test makes of the output of a tool: all for one tool,
// none for the others, to keep the test short.
func servicesFor(tool string) []service {
	if tool == "pytest" {
		return services
	}
	return services[:1]
}

// badEnds is what other commands print behind tests that passed, recorded with the real ones. A final
// one is none that a script can tolerate at its end.
var badEnds = []struct {
	name, text string
	final      bool
}{
	{"curl, refused", "curl: (7) Failed to connect to 127.0.0.1 port 9 after 1 ms: Couldn't connect to server\n", false},
	{"curl, an HTTP error", "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n                                 Dload  Upload   Total   Spent    Left  Speed\ncurl: (22) The requested URL returned error: 404\n", false},
	{"wget", "Connecting to 127.0.0.1:9... failed: Connection refused.\n", false},
	{"bash, a missing command", "bash: line 1: nosuchcmd: command not found\n", false},
	{"sh, a missing command", "sh: 1: nosuchcmd: not found\n", false},
	{"a missing script", "bash: line 1: ./deploy.sh: No such file or directory\n", false},
	{"an unset variable", "bash: line 1: TOKEN: unbound variable\n", false},
	{"Python, a trace", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nModuleNotFoundError: No module named 'nosuchmodule'\n", false},
	{"Python, a trace with a note", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\n  File \"x.py\", line 2, in main\n    raise SystemExit('x') from e\nSystemExit: x\n", false},
	{"Python, no such file", "python3: can't open file '/w/nofile.py': [Errno 2] No such file or directory\n", false},
	{"Node", "[eval]:1\nthrow new Error(\"boom\")\n^\n\nError: boom\n    at [eval]:1:7\n    at runScriptInThisContext (node:internal/vm:209:10)\n\nNode.js v20.20.2\n", false},
	{"Node, no module", "node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module '/w/nofile.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.20.2\n", false},
	{"git, network", "fatal: unable to access 'http://127.0.0.1:9/x/': Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server\n", false},
	{"git, rejected", "To github.com:a/b.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:a/b.git'\n", false},
	{"make", "false\nmake: *** [Makefile:2: all] Error 1\n", false},
	{"docker", "unable to prepare context: unable to evaluate symlinks in Dockerfile path: lstat /w/Dockerfile: no such file or directory\n", false},
	{"BuildKit", "#7 [3/3] RUN exit 3\n#7 ERROR: process \"/bin/sh -c exit 3\" did not complete successfully: exit code: 3\n------\n > [3/3] RUN exit 3:\n------\nDockerfile:3\n--------------------\n   1 |     FROM alpine\n   3 | >>> RUN exit 3\n--------------------\nERROR: failed to solve: process \"/bin/sh -c exit 3\" did not complete successfully: exit code: 3\n", false},
	{"docker push", "denied: requested access to the resource is denied\n", false},
	{"npm", "npm error code ENOENT\nnpm error syscall open\nnpm error path /w/package.json\nnpm error errno -2\nnpm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log\n", false},
	{"npm publish", "npm ERR! code E403\nnpm ERR! 403 403 Forbidden - PUT https://registry.example/app - You cannot publish over the previously published versions: 1.0.0.\n\nnpm ERR! A complete log of this run can be found in:\nnpm ERR!     /root/.npm/_logs/debug-0.log\n", false},
	{"yarn", "error Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.\n", false},
	{"flake8", "src/a.py:1:1: F401 'os' imported but unused\nsrc/a.py:9:80: E501 line too long (93 > 79 characters)\n", false},
	{"mypy", "src/a.py:3: error: Incompatible return value type (got \"int\", expected \"str\")  [return-value]\nFound 1 error in 1 file (checked 3 source files)\n", false},
	{"eslint", "\n/w/a.js\n  2:10  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n\n", false},
	{"black", "would reformat src/a.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted, 3 files would be left unchanged.\n", false},
	{"shellcheck", "\nIn a.sh line 3:\necho $x\n     ^-- SC2086 (info): Double quote to prevent globbing and word splitting.\n\nFor more information:\n  https://www.shellcheck.net/wiki/SC2086 -- Double quote to prevent globbing ...\n", false},
	{"rubocop", "Inspecting 3 files\n.C.\n\nOffenses:\n\na.rb:1:1: C: [Correctable] Style/FrozenStringLiteralComment: Missing frozen string literal comment.\n\n3 files inspected, 1 offense detected, 1 offense autocorrectable\n", false},
	{"tsc", "src/a.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.\n", false},
	{"pip", "ERROR: Could not find a version that satisfies the requirement nosuch==9 (from versions: none)\nERROR: No matching distribution found for nosuch==9\n", false},
	{"apt", "Reading package lists...\nE: Unable to locate package nosuch\n", false},
	{"Gradle", "FAILURE: Build failed with an exception.\n\n* What went wrong:\nTask 'nosuch' not found in root project 'app'.\n\n* Try:\n> Run gradlew tasks to get a list of available tasks.\n\nBUILD FAILED in 1s\n", false},
	{"terraform", "╷\n│ Error: Invalid reference\n│ \n│   on main.tf line 3, in resource \"x\" \"y\":\n╵\n", false},
	{"Ruby", "a.rb:3:in `x': boom (RuntimeError)\n\tfrom a.rb:5:in `<main>'\n", false},
	{"Perl", "Can't locate Foo.pm in @INC (you may need to install the Foo module) at a.pl line 3.\nBEGIN failed--compilation aborted at a.pl line 3.\n", false},
	{"PHP", "PHP Fatal error:  Uncaught RuntimeException: boom in /w/a.php:3\nStack trace:\n#0 {main}\n  thrown in /w/a.php on line 3\n", false},
	{"Elixir", "** (Mix) The task \"nosuch\" could not be found\n", false},
	{"Java", "Exception in thread \"main\" java.lang.IllegalStateException: boom\n\tat com.x.Main.main(Main.java:3)\n", false},
	{"a script that says that it failed", "deploy failed: no credentials\n", false},
	{"an exit code", "command exited with code 3\n", false},
	{"Rust", "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n", false},

	{"a segmentation fault", "Segmentation fault (core dumped)\n", true},
	{"a segmentation fault, as bash says it", "bash: line 1:  9384 Segmentation fault      ./b\n", true},
	{"abort", "bash: line 90:  9205 Aborted                 (core dumped) ./b\n", true},
	{"terminate", "terminate called after throwing an instance of 'std::runtime_error'\n  what():  boom\nAborted (core dumped)\n", true},
	{"AddressSanitizer", "=================================================================\n==9360==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60200000001c\nWRITE of size 4 at 0x60200000001c thread T0\n    #0 0x5567669701cd in main /w/a.c:2\n\nSUMMARY: AddressSanitizer: heap-buffer-overflow /w/a.c:2 in main\nShadow bytes around the buggy address:\n  0x0c047fff7fb0: 00 00 00 00\n=>0x0c047fff8000: fa fa 04[fa]fa fa fa fa\nShadow byte legend (one shadow byte represents 8 application bytes):\n  Addressable:           00\n  Right alloca redzone:    cb\n==9360==ABORTING\n", true},
	{"LeakSanitizer", "=================================================================\n==1==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 7 byte(s) in 1 object(s) allocated from:\n    #0 0x4af01b in malloc\n\nSUMMARY: AddressSanitizer: 7 byte(s) leaked in 1 allocation(s).\n", true},
	{"Go, a panic", "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/w/main.go:4 +0x1d\nexit status 2\n", true},
	{"Go, fatal", "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/w/main.go:4 +0x1d\nexit status 2\n", true},
	{"V8, memory", "<--- Last few GCs --->\n\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace -----\n\n 1: 0xb7a940 node::Abort() [node]\nAborted (core dumped)\n", true},
	{"a full disk", "tar: dist.tar: Wrote only 4096 of 10240 bytes\ntar: write error: No space left on device\n", true},
	{"a full disk, npm", "npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write\n", true},
	{"cancelled", "##[error]The operation was canceled.\n", true},
	{"over time", "##[error]The action 'Run make ci' has timed out after 10 minutes.\n", true},
	{"over time, Go", "panic: test timed out after 10m0s\nrunning tests:\n\tTestB (10m0s)\n\ngoroutine 5 [running]:\ntesting.(*M).startAlarm.func1()\n\t/usr/lib/go/src/testing/testing.go:2373 +0x385\n", true},
	{"no output", "No output has been received in the last 10m0s, this potentially indicates a stalled build or something wrong with the build itself.\n", true},
}

// TestContradictionsAreNeverGreen: whatever else fails behind tests that passed, in the log of
// whatever service, it is no pass: neither where the log breaks off before the service says so, nor
// where it is complete, nor against a conclusion that says otherwise.
func TestContradictionsAreNeverGreen(t *testing.T) {
	t.Parallel()
	for tool, green := range greens {
		for _, bad := range badEnds {
			for _, s := range servicesFor(tool) {
				log := s.before + green + bad.text
				for _, c := range []struct{ name, log, conclusion string }{
					{"breaks off", log, ""},
					{"complete", log + s.failed, ""},
					{"complete, and said to have failed", log + s.failed, "failure"},
					{"breaks off, and said to have failed", log, "failure"},
				} {
					if s.failed != "" || strings.HasPrefix(c.name, "breaks off") {
						noPass(t, tool+", "+bad.name+", "+s.name+", "+c.name, c.log, c.conclusion)
					}
				}
				if bad.final {
					noPass(t, tool+", "+bad.name+", "+s.name+", said to have succeeded", log, "success")
				}
				if s.failed != "" {
					noPass(t, tool+", "+bad.name+", "+s.name+", failed and said to have succeeded", log+s.failed, "success")
				}
			}
		}
	}
}

func noPass(t *testing.T, name, log, conclusion string) {
	t.Helper()
	if d := diagnoseText(t, log, Options{Conclusion: conclusion, Brief: true}); d.Result == routing.Pass {
		t.Errorf("%s: pass: %s", name, d.Reason)
	}
}

// TestToleratedFailuresPass: what failed behind tests that passed, and behind which the job went on
// and ended well, is no reason against them.
func TestToleratedFailuresPass(t *testing.T) {
	t.Parallel()
	const later = "##[group]Run npm run lint\n\x1b[36;1mnpm run lint\x1b[0m\nshell: /usr/bin/bash -e {0}\n##[endgroup]\nno findings\n"
	github := services[1]
	for tool, green := range greens {
		for _, bad := range badEnds {
			name := tool + ", " + bad.name
			if !strings.Contains(bad.text, "##[error]") {
				passes(t, name+", a step with continue-on-error", github.before+green+bad.text+"##[error]Process completed with exit code 1.\n"+later+github.passed, "", "success")
				passes(t, name+", before another step", github.before+green+bad.text+later+github.passed, "", "success")
			}
			if bad.final {
				continue
			}
			passes(t, name+", said to have succeeded", green+bad.text, "success")
			for _, s := range servicesFor(tool) {
				if s.passed != "" {
					passes(t, name+", "+s.name, s.before+green+bad.text+s.passed, "", "success")
				}
			}
		}
	}
}

func passes(t *testing.T, name, log string, conclusions ...string) {
	t.Helper()
	for _, c := range conclusions {
		d := diagnoseText(t, log, Options{Conclusion: c, Brief: true})
		if d.Result != routing.Pass || len(d.Failures) > 0 || len(d.ErrorLines) > 0 {
			t.Errorf("%s, conclusion %q: %s: %s %v", name, c, d.Result, d.Reason, first(d.ErrorLines, 2))
		}
	}
}

// TestUnfinishedRuns: a second run of tests that printed no totals has not passed, whatever the
// first one said.
func TestUnfinishedRuns(t *testing.T) {
	t.Parallel()
	for tool, green := range greens {
		for name, second := range map[string]string{
			"pytest -q":   "....",
			"pytest":      "============================= test session starts ==============================\nplatform linux -- Python 3.11.4, pytest-7.4.0\ncollected 20 items\n\ntests/test_a.py ....",
			"unittest":    "......",
			"minitest":    "Run options: --seed 12\n\n# Running:\n\n....",
			"prove":       "t/b.t .. \n",
			"rspec":       "..F..",
			"PHPUnit":     "PHPUnit 10.5.1 by Sebastian Bergmann and contributors.\n\n...............................................................  63 / 200 ( 31%)\n",
			"ExUnit":      "Running ExUnit with seed: 12, max_cases: 8\n\n....",
			"cargo":       "running 9 tests\n",
			"Maven":       "[INFO] Scanning for projects...\n[INFO] --- surefire:3.2.5:test (default-test) @ app ---\n",
			"cucumber":    "Feature: G\n\n  Scenario: ok\n",
			"a command":   "+ python -m pytest -q\n",
			"terminated":  "...\nTerminated\n",
			"vitest":      "\n RUN  v2.1.8 /w\n\n",
			"GoogleTest":  "[==========] Running 12 tests from 3 test suites.\n",
			"interrupted": "^C\nKeyboardInterrupt\n",

			"RSpec, documentation":        "\nCalculator\n  adds\n  subtracts\n",
			"RSpec, nested documentation": "\nCalculator\n  #add\n    adds two numbers\n    when one is negative\n",
			"unittest, verbose":           "test_a (tests.test_a.A.test_a) ... ok\ntest_b (tests.test_a.A.test_b) ... ",
			"Mocha":                       "\n\n  sums\n    ✔ adds\n",
			"AVA":                         "\n  ✔ sums › subtracts (108ms)\n",
			"Karma":                       "Chrome Headless 114.0.5735.90 (Linux x86_64): Executed 1 of 20 SUCCESS (0 secs / 0.001 secs)\n",
			"Gradle":                      "> Task :compileJava UP-TO-DATE\n> Task :test\n",
			"Playwright":                  "\nRunning 30 tests using 2 workers\n\n  ✓  1 [chromium] › a.spec.ts:3:1 › adds (1.2s)\n",
			"Deno":                        "running 3 tests from ./a_test.ts\nadds ... ok (1ms)\n",
			"nextest":                     "    Starting 5 tests across 2 binaries\n        PASS [   0.004s] app a\n",
			"doctest":                     "[doctest] doctest version is \"2.4.11\"\n",
			"Jest":                        "PASS src/a.test.js (5.1 s)\n",
			"gotestsum":                   "PASS example.com/a (cached)\n",
			"Swift Testing":               "◇ Test run started.\n✔ Test adds() passed after 0.001 seconds.\n",
			"XCTest":                      "Test Suite 'All tests' started at 2026-01-15 10:00:00.000\n",
			"uvu":                         "sums.js\n• • •   (3 / 3)\n",
			"Robot":                       "Adds                                                                  | PASS |\n",
		} {
			noPass(t, tool+", then "+name, green+second, "")
			noPass(t, tool+", then "+name+", as a job", services[1].before+green+second, "")
		}
		passes(t, tool+" twice", green+green, "", "success")
	}
	for name, log := range map[string]string{
		"pytest.exit":                    "collected 5 items\n\ntest_a.py ..\n\n!!!!!!!!!!!!!!!!!!!!! _pytest.outcomes.Exit: stopping now !!!!!!!!!!!!!!!!!!!!!\n============================== 2 passed in 0.01s ===============================\n",
		"pytest.exit, behind the totals": "============================== 2 passed in 0.01s ===============================\n!!!!!!!!!!!!!!!!!!!!! _pytest.outcomes.Exit: stopping now !!!!!!!!!!!!!!!!!!!!!\n",
		"pytest, interrupted":            "..\n!!!!!!!!!!!!!!!!!!!!!!!!!!!!!! KeyboardInterrupt !!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!\n2 passed in 0.50s\n",
		"AVA":                            "\n  ✔ a\n\n  ✘ Timed out while running tests\n\n  1 tests were pending in test.js\n\n  ◌ slow\n\n  ─\n\n  1 test passed\n  1 test remained pending after a timeout\n",
		"a test that ran over":           "ok  \texample.com/a\t0.1s\n*** Test killed with quit: ran too long (11m0s).\nok  \texample.com/b\t0.1s\n",
		"a test that ran over, in words": "ok  \texample.com/a\t0.1s\nTest b ran over its limit of 600 seconds\nok  \texample.com/c\t0.1s\n",
	} {
		noPass(t, name, log, "")
		noPass(t, name+", failed", log, "failure")
	}
}

// TestCoverageGates: a threshold of coverage that was missed is a finding about quality, in the
// words of every tool, before or behind the totals of the tests.
func TestCoverageGates(t *testing.T) {
	t.Parallel()
	for tool, gate := range map[string]string{
		"coverage.py":   "Name    Stmts   Miss  Cover\n---------------------------\na.py        7      2    71%\n---------------------------\nTOTAL       7      2    71%\nCoverage failure: total of 71 is less than fail-under=90\n",
		"pytest-cov":    "FAIL Required test coverage of 90% not reached. Total coverage: 71.00%\n",
		"mix":           "Coverage test failed, threshold not met:\n\n    Coverage:   70.00%\n    Threshold:  90.00%\n",
		"jest":          "Jest: \"global\" coverage threshold for statements (90%) not met: 50%\n",
		"jest, counted": "Jest: \"global\" uncovered count for statements (10) exceeds the global threshold (5)\n",
		"nyc":           "ERROR: Coverage for lines (50%) does not meet global threshold (90%)\n",
		"node":          "ℹ Error: 66.67% line coverage does not meet threshold of 90%.\n",
		"SimpleCov":     "Line coverage (71.43%) is below the expected minimum coverage (90.00%).\nSimpleCov failed with exit 2 due to a coverage related error\n",
		"JaCoCo":        "[WARNING] Rule violated for bundle app: lines covered ratio is 0.50, but expected minimum is 0.90\n[ERROR] Coverage checks have not been met. See log for details.\n",
		"gcovr":         "failed minimum line coverage (got 50.0%, minimum 90.0%)\n",
		"tarpaulin":     "Error: \"Coverage is below the failure threshold 50.00% < 90.00%\"\n",
		"Pest":          "  FAIL  Code coverage below expected 90.0 %, currently 50.0 %.\n",
		"coverlet":      "error : The total line coverage is below the specified 90\n",
	} {
		for name, green := range greens {
			log := green + gate
			d := diagnoseText(t, log, Options{Brief: true})
			if d.Result == routing.Pass || d.Class != routing.Quality {
				t.Errorf("%s behind %s: %s %s: %s", tool, name, d.Result, d.Class, d.Reason)
			}
			passes(t, tool+" behind "+name, log, "success")
		}
	}
}

// TestBeyond: a command that a shell echoed shows that the log went on, and so does a step.
func TestBeyond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line testreport.Line
		want bool
	}{
		{testreport.Line{Text: "+ make"}, true},
		{testreport.Line{Text: "$ make"}, true},
		{testreport.Line{Text: "Run make", Mark: "group"}, true},
		{testreport.Line{Text: "Run make"}, false},
		{testreport.Line{Text: "make", Mark: "group"}, false},
		{testreport.Line{Text: "+make"}, false},
	} {
		if got := beyond([]testreport.Line{{Text: "at x"}, c.line}); got != c.want {
			t.Errorf("%+v: %v", c.line, got)
		}
	}
}

// TestStatements: what a line says of the whole run, wherever it stands.
func TestStatements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line               testreport.Line
		gates, interrupted int
	}{
		{testreport.Line{Text: "Coverage for lines (50%) does not meet global threshold (90%)"}, 1, 0},
		{testreport.Line{Text: "    Line coverage (71.43%) is below the expected minimum coverage"}, 1, 0},
		{testreport.Line{Text: "Line coverage (71.43%) is below the expected minimum coverage", Passing: true}, 0, 0},
		{testreport.Line{Text: "Line coverage (71.43%) is below the expected minimum" + strings.Repeat(" ", 248)}, 1, 0},
		{testreport.Line{Text: "Line coverage (71.43%) is below the expected minimum" + strings.Repeat(" ", 249)}, 0, 0},
		{testreport.Line{Text: "fail if coverage is below 80%"}, 0, 0},
		{testreport.Line{Text: "Coverage should not be less than 80%"}, 0, 0},
		{testreport.Line{Text: "Coverage of 80% is fine"}, 0, 0},
		{testreport.Line{Text: "[ERROR] Coverage checks have not been met."}, 1, 0},
		{testreport.Line{Text: "[OTHER] Coverage checks have not been met."}, 0, 0},
		{testreport.Line{Text: "Test run aborted"}, 0, 1},
		{testreport.Line{Text: "The test run timed out"}, 0, 1},
		{testreport.Line{Text: "Run aborted"}, 0, 1},
		{testreport.Line{Text: "Exit: stopping now"}, 0, 1},
		{testreport.Line{Text: "The run aborted"}, 0, 0},
		{testreport.Line{Text: "3 tests were not run"}, 0, 1},
		{testreport.Line{Text: "3 steps were not run"}, 0, 0},
		{testreport.Line{Text: "!!! Interrupted: 1 error !!!"}, 0, 1},
		{testreport.Line{Text: "  !!! Interrupted: 1 error !!!"}, 0, 1},
		{testreport.Line{Text: "x"}, 0, 0},
		{testreport.Line{Text: "     x"}, 0, 0},
	} {
		var s statements
		s.read(c.line)
		if len(s.gates) != c.gates || len(s.interrupted) != c.interrupted {
			t.Errorf("%q: %d missed thresholds, %d broken-off runs", c.line.Text, len(s.gates), len(s.interrupted))
		}
		for range 2 * maxStatements {
			s.read(c.line)
		}
		if len(s.gates) != c.gates*maxStatements || len(s.interrupted) != c.interrupted*maxStatements {
			t.Errorf("%q: %d and %d lines are kept", c.line.Text, len(s.gates), len(s.interrupted))
		}
	}
}

// TestSilence: what a run that ends well prints on its way raises nothing.
func TestSilence(t *testing.T) {
	t.Parallel()
	for name, noise := range map[string]string{
		"a compiler that was probed":        "checking for ac_nonexistent.h... conftest.c:9:10: fatal error: ac_nonexistent.h: No such file or directory\n    9 | #include <ac_nonexistent.h>\n      |          ^~~~~~~~~~~~~~~~~~\ncompilation terminated.\nno\n",
		"a sub-build that failed":           "gcc -c a.c\na.c:1:2: error: 'x' undeclared\nmake: [Makefile:3: try] Error 1 (ignored)\nfalling back to the portable version\n",
		"clippy warns":                      "warning: unused variable: `x`\n --> src/lib.rs:2:9\n  |\n2 |     let x = 1;\n  |         ^ help: if this is intentional, prefix it with an underscore: `_x`\n  |\n  = note: `#[warn(unused_variables)]` on by default\n\nwarning: `app` (lib) generated 1 warning\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.05s\n",
		"curl was retried":                  "curl: (7) Failed to connect to example.com port 443 after 1 ms: Couldn't connect to server\nWarning: Problem : connection refused. Will retry in 1 seconds. 3 retries left.\ncurl: (22) The requested URL returned error: 503\nWarning: Problem : HTTP error. Will retry in 2 seconds. 2 retries left.\ndownloaded\n",
		"a command that was tolerated":      "rm: cannot remove 'build': No such file or directory\nfatal: not a git repository (or any of the parent directories): .git\nusing version 0.0.0\n",
		"a refused connection":              "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)\nretrying\nconnected\n",
		"a trace that was handled":          "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: logged and handled\ngoing on\n",
		"npm warns":                         "npm warn deprecated har-validator@5.1.5: this library is no longer supported\n\n7 vulnerabilities (2 low, 5 high)\n\nTo address all issues, run:\n  npm audit fix\n",
		"a linter whose findings count not": "src/a.py:1:1: F401 'os' imported but unused\n1     F401 'os' imported but unused\n",
		"apt":                               "debconf: unable to initialize frontend: Dialog\ndebconf: (TERM is not set, so the dialog frontend is not usable.)\ninvoke-rc.d: could not determine current runlevel\nSetting up jq (1.6) ...\n",
		"git's advice":                      "Note: switching to 'abc'.\n\nYou are in 'detached HEAD' state.\nHEAD is now at abc fix the error\n",
		"a Java logger":                     "2024-01-01 10:00:00.000 ERROR 1 --- [main] c.x.A : could not connect\njava.net.ConnectException: Connection refused\n\tat com.x.A.b(A.java:3)\nCaused by: java.io.IOException: x\n",
	} {
		for tool, green := range greens {
			for _, s := range servicesFor(tool) {
				log := s.before + noise + green + s.passed
				conclusions := []string{"success"}
				if s.passed != "" {
					conclusions = append(conclusions, "")
				}
				passes(t, name+" before "+tool+", "+s.name, log, conclusions...)
			}
		}
	}
}

// TestSilenceWithoutTests: a run without tests that ended well is no pass, for nothing shows what it
// did, but it raises nothing either.
func TestSilenceWithoutTests(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"a refused connection": "Error: connect ECONNREFUSED 127.0.0.1:5432\n7 checks fine\n",
		"a compiler":           "a.c:1:2: error: 'x' undeclared\n",
		"a linter":             "src/a.py:1:1: F401 'os' imported but unused\n",
		"a retried download":   "curl: (22) The requested URL returned error: 503\ndownloaded\n",
	} {
		for _, s := range services {
			for _, conclusion := range []string{"", "success"} {
				if conclusion == "" && s.passed == "" {
					continue
				}
				d := diagnoseText(t, s.before+log+s.passed, Options{Conclusion: conclusion, Brief: true})
				if d.Result == routing.Pass || len(d.Failures) > 0 || len(d.ErrorLines) > 0 {
					t.Errorf("%s, %s, conclusion %q: %s %s %+v %v", name, s.name, conclusion, d.Result, d.Reason, d.Failures, d.ErrorLines)
				}
			}
		}
	}
}

// TestRunsOfTests: the lines by which a run of tests begins, goes on and is complete.
func TestRunsOfTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		is   func(string) bool
		yes  []string
		no   []string
	}{
		{"opens", func(t string) bool {
			t = strings.TrimLeft(t, " ")
			return opens(t, openingsBy[t[0]]) || slices.ContainsFunc(testruns.ByFirst[t[0]], func(i uint8) bool { return testruns.All[i].Begins(t) })
		}, []string{"# Running:", "PHPUnit 10", " RUN  v1", "RUN  v2", "Run options: --seed 1", "Testing a.b", "===== test session starts =====", "running 3 tests", "running 1 test", "MySpec:", "Feature: x", "TAP version 13", "Loaded suite x"}, []string{"PHPUnit x", " RUN  vx", "Run options: x", "Testing a.b c", "Testing ab", "===== x =====", "running x tests", "running 3 things", "My Spec:", "MySpec", "BUILD"}},
		{"progress", func(t string) bool { return progress(t, 0) }, []string{"....", "..F.. [100%]", "..F.. 63 / 63 (100%)", "a.py ..", "t/a.t ..", "..  "}, []string{" a.py ..", "FFFF", "..F.. [100]", "..F.. (100%)", "a b.py ..", "a.py xx", "t/a.t", "x t/a.t ..", ".. words", ".py ..", "x.py ."}},
		{"succeeds", func(s string) bool { return succeeds(testreport.Line{Text: s}) },
			[]string{"3 passed", "  3 passing", "Passed: 3", "12 tests, 0 failures", "Tests run: 3, Failures: 0, Errors: 0", "[INFO] Tests run: 3, Failures: 0, Errors: 0", "DONE 3 tests", "# pass 3", "# fail 0", "✓ adds", "  √ adds", "ok", "PASS", "100% tests passed", "3 passed" + strings.Repeat(" ", 291) + "x"},
			[]string{"", "   ", "[INFO] ", "0 passed", "3 passed, 1 failed", "Tests run: 3, Failures: 1, Errors: 0", "DONE 0 tests", "# pass 0", "# words", "a pass of words", "3 passed" + strings.Repeat(" ", 292) + "x"}},
		{"sums", testruns.Sums, []string{"==== 3 passed ====", "[INFO] Tests run: 3", "[x] 3 tests", "PASS", "PASSED", "1..3", "3 tests", "3 unit tests", "100% tests passed", "5 examples, 0 failures", "2 scenarios (2 passed)", "OK (3 tests)", "ℹ tests 3", "Test Files  1", "7 a b tests"}, []string{"", "pass", "1..x", "3 very small unit tests", "100%", "12 out of 13 tests", "3", "3x", "3 ", "3 things", "7 a b c tests"}},
	} {
		for _, text := range c.yes {
			if !c.is(text) {
				t.Errorf("%s(%q) is false", c.name, text)
			}
		}
		for _, text := range c.no {
			if c.is(text) {
				t.Errorf("%s(%q) is true", c.name, text)
			}
		}
	}
}

// TestFailuresThatWereSurvived: a log without tests that ends in what was achieved is not red for a
// failure before that, and not green either. What failed behind it, or a line that does not say that
// all is well, leaves it red.
func TestFailuresThatWereSurvived(t *testing.T) {
	t.Parallel()
	const failed = "curl: (7) Failed to connect to 127.0.0.1 port 3010 after 0 ms: Couldn't connect to server\n"
	for text, want := range map[string]routing.Result{
		failed:                              routing.Fail,
		failed + "the server is up\n":       routing.Unclear,
		failed + "trying again\ndone\n":     routing.Unclear,
		failed + "downloaded from mirror\n": routing.Unclear,
		failed + "Done.\n\n":                routing.Unclear,
		failed + "2026-01-15 10:00:00 (4.42 MB/s) - ‘file’ saved [16/16]\n": routing.Unclear,
		"downloaded\n" + failed:                                         routing.Fail,
		failed + "done\n" + failed:                                      routing.Fail,
		failed + "completed with errors\n":                              routing.Fail,
		failed + "Done: not installed\n":                                routing.Fail,
		failed + "Cleaning up\n":                                        routing.Fail,
		failed + "removed the container\n":                              routing.Fail,
		failed + "the server is down\n":                                 routing.Fail,
		failed + "compilation terminated.\n":                            routing.Fail,
		failed + "Finished: FAILURE\n":                                  routing.Fail,
		failed + "done\n##[error]Process completed with exit code 7.\n": routing.Fail,
	} {
		if d := diagnoseText(t, text, Options{}); d.Result != want {
			t.Errorf("%q is %s, want %s", text, d.Result, want)
		}
		if d := diagnoseText(t, text, Options{Conclusion: "failure"}); d.Result != routing.Fail {
			t.Errorf("%q is %s in a run that failed", text, d.Result)
		}
	}
	for _, end := range []string{"", "done\n"} {
		text := "not ok 1 - adds\nok 1 sums\n# tests 1\n# pass 1\n# fail 0\n1..1\n" + end
		if d := diagnoseText(t, text, Options{}); d.Result != routing.Fail {
			t.Errorf("TAP behind a point that failed is %s", d.Result)
		}
		if d := diagnoseText(t, text, Options{Conclusion: "success"}); d.Result != routing.Pass || len(d.Failures) > 0 {
			t.Errorf("TAP behind a point that failed is %s in a run that succeeded", d.Result)
		}
	}
}
