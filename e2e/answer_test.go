package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// say delivers a comment of login to the Action.
func (s *story) say(login string, number int, text string) Result {
	s.t.Helper()
	id := s.r.Comment(s.t, login, number, text)
	var issue map[string]any
	s.r.Must(s.t, "GET", fmt.Sprintf("/issues/%d", number), nil, &issue)
	a := s.action("", nil)
	a.Event = "issue_comment"
	a.Payload = map[string]any{
		"action": "created", "issue": issue, "repository": map[string]any{"default_branch": "main"},
		"comment": map[string]any{"id": id, "body": text, "user": map[string]any{"login": login, "type": "User"}},
	}
	return s.b.RunAction(s.t, a)
}

// last returns the newest comment of an issue by the bot.
func (s *story) last(number int) string {
	s.t.Helper()
	out := ""
	for _, c := range s.r.Comments(s.t, number) {
		if c.User.Login == ActionsBot {
			out = c.Body
		}
	}
	return out
}

func TestAnswer(t *testing.T) {
	s := newStory(t, "")
	s.r.Grant(t, Writer, "push")
	s.want(s.run(environment, nil), 0, map[string]string{"decision": "ESCALATE_ENV"})
	issue := s.onlyIssue()
	t.Run("a stranger's command is refused and changes nothing", func(t *testing.T) {
		s.want(s.say(Stranger, issue.Number, "/switchback resume"), 0, nil)
		if got := s.last(issue.Number); !strings.Contains(got, "Only people who may write") {
			t.Error(got)
		}
		if n := s.count("human"); n != 0 {
			t.Errorf("%d human events", n)
		}
	})
	t.Run("a command in a quote is no command", func(t *testing.T) {
		s.want(s.say(Writer, issue.Number, "> /switchback resume"), 0, nil)
		if n := s.count("human"); n != 0 {
			t.Errorf("%d human events", n)
		}
	})
	t.Run("S0-23 S0-48 a writer's command on the issue resumes the case", func(t *testing.T) {
		s.want(s.say(Writer, issue.Number, "/switchback resume"), 0, nil)
		if got := s.last(issue.Number); !strings.Contains(got, "Done") {
			t.Error(got)
		}
		if got := s.r.IssueLabels(t, s.number); contains(got, "switchback:paused") {
			t.Errorf("labels %v", got)
		}
		s.push()
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
	})
	t.Run("an unknown command is answered with those there are", func(t *testing.T) {
		s.want(s.say(Writer, s.number, "/switchback dance"), 0, nil)
		if got := s.last(s.number); !strings.Contains(got, "Not understood") {
			t.Error(got)
		}
	})
	s.clean()
}
