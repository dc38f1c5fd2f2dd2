package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// model fails its first test and passes when it was told what failed; api fails until
// right says that it may pass; the others pass.
func workers(right func() bool) func(map[string]any) Run {
	return func(in map[string]any) Run {
		run := Run{Conclusion: "success"}
		if in["role"] == "impl" {
			return run
		}
		passes := true
		switch in["port"] {
		case "model":
			passes = in["iteration"] == "1"
		case "api":
			passes = right()
		}
		if run.Artifacts = report(passes); !passes {
			run.Conclusion = "failure"
		}
		return run
	}
}

func TestAppPlan(t *testing.T) {
	t.Parallel()
	right := false
	p := newServedPlan(t, workers(func() bool { return right }))
	d := p.pushes(fourPorts)
	p.app.Idle()
	t.Run("a push that brings a plan begins a build, and what is ready is dispatched (S2-42)", func(t *testing.T) {
		p.wantTurns("model impl 0")
		if i := p.titled("Plan of ports"); i.User.Login != SwitchbackBot || !contains(p.r.IssueLabels(t, i.Number), "ports:running") {
			t.Errorf("%+v", i)
		}
	})
	t.Run("told of twice it begins nothing anew", func(t *testing.T) {
		p.twice(d)
		var again map[string]any
		if err := json.Unmarshal(d.Body, &again); err != nil {
			t.Fatal(err)
		}
		p.r.Send(t, "push", again) // as a delivery of its own
		p.app.Idle()
		p.wantTurns("model impl 0")
		if n := len(p.register().Begun); n != 1 {
			t.Errorf("%d builds", n)
		}
	})
	t.Run("a push of something else changes nothing", func(t *testing.T) {
		before := p.world()
		p.pushed(p.r.Commit(t, "main", "words", map[string]string{"README.md": "words\n"}))
		p.app.Idle()
		if after := p.world(); after != before || len(p.register().Begun) != 1 {
			t.Errorf("%s\nbefore\n%s", after, before)
		}
	})
	p.walks()
	t.Run("a port that fails its test is reworked, and what became ready runs at once (S2-28)", func(t *testing.T) {
		p.wantTurns("model impl 0", "model test 0", "model impl 1", "model test 1", "docs test 0", "api impl 0", "api test 0", "api impl 1", "api test 1")
		if got := p.stands(); got != "api escalated, docs passed, model passed" || !strings.Contains(p.row("site"), "blocked") {
			t.Errorf("%s\n%s", got, p.row("site"))
		}
	})
	call := p.titled("api")
	t.Run("one that is escalated opens an issue (S2-29)", func(t *testing.T) {
		if call.State != "open" || call.User.Login != SwitchbackBot || !strings.Contains(call.Body, "expected: hello") {
			t.Errorf("%+v", call)
		}
	})
	t.Run("a worker's run is analyzed as no case of its branch", func(t *testing.T) {
		if n := len(p.r.Issues(t)); n != 2 {
			t.Errorf("%d issues: %+v", n, p.r.Issues(t))
		}
	})
	right = true
	p.b.must(t, p.b.UserToken(Writer), "PATCH", fmt.Sprintf("/repos/%s/issues/%d", p.r.FullName, call.Number),
		map[string]any{"body": tick("again", "submit")(call.Body)}, nil)
	answer := p.heard("issues", "edited", Writer)
	p.walks()
	t.Run("answered by box it runs again, and the plan goes on to its end", func(t *testing.T) {
		if got := p.stands(); got != "api passed, docs passed, model passed, site passed" {
			t.Error(got)
		}
		if i := p.titled("Plan of ports"); i.State != "closed" || !contains(p.r.IssueLabels(t, i.Number), "ports:passed") {
			t.Errorf("%+v", i)
		}
		if i := p.titled("api"); i.State != "closed" {
			t.Errorf("%+v", i)
		}
	})
	t.Run("what was heard is heard again, and nothing comes of it", func(t *testing.T) {
		turns := len(p.turns())
		p.twice(answer)
		p.twice(d)
		for _, run := range p.b.gaps.attempts(p.r.FullName) {
			p.tell(run)
		}
		p.walks()
		if got := p.turns(); len(got) != turns {
			t.Errorf("%q", got[turns:])
		}
	})
	p.clean()
}

// Feedback of a person goes along the plan, by a comment alone.
func TestAppPlanFeedback(t *testing.T) {
	t.Parallel()
	p := newServedPlan(t, func(in map[string]any) Run {
		run := Run{Conclusion: "success"}
		if in["role"] == "test" {
			run.Artifacts = report(true)
		}
		return run
	})
	p.pushes(fourPorts)
	p.walks()
	before := p.turns()
	p.r.Comment(t, Writer, p.titled("Plan of ports").Number, "/switchback feedback FIX_REQUEST to:model from:api It takes no email.\nsuggested_fix: take one\n")
	d := p.heard("issue_comment", "created", Writer)
	p.walks()
	t.Run("the target works at it, and the sender verifies it (S3-42)", func(t *testing.T) {
		got := p.turns()[len(before):]
		if strings.Join(got, ", ") != "model impl 0, model test 0, api impl 0, api test 0" {
			t.Errorf("%q", got)
		}
		told := fmt.Sprint(p.dispatches[len(before)]["feedback"])
		if !strings.Contains(told, "It takes no email.") || p.stands() != "api passed, docs passed, model passed, site passed" {
			t.Errorf("%s\n%s", told, p.stands())
		}
	})
	t.Run("what a bot pushes, such as a worker, is taken up by the build that there is", func(t *testing.T) {
		n, builds, bot := len(p.turns()), len(p.register().Begun), *p.r
		bot.token = p.b.AppToken(t, ActionsAppID, p.r, nil)
		d := p.pushed(bot.Commit(t, "main", "note", map[string]string{"ports.yml": strings.Replace(fourPorts, "id: api,", "id: api, title: Noted,", 1)}))
		if p.walks(); !strings.Contains(string(d.Body), `"type":"Bot"`) {
			t.Fatalf("%s", d.Body)
		}
		if got := p.turns()[n:]; len(p.register().Begun) != builds || strings.Join(got, ", ") != "api impl 0, api test 0" {
			t.Errorf("%+v %q", p.register().Begun, got)
		}
	})
	t.Run("a plan that cannot be run is told at its commit, and starts nothing", func(t *testing.T) {
		n := len(p.turns())
		p.twice(d)
		p.pushes(strings.Replace(fourPorts, "depends_on: [model]", "depends_on: [modle]", 1))
		p.app.Idle()
		var out struct {
			Runs []struct {
				Name, Conclusion string
				Output           struct{ Summary string }
			} `json:"check_runs"`
		}
		p.r.get(t, "/commits/"+p.r.SHA(t, "main")+"/check-runs", &out)
		if len(out.Runs) != 1 || out.Runs[0].Conclusion != "failure" || !strings.Contains(out.Runs[0].Output.Summary, "`ports.yml:2`") || len(p.turns()) != n {
			t.Errorf("%+v %q", out.Runs, p.turns()[n:])
		}
	})
	t.Run("one with a command is run by its workflow, which is started once", func(t *testing.T) {
		p.r.Commit(t, "main", "runner", map[string]string{".github/workflows/plan.yml": "on: workflow_dispatch\n",
			".github/switchback.yml": strings.Replace(p.config, "start: push", "start: push, workflow: plan.yml", 1)})
		d := p.pushes(strings.Replace(fourPorts, "test: {workflow: agent.yml}}", "test: make}", 1))
		p.app.Idle()
		p.twice(d)
		var plans []string
		for _, x := range p.r.Dispatches() {
			if x.Name == "plan.yml" {
				plans = append(plans, fmt.Sprint(x.Ref, " ", x.Body["inputs"].(map[string]any)["build"]))
			}
		}
		if len(plans) != 1 || !strings.HasPrefix(plans[0], "main push-"+p.r.SHA(t, "main")[:12]+"/") {
			t.Errorf("%q", plans)
		}
	})
	p.clean()
}

// The workflow of a plan has begun it; where the App acts, it hears of the workers.
func TestAppPlanOfTheAction(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	j := newEventJob(t, "", second)
	j.r.Commit(t, "main", "The App acts", map[string]string{"ports/plan.yml": fmt.Sprintf(eventPorts, ""),
		".github/switchback.yml": "acts: app\nports: {drive: events}\n"})
	app := j.b.Serve(t, bin, "", "SWITCHBACK_RECONCILE=1s")
	j.r.Deliver(app.URL + "/webhook")
	t.Cleanup(func() { j.r.Deliver("") })
	for n := range 3 {
		d := j.r.Send(t, "workflow_run", j.r.RunPayload(j.agents()[n], "completed"))
		app.Idle()
		app.Again(d)
		app.Until("the next turn is dispatched", func() bool { return len(j.agents()) > n+1 })
	}
	app.Until("the end of the last, of which nobody told it, is found", func() bool { return len(j.plans()) > 0 })
	t.Run("the App takes the port on, and starts the workflow of the plan once (S2-25)", func(t *testing.T) {
		j.r.Send(t, "workflow_run", j.r.RunPayload(j.agents()[3], "completed"))
		app.Idle()
		j.standsAs(plan.Success, twoTurns)
		if got := j.plans(); len(got) != 1 || got[0] != "run-700/greet-1" {
			t.Errorf("the plan goes on with %v", got)
		}
	})
}
