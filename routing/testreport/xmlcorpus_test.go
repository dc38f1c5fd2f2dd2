package testreport_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// xmlCorpus are the folders of testdata that hold XML reports, with the format.
var xmlCorpus = map[string]string{
	"check": "check", "cunit": "cunit", "cppunit": "cppunit", "aunit": "aunit", "qtest": "qtest", "valgrind": "valgrind", "nunit2": "nunit2",
	"testngxml": "testng-xml", "gtestxml": "junit", "robot": "robot", "trx": "trx", "nunit3": "nunit3", "xunitnet": "xunit", "checkstyle": "checkstyle",
	"ctestxml": "ctest-xml", "boostxml": "boost-xml", "catch2xml": "catch2-xml",
}

func xmlFiles(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	for dir, format := range xmlCorpus {
		m, err := filepath.Glob(filepath.Join("testdata", dir, "*.xml"))
		if err != nil || len(m) == 0 {
			t.Fatalf("no corpus in testdata/%s: %v", dir, err)
		}
		for _, f := range m {
			files[f] = format
		}
	}
	return files
}

// TestXMLCutShort cuts each report at many points: what is left is never green.
func TestXMLCutShort(t *testing.T) {
	t.Parallel()
	for file := range xmlFiles(t) {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.TrimSpace(in)
		root, _ := xmlstream.Root(in)
		start := bytes.Index(in, []byte("<"+root))
		whole, err := reader.Parse(bytes.NewReader(in), model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i <= 40; i++ {
			at := start + len(root) + 1 + (len(in)-start-len(root)-2)*i/41
			r, err := reader.Parse(bytes.NewReader(in[:at]), model.Options{})
			if err != nil {
				continue // refused
			}
			if r.Green() || len(r.Problems) == 0 {
				t.Errorf("%s cut at %d of %d: green %v, problems %v", file, at, len(in), r.Green(), r.Problems)
			}
			if r.Counts.Failed > whole.Counts.Failed+1 {
				t.Errorf("%s cut at %d: %d failed, whole %d", file, at, r.Counts.Failed, whole.Counts.Failed)
			}
		}
	}
}

// TestXMLInLog puts each report whose root says what it is into the log of a
// job: the same is found as in the file, at the lines of the log, and the log goes on behind it.
func TestXMLInLog(t *testing.T) {
	t.Parallel()
	for file, name := range xmlFiles(t) {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		root, rest := xmlstream.Root(in)
		if !format.EmbeddedRoots()[root] || format.Surest([]byte("<"+root+string(xmlstream.RootTag(rest))+">"), func(f *format.Format) bool { return f.Document != nil && !f.SelfDelimiting }) == nil || bytes.ContainsAny(xmlstream.RootTag(rest), "\n") {
			continue
		}
		alone, err := reader.Parse(bytes.NewReader(in), model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		for i, l := range strings.Split("##[group]Run tests\n"+strings.TrimSpace(string(in))+"\n\x1b[31mFAIL\x1b[0m\texample.com/a [build failed]\nFAIL\n", "\n") {
			fmt.Fprintf(&log, "2024-01-02T03:04:%02d.%07dZ %s\n", i/60%60, i%10000000, l)
		}
		r, err := reader.Parse(&log, model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Counts != alone.Counts || len(r.Diagnostics) != len(alone.Diagnostics) {
			t.Errorf("%s: counts %+v in a log, %+v alone; %v", file, r.Counts, alone.Counts, r.Problems)
		}
		if len(r.Formats) != 2 || r.Formats[0] != name {
			t.Errorf("%s: formats %v", file, r.Formats)
		}
		for i := range min(len(r.Failing), len(alone.Failing)) {
			a, b := r.Failing[i], alone.Failing[i]
			b.At++
			if a.Trace, b.Trace = "", ""; a.Message == b.Message && !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %+v in a log, %+v alone", file, a, b)
			}
		}
	}
}

// fuzzXML reads what fuzzing makes of the reports of one folder as that format,
// and inside a log.
func fuzzXML(f *testing.F, dir string) {
	format := xmlCorpus[dir]
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.xml"))
	if err != nil || len(files) == 0 {
		f.Fatal("no corpus", err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in[:min(len(in), 6000)])
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		lim := model.Limits{Line: 4 << 10, Text: 1 << 10, Failing: 50, Depth: 20}
		r, err := reader.Parse(bytes.NewReader(in), model.Options{Limits: lim, Format: format})
		if err == nil && r.Green() && (r.Counts.Failed > 0 || r.Counts.Passed == 0) {
			t.Error("green")
		}
		if err == nil {
			for _, x := range r.Failing {
				if len(x.Message) > lim.Text*2 || len(x.Trace) > lim.Text*3 {
					t.Errorf("message of %d bytes, trace of %d", len(x.Message), len(x.Trace))
				}
			}
		}
		_, _ = reader.Parse(bytes.NewReader(append([]byte("a log\n"), in...)), model.Options{Limits: lim})
	})
}

func FuzzTRX(f *testing.F) { fuzzXML(f, "trx") }

func FuzzNUnit3(f *testing.F) { fuzzXML(f, "nunit3") }

func FuzzNUnit2(f *testing.F) { fuzzXML(f, "nunit2") }

func FuzzXUnitNet(f *testing.F) { fuzzXML(f, "xunitnet") }

func FuzzTestNGXML(f *testing.F) { fuzzXML(f, "testngxml") }

func FuzzRobot(f *testing.F) { fuzzXML(f, "robot") }

func FuzzCppUnit(f *testing.F) { fuzzXML(f, "cppunit") }

func FuzzAUnit(f *testing.F) { fuzzXML(f, "aunit") }

func FuzzCheck(f *testing.F) { fuzzXML(f, "check") }

func FuzzCUnit(f *testing.F) { fuzzXML(f, "cunit") }

func FuzzQTest(f *testing.F) { fuzzXML(f, "qtest") }

func FuzzValgrind(f *testing.F) { fuzzXML(f, "valgrind") }

func FuzzCheckstyle(f *testing.F) { fuzzXML(f, "checkstyle") }

func FuzzCTestXML(f *testing.F) { fuzzXML(f, "ctestxml") }

func FuzzBoostXML(f *testing.F) { fuzzXML(f, "boostxml") }

func FuzzCatch2XML(f *testing.F) { fuzzXML(f, "catch2xml") }
