package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// deleting is the passing report without a test, which was deleted from it.
func deleting(name string) string {
	return strings.Replace(passing, fmt.Sprintf(`<testcase classname="calc" name=%q/>`, name), "", 1)
}

// suspects plays a failing run whose fix deletes the test, and returns the issue that asks about it.
func suspects(t *testing.T, begin begin, config string) (*story, Issue) {
	t.Helper()
	s := begin(t, config)
	s.r.Grant(t, Writer, "push")
	s.inside = true
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	s.push()
	s.want(s.run(deleting("TestAdd"), map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "SUSPECT", "iteration": "1"})
	if got := s.check(); got != "action_required" {
		t.Errorf("S5-20: the check ends as %s", got)
	}
	s.wantSticky("is green, but not trusted", "`calc › TestAdd` failed at", "did not run", "/switchback accept", "somebody else than who pushed it: `"+Owner+"`")
	if strings.Contains(s.sticky(), "Fixed on the way") {
		t.Errorf("S5-27: %s", s.sticky())
	}
	s.inside = false
	return s, s.onlyIssue()
}

func TestGreen(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s, issue := suspects(t, begin, "")
		s.say(Owner, s.number, "/switchback accept") // who pushed it
		if got := s.last(s.number); !strings.Contains(got, "somebody else has to accept it") {
			t.Errorf("S5-24: the pusher is not refused: %s", got)
		}
		if got := s.check(); got != "action_required" {
			t.Errorf("S5-24: accepted by who pushed it: %s", got)
		}
		s.say(Writer, s.number, "/switchback accept")
		if got := s.check(); got != "success" {
			t.Errorf("S5-24: the check ends as %s", got)
		}
		s.wantSticky("Accepted as it is", "`calc › TestAdd` failed at")
		if strings.Contains(s.sticky(), "Fixed on the way") {
			t.Errorf("S5-27: %s", s.sticky())
		}
		s.wantClosed(issue.Number, true)
		s.clean()
	})
}

func TestGreenBox(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s, issue := suspects(t, begin, "")
		s.tell(s.tick(Owner, issue.Number, "accept", answers.Submit))
		if got := s.check(); got != "action_required" {
			t.Errorf("S5-24: accepted by a box of who pushed it: %s", got)
		}
		s.push() // a new commit voids the question
		s.inside = true
		s.want(s.run(deleting("TestAdd"), map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "SUSPECT"})
		s.inside = false
		if got := s.check(); got != "action_required" {
			t.Errorf("S5-24: the check of the new commit ends as %s", got)
		}
		s.tell(s.tick(Writer, issue.Number, "accept", answers.Submit))
		if got := s.check(); got != "success" {
			t.Errorf("S5-24: the check ends as %s\n%s", got, s.body(issue.Number))
		}
		s.wantClosed(issue.Number, true)
		s.clean()
	})
}

func TestGreenAgain(t *testing.T) {
	both(t, func(t *testing.T, begin begin) {
		s, issue := suspects(t, begin, "")
		s.push()
		s.inside = true
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
		s.wantClosed(issue.Number, true)
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS", "iteration": "2"})
		s.wantSticky("Fixed on the way: `TestAdd`")
		s.clean()
	})
}

// TestGreenKilled kills the Action that asks, and the one that takes the answer, at every write.
func TestGreenKilled(t *testing.T) {
	t.Parallel()
	for _, k := range killPoints(t, 4, 4) {
		t.Run(fmt.Sprintf("S5-20 S5-24 killed at write %d (%v) one question is asked", k.n, k.when), func(t *testing.T) {
			t.Parallel()
			s := newStory(t, "")
			s.r.Grant(t, Writer, "push")
			s.inside = true
			s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
			s.push()
			a := s.action(deleting("TestAdd"), map[string]string{"job-status": "success"})
			a.Kill = s.r.View().HoldAt(k.n, k.when, writes)
			first := s.b.RunAction(t, a)
			a.Kill.Release()
			if !first.Killed {
				t.Fatalf("it was not killed: it has fewer writes than %d", k.n)
			}
			s.want(s.within(s.action(deleting("TestAdd"), map[string]string{"job-status": "success"}), 0), 0, map[string]string{"decision": "SUSPECT"})
			if got := s.check(); got != "action_required" {
				t.Errorf("the check ends as %s", got)
			}
			issue := s.onlyIssue()
			s.say(Writer, s.number, "/switchback accept")
			if got := s.check(); got != "success" {
				t.Errorf("accepted, the check ends as %s", got)
			}
			s.wantClosed(issue.Number, true)
		})
	}
}
