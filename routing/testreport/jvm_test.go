package testreport_test

import (
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// jvmDirs are the directories of testdata that the readers named in
// jvmConsoles are tested on.
var jvmDirs = []string{"surefire", "gradle", "ant", "testng", "junit-console", "junit-text", "sbt", "leiningen", "dotnet", "ctest", "gtest", "catch2", "doctest", "boost-test", "xctest", "robot-console", "bats"}

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

// jvmConsoles are the readers that the tests of this file are about.
var jvmConsoles = []string{"surefire", "gradle", "ant", "junit-console", "junit-text", "testng", "sbt", "leiningen", "dotnet", "ctest", "gtest", "catch2", "doctest", "boost-test", "xctest", "robot-console", "mozlog", "bats"}

func readFixture(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestJVMConsolesOnFixtures reads the real logs of builds with Maven, Gradle
// and Ant, and of Firefox, and compares the failing tests.
func TestJVMConsolesOnFixtures(t *testing.T) {
	t.Parallel()
	frameworks := map[string]bool{"maven": true, "gradle": true, "ant": true}
	for _, f := range fixtureFiles(t, "bugswarm_gha", "bugswarm_travis", "treeherder") {
		if !frameworks[f.Framework] && (f.Set != "treeherder" || f.Expect.Failing == nil) {
			continue
		}
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			rep, info := readConsoles(t, readFixture(t, f.path()), jvmConsoles...)
			found, missed, extra := foundMissedExtra(failingNames(rep, false), dedupNames(f.Expect.Failing))
			t.Logf("SCORE %s %v found %d missed %d extra %d counts %+v", f.Set, info.Formats, len(found), len(missed), len(extra), rep.Counts)
			for _, p := range rep.Problems {
				t.Logf("problem %s %s %s:%d %q at %d", p.Kind, p.Name, p.File, p.Line, parse.HeadLine(p.Message), p.At)
			}
			for _, f := range rep.Failing[:min(3, len(rep.Failing))] {
				t.Logf("failing %s %s %s:%d %q", f.Kind, f.Type, f.File, f.Line, parse.HeadLine(f.Message))
			}
			if why, known := jvmMismatch[f.File]; known {
				t.Logf("known mismatch: %s", why)
				return
			}
			if f.Expect.Complete != nil && !*f.Expect.Complete {
				extra = nil
			}
			if len(missed) > 0 || len(extra) > 0 {
				t.Errorf("missed %q\nextra %q", missed, extra)
			}
		})
	}
}

// inParens is "method(com.x.Class)".
var inParens = regexp.MustCompile(`^(.+)\(([\w$]+\.[\w.$]+)\)$`)

// dedupNames leaves out names that the manifest lists more than once: they are
// counted, not named again.
func dedupNames(names []string) []string {
	seen := map[string]int{}
	var out []string
	for _, n := range names {
		if m := inParens.FindStringSubmatch(n); m != nil {
			n = m[2] + " > " + m[1]
		}
		if seen[n]++; seen[n] == 1 {
			out = append(out, n)
		}
	}
	return out
}

var jvmMismatch = map[string]string{}

// TestJVMConsolesClaimNothingElse reads the logs of other tools: none of these
// readers may recognise anything in them but what does stand there.
func TestJVMConsolesClaimNothingElse(t *testing.T) {
	t.Parallel()
	sets := []string{"bugswarm_gha", "bugswarm_travis", "swebench_eval", "cidiff", "faultline_real", "go_logparser", "pytorch_classify", "structured", "errorformat", "gojunit", "gotestsum"}
	for _, f := range fixtureFiles(t, sets...) {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			fi, err := os.Stat(f.path())
			if err != nil || fi.IsDir() {
				return
			}
			rep, info := readConsoles(t, readFixture(t, f.path()), jvmConsoles...)
			var got []string
			for _, n := range info.Formats {
				if slices.Contains(jvmConsoles, n) && n != "mozlog" {
					got = append(got, n)
				}
			}
			text := readFixture(t, f.path())
			for _, n := range got {
				if sign := jvmSigns[n]; sign == nil || !sign.MatchString(text) {
					t.Errorf("claimed by %s: %+v, failing %v, problems %+v", n, rep.Counts, failingNames(rep, false), rep.Problems)
				}
			}
		})
	}
}

// jvmSigns are what only logs hold in which the tool does stand.
var jvmSigns = map[string]*regexp.Regexp{
	"surefire":   regexp.MustCompile(`Scanning for projects\.\.\.`),
	"gradle":     regexp.MustCompile(`> Task :|Gradle Daemon|gradlew? `),
	"ant":        regexp.MustCompile(`Buildfile: `),
	"junit-text": regexp.MustCompile(`(?m)^OK \(\d+ tests\)\r?$`),
	"dotnet":     regexp.MustCompile(`\.csproj\]|MSBuild`),
	"sbt":        regexp.MustCompile(`\[error\] \((?:compile|test)`),
}

// fuzzConsole feeds lines to one reader alone and checks what must hold of any
// input: it ends, and what it reports stays within the limits.
func fuzzConsole(f *testing.F, name, dir string) {
	for _, file := range consoleFiles(f, dir) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		lim := model.Limits{Text: 4 << 10, Failing: 50}
		c := model.NewCollector(lim)
		n := 0
		c.OnTest = func(*model.Test) { n++ }
		if _, err := reader.ReadLog(strings.NewReader(text), model.Options{Limits: lim}, reader.Log{Consoles: []string{name}}, c); err != nil && err != model.ErrUnknownFormat {
			t.Fatal(err)
		}
		r := c.Finish(model.Info{})
		if len(r.Failing) > 50 || len(r.Problems) > 50 || len(r.Diagnostics) > 50 {
			t.Errorf("limits passed: %d failing, %d problems, %d diagnostics", len(r.Failing), len(r.Problems), len(r.Diagnostics))
		}
		for _, x := range r.Failing {
			if x.Status != model.Failed || x.Line < 0 || x.At < 0 {
				t.Errorf("failing test %+v", x)
			}
		}
	})
}

func FuzzSurefire(f *testing.F) { fuzzConsole(f, "surefire", "surefire") }

func FuzzGradle(f *testing.F) { fuzzConsole(f, "gradle", "gradle") }

func FuzzAnt(f *testing.F) { fuzzConsole(f, "ant", "ant") }

func FuzzTestNG(f *testing.F) { fuzzConsole(f, "testng", "testng") }

func FuzzJUnitConsole(f *testing.F) { fuzzConsole(f, "junit-console", "junit-console") }

func FuzzSbt(f *testing.F) { fuzzConsole(f, "sbt", "sbt") }

func FuzzLeiningen(f *testing.F) { fuzzConsole(f, "leiningen", "leiningen") }

func FuzzDotnet(f *testing.F) { fuzzConsole(f, "dotnet", "dotnet") }

func FuzzCTest(f *testing.F) { fuzzConsole(f, "ctest", "ctest") }

func FuzzGTest(f *testing.F) { fuzzConsole(f, "gtest", "gtest") }

func FuzzCatch2(f *testing.F) { fuzzConsole(f, "catch2", "catch2") }

func FuzzDoctest(f *testing.F) { fuzzConsole(f, "doctest", "doctest") }

func FuzzBoostTest(f *testing.F) { fuzzConsole(f, "boost-test", "boost-test") }

func FuzzXCTest(f *testing.F) { fuzzConsole(f, "xctest", "xctest") }

func FuzzRobotConsole(f *testing.F) { fuzzConsole(f, "robot-console", "robot-console") }

func FuzzBats(f *testing.F) { fuzzConsole(f, "bats", "bats") }
