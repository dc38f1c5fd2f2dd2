package e2e

import (
	"strings"
	"testing"
	"time"
)

// What a person returns for a fix is returned for a fix at once, by the run that the answer
// itself starts; a green run that came while it was paused passes on resume.
func TestReturnForFix(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.r.Grant(t, Writer, "push")
	s.want(s.run(environment, nil), 0, map[string]string{"decision": "ESCALATE_ENV"})
	issue := s.onlyIssue()
	t.Run("S0-23 a retry returns the escalated failure for a fix at once and closes the issue", func(t *testing.T) {
		s.want(s.say(Writer, issue.Number, "/switchback retry"), 0, nil)
		comment := strings.Join(s.bot(), "\n")
		if !strings.Contains(comment, "fix attempt 1 of 4") || !strings.Contains(comment, "`"+Writer+"` allowed 1 more fix attempt") {
			t.Errorf("the comment:\n%s", comment)
		}
		if is := s.onlyIssue(); is.State != "closed" {
			t.Errorf("the issue is %s", is.State)
		}
		if got := s.r.IssueLabels(t, s.number); contains(got, "switchback:paused") {
			t.Errorf("labels %v", got)
		}
	})
	t.Run("S4-52 while paused a green run passes nothing, and resume passes it", func(t *testing.T) {
		s.want(s.say(Writer, s.number, "/switchback pause"), 0, nil)
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "NONE"})
		s.want(s.say(Writer, s.number, "/switchback resume"), 0, nil)
		if got := strings.Join(s.bot(), "\n"); !strings.Contains(got, "passes after 1 fix attempt") {
			t.Errorf("the comment:\n%s", got)
		}
		checks := s.r.CheckRuns(t, s.sha)
		if len(checks) != 1 || checks[0].Conclusion != "success" {
			t.Errorf("%+v", checks)
		}
	})
	s.clean()
}

// Quarantine by configuration: what failed is shown and does not count.
func TestQuarantineOfConfiguration(t *testing.T) {
	t.Parallel()
	s := newStory(t, "quarantine:\n  - {test: TestAdd, until: "+time.Now().AddDate(0, 0, 20).Format(time.DateOnly)+"}\n")
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PASS"})
	checks := s.r.CheckRuns(t, s.sha)
	if len(checks) != 1 || checks[0].Conclusion != "success" || !strings.Contains(checks[0].Output.Title, "1 in quarantine") {
		t.Errorf("%+v", checks)
	}
	s.push()
	s.want(s.run(failing("TestSub"), nil), 0, map[string]string{"decision": "RETRY"})
	s.clean()
}
