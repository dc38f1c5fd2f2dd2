// Command score writes what this project reads from recorded test output, as
// the scorers of the fixtures want it:
//
//	go run ./internal/score FIXTURES CORPUS OUT.jsonl
//
// FIXTURES holds one folder per set, each with a manifest.json; CORPUS is internal/corpus. It also prints how right the
// diagnosis of the logs is, in sample and with the set in question left out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/internal/labelled"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/diagnosis"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: score FIXTURES CORPUS OUT.jsonl")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "score:", err)
		os.Exit(1)
	}
}

// prediction is one line of the output; a nil field is not predicted.
type prediction struct {
	Set         string                   `json:"set"`
	File        string                   `json:"file"`
	OK          bool                     `json:"ok"`
	Result      routing.Result           `json:"result"`
	Formats     []string                 `json:"formats"`
	Tests       int                      `json:"tests"`
	Passed      int                      `json:"passed"`
	Failed      int                      `json:"failed"`
	Skipped     int                      `json:"skipped"`
	Failing     []string                 `json:"failing_tests"`
	Lines       []diagnosis.Line         `json:"error_lines"`
	Class       routing.Class            `json:"class,omitempty"`
	PerTest     map[string]routing.Class `json:"per_test_class"`
	Diagnostics []diagnostic             `json:"diagnostics"`
}

type diagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Col     int    `json:"col,omitempty"`
	Message string `json:"message"`
}

type entry struct {
	File      string `json:"file"`
	Tool      string `json:"tool"`
	Numbering string `json:"line_numbering"`
	Expect    struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
	} `json:"expect"`
}

func run(root, corpus, out string) error {
	sets, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
	if err != nil {
		return err
	}
	slices.Sort(sets)
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, m := range sets {
		if err := writeSet(w, m); err != nil {
			return fmt.Errorf("%s: %w", m, err)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	logs, err := labelled.All(root, corpus, labelled.PerTool)
	if err != nil {
		return err
	}
	return leaveOut(os.Stdout, logs)
}

func writeSet(w io.Writer, manifest string) error {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var m struct{ Files []entry }
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	dir := filepath.Dir(manifest)
	enc := json.NewEncoder(w)
	for _, e := range m.Files {
		p, err := predict(dir, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.File, err)
		}
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// predict analyzes one file as `switchback diagnose` does.
func predict(dir string, e entry) (prediction, error) {
	p := prediction{Set: filepath.Base(dir), File: e.File, Failing: []string{}, PerTest: map[string]routing.Class{}, Diagnostics: []diagnostic{}}
	log := labelled.Log{File: e.File, Path: filepath.Join(dir, e.File)}
	out, err := analysis.Analyze(analysis.Input{
		Sources: []analysis.Source{{Name: e.File, Open: log.Open}},
		Format:  formatOf(e),
	})
	if err != nil {
		return p, err
	}
	rep := out.Report
	p.Result, p.Class, p.Lines, p.Formats = out.Verdict.Result, out.Diagnosis.Class, out.Diagnosis.ErrorLines, rep.Formats
	p.OK = len(rep.Formats) > 0
	p.Tests, p.Passed, p.Failed, p.Skipped = rep.Counts.Tests, rep.Counts.Passed, rep.Counts.Failed, rep.Counts.Skipped
	p.Failing = append(p.Failing, failingNames(rep)...)
	for _, f := range out.Diagnosis.Failures {
		name := f.Name
		if f.Suite != "" {
			name = testreport.Test{Suite: f.Suite, Name: f.Name}.FullName()
		}
		p.PerTest[name] = f.Class
	}
	for _, d := range rep.Diagnostics {
		p.Diagnostics = append(p.Diagnostics, diagnostic{d.File, d.Line, d.Column, d.Message})
	}
	log.LoneReturns = strings.Contains(e.Numbering, `\r`)
	number, err := log.Numbers()
	if err != nil {
		return p, err
	}
	for i := range p.Lines {
		p.Lines[i].Line = number(p.Lines[i].Line)
	}
	return p, nil
}

// failingNames returns the full names of the tests that failed, and of those that could not be run.
func failingNames(rep *testreport.Report) []string {
	var out []string
	for _, t := range rep.Failing {
		out = append(out, t.FullName())
	}
	for _, q := range rep.Problems {
		if n := testOf(q); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// formatOf returns the format to read e with. The output of one linter is read
// as what it is said to be; all else is for the detector.
func formatOf(e entry) string {
	if len(e.Expect.Diagnostics) == 0 || os.Getenv("SCORE_FORMAT") == "auto" {
		return "auto"
	}
	for _, name := range []string{"errorformat:" + e.Tool, e.Tool} {
		if slices.Contains(testreport.Names(), name) {
			return name
		}
	}
	return "auto"
}

// testOf returns what a problem names if that is a test or a file of tests
// that could not be set up or collected.
func testOf(p testreport.Problem) string {
	if p.Kind != testreport.KindSetup && p.Kind != testreport.KindCrash {
		return ""
	}
	if strings.ContainsAny(p.Name, " \t") && !strings.Contains(p.Name, " > ") {
		return ""
	}
	if strings.Contains(p.Name, "::") || strings.Contains(p.Name, " > ") || p.Kind == testreport.KindSetup && strings.Contains(filepath.Base(p.Name), ".") {
		return p.Name
	}
	return ""
}
