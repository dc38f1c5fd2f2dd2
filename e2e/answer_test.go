package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// say delivers a comment of login to the Action.
func (s *story) say(login string, number int, text string) Result {
	s.t.Helper()
	_, res := s.comment(login, number, text)
	return res
}

func (s *story) comment(login string, number int, text string) (id int64, res Result) {
	s.t.Helper()
	if s.by != nil {
		s.tells("the comment", by("issue_comment", "created", login), func() { id = s.r.Comment(s.t, login, number, text) })
		return id, Result{}
	}
	id = s.r.Comment(s.t, login, number, text)
	return id, s.b.RunAction(s.t, s.told("issue_comment", map[string]any{
		"action": "created", "issue": s.issueNow(number), "sender": s.user(login),
		"comment": map[string]any{"id": id, "body": text, "user": s.user(login), "performed_via_github_app": nil},
	}))
}

// told describes the Action that runs on an event.
func (s *story) told(event string, payload map[string]any) Action {
	s.t.Helper()
	a := s.action("", map[string]string{"reports": ""})
	a.Event, a.Payload = event, payload
	payload["repository"] = map[string]any{"default_branch": "main"}
	return a
}

func (s *story) issueNow(number int) map[string]any {
	s.t.Helper()
	var issue map[string]any
	s.r.Must(s.t, "GET", fmt.Sprintf("/issues/%d", number), nil, &issue)
	return issue
}

func (s *story) user(login string) map[string]any {
	s.t.Helper()
	var u map[string]any
	s.b.must(s.t, s.b.UserToken(login), "GET", "/users/"+login, nil, &u)
	return u
}

// last returns the newest comment of an issue by the bot.
func (s *story) last(number int) string {
	s.t.Helper()
	out := ""
	for _, c := range s.r.Comments(s.t, number) {
		if c.User.Login == s.login() {
			out = c.Body
		}
	}
	return out
}

func TestAnswer(t *testing.T) { both(t, testAnswer) }

func testAnswer(t *testing.T, begin begin) {
	s := begin(t, "")
	s.r.Grant(t, Writer, "push")
	s.want(s.run(environment, nil), 0, map[string]string{"decision": "ESCALATE_ENV"})
	issue := s.onlyIssue()
	t.Run("a stranger's command is refused and changes nothing", func(t *testing.T) {
		s.want(s.say(Stranger, issue.Number, "/switchback resume"), 0, nil)
		if got := s.last(issue.Number); !strings.Contains(got, "Only people with `write` permission") {
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
		before := s.last(issue.Number)
		id, res := s.comment(Writer, issue.Number, "/switchback resume")
		s.want(res, 0, nil)
		if got := s.r.Reactions(t, id); len(got) != 1 || got[0].Content != "+1" {
			t.Errorf("reactions %+v", got)
		}
		if got := s.last(issue.Number); got != before && strings.Contains(got, "not") {
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
		if got := s.last(s.number); !strings.Contains(got, "not understood") || !strings.Contains(got, "`/switchback ") {
			t.Error(got)
		}
	})
	s.clean()
}
