package testreport

import (
	"os"
	"strings"
	"testing"
)

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
		lim := Limits{Text: 4 << 10, Failing: 50}
		c := NewCollector(lim)
		n := 0
		c.OnTest = func(*Test) { n++ }
		lr := newLogReader(newInput(strings.NewReader(text)), c, c.lim, nil, &format{name: "none"})
		for _, f := range allFormats() {
			if f.name == name {
				lr.consoles = append(lr.consoles, f.console(lr.out.as(name), c.lim))
				lr.names = append(lr.names, name)
			}
		}
		if len(lr.consoles) != 1 {
			t.Fatalf("no console %q", name)
		}
		if _, err := lr.read(); err != nil && err != ErrUnknownFormat {
			t.Fatal(err)
		}
		r := c.Finish(Info{})
		if len(r.Failing) > 50 || len(r.Problems) > 50 || len(r.Diagnostics) > 50 {
			t.Errorf("limits passed: %d failing, %d problems, %d diagnostics", len(r.Failing), len(r.Problems), len(r.Diagnostics))
		}
		for _, x := range r.Failing {
			if x.Status != Failed || x.Line < 0 || x.At < 0 {
				t.Errorf("failing test %+v", x)
			}
		}
	})
}

func FuzzSurefire(f *testing.F)     { fuzzConsole(f, "surefire", "surefire") }
func FuzzGradle(f *testing.F)       { fuzzConsole(f, "gradle", "gradle") }
func FuzzAnt(f *testing.F)          { fuzzConsole(f, "ant", "ant") }
func FuzzTestNG(f *testing.F)       { fuzzConsole(f, "testng", "testng") }
func FuzzJUnitConsole(f *testing.F) { fuzzConsole(f, "junit-console", "junit-console") }
func FuzzSbt(f *testing.F)          { fuzzConsole(f, "sbt", "sbt") }
func FuzzLeiningen(f *testing.F)    { fuzzConsole(f, "leiningen", "leiningen") }
func FuzzDotnet(f *testing.F)       { fuzzConsole(f, "dotnet", "dotnet") }
func FuzzCTest(f *testing.F)        { fuzzConsole(f, "ctest", "ctest") }
func FuzzGTest(f *testing.F)        { fuzzConsole(f, "gtest", "gtest") }
func FuzzCatch2(f *testing.F)       { fuzzConsole(f, "catch2", "catch2") }
func FuzzDoctest(f *testing.F)      { fuzzConsole(f, "doctest", "doctest") }
func FuzzBoostTest(f *testing.F)    { fuzzConsole(f, "boost-test", "boost-test") }
func FuzzXCTest(f *testing.F)       { fuzzConsole(f, "xctest", "xctest") }
func FuzzRobotConsole(f *testing.F) { fuzzConsole(f, "robot-console", "robot-console") }
func FuzzBats(f *testing.F)         { fuzzConsole(f, "bats", "bats") }
