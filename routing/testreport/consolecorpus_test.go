package testreport_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

func consoleFiles(t testing.TB, dirs ...string) []string {
	t.Helper()
	var files []string
	for _, d := range dirs {
		m, err := filepath.Glob(filepath.Join("testdata", d, "*.txt"))
		if err != nil || len(m) == 0 {
			t.Fatalf("no corpus in testdata/%s: %v", d, err)
		}
		files = append(files, m...)
	}
	return files
}

// TestSessionsAddUp reads several sessions of one tool, and of several tools,
// in one log: counts and problems add up.
func TestSessionsAddUp(t *testing.T) {
	var text strings.Builder
	var counts model.Counts
	problems, failing := 0, 0
	for _, file := range consoleFiles(t, ownConsoles...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("##[group]Run the next step\n")
		text.Write(b)
		rep, _ := readConsoles(t, string(b), ownConsoles...)
		c := rep.Counts
		counts.Tests, counts.Passed, counts.Failed = counts.Tests+c.Tests, counts.Passed+c.Passed, counts.Failed+c.Failed
		counts.Skipped, counts.Flaky = counts.Skipped+c.Skipped, counts.Flaky+c.Flaky
		problems, failing = problems+len(rep.Problems), failing+len(rep.Failing)
	}
	rep, _ := readConsoles(t, text.String(), ownConsoles...)
	if rep.Counts != counts || len(rep.Problems) != problems || len(rep.Failing) != failing {
		t.Errorf("got %+v with %d problems and %d failing tests, want %+v with %d and %d", rep.Counts, len(rep.Problems), len(rep.Failing), counts, problems, failing)
	}
}

// TestPrefixedOutput reads the corpus as docker compose and turbo show it.
func TestPrefixedOutput(t *testing.T) {
	for _, c := range []struct{ file, prefix string }{
		{"testdata/pytest/failing.txt", "web_1  | "},
		{"testdata/jest/failing.txt", "@scope/pkg:test: "},
		{"testdata/jest/failing.txt", "[INFO] "},
		{"testdata/vitest/v2_failing.txt", "pkg:test: "},
	} {
		b, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := readConsoles(t, string(b), ownConsoles...)
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		got, _ := readConsoles(t, c.prefix+strings.Join(lines, "\n"+c.prefix)+"\n", ownConsoles...)
		if e, w := expectationOf(got), expectationOf(want); !reflect.DeepEqual(e, w) {
			t.Errorf("%s behind %q:\ngot  %s\nwant %s", c.file, c.prefix, asJSON(e), asJSON(w))
		}
	}
}

// TestTruncatedCorpusIsNotGreen cuts each recorded output at 20 places: what
// is left is green only if it is a whole green run.
func TestTruncatedCorpusIsNotGreen(t *testing.T) {
	for _, file := range consoleFiles(t, ownConsoles...) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < 20; i++ {
			cut := string(b[:len(b)*i/20])
			rep, _ := readConsoles(t, cut, ownConsoles...)
			if rep.Green() && !wholeRun(cut) {
				t.Errorf("%s cut at %d/20 is green; it ends with %q", file, i, cut[max(0, len(cut)-200):])
			}
		}
	}
}

// wholeRun reports whether the text ends behind a tool's last totals.
func wholeRun(text string) bool {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		l := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(l, "test result: ok. "): // another binary may follow: no reader can know
			return true
		case strings.HasPrefix(l, "Tests:  "), strings.HasPrefix(l, "Tests  "), strings.HasPrefix(l, "Summary ["):
			return true
		case strings.HasPrefix(l, "=") && strings.Contains(l, " passed"):
			return true
		case strings.HasPrefix(l, "running "), strings.HasPrefix(l, "Running "), strings.HasPrefix(l, "Doc-tests "), strings.HasPrefix(l, "=== test session"):
			return false
		}
	}
	return false
}

// fuzzOwnConsoles checks what must hold of any input: no panic, line numbers within
// the input, no green report with a failing test.
func fuzzOwnConsoles(f *testing.F, names ...string) {
	for _, file := range consoleFiles(f, names...) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := model.Limits{Text: 4 << 10, Line: 8 << 10, Failing: 50, Unnamed: 1000}
		c := model.NewCollector(lim)
		info, err := reader.ReadLog(strings.NewReader(string(b)), model.Options{Limits: lim}, reader.Log{Consoles: names}, c)
		if err != nil && len(info.Formats) > 0 {
			t.Fatal(err)
		}
		rep := c.Finish(info)
		if rep.Green() && len(rep.Failing) > 0 {
			t.Errorf("green with %d failing tests", len(rep.Failing))
		}
		for _, at := range reportedLines(rep) {
			if at < 0 || at > rep.Lines {
				t.Errorf("line %d of %d", at, rep.Lines)
			}
		}
	})
}

func reportedLines(r *model.Report) []int {
	var at []int
	for _, t := range append(r.Failing, r.Flaky...) {
		at = append(at, t.At)
		if t.Line < 0 || t.Column < 0 {
			at = append(at, -1)
		}
	}
	for _, p := range r.Problems {
		at = append(at, p.At)
	}
	for _, d := range r.Diagnostics {
		at = append(at, d.At)
	}
	return at
}

func FuzzPytest(f *testing.F) { fuzzOwnConsoles(f, "pytest") }

func FuzzJest(f *testing.F) { fuzzOwnConsoles(f, "jest", "vitest") }

func FuzzCargo(f *testing.F) { fuzzOwnConsoles(f, "cargo") }
