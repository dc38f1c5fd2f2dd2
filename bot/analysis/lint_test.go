package analysis

import "testing"

// A linter's report knows no tests: those that the console shows still count,
// and beside a report of tests it adds none.
func TestLinterHidesNoTests(t *testing.T) {
	t.Parallel()
	const clean = `<?xml version="1.0"?><checkstyle version="8"><file name="a.go"/></checkstyle>`
	out := run(t, Input{Sources: []Source{text("lint.xml", clean), text("job.log", greenGo)}, Conclusion: "success"})
	if out.Report.Counts.Passed == 0 || out.Verdict.Result != "pass" {
		t.Errorf("%+v %s: %s", out.Report.Counts, out.Verdict.Result, out.Verdict.Reason)
	}
	const trx = `<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results><UnitTestResult testName="A.B.c" outcome="Passed"/></Results></TestRun>`
	out = run(t, Input{Sources: []Source{text("a.trx", trx), text("job.log", greenGo)}, Conclusion: "success"})
	if out.Report.Counts.Tests != 1 {
		t.Errorf("the console beside a TRX is counted: %+v", out.Report.Counts)
	}
}
