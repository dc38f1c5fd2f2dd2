package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/answers"
)

// another opens a further pull request, which the story is about from now on.
func (s *story) another(branch string) {
	s.t.Helper()
	s.branch = branch
	s.runID++
	s.sha = s.r.Commit(s.t, branch, "other work", map[string]string{branch + ".go": "package calc\n"})
	s.number = s.r.PullRequest(s.t, Owner, branch, "Add "+branch, "")
}

// flips runs the tests twice on the head commit: they fail, and pass.
func (s *story) flips() {
	s.t.Helper()
	s.runID++
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	s.runID++
	s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS", "iteration": "0"})
}

// later runs what an hourly workflow does, its clock ahead.
func (s *story) later(skew time.Duration) {
	s.t.Helper()
	a := s.action("", map[string]string{"reports": ""})
	a.Event, a.Payload = "schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}}
	if res := s.within(a, skew); res.ExitCode != 0 {
		s.t.Fatalf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
	}
}

// notes returns the bot's comments below an issue.
func (s *story) notes(number int) (out []string) {
	s.t.Helper()
	for _, c := range s.r.Comments(s.t, number) {
		if c.User.Login == s.login() {
			out = append(out, c.Body)
		}
	}
	return out
}

// A test that failed and passed on one commit of two pull requests is proposed; in quarantine its
// failures are shown and count nowhere, until the time is over.
func TestQuarantineOfRepository(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "")
		s.inside = true
		s.r.Grant(t, Writer, "push")
		s.r.Grant(t, Triager, "triage")
		s.r.Commit(t, "main", "owners", map[string]string{".github/CODEOWNERS": "* @acme/core\n*_test.go @acme/testers @mona\n"})
		s.flips()
		if n := len(s.issues()); n != 0 {
			t.Fatalf("S5-51: %d issues after one pull request", n)
		}
		s.another("second")
		s.flips()
		if n := len(s.issues()); n != 1 {
			t.Fatalf("S5-51, S5-55: %d issues after two pull requests", n)
		}
		issue := s.issues()[0]
		for _, want := range []string{"Proposed for quarantine", "2 pull requests", "calc › TestAdd", "@acme/testers", "@mona", "[`#1`](", "/actions/runs/", "sb:quarantine", "sb:fix", "sb:release"} {
			if !strings.Contains(issue.Body, want) {
				t.Errorf("S5-50, S5-51, S5-55: the issue lacks %q:\n%s", want, issue.Body)
			}
		}
		s.another("third")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"}) // nothing is excused yet

		for _, box := range []string{"quarantine", answers.Submit} {
			s.tell(s.tick(Triager, issue.Number, box))
		}
		if p := s.checkboxes(issue.Number); len(p.Ticked) != 0 {
			t.Errorf("S5-55: what a person without the role ticked stays: %q", p.Ticked)
		}
		s.tell(s.tick(Writer, issue.Number, "quarantine", "release", answers.Submit))
		if !strings.Contains(s.body(issue.Number), "Proposed") || !strings.Contains(strings.Join(s.notes(issue.Number), "\n"), "exactly one") {
			t.Errorf("S5-55: two answers at once:\n%s\n%q", s.body(issue.Number), s.notes(issue.Number))
		}
		s.edit(Writer, issue.Number, answers.Untick(s.body(issue.Number), "quarantine", "release", answers.Submit))
		event := s.tick(Writer, issue.Number, "quarantine", answers.Submit)
		s.tell(event)
		s.tell(event) // delivered twice
		if body := s.body(issue.Number); !strings.Contains(body, "In quarantine until ") || !strings.Contains(body, "`writer`") || strings.Contains(body, "[x]") {
			t.Fatalf("S5-55:\n%s", body)
		}

		s.another("fourth")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PASS"}) // S5-58
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "success" || !strings.Contains(c[0].Output.Title, "1 in quarantine") {
			t.Errorf("S5-56: %+v", c)
		}
		s.push()
		s.want(s.run(failing("TestAdd", "TestMine"), nil), 0, map[string]string{"decision": "RETRY"})
		s.wantSticky("1 failure is in quarantine and does not count", "`TestAdd` (until ", fmt.Sprintf("[#%d]", issue.Number), `"standing": "quarantined"`) // S5-56
		s.want(s.ranMain("push", failing("TestAdd")), 0, map[string]string{"decision": "PASS"})                                                             // S5-58

		s.want(s.ranMain("push", passing), 0, nil)

		if s.by != nil { // the server's clock is the real one
			s.clean()
			return
		}
		day := 24 * time.Hour
		before := len(s.notes(issue.Number))
		s.later(10 * day)
		s.later(11*day + time.Hour)
		s.later(12 * day)
		if got := s.notes(issue.Number); len(got) != before+1 || !strings.Contains(got[before], "ends at") || !strings.Contains(got[before], "@acme/testers") {
			t.Errorf("S5-53: %q", got[before:])
		}
		s.another("fifth")
		s.want(s.within(s.action(failing("TestAdd"), nil), 13*day), 0, map[string]string{"decision": "PASS"})
		s.another("sixth")
		s.want(s.within(s.action(failing("TestAdd"), nil), 14*day+time.Hour), 0, map[string]string{"decision": "RETRY"}) // S5-53: before anybody looked
		s.later(14*day + 2*time.Hour)
		s.later(15 * day)
		if got := s.notes(issue.Number); len(got) != before+2 || !strings.Contains(got[before+1], "count again") {
			t.Errorf("S5-53: %q", got[before:])
		}
		if body := s.body(issue.Number); !strings.Contains(body, "The quarantine ended") || !strings.Contains(body, "sb:quarantine") {
			t.Errorf("S5-53:\n%s", body)
		}
		s.clean()
	})
}

// A command on a pull request puts a test into the quarantine of the repository; one that fails
// consistently is refused.
func TestQuarantineByCommand(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s := begin(t, "max_iterations: 9\nquarantine_days: 5\n")
		s.inside = true
		s.r.Grant(t, Writer, "push")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		s.say(Writer, s.number, "/switchback quarantine TestAdd")
		if n := len(s.issues()); n != 1 || !strings.Contains(s.issues()[0].Body, time.Now().UTC().AddDate(0, 0, 5).Format(time.DateOnly)) {
			t.Fatalf("S5-50: %d issues %+v", n, s.issues())
		}
		s.another("second")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "PASS"}) // S5-58
		for range 3 {
			s.push()
			s.want(s.run(failing("TestBroken"), nil), 0, map[string]string{"decision": "RETRY"})
		}
		s.say(Writer, s.number, "/switchback quarantine TestBroken")
		if got := strings.Join(s.bot(), "\n"); !strings.Contains(got, "broken, not flaky") || len(s.issues()) != 1 {
			t.Errorf("S5-52: %d issues, %s", len(s.issues()), got)
		}
		n := s.issues()[0].Number
		s.tell(s.tick(Writer, n, "release", answers.Submit))
		s.wantClosed(n, true)
		s.another("third")
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"}) // S5-55
		s.clean()
	})
}
