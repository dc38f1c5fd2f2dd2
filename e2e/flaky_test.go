package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// ended routes a run of the story's head commit, as the Action on workflow_run does. A run of the same
// id is its next attempt.
func (s *story) ended(report, conclusion string, again bool) Result {
	s.t.Helper()
	run := s.ranOn(s.r, "feature", report)
	run.Jobs = nil // a log that is no test output would leave open what else failed
	run.ID, run.Name, run.Pulls, run.Conclusion = s.runID, "CI", []int{s.number}, conclusion
	if report == "" {
		run.Artifacts = nil
	}
	filed := s.r.SetRun(run.ID, func(r *Run) {
		r.Conclusion, r.Artifacts = run.Conclusion, run.Artifacts
		if again {
			r.Attempt++
		}
	})
	if filed == nil {
		filed = s.r.AddRun(run)
	}
	return s.outside(filed, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"})
}

func (s *story) reruns() int {
	n := 0
	for _, d := range s.r.Dispatches() {
		if d.Kind == "rerun-failed-jobs" {
			n++
		}
	}
	return n
}

func TestFlakyRuns(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	t.Run("S5-30 a commit that fails and passes is not fixed, and spends no attempt", func(t *testing.T) {
		s.want(s.ended(passing, "success", true), 0, map[string]string{"decision": "PASS", "iteration": "0"})
		if c := s.sticky(); strings.Contains(c, "Fixed on the way") || !strings.Contains(c, "Flaky, and not fixed") {
			t.Errorf("S5-30: %s", c)
		}
	})
	t.Run("S5-31 the failed jobs run again before anything is returned", func(t *testing.T) {
		s.push()
		s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": "RERUN", "iteration": "0"})
		if n := s.reruns(); n != 1 {
			t.Errorf("S5-31: run again %d times", n)
		}
		s.want(s.ended(failing("TestAdd"), "failure", true), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if n := s.reruns(); n != 1 {
			t.Errorf("S5-33: run again %d times", n)
		}
	})
	t.Run("S5-34 refused, it is said once and the failure is returned", func(t *testing.T) {
		s.view.Fault(Fault{Method: "POST", Path: regexp.MustCompile(`/rerun-failed-jobs$`), Times: -1, Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
		for range 2 {
			s.push()
			s.ended(failing("TestAdd"), "failure", false)
		}
		if got := strings.Join(s.bot(), "\n"); strings.Count(got, "could not be run again") != 1 || !strings.Contains(got, "attempt 3 of 3") {
			t.Errorf("S5-34: %s", got)
		}
	})
	s.clean()
}

func TestAwaitsApproval(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.want(s.ended("", "action_required", false), 0, map[string]string{"decision": "NONE"})
	if issues := s.issues(); len(issues) != 0 {
		t.Errorf("S5-95: %+v", issues)
	}
	s.want(s.ended(passing, "success", false), 0, map[string]string{"decision": "PASS"})
	s.clean()
}

func TestAttemptsWithoutProgress(t *testing.T) {
	t.Parallel()
	s := newStory(t, "max_iterations: 6\n")
	for i, want := range []string{"RETRY", "RETRY", "RETRY", "ESCALATE_NO_PROGRESS"} {
		if i > 0 {
			s.push()
		}
		s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": want})
	}
	if issues := s.issues(); len(issues) != 1 || !strings.Contains(issues[0].Body, "3 of 6 fix attempts") {
		t.Errorf("S5-40: %+v", issues)
	}
	if c := s.sticky(); !strings.Contains(c, "New commits in a row fail in the same way") {
		t.Errorf("S5-40: %s", c)
	}
	s.clean()
}
