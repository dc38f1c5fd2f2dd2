package testreport_test

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// TestUnknownStatus: a test whose status is a word that nobody knows has not passed, and beside
// tests that passed it keeps a report from being green. The documents declare no totals that would
// tell; STATUS stands for the word.
func TestUnknownStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, format, good, doc string }{
		{"JUnit, status", "junit", "passed", `<testsuite name="s"><testcase name="a"/><testcase name="b" status="STATUS"/></testsuite>`},
		{"JUnit, result", "junit", "success", `<testsuite name="s"><testcase name="a"/><testcase name="b" result="STATUS"/></testsuite>`},
		{"TRX", "trx", "Passed", `<TestRun id="1"><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/><UnitTestResult testId="2" testName="b" outcome="STATUS"/></Results></TestRun>`},
		{"TRX, completed", "trx", "Passed", `<TestRun id="1"><Results><UnitTestResult testId="1" testName="a" outcome="Passed"/><UnitTestResult testId="2" testName="b" outcome="STATUS"/></Results><ResultSummary outcome="Completed"/></TestRun>`},
		{"NUnit 3", "nunit3", "Passed", `<test-run id="2"><test-suite type="Assembly" name="a.dll"><test-case name="a" fullname="x.a" result="Passed"/><test-case name="b" fullname="x.b" result="STATUS"/></test-suite></test-run>`},
		{"NUnit 2", "nunit2", "Success", `<test-results name="x"><test-suite name="s"><results><test-case name="x.a" executed="True" result="Success" success="True"/><test-case name="x.b" executed="True" result="STATUS"/></results></test-suite></test-results>`},
		{"NUnit 2, against success", "nunit2", "Success", `<test-results name="x"><test-suite name="s"><results><test-case name="x.a" executed="True" result="Success" success="True"/><test-case name="x.b" executed="True" result="STATUS" success="True"/></results></test-suite></test-results>`},
		{"xUnit.net v2", "xunit", "Pass", `<assemblies><assembly name="a.dll" test-framework="xUnit.net 2.4"><collection name="c"><test name="x.a" type="x" method="a" result="Pass"/><test name="x.b" type="x" method="b" result="STATUS"/></collection></assembly></assemblies>`},
		{"xUnit.net v1", "xunit", "Pass", `<assembly name="a.dll" run-date="2026-01-15"><class name="x"><test name="x.a" type="x" method="a" result="Pass"/><test name="x.b" type="x" method="b" result="STATUS"/></class></assembly>`},
		{"TestNG", "testng-xml", "PASS", `<testng-results><suite name="s"><test name="t"><class name="x.T"><test-method status="PASS" signature="a()" name="a"/><test-method status="STATUS" signature="b()" name="b"/></class></test></suite></testng-results>`},
		{"Robot", "robot", "PASS", `<robot generator="Robot 6.1.1"><suite id="s1" name="S"><test id="s1-t1" name="a"><status status="PASS"/></test><test id="s1-t2" name="b"><status status="STATUS"/></test><status status="PASS"/></suite><errors/></robot>`},
		{"Catch2 XML", "catch2-xml", "true", `<Catch name="c"><Group name="c"><TestCase name="a"><OverallResult success="true"/></TestCase><TestCase name="b"><OverallResult success="STATUS"/></TestCase></Group></Catch>`},
		{"doctest XML", "catch2-xml", "true", `<doctest binary="d"><TestSuite><TestCase name="a"><OverallResultsAsserts successes="1" failures="0" test_case_success="true"/></TestCase><TestCase name="b"><OverallResultsAsserts successes="1" failures="0" test_case_success="STATUS"/></TestCase></TestSuite></doctest>`},
		{"CTest XML", "ctest-xml", "passed", `<Site Name="x" Generator="ctest-3"><Testing><Test Status="passed"><Name>a</Name><FullName>./a</FullName></Test><Test Status="STATUS"><Name>b</Name><FullName>./b</FullName></Test></Testing></Site>`},
		{"Check", "check", "success", `<?xml version="1.0"?><testsuites xmlns="http://check.sourceforge.net/ns"><suite><title>S</title><test result="success"><path>.</path><fn>a.c:1</fn><id>a</id><description>C</description><message>Passed</message></test><test result="STATUS"><path>.</path><fn>a.c:2</fn><id>b</id><description>C</description><message>Passed</message></test></suite></testsuites>`},
		{"QTest", "qtest", "pass", `<TestCase name="T"><Environment><QtVersion>5</QtVersion></Environment><TestFunction name="a"><Incident type="pass" file="" line="0"/></TestFunction><TestFunction name="b"><Incident type="STATUS" file="" line="0"/></TestFunction></TestCase>`},
		{"Boost", "boost-xml", "passed", `<TestResult><TestSuite name="S" result="passed"><TestCase name="a" result="passed" assertions_passed="1" assertions_failed="0"/><TestCase name="b" result="STATUS" assertions_passed="1" assertions_failed="0"/></TestSuite></TestResult>`},
		{"another XML", "xml-report", "passed", `<report><tests><test name="a" status="passed"/><test name="b" status="STATUS"/></tests></report>`},
		{"CTRF", "ctrf", "passed", `{"reportFormat":"CTRF","specVersion":"0.0.0","results":{"tool":{"name":"x"},"tests":[{"name":"a","status":"passed","duration":1},{"name":"b","status":"STATUS","duration":1}]}}`},
		{"Jest JSON", "jest-json", "passed", `{"numTotalTests":2,"numFailedTests":0,"success":true,"testResults":[{"name":"/a.test.js","status":"passed","message":"","assertionResults":[{"title":"a","fullName":"a","status":"passed","ancestorTitles":[]},{"title":"b","fullName":"b","status":"STATUS","ancestorTitles":[]}]}]}`},
		{"Mochawesome", "mochawesome", "passed", `{"stats":{"suites":1,"tests":2,"testsRegistered":2,"failures":0},"results":[{"uuid":"1","title":"","file":"","tests":[],"suites":[{"uuid":"2","title":"s","tests":[{"title":"a","fullTitle":"s a","state":"passed","pass":true,"fail":false,"pending":false,"err":{},"uuid":"3"},{"title":"b","fullTitle":"s b","state":"STATUS","err":{},"uuid":"4"}],"suites":[],"root":false}],"root":true}],"meta":{"mochawesome":{"version":"7"}}}`},
		{"RSpec JSON", "rspec-json", "passed", `{"version":"3.12.0","examples":[{"id":"./a_spec.rb[1:1]","description":"a","full_description":"s a","status":"passed","file_path":"./a_spec.rb","line_number":1},{"id":"./a_spec.rb[1:2]","description":"b","full_description":"s b","status":"STATUS","file_path":"./a_spec.rb","line_number":2}],"summary":{"duration":0.1},"summary_line":""}`},
		{"Playwright JSON", "playwright-json", "expected", `{"config":{"version":"1.40.0","rootDir":"/p"},"suites":[{"title":"a.spec.ts","file":"a.spec.ts","specs":[{"title":"a","ok":true,"tests":[{"expectedStatus":"passed","projectName":"c","results":[{"status":"passed","duration":1,"retry":0,"errors":[]}],"status":"expected"}],"file":"a.spec.ts","line":1},{"title":"b","ok":true,"tests":[{"expectedStatus":"passed","projectName":"c","results":[{"status":"passed","duration":1,"retry":0,"errors":[]}],"status":"STATUS"}],"file":"a.spec.ts","line":2}]}],"errors":[]}`},
		{"pytest JSON", "pytest-json", "passed", `{"created":1,"duration":0.1,"exitcode":0,"root":"/p","environment":{},"collectors":[],"tests":[{"nodeid":"a.py::test_a","lineno":1,"outcome":"passed","keywords":[],"setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"passed"}},{"nodeid":"a.py::test_b","lineno":2,"outcome":"STATUS","keywords":[],"setup":{"outcome":"passed"},"call":{"outcome":"passed"},"teardown":{"outcome":"passed"}}]}`},
		{"libtest JSON", "libtest-json", "ok", `{"type":"suite","event":"started","test_count":2}` + "\n" + `{"type":"test","event":"started","name":"a"}` + "\n" + `{"type":"test","name":"a","event":"ok"}` + "\n" + `{"type":"test","event":"started","name":"b"}` + "\n" + `{"type":"test","name":"b","event":"STATUS"}` + "\n" + `{"type":"suite","event":"ok","passed":1,"failed":0,"ignored":0,"measured":0,"filtered_out":0,"exec_time":0.1}` + "\n"},
		{"go test -json", "gotest-json", "pass", `{"Action":"run","Package":"p","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}` + "\n" + `{"Action":"run","Package":"p","Test":"TestB"}` + "\n" + `{"Action":"STATUS","Package":"p","Test":"TestB","Elapsed":0}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":0.1}` + "\n"},
		{"Dart JSON", "dart-json", "success", `{"protocolVersion":"0.1.1","runnerVersion":"1.24","pid":1,"type":"start","time":0}` + "\n" + `{"suite":{"id":0,"platform":"vm","path":"a_test.dart"},"type":"suite","time":0}` + "\n" + `{"test":{"id":2,"name":"a","suiteID":0,"groupIDs":[]},"type":"testStart","time":1}` + "\n" + `{"testID":2,"result":"success","skipped":false,"hidden":false,"type":"testDone","time":2}` + "\n" + `{"test":{"id":3,"name":"b","suiteID":0,"groupIDs":[]},"type":"testStart","time":2}` + "\n" + `{"testID":3,"result":"STATUS","skipped":false,"hidden":false,"type":"testDone","time":3}` + "\n" + `{"success":true,"type":"done","time":4}` + "\n"},
		{"Ginkgo JSON", "ginkgo-json", "passed", `[{"SuitePath":"/p","SuiteDescription":"S","SuiteSucceeded":true,"SpecReports":[{"LeafNodeType":"It","LeafNodeText":"a","State":"passed"},{"LeafNodeType":"It","LeafNodeText":"b","State":"STATUS"}]}]`},
		{"Cucumber JSON", "cucumber-json", "passed", `[{"uri":"a.feature","id":"f","keyword":"Feature","name":"F","elements":[{"id":"f;a","keyword":"Scenario","type":"scenario","name":"a","line":3,"steps":[{"keyword":"Given ","name":"x","line":4,"result":{"status":"passed"}}]},{"id":"f;b","keyword":"Scenario","type":"scenario","name":"b","line":6,"steps":[{"keyword":"Given ","name":"x","line":7,"result":{"status":"STATUS"}}]}]}]`},
		{"Bazel", "bazel-bep", "PASSED", `{"id":{"started":{}},"started":{"uuid":"1"}}` + "\n" + `{"id":{"testSummary":{"label":"//:a"}},"testSummary":{"overallStatus":"PASSED","totalRunCount":1}}` + "\n" + `{"id":{"testSummary":{"label":"//:b"}},"testSummary":{"overallStatus":"STATUS","totalRunCount":1}}` + "\n" + `{"id":{"buildFinished":{}},"finished":{"overallSuccess":true,"exitCode":{"name":"SUCCESS"}},"lastMessage":true}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			good := parseText(t, strings.ReplaceAll(tt.doc, "STATUS", tt.good), model.Options{})
			if !good.Green() || good.Counts.Passed != 2 || len(good.Formats) != 1 || good.Formats[0] != tt.format {
				t.Errorf("%s: %v green %v: %+v, problems %+v", tt.good, good.Formats, good.Green(), good.Counts, good.Problems)
			}
			for _, word := range []string{"exploded", "Exploded", "EXPLODED"} {
				r := parseText(t, strings.ReplaceAll(tt.doc, "STATUS", word), model.Options{})
				if r.Green() || r.Counts.Passed > 1 {
					t.Errorf("%s: green %v: %+v, problems %+v", word, r.Green(), r.Counts, r.Problems)
				}
			}
		})
	}
}
