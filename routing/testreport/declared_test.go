package testreport_test

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// declaredDocs are green outputs that state how many tests there are, each
// with a part that stands for passing tests: without it less is listed than is stated.
var declaredDocs = []struct {
	name, format string
	whole        string
	gone         string // part of whole that is removed
}{
	{"JUnit suite", "junit", `<testsuite name="s" tests="2"><testcase name="a"/><testcase name="b"/></testsuite>`, `<testcase name="b"/>`},
	{"JUnit root", "junit", `<testsuites tests="2"><testsuite name="s"><testcase name="a"/></testsuite><testsuite name="t"><testcase name="b"/></testsuite></testsuites>`, `<testsuite name="t"><testcase name="b"/></testsuite>`},
	{"TRX", "trx", `<TestRun id="1"><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/><UnitTestResult testId="2" testName="b" outcome="Passed"/></Results><ResultSummary outcome="Completed"><Counters total="2" executed="2" passed="2" failed="0"/></ResultSummary></TestRun>`,
		`<UnitTestResult testId="2" testName="b" outcome="Passed"/>`},
	{"TRX, the summary first", "trx", `<TestRun id="1"><ResultSummary outcome="Completed"><Counters total="2" executed="2" passed="2" failed="0"/></ResultSummary><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/><UnitTestResult testId="2" testName="b" outcome="Passed"/></Results></TestRun>`,
		`<UnitTestResult testId="2" testName="b" outcome="Passed"/>`},
	{"NUnit 3", "nunit3", `<test-run id="2" testcasecount="2" result="Passed" total="2" passed="2" failed="0"><test-suite type="Assembly" name="a.dll" testcasecount="2" result="Passed" total="2" passed="2" failed="0"><test-case name="a" fullname="x.a" result="Passed"/><test-case name="b" fullname="x.b" result="Passed"/></test-suite></test-run>`,
		`<test-case name="b" fullname="x.b" result="Passed"/>`},
	{"NUnit 2", "nunit2", `<test-results name="a.dll" total="2" errors="0" failures="0" not-run="0"><test-suite type="Assembly" name="a.dll" executed="True" result="Success" success="True"><results><test-case name="x.a" executed="True" result="Success" success="True"/><test-case name="x.b" executed="True" result="Success" success="True"/></results></test-suite></test-results>`,
		`<test-case name="x.b" executed="True" result="Success" success="True"/>`},
	{"xUnit.net", "xunit", `<assemblies><assembly name="a.dll" total="2" passed="2" failed="0" skipped="0" errors="0"><collection total="2" passed="2" failed="0" skipped="0" name="c"><test name="x.a" type="x" method="a" result="Pass"/><test name="x.b" type="x" method="b" result="Pass"/></collection></assembly></assemblies>`,
		`<test name="x.b" type="x" method="b" result="Pass"/>`},
	{"TestNG", "testng-xml", `<testng-results skipped="0" failed="0" total="2" passed="2"><suite name="s"><test name="t"><class name="x.T"><test-method status="PASS" signature="a()" name="a"/><test-method status="PASS" signature="b()" name="b"/></class></test></suite></testng-results>`,
		`<test-method status="PASS" signature="b()" name="b"/>`},
	{"Robot", "robot", `<robot generator="Robot 6.1.1"><suite id="s1" name="S"><test id="s1-t1" name="a"><status status="PASS"/></test><test id="s1-t2" name="b"><status status="PASS"/></test><status status="PASS"/></suite><statistics><total><stat pass="2" fail="0" skip="0">All Tests</stat></total></statistics><errors/></robot>`,
		`<test id="s1-t2" name="b"><status status="PASS"/></test>`},
	{"CppUnit", "cppunit", `<TestRun><FailedTests></FailedTests><SuccessfulTests><Test id="1"><Name>M::a</Name></Test><Test id="2"><Name>M::b</Name></Test></SuccessfulTests><Statistics><Tests>2</Tests><FailuresTotal>0</FailuresTotal><Errors>0</Errors><Failures>0</Failures></Statistics></TestRun>`,
		`<Test id="2"><Name>M::b</Name></Test>`},
	{"AUnit", "aunit", `<TestRun elapsed="0.1"><Statistics><Tests>2</Tests><FailuresTotal>0</FailuresTotal><Failures>0</Failures><Errors>0</Errors></Statistics><SuccessfulTests><Test><Name>a</Name></Test><Test><Name>b</Name></Test></SuccessfulTests><FailedTests></FailedTests></TestRun>`,
		`<Test><Name>b</Name></Test>`},
	{"Catch2 XML", "catch2-xml", `<Catch name="c"><Group name="c"><TestCase name="a"><OverallResult success="true"/></TestCase><TestCase name="b"><OverallResult success="true"/></TestCase><OverallResults successes="2" failures="0" expectedFailures="0"/><OverallResultsCases successes="2" failures="0" expectedFailures="0"/></Group><OverallResults successes="2" failures="0" expectedFailures="0"/><OverallResultsCases successes="2" failures="0" expectedFailures="0"/></Catch>`,
		`<TestCase name="b"><OverallResult success="true"/></TestCase>`},
	{"doctest XML", "catch2-xml", `<doctest binary="d"><TestSuite><TestCase name="a"><OverallResultsAsserts successes="1" failures="0" test_case_success="true"/></TestCase><TestCase name="b"><OverallResultsAsserts successes="1" failures="0" test_case_success="true"/></TestCase></TestSuite><OverallResultsAsserts successes="2" failures="0"/><OverallResultsTestCases successes="2" failures="0" skipped="0"/></doctest>`,
		`<TestCase name="b"><OverallResultsAsserts successes="1" failures="0" test_case_success="true"/></TestCase>`},
	{"CTest XML", "ctest-xml", `<Site Name="x" Generator="ctest-3"><Testing><TestList><Test>./a</Test><Test>./b</Test></TestList><Test Status="passed"><Name>a</Name><FullName>./a</FullName></Test><Test Status="passed"><Name>b</Name><FullName>./b</FullName></Test></Testing></Site>`,
		`<Test Status="passed"><Name>b</Name><FullName>./b</FullName></Test>`},
	{"CTRF", "ctrf", `{"reportFormat":"CTRF","specVersion":"0.0.0","results":{"tool":{"name":"x"},"summary":{"tests":2,"passed":2,"failed":0,"pending":0,"skipped":0,"other":0,"start":1,"stop":2},"tests":[{"name":"a","status":"passed","duration":1},{"name":"b","status":"passed","duration":1}]}}`,
		`,{"name":"b","status":"passed","duration":1}`},
	{"Jest JSON", "jest-json", `{"numTotalTestSuites":1,"numPassedTestSuites":1,"numFailedTestSuites":0,"numTotalTests":2,"numPassedTests":2,"numFailedTests":0,"numPendingTests":0,"success":true,"testResults":[{"name":"/a.test.js","status":"passed","message":"","assertionResults":[{"title":"a","fullName":"a","status":"passed","ancestorTitles":[]},{"title":"b","fullName":"b","status":"passed","ancestorTitles":[]}]}]}`,
		`,{"title":"b","fullName":"b","status":"passed","ancestorTitles":[]}`},
	{"Mocha JSON", "mocha-json", `{"stats":{"suites":1,"tests":2,"passes":2,"pending":0,"failures":0},"tests":[{"title":"a","fullTitle":"s a","err":{}},{"title":"b","fullTitle":"s b","err":{}}],"pending":[],"failures":[],"passes":[{"title":"a","fullTitle":"s a","err":{}},{"title":"b","fullTitle":"s b","err":{}}]}`,
		`,{"title":"b","fullTitle":"s b","err":{}}`},
	{"Mocha JSON stream", "mocha-json-stream", `["start",{"total":2}]` + "\n" + `["pass",{"title":"a","fullTitle":"s a","duration":1}]` + "\n" + `["pass",{"title":"b","fullTitle":"s b","duration":1}]` + "\n" + `["end",{"suites":1,"tests":2,"passes":2,"pending":0,"failures":0}]` + "\n",
		`["pass",{"title":"b","fullTitle":"s b","duration":1}]` + "\n"},
	{"Mochawesome", "mochawesome", `{"stats":{"suites":1,"tests":2,"passes":2,"pending":0,"failures":0,"testsRegistered":2,"skipped":0,"hasSkipped":false,"hasOther":false,"other":0},"results":[{"uuid":"1","title":"","fullFile":"","file":"","tests":[],"suites":[{"uuid":"2","title":"s","tests":[{"title":"a","fullTitle":"s a","state":"passed","pass":true,"fail":false,"pending":false,"err":{},"uuid":"3"},{"title":"b","fullTitle":"s b","state":"passed","pass":true,"fail":false,"pending":false,"err":{},"uuid":"4"}],"suites":[],"passes":["3","4"],"failures":[],"pending":[],"skipped":[],"root":false}],"root":true}],"meta":{"mochawesome":{"version":"7"}}}`,
		`,{"title":"b","fullTitle":"s b","state":"passed","pass":true,"fail":false,"pending":false,"err":{},"uuid":"4"}`},
	{"RSpec JSON", "rspec-json", `{"version":"3.12.0","examples":[{"id":"./a_spec.rb[1:1]","description":"a","full_description":"s a","status":"passed","file_path":"./a_spec.rb","line_number":1},{"id":"./a_spec.rb[1:2]","description":"b","full_description":"s b","status":"passed","file_path":"./a_spec.rb","line_number":2}],"summary":{"duration":0.1,"example_count":2,"failure_count":0,"pending_count":0,"errors_outside_of_examples_count":0},"summary_line":"2 examples, 0 failures"}`,
		`,{"id":"./a_spec.rb[1:2]","description":"b","full_description":"s b","status":"passed","file_path":"./a_spec.rb","line_number":2}`},
	{"Playwright JSON", "playwright-json", `{"config":{"version":"1.40.0","rootDir":"/p"},"suites":[{"title":"a.spec.ts","file":"a.spec.ts","specs":[{"title":"a","ok":true,"tests":[{"expectedStatus":"passed","projectName":"c","results":[{"status":"passed","duration":1,"retry":0,"errors":[]}],"status":"expected"}],"file":"a.spec.ts","line":1},{"title":"b","ok":true,"tests":[{"expectedStatus":"passed","projectName":"c","results":[{"status":"passed","duration":1,"retry":0,"errors":[]}],"status":"expected"}],"file":"a.spec.ts","line":2}]}],"errors":[],"stats":{"startTime":"2024-01-01T00:00:00Z","duration":1,"expected":2,"skipped":0,"unexpected":0,"flaky":0}}`,
		`,{"title":"b","ok":true,"tests":[{"expectedStatus":"passed","projectName":"c","results":[{"status":"passed","duration":1,"retry":0,"errors":[]}],"status":"expected"}],"file":"a.spec.ts","line":2}`},
	{"pytest JSON", "pytest-json", `{"created":1,"duration":0.1,"exitcode":0,"root":"/p","environment":{},"summary":{"passed":2,"total":2,"collected":2},"collectors":[],"tests":[{"nodeid":"a.py::test_a","lineno":1,"outcome":"passed","keywords":[],"setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"passed"}},{"nodeid":"a.py::test_b","lineno":2,"outcome":"passed","keywords":[],"setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"passed"}}]}`,
		`,{"nodeid":"a.py::test_b","lineno":2,"outcome":"passed","keywords":[],"setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"passed"}}`},
	{"TestCafe JSON", "testcafe-json", `{"startTime":"2024-01-01T00:00:00Z","endTime":"2024-01-01T00:00:01Z","userAgents":["Chrome"],"passed":2,"total":2,"skipped":0,"fixtures":[{"name":"F","path":"/a.js","tests":[{"name":"a","errs":[],"durationMs":1,"skipped":false},{"name":"b","errs":[],"durationMs":1,"skipped":false}]}],"warnings":[]}`,
		`,{"name":"b","errs":[],"durationMs":1,"skipped":false}`},
	{"libtest JSON", "libtest-json", `{"type":"suite","event":"started","test_count":2}` + "\n" + `{"type":"test","event":"started","name":"a"}` + "\n" + `{"type":"test","name":"a","event":"ok"}` + "\n" + `{"type":"test","event":"started","name":"b"}` + "\n" + `{"type":"test","name":"b","event":"ok"}` + "\n" + `{"type":"suite","event":"ok","passed":2,"failed":0,"ignored":0,"measured":0,"filtered_out":0,"exec_time":0.1}` + "\n",
		`{"type":"test","event":"started","name":"b"}` + "\n" + `{"type":"test","name":"b","event":"ok"}` + "\n"},
	{"libtest JSON, the end too", "libtest-json", `{"type":"suite","event":"started","test_count":1}` + "\n" + `{"type":"test","event":"started","name":"a"}` + "\n" + `{"type":"test","name":"a","event":"ok"}` + "\n" + `{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":0,"measured":0,"filtered_out":0,"exec_time":0.1}` + "\n",
		`{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":0,"measured":0,"filtered_out":0,"exec_time":0.1}` + "\n"},
	{"go test -json", "gotest-json", `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":0.1}` + "\n",
		`{"Action":"pass","Package":"p","Elapsed":0.1}` + "\n"},
	{"go test -json, a test without end", "gotest-json", `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}` + "\n" + `{"Action":"run","Package":"p","Test":"TestB"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":0.1}` + "\n",
		`{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":0.1}` + "\n"},
	{"Dart JSON", "dart-json", `{"protocolVersion":"0.1.1","runnerVersion":"1.24","pid":1,"type":"start","time":0}` + "\n" + `{"suite":{"id":0,"platform":"vm","path":"a_test.dart"},"type":"suite","time":0}` + "\n" + `{"group":{"id":1,"suiteID":0,"parentID":null,"name":"","testCount":2},"type":"group","time":1}` + "\n" + `{"test":{"id":2,"name":"a","suiteID":0,"groupIDs":[1]},"type":"testStart","time":1}` + "\n" + `{"testID":2,"result":"success","skipped":false,"hidden":false,"type":"testDone","time":2}` + "\n" + `{"test":{"id":3,"name":"b","suiteID":0,"groupIDs":[1]},"type":"testStart","time":2}` + "\n" + `{"testID":3,"result":"success","skipped":false,"hidden":false,"type":"testDone","time":3}` + "\n" + `{"success":true,"type":"done","time":4}` + "\n",
		`{"test":{"id":3,"name":"b","suiteID":0,"groupIDs":[1]},"type":"testStart","time":2}` + "\n" + `{"testID":3,"result":"success","skipped":false,"hidden":false,"type":"testDone","time":3}` + "\n"},
	{"Ginkgo JSON", "ginkgo-json", `[{"SuitePath":"/p","SuiteDescription":"S","SuiteSucceeded":true,"PreRunStats":{"TotalSpecs":2,"SpecsThatWillRun":2},"SpecReports":[{"LeafNodeType":"It","LeafNodeText":"a","State":"passed"},{"LeafNodeType":"It","LeafNodeText":"b","State":"passed"}]}]`,
		`,{"LeafNodeType":"It","LeafNodeText":"b","State":"passed"}`},
	{"Karma JSON", "karma-json", `{"browsers":{"1":{"id":"1","name":"Chrome","lastResult":{"success":2,"failed":0,"skipped":0,"total":2,"totalTime":1,"error":false,"disconnected":false}}},"result":{"1":[{"description":"a","success":true,"suite":["s"],"skipped":false,"log":[]},{"description":"b","success":true,"suite":["s"],"skipped":false,"log":[]}]},"summary":{"success":2,"failed":0,"error":false,"disconnected":false,"exitCode":0}}`,
		`,{"description":"b","success":true,"suite":["s"],"skipped":false,"log":[]}`},

	{"TAP", "tap", "TAP version 13\n1..2\nok 1 - a\nok 2 - b\n", "ok 2 - b\n"},
	{"TAP, the plan last", "tap", "TAP version 13\nok 1 - a\nok 2 - b\n1..2\n", "ok 2 - b\n"},
	{"TAP without a version", "tap", "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n", "ok 3 - c\n"},
	{"TAP, one in the middle", "tap", "1..3\nok 1 - a\nok 2 - b\nok 3 - c\n", "ok 2 - b\n"},
	{"cargo test", "cargo", "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\n", "\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\n"},
	{"GoogleTest", "gtest", "[==========] Running 1 test from 1 test suite.\n[----------] 1 test from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[----------] 1 test from A (0 ms total)\n\n[==========] 1 test from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n", "[==========] 1 test from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n"},
	{"pytest", "pytest", "============================= test session starts ==============================\ncollected 2 items\n\na.py ..                                       [100%]\n\n============================== 2 passed in 0.12s ===============================\n", "============================== 2 passed in 0.12s ===============================\n"},
	{"cargo nextest", "cargo", "    Starting 2 tests across 1 binary\n        PASS [   0.005s] switch tests::a\n        PASS [   0.005s] switch tests::b\n------------\n     Summary [   0.010s] 2 tests run: 2 passed, 0 skipped\n", "------------\n     Summary [   0.010s] 2 tests run: 2 passed, 0 skipped\n"},
	{"unittest", "unittest", "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... ok\n\n----------------------------------------------------------------------\nRan 2 tests in 0.005s\n\nOK\n", "\nOK\n"},
	{"bats", "tap", "1..2\nok 1 a\nok 2 b\n", "ok 1 a\n"},
	{"deno", "deno", "running 2 tests from ./green_test.ts\na ... ok (5ms)\nb ... ok (5ms)\n\nok | 2 passed | 0 failed (5ms)\n\n", "\nok | 2 passed | 0 failed (5ms)\n\n"},
	{"CTest", "ctest", "Test project /b\n    Start 1: a\n1/2 Test #1: a ...........................   Passed    0.00 sec\n    Start 2: b\n2/2 Test #2: b ...........................   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.02 sec\n", "\n100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.02 sec\n"},
	{"Playwright", "playwright", "\nRunning 2 tests using 1 worker\n\n  ✓  1 [chromium] › a.spec.ts:1:42 › a (1.5s)\n  ✓  2 [chromium] › a.spec.ts:1:68 › b (1.5s)\n\n  2 passed (1.5s)\n", "\n  2 passed (1.5s)\n"},
}

// TestFewerTestsThanDeclared removes passing tests from green documents that
// say how many there are: what is left must not be green, whatever else it says.
func TestFewerTestsThanDeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range declaredDocs {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseText(t, tt.whole, model.Options{})
			if !r.Green() || len(r.Formats) != 1 || r.Formats[0] != tt.format {
				t.Fatalf("the whole: %v %+v, problems %+v", r.Formats, r.Counts, r.Problems)
			}
			i := strings.LastIndex(tt.whole, tt.gone)
			if i < 0 {
				t.Fatal("nothing is removed")
			}
			less := tt.whole[:i] + tt.whole[i+len(tt.gone):]
			r = parseText(t, less, model.Options{})
			if r.Green() {
				t.Errorf("green: %+v, notes %q", r.Counts, r.Cut)
			}
			for _, p := range r.Problems {
				if p.Message == "" {
					t.Errorf("a problem without a message: %+v", p)
				}
			}
		})
	}
}

// TestRanFewerThanPlanned reads consoles whose own totals are of fewer tests
// than they set out to run, though nothing failed. Lines that a log lost are no
// reason: the totals count.
func TestRanFewerThanPlanned(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		green    bool
	}{
		{"cargo test", "running 5 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\n", false},
		{"GoogleTest runs fewer than it set out to", "[==========] Running 5 tests from 1 test suite.\n[----------] 5 tests from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[       OK ] A.c (0 ms)\n[----------] 3 tests from A (0 ms total)\n\n[==========] 3 tests from 1 test suite ran. (6 ms total)\n[  PASSED  ] 3 tests.\n", false},
		{"GoogleTest, a test neither passed nor failed", "[==========] Running 2 tests from 1 test suite.\n[----------] 2 tests from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b\n[----------] 2 tests from A (0 ms total)\n\n[==========] 2 tests from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n", false},
		{"GoogleTest, fewer passed than ran", "[==========] Running 5 tests from 1 test suite.\n[----------] 5 tests from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[       OK ] A.c (0 ms)\n[----------] 5 tests from A (0 ms total)\n\n[==========] 5 tests from 1 test suite ran. (6 ms total)\n[  PASSED  ] 3 tests.\n", false},
		{"cargo nextest", "    Starting 5 tests across 1 binary\n        PASS [   0.005s] switch tests::a\n        PASS [   0.005s] switch tests::b\n------------\n     Summary [   0.010s] 2/5 tests run: 2 passed, 0 skipped\n", false},
		{"deno", "running 5 tests from ./green_test.ts\na ... ok (5ms)\nb ... ok (5ms)\n\nok | 2 passed | 0 failed (5ms)\n\n", false},
		{"Playwright", "\nRunning 5 tests using 1 worker\n\n  ✓  1 [chromium] › a.spec.ts:1:42 › a (1.5s)\n  ✓  2 [chromium] › a.spec.ts:1:68 › b (1.5s)\n\n  2 passed (1.5s)\n", false},
		{"Playwright, some did not run", "\nRunning 5 tests using 1 worker\n\n  ✓  1 [chromium] › a.spec.ts:1:42 › a (1.5s)\n  ✓  2 [chromium] › a.spec.ts:1:68 › b (1.5s)\n\n  3 did not run\n  2 passed (1.5s)\n", false},
		{"CTest", "Test project /b\n    Start 1: a\n1/5 Test #1: a ...........................   Passed    0.00 sec\n    Start 2: b\n2/5 Test #2: b ...........................   Passed    0.00 sec\n\n100% tests passed, 0 tests failed out of 2\n\nTotal Test time (real) =   0.02 sec\n", false},
		{"Karma", "Chrome Headless 114.0.5735.90 (Linux x86_64): Executed 2 of 5 SUCCESS (0.009 secs / 0.002 secs)\nTOTAL: 2 SUCCESS\n", false},
		{"node:test", "✔ a (1.5ms)\n✔ b (1.5ms)\nℹ tests 5\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 50\n", false},
		{"Jest", "PASS src/ok.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 5 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n", false},
		{"Vitest", "\n RUN  v3.2.4 /proj\n\n ✓ src/ok.test.ts (2 tests) 5ms\n\n Test Files  1 passed (1)\n      Tests  2 passed (5)\n   Start at  12:00:00\n   Duration  300ms\n\n", false},
		{"Robot", "==============================================================================\nCalc\n==============================================================================\nAdds                                                                  | PASS |\n------------------------------------------------------------------------------\nCalc                                                                  | PASS |\n5 tests, 2 passed, 0 failed\n==============================================================================\nOutput:  /work/output.xml\n", false},
		{"ScalaTest, a suite aborted", "[info] GreenSpec:\n[info] - fine\n[info] Run completed in 212 milliseconds.\n[info] Total number of tests run: 1\n[info] Suites: completed 1, aborted 1\n[info] Tests: succeeded 1, failed 0, canceled 0, ignored 0, pending 0\n", false},
		{"JUnit's launcher", "Test run finished after 2711 ms\n[         3 containers found      ]\n[         0 containers skipped    ]\n[         3 containers started    ]\n[         0 containers aborted    ]\n[         3 containers successful ]\n[         0 containers failed     ]\n[         5 tests found           ]\n[         0 tests skipped         ]\n[         2 tests started         ]\n[         0 tests aborted         ]\n[         2 tests successful      ]\n[         0 tests failed          ]\n\n", false},
		{"behave was stopped", "Feature: G # green/g.feature:1\n\n  Scenario: ok       # green/g.feature:2\n    Given a number 1 # green/steps/s.py:2\n\nABORTED: By user.\n1 feature passed, 0 failed, 0 skipped, 1 untested\n1 scenario passed, 0 failed, 0 skipped, 2 untested\n2 steps passed, 0 failed, 0 skipped, 0 undefined, 3 untested\nTook 0m0.001s\n", false},
		{"cargo test, lines were lost", "running 5 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok\n\ntest result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s\n\n", true},
		{"GoogleTest, lines were lost", "[==========] Running 5 tests from 1 test suite.\n[----------] 5 tests from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[       OK ] A.c (0 ms)\n[----------] 5 tests from A (0 ms total)\n\n[==========] 5 tests from 1 test suite ran. (6 ms total)\n[  PASSED  ] 5 tests.\n", true},
		{"Karma skips", "Chrome Headless 114.0.5735.90 (Linux x86_64): Executed 2 of 5 (skipped 3) SUCCESS (0.009 secs / 0.002 secs)\nTOTAL: 2 SUCCESS\n", true},
		{"Jest skips", "PASS src/ok.test.js\n\nTest Suites: 1 skipped, 1 passed, 1 of 2 total\nTests:       3 skipped, 2 passed, 5 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n", true},
		{"Vitest, a failure that was expected", "\n RUN  v3.2.4 /proj\n\n ✓ src/ok.test.ts (2 tests) 5ms\n\n Test Files  1 passed (1)\n      Tests  1 passed | 1 expected fail (2)\n   Start at  12:00:00\n   Duration  300ms\n\n", true},
		{"GoogleTest skips", "[==========] Running 2 tests from 1 test suite.\n[----------] 2 tests from A\n[ RUN      ] A.a\n[       OK ] A.a (0 ms)\n[ RUN      ] A.b\n[  SKIPPED ] A.b (0 ms)\n[----------] 2 tests from A (0 ms total)\n\n[==========] 2 tests from 1 test suite ran. (6 ms total)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.b\n", true},
		{"JUnit's launcher, a class was aborted", "Test run finished after 2711 ms\n[         3 containers found      ]\n[         0 containers skipped    ]\n[         3 containers started    ]\n[         1 containers aborted    ]\n[         2 containers successful ]\n[         0 containers failed     ]\n[         5 tests found           ]\n[         0 tests skipped         ]\n[         2 tests started         ]\n[         0 tests aborted         ]\n[         2 tests successful      ]\n[         0 tests failed          ]\n\n", true},
		{"cargo test ignores and measures", "running 3 tests\ntest a ... ok\ntest b ... ignored\ntest c ... bench:         100 ns/iter (+/- 1)\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 1 measured; 4 filtered out; finished in 0.05s\n\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseText(t, tt.in, model.Options{})
			if r.Green() != tt.green || r.Counts.Passed == 0 {
				t.Errorf("green %v: %+v, problems %+v", r.Green(), r.Counts, r.Problems)
			}
		})
	}
}

func parseText(t testing.TB, s string, opt model.Options) *model.Report {
	t.Helper()
	r, err := reader.Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
