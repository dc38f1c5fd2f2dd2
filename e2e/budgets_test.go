package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestBudgets(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "max_iterations: 5\nbudgets: {logic: 1}\n")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		s.push()
		s.want(s.run(failing("TestSub"), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY", "iteration": "1"})
		for what, text := range map[string]string{"issue": s.onlyIssue().Body, "comment": s.botComment().Body} {
			if !strings.Contains(text, "`budgets.logic`") {
				t.Errorf("S5-32: the %s does not name the budget that is used up\n%s", what, text)
			}
		}
		s.clean()
	})
}

// again routes a run of the head commit of a branch, or its next attempt, with the clock ahead.
func (s *story) again(branch, report string, next bool, ahead time.Duration) Result {
	s.t.Helper()
	run := s.ranOn(s.r, branch, report)
	run.Jobs, run.ID, run.Name, run.Pulls, run.Conclusion = nil, s.runID, "CI", []int{s.number}, concluded(report)
	filed := &run
	if next {
		filed = s.r.SetRun(run.ID, func(r *Run) {
			r.Conclusion, r.Artifacts = run.Conclusion, run.Artifacts
			r.Attempt++
		})
	} else {
		filed = s.r.AddRun(run)
	}
	return s.within(s.outsideAction(filed, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"}), ahead)
}

// flakes shows that TestAdd fails and passes on one commit.
func (s *story) flakes(branch string) {
	s.t.Helper()
	s.want(s.again(branch, failing("TestAdd"), false, 0), 0, map[string]string{"decision": "RETRY"})
	s.want(s.again(branch, passing, true, 0), 0, map[string]string{"decision": "PASS"})
}

// rerunsTo pushes commits of which TestAdd fails, and passes when it is run again, n times.
func (s *story) rerunsTo(branch string, n int) {
	s.t.Helper()
	for range n {
		s.pushTo(branch)
		s.want(s.again(branch, failing("TestAdd"), false, 0), 0, map[string]string{"decision": "RERUN"})
		s.want(s.again(branch, passing, true, 0), 0, map[string]string{"decision": "PASS"})
	}
}

func TestRerunBounds(t *testing.T) {
	t.Parallel()
	t.Run("S5-33 a run once, and a case as often as budgets.rerun says", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, "budgets: {rerun: 2}\n")
		s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": "RETRY"})
		s.want(s.ended(passing, "success", true), 0, map[string]string{"decision": "PASS"})
		s.push()
		s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": "RERUN"})
		s.want(s.ended(failing("TestAdd"), "failure", true), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if n := s.reruns(); n != 1 {
			t.Errorf("the run was run again %d times", n)
		}
		for i, want := range []string{"RERUN", "RETRY"} {
			s.push()
			s.want(s.ended(failing("TestAdd"), "failure", false), 0, map[string]string{"decision": want})
			if n := s.reruns(); n != 2 {
				t.Errorf("after commit %d, %d runs of the case were run again", i+1, n)
			}
		}
		s.clean()
	})
	t.Run("S5-33 a repository twenty times within an hour", func(t *testing.T) {
		t.Parallel()
		s := newStory(t, "budgets: {rerun: 10}\n")
		s.r.Install(firstInstall + int(s.r.ID))
		o, third := s.beside("other"), s.beside("third")
		s.flakes("feature")
		s.rerunsTo("feature", 10)
		o.flakes("other")
		o.rerunsTo("other", 10)
		if n := s.reruns(); n != 20 {
			t.Fatalf("%d runs were run again", n)
		}
		third.flakes("third")
		third.pushTo("third")
		third.want(third.again("third", failing("TestAdd"), false, 0), 0, map[string]string{"decision": "RERUN"})
		if c := third.botComment().Body; s.reruns() != 20 || !strings.Contains(c, "attempt 1 of 3") {
			t.Errorf("%d runs were run again, and the failure is not returned\n%s", s.reruns(), c)
		}
		fourth := s.beside("fourth")
		fourth.flakes("fourth")
		fourth.pushTo("fourth")
		fourth.want(fourth.again("fourth", failing("TestAdd"), false, time.Hour+time.Minute), 0, map[string]string{"decision": "RERUN"})
		if n := s.reruns(); n != 21 {
			t.Errorf("an hour later %d runs were run again", n)
		}
		s.clean()
	})
}

func TestNothingIsSaidToBeOver(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "max_iterations: 1\n")
		s.r.Grant(t, Writer, "push")
		s.run(failing("TestAdd"), nil)
		s.push()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
		texts := func() map[string]string {
			check := s.r.CheckRuns(t, s.sha)[0].Output
			return map[string]string{"comment": s.sticky(), "check": check.Title + "\n" + check.Summary}
		}
		if !strings.Contains(texts()["comment"], "Nothing is retried") {
			t.Fatalf("%v", texts())
		}
		issue := s.onlyIssue().Number
		s.want(s.say(Writer, s.number, "/switchback resume unit"), 0, nil)
		for what, text := range texts() {
			for _, not := range []string{"Nothing is retried", "retried until", "Who must act", "needs a person to act"} {
				if strings.Contains(text, not) {
					t.Errorf("S5-97: after resume the %s says %q\n%s", what, not, text)
				}
			}
		}
		if got := s.issueNow(issue)["state"]; got != "closed" {
			t.Errorf("S5-97: the issue is %v", got)
		}
		s.clean()
	})
}

func TestManyFailures(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "max_iterations: 9\n")
		var names []string
		for i := range 700 {
			names = append(names, fmt.Sprintf("TestOrderTotal%04d", i+1))
		}
		for i, step := range []struct {
			first, last int
			want        string
		}{
			{1, 500, ""},
			{1, 450, "✅ 50 fixed · 🔁 450 still failing"},
			{1, 400, "✅ 50 fixed · 🔁 400 still failing"},
			{200, 700, "✅ 199 fixed · 🔁 201 still failing · 🆕 300 new"},
		} {
			if i > 0 {
				s.push()
			}
			s.want(s.run(failing(names[step.first-1:step.last]...), nil), 0, map[string]string{"decision": "RETRY"})
			since := ""
			for line := range strings.Lines(s.botComment().Body) {
				if strings.HasPrefix(line, "**Since run") {
					since = line
				}
			}
			if !strings.Contains(since, step.want) || (step.want == "") != (since == "") || strings.Contains(since, "not compared") || strings.Contains(since, "not seen") {
				t.Errorf("S5-98: after run %d the comment says %q, want %q", i+1, since, step.want)
			}
		}
		s.clean()
	})
}
