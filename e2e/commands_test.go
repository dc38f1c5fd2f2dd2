package e2e

import (
	"strings"
	"testing"
)

// Every command, from comment to effect.
func TestCommandsToEffect(t *testing.T) { both(t, testCommandsToEffect) }

func testCommandsToEffect(t *testing.T, begin begin) {
	for _, c := range []struct {
		line  string
		onPR  bool
		check func(*testing.T, *story)
	}{
		{"retry 2", false, func(t *testing.T, s *story) { s.wantComment("2 of 3") }},
		{"reset", true, func(t *testing.T, s *story) { s.wantComment("1 of 1") }},
		{"phase research", false, func(t *testing.T, s *story) { s.wantComment("**research**") }},
		{"rerun", true, func(t *testing.T, s *story) {
			if d := s.r.Dispatches(); len(d) != 1 || d[0].Kind != "rerun-failed-jobs" {
				t.Errorf("dispatches %+v", d)
			}
		}},
		{"quarantine testadd", false, func(t *testing.T, s *story) {
			if n := s.count("run:PASS"); n != 1 {
				t.Errorf("%v", s.events())
			}
		}},
		{"skip unit", true, func(t *testing.T, s *story) { s.wantPaused(false) }},
		{"wont-fix", false, func(t *testing.T, s *story) { s.wantPaused(true) }},
		{"wrong env-issue", true, func(t *testing.T, s *story) {
			if n := s.count("run:ESCALATE_ENV"); n != 1 {
				t.Errorf("%v", s.events())
			}
		}},
	} {
		t.Run("S0-48 "+strings.ReplaceAll(c.line, "/", " "), func(t *testing.T) {
			t.Parallel()
			s, issue := begin.escalated(t, "")
			at := issue.Number
			if c.onPR {
				at = s.number
			}
			id, res := s.comment(Writer, at, "This one:\n\n/Switchback "+c.line+"\n")
			s.want(res, 0, nil)
			if got := s.r.Reactions(t, id); len(got) != 1 || got[0].Content != "+1" {
				t.Errorf("reactions %+v, replies %q", got, s.replies(at))
			}
			if got := s.replies(at); len(got) != 0 {
				t.Errorf("replies %q", got)
			}
			c.check(t, s)
			if n := s.count("human"); n != 1 {
				t.Errorf("%d human events", n)
			}
			s.clean()
		})
	}
}

func TestCommandsRefused(t *testing.T) { both(t, testCommandsRefused) }

func testCommandsRefused(t *testing.T, begin begin) {
	s, issue := begin.escalated(t, "answers: {permission: maintain}\n")
	said := func(login, text string) string {
		t.Helper()
		before := len(s.replies(issue.Number))
		s.want(s.say(login, issue.Number, text), 0, nil)
		if after := s.replies(issue.Number); len(after) == before+1 {
			return after[before]
		} else if len(after) != before {
			t.Errorf("%d replies to one comment", len(after)-before)
		}
		return ""
	}
	for text, want := range map[string]string{
		"/switchback rety":             "nearest command is `/switchback retry`",
		"/switchback phase reserch":    "nearest command is `/switchback phase research`",
		"/switchback quarantine TestX": "no failing test is called `TestX`; the nearest is `TestAdd`",
		"/switchback skip lint":        "no checkpoint `lint`",
		"/switchback wrong flaky":      "`/switchback quarantine TEST`",
		"/switchback handoff":          "no hand-off that waits",
		"/switchback status":           "`unit`: waits for a person",
		"/switchback help":             "`/switchback wont-fix`",
		"```\n/switchback skip\n```":   "",
	} {
		if got := said(Owner, text); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q is answered %q, want %q", text, got, want)
		}
	}
	if got := said(Writer, "/switchback skip"); !strings.Contains(got, "Only people with `maintain` permission") {
		t.Errorf("write is less than maintain: %q", got)
	}
	if got := said(Writer, "/switchback skip"); got != "" {
		t.Errorf("told twice within the hour: %q", got)
	}
	if n := s.count("human"); n != 0 {
		t.Errorf("%d human events", n)
	}
}
