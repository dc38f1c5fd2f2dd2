package e2e

import (
	"fmt"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// answers.apps holds ids of Apps. The account of an App's bot, and that of a person, has an id that
// somebody else's App may have.
func TestAnswersOfApps(t *testing.T) {
	t.Parallel()
	const account = 987654
	bot := func(login string, id int) map[string]any {
		return map[string]any{"id": id, "login": login, "type": "Bot"}
	}
	for name, c := range map[string]struct {
		apps   int
		sender map[string]any
		app    any
		counts bool
	}{
		"the App":                             {SwitchbackAppID, bot("switchback[bot]", account), map[string]any{"id": SwitchbackAppID}, true},
		"another App":                         {SwitchbackAppID, bot("switchback[bot]", account), map[string]any{"id": ActionsAppID}, false},
		"an account with the number":          {account, bot("switchback[bot]", account), map[string]any{"id": SwitchbackAppID}, false},
		"an account with the number, no App":  {account, bot("switchback[bot]", account), nil, false},
		"a login that is the number":          {account, bot("987654[bot]", 7), nil, false},
		"a bot's account through another App": {account, bot("other[bot]", account), map[string]any{"id": 5}, false},
	} {
		t.Run("S6-18 a comment of "+name, func(t *testing.T) {
			t.Parallel()
			s, issue := escalated(t, fmt.Sprintf("answers: {apps: [%d]}\n", c.apps))
			res := s.b.RunAction(t, s.told("issue_comment", map[string]any{
				"action": "created", "issue": s.issueNow(issue.Number), "sender": c.sender,
				"comment": map[string]any{"id": s.r.Comment(t, Writer, issue.Number, "/switchback retry 2"), "body": "/switchback retry 2", "user": c.sender, "performed_via_github_app": c.app},
			}))
			s.want(res, 0, nil)
			if n := s.count("human"); (n == 1) != c.counts {
				t.Errorf("%d answers", n)
			}
			s.clean()
		})
	}
	for name, c := range map[string]struct {
		apps   int
		sender map[string]any
		counts bool
	}{
		"the App":                    {SwitchbackAppID, bot("switchback[bot]", account), true},
		"an account with the number": {account, bot("switchback[bot]", account), false},
		"an App that nobody knows":   {SwitchbackAppID, bot("unknown[bot]", SwitchbackAppID), false},
	} {
		t.Run("S6-18 a box that is ticked by "+name, func(t *testing.T) {
			t.Parallel()
			s, issue := escalated(t, fmt.Sprintf("answers: {apps: [%d]}\n", c.apps))
			event := s.tick(Writer, issue.Number, s.checkboxes(issue.Number).Boxes[0], answers.Submit)
			event["sender"] = c.sender
			s.tell(event)
			if n := s.count("human"); (n == 1) != c.counts {
				t.Errorf("%d answers", n)
			}
			s.clean()
		})
	}
}
