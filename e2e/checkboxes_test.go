package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/routing/answers"
)

// tick edits the issue's body as login: ids are ticked, each by an edit of its
// own as a click is, and the event of the last one is returned.
func (s *story) tick(login string, number int, ids ...string) map[string]any {
	s.t.Helper()
	var event map[string]any
	for _, id := range ids {
		body := s.body(number)
		next := answers.Keep(body, []string{id})
		if next == body {
			s.t.Fatalf("no box %q to tick in\n%s", id, body)
		}
		event = s.edit(login, number, next)
	}
	return event
}

// edit writes the issue's body as login and returns the event of it.
func (s *story) edit(login string, number int, body string) map[string]any {
	s.t.Helper()
	before := s.body(number)
	// Who may edit is GitHub's affair; here everybody can, so that a tick by
	// somebody who may not answer is tried as well.
	s.change(login, "edited", number, map[string]any{"body": body})
	return s.issueEvent("edited", login, number, map[string]any{"changes": map[string]any{"body": map[string]any{"from": before}}})
}

// change changes the issue as login. Where the App acts, it has the event afterwards.
func (s *story) change(login, action string, number int, to map[string]any) {
	s.t.Helper()
	do := func() {
		s.b.must(s.t, s.b.UserToken(login), "PATCH", fmt.Sprintf("/repos/%s/issues/%d", s.r.FullName, number), to, nil)
	}
	if s.by == nil {
		do()
		return
	}
	s.tells(action, by("issues", action, login), do)
}

func (s *story) issueEvent(action, login string, number int, more map[string]any) map[string]any {
	s.t.Helper()
	e := map[string]any{"action": action, "issue": s.issueNow(number), "sender": s.user(login)}
	for k, v := range more {
		e[k] = v
	}
	return e
}

func (s *story) body(number int) string {
	s.t.Helper()
	return fmt.Sprint(s.issueNow(number)["body"])
}

// tell runs the Action on an event of an issue.
func (s *story) tell(event map[string]any) Result {
	s.t.Helper()
	if s.by != nil {
		return s.sends("issues", event)
	}
	res := s.b.RunAction(s.t, s.told("issues", event))
	if res.ExitCode != 0 {
		s.t.Fatalf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
	}
	return res
}

func (s *story) checkboxes(number int) answers.Checkboxes {
	s.t.Helper()
	p, ok := answers.Parse(s.body(number))
	if !ok {
		s.t.Fatalf("no checkboxes in\n%s", s.body(number))
	}
	return p
}

// escalated is a story at its limit of fix attempts, with its issue. max is 1.
func escalated(t testing.TB, config string) (*story, Issue) {
	t.Helper()
	return begin(newStory).escalated(t, config)
}

// escalated is the same through the Action or the App.
func (b begin) escalated(t testing.TB, config string) (*story, Issue) {
	t.Helper()
	s := b(t, "max_iterations: 1\n"+config)
	s.r.Grant(t, Writer, "push")
	s.r.Grant(t, Triager, "triage")
	s.inside = true // for what comes before the test
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	s.push()
	s.r.AddRun(Run{ID: s.runID, HeadSHA: s.sha, Conclusion: "failure"})
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
	s.inside = false
	return s, s.onlyIssue()
}

// replies returns the bot's replies below an issue.
func (s *story) replies(number int) []string {
	s.t.Helper()
	var out []string
	for _, c := range s.r.Comments(s.t, number) {
		if c.User.Login == s.login() && (strings.Contains(c.Body, "/reply/") || strings.Contains(c.Body, "/refused/")) {
			out = append(out, c.Body)
		}
	}
	return out
}

func (s *story) wantClosed(number int, want bool) {
	s.t.Helper()
	if got := s.issueNow(number)["state"] == "closed"; got != want {
		s.t.Errorf("closed: %v, want %v", got, want)
	}
}

func (s *story) wantPaused(want bool) {
	s.t.Helper()
	if got := s.r.IssueLabels(s.t, s.number); contains(got, "switchback:paused") != want {
		s.t.Errorf("labels %v; paused should be %v", got, want)
	}
}

// wantComment fails unless the pull request's comment holds part.
func (s *story) wantComment(part string) {
	s.t.Helper()
	if got := s.bot(); len(got) == 0 || !strings.Contains(got[0], part) {
		s.t.Errorf("the comment lacks %q:\n%q", part, got)
	}
}

// within runs the Action in this process, its clock ahead by skew.
func (s *story) within(a Action, skew time.Duration) Result {
	s.t.Helper()
	env := s.b.actionEnv(s.t, &a, s.t.TempDir())
	var out, errs strings.Builder
	code := action.Run(s.t.Context(), action.Env{
		Getenv: func(k string) string { return env[k] }, Stdout: &out, Stderr: &errs, Version: "test", Now: func() time.Time { return time.Now().Add(skew) },
	})
	res := Result{ExitCode: code, Stdout: out.String(), Stderr: errs.String(), Summary: readAll(env["GITHUB_STEP_SUMMARY"])}
	var err error
	if res.Outputs, err = parseOutputs(readAll(env["GITHUB_OUTPUT"])); err != nil {
		s.t.Errorf("GITHUB_OUTPUT: %v", err)
	}
	return res
}

// Every box, from tick to effect.
func TestBoxes(t *testing.T) { both(t, testBoxes) }

func testBoxes(t *testing.T, begin begin) {
	for _, c := range []struct {
		box    string
		closed bool
		paused bool
		check  func(*testing.T, *story)
	}{
		{"retry:2", true, false, func(t *testing.T, s *story) { s.wantComment("2 of 3") }},
		{"reset", true, false, func(t *testing.T, s *story) { s.wantComment("1 of 1") }},
		{"phase:plan", true, false, func(t *testing.T, s *story) { s.wantComment("**plan**") }},
		{"phase:research", true, false, func(t *testing.T, s *story) { s.wantComment("**research**") }},
		{"rerun", true, false, func(t *testing.T, s *story) {
			if d := s.r.Dispatches(); len(d) != 1 || d[0].Kind != "rerun-failed-jobs" || d[0].Name != fmt.Sprint(s.runID) {
				t.Errorf("dispatches %+v", d)
			}
		}},
		{answers.TestID("TestAdd"), true, false, func(t *testing.T, s *story) {
			if n := s.count("run:PASS"); n != 1 {
				t.Errorf("%d passes in %v", n, s.events())
			}
		}},
		{"skip", true, false, func(t *testing.T, s *story) {
			s.push()
			s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "NONE"})
		}},
		{"wont-fix", true, true, func(t *testing.T, s *story) {
			if got := s.issueNow(s.onlyIssue().Number)["state_reason"]; got != "not_planned" {
				t.Errorf("closed as %v", got)
			}
		}},
	} {
		t.Run("S0-23 S0-48 "+c.box+" from tick to effect", func(t *testing.T) {
			t.Parallel()
			s, issue := begin.escalated(t, "")
			event := s.tick(Writer, issue.Number, c.box)
			s.tell(event)
			if n := s.count("human"); n != 0 || !slices.Equal(s.checkboxes(issue.Number).Ticked, []string{c.box}) {
				t.Errorf("before Submit: %d human events, ticked %q", n, s.checkboxes(issue.Number).Ticked)
			}
			s.view.Reset()
			submit := s.tick(Writer, issue.Number, answers.Submit)
			s.tell(submit)
			t.Logf("%d requests", len(s.view.Requests()))
			s.wantClosed(issue.Number, c.closed)
			s.wantPaused(c.paused)
			c.check(t, s)
			if n := s.count("human"); n != 1 {
				t.Errorf("%d human events", n)
			}
			before := fmt.Sprint(s.end(), s.body(issue.Number), len(s.r.Comments(t, issue.Number)), s.r.Dispatches())
			s.tell(submit)
			if after := fmt.Sprint(s.end(), s.body(issue.Number), len(s.r.Comments(t, issue.Number)), s.r.Dispatches()); after != before {
				t.Errorf("delivered again it changes something:\n%s\n%s", before, after)
			}
			s.clean()
		})
	}
}

// Every refusal leaves the ledger as it was, and says why.
func TestBoxesRefused(t *testing.T) {
	t.Parallel()
	t.Run("refused", func(t *testing.T) {
		s, issue := escalated(t, "answers: {apps: [41898282]}\n") // the bot's own: what it writes is no answer all the same
		n := issue.Number
		replied := 0
		want := func(t *testing.T, ticked []string, said string) {
			t.Helper()
			if got := s.checkboxes(n).Ticked; !slices.Equal(got, ticked) {
				t.Errorf("ticked %q, want %q", got, ticked)
			}
			got := s.replies(n)
			if said == "" && len(got) != replied || said != "" && (len(got) != replied+1 || !strings.Contains(got[len(got)-1], said)) {
				t.Errorf("replies %q, want one more with %q", got[replied:], said)
			}
			replied = len(got)
			if h := s.count("human"); h != 0 {
				t.Errorf("%d human events", h)
			}
			if p := s.checkboxes(n); p.Gen != 0 {
				t.Errorf("generation %d", p.Gen)
			}
		}
		clear := func() { s.edit(Writer, n, answers.Untick(s.body(n), s.checkboxes(n).Boxes...)) }
		t.Run("Submit alone", func(t *testing.T) {
			s.tell(s.tick(Writer, n, answers.Submit))
			want(t, nil, "only **Submit** is ticked")
		})
		t.Run("contradicting boxes", func(t *testing.T) {
			s.tell(s.tick(Writer, n, "skip", "reset", answers.Submit))
			want(t, []string{"reset", "skip"}, "contradict each other")
			clear()
		})
		t.Run("a tick of somebody who may not is put back, others stay", func(t *testing.T) {
			s.tick(Writer, n, "reset")
			s.tell(s.tick(Triager, n, "skip"))
			want(t, []string{"reset"}, "has `triage`. Your edit was reverted")
		})
		t.Run("and their Submit too, without another reply within the hour", func(t *testing.T) {
			s.tell(s.tick(Triager, n, answers.Submit))
			want(t, []string{"reset"}, "")
		})
		t.Run("and what they unticked", func(t *testing.T) {
			s.tell(s.edit(Stranger, n, answers.Untick(s.body(n), "reset")))
			want(t, []string{"reset"}, "`stranger` has `read`")
			clear()
		})
		t.Run("a bot's tick is ignored, whatever it is called", func(t *testing.T) {
			e := s.tick(Writer, n, "reset", answers.Submit)
			for _, u := range []map[string]any{{"login": "octo-robot[bot]", "id": 4711, "type": "Bot"}, {"login": ActionsBot, "id": 41898282, "type": "Bot"}} {
				e["sender"] = u
				s.tell(e)
				want(t, []string{"reset", answers.Submit}, "")
			}
			clear()
		})
		t.Run("the checkboxes of another escalation", func(t *testing.T) {
			p := s.checkboxes(n)
			s.tell(s.edit(Writer, n, answers.Keep(strings.Replace(s.body(n), "nonce="+p.Nonce, "nonce=ffffffffffff", 1), []string{"reset", answers.Submit})))
			want(t, nil, "not those of this escalation")
		})
		t.Run("an answer about another commit is not taken, and its ticks stay", func(t *testing.T) {
			s.push()
			s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "NONE"})
			old := strings.Replace(s.body(n), "sha="+s.sha, "sha="+strings.Repeat("0", 40), 1)
			s.tell(s.edit(Writer, n, answers.Keep(old, []string{"reset", answers.Submit})))
			want(t, []string{"reset"}, "the newest commit is `"+s.sha[:7]+"`")
			if p := s.checkboxes(n); p.SHA != s.sha {
				t.Errorf("the checkboxes are about %s, not %s", p.SHA, s.sha)
			}
			clear()
		})
		t.Run("a body that was blanked comes back, ticks and all", func(t *testing.T) {
			s.tick(Writer, n, "reset")
			whole := s.body(n)
			s.tell(s.edit(Writer, n, ""))
			want(t, []string{"reset"}, "restored")
			if got := s.body(n); got != whole {
				t.Errorf("was\n%s\nis\n%s", whole, got)
			}
			s.tell(s.edit(Stranger, n, "nothing to see here"))
			if got := s.body(n); got != whole {
				t.Errorf("was\n%s\nis\n%s", whole, got)
			}
			replied = len(s.replies(n))
			clear()
		})
		t.Run("text of their own is left alone", func(t *testing.T) {
			mine := "I look into it.\n\n" + s.body(n)
			s.view.Reset()
			s.tell(s.edit(Writer, n, mine))
			want(t, nil, "")
			if got := s.body(n); got != mine || len(s.view.Content()) != 0 {
				t.Errorf("%v\n%s", s.view.Content(), got)
			}
		})
		s.clean()
	})
}

// Where the tests in quarantine were all that failed, nothing is returned for a fix, and
// no turns are granted to what may fail later.
func TestQuarantineIsEnough(t *testing.T) { both(t, testQuarantineIsEnough) }

func testQuarantineIsEnough(t *testing.T, begin begin) {
	s, issue := begin.escalated(t, "")
	s.tell(s.tick(Writer, issue.Number, answers.TestID("TestAdd"), "retry:2", answers.Submit))
	if h, p := s.count("human"), s.count("run:PASS"); h != 1 || p != 1 || len(s.replies(issue.Number)) != 0 {
		t.Errorf("%d human events, %d passes, %q", h, p, s.replies(issue.Number))
	}
	s.wantClosed(issue.Number, true)
	s.push()
	s.want(s.run(failing("TestSub"), nil), 0, map[string]string{"decision": "RETRY"})
	s.wantComment("1 of 1")
	s.clean()
}

// A note at the very end stands behind the marker; it takes no question away.
func TestNoteBehindTheMarker(t *testing.T) { both(t, testNoteBehindTheMarker) }

func testNoteBehindTheMarker(t *testing.T, begin begin) {
	s, issue := begin.escalated(t, "")
	n := issue.Number
	s.tell(s.edit(Writer, n, s.body(n)+"\n\nI look into it."))
	if body := s.body(n); !strings.Contains(body, "I look into it.\n\n<!-- switchback:v1") || strings.Count(body, "<!-- switchback:v1") != 1 || len(s.replies(n)) != 0 {
		t.Errorf("%q\n%s", s.replies(n), body)
	}
	s.tell(s.edit(Writer, n, answers.Keep(s.body(n), []string{"reset", answers.Submit})+"\n\nDone."))
	if h := s.count("human"); h != 1 || len(s.replies(n)) != 0 {
		t.Errorf("%d human events, %q", h, s.replies(n))
	}
	s.wantClosed(n, true)
	s.clean()
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	t.Run("the second of two answers is told who was first", func(t *testing.T) {
		s, issue := escalated(t, "")
		n := issue.Number
		s.r.Grant(t, Owner, "admin")
		first := s.tick(Writer, n, "wont-fix", answers.Submit)
		// The second was looking at the boxes as they were before.
		second := s.edit(Owner, n, answers.Keep(answers.Untick(s.body(n), "wont-fix"), []string{"skip", answers.Submit}))
		s.tell(first)
		s.tell(second)
		got := s.replies(n)
		if h := s.count("human"); h != 1 || len(got) != 1 || !strings.Contains(got[0], "`@writer`") {
			t.Errorf("%d human events, replies %q", h, got)
		}
		s.clean()
	})
	t.Run("a tick while an answer is carried out is kept", func(t *testing.T) {
		s, issue := escalated(t, "")
		n := issue.Number
		s.r.Must(t, "PATCH", fmt.Sprintf("/issues/%d", n), map[string]any{"body": s.body(n)}, nil)
		submit := s.tick(Writer, n, answers.TestID("TestAdd"), answers.Submit)
		s.push()
		s.run(failing("TestAdd", "TestSub"), nil) // a newer commit: the answer is stale, the issue stays open
		s.edit(Owner, n, answers.Keep(s.body(n), []string{"skip"}))
		s.tell(submit)
		p := s.checkboxes(n)
		if !slices.Contains(p.Ticked, "skip") || slices.Contains(p.Ticked, answers.Submit) {
			t.Errorf("ticked %q", p.Ticked)
		}
	})
}
