package analysis

import (
	"io"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func source(name, job, text string) Source {
	return Source{Name: name, JobLog: job, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// Globs that match nothing are named, with what looks like a report and what to write.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	here := func(reports, others []string) func() Nearby {
		return func() Nearby { return Nearby{"the workspace", reports, others, "Upload one"} }
	}
	for _, c := range []struct {
		name      string
		in        Input
		unmatched bool
		says      string // in the reason, "" for none
	}{
		{"one file looks like a report", Input{Nearby: here([]string{"out/junit.xml"}, nil)}, true,
			"no test report was found (looked for reports/*.xml): no file of the workspace matches `reports`; out/junit.xml looks like a report. Write `reports: out/junit.xml`"},
		{"several files of one folder do", Input{Nearby: here([]string{"out/a.xml", "out/b.xml"}, nil)}, true, "these look like reports: out/a.xml, out/b.xml. Write `reports: out/*.xml`"},
		{"several files of several folders do", Input{Nearby: here([]string{"a/out/1.xml", "a/b/out/2.xml", "a/3.xml", "a/4.xml"}, nil)}, true, "a/3.xml and 1 more. Write `reports: a/**/*.xml`"},
		{"files of several kinds do", Input{Nearby: here([]string{"a/1.xml", "2.trx"}, nil)}, true, "Write `reports: a/1.xml`"},
		{"other files are there", Input{Nearby: here(nil, []string{"a.bin", "b", "c", "d", "e"})}, true, "none looks like a report: a.bin, b, c and 2 more. Upload one"},
		{"nothing is there", Input{Nearby: here(nil, nil)}, true, "no file of the workspace matches `reports`. Upload one"},
		{"nobody looked", Input{}, true, "(looked for reports/*.xml): no file matches `reports`"},
		{"the log of a green job says nothing", Input{Conclusion: "success", Sources: []Source{source("log", "unit", "done\n")}, Nearby: here([]string{"junit.xml"}, nil)}, true,
			"the log says nothing of tests, and no report was found (looked for reports/*.xml): no file"},
		{"the log of a failed job says what failed", Input{Conclusion: "failure", Sources: []Source{source("log", "unit", "--- FAIL: TestA (0.00s)\n    a_test.go:7: got 1, want 2\nFAIL\n")}}, false, ""},
		{"the run was cancelled", Input{Conclusion: "cancelled"}, false, "cancelled"},
		{"a file matches", Input{Sources: []Source{source("reports/a.xml", "", " ")}}, false, "reports/a.xml is empty"},
	} {
		c.in.Looked = []string{"reports/*.xml"}
		out, err := Analyze(c.in)
		if err != nil {
			t.Fatal(err)
		}
		v := out.Verdict
		if v.Unmatched != c.unmatched || !strings.Contains(v.Reason, c.says) || v.Unmatched && v.Result != routing.Unclear {
			t.Errorf("%s: %s, unmatched %v: %s", c.name, v.Result, v.Unmatched, v.Reason)
		}
	}
	if out, err := Analyze(Input{}); err != nil || out.Verdict.Unmatched || out.Unmatched != "" {
		t.Errorf("without globs: %+v %v", out.Verdict, err)
	}
	for name, want := range map[string]bool{"a/junit.xml": true, "go-test.json": true, "TestResults/x.trx": true, "surefire-reports/TEST-a.xml": true, "package.json": false, "a/pom.xml": false, "coverage.xml": false, "out.tap": true} {
		if NamedLikeReport(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
