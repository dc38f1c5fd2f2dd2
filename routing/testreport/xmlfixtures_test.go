package testreport_test

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/testreport/internal/corpustest"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// xmlFormatOf maps the formats of the manifests to ours.
var xmlFormatOf = map[string]string{
	"trx": "trx", "nunit3": "nunit3", "dotnet-nunit": "nunit3", "xunit2": "xunit", "aunit-xml": "aunit", "check-xml": "check",
	"cppunit-xml": "cppunit", "cunit-xml": "cunit", "qtestlib-xml": "qtest", "valgrind-xml": "valgrind",
}

// xmlNotGreen are files whose tests all passed, but that say that something
// else went wrong: the program under Valgrind was ended by a signal.
var xmlNotGreen = []string{"valgrind__testcase3.xml"}

func TestXMLFixtures(t *testing.T) {
	t.Parallel()
	var want []string
	for f := range xmlFormatOf {
		want = append(want, f)
	}
	for _, f := range corpustest.SharedFiles(t, []string{"structured", "captain", "xunitplugin"}, want...) {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			r, err := reader.Parse(bytes.NewReader(f.Read(t)), model.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Formats, []string{xmlFormatOf[f.Format]}) {
				t.Errorf("formats %v, want %s", r.Formats, xmlFormatOf[f.Format])
			}
			if slices.Contains(xmlNotGreen, f.File) {
				if f.Expect.OtherErrors++; r.Green() {
					t.Error("green")
				}
			}
			// Inconclusive is skipped here; the conversion of the plugin calls it failed.
			f.Expect.FailingTests = slices.DeleteFunc(f.Expect.FailingTests, func(n string) bool { return strings.HasSuffix(n, "::InconclusiveTest") })
			corpustest.CheckShared(t, f, r)
			for _, x := range r.Failing {
				if x.Message == "" || x.At == 0 {
					t.Errorf("%s has no message or no line: %+v", x.FullName(), x)
				}
			}
		})
	}
}

// TestXMLClaimsNoLog reads the logs of all sets: no line of them is the start
// of a document of these formats.
func TestXMLClaimsNoLog(t *testing.T) {
	t.Parallel()
	mine := map[string]bool{}
	for _, name := range xmlCorpus {
		mine[name] = name != "junit"
	}
	for _, f := range fixtureFiles(t, "bugswarm_gha", "bugswarm_travis", "swebench_eval", "cidiff", "faultline_real", "go_logparser", "treeherder", "pytorch_classify", "errorformat", "gojunit", "gotestsum") {
		t.Run(f.Set+"/"+f.File, func(t *testing.T) {
			t.Parallel()
			in, err := os.ReadFile(f.path())
			if err != nil {
				t.Fatal(err)
			}
			info, err := reader.Read(bytes.NewReader(in), model.Options{}, model.NewCollector(model.Limits{}))
			if err != nil && !errors.Is(err, model.ErrUnknownFormat) {
				t.Fatal(err)
			}
			for _, name := range info.Formats {
				if mine[name] {
					t.Errorf("claimed by %s", name)
				}
			}
		})
	}
}
