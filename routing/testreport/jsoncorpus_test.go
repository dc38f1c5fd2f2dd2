package testreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

var updateJSON = flag.Bool("update-json", false, "write the expectations of the JSON formats' testdata")

// jsonDirs are the folders of testdata for formats that are JSON, with the
// format's name.
var jsonDirs = map[string]string{
	"ctrf": "ctrf", "jestjson": "jest-json", "vitestjson": "jest-json", "mochajson": "mocha-json", "mochawesome": "mochawesome", "playwrightjson": "playwright-json",
	"rspecjson": "rspec-json", "pytestjson": "pytest-json", "pytestreportlog": "pytest-reportlog", "cucumberjson": "cucumber-json", "ginkgojson": "ginkgo-json",
	"karmajson": "karma-json", "testcafejson": "testcafe-json", "libtestjson": "libtest-json", "dartjson": "dart-json", "bazelbep": "bazel-bep", "sarif": "sarif",
}

// jsonWant is the expectation beside an input, in a file that ends in .want.
type jsonWant struct {
	Formats     string
	Counts      model.Counts
	Green       bool
	Failing     []string `json:",omitempty"`
	Flaky       []string `json:",omitempty"`
	Problems    []string `json:",omitempty"`
	Diagnostics []string `json:",omitempty"`
}

func wantOf(r *model.Report) jsonWant {
	w := jsonWant{Formats: strings.Join(r.Formats, " "), Counts: r.Counts, Green: r.Green()}
	place := func(file string, line, column, at int) string {
		return fmt.Sprintf(" @%s:%d:%d (line %d)", file, line, column, at)
	}
	for _, t := range r.Failing {
		s := fmt.Sprintf("%s%s [%s] %s: %s", t.FullName(), place(t.File, t.Line, t.Column, t.At), t.Kind, t.Type, bounded.CutText(t.Message, 300))
		if t.Expected != "" || t.Actual != "" {
			s += fmt.Sprintf(" <%s> is not <%s>", bounded.CutText(t.Actual, 100), bounded.CutText(t.Expected, 100))
		}
		w.Failing = append(w.Failing, s+fmt.Sprintf(" retries %d", t.Retries))
	}
	for _, t := range r.Flaky {
		w.Flaky = append(w.Flaky, fmt.Sprintf("%s%s retries %d: %s", t.FullName(), place(t.File, t.Line, t.Column, t.At), t.Retries, bounded.CutText(t.Message, 200)))
	}
	for _, p := range r.Problems {
		w.Problems = append(w.Problems, fmt.Sprintf("%s %s%s: %s", p.Kind, p.Name, place(p.File, p.Line, p.Column, p.At), bounded.CutText(p.Message, 300)))
	}
	for _, d := range r.Diagnostics {
		w.Diagnostics = append(w.Diagnostics, fmt.Sprintf("%s %s %s%s: %s", d.Tool, d.Severity, d.Code, place(d.File, d.Line, d.Column, d.At), bounded.CutText(d.Message, 300)))
	}
	return w
}

type jsonSample struct {
	path, format string
	lines        bool
}

// jsonSamples returns the inputs in the folders of jsonDirs.
func jsonSamples(t testing.TB) []jsonSample {
	t.Helper()
	var all []jsonSample
	for dir, format := range jsonDirs {
		for _, pattern := range []string{"*.json", "*.jsonl", "*.txt"} {
			m, err := filepath.Glob(filepath.Join("testdata", dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range m {
				all = append(all, jsonSample{p, format, !strings.HasSuffix(p, ".json")})
			}
		}
	}
	if len(all) < len(jsonDirs) {
		t.Fatalf("only %d inputs", len(all))
	}
	return all
}

func TestJSONTestdata(t *testing.T) {
	for _, s := range jsonSamples(t) {
		t.Run(strings.TrimPrefix(s.path, "testdata/"), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := reader.Parse(bytes.NewReader(b), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var buf bytes.Buffer
			enc := json.NewEncoder(&buf)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			if err := enc.Encode(wantOf(r)); err != nil {
				t.Fatal(err)
			}
			if *updateJSON {
				if err := os.WriteFile(s.path+".want", buf.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(s.path + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(buf.Bytes(), want) {
				t.Errorf("got %s\nwant %s", buf.Bytes(), want)
			}
		})
	}
}

// TestJSONInALog reads each input behind the time stamps and colours of a
// GitHub job log, with other lines around: the same is found, places in the
// input aside.
func TestJSONInALog(t *testing.T) {
	for _, s := range jsonSamples(t) {
		t.Run(strings.TrimPrefix(s.path, "testdata/"), func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := reader.Parse(bytes.NewReader(b), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := withoutPlaces(plain)
			for name, log := range map[string]string{"job log": jobLog(string(b)), "noise": "> npm test\n\n{ not json }\n" + string(b) + "\nnpm error code 1\n"} {
				got, err := reader.Parse(strings.NewReader(log), model.Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if g := withoutPlaces(got); g != want {
					t.Errorf("%s: got %s\nwant %s", name, g, want)
				}
			}
		})
	}
}

func withoutPlaces(r *model.Report) string {
	c := *r
	c.Failing, c.Flaky, c.Problems, c.Diagnostics = nil, nil, nil, nil
	for _, t := range r.Failing {
		t.At = 0
		c.Failing = append(c.Failing, t)
	}
	for _, t := range r.Flaky {
		t.At = 0
		c.Flaky = append(c.Flaky, t)
	}
	for _, p := range r.Problems {
		p.At, p.Message = 0, strings.Split(p.Message, " at line ")[0]
		c.Problems = append(c.Problems, p)
	}
	for _, d := range r.Diagnostics {
		d.At = 0
		c.Diagnostics = append(c.Diagnostics, d)
	}
	b, _ := json.MarshalIndent(wantOf(&c), "", " ")
	return string(b)
}

// jobLog puts the time stamps of a GitHub job log before each line, and colours
// before some.
func jobLog(s string) string {
	var b strings.Builder
	at := time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)
	lines := append([]string{"##[group]Run make test", "\x1b[36;1mmake test\x1b[0m", "##[endgroup]"}, strings.Split(strings.TrimSuffix(s, "\n"), "\n")...)
	lines = append(lines, "##[error]Process completed with exit code 1.", "Post job cleanup.")
	for i, l := range lines {
		at = at.Add(123456700 * time.Nanosecond)
		b.WriteString(at.Format("2006-01-02T15:04:05.0000000Z "))
		if i%7 == 3 && l != "" {
			l = "\x1b[0m" + l
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// TestJSONTruncated cuts each input at twenty places; none may be green, but
// for what behind the end of the last document or event holds nothing.
func TestJSONTruncated(t *testing.T) {
	type input struct {
		name string
		b    []byte
	}
	var all []input
	for _, s := range jsonSamples(t) {
		b, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, input{s.path, b})
	}
	for _, f := range jsonSharedFiles(t) {
		all = append(all, input{f.File, f.Read(t)})
	}
	for _, in := range all {
		b := bytes.TrimSpace(in.b)
		for i := 1; i <= 20; i++ {
			cut := b[:len(b)*i/21]
			r, err := reader.Parse(bytes.NewReader(cut), model.Options{})
			if err == nil && r.Green() {
				t.Errorf("%s cut at %d of %d is green", in.name, len(cut), len(b))
			}
		}
		if r, err := reader.Parse(bytes.NewReader(b[:len(b)-1]), model.Options{}); err == nil && r.Green() && !strings.HasSuffix(in.name, ".txt") {
			t.Errorf("%s without its last byte is green", in.name)
		}
	}
}

func TestMachineFormatsAreThoseOfTests(t *testing.T) {
	for name, want := range map[string]bool{"junit": true, "gotest-json": true, "jest-json": true, "dart-json": true, "jest": false, "gotest": false, "sarif": false, "": false} {
		if reader.Machine(name) != want {
			t.Errorf("Machine(%q) is %v", name, !want)
		}
	}
}

func TestPlaywrightInterrupted(t *testing.T) {
	doc := `{"config":{"rootDir":"/p","projects":[{"name":""}]},"suites":[{"title":"a.spec.ts","file":"a.spec.ts","specs":[
{"title":"x","ok":true,"tests":[{"expectedStatus":"passed","results":[{"status":"passed","duration":1,"errors":[]}],"status":"expected"}],"file":"a.spec.ts","line":1,"column":1},
{"title":"y","ok":true,"tests":[{"expectedStatus":"passed","results":[{"status":"interrupted","duration":1,"errors":[]}],"status":"skipped"}],"file":"a.spec.ts","line":2,"column":1}]}],
"errors":[],"stats":{"expected":1,"skipped":1,"unexpected":0,"flaky":0}}`
	r := parseText(t, doc, model.Options{})
	if r.Green() || r.Counts.Tests != 2 || r.Counts.Skipped != 1 || len(r.Problems) != 1 || r.Problems[0].Kind != model.KindTruncated {
		t.Errorf("got %+v", r)
	}
}

// TestJSONTotalsHoldMoreThanIsNamed: totals that state more failures than the
// document names make it incomplete, whatever the format.
func TestJSONTotalsHoldMoreThanIsNamed(t *testing.T) {
	for name, doc := range map[string]string{
		"ctrf":            `{"results":{"tool":{"name":"x"},"summary":{"tests":2,"failed":1},"tests":[{"name":"a","status":"passed"}]}}`,
		"jest-json":       `{"numFailedTests":1,"numTotalTests":2,"testResults":[{"name":"a","status":"passed","assertionResults":[{"title":"a","status":"passed"}]}]}`,
		"mocha-json":      `{"stats":{"tests":2,"passes":1,"failures":1},"passes":[{"title":"a","fullTitle":"a"}],"failures":[]}`,
		"mochawesome":     `{"stats":{"tests":2,"passes":1,"failures":1,"passPercent":50},"results":[{"title":"","tests":[{"title":"a","state":"passed","pass":true}]}]}`,
		"rspec-json":      `{"version":"3","examples":[{"description":"a","full_description":"a","status":"passed"}],"summary":{"failure_count":1}}`,
		"pytest-json":     `{"exitcode":1,"root":"/p","summary":{"failed":1},"tests":[{"nodeid":"a.py::a","outcome":"passed"}]}`,
		"karma-json":      `{"browsers":{"1":{"lastResult":{}}},"result":{"1":[{"description":"a","success":true}]},"summary":{"failed":1,"disconnected":false}}`,
		"testcafe-json":   `{"userAgents":[],"passed":1,"total":2,"skipped":0,"fixtures":[{"name":"f","path":"f.js","tests":[{"name":"a","errs":[]}]}]}`,
		"playwright-json": `{"config":{"rootDir":"/p"},"suites":[{"title":"a","specs":[{"title":"a","tests":[{"expectedStatus":"passed","status":"expected","results":[]}]}]}],"stats":{"unexpected":1}}`,
		"ginkgo-json":     `[{"SuitePath":"/p","SuiteSucceeded":false,"SpecReports":[{"LeafNodeType":"It","LeafNodeText":"a","State":"passed"}]}]`,
	} {
		r := parseText(t, doc, model.Options{})
		if len(r.Formats) != 1 || r.Formats[0] != name {
			t.Errorf("%s: read as %v", name, r.Formats)
		}
		if r.Green() || r.Counts.Passed != 1 || len(r.Problems) == 0 {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
