package testreport

import (
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
				t.Logf("problem %s %s %s:%d %q at %d", p.Kind, p.Name, p.File, p.Line, headLine(p.Message), p.At)
			}
			for _, f := range rep.Failing[:min(3, len(rep.Failing))] {
				t.Logf("failing %s %s %s:%d %q", f.Kind, f.Type, f.File, f.Line, headLine(f.Message))
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
