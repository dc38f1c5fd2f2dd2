package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// byAuthor opens a further pull request of login, which the story is about from now on.
func (s *story) byAuthor(login, branch string) {
	s.t.Helper()
	s.branch = branch
	s.runID += 10
	s.sha = s.r.Commit(s.t, branch, "other work", map[string]string{branch + ".go": "package calc\n"})
	s.number = s.r.PullRequest(s.t, login, branch, "Add "+branch, "")
}

// reported routes an attempt of a run of the story's head commit, as the Action does on workflow_run,
// or the App.
func (s *story) reported(report, conclusion string, attempt int) Result {
	s.t.Helper()
	run := s.ranOn(s.r, s.head(), report)
	run.Jobs = nil // a log that is no test output would leave open what else failed
	run.ID, run.Name, run.Pulls, run.Conclusion, run.Attempt = s.runID, "unit", []int{s.number}, conclusion, attempt
	filed := s.r.SetRun(run.ID, func(r *Run) { r.Conclusion, r.Artifacts, r.Attempt = run.Conclusion, run.Artifacts, attempt })
	if filed == nil {
		filed = s.r.AddRun(run)
	}
	if s.by != nil {
		return s.toldRun(filed)
	}
	return s.within(s.outsideAction(filed, map[string]string{"reports": "**/report.xml", "checkpoint": "unit"}), 0)
}

// incident returns the one issue that is open, which has to be an incident's.
func (s *story) incident() Issue {
	s.t.Helper()
	var open []Issue
	for _, i := range s.issues() {
		if i.State == "open" {
			open = append(open, i)
		}
	}
	if len(open) != 1 || !strings.HasPrefix(open[0].Title, "Incident: ") {
		s.t.Fatalf("%d issues are open: %+v", len(open), open)
	}
	return open[0]
}

// An outage in three pull requests of two authors is one issue: what was escalated is folded in,
// everybody is on hold, and when it is over one case runs again first.
func TestIncidentOfEnvironmentS5_70_S5_71_S5_72_S5_73_S5_74(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "")
		s.inside = true
		s.r.Grant(t, Writer, "push")
		s.want(s.reported(broken("Stock"), "failure", 1), 0, map[string]string{"decision": "ESCALATE_ENV"})
		first := *s
		s.byAuthor(Writer, "second")
		s.want(s.reported(strings.ReplaceAll(broken("Stock"), "TestStock", "TestShop"), "failure", 1), 0, map[string]string{"decision": "ESCALATE_ENV"})
		s.byAuthor(Owner, "third")
		s.want(s.reported(broken("Stock"), "failure", 1), 0, map[string]string{"decision": "INCIDENT", "iteration": "0"})

		in := s.incident()
		for _, want := range []string{"stock.example", "#" + strconv.Itoa(first.number), "#" + strconv.Itoa(s.number)} {
			if !strings.Contains(in.Body, want) {
				t.Errorf("S5-70, S5-73: the issue lacks %q:\n%s", want, in.Body)
			}
		}
		checks := s.r.CheckRuns(t, s.sha)
		if len(checks) != 1 || checks[0].Conclusion != "neutral" || !strings.Contains(checks[0].Output.Title+checks[0].Output.Summary, "#"+strconv.Itoa(in.Number)) {
			t.Errorf("S5-72: the check: %+v", checks)
		}
		if got := s.bot(); len(got) != 0 {
			t.Errorf("S5-72: %d comments on a member: %q", len(got), got)
		}
		if checks := s.r.CheckRuns(t, first.sha); len(checks) != 1 || !strings.Contains(checks[0].Output.Title, "#"+strconv.Itoa(in.Number)) {
			t.Errorf("S5-73: the check of what was escalated before: %+v", checks)
		}

		s.change(Owner, "closed", in.Number, map[string]any{"state": "closed", "state_reason": "completed"})
		if s.by == nil { // the App was told by the delivery
			s.tell(s.issueEvent("closed", Owner, in.Number, nil))
		}
		if n := s.reruns(); n != 1 {
			t.Fatalf("S5-74: %d runs before the canary has passed", n)
		}
		first.want(first.reported(passing, "success", 2), 0, map[string]string{"decision": "PASS"})
		if n := s.reruns(); n != 2 {
			t.Errorf("S5-74: %d runs when the canary has passed", n)
		}
		if s.by == nil {
			s.later(2 * time.Minute)
			s.later(4 * time.Minute)
			if n := s.reruns(); n != 3 {
				t.Errorf("S5-74: %d of three runs were run again", n)
			}
			s.wantClosed(in.Number, true)
			if got := s.body(in.Number); !strings.Contains(got, "Every case was restarted") {
				t.Errorf("S5-74: the issue:\n%s", got)
			}
		}
		s.clean()
	})
}

// A base that fails twice is an incident: pull requests with its failure are on hold, and asked to
// update one after another once it passes.
func TestIncidentOfBaseS5_71_S5_72_S5_74(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "")
		s.inside = true
		s.ranMain("push", failing("TestAdd"))
		s.moveMain()
		s.ranMain("push", failing("TestAdd"))
		in := s.incident()
		s.runID += 10
		s.push()
		s.want(s.reported(failing("TestAdd"), "failure", 1), 0, map[string]string{"decision": "INCIDENT", "iteration": "0"})
		first := *s
		s.byAuthor(Owner, "second")
		s.want(s.reported(failing("TestAdd"), "failure", 1), 0, map[string]string{"decision": "INCIDENT"})
		s.byAuthor(Owner, "own")
		s.want(s.reported(failing("TestMine", "TestAdd"), "failure", 1), 0, map[string]string{"decision": "RETRY"}) // S5-75

		s.runID += 10
		s.moveMain()
		s.ranMain("push", passing)
		if got := strings.Join(first.bot(), "\n"); strings.Count(got, "is over: what failed") != 1 || !strings.Contains(got, "GITHUB_TOKEN") {
			t.Errorf("S5-74: the canary is told: %s", got)
		}
		if s.by == nil {
			s.later(2 * time.Minute)
			s.later(4 * time.Minute)
			s.wantClosed(in.Number, true)
		}
		if n := s.reruns(); n != 0 {
			t.Errorf("S5-74: %d reruns, which would test the old merge commit", n)
		}
		s.clean()
	})
}
