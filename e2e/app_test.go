package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// served is a story of the App, which learns everything from webhooks.
type served struct {
	*story
	app *Served
}

const appConfig = "reports: [\"**/report.xml\"]\nmax_iterations: 1\n"

func newServed(t *testing.T, config string, env ...string) *served {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := newStory(t, config)
	s.r.Grant(t, Writer, "push")
	v := &served{s, s.b.Serve(t, bin, "", env...)}
	v.receive()
	return v
}

func (s *served) receive() {
	s.t.Cleanup(func() { s.r.Deliver("") })
	s.r.Deliver(s.app.URL + "/webhook")
}

// ran adds a run of the head commit with a report and delivers the event to the App.
func (s *served) ran(report, conclusion string) Delivery {
	s.t.Helper()
	run := s.ranOn(s.r, "feature", report)
	run.Name, run.Conclusion, run.Pulls = "unit", conclusion, []int{s.number}
	d := s.r.Send(s.t, "workflow_run", s.r.RunPayload(s.r.AddRun(run), "completed"))
	if d.Status != http.StatusAccepted {
		s.t.Fatalf("the delivery was answered with %d", d.Status)
	}
	return d
}

// twice sends a delivery again once it is done, and fails the test if that does
// anything.
func (s *served) twice(d Delivery) {
	s.t.Helper()
	s.app.Idle()
	before := s.world()
	if code := s.app.Again(d); code != http.StatusAccepted {
		s.t.Errorf("%s again: %d", d.Event, code)
	}
	s.app.Idle()
	if after := s.world(); after != before {
		s.t.Errorf("%s again does something:\n%s\nbefore:\n%s", d.Event, after, before)
	}
}

// heard waits until the App has the delivery of what login did last.
func (s *served) heard(event, action, login string) Delivery {
	s.t.Helper()
	var last Delivery
	s.app.Until("the App hears of "+event, func() bool {
		for _, d := range s.r.Deliveries() {
			var p struct{ Sender struct{ Login string } }
			if json.Unmarshal(d.Body, &p) == nil && d.Event == event && d.Action == action && d.Status == http.StatusAccepted && p.Sender.Login == login {
				last = d
			}
		}
		return last.ID != 0
	})
	return last
}

// world is all that people see.
func (s *served) world() string {
	s.t.Helper()
	var b strings.Builder
	for _, i := range append([]Issue{{Number: s.number}}, s.r.Issues(s.t)...) {
		fmt.Fprintf(&b, "#%d %s %s %v\n%s\n", i.Number, i.State, i.StateReason, names(i.Labels), i.Body)
		for _, c := range s.r.Comments(s.t, i.Number) {
			fmt.Fprintf(&b, "  %s: %s\n", c.User.Login, c.Body)
		}
	}
	for _, c := range s.r.CheckRuns(s.t, s.sha) {
		fmt.Fprintf(&b, "check %s %s\n", c.Name, c.Conclusion)
	}
	return b.String()
}

// mine returns the App's comments on an issue or pull request.
func (s *served) mine(number int) []string {
	s.t.Helper()
	var out []string
	for _, c := range s.r.Comments(s.t, number) {
		if c.User.Login == SwitchbackBot {
			out = append(out, c.Body)
		}
	}
	return out
}

func (s *served) wantSticky(parts ...string) {
	s.t.Helper()
	s.app.Idle()
	got := s.mine(s.number)
	if len(got) != 1 {
		s.t.Fatalf("%d comments: %q", len(got), got)
	}
	for _, p := range parts {
		if !strings.Contains(got[0], p) {
			s.t.Errorf("%q is not in\n%s", p, got[0])
		}
	}
}

func (s *served) reviewed(login, event, body string) Delivery {
	s.t.Helper()
	var rv map[string]any
	s.b.must(s.t, s.b.UserToken(login), "POST", fmt.Sprintf("/repos/%s/pulls/%d/reviews", s.r.FullName, s.number),
		map[string]any{"event": event, "body": body, "commit_id": s.sha}, &rv)
	rv["state"], rv["commit_id"] = strings.ToLower(fmt.Sprint(rv["state"])), s.sha // as in GitHub's payload
	payload := s.event()
	delete(payload, "repository")
	payload["action"], payload["review"] = "submitted", rv
	return s.r.Send(s.t, "pull_request_review", payload)
}

func TestAppStory(t *testing.T) {
	t.Parallel()
	s := newServed(t, appConfig)
	s.twice(s.ran(failing("TestAdd"), "failure"))
	s.wantSticky("1 of 1", "TestAdd")
	s.push()
	d := s.ran(failing("TestAdd", "TestSub"), "failure")
	s.twice(d)
	issue := s.onlyIssue()
	t.Run("failing again ends in an escalation issue, and the pull request waits", func(t *testing.T) {
		if issue.User.Login != SwitchbackBot || !contains(names(issue.Labels), "escalation:test_failure") || !contains(s.r.IssueLabels(t, s.number), "switchback:paused") {
			t.Errorf("%+v", issue)
		}
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "action_required" || c[0].App.ID != SwitchbackAppID {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a human answers by box, and the work goes on", func(t *testing.T) {
		s.b.must(t, s.b.UserToken(Writer), "PATCH", fmt.Sprintf("/repos/%s/issues/%d", s.r.FullName, issue.Number),
			map[string]any{"body": tick("reset", "submit")(issue.Body)}, nil)
		d := s.heard("issues", "edited", Writer)
		s.wantSticky("1 of 1")
		if got := s.r.IssueLabels(t, s.number); contains(got, "switchback:paused") {
			t.Errorf("labels %v", got)
		}
		s.twice(d)
	})
	t.Run("it fails once more, and a human answers by command", func(t *testing.T) {
		s.push()
		s.ran(failing("TestAdd"), "failure")
		s.app.Idle()
		if i := s.onlyIssue(); i.State != "open" {
			t.Fatalf("the issue is %s", i.State)
		}
		s.r.Comment(t, Writer, s.number, "/switchback retry")
		d := s.heard("issue_comment", "created", Writer)
		s.wantSticky("2 of 2")
		s.twice(d)
	})
	t.Run("a review is taken like a run", func(t *testing.T) {
		d := s.reviewed(Writer, changes, "- blocker (security): calc.go:3: the sum may overflow\n")
		s.twice(d)
		got := s.mine(s.number)
		if len(got) != 1 || !strings.Contains(got[0], "overflow") || !strings.Contains(got[0], "TestAdd") {
			t.Errorf("%d comments: %q", len(got), got)
		}
		s.twice(s.reviewed(Writer, approve, "fine"))
	})
	t.Run("a green run closes the issue", func(t *testing.T) {
		s.push()
		s.twice(s.ran(passing, "success"))
		if i := s.onlyIssue(); i.State != "closed" {
			t.Errorf("the issue is %s", i.State)
		}
		if got := s.mine(s.number); !strings.Contains(got[0], "✅") {
			t.Error(got[0])
		}
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "success" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("reads that nothing changed cost nothing, and one token is enough", func(t *testing.T) {
		if n := s.app.Metric("switchback_github_requests_total", `unchanged="true"`); n == 0 {
			t.Error("no read was unchanged")
		}
		tokens := 0
		for _, q := range s.b.requests() {
			if strings.HasSuffix(q.Path, "/access_tokens") {
				tokens++
			}
		}
		t.Logf("%d tokens for all tests of this process", tokens)
	})
	s.clean()
}
