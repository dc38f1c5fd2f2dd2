package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/prompt/hitl"
)

// asking is a repository in which people are asked about a result.
type asking struct {
	t      testing.TB
	b      *Bench
	r      *Repo
	token  string
	view   *View
	now    time.Time // of the runs inside this process
	runID  int64
	result string
	report bool
	hooks  chan hook
}

const resultJSON = `{"workflow_name":"Nightly","automation_level":20,"report_path":"optimizer/level20_report.md","run_id":"77",
	"suggestions":[{"id":"cache","text":"Cache the modules"},{"id":"split","text":"Split the suite of @octo"},{"id":"retry","text":"Retry uploads"}]}`

func newAsking(t testing.TB, config string) *asking {
	t.Helper()
	b := Start(t)
	r := b.NewRepo(t, map[string]string{".github/switchback.yml": config + "language: en\n", ".github/workflows/optimize.yml": "on: workflow_dispatch\n"})
	r.Grant(t, Writer, "push")
	s := &asking{t: t, b: b, r: r, token: b.AppToken(t, ActionsAppID, r, nil), view: r.View(), now: time.Now(), runID: 500, result: resultJSON, report: true}
	s.receive()
	return s
}

// step describes a run of the Action on an event.
func (s *asking) step(event string, payload any, in map[string]string) Action {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	s.runID++
	ws := s.t.TempDir()
	if s.report {
		write(s.t, mkdir(s.t, ws, "optimizer"), "level20_report.md", "# Level 20\n")
	}
	write(s.t, ws, "result.json", s.result)
	return Action{
		Binary: bin, Args: []string{"action"}, Repo: s.r, Token: s.token, Event: event, Payload: payload, RunID: s.runID, Job: "feedback",
		Inputs: in, Workspace: ws, Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"},
	}
}

// inside runs the Action at s.now and fails the test unless it exits with 0.
func (s *asking) inside(event string, payload any, in map[string]string) Result {
	s.t.Helper()
	res := s.b.RunInside(s.t, s.step(event, payload, in), s.now)
	if res.ExitCode != 0 {
		s.t.Fatalf("exit %d\n%s\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr, list(s.view))
	}
	return res
}

func (s *asking) open() Result {
	s.t.Helper()
	return s.inside("schedule", nil, map[string]string{"command": "prompt", "result": "result.json"})
}

func (s *asking) sweep() Result {
	s.t.Helper()
	return s.inside("schedule", map[string]any{"repository": map[string]any{"default_branch": "main"}}, nil)
}

// delivered waits for the webhook of what login did; the bot's own edits are
// delivered too.
func (s *asking) delivered(event, action, login string) map[string]any {
	s.t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case d := <-s.hooks:
			sender, _ := d.payload["sender"].(map[string]any)
			if d.event == event && d.payload["action"] == action && sender["login"] == login {
				return d.payload
			}
		case <-limit:
			s.t.Fatalf("no %s %s was delivered", event, action)
		}
	}
}

// hook is a webhook as it arrived.
type hook struct {
	event   string
	payload map[string]any
}

// receive takes the repository's webhooks.
func (s *asking) receive() {
	s.hooks = make(chan hook, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := hook{event: r.Header.Get("X-GitHub-Event")}
		if err := json.NewDecoder(r.Body).Decode(&h.payload); err != nil {
			s.t.Error(err)
		}
		select {
		case s.hooks <- h:
		default: // of no interest to the test
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	s.t.Cleanup(func() {
		s.r.Deliver("")
		srv.Close()
	})
	s.r.Deliver(srv.URL)
}

// edit changes the issue's body as login and returns the webhook of it.
func (s *asking) edit(login string, change func(body string) string) map[string]any {
	s.t.Helper()
	i := s.issue()
	s.b.must(s.t, s.b.UserToken(login), "PATCH", fmt.Sprintf("/repos/%s/issues/%d", s.r.FullName, i.Number), map[string]any{"body": change(i.Body)}, nil)
	p := s.delivered("issues", "edited", login)
	p["changes"] = map[string]any{"body": map[string]any{"from": i.Body}} // emulate only says that it changed
	return p
}

// comment posts as login and returns the webhook of it.
func (s *asking) comment(login, text string) map[string]any {
	s.t.Helper()
	s.r.Comment(s.t, login, s.issue().Number, text)
	return s.delivered("issue_comment", "created", login)
}

func (s *asking) issue() Issue {
	s.t.Helper()
	all := s.r.Issues(s.t)
	if len(all) != 1 {
		s.t.Fatalf("%d issues: %+v", len(all), all)
	}
	return all[0]
}

// said returns what the bot posted below the issue.
func (s *asking) said() []string {
	s.t.Helper()
	var out []string
	for _, c := range s.r.Comments(s.t, s.issue().Number) {
		if c.User.Login == ActionsBot {
			out = append(out, c.Body)
		}
	}
	return out
}

// register returns the register as the ledger's branch holds it.
func (s *asking) register() hitl.Register {
	s.t.Helper()
	var events []routing.Event
	for path, text := range s.r.Tree(s.t, "switchback-ledger") {
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e routing.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				s.t.Fatalf("%s: %v", line, err)
			}
			events = append(events, e)
		}
	}
	r, err := hitl.Fold(events)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *asking) clean() {
	s.t.Helper()
	for _, v := range s.view.Violations() {
		s.t.Errorf("against GitHub's description: %s", v)
	}
}

// tick ticks the boxes with the given ids.
func tick(ids ...string) func(string) string {
	return func(body string) string {
		lines := strings.Split(body, "\n")
		for i, l := range lines {
			for _, id := range ids {
				if strings.Contains(l, "<!-- sb:"+id+" -->") {
					lines[i] = strings.Replace(l, "[ ]", "[x]", 1)
				}
			}
		}
		return strings.Join(lines, "\n")
	}
}

func TestFeedback(t *testing.T) {
	s := newAsking(t, "")
	res := s.open()
	issue := s.issue()
	t.Run("S1-1 the prompt is an issue with result and review, once, after the audit row", func(t *testing.T) {
		if res.Outputs["prompt-issue"] != fmt.Sprint(issue.Number) || !contains(names(issue.Labels), "switchback:feedback") {
			t.Errorf("%v %+v", res.Outputs, issue)
		}
		s.open()
		s.issue()
		if r := s.register(); len(r.Audits) != 1 || len(r.Prompts) != 1 || r.Prompts[0].Number != issue.Number {
			t.Errorf("%+v", r)
		}
	})
	t.Run("S1-8 toggles alone record nothing", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:raise", "suggestion:cache")), nil)
		if n := len(s.said()); n != 0 || !s.register().Prompts[0].Open() {
			t.Errorf("%d comments, %+v", n, s.register().Prompts[0])
		}
	})
	t.Run("S1-7 several levels at submit are refused with a reply and Submit is unticked", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:keep", "submit")), nil)
		said, body := s.said(), s.issue().Body
		if len(said) != 1 || !strings.Contains(said[0], "Nothing was recorded") || !s.register().Prompts[0].Open() {
			t.Errorf("%q", said)
		}
		if strings.Contains(body, "[x] **Submit**") || strings.Count(body, "[x]") != 3 {
			t.Errorf("the ticks should stay but for Submit:\n%s", body)
		}
	})
	untick := func(body string) string { return strings.Replace(body, "[x] Appropriate", "[ ] Appropriate", 1) }
	payload := s.edit(Writer, func(b string) string { return tick("submit", "suggestion:retry")(untick(b)) })
	res = s.inside("issues", payload, nil)
	want := `{"next_automation_level":30,"optimization_directives":["Cache the modules","Retry uploads"],"carry_over_issues":[],"approved_by":"human_feedback"}`
	t.Run("S1-33 S1-34 the goal is output, file and ledger event of the answer", func(t *testing.T) {
		file, err := os.ReadFile(res.Outputs["goal-file"])
		if err != nil || res.Outputs["goal"] != want || filepath.Base(res.Outputs["goal-file"]) != "goal.json" {
			t.Errorf("%v %v", res.Outputs, err)
		}
		var a, b any
		if json.Unmarshal(file, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%s", file)
		}
		if g := s.register().Prompts[0].Goal; g == nil || g.Line() != want {
			t.Errorf("%+v", g)
		}
	})
	t.Run("S1-18 S1-21 the row names the responder", func(t *testing.T) {
		r := s.register()
		if len(r.Feedback) != 1 || *r.Feedback[0].UserID != Writer || r.Feedback[0].ID != "FB-0001" || r.Feedback[0].RelatedAuditID != r.Audits[0].ID {
			t.Errorf("%+v", r.Feedback)
		}
	})
	t.Run("the answer is acknowledged, shown as consumed, and the issue closed", func(t *testing.T) {
		said, i := s.said(), s.issue()
		if len(said) != 2 || !strings.Contains(said[1], "20 → 30") || !strings.Contains(said[1], "FB-0001") || i.State != "closed" {
			t.Errorf("%s %q", i.State, said)
		}
		if strings.Contains(i.Body, "[ ]") || strings.Contains(i.Body, "[x]") || !strings.Contains(i.Body, "☑ (1) Cache the modules") {
			t.Error(i.Body)
		}
	})
	t.Run("S1-32 a double submit records once and says nothing more", func(t *testing.T) {
		again := s.inside("issues", payload, nil)
		if n := len(s.said()); n != 2 || len(s.register().Feedback) != 1 || again.Outputs["goal"] != want {
			t.Errorf("%d comments, %v", n, again.Outputs)
		}
	})
	t.Run("S1-32 whoever answers second is told who was first", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Owner, "/switchback answer lower"), nil)
		if said := s.said(); len(said) != 3 || !strings.Contains(said[2], "`"+Writer+"` answered before") || len(s.register().Feedback) != 1 {
			t.Errorf("%q", said)
		}
	})
	s.clean()
}

func TestFeedbackComment(t *testing.T) {
	for _, c := range []struct{ name, text, goal string }{
		{"S1-8 S1-17 a command with text", "Thank you.\n\n/switchback answer lower accept 2 look at the cache",
			`{"next_automation_level":10,"optimization_directives":["Split the suite of @octo"],"carry_over_issues":["Thank you.\n\nlook at the cache"],"approved_by":"human_feedback"}`},
		{"S1-8 S1-9 a reply with the boxes", "boxes",
			`{"next_automation_level":20,"optimization_directives":["Retry uploads"],"carry_over_issues":["So be it."],"approved_by":"human_feedback"}`},
	} {
		t.Run(c.name+" is an answer", func(t *testing.T) {
			s := newAsking(t, "")
			s.open()
			text := c.text
			if text == "boxes" {
				text = tick("level:keep", "suggestion:retry", "submit")(s.issue().Body) + "\n\nSo be it."
			}
			if res := s.inside("issue_comment", s.comment(Writer, text), nil); res.Outputs["goal"] != c.goal {
				t.Errorf("%s\n%q", res.Outputs["goal"], s.said())
			}
			s.clean()
		})
	}
	s := newAsking(t, "feedback: {permission: maintain}\n")
	s.open()
	t.Run("who may not answer is told so and nothing is recorded", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Writer, "/switchback answer raise"), nil)
		if said := s.said(); len(said) != 1 || !strings.Contains(said[0], "`maintain`") || !strings.Contains(said[0], "`write`") || !s.register().Prompts[0].Open() {
			t.Errorf("%q", said)
		}
	})
	t.Run("what they tick is put back", func(t *testing.T) {
		s.inside("issues", s.edit(Writer, tick("level:raise", "submit")), nil)
		if body, said := s.issue().Body, s.said(); strings.Contains(body, "[x]") || len(said) != 1 { // it was said within the hour
			t.Errorf("%q\n%s", said, body)
		}
	})
	t.Run("what they delete is put back, ticks of others included", func(t *testing.T) {
		s.inside("issues", s.edit(Owner, tick("suggestion:cache")), nil)
		before := s.issue().Body
		s.inside("issues", s.edit(Writer, func(string) string { return "mine" }), nil)
		if body := s.issue().Body; body != before {
			t.Errorf("%s", body)
		}
		s.inside("issues", s.edit(Owner, func(b string) string { return strings.Replace(b, "[x]", "[ ]", 1) }), nil)
	})
	t.Run("a body that was blanked is put back", func(t *testing.T) {
		s.inside("issues", s.edit(Owner, func(string) string { return "oops" }), nil)
		if body := s.issue().Body; !strings.Contains(body, "sb:submit") || !s.register().Prompts[0].Open() {
			t.Error(body)
		}
	})
	t.Run("a discussion is no answer", func(t *testing.T) {
		n := len(s.said())
		s.inside("issue_comment", s.comment(Owner, "I would raise it."), nil)
		if got := len(s.said()); got != n || !s.register().Prompts[0].Open() {
			t.Errorf("%d comments more", got-n)
		}
	})
	t.Run("S1-7 a command without level is refused", func(t *testing.T) {
		s.inside("issue_comment", s.comment(Owner, "/switchback answer higher"), nil)
		if said := s.said(); !strings.Contains(said[len(said)-1], "Nothing was recorded") || !s.register().Prompts[0].Open() {
			t.Errorf("%q", said)
		}
	})
	t.Run("the owner may", func(t *testing.T) {
		if res := s.inside("issue_comment", s.comment(Owner, "/switchback answer raise"), nil); !strings.Contains(res.Outputs["goal"], `"next_automation_level":30`) {
			t.Errorf("%v", res.Outputs)
		}
	})
	s.clean()
}

func TestFeedbackResult(t *testing.T) {
	for _, c := range []struct {
		name, result string
		report       bool
		want         string
	}{
		{"S1-1 without its report nothing is asked", resultJSON, false, "result.json: report_path: there is no file"},
		{"S1-14 a level that there is not", strings.Replace(resultJSON, ":20", ":15", 1), true, "result.json: automation_level: 15 is no level; write the number 10, 20 or 30"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newAsking(t, "")
			s.result, s.report = c.result, c.report
			res := s.b.RunInside(t, s.step("schedule", nil, map[string]string{"command": "prompt", "result": "result.json"}), s.now)
			if res.ExitCode != 2 || !strings.Contains(res.Stdout, c.want) || len(s.r.Issues(t)) != 0 || s.r.Tree(t, "switchback-ledger") != nil {
				t.Errorf("exit %d\n%s", res.ExitCode, res.Stdout)
			}
		})
	}
}

func TestFeedbackTimeout(t *testing.T) {
	s := newAsking(t, "feedback: {timeout: 48h}\n")
	begin := s.now
	s.open()
	at := func(h int) Result {
		s.now = begin.Add(time.Duration(h)*time.Hour + time.Minute)
		return s.sweep()
	}
	t.Run("S1-41 reminders at half and in the last 12 hours, each once", func(t *testing.T) {
		for _, c := range []struct{ hours, comments int }{{23, 0}, {24, 1}, {25, 1}, {36, 2}, {47, 2}} {
			at(c.hours)
			if said := s.said(); len(said) != c.comments {
				t.Errorf("after %d hours: %q", c.hours, said)
			}
		}
	})
	res := at(48)
	t.Run("S1-37..40 S1-42 the timeout keeps the level, carries the question over, and writes no row", func(t *testing.T) {
		want := `{"next_automation_level":20,"optimization_directives":[],"carry_over_issues":["HITL unanswered — review in the next cycle"],"approved_by":"timeout_fallback"}`
		if r := s.register(); res.Outputs["goal"] != want || len(r.Feedback) != 0 || r.Prompts[0].Goal.Line() != want {
			t.Errorf("%v %+v", res.Outputs, r.Feedback)
		}
		if i, said := s.issue(), s.said(); i.State != "closed" || len(said) != 3 || !strings.Contains(said[2], "timeout_fallback") || strings.Contains(i.Body, "[ ]") {
			t.Errorf("%s %q\n%s", i.State, said, i.Body)
		}
	})
	t.Run("S1-41 an answer after it is acknowledged and changes nothing", func(t *testing.T) {
		before := s.register()
		s.now = begin.Add(50 * time.Hour)
		s.inside("issue_comment", s.later(s.comment(Writer, "/switchback answer raise")), nil)
		if said := s.said(); len(said) != 4 || !strings.Contains(said[3], "changes nothing") || len(s.register().Feedback) != 0 || s.register().Prompts[0].Goal.Line() != before.Prompts[0].Goal.Line() {
			t.Errorf("%q", said)
		}
	})
	t.Run("a further sweep finds nothing to do", func(t *testing.T) {
		n := len(s.said())
		if at(60); len(s.said()) != n {
			t.Errorf("%q", s.said())
		}
	})
	s.clean()
}

// later gives the comment of a webhook the time of the test.
func (s *asking) later(p map[string]any) map[string]any {
	p["comment"].(map[string]any)["created_at"] = s.now.UTC().Format(time.RFC3339)
	return p
}

func TestFeedbackReentry(t *testing.T) {
	for _, way := range []string{"workflow: optimize.yml", "repository_dispatch: optimize"} {
		s := newAsking(t, "feedback: {"+way+"}\n")
		ended := func(id int64, event, actor, title string) {
			t.Helper()
			run := s.r.AddRun(Run{ID: id, Name: "Nightly", Event: event, HeadBranch: "main", HeadSHA: s.r.SHA(t, "main"), Conclusion: "success", Actor: actor})
			p := s.r.RunPayload(run, "completed")
			w := p["workflow_run"].(map[string]any)
			w["updated_at"], w["display_title"] = s.now.UTC().Format(time.RFC3339), title
			s.inside("workflow_run", p, map[string]string{"workflows": "CI"})
		}
		s.open()
		ended(600, "schedule", Owner, "Nightly")
		t.Run("S1-44 nothing starts while nothing is carried over, by "+way, func(t *testing.T) {
			if d := s.r.Dispatches(); len(d) != 0 {
				t.Errorf("%+v", d)
			}
		})
		s.inside("issue_comment", s.comment(Writer, "/switchback answer keep the uploads fail still"), nil)
		s.now = s.now.Add(time.Hour)
		ended(77, "schedule", Owner, "Nightly")
		ended(601, "workflow_dispatch", ActionsBot, "Nightly")
		ended(602, "repository_dispatch", Owner, "again "+s.r.FullName+"!feedback/reentry/1")
		t.Run("S1-46 neither the run that was asked about counts nor one that the bot started, by "+way, func(t *testing.T) {
			if d := s.r.Dispatches(); len(d) != 0 {
				t.Errorf("%+v", d)
			}
		})
		for range 2 {
			ended(603, "schedule", Owner, "Nightly")
		}
		ended(604, "schedule", Owner, "Nightly")
		t.Run("S1-43 S1-45 S1-46 the next completed run dispatches phase 1 once, with the goal, by "+way, func(t *testing.T) {
			d := s.r.Dispatches()
			if len(d) != 1 {
				t.Fatalf("%+v", d)
			}
			if b := string(marshal(d[0].Body)); !strings.Contains(b, "!feedback/reentry/603") || !strings.Contains(b, "the uploads fail still") || !strings.Contains(b, "phase") {
				t.Error(b)
			}
		})
		s.clean()
	}
}

func TestFeedbackKilled(t *testing.T) {
	// after puts a repository into the state of which a chapter tells.
	chapters := []struct {
		name  string
		event func(s *asking) (string, any, map[string]string)
	}{
		{"opening", func(*asking) (string, any, map[string]string) {
			return "schedule", nil, map[string]string{"command": "prompt", "result": "result.json"}
		}},
		{"an answer", func(s *asking) (string, any, map[string]string) {
			s.open()
			return "issues", s.edit(Writer, tick("level:raise", "suggestion:split", "submit")), nil
		}},
		{"a re-entry", func(s *asking) (string, any, map[string]string) {
			s.open()
			s.inside("issue_comment", s.comment(Writer, "/switchback answer keep more"), nil)
			run := s.r.AddRun(Run{ID: 700, Name: "Nightly", Event: "schedule", HeadBranch: "main", HeadSHA: s.r.SHA(s.t, "main"), Conclusion: "success"})
			p := s.r.RunPayload(run, "completed")
			p["workflow_run"].(map[string]any)["updated_at"] = s.now.Add(time.Minute).UTC().Format(time.RFC3339)
			return "workflow_run", p, map[string]string{"workflows": "CI"}
		}},
	}
	for _, ch := range chapters {
		t.Run(ch.name+" killed at any request ends as if nothing had happened", func(t *testing.T) {
			t.Parallel()
			calm := newAsking(t, "feedback: {workflow: optimize.yml}\n")
			calm.inside(ch.event(calm))
			want := calm.end()
			points := 0
			for n := 1; ; n++ {
				killed := false
				for _, when := range []When{Before, After} {
					s := newAsking(t, "feedback: {workflow: optimize.yml}\n")
					event, payload, in := ch.event(s)
					a := s.step(event, payload, in)
					a.Kill = s.r.View().HoldAt(n, when)
					first := s.b.RunAction(t, a)
					a.Kill.Release()
					if !first.Killed {
						continue
					}
					killed = true
					points++
					dispatched := len(s.r.Dispatches())
					s.now = s.now.Add(time.Hour)
					s.inside(event, payload, in)
					s.sweep()
					got := s.end()
					// GitHub keeps no key of a dispatch: one whose answer was lost
					// may be sent a second time, with the same key.
					if dispatched == 1 {
						got = strings.Replace(got, "2 dispatches", "1 dispatches", 1)
					}
					if got != want {
						t.Errorf("killed at request %d (%v):\ngot  %s\nwant %s", n, when, got, want)
					}
					s.clean()
				}
				if !killed {
					break
				}
			}
			if points < 6 {
				t.Errorf("only %d points were tried", points)
			}
			t.Logf("%d points", points)
		})
	}
}

// end is what a person sees in the end.
func (s *asking) end() string {
	s.t.Helper()
	r := s.register()
	var b strings.Builder
	i := s.issue()
	fmt.Fprintf(&b, "%s %d comments, %d audits, %d prompts, %d rows, %d dispatches", i.State, len(s.said()), len(r.Audits), len(r.Prompts), len(r.Feedback), len(s.r.Dispatches()))
	for _, p := range r.Prompts {
		fmt.Fprintf(&b, "; open %v, pending %v, number right %v", p.Open(), p.Pending, p.Number == i.Number)
		if p.Goal != nil {
			b.WriteString(" " + p.Goal.Line())
		}
	}
	for _, x := range r.Reentries {
		fmt.Fprintf(&b, "; run %s started %v", x.Run, x.Done)
	}
	return b.String()
}
