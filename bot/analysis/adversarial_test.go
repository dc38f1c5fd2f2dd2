package analysis

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// pytestOf is a session of pytest with these last lines.
func pytestOf(rest string) string {
	return "============================= test session starts ==============================\ncollected 3 items\n\ntests/test_a.py ...                                                      [100%]\n\n" + rest
}

const (
	gtestGreen = "[==========] Running 1 test from 1 test suite.\n[----------] 1 test from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[----------] 1 test from A (0 ms total)\n\n[==========] 1 test from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n"
	jestGreen  = "PASS src/ok.test.js\n  ✓ adds (5 ms)\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n"
	mvnGreen   = "[INFO] Scanning for projects...\n[INFO] --- maven-surefire-plugin:2.22.3:test (default-test) @ four ---\n[INFO] -------------------------------------------------------\n[INFO]  T E S T S\n[INFO] -------------------------------------------------------\n[INFO] Running com.x.CalcTest\n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s - in com.x.CalcTest\n[INFO] \n[INFO] Results:\n[INFO] \n[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0\n[INFO] \n"
	cargoGreen = "     Running unittests src/lib.rs (target/debug/deps/a-7a9b8e114d889021)\n\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\n"
)

// TestFailingInputsOfManyKinds analyzes inputs in which something failed that no
// test is to blame for, or nothing ran at all: none may pass.
func TestFailingInputsOfManyKinds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in string }{
		// nested suites and declared failures
		{"JUnit: an error four suites deep", `<testsuites failures="0" errors="0"><testsuite name="a"><testsuite name="b"><testsuite name="c"><testsuite name="d"><testcase name="x"><error/></testcase></testsuite></testsuite></testsuite><testcase name="y"/></testsuite></testsuites>`},
		{"JUnit: only the root declares the failure", `<testsuites tests="2" failures="1"><testsuite name="a"><testcase name="x"/></testsuite><testsuite name="b"><testcase name="y"/></testsuite></testsuites>`},
		{"JUnit: a status and no element", `<testsuite name="a"><testcase name="x" status="error"/><testcase name="y"/></testsuite>`},
		{"JUnit: the suite's tear-down", `<testsuite name="a" tests="1"><testcase name="x"/><error message="tearDown failed">disk full</error></testsuite>`},
		{"JUnit: a rerun that failed too", `<testsuite name="a"><testcase name="x"><rerunFailure message="again"/></testcase><testcase name="y"/></testsuite>`},
		{"Jest JSON: a suite failed, no test did", `{"numTotalTests":1,"numPassedTests":1,"numFailedTests":0,"numFailedTestSuites":1,"numTotalTestSuites":2,"success":false,"testResults":[{"name":"/a.js","status":"passed","message":"","assertionResults":[{"title":"a","status":"passed","ancestorTitles":[]}]},{"name":"/b.js","status":"failed","message":"","assertionResults":[]}]}`},
		{"Jest JSON: a suite failed, success is said", `{"numTotalTests":1,"numPassedTests":1,"numFailedTests":0,"numFailedTestSuites":1,"numTotalTestSuites":2,"success":true,"testResults":[{"name":"/a.js","status":"passed","message":"","assertionResults":[{"title":"a","status":"passed","ancestorTitles":[]}]}]}`},
		{"Mochawesome: a failed hook", `{"stats":{"suites":1,"tests":1,"passes":1,"failures":0},"results":[{"title":"","tests":[],"suites":[{"title":"s","tests":[{"title":"a","fullTitle":"s a","state":"passed","pass":true,"err":{}}],"afterHooks":[{"title":"\"after all\" hook","state":"failed","fail":true,"isHook":true,"err":{"message":"no"}}],"suites":[]}]}]}`},
		{"Playwright JSON: the global tear-down", `{"config":{"version":"1.40.0","rootDir":"/p"},"suites":[{"title":"a.spec.ts","file":"a.spec.ts","specs":[{"title":"a","ok":true,"tests":[{"expectedStatus":"passed","results":[{"status":"passed"}],"status":"expected"}]}]}],"errors":[{"message":"Error: tear-down"}],"stats":{"expected":1,"unexpected":0,"flaky":0,"skipped":0}}`},
		{"cucumber JSON: an after hook", `[{"uri":"a.feature","id":"a","keyword":"Feature","name":"a","elements":[{"id":"a;b","keyword":"Scenario","name":"b","line":2,"type":"scenario","steps":[{"keyword":"Given ","name":"x","line":3,"result":{"status":"passed"}}],"after":[{"result":{"status":"failed","error_message":"no"},"match":{"location":"h.rb:1"}}]}]}]`},
		{"TRX: aborted, all tests passed", `<TestRun id="1"><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/></Results><ResultSummary outcome="Failed"><Counters total="1" executed="1" passed="1" failed="0"/><RunInfos><RunInfo outcome="Error"><Text>The active test run was aborted. Reason: Test host process crashed</Text></RunInfo></RunInfos></ResultSummary></TestRun>`},
		{"NUnit 3: the fixture's tear-down", `<test-run testcasecount="1" result="Failed" total="1" passed="1" failed="0"><test-suite type="TestFixture" name="T" fullname="x.T" result="Failed" site="TearDown"><failure><message>TearDown : disk full</message></failure><test-case name="a" fullname="x.T.a" result="Passed"/></test-suite></test-run>`},
		{"xUnit.net: a clean-up", `<assemblies timestamp="x"><assembly name="a.dll" total="1" passed="1" failed="0" errors="1"><errors><error type="test-class-cleanup" name="x.T"><failure exception-type="E"><message>no</message></failure></error></errors><collection name="c"><test name="x.a" type="x" method="a" result="Pass"/></collection></assembly></assemblies>`},
		{"TestNG: a configuration method", `<testng-results skipped="0" failed="0" total="1" passed="1"><suite name="s"><test name="t"><class name="x.T"><test-method status="PASS" signature="a()" name="a"/><test-method is-config="true" status="FAIL" signature="close()" name="close"><exception class="E"><message>no</message></exception></test-method></class></test></suite></testng-results>`},
		{"Robot: the suite's tear-down", `<robot generator="Robot 6.1.1"><suite id="s1" name="S"><test id="s1-t1" name="a"><status status="PASS"/></test><kw name="Close" type="TEARDOWN"><status status="FAIL">no</status></kw><status status="FAIL">Suite teardown failed</status></suite><statistics><total><stat pass="0" fail="1" skip="0">All Tests</stat></total></statistics></robot>`},
		{"go test -json: a package failed, no test did", `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"output","Package":"p","Output":"exit status 3\n"}` + "\n" + `{"Action":"fail","Package":"p","Elapsed":0.1}` + "\n"},

		// set-up and tear-down in consoles
		{"pytest: an error at tear-down", pytestOf("==================================== ERRORS ====================================\n_________________________ ERROR at teardown of test_c __________________________\n\n    def close():\n>       raise OSError('disk')\nE       OSError: disk\n\nconftest.py:5: OSError\n========================= 3 passed, 1 error in 0.12s =========================\n")},
		{"unittest: setUpClass", "setUpClass (t.T) ... ERROR\ntest_b (t.U.test_b) ... ok\n\n======================================================================\nERROR: setUpClass (t.T)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"t.py\", line 5, in setUpClass\nOSError: no\n\n----------------------------------------------------------------------\nRan 1 test in 0.001s\n\nFAILED (errors=1)\n"},
		{"RSpec: an error outside of examples", "\nAn error occurred in an `after(:suite)` hook.\nFailure/Error: raise 'no'\n\nRuntimeError:\n  no\n\n..\n\nFinished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 0 failures, 1 error occurred outside of examples\n"},
		{"GoogleTest: the suite's tear-down", "[==========] Running 1 test from 1 test suite.\n[----------] 1 test from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\na.cc:9: Failure\nFailed\n[----------] 1 test from A (0 ms total)\n\n[==========] 1 test from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n[  FAILED  ] A: SetUpTestSuite or TearDownTestSuite\n\n 1 FAILED TEST SUITE\n"},

		// nothing ran
		{"nothing ran: unittest", "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nOK\n"},
		{"nothing ran: unittest of Python 3.12", "\n----------------------------------------------------------------------\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n"},
		{"nothing ran: pytest", "============================= test session starts ==============================\ncollected 0 items\n\n============================ no tests ran in 0.01s =============================\n"},
		{"nothing ran: all deselected", "============================= test session starts ==============================\ncollected 3 items / 3 deselected / 0 selected\n\n============================ 3 deselected in 0.01s =============================\n"},
		{"nothing ran: cargo", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out; finished in 0.00s\n\n"},
		{"nothing ran: mocha", "\n\n  0 passing (1ms)\n\n"},
		{"nothing ran: RSpec", "No examples found.\n\nFinished in 0.0 seconds (files took 0.1 seconds to load)\n0 examples, 0 failures\n"},
		{"nothing ran: PHPUnit", "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\nTime: 00:00.010, Memory: 4.00 MB\n\nNo tests executed!\n"},
		{"nothing ran: go", "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.01s [no tests to run]\n"},
		{"nothing ran: CTest", "Test project /b\nNo tests were found!!!\n"},
		{"nothing ran: dotnet", "No test is available in /b/a.dll. Make sure that test discoverer & executors are registered and platform & framework version settings are appropriate and try again.\n"},
		{"nothing ran: TAP", "TAP version 13\n1..0 # SKIP no database\n"},
		{"nothing ran: JUnit", "JUnit version 4.13.2\n\nTime: 0.001\n\nOK (0 tests)\n\n"},
		{"nothing ran: GoogleTest", "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n[  PASSED  ] 0 tests.\n"},

		// workers and processes that died
		{"pytest-xdist: a worker crashed", "============================= test session starts ==============================\ngw0 [3] / gw1 [3]\n..\n[gw0] node down: Not properly terminated\nreplacing crashed worker gw0\nF                                                                      [100%]\n=================================== FAILURES ===================================\n________________________________ tests/test_a.py _______________________________\nworker 'gw0' crashed while running 'tests/test_a.py::test_c'\n=========================== short test summary info ============================\nFAILED tests/test_a.py::test_c\n========================= 1 failed, 2 passed in 0.52s =========================\n"},
		{"pytest was killed", pytestOf("")[:150] + "\nKilled\n"},
		{"go: killed", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\nsignal: killed\nFAIL\texample.com/a\t3.2s\nFAIL\n"},
		{"Surefire: the forked VM", mvnGreen + "[INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE\n[INFO] ------------------------------------------------------------------------\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:2.22.3:test (default-test) on project four: There was an error in the forked process: The forked VM terminated without properly saying goodbye. VM crash or System.exit called?\n"},
		{"Maven: a check behind the tests", mvnGreen + "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.jacoco:jacoco-maven-plugin:0.8.8:check (check) on project four: Coverage checks have not been met.\n"},
		{"Gradle: the executor was killed", "> Task :test\n\ncom.x.CalcTest > adds PASSED\n\n> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':test'.\n> Process 'Gradle Test Executor 1' finished with non-zero exit value 137\n\nBUILD FAILED in 5s\n"},
		{"Vitest: a worker died", "\n RUN  v3.2.4 /proj\n\n ✓ src/ok.test.ts (2 tests) 5ms\n\n⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯\n\nVitest caught 1 unhandled error during the test run.\nThis might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.\n\n⎯⎯⎯⎯⎯⎯ Unhandled Error ⎯⎯⎯⎯⎯⎯⎯\nError: Channel closed\n\n Test Files  1 passed (2)\n      Tests  2 passed (5)\n     Errors  1 error\n   Start at  12:00:00\n   Duration  300ms\n\n"},
		{"dotnet: the run was aborted", "Test run for /work/a.dll (.NETCoreApp,Version=v8.0)\nStarting test execution, please wait...\nA total of 1 test files matched the specified pattern.\n  Passed x.T.a [3 ms]\nThe active test run was aborted. Reason: Test host process crashed\n\nTest Run Aborted with error System.Exception.\n"},
		{"Karma: disconnected", "Chrome Headless 114.0.5735.90 (Linux x86_64): Executed 2 of 5 SUCCESS (0.009 secs / 0.002 secs)\nChrome Headless 114.0.5735.90 (Linux x86_64) WARN: Disconnected (0 times), because no message in 30000 ms.\nChrome Headless 114.0.5735.90 (Linux x86_64): Executed 2 of 5 DISCONNECTED (30.1 secs / 0.002 secs)\nTOTAL: 2 SUCCESS\n"},
		{"a second crate does not compile", cargoGreen + "error[E0425]: cannot find value `x` in this scope\n --> b/src/lib.rs:3:5\n  |\n3 |     x\n  |     ^ not found in this scope\n\nerror: could not compile `b` (lib test) due to 1 previous error\n"},
		{"TAP: the exit code behind the plan", "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n# Looks like your test exited with 255 just after 3.\n"},
		{"TAP: bailed out behind the plan", "1..2\nok 1 - a\nok 2 - b\nBail out! no database\n"},

		// the last lines say that the run failed
		{"exit code behind pytest", pytestOf("============================== 3 passed in 0.12s ===============================\n##[error]Process completed with exit code 1.\n")},
		{"exit code behind Jest", jestGreen + "npm ERR! Test failed.  See above for more details.\n"},
		{"yarn behind Jest", jestGreen + "error Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.\n"},
		{"pnpm behind Jest", jestGreen + " ELIFECYCLE  Test failed. See above for more details.\n"},
		{"make behind GoogleTest", gtestGreen + "make: *** [Makefile:12: check] Error 1\n"},
		{"out of memory behind pytest", pytestOf("============================== 3 passed in 0.12s ===============================\n##[error]Process completed with exit code 137.\n")},
		{"segmentation fault behind Catch2", "===============================================================================\nAll tests passed (1 assertion in 1 test case)\n\nSegmentation fault (core dumped)\n"},
		{"a leak behind GoogleTest", gtestGreen + "\n=================================================================\n==123==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of 4 byte(s) in 1 object(s) allocated from:\n    #0 0x7f in operator new(unsigned long)\n    #1 0x55 in leak a.cc:4\n\nSUMMARY: AddressSanitizer: 4 byte(s) leaked in 1 allocation(s).\n"},
		{"coverage behind Jest", "PASS src/ok.test.js\nJest: \"global\" coverage threshold for lines (90%) not met: 50%\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        0.5 s\n"},
		{"coverage behind pytest", pytestOf("FAIL Required test coverage of 90% not reached. Total coverage: 50.00%\n============================== 3 passed in 0.12s ===============================\n")},
		{"a data race behind go test", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nFound 1 data race(s)\nexit status 66\nFAIL\texample.com/a\t0.2s\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := run(t, Input{Sources: []Source{text("r", c.in)}}).Verdict
			if v.Result == routing.Pass {
				t.Errorf("passed: %s, %+v", v.Reason, v.Counts)
			}
		})
	}
}
