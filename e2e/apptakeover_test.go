package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/answers"
)

// takenOver is a repository that the Action leaves to the App: one pull request
// waits for a human, in the rework of another the Action was killed.
type takenOver struct {
	*story
	issue Issue
	other *story // the pull request whose comment is behind its ledger
}

func newTakenOver(t *testing.T) *takenOver {
	t.Helper()
	s := newStory(t, "reports: [\"**/report.xml\"]\nmax_iterations: 1\n")
	s.r.Grant(t, Writer, "push")
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY"})
	s.push()
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "ESCALATE_MAX_RETRY"})
	o := *s
	o.sha = s.r.Commit(t, "second", "other work", map[string]string{"other.go": "package calc\n"})
	o.number = s.r.PullRequest(t, Owner, "second", "Add other things", "")
	o.runID += 5000
	x := &takenOver{s, s.r.Issues(t)[0], &o}
	a := o.action(failing("TestMul"), nil)
	a.Kill = s.view.HoldAt(1, Before, Request.Content, visibly)
	if res := s.b.RunAction(t, a); !res.Killed || len(x.said(o.number)) != 0 {
		t.Fatalf("it was not killed before it commented: %q\n%s", x.said(o.number), list(s.view))
	}
	return x
}

// move commits that the App acts.
func (x *takenOver) move() {
	x.t.Helper()
	x.r.Commit(x.t, "main", "The App acts", map[string]string{".github/switchback.yml": x.config + "acts: app\n"})
}

// deaf keeps an event from the App from now on.
func (x *takenOver) deaf(event string) {
	url := x.by.URL + "/webhook"
	x.b.gaps.mu.Lock()
	defer x.b.gaps.mu.Unlock()
	x.b.gaps.hooks[x.r.FullName] = func(d Delivery) int {
		if d.Event == event {
			return http.StatusBadGateway
		}
		return post(url, d)
	}
}

// said returns what bots wrote below an issue or pull request.
func (x *takenOver) said(number int) []string {
	x.t.Helper()
	var out []string
	for _, c := range x.r.Comments(x.t, number) {
		if c.User.Login == ActionsBot || c.User.Login == SwitchbackBot {
			out = append(out, c.Body)
		}
	}
	return out
}

// goesOn fails the test unless one comment of each pull request tells of its
// turn, and the issue is the only one and as it should be.
func (x *takenOver) goesOn(state, turn string) {
	x.t.Helper()
	for number, part := range map[int]string{x.number: turn, x.other.number: "1 of 1"} {
		if got := x.said(number); len(got) != 1 || !strings.Contains(got[0], part) {
			x.t.Errorf("#%d does not tell of %s in one comment: %q", number, part, got)
		}
	}
	all := slices.DeleteFunc(x.r.Issues(x.t), func(i Issue) bool { return i.Number == x.number || i.Number == x.other.number })
	if len(all) != 1 || all[0].Number != x.issue.Number || all[0].State != state || all[0].User.Login != ActionsBot {
		x.t.Errorf("the issue is not %s, or not the only one: %+v", state, all)
	}
}

// fails sends a run of the head commit that failed.
func (x *takenOver) fails() {
	x.t.Helper()
	x.push()
	run := x.ranOn(x.r, "feature", failing("TestAdd"))
	run.ID, run.Name, run.Pulls = x.runID, "unit", []int{x.number}
	x.r.Send(x.t, "workflow_run", x.r.RunPayload(x.r.AddRun(run), "completed"))
}

func TestAppTakesOver(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(x *takenOver){
		"a box":     func(x *takenOver) { x.tick(Writer, x.issue.Number, "retry:2", answers.Submit) },
		"a command": func(x *takenOver) { x.say(Writer, x.issue.Number, "/switchback retry 2") },
	} {
		t.Run("the Action's escalation, answered by "+name+", is carried on by the App", func(t *testing.T) {
			t.Parallel()
			x := newTakenOver(t)
			x.join()
			x.sends("issue_comment", x.story.said(Owner, "/switchback status")) // the Action acts still
			x.deaf("push")
			x.move()
			cut := x.other.ranOn(x.r, "second", failing("TestMul")) // the run of which the Action was killed
			cut.ID, cut.Name, cut.Pulls = x.other.runID, "unit", []int{x.other.number}
			x.sends("workflow_run", x.r.RunPayload(x.r.AddRun(cut), "completed"))
			answer(x)
			x.goesOn("closed", "2 of 3")
			x.fails()
			x.settled()
			x.goesOn("closed", "3 of 3")
			x.fails()
			x.settled()
			x.goesOn("open", "3 of 3")
			x.clean()
		})
	}
}

// The App is killed while it reads the Action's ledger.
func TestAppTakesOverKilled(t *testing.T) {
	t.Parallel()
	x := newTakenOver(t)
	x.move()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{x.story, x.b.prepare(t, bin, "", t.TempDir(), "SWITCHBACK_RECONCILE=1s")}
	s.app.Start()
	t.Cleanup(s.app.Kill)
	s.receive()
	for i, n := range []int{2, 4} { // of the four: a list, and three streams
		h := x.view.HoldAt(n, Before, func(q Request) bool { return ledgerPath.MatchString(q.Path) && !strings.Contains(q.Path, "/.github/") })
		if i > 0 {
			s.app.Start()
		} else {
			x.b.must(t, x.b.UserToken(Writer), "PATCH", fmt.Sprintf("/repos/%s/issues/%d", x.r.FullName, x.issue.Number),
				map[string]any{"body": tick("retry:2", "submit")(x.issue.Body)}, nil)
			s.heard("issues", "edited", Writer)
		}
		t.Logf("killed at %v", s.reached(h))
		s.app.Kill()
		h.Release()
		if got := x.said(x.other.number); len(got) != 0 {
			t.Errorf("before the ledger was taken over: %q", got)
		}
	}
	s.app.Start()
	s.app.Until("the rework that was cut off is posted", func() bool { return len(x.said(x.other.number)) > 0 })
	s.app.Idle()
	x.goesOn("closed", "2 of 3")
	x.fails()
	s.app.Idle()
	x.goesOn("closed", "3 of 3")
	x.clean()
}
