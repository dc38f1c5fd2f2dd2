package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// switchback is the binary under test, built once from this checkout.
var switchback = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "switchback-e2e-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "switchback")
	out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "../cmd/switchback").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// story is a pull request and the Action that runs on it.
type story struct {
	t      testing.TB
	b      *Bench
	r      *Repo
	token  string
	number int
	runID  int64
	sha    string
	view   *View
	config string
	by     *Served // the App, where that acts; nil where the Action does
	branch string  // head of the pull request, "" for feature
	inside bool    // the Action runs in this process, which takes a third of the time
}

func newStory(t testing.TB, config string) *story {
	t.Helper()
	b := Start(t)
	config += "retry_delay: 0s\n"
	files := map[string]string{"calc_test.go": calcTest, ".github/switchback.yml": config}
	r := b.NewRepo(t, files)
	s := &story{t: t, b: b, r: r, token: b.AppToken(t, ActionsAppID, r, nil), runID: 1000, config: config}
	s.sha = r.Commit(t, "feature", "work", map[string]string{"calc.go": "package calc\n"})
	s.number = r.PullRequest(t, Owner, "feature", "Add things", "")
	s.view = r.View()
	return s
}

const calcTest = `package calc

import "testing"

func TestAdd(t *testing.T) {
	if got := Add(1, 2); got != 3 {
		t.Errorf("Add(1, 2): got %d, want 3", got)
	}
}
`

// push makes a new head commit.
func (s *story) push() {
	s.t.Helper()
	s.runID++
	s.sha = s.r.Commit(s.t, s.head(), "more work", map[string]string{"calc.go": fmt.Sprintf("package calc\n\n// %d\n", s.runID)})
}

// head returns the head branch of the pull request.
func (s *story) head() string {
	if s.branch == "" {
		return "feature"
	}
	return s.branch
}

func (s *story) event() map[string]any {
	s.t.Helper()
	var pr map[string]any
	s.r.Must(s.t, "GET", fmt.Sprintf("/pulls/%d", s.number), nil, &pr)
	return map[string]any{"action": "synchronize", "number": s.number, "pull_request": pr, "repository": map[string]any{"default_branch": "main", "full_name": s.r.FullName}}
}

// action describes the step after the tests, with report as its one report.
func (s *story) action(report string, in map[string]string) Action {
	s.t.Helper()
	bin, err := switchback()
	if err != nil {
		s.t.Fatal(err)
	}
	ws := s.t.TempDir()
	files := map[string]string{"calc_test.go": calcTest, ".github/switchback.yml": s.config}
	if report != "" {
		files["report.xml"] = report
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(ws, name)), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ws, name), []byte(text), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	inputs := map[string]string{"reports": "report.xml", "checkpoint": "unit", "job-status": "failure"}
	for k, v := range in {
		inputs[k] = v
	}
	return Action{
		Binary: bin, Args: []string{"action"}, Repo: s.r, Token: s.token, Event: "pull_request", Payload: s.event(),
		RunID: s.runID, SHA: s.sha, Workflow: "CI", Job: "unit", Inputs: inputs, Workspace: ws,
		Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms"},
	}
}

func (s *story) run(report string, in map[string]string) Result {
	s.t.Helper()
	if s.by != nil {
		return s.ranInApp(report, in)
	}
	if s.inside {
		return s.within(s.action(report, in), 0)
	}
	return s.b.RunAction(s.t, s.action(report, in))
}

// want checks outputs of a step, and how it exits; the App has no steps that exit.
func (s *story) want(res Result, code int, outputs map[string]string) {
	s.t.Helper()
	bad := s.by == nil && res.ExitCode != code
	for k, v := range outputs {
		bad = bad || res.Outputs[k] != v
	}
	if bad {
		s.t.Fatalf("exit %d (want %d), outputs %v (want %v)\nstdout:\n%s\nstderr:\n%s", res.ExitCode, code, res.Outputs, outputs, res.Stdout, res.Stderr)
	}
}

// clean fails the test for a request that GitHub's own description refuses.
func (s *story) clean() {
	s.t.Helper()
	for _, v := range s.view.Violations() {
		s.t.Errorf("against GitHub's description: %s", v)
	}
}

// bot returns the bot's comments on the pull request.
func (s *story) bot() []string {
	s.t.Helper()
	var out []string
	for _, c := range s.r.Comments(s.t, s.number) {
		if c.User.Login == s.login() {
			out = append(out, c.Body)
		}
	}
	return out
}

// events returns the types of the events that are recorded.
func (s *story) events() []string {
	s.t.Helper()
	var out []string
	if s.by != nil {
		for _, e := range s.recorded() {
			kind := string(e.Type)
			if run, ok := e.Run(); ok {
				kind += ":" + string(run.Decision.Kind)
			}
			out = append(out, kind)
		}
		return out
	}
	files := s.r.Tree(s.t, "switchback-ledger")
	for _, path := range slices.Sorted(maps.Keys(files)) {
		text := files[path]
		if !strings.HasSuffix(path, ".jsonl") {
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e struct {
				Type string
				Data struct{ Decision *struct{ Kind string } }
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				s.t.Fatalf("ledger line %q: %v", line, err)
			}
			if e.Data.Decision != nil {
				e.Type += ":" + e.Data.Decision.Kind
			}
			out = append(out, e.Type)
		}
	}
	return out
}

func (s *story) count(prefix string) int {
	n := 0
	for _, e := range s.events() {
		if strings.HasPrefix(e, prefix) {
			n++
		}
	}
	return n
}

// failing is a JUnit report whose named tests fail beside one that passes.
func failing(names ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<testsuite name="calc" tests="%d" failures="%d"><testcase classname="calc" name="TestFine" time="0.1"/>`, len(names)+1, len(names))
	for _, n := range names {
		fmt.Fprintf(&b, `<testcase classname="calc" name=%q time="0.1"><failure message="Add(1, 2): got 4, want 3" type="AssertionError">calc_test.go:7: Add(1, 2): got 4, want 3</failure></testcase>`, n)
	}
	return b.String() + "</testsuite>"
}

// passing has the tests that other reports fail: a green run without them is not trusted.
const passing = `<testsuite name="calc">` +
	`<testcase classname="calc" name="TestFine"/><testcase classname="calc" name="TestAdd"/><testcase classname="calc" name="TestSub"/>` +
	`<testcase classname="calc" name="TestMul"/><testcase classname="calc" name="TestStock"/><testcase classname="calc" name="TestSlow"/>` +
	`<testcase classname="calc" name="TestMine"/><testcase classname="calc" name="TestLinux"/><testcase classname="calc" name="TestMac"/>` +
	`<testcase classname="calc" name="TestFlaky"/><testcase classname="calc" name="TestLater"/><testcase classname="calc" name="TestOther"/>` +
	`<testcase classname="calc" name="TestOlder"/><testcase classname="calc" name="TestOld"/><testcase classname="calc" name="TestNext"/>` +
	`<testcase classname="calc" name="TestNewest"/><testcase classname="calc" name="TestFar"/><testcase classname="calc" name="TestSpec"/><testcase classname="calc" name="TestBroken"/>` +
	`</testsuite>`

const environment = `<testsuite name="calc" tests="1" errors="1"><testcase classname="calc" name="TestStock"><error message="dial tcp 10.0.0.7:5432: connect: connection refused" type="ConnectionError">dial tcp 10.0.0.7:5432: connect: connection refused</error></testcase></testsuite>`

const timedOut = `<testsuite name="calc" tests="1" errors="1"><testcase classname="calc" name="TestSlow"><error message="test timed out after 30s" type="TimeoutError">panic: test timed out after 30s</error></testcase></testsuite>`

func TestStory(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": "1", "max-iterations": "3", "class": "LOGIC_ERROR"})
	first := s.bot()
	if len(first) != 1 || !strings.Contains(first[0], "1 of 3") || !strings.Contains(first[0], "TestAdd") {
		t.Fatalf("after the first run: %q", first)
	}
	s.push()
	s.view.Reset()
	second := s.run(failing("TestAdd", "TestSub"), nil)
	s.want(second, 0, map[string]string{"decision": "RETRY", "iteration": "2"})
	t.Run("S0-31 the feedback of a turn is a file of its own", func(t *testing.T) {
		if f := second.Outputs["feedback-file"]; !strings.HasSuffix(f, "/unit/iterations/2/feedback.md") {
			t.Error(f)
		}
	})
	t.Run("a failing run that updates the comment costs at most 10 requests, 3 of them visible", func(t *testing.T) {
		if n, c := len(s.view.Requests()), visible(s.view); n > 10 || c > 3 {
			t.Errorf("%d requests, %d visible:\n%s", n, c, list(s.view))
		}
		t.Logf("%d requests, %d visible:\n%s", len(s.view.Requests()), visible(s.view), list(s.view))
	})
	if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "2 of 3") || !strings.Contains(got[0], "TestSub") {
		t.Fatalf("after the second run: %q", got)
	}
	s.push()
	s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
	t.Run("one comment, edited, tells the whole story after the pass", func(t *testing.T) {
		got := s.bot()
		if len(got) != 1 || !strings.Contains(got[0], "✅") {
			t.Fatalf("%q", got)
		}
	})
	t.Run("one check run per commit, green at the end", func(t *testing.T) {
		checks := s.r.CheckRuns(t, s.sha)
		if len(checks) != 1 || checks[0].Conclusion != "success" {
			t.Errorf("%+v", checks)
		}
	})
	t.Run("S4-81 the ledger's branch holds every event", func(t *testing.T) {
		want := map[string]int{"run:RETRY": 2, "run:PASS": 1}
		for k, n := range want {
			if got := s.count(k); got != n {
				t.Errorf("%s: %d, want %d in %v", k, got, n, s.events())
			}
		}
	})
	s.clean()
}

// visible counts requests that make or edit what people see.
func visible(v *View) int {
	n := 0
	for _, q := range v.Requests() {
		if q.Method != "GET" && !strings.Contains(q.Path, "/contents/") && !strings.Contains(q.Path, "/git/") {
			n++
		}
	}
	return n
}

func list(v *View) string {
	var b strings.Builder
	for _, q := range v.Requests() {
		fmt.Fprintln(&b, "  "+q.String())
	}
	return b.String()
}

func TestEscalation(t *testing.T) { both(t, testEscalation) }

func testEscalation(t *testing.T, begin begin) {
	s := begin(t, "")
	for n := 1; n <= 3; n++ {
		s.want(s.run(failing("TestAdd"), nil), 0, map[string]string{"decision": "RETRY", "iteration": fmt.Sprint(n)})
		s.push()
	}
	last := s.run(failing("TestAdd"), nil)
	s.want(last, 0, map[string]string{"decision": "ESCALATE_MAX_RETRY", "iteration": "3", "max-iterations": "3"})
	issue := s.onlyIssue()
	t.Run("one issue, labelled, with the report, and the pull request paused", func(t *testing.T) {
		if s.by == nil && last.Outputs["escalation-issue"] != fmt.Sprint(issue.Number) {
			t.Errorf("output %q, issue %d", last.Outputs["escalation-issue"], issue.Number)
		}
		for _, l := range []string{"switchback", "escalation:test_failure", "severity:high"} {
			if !contains(names(issue.Labels), l) {
				t.Errorf("labels %v lack %s", issue.Labels, l)
			}
		}
		if !strings.HasPrefix(issue.Title, "⚠️ Escalation report") || !strings.Contains(issue.Body, "3/3") {
			t.Errorf("%s\n%s", issue.Title, issue.Body)
		}
		if got := s.r.IssueLabels(t, s.number); !contains(got, "switchback:paused") {
			t.Errorf("pull request labels %v", got)
		}
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Conclusion != "action_required" {
			t.Errorf("%+v", c)
		}
	})
	t.Run("nothing is returned for a fix while it waits for a human", func(t *testing.T) {
		s.push()
		s.want(s.run(failing("TestOther"), nil), 0, map[string]string{"decision": "NONE"})
		s.onlyIssue()
	})
	t.Run("a pass closes the issue and takes the label away", func(t *testing.T) {
		s.push()
		s.want(s.run(passing, map[string]string{"job-status": "success"}), 0, map[string]string{"decision": "PASS"})
		if i := s.onlyIssue(); i.State != "closed" {
			t.Errorf("issue is %s", i.State)
		}
		if got := s.r.IssueLabels(t, s.number); contains(got, "switchback:paused") {
			t.Errorf("labels %v", got)
		}
	})
	s.clean()
}

func (s *story) onlyIssue() Issue {
	s.t.Helper()
	var mine []Issue
	for _, i := range s.r.Issues(s.t) {
		if i.Number != s.number {
			mine = append(mine, i)
		}
	}
	if len(mine) != 1 {
		s.t.Fatalf("%d issues: %+v", len(mine), mine)
	}
	return mine[0]
}

func contains(list []string, x string) bool {
	for _, l := range list {
		if l == x {
			return true
		}
	}
	return false
}

func TestOneRun(t *testing.T) { both(t, testOneRun) }

func testOneRun(t *testing.T, begin begin) {
	cases := []struct {
		name, report string
		in           map[string]string
		code         int
		want         string
	}{
		{"an environment failure opens an escalation at once", environment, nil, 0, "ESCALATE_ENV"},
		{"a timeout is returned for a fix first", timedOut, nil, 0, "RETRY"},
		{"a missing report of a green job fails the step", "", map[string]string{"job-status": "success"}, 1, "NONE"},
		{"a missing report of a failed job fails the step", "", nil, 1, "NONE"},
		{"a cancelled job is unclear", passing, map[string]string{"job-status": "cancelled"}, 1, "ESCALATE_UNCLEAR"},
		{"a truncated report is no pass", passing[:120], map[string]string{"job-status": "success", "fail-on": "never"}, 0, "ESCALATE_UNCLEAR"},
		{"a green report of a failed job is no pass", passing, map[string]string{"fail-on": "never"}, 0, "ESCALATE_UNCLEAR"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, "")
			res := s.run(c.report, c.in)
			s.want(res, c.code, map[string]string{"decision": c.want})
			if c.report == "" { // the globs are wrong, until a second run shows the same
				s.unmatched(res)
				s.push()
				s.want(s.run(c.report, c.in), c.code, map[string]string{"decision": "ESCALATE_UNCLEAR"})
			}
			if c.report == "" || strings.HasPrefix(c.want, "ESCALATE") {
				s.onlyIssue()
			}
			s.clean()
		})
	}
}

// unmatched checks what a first run without a report does: the check asks for action, and names the
// globs as the annotation does. Nothing else is posted.
func (s *story) unmatched(res Result) {
	s.t.Helper()
	checks := s.r.CheckRuns(s.t, s.sha)
	if len(checks) != 1 || checks[0].Conclusion != "action_required" || !strings.Contains(checks[0].Output.Summary, "report.xml") {
		s.t.Errorf("checks: %+v", checks)
	}
	if s.by == nil && !strings.Contains(res.Stdout, "::error title=Switchback::no test report was found (looked for report.xml): no file of the workspace matches") {
		s.t.Errorf("no annotation:\n%s", res.Stdout)
	}
	if len(s.r.Issues(s.t)) != 0 || len(s.bot()) != 0 || len(s.r.IssueLabels(s.t, s.number)) != 0 {
		s.t.Errorf("%d issues, %d comments", len(s.r.Issues(s.t)), len(s.bot()))
	}
}

func names(labels []Label) []string {
	var out []string
	for _, l := range labels {
		out = append(out, l.Name)
	}
	return out
}
