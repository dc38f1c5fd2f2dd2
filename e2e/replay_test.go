package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// tune opens a pull request that changes the configuration, and makes it the
// story's.
func (s *story) tune(config string) {
	s.t.Helper()
	s.sha = s.r.Commit(s.t, "tune", "tune", map[string]string{".github/switchback.yml": config})
	s.number = s.r.PullRequest(s.t, Owner, "tune", "Tune Switchback", "")
}

func (s *story) retune(config string) {
	s.t.Helper()
	s.sha = s.r.Commit(s.t, "tune", "tune more", map[string]string{".github/switchback.yml": config})
}

// replay runs the Action's command on the story's pull request.
func (s *story) replay() Result {
	s.t.Helper()
	return s.run("", map[string]string{"command": "replay"})
}

// failed records a pull request whose first two commits are returned for a fix.
func (s *story) failed() {
	s.t.Helper()
	for range 2 {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
		s.push()
	}
}

// onlyReplay fails the test unless there is one comment of the replay that has
// all parts, and returns it.
func (s *story) onlyReplay(bot string, parts ...string) Comment {
	s.t.Helper()
	var mine []Comment
	for _, c := range s.r.Comments(s.t, s.number) {
		if c.User.Login == bot && strings.Contains(c.Body, "/replay gen=") {
			mine = append(mine, c)
		}
	}
	if len(mine) != 1 {
		s.t.Fatalf("%d comments: %+v", len(mine), mine)
	}
	for _, p := range parts {
		if !strings.Contains(mine[0].Body, p) {
			s.t.Errorf("%q is not in\n%s", p, mine[0].Body)
		}
	}
	return mine[0]
}

const oneTurn = "max_iterations: 1\nretry_delay: 0s\n"

func TestReplayAction(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.failed()
	first := s.number
	t.Run("a pull request that does not change the configuration gets no comment", func(t *testing.T) {
		s.want(s.replay(), 0, nil)
		for _, b := range s.bot() {
			if strings.Contains(b, "/replay gen=") {
				t.Errorf("%s", b)
			}
		}
	})
	s.tune(oneTurn)
	t.Run("what it would have decided is said in one comment and in the job summary", func(t *testing.T) {
		res := s.replay()
		s.want(res, 0, nil)
		want := []string{"**1 of 2 recorded runs**, in 1 of 1 cases", "`RETRY` `fixable`, back to implement | `ESCALATE_MAX_RETRY` `limit-reached` | 1 |",
			fmt.Sprintf("`%s#%d/unit`", s.r.FullName, first), "configuration of the base branch", s.sha[:7]}
		s.onlyReplay(ActionsBot, want...)
		for _, w := range want {
			if !strings.Contains(res.Summary, w) {
				t.Errorf("%q is not in the summary\n%s", w, res.Summary)
			}
		}
	})
	id := s.onlyReplay(ActionsBot).ID
	t.Run("run again it says the same and writes nothing", func(t *testing.T) {
		s.view.Reset()
		s.want(s.replay(), 0, nil)
		if w := s.view.Content(); len(w) != 0 {
			t.Errorf("written: %v", w)
		}
	})
	t.Run("what cannot be read is told with file and line, and nothing of it is live", func(t *testing.T) {
		s.retune("max_iterations: 99\n\"@octocat closes #1 <img src=x>\": 1\n")
		s.want(s.replay(), 1, nil)
		c := s.onlyReplay(ActionsBot, ".github/switchback.yml:1", ".github/switchback.yml:2", "cannot be read")
		bare := regexp.MustCompile("`[^`]*`").ReplaceAllString(c.Body[:strings.LastIndex(c.Body, "<!--")], "")
		if c.ID != id || strings.ContainsAny(strings.TrimPrefix(bare, "###"), "@#<>") {
			t.Errorf("%d\n%s", c.ID, c.Body)
		}
	})
	t.Run("one that is too large is not read", func(t *testing.T) {
		s.retune(oneTurn + strings.Repeat("# nothing\n", 10_000))
		s.want(s.replay(), 1, nil)
		s.onlyReplay(ActionsBot, "larger than 64 KiB")
	})
	t.Run("a new commit brings the comment up to date", func(t *testing.T) {
		s.retune("max_iterations: 2\nretry_delay: 0s\nhandoff: [{mention: \"@claude\"}]\n")
		s.want(s.replay(), 0, nil)
		if c := s.onlyReplay(ActionsBot, "**No change**: 2 recorded runs of 1 cases", "`handoff`"); c.ID != id || strings.Contains(c.Body, "ESCALATE") {
			t.Errorf("%d\n%s", c.ID, c.Body)
		}
	})
	t.Run("taken back, the comment says so", func(t *testing.T) {
		s.retune(s.config)
		s.want(s.replay(), 0, nil)
		if c := s.onlyReplay(ActionsBot, "no longer changes"); c.ID != id {
			t.Errorf("another comment: %d", c.ID)
		}
	})
	t.Run("two at once post one comment", func(t *testing.T) {
		s.r.Must(t, "DELETE", fmt.Sprintf("/issues/comments/%d", id), nil, nil)
		s.retune(oneTurn)
		var both sync.WaitGroup
		a, b := s.action("", map[string]string{"command": "replay"}), s.action("", map[string]string{"command": "replay"})
		for _, x := range []Action{a, b} {
			both.Go(func() {
				if res := s.b.RunAction(t, x); res.ExitCode != 0 {
					t.Errorf("exit %d\n%s%s", res.ExitCode, res.Stdout, res.Stderr)
				}
			})
		}
		both.Wait()
		s.onlyReplay(ActionsBot, "**1 of 2 recorded runs**")
	})
	s.clean()
	t.Run("from a fork, with a token that may only read, it stands in the job summary", func(t *testing.T) {
		f := s.fork("tune")
		s.sha = f.Commit(t, "tune", "tune", map[string]string{".github/switchback.yml": oneTurn})
		s.readOnly()
		res := s.replay()
		s.want(res, 0, nil)
		if !strings.Contains(res.Summary, "**1 of 2 recorded runs**") || !strings.Contains(res.Summary, "may only read") || len(s.bot()) != 0 {
			t.Errorf("%s\n%q", res.Summary, s.bot())
		}
	})
}

// TestS6_8_PullRequestWithARuleTooLarge is S6-8: the configuration of a pull request of 62 KB
// would take a minute to compile: it is refused by what it says, with file, line and what to do,
// and the recorded runs are not decided by it.
func TestS6_8_PullRequestWithARuleTooLarge(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.failed()
	var rules strings.Builder
	rules.WriteString("rules:\n")
	for i := range 62 {
		fmt.Fprintf(&rules, "  - {name: r%d, class: LOGIC_ERROR, pattern: '(?i)[%s]'}\n", i, strings.Repeat(`\x{42}-\x{1e942}`, 58))
	}
	s.tune(rules.String())
	s.want(s.replay(), 1, nil)
	s.onlyReplay(ActionsBot, ".github/switchback.yml:2", "have more than 2 ranges together; leave (", "cannot be read")
	s.clean()
}

func TestReplayApp(t *testing.T) {
	t.Parallel()
	s := newServed(t, "reports: [\"**/report.xml\"]\n")
	for range 2 {
		s.ran(failing("TestAdd"), "failure")
		s.app.Idle()
		s.push()
	}
	s.tune("reports: [\"**/report.xml\"]\n" + oneTurn)
	tell := func(action string) {
		t.Helper()
		e := s.event()
		e["action"], e["repository"] = action, map[string]any{"id": s.r.ID, "full_name": s.r.FullName, "default_branch": "main"}
		if d := s.r.Send(t, "pull_request", e); d.Status != http.StatusAccepted {
			t.Fatalf("the delivery was answered with %d", d.Status)
		}
		s.app.Idle()
	}
	tell("opened")
	t.Run("the App says it in one comment, whoever tells it and how often", func(t *testing.T) {
		c := s.onlyReplay(SwitchbackBot, "**1 of 2 recorded runs**", "ESCALATE_MAX_RETRY")
		tell("opened")
		tell("synchronize")
		if again := s.onlyReplay(SwitchbackBot); again.ID != c.ID || again.Body != c.Body {
			t.Errorf("%d %s", again.ID, again.Body)
		}
	})
	t.Run("a new commit brings it up to date", func(t *testing.T) {
		s.retune("reports: [\"**/report.xml\"]\nmax_iterations: 0\nretry_delay: 0s\n")
		tell("synchronize")
		s.onlyReplay(SwitchbackBot, "**2 of 2 recorded runs**", "would now wait for a maintainer, and do not: 1")
	})
	t.Run("taken back, it says so", func(t *testing.T) {
		s.retune(s.config)
		tell("synchronize")
		s.onlyReplay(SwitchbackBot, "no longer changes")
	})
	s.clean()
}
