package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// calls returns the bot's comments that begin with a mention.
func (s *story) calls(who string) []string {
	s.t.Helper()
	var out []string
	for _, c := range s.bot() {
		if strings.HasPrefix(c, who+" ") {
			out = append(out, c)
		}
	}
	return out
}

const reworkWorkflow = "on:\n  workflow_dispatch:\n    inputs:\n      key: {type: string}\n      packet: {type: string}\n"

// packet is what is used here of the machine-readable packet.
type packet struct {
	Switchback, Iteration, Max, Omitted int
	Case, Checkpoint, SHA, Class        string
	Failures                            []struct{ Name, Message string }
}

func packetOf(t *testing.T, raw any) packet {
	t.Helper()
	text, ok := raw.(string)
	if !ok {
		text = string(marshal(raw))
	}
	var p packet
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return p
}

func TestHandoff(t *testing.T) { both(t, testHandoff) }

func testHandoff(t *testing.T, begin begin) {
	t.Run("an agent is called by a comment of its own, once per turn", func(t *testing.T) {
		s := begin(t, "handoff: [{mention: \"@claude\"}]\n")
		for n := 1; n <= 2; n++ {
			for range 2 { // the same run delivered again calls nobody
				s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": fmt.Sprint(n)})
			}
			if got := s.calls("@claude"); len(got) != n || strings.Count(strings.Join(got, ""), "@claude") != n {
				t.Errorf("turn %d: %q", n, got)
			}
			s.push()
		}
		for _, c := range s.bot() {
			if !strings.HasPrefix(c, "@claude ") && strings.Contains(c, "@claude") {
				t.Errorf("the comment that is edited mentions too: %s", c)
			}
		}
		s.clean()
	})
	t.Run("a workflow is dispatched with key and packet, once per turn", func(t *testing.T) {
		s := begin(t, "handoff: [{workflow: rework.yml, inputs: {model: small}}]\n")
		s.r.Commit(t, "main", "a worker", map[string]string{".github/workflows/rework.yml": reworkWorkflow})
		for range 2 {
			s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		}
		d := s.r.Dispatches()
		if len(d) != 1 || d[0].Kind != "workflow_dispatch" || d[0].Name != "rework.yml" || d[0].Ref != "main" {
			t.Fatalf("%+v", d)
		}
		in := d[0].Body["inputs"].(map[string]any)
		p := packetOf(t, in["packet"])
		if in["model"] != "small" || in["key"] == "" || p.Iteration != 1 || p.Max != 3 || p.SHA != s.sha || p.Checkpoint != "unit" || len(p.Failures) != 1 || p.Failures[0].Name != "TestAdd" {
			t.Errorf("%v %+v", in, p)
		}
		s.push()
		s.run(failing("TestAdd"), nil)
		if d = s.r.Dispatches(); len(d) != 2 || d[1].Body["inputs"].(map[string]any)["key"] == in["key"] {
			t.Errorf("%+v", d)
		}
		s.clean()
	})
	t.Run("a repository_dispatch carries the packet within GitHub's limits", func(t *testing.T) {
		s := begin(t, "handoff: [{repository_dispatch: rework}]\n")
		var many []string
		for i := range 2000 {
			many = append(many, fmt.Sprintf("TestNumber%04d", i))
		}
		s.want(s.run(failing(many...), nil), 0, map[string]string{"decision": "RETRY"})
		d := s.r.Dispatches()
		if len(d) != 1 || d[0].Name != "rework" {
			t.Fatalf("%d dispatches", len(d))
		}
		payload := d[0].Body["client_payload"].(map[string]any)
		p := packetOf(t, payload["packet"])
		if n := len(marshal(payload)); n >= 64<<10 || len(payload) > 10 || len(p.Failures) < 10 || len(p.Failures)+p.Omitted != 2000 {
			t.Errorf("%d bytes, %d fields, %d failures, %d omitted", n, len(payload), len(p.Failures), p.Omitted)
		}
		if payload["number"] != float64(s.number) || payload["branch"] != "feature" || payload["checkpoint"] != "unit" {
			t.Errorf("%v", payload)
		}
		s.clean()
	})
	t.Run("a label is set on the pull request and made when missing", func(t *testing.T) {
		s := begin(t, "handoff: [{label: needs-rework}, {mention: author}]\n")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		if !contains(s.r.IssueLabels(t, s.number), "needs-rework") || !contains(names(s.r.Labels(t)), "needs-rework") {
			t.Errorf("%v", s.r.IssueLabels(t, s.number))
		}
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "@"+Owner) {
			t.Errorf("%q", got)
		}
		s.clean()
	})
	t.Run("a worker that does not exist is said, and neither the comment nor the turn is lost", func(t *testing.T) {
		s := begin(t, "handoff: [{workflow: gone.yml}]\n")
		res := s.run(failing("TestAdd"), nil)
		s.want(res, 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if len(s.bot()) != 1 || !s.logged(res, "gone.yml") {
			t.Errorf("%q\n%s", s.bot(), res.Stderr)
		}
		s.clean()
	})
}

func TestHandoffManual(t *testing.T) { both(t, testHandoffManual) }

func testHandoffManual(t *testing.T, begin begin) {
	s := begin(t, "mode: manual\nhandoff: [{repository_dispatch: rework}]\n")
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	if d := s.r.Dispatches(); len(d) != 0 || len(s.bot()) != 1 {
		t.Fatalf("handed over without a call: %+v", d)
	}
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprintf("S4-23 in manual mode rework %d waits for a call of its own", n), func(t *testing.T) {
			if n > 1 {
				s.push()
				s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
			}
			if d := s.r.Dispatches(); len(d) != n-1 {
				t.Fatalf("before its call: %+v", d)
			}
			res := s.say(Owner, s.number, "/switchback handoff")
			if d := s.r.Dispatches(); res.ExitCode != 0 || len(d) != n {
				t.Fatalf("after its call: %+v\n%s%s", d, res.Stdout, res.Stderr)
			}
			s.say(Owner, s.number, "/switchback handoff")
			if d := s.r.Dispatches(); len(d) != n {
				t.Fatalf("a second call hands over again: %+v", d)
			}
		})
	}
	s.clean()
}

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	s := newStory(t, "handoff: [{repository_dispatch: rework}]\n")
	s.config = "retry_delay: 1s\nhandoff: [{repository_dispatch: rework}]\n"
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	t.Run("S0-52 the delay is waited before the hand-off", func(t *testing.T) {
		var posted, handed time.Time
		for _, q := range s.view.Content() {
			switch {
			case strings.HasSuffix(q.Path, "/comments"):
				posted = q.At
			case strings.HasSuffix(q.Path, "/dispatches"):
				handed = q.At
			}
		}
		if posted.IsZero() || handed.Sub(posted) < time.Second {
			t.Errorf("posted %v, handed over %v\n%s", posted, handed, list(s.view))
		}
	})
	s.clean()
}

func TestDependents(t *testing.T) { both(t, testDependents) }

func testDependents(t *testing.T, begin begin) {
	const config = "checkpoints:\n  unit: {}\n  integration:\n    needs: [unit]\n    start: {workflow: integration.yml}\nreviewer: {mention: \"@critic\"}\n"
	s := begin(t, config)
	s.r.Commit(t, "main", "a worker", map[string]string{".github/workflows/integration.yml": "name: integration\n" + reworkWorkflow})
	t.Run("S0-45 a dependent's run waits for what it needs", func(t *testing.T) {
		s.want(s.run(failing("TestFar"), map[string]string{"checkpoint": "integration"}), 0, map[string]string{"decision": "NONE"})
		if len(s.bot()) != 0 {
			t.Errorf("%q", s.bot())
		}
	})
	s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
	t.Run("S0-7 a pass starts the dependents", func(t *testing.T) {
		d := s.r.Dispatches()
		if len(d) != 1 || d[0].Name != "integration.yml" {
			t.Errorf("%+v", d)
		}
	})
	t.Run("S0-6 a pass starts the reviewer once", func(t *testing.T) {
		s.run(passing, map[string]string{"job-status": "success"})
		if got := s.calls("@critic"); len(got) != 1 {
			t.Errorf("%q", s.bot())
		}
	})
	t.Run("the dependent's run that waited is decided then", func(t *testing.T) {
		if n := s.count("run:RETRY"); n != 1 || len(s.bot()) != 2 {
			t.Errorf("%v %q", s.events(), s.bot())
		}
	})
	s.clean()
}

func TestLimits(t *testing.T) {
	t.Parallel()
	t.Run("S4-34 a label on the pull request overrides the limit", func(t *testing.T) {
		s := newStory(t, "max_iterations: 1\n")
		s.r.Must(t, "POST", fmt.Sprintf("/issues/%d/labels", s.number), map[string]any{"labels": []string{"switchback:max=2"}}, nil)
		s.upTo(t, 2, "ESCALATE_MAX_RETRY")
	})
	t.Run("S4-34 the configuration overrides the limit of one case", func(t *testing.T) {
		s := newStory(t, "max_iterations: 1\ncases: {\"#1\": {max_iterations: 2}}\n")
		s.upTo(t, 2, "ESCALATE_MAX_RETRY")
	})
	t.Run("S4-35 a limit of 0 returns nothing for a fix", func(t *testing.T) {
		s := newStory(t, "max_iterations: 0\n")
		s.upTo(t, 0, "ESCALATE_MAX_RETRY")
	})
	t.Run("S4-70 a limit lowered under way does not change the case", func(t *testing.T) {
		s := newStory(t, "max_iterations: 2\n")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "max-iterations": "2"})
		s.push()
		s.config = "max_iterations: 1\nretry_delay: 0s\n"
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2", "max-iterations": "2"})
		s.clean()
	})
	t.Run("S4-29 on_max error fails the check and the step", func(t *testing.T) {
		s := newStory(t, "max_iterations: 1\non_max: error\n")
		s.run(failing("TestAdd"), nil)
		s.push()
		s.want(s.run(failing("TestAdd"), nil), 1, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "failure" {
			t.Errorf("%+v", c)
		}
		s.clean()
	})
	t.Run("S4-30 on_max skip skips it and others continue", func(t *testing.T) {
		s := newStory(t, "max_iterations: 1\non_max: skip\ncheckpoints: {unit: {}, later: {needs: [unit], start: {repository_dispatch: later}}}\n")
		s.run(failing("TestAdd"), nil)
		s.push()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "neutral" {
			t.Errorf("%+v", c)
		}
		if got := s.r.IssueLabels(t, s.number); contains(got, "switchback:paused") {
			t.Errorf("labels %v", got)
		}
		s.want(s.run(failing("TestLater"), map[string]string{"checkpoint": "later"}), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		s.clean()
	})
}

// upTo plays n reworks and then the decision.
func (s *story) upTo(t *testing.T, n int, then string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": fmt.Sprint(i), "max-iterations": fmt.Sprint(n)})
		s.push()
	}
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": then, "max-iterations": fmt.Sprint(n)})
	s.onlyIssue()
	s.clean()
}
