package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/database/pgtest"
)

func TestAppBesideTheAction(t *testing.T) {
	t.Parallel()
	s := newServed(t, "reports: [\"**/report.xml\"]\nmax_iterations: 2\n")
	run := func(report, conclusion string) *Run {
		t.Helper()
		r := s.ranOn(s.r, "feature", report)
		r.Name, r.Conclusion, r.Pulls = "unit", conclusion, []int{s.number}
		return s.r.AddRun(r)
	}
	tell := func(r *Run) { s.r.Send(t, "workflow_run", s.r.RunPayload(r, "completed")); s.app.Idle() }
	first := run(failing("TestAdd"), "failure")
	s.want(s.outside(first, nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	t.Run("where the Action has recorded cases, the App is silent", func(t *testing.T) {
		tell(first)
		if got := s.mine(s.number); len(got) != 0 {
			t.Errorf("%q", got)
		}
	})
	s.r.Commit(t, "main", "The App acts", map[string]string{".github/switchback.yml": s.config + "acts: app\n"})
	s.heard("push", "", Owner)
	s.app.Idle()
	s.push()
	second := run(failing("TestAdd"), "failure")
	t.Run("where the App acts, the Action is silent", func(t *testing.T) {
		before := s.world()
		res := s.outside(second, nil)
		s.want(res, 0, map[string]string{"decision": ""})
		if !strings.Contains(res.Stdout, "acts: app") || s.world() != before {
			t.Error(res.Stdout, s.world())
		}
	})
	t.Run("the App goes on with the Action's ledger", func(t *testing.T) {
		tell(second)
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "2 of 2") || len(s.mine(s.number)) != 0 {
			t.Errorf("%q %q", got, s.mine(s.number))
		}
		before := s.world()
		tell(first) // of a commit left behind, counted by the Action
		if after := s.world(); after != before {
			t.Error(after)
		}
	})
	t.Run("the button of a check analyzes the newest attempt", func(t *testing.T) {
		next := *second
		next.Attempt, next.Conclusion = 2, "success"
		next.Artifacts = []Artifact{{Name: "reports", Files: map[string]string{"report.xml": passing}}}
		s.r.AddRun(next)
		check := s.checkOf(SwitchbackAppID)
		s.r.Send(t, "check_run", map[string]any{"action": "rerequested", "check_run": check})
		s.app.Idle()
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "✅") {
			t.Errorf("%q", got)
		}
		if c := s.checkOf(SwitchbackAppID); c["conclusion"] != "success" {
			t.Errorf("%v", c["conclusion"])
		}
	})
	s.clean()
}

// checkOf returns the check run of an App on the head commit.
func (s *served) checkOf(app int) map[string]any {
	s.t.Helper()
	var out struct {
		Runs []map[string]any `json:"check_runs"`
	}
	s.r.get(s.t, "/commits/"+s.sha+"/check-runs", &out)
	for _, c := range out.Runs {
		if a, _ := c["app"].(map[string]any); fmt.Sprint(a["id"]) == fmt.Sprint(app) {
			return c
		}
	}
	s.t.Fatalf("no check of App %d in %v", app, out.Runs)
	return nil
}

func TestAppClosedPullRequest(t *testing.T) {
	t.Parallel()
	s := newServed(t, "reports: [\"**/report.xml\"]\nmax_iterations: 0\n")
	s.ran(failing("TestAdd"), "failure")
	s.called()
	s.r.Must(t, "PATCH", fmt.Sprintf("/pulls/%d", s.number), map[string]any{"state": "closed"}, nil)
	d := s.heard("pull_request", "closed", Owner)
	s.app.Idle()
	t.Run("for a closed pull request nobody is called any more", func(t *testing.T) {
		if i := s.onlyIssue(); i.State != "closed" || i.StateReason != "not_planned" {
			t.Errorf("%s %s", i.State, i.StateReason)
		}
		s.twice(d)
	})
	s.clean()
}

// A repository that is renamed keeps its cases, also for deliveries of before.
func TestAppRenamedRepository(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig)
	s.ran(failing("TestAdd"), "failure")
	s.wantSticky("1 of 1")
	old := s.r.FullName
	var now map[string]any
	s.r.Must(t, "PATCH", "", map[string]any{"name": s.r.Name + "-renamed"}, &now)
	s.r.Name, s.r.FullName = s.r.Name+"-renamed", old+"-renamed"
	s.view = s.r.View()
	s.r.Deliver(s.app.URL + "/webhook")
	s.r.Send(t, "repository", map[string]any{"action": "renamed", "changes": map[string]any{"repository": map[string]any{"name": map[string]any{"from": old}}}})
	s.app.Idle()
	s.push()
	run := s.ranOn(s.r, "feature", failing("TestAdd"))
	run.Name, run.Pulls = "unit", []int{s.number}
	payload := s.r.RunPayload(s.r.AddRun(run), "completed")
	before, _ := payload["repository"].(map[string]any)
	before["full_name"] = old // sent before GitHub had renamed it
	before["id"] = s.r.ID
	s.r.Send(t, "workflow_run", payload)
	s.app.Idle()
	t.Run("the next run is the second of the same case", func(t *testing.T) {
		if i := s.onlyIssue(); i.State != "open" || !strings.Contains(i.Body, "1/1") {
			t.Errorf("%+v", i)
		}
		if got := s.mine(s.number); len(got) != 1 || !strings.Contains(got[0], "/"+s.r.FullName+"/issues/") {
			t.Errorf("%q", got)
		}
	})
	s.clean()
}

// Two processes share a PostgreSQL database; each delivery goes to both.
func TestAppReplicas(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	story := newStory(t, appConfig)
	url := pgtest.URL(t)
	one := story.b.Serve(t, bin, url, "SWITCHBACK_RECONCILE=1s")
	two := story.b.Serve(t, bin, url, "SWITCHBACK_RECONCILE=1s")
	s := &served{story, one}
	s.receive()
	for n := range 3 {
		if n > 0 {
			s.push()
		}
		report, conclusion := failing("TestAdd"), "failure"
		if n == 2 {
			report, conclusion = passing, "success"
		}
		d := s.ran(report, conclusion)
		if code := two.Again(d); code != http.StatusAccepted {
			t.Errorf("%d", code)
		}
		s.app.Idle()
	}
	s.wantSticky("✅")
	if i := s.onlyIssue(); i.State != "closed" {
		t.Errorf("%+v", i)
	}
	repeated := one.Metric("switchback_deliveries_total", `outcome="repeated"`) + two.Metric("switchback_deliveries_total", `outcome="repeated"`)
	decided := one.Metric("switchback_decisions_total") + two.Metric("switchback_decisions_total")
	if repeated != 3 || decided != 3 {
		t.Errorf("%v were repeated, %v decided, want 3 and 3", repeated, decided)
	}
	s.clean()
}
