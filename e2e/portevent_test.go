package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// eventJob is a plan of a port whose workers are workflows that nobody waits for,
// and of one behind it.
type eventJob struct {
	*agentJob
	next int64 // number of the next run
}

const eventPorts = `- id: greet
  impl: {workflow: agent.yml}
  test: {workflow: agent.yml}
  max_iterations: 1
  %s
- id: reply
  depends_on: [greet]
  test: echo
`

// newEventJob begins the plan, and the port in a job, which ends.
func newEventJob(t *testing.T, more string, ends func(in map[string]any) Run) *eventJob {
	t.Helper()
	j := &eventJob{next: 700}
	j.agentJob = newAgentJob(t, fmt.Sprintf(eventPorts, more), func(in map[string]any) Run {
		if in["key"] == nil { // the plan
			return Run{Title: "Plan " + fmt.Sprint(in["build"])}
		}
		return ends(in)
	})
	const config = "ports: {drive: events, path: ports.yml}\n"
	// On the events of runs the configuration is that of the default branch.
	j.r.Commit(t, "main", "plan", map[string]string{".github/workflows/plan.yml": "on: workflow_dispatch\n", ".github/switchback.yml": config})
	write(t, mkdir(t, mkdir(t, j.a.Workspace, ".github"), "."), "switchback.yml", config)
	j.a.Env["GITHUB_WORKFLOW_REF"] = j.r.FullName + "/.github/workflows/plan.yml@refs/heads/main"
	j.ok(j.command("plan", nil, nil))
	if res := j.ok(j.command("port", map[string]string{"port": "greet", "build": "run-700"}, nil)); res.Outputs["status"] != "running" {
		t.Fatalf("%v\n%s%s", res.Outputs, res.Stdout, res.Stderr)
	}
	return j
}

// command runs a command of the Action as a run of its own, but for the first two.
func (j *eventJob) command(name string, in map[string]string, change func(*Action)) Result {
	j.t.Helper()
	a := j.a
	a.Args, a.Event, a.Token, a.RunID = []string{"action"}, "schedule", j.a.Env["SWITCHBACK_GITHUB_TOKEN"], j.next
	a.Inputs = map[string]string{"command": name, "plan": "ports"}
	maps.Copy(a.Inputs, in)
	if change != nil {
		change(&a)
	}
	if name != "plan" {
		j.next++
	}
	return j.b.RunAction(j.t, a)
}

func (j *eventJob) ok(res Result) Result {
	j.t.Helper()
	if res.ExitCode != 0 {
		j.t.Fatalf("exit %d\n%s%s", res.ExitCode, res.Stdout, res.Stderr)
	}
	return res
}

// hear delivers the event of a run that has ended.
func (j *eventJob) hear(run *Run) Result {
	j.t.Helper()
	return j.ok(j.command("port-event", nil, func(a *Action) {
		a.Event, a.Payload = "workflow_run", j.r.RunPayload(run, "completed")
	}))
}

// reconcile is the schedule, an event without a run.
func (j *eventJob) reconcile() Result {
	j.t.Helper()
	return j.ok(j.command("port-event", nil, nil))
}

// agents are the runs of workers, oldest first.
func (j *eventJob) agents() []*Run {
	var out []*Run
	for _, run := range j.b.gaps.attempts(j.r.FullName) {
		if strings.HasPrefix(run.Title, "Agent ") {
			out = append(out, run)
		}
	}
	return out
}

func (j *eventJob) turns() string {
	var out []string
	for _, in := range j.dispatched() {
		if in["key"] != nil {
			out = append(out, fmt.Sprint(in["role"], " ", in["iteration"]))
		}
	}
	return strings.Join(out, ", ")
}

func (j *eventJob) standsAs(status plan.LoopStatus, turns string) *plan.Loop {
	j.t.Helper()
	jr := j.journal()
	if got := j.turns(); jr.Loop.Status != status || got != turns || jr.Pairs != 1 || jr.Loop.ID != "run-700/greet" {
		j.t.Errorf("dispatched %s, want %s: %+v", got, turns, jr.Loop)
	}
	for _, v := range j.r.View().Violations() {
		j.t.Error(v)
	}
	return jr.Loop
}

// plans are the builds that the plan's workflow was started to go on with.
func (j *eventJob) plans() []string {
	var out []string
	for _, in := range j.dispatched() {
		if in["key"] == nil {
			out = append(out, fmt.Sprint(in["build"]))
		}
	}
	return out
}

func TestPortByEvents(t *testing.T) {
	t.Parallel()
	t.Run("S2-25 S2-28 each end of a run takes the port on by one step, however often and in whatever order it is heard of", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", second)
		j.standsAs(plan.Running, "impl 0")
		for n, turns := range []string{"impl 0, test 0", "impl 0, test 0, impl 1", twoTurns, twoTurns} {
			run := j.agents()[n]
			j.hear(run)
			for _, again := range []*Run{run, j.agents()[0]} {
				if n%2 == 0 {
					continue // the roles, each in one turn
				}
				if res := j.hear(again); !strings.Contains(res.Stderr, "the port does not wait for this") {
					t.Errorf("%s%s", res.Stdout, res.Stderr)
				}
			}
			status := plan.Running
			if n == 3 {
				status = plan.Success
			}
			j.standsAs(status, turns)
		}
		if got := j.plans(); len(got) != 1 || got[0] != "run-700/greet-1" {
			t.Errorf("the plan goes on with %v", got)
		}
		res := j.ok(j.command("plan", map[string]string{"build": "run-700/greet-1"}, func(a *Action) { a.RunID = 900 }))
		if !strings.Contains(res.Outputs["matrix"], `"id":"reply"`) || strings.Contains(res.Outputs["matrix"], `"id":"greet"`) || res.Outputs["build"] != "run-700" {
			t.Errorf("%v", res.Outputs)
		}
	})
	t.Run("S2-29 at the limit an issue is opened", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", func(in map[string]any) Run {
			if in["role"] == "impl" {
				return Run{Conclusion: "success"}
			}
			return Run{Conclusion: "failure", Artifacts: report(false)}
		})
		for n := range 4 {
			j.hear(j.agents()[n])
		}
		j.standsAs(plan.Raised, twoTurns)
		issues := j.r.Issues(t)
		if len(issues) == 0 || !strings.Contains(issues[0].Body, "escalated") || len(j.plans()) != 0 {
			t.Errorf("%+v %v", issues, j.plans())
		}
	})
	t.Run("while its workflow is at work the plan counts a port as running, and a build goes on with it", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", func(map[string]any) Run { return Run{Status: "in_progress"} })
		res := j.ok(j.command("collect", map[string]string{"build": "run-700", "level": "1"}, nil))
		if res.Outputs["empty"] != "true" || !strings.Contains(j.r.Issues(t)[0].Body, "running") {
			t.Errorf("%v", res.Outputs)
		}
		j.standsAs(plan.Running, "impl 0")
		if l := j.r.IssueLabels(t, j.r.Issues(t)[0].Number); !contains(l, "ports:running") {
			t.Errorf("%v", l)
		}
	})
	t.Run("S2-30 nobody runs while it waits, and the schedule ends it when the time is over", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "timeout: 2s", func(map[string]any) Run { return Run{Status: "in_progress"} })
		for range 100 {
			if j.reconcile(); j.journal().Loop.Status != plan.Running {
				break
			}
		}
		if l := j.standsAs(plan.Raised, "impl 0"); l.Outcome != plan.TimedOut || j.cancelled() != 1 {
			t.Errorf("%+v, %d cancelled", l, j.cancelled())
		}
	})
	t.Run("a cancelled run is a failed port, never a pass", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", func(map[string]any) Run { return Run{Conclusion: "cancelled", Artifacts: report(true)} })
		j.hear(j.agents()[0])
		j.standsAs(plan.Failed, "impl 0")
	})
	t.Run("a lost event is made up for by the schedule", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", second)
		for range 4 {
			j.reconcile()
		}
		j.standsAs(plan.Success, twoTurns)
	})
	t.Run("whoever may name a run takes no port on by that", func(t *testing.T) {
		t.Parallel()
		j := newEventJob(t, "", func(map[string]any) Run { return Run{Status: "in_progress"} })
		key := j.dispatched()[0]["key"].(string)
		near := key[:len(key)-1] + "0"
		if near == key {
			near = key[:len(key)-1] + "1"
		}
		for _, run := range []Run{
			{Event: "pull_request", Title: "Agent " + key, Path: ".github/workflows/agent.yml"},
			{Event: "workflow_dispatch", Title: "Agent " + key, Path: ".github/workflows/other.yml"},
			{Event: "workflow_dispatch", Title: "Agent " + near, Path: ".github/workflows/agent.yml"},
			{Event: "workflow_dispatch", Title: "Agent other/" + strings.TrimPrefix(key, "ports/"), Path: ".github/workflows/agent.yml"},
			{Event: "push", Title: "a commit", Path: ".github/workflows/ci.yml"},
		} {
			run.Conclusion, run.HeadSHA, run.HeadBranch = "success", j.r.SHA(t, "main"), "main"
			j.hear(j.r.AddRun(run))
		}
		j.standsAs(plan.Running, "impl 0")
	})
}

func TestPortByEventsKilled(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 4; n++ { // by turns before GitHub has seen a write, and after
		t.Run(fmt.Sprintf("killed at write %d, the schedule goes on, and no turn is dispatched twice", n), func(t *testing.T) {
			t.Parallel()
			j := newEventJob(t, "", second)
			hold := j.r.View().HoldAt(n, []When{Before, After}[n%2], writes)
			res := j.command("port-event", nil, func(a *Action) {
				a.Event, a.Payload, a.Kill = "workflow_run", j.r.RunPayload(j.agents()[0], "completed"), hold
			})
			hold.Release()
			if !res.Killed {
				t.Fatalf("it ended before\n%s", res.Stderr)
			}
			for range 5 {
				if j.reconcile(); j.journal().Loop.Status != plan.Running {
					break
				}
			}
			j.standsAs(plan.Success, twoTurns)
		})
	}
}
