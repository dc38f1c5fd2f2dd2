// Package ctrf writes a report as one document of the Common Test Report
// Format (ctrf.io, specification 0.0.0), streaming: passing tests go to a
// temporary file and are not held in memory.
package ctrf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/report"
)

// Test is one entry of results.tests.
type Test struct {
	Name     string `json:"name"`
	Status   string `json:"status"`
	Duration int64  `json:"duration"` // milliseconds
	Suite    string `json:"suite,omitempty"`
	Message  string `json:"message,omitempty"`
	Trace    string `json:"trace,omitempty"`
	Line     int    `json:"line,omitempty"`
	FilePath string `json:"filePath,omitempty"`
	Retries  int    `json:"retries,omitempty"`
	Flaky    bool   `json:"flaky,omitempty"`
	Extra    *Extra `json:"extra,omitempty"`
}

// Extra is what Switchback adds to a test.
type Extra struct {
	Expected    string             `json:"expected,omitempty"`
	Actual      string             `json:"actual,omitempty"`
	Class       routing.Class      `json:"class,omitempty"`
	Evidence    []routing.Evidence `json:"evidence,omitempty"`
	Fingerprint string             `json:"fingerprint,omitempty"`
	Synthetic   bool               `json:"synthetic,omitempty"` // stands for a failure that is not a test's
	Kind        string             `json:"kind,omitempty"`
	Severity    string             `json:"severity,omitempty"`
}

// Writer spools tests and writes the document at the end.
type Writer struct {
	spool *os.File
	w     *bufio.Writer
	kept  int // failing tests seen; those the report keeps are written with their class
	limit int
	err   error
}

// NewWriter returns a Writer that keeps what it must in a temporary file.
// limit is the number of failing tests that the report keeps.
func NewWriter(limit int) (*Writer, error) {
	f, err := os.CreateTemp("", "switchback-ctrf-*")
	if err != nil {
		return nil, err
	}
	return &Writer{spool: f, w: bufio.NewWriterSize(f, 1<<16), limit: limit}, nil
}

// Close removes the temporary file.
func (w *Writer) Close() error {
	_ = w.spool.Close()
	return os.Remove(w.spool.Name())
}

// Add takes every test of the report as it is read.
func (w *Writer) Add(t report.Test) {
	if t.Status == report.Failed {
		w.kept++
		if w.kept <= w.limit {
			return // written from the report, with its class
		}
	}
	b, err := json.Marshal(entry(t))
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	if err != nil && w.err == nil {
		w.err = err
	}
}

func entry(t report.Test) Test {
	e := Test{
		Name: t.Name, Suite: t.Suite, Status: string(t.Status), Duration: t.Duration.Milliseconds(),
		FilePath: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, Retries: t.Retries, Flaky: t.Flaky,
	}
	if t.Status != report.Failed && t.Status != report.Skipped && !t.Flaky {
		e.Message, e.Trace = "", ""
	}
	return e
}

// Document writes the document: failing tests and problems first, with what
// diagnosis says of them, then all other tests in their order.
func (w *Writer) Document(out io.Writer, version string, rep *report.Report, failures []routing.Failure) error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("keeping tests: %w", w.err)
	}
	bw := bufio.NewWriterSize(out, 1<<16)
	tool := strings.Join(rep.Formats, "+")
	fmt.Fprintf(bw, "{\"reportFormat\":\"CTRF\",\"specVersion\":\"0.0.0\",\"results\":{\"tool\":%s,\"summary\":%s,\"tests\":[",
		mustJSON(map[string]any{"name": tool, "version": version}), mustJSON(summary(rep)))
	first := true
	emit := func(b []byte) {
		if !first {
			bw.WriteByte(',')
		}
		first = false
		bw.WriteByte('\n')
		bw.Write(b)
	}
	byName := index(failures)
	for _, t := range rep.Failing {
		e := entry(t)
		e.Extra = extra(t, byName)
		emit(mustJSON(e))
	}
	for _, p := range rep.Problems {
		emit(mustJSON(problem(p, byName)))
	}
	if _, err := w.spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sc := bufio.NewReaderSize(w.spool, 1<<16)
	for {
		line, err := sc.ReadBytes('\n')
		if len(line) > 1 {
			emit(line[:len(line)-1])
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	bw.WriteString("\n]")
	if x := documentExtra(rep); x != nil {
		fmt.Fprintf(bw, ",\"extra\":%s", mustJSON(x))
	}
	bw.WriteString("}}\n")
	return bw.Flush()
}

// summary counts problems as failed: a reader that looks at nothing but the
// summary must not take a build failure for green.
func summary(rep *report.Report) map[string]any {
	n := rep.Counts
	p := len(rep.Problems)
	return map[string]any{
		"tests": n.Tests + p, "passed": n.Passed, "failed": n.Failed + p, "skipped": n.Skipped,
		"pending": 0, "other": n.Other, "flaky": n.Flaky, "start": 0, "stop": rep.Duration.Milliseconds(),
	}
}

func documentExtra(rep *report.Report) map[string]any {
	x := map[string]any{}
	if len(rep.Cut) > 0 {
		x["cut"] = rep.Cut
	}
	if len(rep.Problems) > 0 {
		x["problems"] = len(rep.Problems)
	}
	if len(rep.Diagnostics) > 0 {
		x["diagnostics"] = rep.Diagnostics
	}
	if len(x) == 0 {
		return nil
	}
	return x
}

func index(fs []routing.Failure) map[string]*routing.Failure {
	m := make(map[string]*routing.Failure, len(fs))
	for i := range fs {
		k := fs[i].Suite + "\x00" + fs[i].Name
		if m[k] == nil {
			m[k] = &fs[i]
		}
	}
	return m
}

func extra(t report.Test, by map[string]*routing.Failure) *Extra {
	x := &Extra{Expected: t.Expected, Actual: t.Actual, Kind: string(t.Kind)}
	if f := by[t.Suite+"\x00"+t.Name]; f != nil {
		x.Class, x.Evidence, x.Fingerprint = f.Class, f.Evidence, f.Fingerprint
		if x.Expected == "" && x.Actual == "" {
			x.Expected, x.Actual = f.Expected, f.Actual
		}
	}
	return x
}

func problem(p report.Problem, by map[string]*routing.Failure) Test {
	name := p.Name
	if name == "" {
		name = string(p.Kind)
	}
	t := Test{
		Name: fmt.Sprintf("%s [%s]", name, p.Kind), Status: string(report.Failed), Message: p.Message, Trace: p.Trace,
		FilePath: p.File, Line: p.Line, Extra: &Extra{Synthetic: true, Kind: string(p.Kind)},
	}
	if f := by["\x00"+p.Name]; f != nil {
		t.Extra.Class, t.Extra.Evidence, t.Extra.Fingerprint = f.Class, f.Evidence, f.Fingerprint
	}
	return t
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only types of this package are marshalled
	}
	return b
}
