package golang

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

var updateGo = flag.Bool("update-go", false, "write testdata/gotest/golden.txt")

func TestGoFixtures(t *testing.T) {
	t.Parallel()
	sets := []string{"gojunit", "gotestsum", "structured", "captain"}
	for _, f := range corpustest.SharedFiles(t, sets, "gotest-json", "gotest-text", "go-test-json", "go-test-plain") {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			r, err := reader.Parse(bytes.NewReader(f.Read(t)), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			corpustest.CheckShared(t, f, r)
			for _, x := range r.Failing {
				if x.Message == "" {
					t.Errorf("%s has no message", x.FullName())
				}
			}
		})
	}
}

// TestGoGolden compares what is read of the real output that testdata/gotest/make.sh
// makes with golden.txt.
func TestGoGolden(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, pattern := range []string{"testdata/gotest/*.txt", "testdata/gotestjson/*.jsonl"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range files {
			if filepath.Base(name) != "golden.txt" {
				describeReport(t, &b, name)
			}
		}
	}
	golden := "testdata/gotest/golden.txt"
	if *updateGo {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		if i >= len(got) || i >= len(wanted) || got[i] != wanted[i] {
			t.Fatalf("line %d differs:\n got %s\nwant %s", i+1, strings.Join(got[i:min(i+1, len(got))], ""), strings.Join(wanted[i:min(i+1, len(wanted))], ""))
		}
	}
}

func describeReport(t *testing.T, b *strings.Builder, name string) {
	t.Helper()
	in, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.Parse(bytes.NewReader(in), model.Options{})
	fmt.Fprintf(b, "## %s", strings.TrimPrefix(filepath.ToSlash(name), "testdata/"))
	if err != nil {
		fmt.Fprintf(b, ": %v\n", err)
		return
	}
	fmt.Fprintf(b, ": %+v green=%v\n", r.Counts, r.Green())
	for _, x := range r.Failing {
		fmt.Fprintf(b, "failing %s kind=%s at=%d place=%s:%d parent=%v flaky=%v\n\tmessage=%q expected=%q actual=%q trace=%d lines\n",
			x.FullName(), x.Kind, x.At, x.File, x.Line, x.Parent, x.Flaky, x.Message, x.Expected, x.Actual, strings.Count(x.Trace, "\n")+1)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(b, "problem %s kind=%s at=%d place=%s:%d:%d\n\tmessage=%q\n", p.Name, p.Kind, p.At, p.File, p.Line, p.Column, p.Message)
	}
	for _, d := range r.Diagnostics {
		fmt.Fprintf(b, "diagnostic %s:%d:%d at=%d %s %q\n", d.File, d.Line, d.Column, d.At, d.Severity, d.Message)
	}
}

func TestGoText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     model.Counts
		problems []model.Kind
		check    func(*testing.T, *model.Report)
	}{
		{name: "log of a job", in: "2024-01-02T03:04:05.1234567Z \x1b[31m--- FAIL: TestA (0.01s)\x1b[0m\n2024-01-02T03:04:05.1234567Z     a_test.go:3: got 1, want 2\n2024-01-02T03:04:05.1234567Z FAIL\n2024-01-02T03:04:05.1234567Z FAIL\texample.com/a\t0.1s\n2024-01-02T03:04:05.1234567Z ##[error]Process completed with exit code 1.\n",
			want: model.Counts{Tests: 1, Failed: 1}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Suite != "example.com/a" || f.Message != "got 1, want 2" || f.Line != 3 || f.Expected != "2" {
					t.Errorf("%+v", f)
				}
			}},
		{name: "equal names in two packages", in: "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \ta\t0.1s\n=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tb\t0.1s\nFAIL\n", want: model.Counts{Tests: 2, Passed: 1, Failed: 1}},
		{name: "breaks off", in: "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n", want: model.Counts{Tests: 2, Passed: 1, Other: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "breaks off before the result", in: "=== RUN   TestA\n--- PASS: TestA (0.00s)\n", want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindTruncated}},
		{name: "package fails, tests pass", in: "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nleaked a goroutine\nexit status 1\nFAIL\ta\t0.1s\n", want: model.Counts{Tests: 1, Passed: 1}, problems: []model.Kind{model.KindPackage},
			check: func(t *testing.T, r *model.Report) {
				if r.Problems[0].Message != "leaked a goroutine" {
					t.Errorf("%+v", r.Problems[0])
				}
			}},
		{name: "a line that only looks like a panic", in: "=== RUN   TestA\npanic: recovered in the log\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:1: wrong\n--- FAIL: TestB (0.00s)\nFAIL\nFAIL\ta\t0.1s\n", want: model.Counts{Tests: 2, Passed: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Name != "TestB" || f.Kind != model.KindError {
					t.Errorf("%+v", f)
				}
			}},
		{name: "testify", in: "--- FAIL: TestA (0.00s)\n    a_test.go:12: \n        \tError Trace:\t/src/a/a_test.go:12\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n        \tTest:       \tTestA\n        \tMessages:   \tthe sum\nFAIL\nFAIL\ta\t0.1s\n", want: model.Counts{Tests: 1, Failed: 1},
			check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Expected != "1" || f.Actual != "2" || f.File != "/src/a/a_test.go" || f.Line != 12 || !strings.Contains(f.Message, "Not equal") || !strings.Contains(f.Message, "the sum") {
					t.Errorf("%+v", f)
				}
			}},
		{name: "warnings of cgo are no failure", in: "# github.com/x/sqlite3\nsqlite3.c:12:3: warning: unused variable\nok  \ta\t0.1s\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tb\t0.1s\n", want: model.Counts{Tests: 1, Passed: 1, Groups: 1}},
		{name: "a dependency does not build", in: "# example.com/dep\ndep/a.go:3:2: undefined: x\nFAIL\texample.com/user [build failed]\nFAIL\n", problems: []model.Kind{model.KindBuild, model.KindBuild}},
		{name: "multi-line compiler message", in: "# example.com/a\na.go:3:2: not enough arguments in call to f\n\thave ()\n\twant (int)\n", problems: []model.Kind{model.KindBuild},
			check: func(t *testing.T, r *model.Report) {
				if d := r.Diagnostics; len(d) != 1 || d[0].Message != "not enough arguments in call to f\nhave ()\nwant (int)" {
					t.Errorf("%+v", d)
				}
			}},
		{name: "gotestsum", in: "\u2713  example.com/b (cached)\n\u2716  example.com/a (12ms)\n\n=== Skipped\n=== SKIP: example.com/a TestS (0.00s)\n    a_test.go:1: not here\n\n=== Failed\n=== FAIL: example.com/a TestA/sub (0.00s)\n    a_test.go:9: got 1, want 2\n    --- FAIL: TestA/sub (0.00s)\n\n=== FAIL: example.com/a TestA (0.01s)\n\n=== FAIL: example.com/c  (0.00s)\npanic: no configuration\n\nDONE 9 tests, 1 skipped, 3 failures in 0.1s\n",
			want: model.Counts{Tests: 9, Passed: 6, Failed: 2, Skipped: 1}, problems: []model.Kind{model.KindCrash}, check: func(t *testing.T, r *model.Report) {
				if f := r.Failing[0]; f.Message != "got 1, want 2" || f.Suite != "example.com/a" || !r.Failing[1].Parent {
					t.Errorf("%+v", r.Failing)
				}
			}},
		{name: "gotestsum after its verbose output", in: "=== RUN   TestA\n    a_test.go:9: wrong\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\n\n=== Failed\n=== FAIL: example.com/a TestA (0.00s)\n    a_test.go:9: wrong\n\nDONE 1 tests, 1 failure in 0.1s\n",
			want: model.Counts{Tests: 1, Failed: 1}},
		{name: "killed", in: "=== RUN   TestA\nsignal: killed\nFAIL\ta\t9.1s\n", want: model.Counts{Tests: 1, Failed: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkGo(t, parseGo(t, tt.in, model.Options{}), tt.want, tt.problems)
			if tt.check != nil {
				tt.check(t, parseGo(t, tt.in, model.Options{}))
			}
		})
	}
}

func checkGo(t *testing.T, r *model.Report, want model.Counts, problems []model.Kind) {
	t.Helper()
	if r.Counts != want {
		t.Errorf("counts %+v, want %+v", r.Counts, want)
	}
	var kinds []model.Kind
	for _, p := range r.Problems {
		kinds = append(kinds, p.Kind)
	}
	if !slices.Equal(kinds, problems) {
		t.Errorf("problems %+v, want %v", r.Problems, problems)
	}
}

func TestGoJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     model.Counts
		problems []model.Kind
	}{
		{"equal names in two packages", `{"Action":"pass","Package":"a","Test":"T"}
{"Action":"fail","Package":"b","Test":"T"}
{"Action":"pass","Package":"a"}
{"Action":"fail","Package":"b"}`, model.Counts{Tests: 2, Passed: 1, Failed: 1}, nil},
		{"other lines between", "go: downloading x\n{\"Action\":\"pass\",\"Package\":\"a\",\"Test\":\"T\"}\nnoise {\n{\"a\":1}\n{\"Action\":\"pass\",\"Package\":\"a\"}\n", model.Counts{Tests: 1, Passed: 1}, nil},
		{"never ends", `{"Action":"pass","Package":"a","Test":"T"}` + "\n" + `{"Action":"run","Package":"a","Test":"U"}`, model.Counts{Tests: 2, Passed: 1, Other: 1}, []model.Kind{model.KindTruncated}},
		{"breaks off in a line", `{"Action":"pass","Package":"a","Test":"T"}` + "\n" + `{"Action":"fail","Pack`, model.Counts{Tests: 1, Passed: 1}, []model.Kind{model.KindTruncated}},
		{"build output without a package", `{"ImportPath":"a","Action":"build-output","Output":"# a\n"}
{"ImportPath":"a","Action":"build-output","Output":"a.go:1:2: undefined: x\n"}
{"ImportPath":"a","Action":"build-fail"}`, model.Counts{}, []model.Kind{model.KindBuild}},
		{"compiler errors as text", "# a\n./a.go:1:2: undefined: x\n{\"Action\":\"pass\",\"Package\":\"b\",\"Test\":\"T\"}\n{\"Action\":\"pass\",\"Package\":\"b\"}", model.Counts{Tests: 1, Passed: 1}, []model.Kind{model.KindBuild}},
		{"the package again, all of it, is no rerun", `{"Action":"fail","Package":"a","Test":"T"}
{"Action":"pass","Package":"a","Test":"U"}
{"Action":"fail","Package":"a"}
{"Action":"pass","Package":"a","Test":"T"}
{"Action":"pass","Package":"a","Test":"U"}
{"Action":"pass","Package":"a"}`, model.Counts{Tests: 4, Passed: 3, Failed: 1}, nil},
		{"a rerun of what failed", `{"Action":"fail","Package":"a","Test":"T/s"}
{"Action":"pass","Package":"a","Test":"T/t"}
{"Action":"fail","Package":"a","Test":"T"}
{"Action":"pass","Package":"a","Test":"U"}
{"Action":"fail","Package":"a"}
{"Action":"pass","Package":"a","Test":"T/s"}
{"Action":"pass","Package":"a","Test":"T/t"}
{"Action":"pass","Package":"a","Test":"T"}
{"Action":"pass","Package":"a"}`, model.Counts{Tests: 4, Passed: 4, Flaky: 2}, nil},
		{"a race without a test", `{"Action":"pass","Package":"a","Test":"T"}
{"Action":"output","Package":"a","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"a","Output":"testing: race detected outside of test execution\n"}
{"Action":"fail","Package":"a"}`, model.Counts{Tests: 1, Passed: 1}, []model.Kind{model.KindRace}},
		{"exit status", `{"Action":"output","Package":"a","Output":"exit status 3\n"}
{"Action":"fail","Package":"a"}`, model.Counts{}, []model.Kind{model.KindExit}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkGo(t, parseGo(t, tt.in, model.Options{}), tt.want, tt.problems)
		})
	}
}

// A line longer than the limit still says which test it is of, and the
// observer sees what was printed.
func TestGoJSONLongLine(t *testing.T) {
	t.Parallel()
	in := `{"Action":"run","Package":"a","Test":"T"}` + "\n" +
		`{"Action":"output","Package":"a","Test":"T","Output":"` + strings.Repeat("x", 3<<20) + `\n"}` + "\n" +
		`{"Action":"output","Package":"a","Test":"T","Output":"    a_test.go:1: wrong\n"}` + "\n" +
		`{"Action":"fail","Package":"a","Test":"T"}` + "\n" + `{"Action":"fail","Package":"a"}` + "\n"
	var seen []lines.Line
	r := parseGo(t, in, model.Options{OnLine: func(l lines.Line) { seen = append(seen, l) }})
	checkGo(t, r, model.Counts{Tests: 1, Failed: 1}, nil)
	if f := r.Failing[0]; f.Message != "wrong" || len(f.Trace) > 20<<10 {
		t.Errorf("%q, trace of %d bytes", f.Message, len(f.Trace))
	}
	if len(seen) != 5 || seen[2].Text != "    a_test.go:1: wrong" || !strings.HasPrefix(seen[1].Text, "xxxx") {
		t.Errorf("%d lines seen", len(seen))
	}
}

func TestGoEventScan(t *testing.T) {
	t.Parallel()
	line := `{"Time":"2024-01-02T03:04:05Z","Action":"output","Package":"a/b","Test":"T\u00fc/\ud83d\ude00","Elapsed":1.5,"Output":"a\tb\\\"\n","X":{"y":[1,{"z":null}]}}`
	var e goEvent
	if ok, whole := e.scan(line); !ok || !whole {
		t.Fatal(ok, whole)
	}
	if e.Action != "output" || e.Package != "a/b" || e.Test != "Tü/😀" || e.Elapsed != 1.5 || string(e.Output) != "a\tb\\\"\n" {
		t.Errorf("%+v %q", e, e.Output)
	}
	for i := range line {
		ok, whole := e.scan(line[:i])
		if whole || i > 0 && !ok {
			t.Errorf("cut at %d: %v %v", i, ok, whole)
		}
		if i > 60 && (e.Action != "output" || strings.HasSuffix(e.Test, "\ufffd")) && i < 90 {
			t.Errorf("cut at %d: %+v", i, e)
		}
	}
}

func FuzzGoEventScan(f *testing.F) {
	f.Add(`{"Action":"run","Package":"a","Test":"b","Output":"\u2028\n","Elapsed":-1e3}`)
	f.Add(`{"Action":"x","y":[1,{"a":"\"}"}],"Test":"\ud800"}`)
	f.Fuzz(func(t *testing.T, s string) {
		var e goEvent
		ok, whole := e.scan(s)
		var want map[string]any
		dec := json.Unmarshal([]byte(s), &want)
		if dec != nil || want == nil {
			return
		}
		if !ok || !whole {
			t.Fatalf("not read: %q", s)
		}
		for k, got := range map[string]string{"Action": e.Action, "Package": e.Package, "Test": e.Test, "ImportPath": e.ImportPath, "Time": e.Time, "Output": string(e.Output)} {
			w, isString := want[k].(string)
			if isString && strings.ToValidUTF8(w, "\ufffd") != strings.ToValidUTF8(got, "\ufffd") && strings.Count(s, `"`+k+`"`) == 1 && !strings.Contains(w, "\ufffd") {
				t.Fatalf("%s: %q, want %q in %q", k, got, w, s)
			}
		}
	})
}

func addGoSeeds(f *testing.F) {
	for _, pattern := range []string{"testdata/gotest/*.txt", "testdata/gotestjson/*.jsonl"} {
		files, _ := filepath.Glob(pattern)
		for _, name := range files {
			if b, err := os.ReadFile(name); err == nil && len(b) < 16<<10 {
				f.Add(b)
			}
		}
	}
}

func fuzzGo(t *testing.T, format string, in []byte) {
	lim := model.Limits{Line: 4 << 10, Text: 1 << 10, Failing: 50}
	c := model.NewCollector(lim)
	failed := 0
	c.OnTest = func(x *model.Test) {
		if x.Status == model.Failed {
			failed++
		}
		if len(x.Trace) > 4*lim.Text || len(x.Message) > 4*lim.Text {
			t.Errorf("a text over its limit: %d, %d", len(x.Trace), len(x.Message))
		}
	}
	info, err := reader.Read(bytes.NewReader(in), model.Options{Format: format, Limits: lim}, c)
	r := c.Finish(info)
	if err != nil {
		return
	}
	if r.Green() && failed > 0 {
		t.Error("green with a failing test")
	}
	if n := r.Counts; n.Tests != n.Passed+n.Failed+n.Skipped+n.Other {
		t.Errorf("counts do not add up: %+v", n)
	}
}

func FuzzGoTestJSON(f *testing.F) {
	addGoSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzGo(t, "gotest-json", in) })
}

func FuzzGoTest(f *testing.F) {
	addGoSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte) { fuzzGo(t, "gotest", in) })
}

// goEvents returns go test -json of n tests in packages of a hundred.
func goEvents(n int) []byte {
	var b bytes.Buffer
	enc := func(action, pkg, test, out string) {
		fmt.Fprintf(&b, `{"Time":"2024-01-02T03:04:05.123456789Z","Action":%q,"Package":%q`, action, pkg)
		if test != "" {
			fmt.Fprintf(&b, `,"Test":%q`, test)
		}
		if out != "" {
			fmt.Fprintf(&b, `,"Output":%q`, out)
		} else if action != "run" {
			b.WriteString(`,"Elapsed":0.01`)
		}
		b.WriteString("}\n")
	}
	for i := range n {
		pkg := fmt.Sprintf("example.com/some/module/pkg%d", i/100)
		test := fmt.Sprintf("TestNumber%d", i)
		enc("run", pkg, test, "")
		enc("output", pkg, test, "=== RUN   "+test+"\n")
		for range 5 {
			enc("output", pkg, test, "    some_test.go:12: a line of log with some length to it\n")
		}
		if i%50 == 0 {
			enc("output", pkg, test, "    some_test.go:14: got 1, want 2\n")
			enc("output", pkg, test, "--- FAIL: "+test+" (0.01s)\n")
			enc("fail", pkg, test, "")
		} else {
			enc("output", pkg, test, "--- PASS: "+test+" (0.01s)\n")
			enc("pass", pkg, test, "")
		}
		if i%100 == 99 || i == n-1 {
			enc("output", pkg, "", "FAIL\t"+pkg+"\t1.0s\n")
			enc("fail", pkg, "", "")
		}
	}
	return b.Bytes()
}

func BenchmarkGoTestJSON(b *testing.B) {
	in := goEvents(10000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := reader.Parse(bytes.NewReader(in), model.Options{Format: "gotest-json"})
		if err != nil || r.Counts.Tests != 10000 || r.Counts.Failed != 200 {
			b.Fatal(r, err)
		}
	}
}

// Many packages that print much and long must not pile up.
func TestGoJSONMemory(t *testing.T) {
	t.Parallel()
	line := `{"Action":"output","Package":"a","Test":"T","Output":"` + strings.Repeat("y", 500) + `\n"}` + "\n"
	r, err := reader.Parse(io.MultiReader(
		io.LimitReader(corpustest.Repeated(line), int64(len(line))*20000),
		strings.NewReader(`{"Action":"fail","Package":"a","Test":"T"}`+"\n"+`{"Action":"fail","Package":"a"}`+"\n")), model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Failing[0]; len(f.Trace) > 20<<10 {
		t.Errorf("trace of %d bytes", len(f.Trace))
	}
}

func TestGoDuration(t *testing.T) {
	t.Parallel()
	r := parseGo(t, "--- FAIL: TestA (1.25s)\nFAIL\ta\t2s\n--- FAIL: TestB (0.02 seconds)\nFAIL\tb\t0.1s\n", model.Options{})
	if r.Duration != 1270*time.Millisecond {
		t.Errorf("%v", r.Duration)
	}
}

func parseGo(t testing.TB, s string, opt model.Options) *model.Report {
	t.Helper()
	r, err := reader.Parse(strings.NewReader(s), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verboseRun is what go test -v prints for packages of a hundred tests.
func verboseRun(tests int) string {
	var b strings.Builder
	for i := range tests {
		name := fmt.Sprintf("TestHandles_orders_%d", i)
		fmt.Fprintf(&b, "=== RUN   %s\n", name)
		if i%5 == 0 {
			fmt.Fprintf(&b, "2026/01/02 03:04:05 INFO request served method=GET path=/v1/orders/%d status=200\n", i)
		}
		if i%50 == 0 {
			fmt.Fprintf(&b, "    part_test.go:%d: got %d, want %d\n--- FAIL: %s (0.01s)\n", i, i, i+1, name)
		} else {
			fmt.Fprintf(&b, "--- PASS: %s (0.03s)\n", name)
		}
		if i%100 == 99 {
			fmt.Fprintf(&b, "FAIL\nFAIL\texample.com/app/part%d\t0.012s\n", i/100)
		}
	}
	return b.String()
}

func BenchmarkGoTestVerbose(b *testing.B) {
	in := verboseRun(10000)
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := reader.Parse(strings.NewReader(in), model.Options{})
		if err != nil || r.Counts.Tests != 10000 || r.Counts.Failed != 200 {
			b.Fatal(r, err)
		}
	}
}

// However many tests run at once, each end finds its own beginning.
func TestManyGoTestsAtOnce(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, fewOpen, fewOpen + 1, 100} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "=== RUN   Test%d\n=== PAUSE Test%d\n", i, i)
		}
		for i := range n {
			fmt.Fprintf(&b, "=== CONT  Test%d\n    a_test.go:%d: got 1, want 2\n--- FAIL: Test%d (0.00s)\n", i, i+1, i)
		}
		b.WriteString("=== RUN   Test0\n--- PASS: Test0 (0.00s)\nFAIL\nFAIL\ta\t0.1s\n") // -count
		r := parseGo(t, b.String(), model.Options{})
		if r.Counts.Tests != n+1 || r.Counts.Failed != n || r.Counts.Passed != 1 || !r.Failing[0].Flaky {
			t.Errorf("%d at once: %+v", n, r.Counts)
		}
		for i, f := range r.Failing {
			if f.Name != fmt.Sprintf("Test%d", i) || f.Line != i+1 {
				t.Errorf("%d at once: %s at %d", n, f.Name, f.Line)
			}
		}
	}
}
