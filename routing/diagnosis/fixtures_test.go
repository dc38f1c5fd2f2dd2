package diagnosis

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// fixtures is a checkout of recorded logs beside this one; where it is absent,
// fewer subtests run.
const fixtures = "../../../shared/fixtures"

// predictions, if set, is where TestFixtures writes what it predicts, for the
// scorer: go test -run TestFixtures -args -predictions FILE.
var predictions = flag.String("predictions", "", "write predictions of the fixtures to this `file`")

var logSets = []string{
	"bugswarm_gha", "bugswarm_travis", "cidiff", "faultline_real", "go_logparser",
	"pytorch_classify", "structured", "swebench_eval", "treeherder",
}

// diagnoseReader reads r as the command does and returns its diagnosis.
func diagnoseReader(t testing.TB, r io.Reader, opt Options) (Diagnosis, *testreport.Report) {
	t.Helper()
	col := NewCollector(nil)
	rep := parse(t, r, col)
	return Diagnose(rep, col, opt), rep
}

// parse reads r into a report and col.
func parse(t testing.TB, r io.Reader, col *Collector) *testreport.Report {
	t.Helper()
	rep, err := testreport.Parse(r, testreport.Options{OnLine: col.Line})
	if err != nil && !errors.Is(err, testreport.ErrUnknownFormat) && !errors.Is(err, testreport.ErrEmpty) {
		t.Fatal(err)
	}
	return rep
}

func diagnoseText(t testing.TB, s string, opt Options) Diagnosis {
	t.Helper()
	d, _ := diagnoseReader(t, strings.NewReader(s), opt)
	return d
}

func openFixture(t *testing.T, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if !strings.HasSuffix(path, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

type manifest struct {
	Files []struct {
		File   string
		Expect struct {
			Class        routing.Class
			ClassAlt     []routing.Class `json:"class_alt"`
			FailingTests []string        `json:"failing_tests"`
			Complete     bool            `json:"failing_tests_complete"`
		}
	}
}

// TestFixtures diagnoses every recorded log, checks what must always hold, and
// that classes agree with the recorded ones for at least 85 of 100.
func TestFixtures(t *testing.T) {
	var out *os.File
	if *predictions != "" {
		f, err := os.Create(*predictions)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	right, asked := 0, 0
	for _, set := range logSets {
		data, err := os.ReadFile(filepath.Join(fixtures, set, "manifest.json"))
		if err != nil {
			continue
		}
		var m manifest
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		for _, f := range m.Files {
			t.Run(set+"/"+f.File, func(t *testing.T) {
				d, _ := diagnoseReader(t, openFixture(t, filepath.Join(fixtures, set, f.File)), Options{})
				checkInvariants(t, d)
				if f.Expect.Class != "" {
					asked++
					ok := d.Class == f.Expect.Class
					for _, a := range f.Expect.ClassAlt {
						ok = ok || d.Class == a
					}
					if ok {
						right++
					} else {
						t.Logf("class %s, want %s %v: %s %v", d.Class, f.Expect.Class, f.Expect.ClassAlt, d.Reason, first(d.ErrorLines, 3))
					}
				}
				if out != nil {
					writePrediction(t, out, set, f.File, d)
				}
			})
		}
	}
	if asked > 0 && right*100 < asked*85 {
		t.Errorf("%d of %d classes are right, want 85 %%", right, asked)
	}
}

func first(l []Line, n int) []Line { return l[:min(n, len(l))] }

// checkInvariants holds what every diagnosis promises.
func checkInvariants(t testing.TB, d Diagnosis) {
	t.Helper()
	decisive := 0
	for _, f := range d.Failures {
		if f.Decisive {
			decisive++
		}
		if !f.Class.Valid() || f.Fingerprint == "" || f.Suggestion == "" || len(f.Evidence) == 0 {
			t.Errorf("incomplete failure %+v", f)
		}
		p := ""
		if found := placeholder.FindStringIndex(f.Suggestion); found != nil {
			p = f.Suggestion[found[0]:found[1]]
		}
		if placeholders[p] && !strings.Contains(f.Message+f.Expected+f.Actual+f.Name, p) || strings.Contains(f.Suggestion, "[[") && !strings.Contains(f.Message+f.Name+f.Expected+f.Actual, "[[") {
			t.Errorf("unfilled suggestion %q", f.Suggestion)
		}
	}
	if decisive > 1 || decisive == 0 && len(d.Failures) > 0 {
		t.Errorf("%d decisive failures of %d", decisive, len(d.Failures))
	}
	if d.Result == routing.Pass && (len(d.Failures) > 0 || d.Counts.Passed+d.Counts.Groups == 0) {
		t.Errorf("a pass with %d failures and %d passed tests", len(d.Failures), d.Counts.Passed)
	}
	if d.Reason == "" || d.Result == "" || d.Result != routing.Pass && !d.Class.Valid() {
		t.Errorf("incomplete diagnosis %+v", d)
	}
	if len(d.ErrorLines) > maxErrorLines {
		t.Errorf("%d error lines", len(d.ErrorLines))
	}
}

func writePrediction(t *testing.T, w io.Writer, set, file string, d Diagnosis) {
	p := struct {
		Set     string                   `json:"set"`
		File    string                   `json:"file"`
		Failing []string                 `json:"failing_tests"`
		Lines   []Line                   `json:"error_lines"`
		Class   routing.Class            `json:"class,omitempty"`
		PerTest map[string]routing.Class `json:"per_test_class"`
	}{Set: set, File: file, Failing: []string{}, Lines: d.ErrorLines, Class: d.Class, PerTest: map[string]routing.Class{}}
	for _, f := range d.Failures {
		if f.Kind == "log" || f.Kind == "diagnostic" || f.Kind == "problem" {
			continue
		}
		n := f.Name
		if f.Suite != "" {
			n = f.Suite + " > " + f.Name
		}
		p.Failing = append(p.Failing, n)
		p.PerTest[n] = f.Class
	}
	if err := json.NewEncoder(w).Encode(p); err != nil {
		t.Fatal(err)
	}
}
