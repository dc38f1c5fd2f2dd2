package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/actionpins"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// cloneStub stands where actions/checkout would be fetched from: it clones
// what ORIGIN names, as it is then.
const cloneStub = `name: checkout
description: clones
inputs:
  ref: {description: r, required: false}
runs:
  using: composite
  steps:
    - shell: bash
      run: git init -q -b main . && git fetch -q "$ORIGIN" main && git reset -q --hard FETCH_HEAD
`

// worker is an implementing worker that works from nothing but the feedback: it
// writes one more than the last test got.
const workerScript = `#!/bin/sh
got=0
if [ -n "$SWITCHBACK_FEEDBACK" ]; then
  got=$(sed -n 's/.*got \([0-9][0-9]*\), want 3.*/\1/p' "$SWITCHBACK_FEEDBACK" | head -n 1)
fi
echo $((got + 1)) > "$SWITCHBACK_PORT.txt"
`

// testScript is its test, which prints as go test does.
const testScript = `#!/bin/sh
got=$(cat "$SWITCHBACK_PORT.txt")
echo "=== RUN   TestWork"
if [ "$got" -eq 3 ]; then
  printf -- '--- PASS: TestWork (0.00s)\nPASS\nok  \texample.com/work\t0.01s\n'
  exit 0
fi
printf -- '--- FAIL: TestWork (0.00s)\n    work_test.go:7: got %s, want 3\nFAIL\nFAIL\texample.com/work\t0.01s\nFAIL\n' "$got"
exit 1
`

// secretScript is a worker that does its work only if it is told the secret
// meant for it, and no other.
const secretScript = `[ "$AGENT_KEY" = hush-hush ] || exit 1
if env | grep -q '^GITHUB_TOKEN=\|^INPUT_\|^SWITCHBACK_GITHUB_TOKEN='; then exit 1; fi
echo "$AGENT_KEY"
echo 3 > a.txt
`

// good is a port that passes at once.
func good(id string, needs ...string) string {
	return fmt.Sprintf("id: %s\ndepends_on: [%s]\nimpl: echo 3 > %s.txt\ntest: sh test.sh\n", id, strings.Join(needs, ", "), id)
}

// build is a repository with a plan whose workflow is run with act.
type build struct {
	t      *testing.T
	b      *Bench
	r      *Repo
	token  string
	files  map[string]string
	origin string
	local  map[string]string
	view   *View
}

func newBuild(t *testing.T, ports map[string]string) *build {
	t.Helper()
	b := Start(t)
	files := map[string]string{"worker.sh": workerScript, "test.sh": testScript, ".github/workflows/ports.yml": readAll(filepath.Join(b.Root, ".github", "workflows", "ports.yml"))}
	maps.Copy(files, ports)
	r := b.NewRepo(t, files)
	p := &build{t: t, b: b, r: r, token: b.AppToken(t, ActionsAppID, r, nil), files: files, view: r.View()}
	p.origin = b.checkout(t, t.TempDir(), Act{Files: files, Repo: r})
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	clone, upload, download, action := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	write(t, clone, "action.yml", cloneStub)
	write(t, upload, "action.yml", uploadStub)
	write(t, download, "action.yml", downloadStub)
	write(t, mkdir(t, action, "ports"), "action.yml", readAll(filepath.Join(b.Root, "ports", "action.yml")))
	// A release is fetched over the network; all behind it is as it is.
	write(t, mkdir(t, action, "scripts"), "install.sh", "echo \"path="+bin+"\" >> \"$GITHUB_OUTPUT\"\n")
	p.local = map[string]string{actionpins.Ref("actions/checkout"): clone, actionpins.Ref("actions/upload-artifact"): upload, actionpins.Ref("actions/download-artifact"): download, "switchback-ci/switchback@v1.0.0": action}
	return p
}

// callerWorkflow calls the reusable workflow as docs/ports.md says.
const callerWorkflow = `name: Plan
on: push
jobs:
  ports:
    uses: ./.github/workflows/ports.yml
    with:
      ports: plans/two
      max-parallel: "2"
      setup: echo 3 > setup.txt
    secrets:
      WORKER_ENV: |
        AGENT_KEY=${{ secrets.AGENT_KEY }}
`

// run runs the workflow as run id, with inputs if a dispatch gave some.
func (p *build) run(t *testing.T, id int64, inputs map[string]any, kill *Hold) (ActResult, string) {
	t.Helper()
	a, uploads := p.act(t, id)
	a.Workflow, a.Event, a.Payload, a.Kill = ".github/workflows/ports.yml", "workflow_dispatch", map[string]any{"inputs": inputs, "ref": "refs/heads/main"}, kill
	return p.b.RunAct(t, a), uploads
}

// act is what all runs of workflows have in common.
func (p *build) act(t *testing.T, id int64) (Act, string) {
	t.Helper()
	uploads := t.TempDir()
	return Act{
		Files: p.files, Repo: p.r, Token: p.token, RunID: id, Local: p.local, Timeout: 2 * time.Minute,
		Secrets: map[string]string{"WORKER_ENV": "AGENT_KEY=hush-hush", "AGENT_KEY": "hush-hush"},
		Env: map[string]string{"ORIGIN": p.origin, "UPLOADS": uploads, "SWITCHBACK_CONTENT_INTERVAL": "1ms", "GITHUB_REF": "refs/heads/main",
			"GITHUB_WORKFLOW_REF": p.r.FullName + "/.github/workflows/ports.yml@refs/heads/main"},
	}, uploads
}

// standings reads the status of the ports from the plan's issue: "a passed 1".
func (p *build) standings(t *testing.T, title string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, i := range p.r.Issues(t) {
		if !strings.HasSuffix(i.Title, title) {
			continue
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`[^|]*\\| \\S+ (\\w+) \\| (\\d*) \\|").FindAllStringSubmatch(i.Body, -1) {
			out[m[1]] = strings.TrimSpace(m[2] + " " + m[3])
		}
	}
	return out
}

func (p *build) want(t *testing.T, title string, want map[string]string, res ActResult) {
	t.Helper()
	if got := p.standings(t, title); !maps.Equal(got, want) {
		t.Errorf("the ports stand as %v, want %v\n%s\n%s", got, want, res.Console, res.Stderr)
	}
}

func (p *build) clean(t *testing.T) {
	t.Helper()
	if v := p.view.Violations(); len(v) > 0 {
		t.Errorf("requests that GitHub would refuse: %v", v)
	}
}

// journal reads what the ledger holds of a port.
func (p *build) journal(t *testing.T, planName, id string) plan.Journal {
	t.Helper()
	j, err := plan.FoldJournal(p.stream(t, routing.PortKey(p.r.FullName, planName, id)))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestPorts(t *testing.T) {
	t.Parallel()
	p := newBuild(t, map[string]string{
		"ports/a.yml": good("a"), "ports/b.yml": good("b"),
		"ports/c.yml": "id: c\ndepends_on: a\nimpl: sh worker.sh\ntest: sh test.sh\n",
		"ports/d.yml": good("d", "a", "b", "c"), "ports/e.yml": good("e", "d"),
		"ports/x.yml": "id: x\nmax_iterations: 1\nimpl: echo 7 > x.txt\ntest: sh test.sh\n", "ports/y.yml": good("y", "x"),
		"ports/m.yml": "id: m\nparent: n\nimpl: sh fix.sh\ntest: sh test.sh\n", "fix.sh": fixScript,
		"ports/n.yml": "id: n\ndepends_on: m\nimpl: sh find.sh\ntest: sh test.sh\n", "find.sh": findScript,
		".github/switchback.yml": "escalation: {mention: \"@writer\"}\n",
	})
	res, uploads := p.run(t, 501, nil, nil)
	t.Logf("act took %v", res.Took)
	t.Run("S2-41 S2-42 S2-44 A and B, then C, then D, as far as the file reaches", func(t *testing.T) {
		p.want(t, "ports", map[string]string{"a": "passed 1", "b": "passed 1", "c": "passed 3", "d": "passed 1", "e": "ready", "m": "passed 1", "n": "ready", "x": "escalated 2", "y": "blocked"}, res)
		begun := func(id string) time.Time { return p.journal(t, "ports", id).Loop.StartedAt }
		ended := func(id string) time.Time { return p.journal(t, "ports", id).Loop.EndedAt }
		if begun("c").Before(ended("a")) || begun("c").Before(ended("b")) || begun("d").Before(ended("c")) {
			t.Errorf("C began before its level, or D before C")
		}
	})
	t.Run("S2-25 S2-27 C fails twice, and passes by what the feedback file says", func(t *testing.T) {
		j := p.journal(t, "ports", "c")
		if j.Loop.Attempt != 3 || j.Loop.Status != plan.Success || !strings.HasPrefix(j.Loop.ID, "run-501/") {
			t.Errorf("%+v", j.Loop)
		}
	})
	t.Run("S2-29 X is escalated, and people are called once", func(t *testing.T) {
		issue := p.issue(t, "ports")
		calls := slices.DeleteFunc(p.r.Issues(t), func(i Issue) bool { return i.Number == issue.Number })
		if len(calls) != 1 || !strings.Contains(calls[0].Body, "@writer") || !strings.Contains(calls[0].Body, "Port `x` needs a person after 2 attempts") || len(p.r.Comments(t, issue.Number)) != 0 {
			t.Errorf("%+v", calls)
		}
		labels := p.r.IssueLabels(t, issue.Number)
		slices.Sort(labels)
		if want := []string{"ports:blocked", "ports:escalated", "switchback", "switchback:plan"}; !slices.Equal(labels, want) {
			t.Errorf("%v, want %v", labels, want)
		}
	})
	t.Run("a port that does not pass fails its job and no other", func(t *testing.T) {
		if res.ExitCode == 0 || strings.Count(res.Console, "switchback: port x: escalated") != 1 || strings.Count(res.Console, "switchback: port ") != 2 {
			t.Errorf("exit %d\n%s", res.ExitCode, res.Console)
		}
	})
	t.Run("the graph is shown", func(t *testing.T) {
		if body := p.issue(t, "ports").Body; !strings.Contains(body, "```mermaid\ngraph LR\n") || strings.Count(body, " --> ") != 7 {
			t.Errorf("%s", body)
		}
	})
	t.Run("what a port left is uploaded", func(t *testing.T) {
		if got := readAll(filepath.Join(uploads, "switchback-port-ports-c", "ports", "c", "result.json")); !strings.Contains(got, `"attempts": 3`) {
			t.Errorf("%q", got)
		}
	})
	t.Run("N asks M to fix its work: N waits, no job fails for it, and M runs again (S3-44 S3-55 S3-68)", func(t *testing.T) {
		m, n := p.journal(t, "ports", "m"), p.journal(t, "ports", "n")
		if m.Pairs != 2 || len(m.Loop.Requests) != 1 || n.Loop.Status != plan.Paused || res.Jobs["level-2"] != "success" || !strings.Contains(res.Console, "switchback: port n: waiting: it waits for feedback FB-001 to m (FIX_REQUEST, round 1 of 2)") {
			t.Errorf("%+v\n%+v\n%v", m.Loop, n.Loop, res.Jobs)
		}
		if all := p.feedback(t); len(all) != 2 || all[0].Status != feedback.Verifying || all[0].Plan != "ports/run-501" {
			t.Errorf("%+v", all)
		}
	})
	t.Run("M may not ask N while N waits for it (S3-36)", func(t *testing.T) {
		if x := p.feedback(t)[1]; x.Status != feedback.Rejected || x.Refusal.Why != feedback.Cycle {
			t.Errorf("%+v", x)
		}
	})
	p.goesOn(t)
	t.Run("N runs again in the next run, and resolves it (S3-46 S3-47)", func(t *testing.T) {
		if x := p.feedback(t)[0]; x.Status != feedback.Resolved || x.Round != 1 {
			t.Errorf("%+v", x)
		}
	})
	p.clean(t)
}

// goesOn runs what the first run dispatched.
func (p *build) goesOn(t *testing.T) {
	t.Helper()
	var sent []Dispatch
	for _, d := range p.r.Dispatches() {
		if d.Kind == "workflow_dispatch" {
			sent = append(sent, d)
		}
	}
	if len(sent) != 1 || sent[0].Name != "ports.yml" || sent[0].Ref != "main" {
		t.Fatalf("%+v", sent)
	}
	inputs, _ := sent[0].Body["inputs"].(map[string]any)
	if inputs["build"] != "run-501/4" {
		t.Fatalf("%+v", sent[0].Body)
	}
	t.Run("beyond the static depth the workflow starts itself, and goes on with the build", func(t *testing.T) {
		res, _ := p.run(t, 502, inputs, nil)
		p.want(t, "ports", map[string]string{"a": "passed 1", "b": "passed 1", "c": "passed 3", "d": "passed 1", "e": "passed 1", "m": "passed 1", "n": "passed 1", "x": "escalated 2", "y": "blocked"}, res)
		if res.Jobs["level-1"] != "success" || res.Jobs["collect-1"] != "success" || res.Jobs["level-2"] == "success" {
			t.Errorf("%v", res.Jobs)
		}
		if e, d := p.journal(t, "ports", "e"), p.journal(t, "ports", "d"); e.Runner.Run != "502" || d.Runner.Run != "501" || d.Pairs != 1 {
			t.Errorf("e was run by %+v, d by %+v", e.Runner, d.Runner)
		}
		if n := len(p.r.Issues(t)); n != 2 { // the plan's, and that of x
			t.Errorf("%d issues", n)
		}
	})
}

func (p *build) issue(t *testing.T, planName string) Issue {
	t.Helper()
	for _, i := range p.r.Issues(t) {
		if strings.HasSuffix(i.Title, ": "+planName) {
			return i
		}
	}
	t.Fatalf("plan %s has no issue", planName)
	return Issue{}
}

// recorded reports whether a request records what the job of a port brought back.
func recorded(id string) func(Request) bool {
	return func(q Request) bool {
		var in struct{ Content []byte }
		if q.Method != "PUT" || json.Unmarshal(q.Body, &in) != nil {
			return false
		}
		text := string(in.Content)
		return strings.Contains(text, `"port_id":"`+id+`"`) && strings.Contains(text, `"type":"port.worker.spawn"`)
	}
}

func TestPortsKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		when When
		run  string // that the port passes in
	}{{"before the ledger has what the job of a port did", Before, "602"}, {"once the ledger has it", After, "601"}} {
		t.Run("killed "+c.name, func(t *testing.T) {
			t.Parallel()
			p := newBuild(t, map[string]string{"ports/a.yml": good("a"), "ports/c.yml": "id: c\ndepends_on: a\nimpl: sh worker.sh\ntest: sh test.sh\n", "ports/d.yml": good("d", "a", "c")})
			res, _ := p.run(t, 601, nil, p.view.HoldAt(1, c.when, recorded("c")))
			if !res.Killed {
				t.Fatalf("nobody was killed\n%s\n%s", res.Console, res.Stderr)
			}
			a := p.journal(t, "ports", "a")
			res, _ = p.run(t, 602, nil, nil)
			p.want(t, "ports", map[string]string{"a": "passed 1", "c": "passed 3", "d": "passed 1"}, res)
			if j := p.journal(t, "ports", "c"); j.Pairs != 1 || j.Loop.ID != "run-"+c.run+"/c" || j.Loop.CurrentTry != 2 || j.Runner.Run != c.run {
				t.Errorf("%d pairs, %+v, run by %+v", j.Pairs, j.Loop, j.Runner)
			}
			if j := p.journal(t, "ports", "a"); a.Passed == "" || j.Pairs != 1 || j.Runner.Run != "601" || !j.Updated.Equal(a.Updated) {
				t.Errorf("what had passed is run again: %+v", j)
			}
			if i := p.issue(t, "ports"); i.State != "closed" {
				t.Errorf("%+v", i)
			}
			p.clean(t)
		})
	}
}

func TestTwoPlansAtOnce(t *testing.T) {
	t.Parallel()
	p := newBuild(t, map[string]string{
		"plans/one/a.yml": "id: a\nimpl: sh secret.sh\ntest: sh test.sh\n", "secret.sh": secretScript, "plans/one/b.yml": good("b"), "plans/one/c.yml": good("c"),
		"plans/two/a.yml": "id: a\nimpl: [sh secret.sh, cp setup.txt a.txt]\ntest: sh test.sh\n", "plans/two/b.yml": "id: b\ndepends_on: a\nimpl: sh worker.sh\ntest: sh test.sh\n",
		".github/workflows/caller.yml": callerWorkflow,
	})
	var both sync.WaitGroup
	var one, two ActResult
	both.Go(func() { one, _ = p.run(t, 701, map[string]any{"ports": "plans/one", "max-parallel": "1"}, nil) })
	both.Go(func() {
		a, _ := p.act(t, 702)
		a.Workflow, a.Event = ".github/workflows/caller.yml", "push"
		two = p.b.RunAct(t, a)
	})
	both.Wait()
	t.Run("a plan that is dispatched", func(t *testing.T) {
		p.want(t, "plans-one", map[string]string{"a": "passed 1", "b": "passed 1", "c": "passed 1"}, one)
	})
	t.Run("a plan whose workflow is called by another, with setup and secrets", func(t *testing.T) {
		p.want(t, "plans-two", map[string]string{"a": "passed 1", "b": "passed 3"}, two)
	})
	t.Run("a secret of the workers is told to them alone", func(t *testing.T) {
		for _, res := range []ActResult{one, two} {
			if strings.Contains(res.Console, "hush-hush") {
				t.Errorf("it is printed:\n%s", res.Console)
			}
		}
	})
	if n := len(p.r.Issues(t)); n != 2 {
		t.Errorf("%d issues", n)
	}
	t.Logf("%d requests for 5 ports of two plans in 7 turns", len(p.view.Requests()))
	p.clean(t)
}
