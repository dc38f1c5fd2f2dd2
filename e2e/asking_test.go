package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/survey"
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
	return s.inside("schedule", nil, map[string]string{"command": "survey", "result": "result.json"})
}

func (s *asking) reconcile() Result {
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
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the test is over, and the server closed
		}
		if err := json.Unmarshal(body, &h.payload); err != nil {
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
func (s *asking) register() survey.State {
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
	r, err := survey.Fold(events)
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

// end is what a person sees in the end.
func (s *asking) end() string {
	s.t.Helper()
	r := s.register()
	var b strings.Builder
	i := s.issue()
	fmt.Fprintf(&b, "%s %d comments, %d audits, %d surveys, %d rows, %d dispatches", i.State, len(s.said()), len(r.Audits), len(r.Surveys), len(r.Feedback), len(s.r.Dispatches()))
	for _, p := range r.Surveys {
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
