package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// readOnly gives the story a token that may only read. Emulate lets such a
// token write, so its writes are answered as GitHub answers them.
func (s *story) readOnly() {
	s.t.Helper()
	read := map[string]string{}
	for k := range allPermissions("read") {
		read[k] = "read"
	}
	s.token = s.b.AppToken(s.t, ActionsAppID, s.r, read)
	for _, m := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		s.view.Fault(Fault{Method: m, Times: -1, Status: 403, Body: `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest","status":"403"}`})
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, report, decision string }{
		{"a failure", failing("TestAdd"), "RETRY"},
		{"an environment failure", environment, "ESCALATE_ENV"},
		{"a missing report", "", "NONE"},
		{"a pass", passing, "PASS"},
	} {
		t.Run(c.name+" under a read-only token is told in the job and posted nowhere", func(t *testing.T) {
			s := newStory(t, "")
			s.readOnly()
			in := map[string]string{"fail-on": "escalate,retry"}
			if c.decision == "PASS" {
				in["job-status"] = "success"
			}
			res := s.run(c.report, in)
			s.want(res, 0, map[string]string{"decision": c.decision})
			const do = "add `checks: write`, `contents: write`, `issues: write`, `pull-requests: write` to `permissions:` of the job `unit`, or, for pull requests from forks, add a workflow `on: workflow_run`"
			if n := strings.Count(res.Summary, do); n != 1 || !strings.Contains(res.Summary, c.decision) {
				t.Errorf("the summary says what to do %d times:\n%s", n, res.Summary)
			}
			if n := strings.Count(res.Stdout, do); n != 1 {
				t.Errorf("the log says what to do %d times:\n%s", n, res.Stdout)
			}
			if marked := strings.Contains(res.Stdout, "::error file=calc_test.go,line=7,"); marked != (c.decision == "RETRY") {
				t.Errorf("annotations:\n%s", res.Stdout)
			}
			writes := 0
			for _, q := range s.view.Content() {
				writes++
				if q.Status != 403 {
					t.Errorf("written: %v", q)
				}
			}
			if writes > 4 { // the ledger once, and what people see: an issue, a comment, a check
				t.Errorf("%d writes were tried:\n%s", writes, list(s.view))
			}
			if len(s.bot()) != 0 || len(s.r.Issues(t)) != 0 || len(s.r.CheckRuns(t, s.sha)) != 0 {
				t.Error("something was posted")
			}
			s.clean()
		})
	}
	t.Run("a second turn under a read-only token counts from what was recorded", func(t *testing.T) {
		s := newStory(t, "")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"iteration": "1"})
		s.push()
		s.readOnly()
		s.want(s.run(failing("TestSub"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
		if n := s.count("run"); n != 1 {
			t.Errorf("%d runs recorded", n)
		}
		s.clean()
	})
}

// A token that may post and not write the ledger's branch: GitHub refuses everything below contents
// and git, which Emulate would allow.
func TestWithoutContents(t *testing.T) {
	t.Parallel()
	forgetful := func(t *testing.T) *story {
		s := newStory(t, "handoff:\n  - mention: \"@octo-agent\"\n  - workflow: fix.yml\n")
		for _, m := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			s.view.Fault(Fault{Method: m, Path: regexp.MustCompile(`/(contents|git)/`), Times: -1, Status: 403, Body: `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest","status":"403"}`})
		}
		return s
	}
	const told = "may not write the branch of the ledger"
	for _, c := range []struct {
		name, report, decision string
		comments, issues       int
	}{
		{"a failure", failing("TestAdd"), "RETRY", 1, 0},
		{"an environment failure", environment, "ESCALATE_ENV", 1, 1},
		{"a pass", passing, "PASS", 0, 0},
	} {
		t.Run("S6-10 "+c.name+" is posted without contents: write, and what is not remembered is told once", func(t *testing.T) {
			s := forgetful(t)
			in := map[string]string{}
			if c.decision == "PASS" {
				in["job-status"] = "success"
			}
			for turn := range 3 {
				switch turn {
				case 1:
					s.push()
				case 2:
					s.runID++ // the same commit once more
				}
				res := s.run(c.report, in)
				s.want(res, 0, map[string]string{"decision": c.decision})
				if n := strings.Count(res.Stdout, told); n != 1 {
					t.Errorf("the log tells it %d times:\n%s", n, res.Stdout)
				}
				if n := strings.Count(res.Summary, told); n != 1 {
					t.Errorf("the summary tells it %d times:\n%s", n, res.Summary)
				}
				if n := len(s.r.CheckRuns(t, s.sha)); n != 1 {
					t.Errorf("%d check runs", n)
				}
			}
			if n := len(s.bot()); n != c.comments {
				t.Errorf("%d comments after three runs, want %d", n, c.comments)
			}
			if n := len(s.r.Issues(t)); n != c.issues {
				t.Errorf("%d issues after three runs, want %d", n, c.issues)
			}
			for _, q := range s.view.Content() {
				if strings.Contains(q.Path, "dispatches") || strings.Contains(string(q.Body), "octo-agent") {
					t.Errorf("a worker is called: %v", q)
				}
			}
			s.clean()
		})
	}
}

// A token that lacks one permission: what needs others is posted, and an annotation names the
// permission and the job, once.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.inside = true
	s.view.Fault(Fault{Method: "POST", Path: regexp.MustCompile(`/issues$`), Times: -1, Status: 403, Body: `{"message":"Resource not accessible by integration","documentation_url":"https://docs.github.com/rest","status":"403"}`})
	res := s.run(environment, nil)
	s.want(res, 0, map[string]string{"decision": "ESCALATE_ENV"})
	const told = "add `issues: write` to `permissions:` of the job `unit`"
	if n := strings.Count(res.Stdout, told); n != 1 || !strings.Contains(res.Stdout, "::error title=Switchback::GitHub refused a part") {
		t.Errorf("told %d times:\n%s", n, res.Stdout)
	}
	if strings.Count(res.Summary, told) != 1 {
		t.Errorf("%s", res.Summary)
	}
	if len(s.bot()) != 1 || len(s.r.CheckRuns(t, s.sha)) != 1 || s.count("run") != 1 {
		t.Errorf("%d comments, %d checks, %d runs recorded", len(s.bot()), len(s.r.CheckRuns(t, s.sha)), s.count("run"))
	}
	s.clean()
}
