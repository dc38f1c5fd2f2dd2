package e2e

import (
	"strings"
	"testing"
	"time"
)

// looks lets the bot look after hand-offs: a reconcile of the Action, whose clock is ahead by skew, or
// for the App comments of somebody who is no worker.
func (s *story) looks(skew time.Duration) {
	s.t.Helper()
	if s.by != nil {
		for range 2 { // the first one's requests tell the time of the responses
			s.say(Owner, s.number, "/switchback status")
		}
		return
	}
	a := s.action("", map[string]string{"reports": "", "checkpoint": "", "job-status": "success"})
	a.Event, a.Payload = "schedule", map[string]any{"schedule": "*/15 * * * *", "repository": map[string]any{"default_branch": "main"}}
	a.Workspace = s.t.TempDir()
	if res := s.within(a, skew); res.ExitCode != 0 {
		s.t.Fatalf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
	}
}

func TestHandoffInTurn(t *testing.T) { both(t, testHandoffInTurn) }

// An agent acknowledges and delivers nothing, a workflow waits for an approval, and delivers late.
func testHandoffInTurn(t *testing.T, begin begin) {
	s := begin(t, "workflows: [unit]\nhandoff:\n  - {mention: \"@claude\", login: "+Stranger+", ack_within: 10m, deliver_within: 2h}\n"+
		"  - {workflow: rework.yml, ack_within: 10m, deliver_within: 1h}\n  - {mention: author, deliver_within: 1h}\n")
	s.inside = true
	s.r.Commit(t, "main", "a worker", map[string]string{".github/workflows/rework.yml": reworkWorkflow})
	told := func(agent, dispatched int, when string) {
		t.Helper()
		if d, calls := s.r.Dispatches(), s.calls("@claude"); len(d) != dispatched || len(calls) != agent {
			t.Fatalf("%s: %+v, calls %q", when, d, calls)
		}
	}
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	told(1, 0, "S5-80 the first worker alone is told")
	s.wantSticky("Handed off to `claude`, worker 1 of 3.", "within 10m", "within 2h")
	if got := strings.Join(s.bot(), "\n"); strings.Count(got, "@claude") != 1 {
		t.Errorf("S6-4 the sticky comment mentions too: %s", got)
	}
	s.say(Stranger, s.number, "I am on it")
	s.wantSticky("acknowledged it by a comment") // S5-81
	s.view.Ahead(time.Hour)
	s.looks(0)
	told(1, 0, "S5-81 a worker who acknowledged has its time")
	s.view.Ahead(2*time.Hour + time.Minute)
	for range 2 {
		s.looks(0)
		told(1, 1, "S5-82 the next worker is told, once")
	}
	s.wantSticky("Handed off to `rework.yml`, worker 2 of 3.", "without an answer in time: `claude`")
	key, _ := s.r.Dispatches()[0].Body["inputs"].(map[string]any)["key"].(string)
	if !strings.HasSuffix(key, "/handoff/2") {
		t.Fatalf("key %q", key)
	}

	worker := s.r.AddRun(Run{Name: "rework", Title: "Fix " + key, Path: ".github/workflows/rework.yml", Event: "workflow_dispatch", HeadBranch: "main",
		HeadSHA: s.r.SHA(t, "main"), Status: "waiting", Started: time.Now().Add(2*time.Hour + 2*time.Minute)})
	s.view.Ahead(2*time.Hour + 20*time.Minute)
	s.looks(0)
	s.wantSticky("waits for a maintainer's approval") // S5-84
	s.view.Ahead(50 * time.Hour)
	s.looks(0)
	told(1, 1, "S5-84 while a run waits for an approval nobody else is told")
	s.r.SetRun(worker.ID, func(r *Run) { r.Status, r.Conclusion = "completed", "success" })
	if s.by != nil {
		s.sends("workflow_run", s.r.RunPayload(worker, "completed"))
	} else {
		s.looks(0)
	}
	s.wantSticky("A run has begun that carries its key.") // S5-81

	s.view.Ahead(52 * time.Hour)
	s.looks(0)
	if calls := s.calls("@" + Owner); len(calls) != 1 {
		t.Fatalf("S5-82 the author is not told by a comment of its own: %q", s.bot())
	}
	s.push()
	s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS", "iteration": "1"}) // S5-83
	s.view.Ahead(100 * time.Hour)
	s.looks(0)
	told(1, 1, "S5-83 a delivery ends the hand-off")
	if s.count("run:ESCALATE_NO_ANSWER") != 0 || len(s.calls("@"+Owner)) != 1 {
		t.Errorf("%v", s.events())
	}
	s.clean()
}

// Processes whose clocks are five minutes off agree on when a worker's time is over; behind the last
// one a maintainer is asked.
func TestHandoffUnanswered(t *testing.T) {
	t.Parallel()
	s := newStory(t, "handoff: [{mention: \"@claude\", ack_within: 10m}, {repository_dispatch: rework, ack_within: 10m}]\n")
	s.inside = true
	s.want(s.within(s.action(failing("TestAdd"), nil), -5*time.Minute), 0, map[string]string{"decision": "RETRY"})
	for _, skew := range []time.Duration{5 * time.Minute, -5 * time.Minute} {
		s.view.Ahead(9 * time.Minute)
		s.looks(skew)
	}
	if d := s.r.Dispatches(); len(d) != 0 || len(s.calls("@claude")) != 1 {
		t.Fatalf("S5-82 it expires before its time: %+v", d)
	}
	s.view.Ahead(11 * time.Minute)
	for _, skew := range []time.Duration{-5 * time.Minute, 5 * time.Minute} {
		s.looks(skew)
		if d := s.r.Dispatches(); len(d) != 1 || !strings.HasSuffix(d[0].Body["client_payload"].(map[string]any)["key"].(string), "/handoff/2") {
			t.Fatalf("S5-86 clock %v off: %+v", skew, d)
		}
	}
	s.view.Ahead(22 * time.Minute)
	s.looks(5 * time.Minute)
	if n := s.count("run:ESCALATE_NO_ANSWER"); n != 1 {
		t.Fatalf("S5-82 %d escalations: %v", n, s.events())
	}
	issue := s.onlyIssue()
	if !strings.Contains(issue.Body, "claude did not acknowledge within 10m; rework did not acknowledge within 10m") {
		t.Errorf("S5-82 %s", issue.Body)
	}
	s.wantSticky("none of them answered in time")
	s.push()
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
	s.wantClosed(issue.Number, true)
	if len(s.calls("@claude")) != 2 {
		t.Errorf("S5-83 a late delivery begins again with the first: %q", s.calls("@claude"))
	}
	s.clean()
}
