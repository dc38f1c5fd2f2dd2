package ctrf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ctrf/ctrftest"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

func writer(t testing.TB, limit int) *Writer {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	w := NewWriter(limit)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func document(t testing.TB, w *Writer, rep *testreport.Report, fs []routing.Failure) ctrftest.Document {
	t.Helper()
	var b bytes.Buffer
	if err := w.Document(&b, "v1", rep, fs); err != nil {
		t.Fatal(err)
	}
	d, problems := ctrftest.Check(b.Bytes())
	for _, p := range problems {
		t.Error(p)
	}
	return d
}

func names(d ctrftest.Document) string {
	var out []string
	for _, t := range d.Results.Tests {
		out = append(out, t.Name)
	}
	return strings.Join(out, ",")
}

func TestDocument(t *testing.T) {
	w := writer(t, 10)
	col := testreport.NewCollector(testreport.Limits{})
	col.OnTest = w.Add
	for _, x := range []testreport.Test{
		{Name: "a", Suite: "pkg > Cart", Status: testreport.Passed, Duration: 1500 * time.Microsecond, Message: "not shown", Output: "not shown"},
		{Name: "b", Suite: "pkg", Status: testreport.Failed, Kind: testreport.KindAssertion, File: "b.go", Line: 3, Message: "no", Trace: "b.go:3", Expected: "1", Actual: "2"},
		{Name: "c", Status: testreport.Skipped, Message: "on Windows"},
		{Name: "d", Status: testreport.Pending},
		{Name: "e", Status: testreport.Other},
		{Name: "f", Status: testreport.Passed, Flaky: true, Retries: 2},
		{Name: "", Status: testreport.Passed},
		{Name: "g", Status: "strange"},
		{Name: "h", Status: testreport.Passed, Duration: -time.Second},
	} {
		col.Test(x)
	}
	col.Problem(testreport.Problem{Kind: testreport.KindBuild, Name: "pkg2", File: "x.go", Line: 9, Message: "undefined: y"})
	col.Problem(testreport.Problem{Kind: testreport.KindTruncated})
	col.Diagnostic(testreport.Diagnostic{Tool: "vet", File: "x.go", Line: 1, Message: "unused"})
	fs := []routing.Failure{
		{Name: "b", Suite: "pkg", Class: routing.LogicError, Fingerprint: "v1:1", Evidence: []routing.Evidence{{Line: 4, Text: "no", Signal: "kind:assertion"}}},
		{Name: "pkg2", Class: routing.TypeError, Fingerprint: "v1:2"},
	}
	rep := col.Finish(testreport.Info{Formats: []string{"gotest", "junit"}})
	d := document(t, w, rep, fs)
	if got, want := names(d), "b,pkg2 [build],truncated [truncated],a,c,d,e,f,(unnamed),g,h"; got != want {
		t.Errorf("order %s, want failing first: %s", got, want)
	}
	s := d.Results.Summary
	if s.Tests != 11 || s.Passed != 4 || s.Failed != 3 || s.Skipped != 2 || s.Other != 2 || s.Flaky != 1 {
		t.Errorf("summary %+v", s)
	}
	b := d.Results.Tests[0]
	if strings.Join(b.Suite, "/") != "pkg" || b.FilePath != "b.go" || b.Line != 3 || b.Message != "no" || b.Trace != "b.go:3" {
		t.Errorf("failing test: %+v", b)
	}
	x := b.Extra
	if x.Expected != "1" || x.Actual != "2" || x.Class != "LOGIC_ERROR" || x.Fingerprint != "v1:1" || len(x.Evidence) != 1 || x.Evidence[0].Line != 4 || x.Evidence[0].Signal != "kind:assertion" {
		t.Errorf("its extra: %+v", x)
	}
	if p := d.Results.Tests[1]; p.Status != "failed" || !p.Extra.Synthetic || p.Extra.Class != "TYPE_ERROR" || p.Line != 9 {
		t.Errorf("a problem is no synthetic failing entry: %+v", p)
	}
	a := d.Results.Tests[3]
	if strings.Join(a.Suite, "/") != "pkg/Cart" || a.Duration != 1 || a.Message != "" {
		t.Errorf("passing test: %+v", a)
	}
	if p := d.Results.Tests[5]; p.Status != "skipped" || p.RawStatus != "pending" {
		t.Errorf("pending test: %+v", p)
	}
	if d.Results.Tool.Name != "gotest+junit" || d.Results.Tool.Version != "v1" {
		t.Errorf("tool %+v", d.Results.Tool)
	}
}

func TestEmptyReportIsValid(t *testing.T) {
	d := document(t, writer(t, 1), &testreport.Report{}, nil)
	if len(d.Results.Tests) != 0 || d.Results.Tool.Name == "" {
		t.Errorf("%+v", d)
	}
}

// Names and texts of a run are hostile: the document stays valid JSON, and
// says them as they are.
func TestHostileTexts(t *testing.T) {
	for _, s := range []string{
		`"}]}}`, "a\nb\r\n{", "\x00\x01\x1b[31m", "\xff\xfe broken \xc3", "</script><!-- -->", `\u0000\`, "\u2028\u2029", "🙂" + strings.Repeat("x", 1<<16), "\"\\\n\t",
	} {
		w := writer(t, 10)
		col := testreport.NewCollector(testreport.Limits{})
		col.OnTest = w.Add
		col.Test(testreport.Test{Name: s, Suite: s, Status: testreport.Passed, File: s})
		col.Test(testreport.Test{Name: s, Suite: s, Status: testreport.Failed, File: s, Message: s, Trace: s, Expected: s, Actual: s})
		col.Problem(testreport.Problem{Kind: testreport.KindCrash, Name: s, Message: s, Trace: s, File: s})
		col.Diagnostic(testreport.Diagnostic{File: s, Message: s})
		col.Cut(s)
		d := document(t, w, col.Finish(testreport.Info{Formats: []string{s}}), []routing.Failure{{Name: s, Suite: s, Class: routing.LogicError, Evidence: []routing.Evidence{{Text: s}}}})
		if len(d.Results.Tests) != 3 || (len(s) < 100 && d.Results.Tests[0].Message != string([]rune(s))) {
			t.Errorf("%q: %d tests, message %q", s[:min(len(s), 20)], len(d.Results.Tests), d.Results.Tests[0].Message)
		}
	}
}

// A parent that failed only because of a subtest has the subtest's class.
func TestParent(t *testing.T) {
	w := writer(t, 10)
	col := testreport.NewCollector(testreport.Limits{})
	col.OnTest = w.Add
	col.Test(testreport.Test{Name: "TestA", Suite: "p", Status: testreport.Failed, Parent: true})
	col.Test(testreport.Test{Name: "TestA/x", Suite: "p", Status: testreport.Failed})
	d := document(t, w, col.Finish(testreport.Info{}), []routing.Failure{
		{Name: "TestAB/x", Suite: "p", Class: routing.TypeError, Fingerprint: "v1:other"},
		{Name: "TestA/x", Suite: "p", Class: routing.LogicError, Fingerprint: "v1:x"},
	})
	if x := d.Results.Tests[0].Extra; x.Class != "LOGIC_ERROR" || x.Fingerprint != "v1:x" || x.Evidence[0].Signal != "subtest" || x.Evidence[0].Text != "TestA/x" {
		t.Errorf("%+v", x)
	}
}

// More failing tests than the report keeps are listed all the same.
func TestMoreFailingThanKept(t *testing.T) {
	w := writer(t, 3)
	col := testreport.NewCollector(testreport.Limits{Failing: 3})
	col.OnTest = w.Add
	for i := range 7 {
		col.Test(testreport.Test{Name: fmt.Sprint("f", i), Status: testreport.Failed})
		col.Test(testreport.Test{Name: fmt.Sprint("p", i), Status: testreport.Passed})
	}
	d := document(t, w, col.Finish(testreport.Info{}), nil)
	if got, want := names(d), "f0,f1,f2,p0,p1,p2,f3,p3,f4,p4,f5,p5,f6,p6"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if d.Results.Summary.Failed != 7 {
		t.Errorf("%+v", d.Results.Summary)
	}
}

// Of a source that tells what another does, no test is listed twice.
func TestSourcesLeftOut(t *testing.T) {
	for leave, want := range map[int]string{-1: "a,b,c", 0: "b,c", 1: "a,c", 3: "a,b"} {
		w := writer(t, 3)
		for _, n := range []string{"a", "b", "", "c"} {
			w.Source()
			if n != "" {
				w.Add(&testreport.Test{Name: n, Status: testreport.Passed})
			}
		}
		if leave >= 0 {
			w.Leave(leave)
		}
		n := strings.Count(want, ",") + 1
		if got := names(document(t, w, &testreport.Report{Counts: testreport.Counts{Tests: n, Passed: n}}, nil)); got != want {
			t.Errorf("without %d: %s, want %s", leave, got, want)
		}
	}
}

func TestRedact(t *testing.T) {
	w := writer(t, 5)
	w.Redact = func(s string) string { return strings.ReplaceAll(s, "hush", "***") }
	col := testreport.NewCollector(testreport.Limits{})
	col.OnTest = w.Add
	for _, st := range []testreport.Status{testreport.Passed, testreport.Failed, testreport.Skipped} {
		col.Test(testreport.Test{Name: "hush", Suite: "hush > hush", Status: st, File: "hush", Message: "hush", Trace: "hush", Expected: "hush", Actual: "hush"})
	}
	col.Problem(testreport.Problem{Kind: testreport.KindBuild, Name: "hush", Message: "hush", Trace: "hush"})
	col.Diagnostic(testreport.Diagnostic{Message: "hush"})
	fs := []routing.Failure{{Name: "hush", Suite: "hush > hush", Class: routing.LogicError, Evidence: []routing.Evidence{{Text: "hush"}}}}
	var b bytes.Buffer
	if err := w.Document(&b, "", col.Finish(testreport.Info{}), fs); err != nil || strings.Contains(b.String(), "hush") {
		t.Errorf("%v: %s", err, b.String())
	}
	if !strings.Contains(b.String(), "LOGIC_ERROR") || fs[0].Evidence[0].Text != "hush" {
		t.Error("the class is lost, or the caller's failure was changed")
	}
}

// Passing tests are not held in memory.
func TestMemoryIsBounded(t *testing.T) {
	w := writer(t, 10)
	col := testreport.NewCollector(testreport.Limits{})
	col.OnTest = w.Add
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const n = 100_000
	out := strings.Repeat("printed by a passing test ", 200)
	for i := range n {
		col.Test(testreport.Test{Name: fmt.Sprintf("TestNumber%06d", i), Suite: "example.com/a/long/name/of/a/package", Status: testreport.Passed, File: "a_test.go", Output: out})
	}
	counter := &counting{}
	if err := w.Document(counter, "", col.Finish(testreport.Info{Formats: []string{"gotest"}}), nil); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes over %d tests", grown, n)
	}
	if counter.lines != n+1 || counter.bytes < n*100 {
		t.Errorf("%d lines, %d bytes", counter.lines, counter.bytes)
	}
	runtime.KeepAlive(w)
	runtime.KeepAlive(col)
}

type counting struct{ lines, bytes int }

func (c *counting) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n{"))
	if bytes.HasPrefix(p, []byte("{\"name\"")) {
		c.lines++ // a line that begins with the buffer
	}
	c.lines += bytes.Count(p, []byte("\n]"))
	c.bytes += len(p)
	return len(p), nil
}

func TestErrorsAreSaid(t *testing.T) {
	w := writer(t, 1)
	w.spool.memory = 1000
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	for range 2000 {
		w.Add(&testreport.Test{Name: strings.Repeat("x", 100), Status: testreport.Passed})
	}
	if err := w.Document(io.Discard, "", &testreport.Report{}, nil); err == nil || !strings.Contains(err.Error(), "keeping tests") {
		t.Errorf("a spool that is gone: %v", err)
	}
	w = writer(t, 1)
	if err := w.Document(broken{}, "", &testreport.Report{}, nil); !errors.Is(err, errBroken) {
		t.Errorf("an output that breaks: %v", err)
	}
}

var errBroken = errors.New("disk full")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func TestCloseRemovesTheSpool(t *testing.T) {
	w := writer(t, 1)
	w.spool.memory = 0
	w.Add(&testreport.Test{Name: "a", Status: testreport.Passed})
	name := w.spool.file.Name()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", name, err)
	}
}

// TestSpoolSpills compares documents whose tests stood in memory, in the file
// or in both, with and without a source that is left out.
func TestSpoolSpills(t *testing.T) {
	document := func(memory int64, leave int) string {
		w := writer(t, 1)
		w.spool.memory = memory
		for s := range 3 {
			w.Source()
			for i := range 50 {
				w.Add(&testreport.Test{Name: fmt.Sprint(s, " ", i), Status: testreport.Passed})
			}
		}
		if leave >= 0 {
			w.Leave(leave)
		}
		var b strings.Builder
		if err := w.Document(&b, "", &testreport.Report{}, nil); err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(b.String())) {
			t.Errorf("memory %d, without source %d: no JSON", memory, leave)
		}
		return b.String()
	}
	for leave := -1; leave < 3; leave++ {
		want := document(1<<20, leave)
		if n := strings.Count(want, `"name":`); leave < 0 && n != 151 || leave >= 0 && n != 101 {
			t.Errorf("without source %d: %d names", leave, n)
		}
		for _, memory := range []int64{0, 100, 2500, 5000} {
			if got := document(memory, leave); got != want {
				t.Errorf("memory %d, without source %d: the document differs", memory, leave)
			}
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	good := `{"reportFormat":"CTRF","specVersion":"0.0.0","results":{"tool":{"name":"x"},"summary":{"tests":1,"passed":1,"failed":0,"skipped":0,"pending":0,"other":0,"start":0,"stop":0},"tests":[{"name":"a","status":"passed","duration":1,"suite":["s"]}]}}`
	if _, p := ctrftest.Check([]byte(good)); len(p) != 0 {
		t.Fatal(p)
	}
	for old, bad := range map[string]string{
		`"CTRF"`: `"JUnit"`, `"0.0.0"`: `"1"`, `"name":"x"`: `"name":""`, `"start":0,`: ``, `"tests":1,`: `"tests":2,`, `"passed","duration"`: `"ok","duration"`,
		`"duration":1`: `"duration":1.5`, `["s"]`: `"s"`, `"suite":["s"]`: `"suite":[]`, `"status":"passed",`: ``, `"name":"a"`: `"nom":"a"`, `"tool":{"name":"x"},`: ``, `]}}`: `]}`,
	} {
		doc := strings.Replace(good, old, bad, 1)
		if _, p := ctrftest.Check([]byte(doc)); len(p) == 0 {
			t.Errorf("%s is taken for valid", doc)
		}
		if !json.Valid([]byte(good)) || doc == good {
			t.Errorf("%s was not replaced", old)
		}
	}
}
