package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/answers"
)

func TestIssueState(t *testing.T) { both(t, testIssueState) }

func testIssueState(t *testing.T, begin begin) {
	shut := func(s *story, login string, n int, reason string) Result {
		s.change(login, "closed", n, map[string]any{"state": "closed", "state_reason": reason})
		return s.tell(s.issueEvent("closed", login, n, nil))
	}
	t.Run("closed as completed, the case goes on", func(t *testing.T) {
		s, issue := begin.escalated(t, "")
		shut(s, Writer, issue.Number, "completed")
		s.wantPaused(false)
		s.wantClosed(issue.Number, true)
		if s.count("human") != 1 {
			t.Errorf("%v", s.events())
		}
		s.clean()
	})
	t.Run("closed as not planned, it is left as it is", func(t *testing.T) {
		s, issue := begin.escalated(t, "")
		shut(s, Writer, issue.Number, "not_planned")
		s.wantPaused(true)
		s.wantClosed(issue.Number, true)
		if s.count("human") != 1 {
			t.Errorf("%v", s.events())
		}
		s.clean()
	})
	t.Run("closed by somebody who may not, it is opened again", func(t *testing.T) {
		s, issue := begin.escalated(t, "")
		shut(s, Triager, issue.Number, "completed")
		s.wantPaused(true)
		s.wantClosed(issue.Number, false)
		if s.count("human") != 0 {
			t.Errorf("%v", s.events())
		}
		s.clean()
	})
	for _, how := range []string{"deleted", "transferred"} {
		t.Run(how+", the pull request says how to answer, and can", func(t *testing.T) {
			s, issue := begin.escalated(t, "")
			event := s.issueEvent(how, Writer, issue.Number, nil)
			defer s.view.Fault(Fault{Path: regexp.MustCompile(fmt.Sprintf("/issues/%d(/|$)", issue.Number)), Times: -1, Status: http.StatusGone})()
			s.tell(event)
			s.tell(event)
			var said []string
			for _, c := range s.r.Comments(t, s.number) {
				if strings.Contains(c.Body, how) {
					said = append(said, c.Body)
				}
			}
			if len(said) != 1 || !strings.Contains(said[0], "`/switchback retry 2`") {
				t.Errorf("%q", said)
			}
			s.want(s.say(Writer, s.number, "/switchback retry"), 0, nil)
			s.wantPaused(false)
			s.wantComment("2 of 2")
		})
	}
}

func TestPausedLabel(t *testing.T) { both(t, testPausedLabel) }

func testPausedLabel(t *testing.T, begin begin) {
	s := begin(t, "")
	s.r.Grant(t, Triager, "triage")
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	label := func(action, login string) {
		t.Helper()
		path := fmt.Sprintf("/issues/%d/labels", s.number)
		if action == "labeled" {
			s.r.Must(t, "POST", path, map[string]any{"labels": []string{"switchback:paused"}}, nil)
		} else {
			s.r.Must(t, "DELETE", path+"/switchback:paused", nil, nil)
		}
		e := s.event()
		e["action"], e["label"], e["sender"] = action, map[string]any{"name": "switchback:paused"}, s.user(login)
		if s.by != nil {
			s.sends("pull_request", e)
			return
		}
		s.want(s.b.RunAction(t, s.told("pull_request_target", e)), 0, nil)
	}
	t.Run("put on by somebody who may triage, it pauses", func(t *testing.T) {
		label("labeled", Triager)
		s.push()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "NONE"})
		s.wantPaused(true)
	})
	t.Run("taken off, it resumes, and what came in between is decided", func(t *testing.T) {
		label("unlabeled", Triager)
		s.wantPaused(false)
		s.wantComment("2 of 3")
	})
	t.Run("by somebody who may not it is put back", func(t *testing.T) {
		label("labeled", Stranger)
		s.wantPaused(false)
		if n := s.count("human"); n != 2 {
			t.Errorf("%d human events", n)
		}
	})
	s.clean()
}

func TestReconciledAnswers(t *testing.T) {
	t.Parallel()
	s, issue := escalated(t, "")
	n := issue.Number
	reconcile := func(at time.Duration) {
		t.Helper()
		s.want(s.within(s.told("schedule", map[string]any{}), at), 0, nil)
	}
	s.tick(Writer, n, "reset", answers.Submit)
	reconcile(0)
	if p := s.checkboxes(n); !p.Submitted() {
		t.Error("Submit was unticked while its event may be on its way")
	}
	reconcile(time.Hour)
	if p := s.checkboxes(n); p.Submitted() || !slices.Equal(p.Ticked, []string{"reset"}) {
		t.Errorf("ticked %q", p.Ticked)
	}
	if got := s.replies(n); len(got) != 1 || !strings.Contains(got[0], "never arrived") {
		t.Errorf("%q", got)
	}
	if h := s.count("human"); h != 0 {
		t.Errorf("%d human events", h)
	}
	s.clean()
}

// What happened to an issue while no event was delivered is found by the reconcile.
func TestReconciledStates(t *testing.T) {
	t.Parallel()
	reconcile := func(s *story, at time.Duration) {
		s.t.Helper()
		s.want(s.within(s.told("schedule", map[string]any{}), at), 0, nil)
	}
	for reason, paused := range map[string]bool{"completed": false, "not_planned": true} {
		t.Run("closed as "+reason, func(t *testing.T) {
			s, issue := escalated(t, "")
			s.r.Grant(t, Owner, "admin")
			s.r.Must(t, "PATCH", fmt.Sprintf("/issues/%d", issue.Number), map[string]any{"state": "closed", "state_reason": reason}, nil)
			reconcile(s, 0)
			if n := s.count("human"); n != 0 {
				t.Errorf("%d human events while the event may be on its way", n)
			}
			reconcile(s, time.Hour)
			reconcile(s, 2*time.Hour)
			s.wantPaused(paused)
			s.wantClosed(issue.Number, true)
			if n := s.count("human"); n != 1 {
				t.Errorf("%d human events", n)
			}
			s.clean()
		})
	}
	t.Run("deleted", func(t *testing.T) {
		s, issue := escalated(t, "")
		defer s.view.Fault(Fault{Path: regexp.MustCompile(fmt.Sprintf("/issues/%d(/|$)", issue.Number)), Times: -1, Status: http.StatusGone})()
		reconcile(s, 0)
		reconcile(s, time.Hour)
		n := 0
		for _, c := range s.r.Comments(t, s.number) {
			if strings.Contains(c.Body, "deleted") && strings.Contains(c.Body, "`/switchback retry 2`") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the pull request was told %d times", n)
		}
	})
}
