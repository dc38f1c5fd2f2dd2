package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// review submits a review as login and runs the Action on its event.
func (s *story) review(login, event, body string) Result {
	s.t.Helper()
	var rv map[string]any
	do := func() {
		s.b.must(s.t, s.b.UserToken(login), "POST", fmt.Sprintf("/repos/%s/pulls/%d/reviews", s.r.FullName, s.number),
			map[string]any{"event": event, "body": body, "commit_id": s.sha}, &rv)
	}
	if s.by != nil {
		s.tells("the review", by("pull_request_review", "submitted", login), do)
		return s.outcome(func(e routing.RunRecorded) bool { return e.Verdict.Review != nil })
	}
	do()
	rv["state"], rv["commit_id"] = strings.ToLower(fmt.Sprint(rv["state"])), s.sha // as in GitHub's payload
	payload := s.event()
	payload["action"], payload["review"] = "submitted", rv
	a := s.action("", map[string]string{"reports": "", "checkpoint": "", "job-status": "success"})
	a.Event = "pull_request_review"
	a.Payload = payload
	return s.b.RunAction(s.t, a)
}

const (
	changes = "REQUEST_CHANGES"
	approve = "APPROVE"
)

// shownCheckpoint is a checkpoint as `switchback show` prints it of the
// ledger's file.
type shownCheckpoint struct {
	State      string
	Phases     map[string]bool
	Notes      []string
	LastError  string `json:"last_error"`
	Count      int    `json:"refinement_count"`
	Iterations []struct {
		Iteration      int
		AgentType      string `json:"agent_type"`
		ReviewFeedback string `json:"review_feedback"`
		Result         string
	} `json:"refinement_iterations"`
}

func TestReview(t *testing.T) {
	t.Parallel()
	s := newStory(t, "handoff: [{mention: \"@claude\"}]\n")
	s.r.Grant(t, Writer, "push")
	first := s.review(Writer, changes, "Thanks!\n\n- blocker (security): calc.go:3: the sum may overflow\n- critical (code quality): no error is returned\n- critical (testing): nothing tests zero\n")
	t.Run("S4-73 a review that marks the work as failed is detected", func(t *testing.T) {
		s.want(first, 0, map[string]string{"decision": "RETRY", "iteration": "1", "max-iterations": "3"})
	})
	t.Run("S4-74 S4-2 the failed work is routed back to its agent", func(t *testing.T) {
		if got := s.calls("@claude"); len(got) != 1 || !strings.Contains(first.Stdout, "target: implement") {
			t.Errorf("%q\n%s", got, first.Stdout)
		}
	})
	t.Run("S4-75 the feedback names each issue with its place and text", func(t *testing.T) {
		for _, want := range []string{"overflow", "calc.go", "no error is returned", "nothing tests zero", "1 of 3"} {
			if got := s.sticky(); !strings.Contains(got, want) {
				t.Errorf("%q is not in\n%s", want, got)
			}
		}
	})
	s.push()
	second := s.review(Writer, changes, "Still:\n\n- critical (architecture): the layers are mixed up\n- minor (naming): x is no name\n")
	t.Run("S4-80 the updated work is reviewed again, and goes to the phase of its issues", func(t *testing.T) {
		s.want(second, 0, map[string]string{"decision": "RETRY", "iteration": "2"})
		if !strings.Contains(second.Stdout, "target: plan") {
			t.Error(second.Stdout)
		}
	})
	t.Run("S4-76 S4-5 the agent gets the whole history with the feedback", func(t *testing.T) {
		text := readAll(second.Outputs["feedback-file"])
		for _, want := range []string{"layers are mixed up", "overflow"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})
	t.Run("S4-77 S4-37 S4-39 S4-40 S4-41 the iterations are tracked with feedback and result", func(t *testing.T) {
		cp := s.show("review")
		if cp.Count != 2 || len(cp.Iterations) != 2 || cp.Iterations[0].Result != "failed" || cp.Iterations[1].Result != "in_progress" ||
			cp.Iterations[0].ReviewFeedback != "Review failed: 1 blocker(s), 2 critical" || cp.Iterations[1].AgentType != "plan" {
			t.Errorf("%+v", cp)
		}
	})
	t.Run("a review that only comments decides nothing", func(t *testing.T) {
		before := fmt.Sprint(s.events())
		res := s.review(Writer, "COMMENT", "- blocker (security): just thinking aloud")
		if res.ExitCode != 0 || fmt.Sprint(s.events()) != before {
			t.Errorf("%v\n%s", s.events(), res.Stdout)
		}
	})
	s.push()
	third := s.review(Writer, approve, "Good now.")
	t.Run("S4-3 S4-16 an approval is the end", func(t *testing.T) {
		s.want(third, 0, map[string]string{"decision": "PASS"})
		if got := s.sticky(); !strings.Contains(got, "✅") {
			t.Error(got)
		}
		cp := s.show("review")
		if cp.State != "completed" || cp.Iterations[1].Result != "success" {
			t.Errorf("%+v", cp)
		}
	})
	t.Run("S4-79 S4-22 the loop ran without anyone's approval in between", func(t *testing.T) {
		if n := s.count("human"); n != 0 || len(s.calls("@claude")) != 2 {
			t.Errorf("%d human acts, %q", n, s.calls("@claude"))
		}
	})
	t.Run("S4-81 S4-4 each iteration is logged", func(t *testing.T) {
		if s.count("run:RETRY") != 2 || s.count("run:PASS") != 1 {
			t.Errorf("%v", s.events())
		}
		if cp := s.show("review"); len(cp.Notes) != 2 || !strings.Contains(cp.Notes[0], "1/3") || !strings.Contains(cp.Notes[1], "2/3") {
			t.Errorf("%q", cp.Notes)
		}
	})
	t.Run("one comment, edited, beside those that call the agent", func(t *testing.T) {
		if n := len(s.bot()) - len(s.calls("@claude")); n != 1 {
			t.Errorf("%d comments", n)
		}
	})
	s.clean()
}

func TestReviewLimit(t *testing.T) { both(t, testReviewLimit) }

func testReviewLimit(t *testing.T, begin begin) {
	s := begin(t, "")
	s.r.Grant(t, Writer, "push")
	for n := 1; n <= 3; n++ {
		s.want(s.review(Writer, changes, fmt.Sprintf("- critical (testing): still no test of case %d", n)), 0, map[string]string{"decision": "RETRY", "iteration": fmt.Sprint(n)})
		s.push()
	}
	res := s.review(Writer, changes, "- critical (testing): no test")
	t.Run("S4-50 S4-78 S4-13 after 3 of 3 the 4th failed review opens an escalation", func(t *testing.T) {
		s.want(res, 0, map[string]string{"decision": "ESCALATE_MAX_RETRY", "iteration": "3"})
		s.onlyIssue()
	})
	t.Run("S4-51 S4-28 the last error is set and the case waits", func(t *testing.T) {
		cp := s.show("review")
		if cp.LastError != "reached max refinement attempts (3/3)" || cp.State != "escalated" || cp.Count != 3 {
			t.Errorf("%+v", cp)
		}
	})
	t.Run("S4-66 the log says so", func(t *testing.T) {
		if !s.logged(res, "reached max refinement attempts (3/3)", "Manual intervention required") {
			t.Error(res.Stdout)
		}
	})
	t.Run("S4-52 S4-68 nothing is returned for a fix from then on", func(t *testing.T) {
		for range 3 {
			s.push()
			s.want(s.review(Writer, changes, "- critical (testing): no test"), 0, map[string]string{"decision": "NONE"})
		}
		if n := s.count("run:RETRY"); n != 3 {
			t.Errorf("%d reworks", n)
		}
		s.onlyIssue()
	})
	t.Run("S4-53 other checkpoints of the pull request go on", func(t *testing.T) {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	})
	t.Run("an approval ends it and closes the issue", func(t *testing.T) {
		s.push()
		s.want(s.review(Writer, approve, ""), 0, map[string]string{"decision": "PASS"})
		if i := s.onlyIssue(); i.State != "closed" {
			t.Errorf("%+v", i)
		}
	})
	s.clean()
}

func TestReviewPhases(t *testing.T) { both(t, testReviewPhases) }

func testReviewPhases(t *testing.T, begin begin) {
	for _, c := range []struct{ name, category, phase string }{
		{"S4-56 a missing requirement goes back to research", "requirements", "research"},
		{"S4-57 a wrong approach goes back to the plan", "approach", "plan"},
		{"S4-58 security goes back to the implementation", "security", "implement"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, "")
			s.r.Grant(t, Writer, "push")
			res := s.review(Writer, changes, "- major ("+c.category+"): this is not it")
			s.want(res, 0, map[string]string{"decision": "RETRY"})
			if !s.logged(res, "target: "+c.phase) || !strings.Contains(s.sticky(), c.phase) {
				t.Errorf("%s\n%s", res.Stdout, s.sticky())
			}
			s.clean()
		})
	}
	t.Run("a structured review in the body is taken as it is", func(t *testing.T) {
		s := begin(t, "")
		s.r.Grant(t, Writer, "push")
		body := "My review:\n\n```json\n" + `{"passed": false, "decision": "REJECTED", "severity": "HIGH", "feedback": "not yet", "issues": [
  {"severity": "blocker", "category": "missing information", "description": "which currency?", "file": "calc.go", "line": 1, "suggestedFix": "ask the author"},
  {"severity": "minor", "category": "naming", "description": "x"}]}` + "\n```\n"
		res := s.review(Writer, changes, body)
		s.want(res, 0, map[string]string{"decision": "RETRY"})
		for _, want := range []string{"which currency?", "ask the author", "calc.go"} {
			if !strings.Contains(s.sticky(), want) {
				t.Errorf("%q is not in\n%s", want, s.sticky())
			}
		}
		if cp := s.show("review"); !s.logged(res, "target: research") || cp.Iterations[0].ReviewFeedback != "Review failed: 1 blocker(s), 1 minor" {
			t.Errorf("%s\n%+v", res.Stdout, cp)
		}
		s.clean()
	})
	t.Run("changes requested without a word are a rework all the same", func(t *testing.T) {
		s := begin(t, "")
		s.r.Grant(t, Writer, "push")
		s.want(s.review(Writer, changes, "no"), 0, map[string]string{"decision": "RETRY"})
		s.clean()
	})
	t.Run("S4-47 a reviewer that failed itself costs no turn", func(t *testing.T) {
		s := begin(t, "")
		s.r.Grant(t, Writer, "push")
		res := s.run(`{"passed": false, "decision": "FAILED", "issues": [], "feedback": "the reviewer crashed"}`, map[string]string{"checkpoint": "review", "job-status": "failure"})
		s.want(res, 0, map[string]string{"decision": "NONE", "iteration": "0"})
		if len(s.bot()) != 0 || len(s.r.Issues(t)) != 0 {
			t.Errorf("%q", s.bot())
		}
		s.clean()
	})
	t.Run("S4-15 a review delivered again of a commit that was returned for a fix costs no turn", func(t *testing.T) {
		s := begin(t, "")
		s.r.Grant(t, Writer, "push")
		s.review(Writer, changes, "- major (testing): none")
		s.want(s.review(Writer, changes, "- major (testing): none at all"), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		s.clean()
	})
}

// sticky is the bot's comment that is edited.
func (s *story) sticky() string {
	s.t.Helper()
	for _, c := range s.bot() {
		if !strings.HasPrefix(c, "@") {
			return c
		}
	}
	return ""
}

// show asks the command line for a checkpoint of the story's case.
func (s *story) show(checkpoint string) shownCheckpoint {
	s.t.Helper()
	dir := s.t.TempDir()
	key := fmt.Sprintf("%s#%d", s.r.FullName, s.number)
	var file string
	if s.by != nil {
		file = "sqlite:" + filepath.Join(s.by.dir, "switchback.db")
	}
	for path, text := range s.r.Tree(s.t, "switchback-ledger") {
		if strings.HasSuffix(path, fmt.Sprintf("=%d.jsonl", s.number)) {
			file = write(s.t, dir, "ledger.jsonl", text)
		}
	}
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	res := s.b.RunAction(s.t, Action{Binary: bin, Args: []string{"show", "--ledger", file, "-o", "json", key}, Repo: s.r})
	var out struct{ Checkpoints map[string]shownCheckpoint }
	if err := json.Unmarshal([]byte(res.Stdout), &out); err != nil {
		s.t.Fatalf("%v\n%s%s", err, res.Stdout, res.Stderr)
	}
	return out.Checkpoints[checkpoint]
}

func TestReviewOfStrangers(t *testing.T) { both(t, testReviewOfStrangers) }

func testReviewOfStrangers(t *testing.T, begin begin) {
	s := begin(t, "review: {reviewers: [\"@"+Reader+"\"]}\n")
	s.r.Grant(t, Writer, "push")
	t.Run("anyone can approve on a public repository, and it does not count", func(t *testing.T) {
		res := s.review(Stranger, approve, "looks good")
		s.want(res, 0, nil)
		if res.Outputs["decision"] != "" || len(s.events()) != 0 || !s.logged(res, "does not count") {
			t.Errorf("%v %v\n%s", res.Outputs, s.events(), res.Stdout)
		}
	})
	t.Run("a reviewer the configuration names counts", func(t *testing.T) {
		s.want(s.review(Reader, approve, "looks good"), 0, map[string]string{"decision": "PASS"})
	})
	s.clean()
}
