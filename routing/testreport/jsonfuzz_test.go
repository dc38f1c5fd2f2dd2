package testreport_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// fuzzJSON feeds a format with its own testdata and fixtures, changed. It must
// end, and give no more than the limits allow.
func fuzzJSON(f *testing.F, format string) {
	for _, s := range jsonSamples(f) {
		if s.format == format {
			b, err := os.ReadFile(s.path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b[:min(len(b), 16<<10)])
		}
	}
	for _, s := range jsonSharedFiles(f) {
		if jsonFixtures[s.Format] == format {
			b := s.Read(f)
			f.Add(b[:min(len(b), 8<<10)])
		}
	}
	lim := model.Limits{Text: 512, Failing: 20, Line: 4096, Depth: 30}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := reader.Parse(bytes.NewReader(b), model.Options{Format: format, Limits: lim})
		if err != nil {
			return
		}
		if len(r.Failing) > 20 || len(r.Problems) > 20 {
			t.Fatalf("%d failures, %d problems", len(r.Failing), len(r.Problems))
		}
		for _, x := range r.Failing {
			if len(x.Message) > 2048 || len(x.Trace) > 2048 {
				t.Fatalf("a text of %d bytes", max(len(x.Message), len(x.Trace)))
			}
		}
	})
}

func FuzzCTRF(f *testing.F) { fuzzJSON(f, "ctrf") }

func FuzzJestJSON(f *testing.F) { fuzzJSON(f, "jest-json") }

func FuzzMochaJSON(f *testing.F) { fuzzJSON(f, "mocha-json") }

func FuzzMochaStream(f *testing.F) { fuzzJSON(f, "mocha-json-stream") }

func FuzzMochawesome(f *testing.F) { fuzzJSON(f, "mochawesome") }

func FuzzPlaywrightJSON(f *testing.F) { fuzzJSON(f, "playwright-json") }

func FuzzRSpecJSON(f *testing.F) { fuzzJSON(f, "rspec-json") }

func FuzzPytestJSON(f *testing.F) { fuzzJSON(f, "pytest-json") }

func FuzzPytestReportLog(f *testing.F) { fuzzJSON(f, "pytest-reportlog") }

func FuzzCucumberJSON(f *testing.F) { fuzzJSON(f, "cucumber-json") }

func FuzzGinkgoJSON(f *testing.F) { fuzzJSON(f, "ginkgo-json") }

func FuzzKarmaJSON(f *testing.F) { fuzzJSON(f, "karma-json") }

func FuzzTestCafeJSON(f *testing.F) { fuzzJSON(f, "testcafe-json") }

func FuzzLibtestJSON(f *testing.F) { fuzzJSON(f, "libtest-json") }

func FuzzDartJSON(f *testing.F) { fuzzJSON(f, "dart-json") }

func FuzzBazelBEP(f *testing.F) { fuzzJSON(f, "bazel-bep") }

func FuzzSARIF(f *testing.F) { fuzzJSON(f, "sarif") }

// TestJSONClaimsNothingElse reads every log of the fixtures and of other
// formats' testdata: none of the formats that are JSON may recognise anything.
func TestJSONClaimsNothingElse(t *testing.T) {
	var names []string
	for _, n := range jsonDirs {
		names = append(names, n)
	}
	names = append(names, "mocha-json-stream")
	check := func(name string, b []byte) {
		r, err := reader.Parse(bytes.NewReader(b), model.Options{})
		if err != nil && r == nil {
			return
		}
		for _, f := range r.Formats {
			if slices.Contains(names, f) {
				t.Errorf("%s: read as %s", name, f)
			}
		}
	}
	n := 0
	for _, root := range []string{"testdata", "../../../shared/fixtures"} {
		files, err := allFiles(root)
		if err != nil {
			t.Logf("%s: %v", root, err)
			continue
		}
		for _, p := range files {
			if strings.HasSuffix(p, ".json") || strings.HasSuffix(p, ".jsonl") || strings.HasSuffix(p, ".want") || strings.HasSuffix(p, ".sh") ||
				strings.Contains(p, "testdata/fuzz/") || strings.Contains(p, "/errorformat/") && strings.Contains(p, "sarif") {
				continue
			}
			ours := false
			for dir := range jsonDirs {
				ours = ours || strings.Contains(p, "testdata/"+dir+"/")
			}
			if ours {
				continue
			}
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			check(p, b[:min(len(b), 2<<20)])
			n++
		}
	}
	if n < 10 {
		t.Errorf("only %d logs", n)
	}
}

// allFiles lists the files below root, one and two folders deep.
func allFiles(root string) ([]string, error) {
	top, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, d := range top {
		if !d.IsDir() {
			continue
		}
		in, err := os.ReadDir(root + "/" + d.Name())
		if err != nil {
			return nil, err
		}
		for _, e := range in {
			if e.Type().IsRegular() {
				all = append(all, root+"/"+d.Name()+"/"+e.Name())
			}
		}
	}
	return all, nil
}
