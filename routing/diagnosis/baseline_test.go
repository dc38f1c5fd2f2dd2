package diagnosis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/testreport"
)

// Two runs of one script by bash, with curl, tar and ls of Debian 12: the second one's archive is
// missing. Both print errors that the script tolerates.
const (
	passedScript = `curl: (7) Failed to connect to 127.0.0.1 port 9 after 0 ms: Couldn't connect to server
error: no cache at http://127.0.0.1:9/4711, building without it
ls: cannot access '/opt/toolchain-8842': No such file or directory
packed 12 files in 0.031s
release.tar
`
	failedScript = `curl: (7) Failed to connect to 127.0.0.1 port 9 after 1 ms: Couldn't connect to server
error: no cache at http://127.0.0.1:9/4712, building without it
ls: cannot access '/opt/toolchain-9917': No such file or directory
tar: release.d: Cannot stat: No such file or directory
tar: Exiting with failure status due to previous errors
`
)

func baselineOf(text string) *Baseline {
	b := &Baseline{}
	for i, l := range strings.Split(text, "\n") {
		b.Line(testreport.Line{No: i + 1, Text: l})
	}
	return b
}

func TestBaselineRanksNewLinesFirst(t *testing.T) {
	log := ghStep("pack", failedScript+"##[error]Process completed with exit code 2.\n")
	without := diagnoseText(t, log, Options{Conclusion: "failure"})
	if strings.HasPrefix(without.ErrorLines[0].Text, "tar: release.d") {
		t.Fatal("the line is first without a baseline too, so the test shows nothing")
	}
	d := diagnoseText(t, log, Options{Conclusion: "failure", Baseline: baselineOf(passedScript)})
	checkInvariants(t, d)
	if got := d.ErrorLines[0].Text; !strings.HasPrefix(got, "tar: release.d") {
		t.Errorf("the best error line is %q", got)
	}
	if without.Class != routing.EnvIssue || d.Class == routing.EnvIssue {
		t.Errorf("class %s without the baseline, %s with it: the error of curl stands in both logs", without.Class, d.Class)
	}
}

func TestBaselineIsBounded(t *testing.T) {
	b := &Baseline{}
	word := func(i int) string { // without digits
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i))
	}
	for i := range maxBaseline + 10 {
		b.Line(testreport.Line{No: i + 1, Text: word(i)})
	}
	if len(b.seen) != maxBaseline {
		t.Errorf("%d lines are kept", len(b.seen))
	}
	if old, fresh := b.compare(word(maxBaseline + 1)); old || fresh {
		t.Error("a line is called new against a baseline that is not whole")
	}
	if old, _ := b.compare(word(1)); !old {
		t.Error("a line of the baseline is not found")
	}
}
