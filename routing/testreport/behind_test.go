package testreport_test

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport"
)

// TestTextBehindADocument: what stands behind the end of a document is read or makes the report
// incomplete; it is never passed over.
func TestTextBehindADocument(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"JUnit":                        `<testsuite name="s" tests="1"><testcase name="a"/></testsuite>`,
		"JUnit, closed by its own tag": `<testsuites><testsuite name="s" tests="1"><testcase name="a"/></testsuite></testsuites>`,
		"xUnit.net":                    `<assemblies><assembly name="a" total="1" passed="1" failed="0" skipped="0"><collection><test name="x" result="Pass"/></collection></assembly></assemblies>`,
		"Jest":                         `{"numFailedTests":0,"numPassedTests":1,"numTotalTests":1,"success":true,"testResults":[{"name":"/a.js","status":"passed","assertionResults":[{"title":"x","fullName":"x","status":"passed","ancestorTitles":[]}]}]}`,
	} {
		for behind, whole := range map[string]bool{"": true, "\n \n": true, "\n--- FAIL: TestX (0.00s)\nFAIL\n": false, "\n##[error]Process completed with exit code 1.\n": false} {
			if name == "Jest" && strings.Contains(behind, "##") {
				continue // the diagnosis reads the mark
			}
			rep, err := testreport.Parse(strings.NewReader(doc+behind), testreport.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := rep.Counts.Failed+len(rep.Problems) == 0; got != whole {
				t.Errorf("%s, then %q: %+v, %+v", name, behind, rep.Counts, rep.Problems)
			}
		}
	}
}

// TestCommandsBesideTests: a workflow command that states a failing test is no finding of a linter.
func TestCommandsBesideTests(t *testing.T) {
	t.Parallel()
	const command = "::error file=a_test.go,line=3::want 1, got 2\n"
	for log, want := range map[string]int{
		command: 1,
		"=== RUN   TestA\n    a_test.go:3: want 1, got 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\n" + command: 0,
	} {
		rep, err := testreport.Parse(strings.NewReader(log), testreport.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(rep.Diagnostics) != want {
			t.Errorf("%q: %+v, want %d", log, rep.Diagnostics, want)
		}
	}
}
