package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// botComment returns the bot's only comment on the pull request.
func (s *story) botComment() Comment {
	s.t.Helper()
	var mine []Comment
	for _, c := range s.r.Comments(s.t, s.number) {
		if c.User.Login == s.login() {
			mine = append(mine, c)
		}
	}
	if len(mine) != 1 {
		s.t.Fatalf("%d comments of the bot: %+v", len(mine), mine)
	}
	return mine[0]
}

func marker(body string) string {
	body = strings.TrimSpace(body)
	return body[strings.LastIndexByte(body, '\n')+1:]
}

func TestCommentOfPeople(t *testing.T) { both(t, testCommentOfPeople) }

func testCommentOfPeople(t *testing.T, begin begin) {
	next := func(s *story) {
		s.push()
		s.want(s.run(failing("TestNext"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "2"})
		if c := s.botComment(); !strings.Contains(c.Body, "TestNext") || !strings.Contains(c.Body, "2 of 3") {
			s.t.Errorf("%s", c.Body)
		}
		s.clean()
	}
	edit := func(s *story, body string) {
		s.r.Must(s.t, "PATCH", fmt.Sprintf("/issues/comments/%d", s.botComment().ID), map[string]any{"body": body}, nil)
	}
	t.Run("a person's edit stays until the next turn, which says what is true then", func(t *testing.T) {
		s := begin(t, "")
		s.run(failing("TestAdd"), nil)
		edit(s, "I know, see chat.\n\n"+marker(s.botComment().Body))
		s.run(failing("TestAdd"), nil) // delivered again
		if got := s.botComment().Body; !strings.HasPrefix(got, "I know, see chat.") {
			t.Errorf("%s", got)
		}
		next(s)
	})
	t.Run("a comment whose marker was edited away is the bot's still", func(t *testing.T) {
		s := begin(t, "")
		s.run(failing("TestAdd"), nil)
		edit(s, "nothing to see")
		next(s)
	})
	t.Run("a deleted comment is posted anew by the next turn, once", func(t *testing.T) {
		s := begin(t, "")
		s.run(failing("TestAdd"), nil)
		s.r.Must(t, "DELETE", fmt.Sprintf("/issues/comments/%d", s.botComment().ID), nil, nil)
		s.run(failing("TestAdd"), nil) // delivered again: what a person deleted stays deleted
		if got := s.bot(); len(got) != 0 {
			t.Errorf("%q", got)
		}
		next(s)
	})
	t.Run("a stranger who quotes the marker changes nothing", func(t *testing.T) {
		s := begin(t, "")
		s.run(failing("TestAdd"), nil)
		quote := "I am the bot\n\n" + marker(s.botComment().Body)
		s.r.Comment(t, Stranger, s.number, quote)
		next(s)
		all := s.r.Comments(t, s.number)
		if len(all) != 2 || all[1].Body != quote {
			t.Errorf("%+v", all)
		}
	})
	t.Run("a stranger who was there first with the marker changes nothing", func(t *testing.T) {
		s := begin(t, "")
		quote := fmt.Sprintf("First!\n\n<!-- switchback:v1 key=%s#%d/comment gen=99999999999999 -->", s.r.FullName, s.number)
		s.r.Comment(t, Stranger, s.number, quote)
		s.run(failing("TestAdd"), nil)
		if got := marker(s.botComment().Body); !strings.HasPrefix(got, marker(quote)[:strings.Index(marker(quote), " gen=")]) {
			t.Errorf("the test's marker is not ours: %s", got)
		}
		next(s)
	})
}

func TestLedgerDeleted(t *testing.T) {
	t.Parallel()
	t.Run("a deleted ledger begins the count again, in the comment that is there", func(t *testing.T) {
		s := newStory(t, "")
		s.run(failing("TestAdd"), nil)
		s.push()
		s.run(failing("TestSub"), nil)
		id := s.botComment().ID
		s.r.Must(t, "DELETE", "/git/refs/heads/switchback-ledger", nil, nil)
		s.push()
		s.want(s.run(failing("TestMul"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1"})
		if c := s.botComment(); c.ID != id || !strings.Contains(c.Body, "TestMul") || !strings.Contains(c.Body, "1 of 3") {
			t.Errorf("%d %s", c.ID, c.Body)
		}
		s.clean()
	})
	t.Run("a deleted ledger files no second issue", func(t *testing.T) {
		s := newStory(t, "")
		s.run(environment, nil)
		s.r.Must(t, "DELETE", "/git/refs/heads/switchback-ledger", nil, nil)
		s.push()
		s.want(s.run(environment, nil), 0, map[string]string{"decision": "ESCALATE_ENV"})
		if i := s.onlyIssue(); !strings.Contains(i.Body, s.sha[:7]) {
			t.Errorf("%s", i.Body)
		}
		s.botComment()
		s.clean()
	})
}

func TestIssueOfPeople(t *testing.T) {
	t.Parallel()
	t.Run("an issue that a person closed stays closed while the case waits", func(t *testing.T) {
		s := newStory(t, "")
		s.run(environment, nil)
		s.r.Must(t, "PATCH", fmt.Sprintf("/issues/%d", s.onlyIssue().Number), map[string]any{"state": "closed"}, nil)
		s.push()
		s.want(s.run(environment, nil), 0, map[string]string{"decision": "NONE"})
		if i := s.onlyIssue(); i.State != "closed" {
			t.Errorf("%s", i.State)
		}
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
		n := 0
		for _, c := range s.r.Comments(t, s.onlyIssue().Number) {
			if c.User.Login == s.login() {
				n++
			}
		}
		if n != 0 {
			t.Errorf("%d comments on an issue that was closed already", n)
		}
		s.clean()
	})
	for _, c := range []struct {
		name   string
		status int
	}{{"deleted", 410}, {"transferred", 301}, {"out of sight", 404}} {
		t.Run("a pass after the issue was "+c.name+" ends the case all the same", func(t *testing.T) {
			s := newStory(t, "")
			s.run(environment, nil)
			gone := Fault{Times: -1, Status: c.status, Path: issuePath(s.onlyIssue().Number)}
			if c.status == 301 {
				gone.Header = map[string][]string{"Location": {s.b.URL + "/repositories/1/issues/9"}}
			}
			s.view.Fault(gone)
			s.push()
			s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
			if !strings.Contains(s.botComment().Body, "✅") || contains(s.r.IssueLabels(t, s.number), "switchback:paused") {
				t.Errorf("%s", s.botComment().Body)
			}
			s.clean()
		})
	}
	t.Run("an escalation after the issue was deleted files a new one", func(t *testing.T) {
		s := newStory(t, "")
		s.r.Grant(t, Writer, "push")
		s.run(environment, nil)
		number := s.onlyIssue().Number
		s.want(s.say(Writer, s.number, "/switchback resume"), 0, nil)
		s.r.Must(t, "DELETE", fmt.Sprintf("/issues/%d/labels", number), nil, nil) // no listing has it any more
		s.view.Fault(Fault{Times: -1, Status: 410, Path: issuePath(number)})
		s.push()
		res := s.run(environment, nil)
		s.want(res, 0, map[string]string{"decision": "ESCALATE_ENV"})
		if n := res.Outputs["escalation-issue"]; n == fmt.Sprint(number) || n == "" {
			t.Errorf("issue %q, the deleted one was %d\n%s", n, number, list(s.view))
		}
		s.clean()
	})
}

// issuePath matches an issue and what hangs on it.
func issuePath(number int) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`/issues/%d(/|$)`, number))
}
