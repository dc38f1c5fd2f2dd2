package testreport

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// jvmDirs are the directories of testdata that the readers named in
// jvmConsoles are tested on.
var jvmDirs = []string{"surefire", "gradle", "ant", "testng", "junit-console", "junit-text", "sbt", "leiningen", "dotnet", "ctest", "gtest", "catch2", "doctest", "boost-test", "xctest", "robot-console", "bats"}

// TestJVMConsoleCorpus reads recorded output (where a directory has a make.sh
// it is a real tool's, else it is written after the tool's documentation) and
// compares with the expectation beside it, bare and inside a GitHub job log.
func TestJVMConsoleCorpus(t *testing.T) {
	for _, file := range consoleFiles(t, jvmDirs...) {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/"), ".txt"), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			rep, _ := readConsoles(t, string(b), jvmConsoles...)
			got := expectationOf(rep)
			beside := strings.TrimSuffix(file, ".txt") + ".json"
			if *updateConsoles {
				writeConsoleExpectation(t, beside, got)
			}
			var want consoleExpectation
			readConsoleExpectation(t, beside, &want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", consoleJSON(got), consoleJSON(want))
			}
			inLog, _ := readConsoles(t, consoleInJobLog(string(b)), jvmConsoles...)
			if e := expectationOf(inLog); !reflect.DeepEqual(e, want) {
				t.Errorf("inside a job log:\ngot  %s\nwant %s", consoleJSON(e), consoleJSON(want))
			}
		})
	}
}

// TestJVMConsolesTruncated cuts the corpus at twenty places each: what is left
// of a run that failed, or did not end, must not look like a success.
func TestJVMConsolesTruncated(t *testing.T) {
	for _, file := range consoleFiles(t, jvmDirs...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole, _ := readConsoles(t, string(b), jvmConsoles...)
		for i := 1; i < 20; i++ {
			cut := string(b[:len(b)*i/20])
			rep, _ := readConsoles(t, cut, jvmConsoles...)
			if rep.Green() && !whole.Green() {
				t.Errorf("%s cut at %d of %d bytes is green: %+v", file, len(cut), len(b), rep.Counts)
			}
			if rep.Green() && rep.Counts.Passed < whole.Counts.Passed && !endsRun(cut) {
				t.Errorf("%s cut at %d of %d bytes is green with %d of %d tests", file, len(cut), len(b), rep.Counts.Passed, whole.Counts.Passed)
			}
		}
	}
}

// endsRun reports whether a run of one of several in the file had ended.
func endsRun(s string) bool {
	for _, end := range []string{"[  PASSED  ]", "BUILD SUCCESSFUL", "BUILD SUCCESS", "test cases", "Passed!  -", "errors.", "Tests: succeeded", "SUITE-END", "OK ("} {
		if strings.Contains(s, end) {
			return true
		}
	}
	return false
}
