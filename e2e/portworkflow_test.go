package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/actionpins"
	"github.com/switchback-ci/switchback/routing/plan"
)

// agentJob is a port whose workers are workflows, and what GitHub does with them.
type agentJob struct {
	*portJob
	mu   sync.Mutex
	runs []map[string]any // the inputs of each dispatch
	ends func(in map[string]any) Run
}

const remotePort = "id: greet\nimpl: {workflow: agent.yml, inputs: {model: small}}\ntest: {workflow: agent.yml}\nmax_iterations: 2\nbrief: Say hello.\n"

// newAgentJob makes a port of a spec. Each dispatch starts a run, which ends as
// ends says; nil starts none.
func newAgentJob(t *testing.T, spec string, ends func(in map[string]any) Run) *agentJob {
	t.Helper()
	j := &agentJob{portJob: newPortJob(t), ends: ends}
	j.r.Commit(t, "main", "agent", map[string]string{".github/workflows/agent.yml": "on: workflow_dispatch\n"})
	write(t, j.a.Workspace, "ports.yml", spec)
	j.a.Env["SWITCHBACK_GITHUB_TOKEN"] = j.b.AppToken(t, ActionsAppID, j.r, nil)
	j.a.Env["SWITCHBACK_POLL_INTERVAL"], j.a.Env["SWITCHBACK_LEASE_TTL"] = "20ms", "2s"
	j.r.OnDispatch(j.begin)
	return j
}

func (j *agentJob) begin(d Dispatch) {
	if d.Kind != "workflow_dispatch" {
		return
	}
	in := d.Body["inputs"].(map[string]any)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = append(j.runs, in)
	if j.ends == nil {
		return
	}
	run := j.ends(in)
	run.Name, run.Path, run.Event, run.HeadBranch, run.HeadSHA = "Agent", ".github/workflows/agent.yml", "workflow_dispatch", "main", j.r.SHA(j.t, "main")
	if run.Title == "" {
		run.Title = "Agent " + in["key"].(string)
	}
	j.r.AddRun(run)
}

func (j *agentJob) dispatched() []map[string]any {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.runs)
}

// roles says whose turns were dispatched: "impl 0, test 0".
func (j *agentJob) roles() string {
	var out []string
	for _, in := range j.dispatched() {
		out = append(out, fmt.Sprint(in["role"], " ", in["iteration"]))
	}
	return strings.Join(out, ", ")
}

func (j *agentJob) cancelled() int {
	n := 0
	for _, d := range j.r.Dispatches() {
		if d.Kind == "cancel" {
			n++
		}
	}
	return n
}

// report is an artifact of a testing worker.
func report(passes bool) []Artifact {
	failure, n := "", 0
	if !passes {
		n, failure = 1, `<failure type="AssertionError" message="expected: hello but was: Hello">expected: hello but was: Hello</failure>`
	}
	return []Artifact{{Name: "switchback-worker", Files: map[string]string{"tokens": "7\n",
		"reports/junit.xml": fmt.Sprintf(`<testsuite name="greet" tests="1" failures="%d"><testcase classname="greet" name="is small">%s</testcase></testsuite>`, n, failure)}}}
}

// second passes at the second attempt, if it gets what failed.
func second(in map[string]any) Run {
	done := Run{Conclusion: "success", Jobs: []Job{{Name: "work", Log: "done\n"}}}
	if in["role"] == "test" {
		passes := in["iteration"] == "1"
		done.Artifacts = report(passes)
		if !passes {
			done.Conclusion = "failure"
		}
	} else if in["iteration"] == "1" && !strings.Contains(fmt.Sprint(in["feedback"]), `"expected":"hello"`) {
		done.Conclusion = "failure"
	}
	return done
}

func (j *agentJob) want(res Result, status plan.LoopStatus, outcome plan.Outcome, dispatches string) plan.Journal {
	j.t.Helper()
	jr := j.journal()
	if got := j.roles(); jr.Loop == nil || jr.Loop.Status != status || jr.Loop.Outcome != outcome || got != dispatches || jr.Pairs != 1 {
		j.t.Errorf("exit %d, %+v, dispatched %s\n%s", res.ExitCode, jr.Loop, got, res.Stderr)
	}
	if (res.ExitCode == 0) != (status == plan.Success) {
		j.t.Errorf("exit %d\n%s", res.ExitCode, res.Stderr)
	}
	for _, v := range j.r.View().Violations() {
		j.t.Error(v)
	}
	return jr
}

const twoTurns = "impl 0, test 0, impl 1, test 1"

func TestPortByWorkflows(t *testing.T) {
	t.Parallel()
	t.Run("S2-25 S2-28 impl and test as workflows, and the feedback of the first turn to the second", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort, second)
		jr := j.want(j.b.RunAction(t, j.a), plan.Success, plan.Succeeded, twoTurns)
		in := j.dispatched()
		if jr.Loop.Tokens != 14 || in[0]["brief"] != "Say hello." || in[0]["model"] != "small" || in[0]["feedback"] != "" || in[1]["model"] != nil || in[2]["build"] != "run-700" {
			t.Errorf("%+v %v", jr.Loop, in)
		}
		var fb plan.TestFeedback
		if err := json.Unmarshal([]byte(in[2]["feedback"].(string)), &fb); err != nil || len(fb.FailedTests) != 1 || fb.FailedTests[0].Actual != "Hello" {
			t.Errorf("%v %+v", err, fb)
		}
		res := j.b.RunAction(t, Action{Binary: j.a.Binary, Args: []string{"port", "feedback", "greet", "--attempt", "1"}, Repo: j.r, Env: j.a.Env})
		if res.ExitCode != 0 || !strings.Contains(res.Stdout, `"actual": "Hello"`) {
			t.Errorf("%d %s%s", res.ExitCode, res.Stdout, res.Stderr)
		}
	})
	t.Run("S2-29 at the limit an issue is opened", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort, func(in map[string]any) Run {
			if in["role"] == "impl" {
				return Run{Conclusion: "success"}
			}
			return Run{Conclusion: "failure", Jobs: []Job{{Name: "test", Log: "2026-01-01T00:00:00.0000000Z --- FAIL: TestGreet (0.00s)\n2026-01-01T00:00:00.0000000Z     greet_test.go:7: got Hello\n2026-01-01T00:00:00.0000000Z FAIL\n"}}}
		})
		jr := j.want(j.b.RunAction(t, j.a), plan.Raised, plan.UsedUp, twoTurns+", impl 2, test 2")
		if len(jr.Loop.Last.FailedTests) != 1 || jr.Loop.Last.FailedTests[0].Name != "TestGreet" || len(jr.Waiting()) != 1 {
			t.Errorf("%+v", jr.Loop.Last)
		}
	})
	t.Run("an impl that fails has failed its turn, and the next is told its last words", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort, func(in map[string]any) Run {
			if in["role"] == "impl" && in["iteration"] == "0" {
				return Run{Conclusion: "failure", Jobs: []Job{{Name: "work", Log: "2026-01-01T00:00:00.0000000Z no key for the API\n2026-01-01T00:00:00.0000000Z ##[error]Process completed with exit code 1.\n2026-01-01T00:00:00.0000000Z Cleaning up orphan processes\n"}}}
			}
			return Run{Conclusion: "success", Artifacts: report(true)}
		})
		j.want(j.b.RunAction(t, j.a), plan.Success, plan.Succeeded, "impl 0, impl 1, test 1")
		if fb := fmt.Sprint(j.dispatched()[1]["feedback"]); !strings.Contains(fb, "its last words are: no key for the API") {
			t.Errorf("%s", fb)
		}
	})
	t.Run("one worker of the pair may be a command", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, "id: greet\nimpl: {workflow: agent.yml}\ntest: 'echo 1..1; if test -f done; then echo ok 1 - greets; else echo not ok 1 - greets; fi'\n", nil)
		j.ends = func(in map[string]any) Run {
			if in["iteration"] == "1" {
				write(t, j.a.Workspace, "done", "")
			}
			return Run{Conclusion: "success"}
		}
		j.want(j.b.RunAction(t, j.a), plan.Success, plan.Succeeded, "impl 0, impl 1")
	})
	t.Run("a cancelled run is a failed port, never a pass", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort, func(in map[string]any) Run {
			if in["role"] == "test" {
				return Run{Conclusion: "cancelled", Artifacts: report(true)}
			}
			return Run{Conclusion: "success"}
		})
		if jr := j.want(j.b.RunAction(t, j.a), plan.Failed, plan.Broke, "impl 0, test 0"); !strings.Contains(jr.Loop.Reason, "ended as cancelled") {
			t.Errorf("%s", jr.Loop.Reason)
		}
	})
	t.Run("S2-30 a run that is still at work when the time is over is cancelled", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort+"timeout: 2s\n", func(map[string]any) Run { return Run{Status: "in_progress"} })
		jr := j.want(j.b.RunAction(t, j.a), plan.Raised, plan.TimedOut, "impl 0")
		if j.cancelled() != 1 || !strings.Contains(jr.Loop.Reason, "Its run was still at work: http") {
			t.Errorf("%d cancelled, %s", j.cancelled(), jr.Loop.Reason)
		}
	})
	t.Run("a run that never shows the key ends with the time, and it is said what to do", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort+"timeout: 2s\n", func(map[string]any) Run { return Run{Conclusion: "success", Title: "Agent"} })
		jr := j.want(j.b.RunAction(t, j.a), plan.Raised, plan.TimedOut, "impl 0")
		if !strings.Contains(jr.Loop.Reason, "no run of it shows the key ports/greet/impl/1/") || !strings.Contains(jr.Loop.Escalation.Suggested[0], "run-name: ${{ inputs.key }}") {
			t.Errorf("%s %q", jr.Loop.Reason, jr.Loop.Escalation.Suggested)
		}
	})
	t.Run("a workflow that is not there is said at once", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, strings.ReplaceAll(remotePort, "agent.yml", "gone.yml"), nil)
		if jr := j.want(j.b.RunAction(t, j.a), plan.Failed, plan.Broke, ""); !strings.Contains(jr.Loop.Reason, `start workflow "gone.yml"`) {
			t.Errorf("%s", jr.Loop.Reason)
		}
	})
	t.Run("GitHub's faults are waited out", func(t *testing.T) {
		t.Parallel()
		j := newAgentJob(t, remotePort, second)
		v := j.r.View()
		v.Fault(Fault{Method: "GET", Path: regexp.MustCompile(`/actions/workflows/agent.yml/runs`), Status: 502, Times: 4})
		v.Fault(Fault{Method: "POST", Path: regexp.MustCompile(`/dispatches$`), Drop: After}) // it started, and the answer is lost
		v.Fault(Fault{Method: "GET", Path: regexp.MustCompile(`/artifacts$`), Status: 500, Times: 4})
		j.want(j.b.RunAction(t, j.a), plan.Success, plan.Succeeded, twoTurns)
	})
}

func TestPortByWorkflowsKilled(t *testing.T) {
	t.Parallel()
	// The first turn, of twelve writes, has all kinds that the others have.
	for _, k := range killPoints(t, 12, 6) {
		t.Run(fmt.Sprintf("killed at write %d (%v), no turn is dispatched twice", k.n, k.when), func(t *testing.T) {
			t.Parallel()
			j := newAgentJob(t, remotePort, second)
			a := j.a
			a.Kill = j.r.View().HoldAt(k.n, k.when, writes)
			first := j.b.RunAction(t, a)
			a.Kill.Release()
			if !first.Killed {
				t.Fatalf("it ended before\n%s", first.Stderr)
			}
			a.Kill, a.RunID = nil, 701
			j.want(j.b.RunAction(t, a), plan.Success, plan.Succeeded, twoTurns)
		})
	}
}

// branchStub stands where actions/checkout would be fetched from: it clones
// what ORIGIN names, and can push there.
const branchStub = `name: checkout
description: clones
runs:
  using: composite
  steps:
    - shell: bash
      run: git init -q -b main . && (git remote remove origin || true) && git remote add origin "$ORIGIN" && git fetch -q origin main && git reset -q --hard FETCH_HEAD && git branch -q --set-upstream-to=origin/main
`

// The workflow of docs/ports.md is what people copy: it has to do the work.
func TestAgentWorkflowOfThePage(t *testing.T) {
	t.Parallel()
	j := newAgentJob(t, remotePort, nil)
	_, page, _ := strings.Cut(readAll(filepath.Join(j.b.Root, "docs", "ports.md")), "\n## Workers that are workflows\n")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, 3)
	agent, dir := blocks[1][1], t.TempDir()
	lint := exec.Command(j.b.Tool(t, "actionlint"), "-shellcheck=", write(t, dir, "agent.yml", agent), write(t, dir, "on.yml", blocks[2][1]))
	if out, err := lint.CombinedOutput(); err != nil || !strings.Contains(blocks[2][1], "command: port-event") {
		t.Errorf("%v\n%s", err, out)
	}
	write(t, j.a.Workspace, "ports.yml", blocks[0][1])
	files := map[string]string{
		".github/workflows/agent.yml": agent, "README.md": "x\n",
		"agent.sh": "echo 120 > worker/tokens\nif [ -z \"$FEEDBACK\" ]; then echo Hello; else echo \"$FEEDBACK\" | sed -n 's/.*\"expected\":\"\\([a-z]*\\)\".*/\\1/p'; fi > greeting.txt\n",
		"check.sh": "got=$(cat greeting.txt)\n[ \"$got\" = hello ] || f=\"<failure type='AssertionError'>expected: hello but was: $got</failure>\"\necho \"<testsuite name='greet'><testcase classname='greet' name='is small'>$f</testcase></testsuite>\" > worker/reports/junit.xml\n[ -z \"$f\" ]\n",
	}
	j.r.Commit(t, "main", "the page's workflow", files)
	origin := j.b.checkout(t, t.TempDir(), Act{Files: files, Repo: j.r})
	if out, err := exec.Command("git", "-C", origin, "config", "receive.denyCurrentBranch", "ignore").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	clone, upload := t.TempDir(), t.TempDir()
	write(t, clone, "action.yml", branchStub)
	write(t, upload, "action.yml", uploadStub)
	var working sync.WaitGroup
	j.r.OnDispatch(func(d Dispatch) {
		in := d.Body["inputs"].(map[string]any)
		for name := range in {
			if !strings.Contains(agent, "\n      "+name+": ") {
				t.Errorf("the workflow does not declare the input %s", name)
			}
		}
		run := j.r.AddRun(Run{Name: "Agent", Title: "Agent " + in["key"].(string), Path: ".github/workflows/agent.yml", Event: "workflow_dispatch", HeadBranch: "main", HeadSHA: j.r.SHA(t, "main"), Status: "in_progress"})
		working.Go(func() {
			uploads := t.TempDir()
			res := j.b.RunAct(t, Act{Files: files, Repo: j.r, RunID: run.ID, Workflow: ".github/workflows/agent.yml", Event: "workflow_dispatch",
				Payload: map[string]any{"inputs": in}, Local: map[string]string{actionpins.Ref("actions/checkout"): clone, actionpins.Ref("actions/upload-artifact"): upload},
				Env: map[string]string{"ORIGIN": origin, "UPLOADS": uploads, "GITHUB_REF": "refs/heads/main"}})
			left := map[string]string{}
			for _, name := range []string{"tokens", "reports/junit.xml"} {
				if text := readAll(filepath.Join(uploads, "switchback-worker", name)); text != "" {
					left[name] = text
				}
			}
			j.r.SetRun(run.ID, func(r *Run) {
				r.Status, r.Conclusion, r.Ended = "completed", map[bool]string{true: "success", false: "failure"}[res.ExitCode == 0], time.Now()
				r.Jobs, r.Artifacts = []Job{{Name: "work", Log: res.Console}}, []Artifact{{Name: "switchback-worker", Files: left}}
			})
		})
		j.begin(Dispatch{Kind: d.Kind, Body: d.Body})
	})
	j.a.Timeout = 2 * time.Minute
	res := j.b.RunAction(t, j.a)
	working.Wait()
	jr := j.want(res, plan.Success, plan.Succeeded, twoTurns)
	text, err := exec.Command("git", "-C", origin, "show", "main:greeting.txt").CombinedOutput()
	if err != nil || string(text) != "hello\n" || jr.Loop.Tokens != 240 {
		t.Errorf("%v %s %+v", err, text, jr.Loop)
	}
	for _, r := range slices.Sorted(maps.Keys(files)) {
		if _, err := exec.Command("git", "-C", origin, "cat-file", "-e", "main:"+r).CombinedOutput(); err != nil {
			t.Errorf("%s is gone: %v", r, err)
		}
	}
}
