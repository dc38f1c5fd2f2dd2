package action

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/analysis"
	"github.com/switchback-ci/switchback/bot/ctrf/ctrftest"
)

// The report output is a whole CTRF document: with the tests that passed, each
// once, although the log of the job tells of them too, and without secrets.
func TestReportFile(t *testing.T) {
	t.Parallel()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	xml := `<testsuite name="s"><testcase classname="cart" name="test_sum"/><testcase classname="cart" name="test_tax"><failure message="AssertionError: token=` + secret + `">no</failure></testcase><testcase classname="cart" name="test_vat"><skipped/></testcase></testsuite>`
	log := "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n"
	dir := t.TempDir()
	r := &reporter{runner: runner{Env{Version: "v1", Getenv: func(k string) string { return map[string]string{"RUNNER_TEMP": dir}[k] }}}}
	source := func(name, s string) analysis.Source {
		return analysis.Source{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
	}
	out, err := analysis.Analyze(analysis.Input{Sources: []analysis.Source{source("log", log), source("r.xml", xml)}, Tests: r.Tests()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	name, err := r.reportFile(out)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d, problems := ctrftest.Check(data)
	if len(problems) > 0 || strings.Contains(string(data), secret) {
		t.Fatalf("%v\n%s", problems, data)
	}
	var got []string
	for _, x := range d.Results.Tests {
		got = append(got, x.Name+" "+x.Status+" "+x.Extra.Class)
	}
	if s := strings.Join(got, ","); s != "test_tax failed LOGIC_ERROR,test_sum passed ,test_vat skipped " {
		t.Error(s)
	}
}
