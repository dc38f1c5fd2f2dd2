package testreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

var updateCorpus = flag.Bool("update", false, "write the expectations of the corpus anew; read them before you commit")

// TestCorpus reads every testdata/FORMAT/*.txt with the consoles of all formats, bare and inside the
// log of a GitHub job, and every *.xml as a document. It compares with the expectation in the .json
// of the same name; a recording without one is none of its own. Where a directory has a make.sh, its
// files are the output of the real tool, else they are written after the tool's documentation.
func TestCorpus(t *testing.T) {
	files := slices.Concat(glob(t, "testdata/*/*.txt"), glob(t, "testdata/*/*.xml"))
	tested := 0
	for _, file := range files {
		beside := strings.TrimSuffix(file, filepath.Ext(file)) + ".json"
		if _, err := os.Stat(beside); err != nil {
			continue
		}
		tested++
		t.Run(strings.TrimPrefix(file, "testdata/"), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got, inLog consoleExpectation
			if filepath.Ext(file) == ".xml" {
				r, err := reader.Parse(bytes.NewReader(b), model.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got = expectationOf(r)
				inLog = got // see TestXMLInLog
			} else {
				rep, _ := readConsoles(t, string(b), consolesFor(file)...)
				got = expectationOf(rep)
				rep, _ = readConsoles(t, corpustest.JobLog(string(b)), consolesFor(file)...)
				inLog = expectationOf(rep)
			}
			if *updateCorpus {
				writeConsoleExpectation(t, beside, got)
			}
			var want consoleExpectation
			readConsoleExpectation(t, beside, &want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %s\nwant %s", asJSON(got), asJSON(want))
			}
			if !reflect.DeepEqual(inLog, want) {
				t.Errorf("inside a job log:\ngot  %s\nwant %s", asJSON(inLog), asJSON(want))
			}
		})
	}
	if tested < 300 {
		t.Errorf("only %d recordings found", tested)
	}
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	return files
}

// withCompilers are the directories whose recordings hold lines of compilers, or lines like theirs,
// that the expectations leave out.
var withCompilers = []string{"boost-test", "doctest", "dotnet", "gradle", "sbt", "xctest"}

func consolesFor(file string) []string {
	var names []string
	for _, f := range format.All() {
		if f.Console != nil && (f.Name != "lint" || !slices.Contains(withCompilers, filepath.Base(filepath.Dir(file)))) {
			names = append(names, f.Name)
		}
	}
	return names
}

// consoleExpectation is what stands beside each *.txt of the corpus.
type consoleExpectation struct {
	Formats     []string
	Counts      model.Counts
	Green       bool
	Failing     []consoleTest    `json:",omitempty"`
	Flaky       []string         `json:",omitempty"`
	Problems    []consoleProblem `json:",omitempty"`
	Diagnostics []string         `json:",omitempty"`
}

type consoleTest struct {
	Name, Kind, Place string
	Type              string `json:",omitempty"`
	Message           string
	Expected, Actual  string `json:",omitempty"`
	At                int
	Trace, Output     string `json:",omitempty"` // first lines
	Retries           int    `json:",omitempty"`
}

type consoleProblem struct {
	Kind, Name, Place, Message string
	At                         int
}

func expectationOf(r *model.Report) consoleExpectation {
	e := consoleExpectation{Formats: r.Formats, Counts: r.Counts, Green: r.Green()}
	for _, t := range r.Failing {
		e.Failing = append(e.Failing, consoleTest{
			Name: t.FullName(), Kind: string(t.Kind), Place: consolePlace(t.File, t.Line, t.Column), Type: t.Type, Message: t.Message,
			Expected: t.Expected, Actual: t.Actual, At: t.At, Trace: parse.HeadLine(t.Trace), Output: parse.HeadLine(t.Output), Retries: t.Retries,
		})
	}
	for _, t := range r.Flaky {
		e.Flaky = append(e.Flaky, fmt.Sprintf("%s (%d retries)", t.FullName(), t.Retries))
	}
	for _, p := range r.Problems {
		e.Problems = append(e.Problems, consoleProblem{string(p.Kind), p.Name, consolePlace(p.File, p.Line, p.Column), p.Message, p.At})
	}
	for _, d := range r.Diagnostics {
		e.Diagnostics = append(e.Diagnostics, fmt.Sprintf("%s %s %s %s %s @%d", d.Tool, d.Severity, d.Code, consolePlace(d.File, d.Line, d.Column), d.Message, d.At))
	}
	return e
}

func consolePlace(file string, line, col int) string {
	switch {
	case line == 0:
		return file
	case col == 0:
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, col)
}

func asJSON(v any) string {
	b, _ := json.MarshalIndent(v, "", " ")
	return string(b)
}

func writeConsoleExpectation(t *testing.T, file string, e consoleExpectation) {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readConsoleExpectation(t *testing.T, file string, e *consoleExpectation) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, e); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
