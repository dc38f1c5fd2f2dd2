package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

const contradiction = `<testsuite name="calc" tests="2" failures="1"><testcase classname="calc" name="TestFine"/><testcase classname="calc" name="TestSpec"><failure message="response body does not conform to the OpenAPI schema" type="AssertionError">calc_test.go:7: response body does not conform to the OpenAPI schema</failure></testcase></testsuite>`

func TestDesign(t *testing.T) { both(t, testDesign) }

func testDesign(t *testing.T, begin begin) {
	s := begin(t, "")
	s.r.Grant(t, Writer, "push")
	s.want(s.run(contradiction, nil), 0, map[string]string{"decision": "ESCALATE_DESIGN", "class": "DESIGN_MISMATCH"})
	issue := s.onlyIssue()
	if !slices.ContainsFunc(names(issue.Labels), func(l string) bool { return strings.HasPrefix(l, "escalation:") }) {
		t.Errorf("%+v", issue.Labels)
	}
	s.wantPaused(true)
	t.Run("a human sends it back to the plan, and the rework goes on", func(t *testing.T) {
		s.tell(s.tick(Writer, issue.Number, "phase:plan", answers.Submit))
		s.wantClosed(issue.Number, true)
		s.wantPaused(false)
		s.wantComment("**plan**")
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
		s.wantComment("✅")
	})
	s.clean()
}

// A fork's run, to whose branch the App may not write.
func TestAppFork(t *testing.T) {
	t.Parallel()
	s := newAppStory(t, "")
	own := s.number
	f := s.fork("feature")
	of := func(report, conclusion string) Result {
		run := s.ranOn(f, "feature", report)
		run.Name, run.Conclusion = "unit", conclusion // GitHub names no pull request
		return s.toldRun(s.r.AddRun(run))
	}
	s.want(of(failing("TestAdd"), "failure"), 0, map[string]string{"decision": "RETRY", "iteration": "1", "max-iterations": "3"})
	s.turn(1)
	for _, c := range s.r.Comments(t, own) {
		t.Errorf("on the other pull request with a branch of the same name: %s", c.Body)
	}
	for _, q := range s.b.requests() {
		if q.Repo == f.FullName && q.Content() {
			t.Errorf("it writes to the fork: %v", q)
		}
	}
	s.sha = f.Commit(t, "feature", "fixed", map[string]string{"calc.go": "package calc\n\n// fixed\n"})
	s.want(of(passing, "success"), 0, map[string]string{"decision": "PASS"})
	s.wantComment("✅")
	s.clean()
}

// The App sees a matrix as one run of several jobs.
func TestAppMatrix(t *testing.T) {
	t.Parallel()
	s := newAppStory(t, "")
	run := s.ranOn(s.r, "feature", failing("TestLinux"))
	run.Name, run.Pulls = "unit", []int{s.number}
	run.Jobs = []Job{{Name: "unit (linux)", Log: "no test output\n"}, {Name: "unit (mac)", Log: "no test output\n"}, {Name: "unit (bsd)", Conclusion: "success", Log: "fine\n"}}
	run.Artifacts = nil
	for name, report := range map[string]string{"linux": failing("TestLinux"), "mac": failing("TestMac"), "bsd": passing} {
		run.Artifacts = append(run.Artifacts, Artifact{Name: name, Files: map[string]string{fmt.Sprintf("%s/report.xml", name): report}})
	}
	first := s.r.AddRun(run)
	s.want(s.toldRun(first), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "TestLinux") || !strings.Contains(got[0], "TestMac") {
		t.Errorf("one comment does not tell of both: %q", got)
	}
	again := *first // only the legs that failed were run again
	again.Attempt, again.Conclusion = 2, "success"
	again.Jobs = []Job{{Name: "unit (linux)"}, {Name: "unit (mac)"}}
	again.Artifacts = []Artifact{{Name: "linux", Files: map[string]string{"linux/report.xml": passing}}, {Name: "mac", Files: map[string]string{"mac/report.xml": passing}}}
	s.want(s.toldRun(s.r.AddRun(again)), 0, map[string]string{"decision": "PASS"})
	s.wantComment("✅")
	if n := len(s.r.Issues(t)); n != 0 {
		t.Errorf("%d issues", n)
	}
	s.clean()
}
