// Package ctrf writes a report as one document of the Common Test Report
// Format (ctrf.io, specification 0.0.0), streaming: of passing tests a few
// megabytes are held in memory and the rest goes to a temporary file.
package ctrf

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Test is one entry of results.tests.
type Test struct {
	Name      string   `json:"name"`
	Status    string   `json:"status"`
	Duration  int64    `json:"duration"`        // milliseconds
	Suite     []string `json:"suite,omitempty"` // outermost first
	Message   string   `json:"message,omitempty"`
	Trace     string   `json:"trace,omitempty"`
	Line      int      `json:"line,omitempty"`
	RawStatus string   `json:"rawStatus,omitempty"`
	FilePath  string   `json:"filePath,omitempty"`
	Retries   int      `json:"retries,omitempty"`
	Flaky     bool     `json:"flaky,omitempty"`
	Extra     *Extra   `json:"extra,omitempty"`
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
	// Redact, if set, masks secrets in every text of a test.
	Redact func(string) string

	packer  packer
	kept    int // failing tests of this source; those its report keeps are written with their class
	limit   int
	spool   spool
	sources []source
	err     error
}

// source is the part of the spool that holds the tests of one source.
type source struct {
	from  int64
	leave bool
}

// NewWriter returns a Writer. limit is the number of failing tests that the
// report of a source keeps.
func NewWriter(limit int) *Writer { return &Writer{limit: limit, spool: spool{memory: inMemory}} }

// Close removes the temporary file, if there is one.
func (w *Writer) Close() error { return w.spool.close() }

// Source begins the tests of another source, which has a report of its own.
func (w *Writer) Source() {
	w.sources = append(w.sources, source{from: w.spool.size})
	w.kept = 0
}

// Leave leaves out the tests of a source, counted from 0, of which another
// source tells the same.
func (w *Writer) Leave(n int) { w.sources[n].leave = true }

// Add takes every test of the report as it is read. It keeps nothing of t but
// texts, until the next comes.
func (w *Writer) Add(t *testreport.Test) {
	if t.Status == testreport.Failed {
		w.kept++
		if w.kept <= w.limit {
			return // written from the report, with its class
		}
	}
	w.packer.Redact = w.Redact
	err := w.put(t)
	if err != nil && w.err == nil {
		w.err = err
	}
}

func (w *Writer) put(t *testreport.Test) error {
	b, err := w.spool.reserve(sameRecord)
	if err != nil {
		return err
	}
	if b = w.packer.appendSame(b, t); b != nil {
		w.spool.took(b)
		return nil
	}
	return w.spool.write(w.packer.pack(t))
}

func entry(t testreport.Test) Test {
	e := Test{
		Name: named(t.Name), Suite: suite(t.Suite), Duration: max(0, t.Duration.Milliseconds()),
		FilePath: t.File, Line: t.Line, Message: t.Message, Trace: t.Trace, Retries: t.Retries, Flaky: t.Flaky,
	}
	e.Status, e.RawStatus = status(t.Status)
	if !shows(&t) {
		e.Message, e.Trace = "", ""
	}
	return e
}

// shows reports whether the message of a test is worth a place.
func shows(t *testreport.Test) bool {
	return t.Status == testreport.Failed || t.Status == testreport.Skipped || t.Status == testreport.Pending || t.Flaky
}

const suiteSeparator = " > "

// status returns a status of the specification. A pending test is counted
// with the skipped ones, and so is called one.
func status(s testreport.Status) (status, raw string) {
	switch s {
	case testreport.Passed, testreport.Failed, testreport.Skipped:
		return string(s), ""
	case testreport.Pending:
		return string(testreport.Skipped), string(s)
	}
	return string(testreport.Other), string(s)
}

// named gives a test without name one: the specification wants one.
func named(s string) string {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return s
	}
	if strings.TrimSpace(s) == "" {
		return "(unnamed)"
	}
	return s
}

func suite(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, suiteSeparator)
}

func (w *Writer) masked(t Test) Test {
	if w.Redact == nil {
		return t
	}
	for _, s := range []*string{&t.Name, &t.Message, &t.Trace, &t.FilePath} {
		*s = w.Redact(*s)
	}
	for i := range t.Suite {
		t.Suite[i] = w.Redact(t.Suite[i])
	}
	if t.Extra != nil {
		t.Extra.Expected, t.Extra.Actual = w.Redact(t.Extra.Expected), w.Redact(t.Extra.Actual)
		t.Extra.Evidence = append([]routing.Evidence(nil), t.Extra.Evidence...)
		for i := range t.Extra.Evidence {
			t.Extra.Evidence[i].Text = w.Redact(t.Extra.Evidence[i].Text)
		}
	}
	return t
}

// Document writes the document: failing tests and problems first, with what
// diagnosis says of them, then all other tests in their order.
func (w *Writer) Document(out io.Writer, version string, rep *testreport.Report, failures []routing.Failure) error {
	if w.err != nil {
		return fmt.Errorf("keeping tests: %w", w.err)
	}
	bw := bufio.NewWriterSize(out, 1<<16)
	tool := strings.Join(rep.Formats, "+")
	if tool == "" {
		tool = "unknown"
	}
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
		if t.Parent && e.Extra.Class == "" {
			e.Extra.ofSubtest(t, failures)
		}
		emit(mustJSON(w.masked(e)))
	}
	for _, p := range rep.Problems {
		e := mustJSON(w.masked(problem(p, byName)))
		for range entries(p) {
			emit(e)
		}
	}
	if err := w.rest(bw, first); err != nil {
		return fmt.Errorf("keeping tests: %w", err)
	}
	bw.WriteString("\n]")
	if x := documentExtra(rep, w.Redact); x != nil {
		fmt.Fprintf(bw, ",\"extra\":%s", mustJSON(x))
	}
	bw.WriteString("}}\n")
	return bw.Flush()
}

// rest writes the spooled tests but those of sources that are left out.
func (w *Writer) rest(out *bufio.Writer, first bool) error {
	n := -1
	var u unpacker
	var cut records
	const flushSize = 1 << 16
	text := make([]byte, 0, flushSize+flushSize/4)
	err := w.spool.each(func(p []byte) error {
		for cut.take(p); ; {
			for n+1 < len(w.sources) && w.sources[n+1].from <= cut.at {
				n++
			}
			record, err := cut.next()
			if record == nil || err != nil {
				return err
			}
			b, err := u.appendTest(text, record)
			if err != nil {
				return err
			}
			if n >= 0 && w.sources[n].leave {
				continue
			}
			if first {
				b, first = append(b[:0], b[len(","):]...), false
			}
			if text = b; len(b) >= flushSize {
				_, _ = out.Write(b) // Flush tells
				text = b[:0]
			}
		}
	})
	_, _ = out.Write(text)
	if err != nil {
		return err
	}
	return cut.end()
}

// summary counts problems as failed: a reader that looks at nothing but the
// summary must not take a build failure for green.
func summary(rep *testreport.Report) map[string]any {
	n := rep.Counts
	more := 0
	for _, p := range rep.Problems {
		more += entries(p) - p.Tests
	}
	return map[string]any{
		"tests": n.Tests + more, "passed": n.Passed, "failed": n.Failed + more, "skipped": n.Skipped,
		"pending": 0, "other": n.Other, "flaky": n.Flaky, "start": 0, "stop": rep.Duration.Milliseconds(),
	}
}

// maxUnnamed bounds the entries of one problem, whose number of tests a log may state at will.
const maxUnnamed = 1000

// entries returns the number of entries of a problem: one, or one for each failing test that is
// counted and not named, because a document lists as many failed tests as its summary says.
func entries(p testreport.Problem) int { return min(max(1, p.Tests), maxUnnamed) }

func documentExtra(rep *testreport.Report, redact func(string) string) map[string]any {
	x := map[string]any{}
	if len(rep.Cut) > 0 {
		x["cut"] = rep.Cut
	}
	if len(rep.Problems) > 0 {
		x["problems"] = len(rep.Problems)
	}
	if len(rep.Diagnostics) > 0 {
		x["diagnostics"] = maskedDiagnostics(rep.Diagnostics, redact)
	}
	if len(x) == 0 {
		return nil
	}
	return x
}

func maskedDiagnostics(in []testreport.Diagnostic, redact func(string) string) []testreport.Diagnostic {
	if redact == nil {
		return in
	}
	out := append([]testreport.Diagnostic(nil), in...)
	for i := range out {
		out[i].Message = redact(out[i].Message)
	}
	return out
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

func extra(t testreport.Test, by map[string]*routing.Failure) *Extra {
	x := &Extra{Expected: t.Expected, Actual: t.Actual, Kind: string(t.Kind)}
	if f := by[t.Suite+"\x00"+t.Name]; f != nil {
		x.Class, x.Evidence, x.Fingerprint = f.Class, f.Evidence, f.Fingerprint
		if x.Expected == "" && x.Actual == "" {
			x.Expected, x.Actual = f.Expected, f.Actual
		}
	}
	return x
}

// ofSubtest gives a parent, which failed only because a subtest did, what was
// found of its first failing subtest.
func (x *Extra) ofSubtest(parent testreport.Test, fs []routing.Failure) {
	for _, f := range fs {
		if f.Suite == parent.Suite && strings.HasPrefix(f.Name, parent.Name+"/") {
			x.Class, x.Fingerprint = f.Class, f.Fingerprint
			x.Evidence = []routing.Evidence{{Text: f.Name, Signal: "subtest"}}
			return
		}
	}
}

func problem(p testreport.Problem, by map[string]*routing.Failure) Test {
	name := p.Name
	if name == "" {
		name = string(p.Kind)
	}
	t := Test{
		Name: fmt.Sprintf("%s [%s]", name, p.Kind), Status: string(testreport.Failed), Message: p.Message, Trace: p.Trace,
		FilePath: p.File, Line: p.Line, Extra: &Extra{Synthetic: true, Kind: string(p.Kind)},
	}
	if f := by["\x00"+p.Name]; f != nil {
		t.Extra.Class, t.Extra.Evidence, t.Extra.Fingerprint = f.Class, f.Evidence, f.Fingerprint
	} else { // it failed because of what is listed: diagnosis has no more to say of it
		t.Extra.Class = routing.Unknown
		t.Extra.Evidence = []routing.Evidence{{Line: p.At, Text: p.Message, Signal: "kind:" + string(p.Kind)}}
	}
	return t
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only texts, numbers and lists of them are marshalled
	}
	return b
}
