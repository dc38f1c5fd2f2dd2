package testreport_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

const (
	trxHead = `<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">`
	qtHead  = `<TestCase name="T"><Environment><QtVersion>6.5.0</QtVersion></Environment>`
	ngHead  = `<testng-results total="3"><suite name="s"><test name="t"><class name="a.B">`
	ngTail  = `</class></test></suite></testng-results>`
)

func TestXMLReports(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, format, in string
		want             model.Counts
		problems         []model.Kind
		check            func(*testing.T, *model.Report)
	}{
		{name: "trx: outcomes", format: "trx", in: trxHead + `<Results>` +
			`<UnitTestResult testName="a" outcome="Passed"/><UnitTestResult testName="b" outcome="NotRunnable"/><UnitTestResult testName="c" outcome="Aborted"/>` +
			`<UnitTestResult testName="d" outcome="PassedButRunAborted"/><UnitTestResult testName="e"/><UnitTestResult testName="f" outcome="InProgress"/>` +
			`<ManualTestResult testName="g" outcome="Pending"/></Results></TestRun>`,
			want: model.Counts{Tests: 7, Passed: 2, Failed: 3, Skipped: 2}},
		{name: "trx: rows beside their test", format: "trx", in: trxHead + `<Results>` +
			`<UnitTestResult testId="p" testName="Rows" outcome="Failed" resultType="DataDrivenTest"/>` +
			`<UnitTestResult testId="p" testName="Rows (0)" outcome="Passed" resultType="DataDrivenDataRow"/><UnitTestResult testId="p" testName="Rows (1)" outcome="Failed" resultType="DataDrivenDataRow"/>` +
			`</Results><ResultSummary outcome="Failed"><Counters failed="2"/></ResultSummary></TestRun>`,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "trx: a test of rows that has none", format: "trx", in: trxHead + `<Results><UnitTestResult testId="p" testName="Rows" outcome="Failed" resultType="DataDrivenTest"/></Results></TestRun>`,
			want: model.Counts{Tests: 1, Failed: 1}},
		{name: "trx: failed, but nothing says why", format: "trx", in: trxHead + `<Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary outcome="Failed"/></TestRun>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindExit}},
		{name: "trx: counts more failures", format: "trx", in: trxHead + `<ResultSummary outcome="Completed"><Counters failed="1" error="1"/></ResultSummary><Results><UnitTestResult testName="a" outcome="Failed"/></Results></TestRun>`,
			want: model.Counts{Tests: 1, Failed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "trx: exit code without a failing test", format: "trx", in: trxHead + `<Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary outcome="Failed"><RunInfos><RunInfo outcome="Error"><Text>Exit code indicates failure: '7'.</Text></RunInfo></RunInfos></ResultSummary></TestRun>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindExit}},
		{name: "trx: no results", format: "trx", in: trxHead + `<ResultSummary outcome="Completed"/></TestRun>`},
		{name: "nunit3: counts more failures", format: "nunit3", in: `<test-run result="Failed" failed="2"><test-suite><test-case name="a" fullname="N.C.a" result="Failed"/></test-suite></test-run>`,
			want: model.Counts{Tests: 1, Failed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "nunit3: failed, but nothing says why", format: "nunit3", in: `<test-run result="Failed"><test-suite><test-case name="a" fullname="N.C.a" result="Passed"/></test-suite></test-run>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindExit}},
		{name: "nunit2: before 2.5", format: "nunit2", in: `<test-results><test-suite name="S" success="False"><results><test-case name="N.C.a" executed="True" success="True"/><test-case name="N.C.b" executed="True" success="False"><failure><message>m</message></failure></test-case><test-case name="N.C.c" executed="False"/></results></test-suite></test-results>`,
			want: model.Counts{Tests: 3, Passed: 1, Failed: 1, Skipped: 1}, check: func(t *testing.T, r *model.Report) {
				if x := r.Failing[0]; x.Suite != "N.C" || x.Name != "b" {
					t.Errorf("%+v", x)
				}
			}},
		{name: "nunit2: a name with spaces", format: "nunit2", in: `<test-results><test-suite type="Namespace" name="N"><results><test-suite type="TestFixture" name="C"><results><test-case name="N.C.works with v1.2" executed="True" success="False"/></results></test-suite></results></test-suite></test-results>`,
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if x := r.Failing[0]; x.Suite != "N.C" || x.Name != "works with v1.2" {
					t.Errorf("%+v", x)
				}
			}},
		{name: "xunit: declares tests and holds none", format: "xunit", in: `<assemblies timestamp="x"><assembly name="a" total="3" failed="0"/></assemblies>`, problems: []model.Kind{model.KindTruncated}},
		{name: "xunit: errors that are not given", format: "xunit", in: `<assemblies timestamp="x"><assembly name="a" total="1" failed="0" errors="1"><collection><test name="x" type="C" result="Pass"/></collection></assembly></assemblies>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindSetup}},
		{name: "xunit: a class's fixture in v1", format: "xunit", in: `<assembly name="a" run-date="x" total="0"><class name="C"><failure exception-type="E"><message>no database</message></failure></class></assembly>`, problems: []model.Kind{model.KindSetup}},
		{name: "testng: retried", format: "testng-xml", in: ngHead + `<test-method name="m" status="SKIP" retried="true"><exception class="java.lang.AssertionError"><message>x</message></exception></test-method>` +
			`<test-method name="m" status="PASS"/><test-method name="n" status="SKIP" retried="true"><exception class="java.lang.AssertionError"/></test-method>` + ngTail,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1, Flaky: 1}, check: func(t *testing.T, r *model.Report) {
				if x := r.Flaky[0]; x.Name != "m" || x.Retries != 1 || x.Message != "x" || x.Output != "" {
					t.Errorf("%+v", x)
				}
			}},
		{name: "testng: methods outside a class", format: "testng-xml", in: `<testng-results failed="0"><test-method name="m" status="SKIP"><exception class="E"/></test-method></testng-results>`, want: model.Counts{Tests: 1, Skipped: 1}},
		{name: "testng: counts more failures", format: "testng-xml", in: `<testng-results failed="1"><suite><test><class name="C"><test-method name="m" status="PASS"/></class></test></suite></testng-results>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "robot: rebot has put the tear-down into the tests", format: "robot", in: `<robot generator="Rebot 7.0"><suite name="S"><test name="a"><status status="PASS"/></test><test name="b"><status status="FAIL">Parent suite teardown failed: x</status></test>` +
			`<kw name="k" type="TEARDOWN"><status status="FAIL">x</status></kw><status status="FAIL"/></suite></robot>`,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1}, problems: []model.Kind{model.KindSetup}},
		{name: "robot: a suite that fails without a test", format: "robot", in: `<robot generator="Robot 7"><suite name="S"><test name="a"><status status="PASS"/></test><status status="FAIL">why</status></suite></robot>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "robot: only statistics", format: "robot", in: `<robot generator="Robot 7"><statistics><total><stat pass="1" fail="1" skip="0">All Tests</stat></total></statistics></robot>`, problems: []model.Kind{model.KindPackage}},
		{name: "cppunit: counts more failures", format: "cppunit", in: `<TestRun><FailedTests/><SuccessfulTests><Test id="1"><Name>A::b</Name></Test></SuccessfulTests><Statistics><Tests>2</Tests><FailuresTotal>1</FailuresTotal></Statistics></TestRun>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "cppunit: declares tests and holds none", format: "cppunit", in: `<TestRun><FailedTests/><SuccessfulTests/><Statistics><Tests>2</Tests></Statistics></TestRun>`, problems: []model.Kind{model.KindTruncated}},
		{name: "check: skipped and unknown", format: "check", in: `<testsuites xmlns="http://check.sourceforge.net/ns"><suite><title>s</title><test result="skipped"><id>a</id></test><test result="odd"><id>b</id></test></suite></testsuites>`,
			want: model.Counts{Tests: 2, Skipped: 1, Other: 1}},
		{name: "cunit: groups of version 1", format: "cunit", in: `<CUNIT_TEST_RUN_REPORT><CUNIT_RESULT_LISTING><CUNIT_RUN_GROUP><CUNIT_RUN_GROUP_SUCCESS><GROUP_NAME>g</GROUP_NAME><CUNIT_RUN_TEST_RECORD><CUNIT_RUN_TEST_SUCCESS><TEST_NAME>a</TEST_NAME></CUNIT_RUN_TEST_SUCCESS></CUNIT_RUN_TEST_RECORD></CUNIT_RUN_GROUP_SUCCESS></CUNIT_RUN_GROUP></CUNIT_RESULT_LISTING></CUNIT_TEST_RUN_REPORT>`,
			want: model.Counts{Tests: 1, Passed: 1}},
		{name: "cunit: a summary with failures that are not listed", format: "cunit", in: `<CUNIT_TEST_RUN_REPORT><CUNIT_RUN_SUMMARY><CUNIT_RUN_SUMMARY_RECORD><TYPE> Suites </TYPE><FAILED> 1 </FAILED></CUNIT_RUN_SUMMARY_RECORD></CUNIT_RUN_SUMMARY></CUNIT_TEST_RUN_REPORT>`, problems: []model.Kind{model.KindPackage}},
		{name: "qtest: black lists", format: "qtest", in: qtHead + `<TestFunction name="a"><Incident type="bfail"><Description><![CDATA[x]]></Description></Incident></TestFunction><TestFunction name="b"><Incident type="skip"><Description>no</Description></Incident></TestFunction></TestCase>`,
			want: model.Counts{Tests: 2, Passed: 1, Skipped: 1}},
		{name: "qtest: a function that says nothing", format: "qtest", in: qtHead + `<TestFunction name="a"><Message type="qwarn"><Description>x</Description></Message></TestFunction></TestCase>`, want: model.Counts{Tests: 1, Other: 1}},
		{name: "qtest: several documents in one file", format: "qtest", in: qtHead + `<TestFunction name="a"><Incident type="pass"/></TestFunction></TestCase>` + "\n<?xml version=\"1.0\"?>\n" + qtHead + `<TestFunction name="a"><Incident type="fail"/></TestFunction></TestCase>`,
			want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "valgrind: it never ran", format: "valgrind", in: `<valgrindoutput><tool>memcheck</tool></valgrindoutput>`},
		{name: "ctest: a report counts what was not run as failed", format: "ctest-xml", in: `<Site><Testing><TestList><Test>./a</Test></TestList><Test Status="notrun"><Name>a</Name><Results><NamedMeasurement type="text/string" name="Completion Status"><Value>Missing Configuration</Value></NamedMeasurement><Measurement><Value encoding="base64" compression="gzip">eJw=</Value></Measurement></Results></Test></Testing></Site>`,
			want: model.Counts{Tests: 1, Failed: 1}},
		{name: "boost: the report shows more failures than the log", format: "boost-xml", in: `<TestLog><TestSuite name="S"><TestCase name="a"><TestingTime>5</TestingTime></TestCase></TestSuite></TestLog><TestResult><TestSuite name="S" result="failed" assertions_failed="1"><TestCase name="a" result="failed"/></TestSuite></TestResult>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "catch2: the totals show more failures", format: "catch2-xml", in: `<Catch2TestRun name="t"><TestCase name="a"><OverallResult success="true"/></TestCase><OverallResultsCases successes="1" failures="1"/></Catch2TestRun>`,
			want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage}},
		{name: "checkstyle: a file that cannot be read", format: "checkstyle", in: `<checkstyle><file name="a.java"><exception><![CDATA[no viable alternative
	at x]]></exception></file></checkstyle>`, problems: []model.Kind{model.KindBuild}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := parseText(t, tt.in, model.Options{})
			if !slices.Equal(r.Formats, []string{tt.format}) {
				t.Errorf("formats %v, want %s", r.Formats, tt.format)
			}
			var kinds []model.Kind
			for _, p := range r.Problems {
				kinds = append(kinds, p.Kind)
			}
			if r.Counts != tt.want {
				t.Errorf("counts %+v, want %+v", r.Counts, tt.want)
			}
			if !slices.Equal(kinds, tt.problems) {
				t.Errorf("problems %+v, want %v", r.Problems, tt.problems)
			}
			if r.Green() && (tt.want.Failed > 0 || len(tt.problems) > 0) {
				t.Error("green")
			}
			if tt.check != nil {
				tt.check(t, r)
			}
		})
	}
}

func TestXMLDetect(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`<robot name="r2d2"><link name="arm"/></robot>`:                                  "",
		`<assemblies><assemblyIdentity name="x"/></assemblies>`:                          "",
		`<TestRun><Something/></TestRun>`:                                                "",
		`<TestCase name="x"><Step/></TestCase>`:                                          "",
		`<html><body/></html>`:                                                           "",
		`<testsuites xmlns="http://check.sourceforge.net/ns"/>`:                          "check",
		`<testsuites><testsuite name="s"/></testsuites>`:                                 "junit",
		`<!-- a --><?x y?><!DOCTYPE a [<!ENTITY b "c">]><checkstyle version="1"/>`:       "checkstyle",
		`<TestRun elapsed="1"><Statistics><Tests>1</Tests></Statistics></TestRun>`:       "aunit",
		`<TestRun><FailedTests></FailedTests><Statistics/></TestRun>`:                    "cppunit",
		`<x:TestRun xmlns:x="http://microsoft.com/schemas/VisualStudio/TeamTest/2006"/>`: "trx",
		`<test-run id="2"/>`:       "nunit3",
		`<test-results name="x"/>`: "nunit2",
	} {
		f := format.Surest([]byte(in), func(f *format.Format) bool { return f.Detect != nil })
		got := ""
		if f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// TestTRXManyTests has more results than are held back for their classes:
// failing ones still get theirs.
func TestTRXManyTests(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(trxHead + "<Results>")
	for i := range failtext.HoldTests + 100 {
		outcome := "Passed"
		if i == 5 {
			outcome = "Failed"
		}
		b.WriteString(`<UnitTestResult testId="` + string(rune('a'+i%7)) + `" testName="m" outcome="` + outcome + `"/>`)
	}
	b.WriteString(`</Results><TestDefinitions>`)
	for i := range 7 {
		b.WriteString(`<UnitTest id="` + string(rune('a'+i)) + `"><TestMethod className="N.C` + string(rune('a'+i)) + `, Dll"/></UnitTest>`)
	}
	b.WriteString(`</TestDefinitions></TestRun>`)
	r := parseText(t, b.String(), model.Options{})
	if r.Counts.Tests != failtext.HoldTests+100 || r.Counts.Failed != 1 || r.Failing[0].Suite != "N.Cf" {
		t.Errorf("%+v %+v", r.Counts, r.Failing)
	}
}
