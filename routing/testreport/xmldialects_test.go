package testreport_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// xmlDialects are minimal reports of tools without a reader of their own, each with a failing test.
// UnitTest++ and CTest are as the tools of Debian 12 write them; the others follow the published
// schema or writer of the tool.
var xmlDialects = []struct {
	name, format, in string
	want             model.Counts
	failing          string
}{
	{"UnitTest++ 2.0.0", "xml-report", `<?xml version="1.0"?><unittest-results tests="4" failedtests="2" failures="3" time="0.000111"><test suite="Cart" name="AddsItems" time="1.6e-05"/><test suite="Cart" name="Totals" time="3.5e-05"><failure message="ut.cpp(7) : Expected 10 but was 7"/><failure message="ut.cpp(7) : 1 &gt; 2"/></test><test suite="Cart" name="Throws" time="5.1e-05"><failure message="ut.cpp(8) : Unhandled exception: no &quot;stock&quot; &lt;left&gt;"/></test><test suite="DefaultSuite" name="Alone" time="3e-06"/></unittest-results>`,
		model.Counts{Tests: 4, Passed: 2, Failed: 2}, "Cart > Totals"},
	{"gtester of GLib", "xml-report", `<gtester><testbinary path="./t"><binary file="./t"/><random-seed>R02S1</random-seed><testcase path="/cart/adds"><duration>0.01</duration><status exit-status="0" n-forks="0" result="success"/></testcase><testcase path="/cart/totals"><duration>0.02</duration><error>ERROR:t.c:7:totals: assertion failed (10 == 7)</error><status exit-status="-6" n-forks="0" result="failed"/></testcase><testcase path="/cart/later" skipped="1"/><duration>0.03</duration></testbinary></gtester>`,
		model.Counts{Tests: 3, Passed: 1, Failed: 1, Skipped: 1}, "./t > /cart/totals"},
	{"FPCUnit", "xml-report", `<TestResults><TestListing><TestSuite Name="TCart" ElapsedTime="00:00:00.001" NumberOfErrors="0" NumberOfFailures="1" NumberOfRunTests="2" NumberOfIgnoredTests="0"><Test Name="Adds" Result="OK" ElapsedTime="00:00:00.000"/><Test Name="Totals" Result="Failed" ElapsedTime="00:00:00.000"><Message>expected: &lt;10&gt; but was: &lt;7&gt;</Message><ExceptionClass>EAssertionFailedError</ExceptionClass></Test></TestSuite></TestListing><NumberOfRunTests>2</NumberOfRunTests><NumberOfFailures>1</NumberOfFailures></TestResults>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "TCart > Totals"},
	{"MbUnit 2", "xml-report", `<report-result><counter duration="1" run-count="2" success-count="1" failure-count="1" ignore-count="0" skip-count="0" assert-count="3"/><assemblies><assembly name="Shop"><namespaces><namespace name="Shop"><fixtures><fixture name="CartTest"><counter run-count="2" failure-count="1"/><runs><run name="CartTest.Adds" result="success" assert-count="1"/><run name="CartTest.Totals" result="failure" assert-count="2"><exception type="NUnit.AssertionException"><message>Expected 10 but was 7</message></exception></run></runs></fixture></fixtures></namespace></namespaces></assembly></assemblies></report-result>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "CartTest.Totals"},
	{"Android CTS", "xml-report", `<Result start="1" suite_name="CTS"><Build build_id="X"/><Summary pass="1" failed="1" modules_done="1" modules_total="1"/><Module name="CtsNet" abi="arm64" done="true" pass="1"><TestCase name="android.net.CartTest"><Test result="pass" name="adds"/><Test result="fail" name="totals"><Failure message="expected:&lt;10&gt; but was:&lt;7&gt;"><StackTrace>java.lang.AssertionError</StackTrace></Failure></Test><Test result="ASSUMPTION_FAILURE" name="later"/></TestCase></Module></Result>`,
		model.Counts{Tests: 3, Passed: 1, Failed: 1, Skipped: 1}, "android.net.CartTest > totals"},
	{"NUnit 3, the suite of an assembly alone", "nunit3", `<test-suite type="Assembly" name="a.dll" fullname="a.dll" result="Failed" passed="1" failed="1"><test-case name="Adds" fullname="N.C.Adds" result="Passed"/><test-case name="Totals" fullname="N.C.Totals" result="Failed"><failure><message>m</message></failure></test-case></test-suite>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "N.C > Totals"},
	{"NUnit 2 without success", "nunit2", `<test-results name="a.dll" total="2"><test-suite name="S"><results><test-case name="N.C.Adds" executed="True" success="True"/><test-case name="N.C.Totals" executed="True"><failure><message>m</message></failure></test-case></results></test-suite></test-results>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "N.C > Totals"},
	{"Boost.Test, suites inside a case", "boost-xml", `<TestLog><TestSuite name="demo"><TestCase name="outer"><TestSuite name="inner"><TestCase name="adds"><TestingTime>1</TestingTime></TestCase><TestCase name="totals"><Error file="t.cpp" line="5"><![CDATA[check 10==7 has failed [10 != 7]]]></Error></TestCase></TestSuite></TestCase></TestSuite></TestLog>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "totals"},
	{"CTest 3.25 --output-junit", "junit", `<testsuite name="(empty)" tests="4" failures="0" disabled="0" skipped="2"><testcase name="ok" classname="ok" time="0.001" status="run"><system-out></system-out></testcase><testcase name="skipre" classname="skipre" time="0.001" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase><testcase name="missing" classname="missing" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase></testsuite>`,
		model.Counts{Tests: 3, Passed: 1, Failed: 1, Skipped: 1}, "missing"},
	{"a dialect without a name", "xml-report", `<outcomes><group name="cart"><spec title="adds" outcome="ok"/><spec title="totals" outcome="ko"><message>10 is not 7</message></spec></group></outcomes>`,
		model.Counts{Tests: 2, Passed: 1, Failed: 1}, "cart > totals"},
}

func TestXMLDialectsWithoutAReaderOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, tt := range xmlDialects {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := reader.Parse(strings.NewReader(tt.in), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Counts != tt.want || r.Green() || len(r.Formats) != 1 || r.Formats[0] != tt.format {
				t.Fatalf("%v %+v, green %v, problems %v; want %s %+v", r.Formats, r.Counts, r.Green(), r.Problems, tt.format, tt.want)
			}
			if name := r.Failing[0].FullName(); !strings.HasSuffix(name, tt.failing) || r.Failing[0].Message == "" {
				t.Errorf("%q, message %q; want %q", name, r.Failing[0].Message, tt.failing)
			}
		})
	}
}

// TestXMLReportsThatAreNotUnderstoodAreNotGreen has documents that look like results and leave open
// whether the tests passed: they are refused, or have a problem.
func TestXMLReportsThatAreNotUnderstoodAreNotGreen(t *testing.T) {
	t.Parallel()
	for in, refused := range map[string]bool{
		`<results><test name="a"/><test name="b"/></results>`:                                                          true,
		`<plan tests="2"><test name="a"/><test name="b"/></plan>`:                                                      true,
		`<outcomes><spec title="a" outcome="ok"/><spec title="b" outcome="purple"/></outcomes>`:                        false,
		`<outcomes><spec title="a" outcome="ok"/><spec title="b"/></outcomes>`:                                         false,
		`<outcomes failures="1"><spec title="a" outcome="ok"/></outcomes>`:                                             false,
		`<outcomes total="3"><spec title="a" outcome="ok"/></outcomes>`:                                                false,
		`<outcomes result="failed"><spec title="a" outcome="ok"/></outcomes>`:                                          false,
		`<outcomes><error>no database</error><spec title="a" outcome="ok"/></outcomes>`:                                false,
		`<outcomes><spec title="a" outcome="ok" status="failed"/></outcomes>`:                                          false,
		`<outcomes><spec title="a" outcome="ok"><failure/></spec></outcomes>`:                                          false,
		`<outcomes><spec title="a" outcome="ok"/><spec title="b" outcome="ok">`:                                        false,
		`<Result><Module name="m" done="false"><Test name="a" result="pass"/></Module></Result>`:                       false,
		`<r><test name="a"><steps><step outcome="failed"/></steps></test><test name="b" result="ok"/></r>`:             false,
		`<Result><Summary modules_done="1" modules_total="2"/><Test name="a" result="pass"/></Result>`:                 false,
		`<outcomes><NumberOfFailures>2</NumberOfFailures><spec title="a" outcome="ok"></spec></outcomes>`:              false,
		`<unittest-results tests="3" failedtests="0" failures="0"><test name="a"/><test name="b"/></unittest-results>`: true,
	} {
		r, err := reader.Parse(strings.NewReader(in), model.Options{})
		if refused != errors.Is(err, model.ErrUnknownFormat) || err == nil && r.Green() {
			t.Errorf("%s: %v, green %v", in, err, err == nil && r.Green())
		}
	}
	r, err := reader.Parse(strings.NewReader(`<unittest-results tests="2" failedtests="0" failures="0"><test name="a"/><test name="b"/></unittest-results>`), model.Options{})
	if err != nil || !r.Green() || r.Counts.Passed != 2 {
		t.Errorf("a complete report without failures: %v, %+v", err, r)
	}
}

// TestUnknownWordsNeverTurnAFailingReportGreen changes reports of every dialect, XML and JSON: a
// status word of a passing test becomes an unknown one, and an unknown element or key appears beside
// a failure.
func TestUnknownWordsNeverTurnAFailingReportGreen(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	for _, d := range xmlDialects {
		docs[d.name] = d.in
	}
	for file := range xmlFiles(t) {
		docs[file] = readText(t, file)
	}
	for _, file := range jsonReports(t) {
		docs[file] = readText(t, file)
	}
	word := regexp.MustCompile(`(?i)((?:status|result|outcome|success|state|verdict)"?\s*[=:]\s*")(?:passed|pass|success|successful|ok|true|run|passing)(")`)
	element := regexp.MustCompile(`(<(?:\w+:)?(?i:failure|error|failed|message)[\s>/])`)
	key := regexp.MustCompile(`(?i)("(?:message|failure|err|error)"\s*:)`)
	changed := 0
	for name, doc := range docs {
		whole, err := reader.Parse(strings.NewReader(doc), model.Options{})
		if err != nil || whole.Green() || whole.Counts.Failed+len(whole.Problems) == 0 {
			continue
		}
		variants := map[string]string{
			"words":    word.ReplaceAllString(doc, "${1}purple${2}"),
			"elements": element.ReplaceAllString(doc, `<purple shade="dark"><x/>y</purple>$1`),
			"keys":     key.ReplaceAllString(doc, `"purple":{"shade":["dark"]},$1`),
		}
		for what, in := range variants {
			if in == doc || what == "keys" && strings.HasPrefix(strings.TrimSpace(doc), "<") || what == "elements" && !strings.HasPrefix(strings.TrimSpace(doc), "<") {
				continue
			}
			changed++
			r, err := reader.Parse(bytes.NewReader([]byte(in)), model.Options{})
			if err == nil && r.Green() {
				t.Errorf("%s: with other %s it is green: %+v, was %+v", name, what, r.Counts, whole.Counts)
			}
		}
	}
	if changed < 50 {
		t.Errorf("only %d reports were changed", changed)
	}
}

func readText(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func jsonReports(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"testdata/*json/*.json", "testdata/*json/*.jsonl", "testdata/*/*.ndjson", "testdata/ctrf/*.json"} {
		m, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m...)
	}
	return files
}
