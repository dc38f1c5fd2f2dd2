package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// servedPlan is a plan whose workers are workflows, and that the App drives by what it
// is told of them.
type servedPlan struct {
	*served
	ends func(in map[string]any) Run // how the run of a dispatch ends; status in_progress: not by itself

	mu         sync.Mutex
	dispatches []map[string]any // the inputs of each
	over       []*Run           // ended, and not told of yet
}

const servedConfig = "acts: app\nports: {path: ports.yml, drive: events, start: push}\n"

// fourPorts is a diamond: two may run at once between the first and the last.
const fourPorts = `- {id: model, impl: {workflow: agent.yml}, test: {workflow: agent.yml}, max_iterations: 1}
- {id: api, depends_on: [model], impl: {workflow: agent.yml}, test: {workflow: agent.yml}, max_iterations: 1}
- {id: docs, depends_on: [model], test: {workflow: agent.yml}}
- {id: site, depends_on: [api, docs], test: {workflow: agent.yml}}
`

func newServedPlan(t *testing.T, ends func(map[string]any) Run, env ...string) *servedPlan {
	t.Helper()
	return plansOf(newServed(t, servedConfig, env...), ends)
}

func plansOf(s *served, ends func(map[string]any) Run) *servedPlan {
	p := &servedPlan{served: s, ends: ends}
	s.r.Commit(s.t, "main", "agent", map[string]string{".github/workflows/agent.yml": "on: workflow_dispatch\n"})
	s.r.OnDispatch(p.begin)
	s.app.Idle()
	return p
}

func (p *servedPlan) begin(d Dispatch) {
	if d.Kind != "workflow_dispatch" {
		return
	}
	in := d.Body["inputs"].(map[string]any)
	if in["key"] == nil {
		return // the workflow of the plan
	}
	run := p.ends(in)
	run.Name, run.Path, run.Event, run.HeadBranch, run.HeadSHA = "Agent", ".github/workflows/agent.yml", "workflow_dispatch", "main", p.r.SHA(p.t, "main")
	run.Title = fmt.Sprint("Agent ", in["key"])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatches = append(p.dispatches, in)
	if r := p.r.AddRun(run); r.Status == "completed" {
		p.over = append(p.over, r)
	}
}

// told returns the ended runs whose events the App has by then.
func (p *servedPlan) told() []*Run {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.over
	p.over = nil
	return out
}

// tell delivers the event of a run that has ended.
func (p *servedPlan) tell(run *Run) Delivery {
	p.t.Helper()
	d := p.r.Send(p.t, "workflow_run", p.r.RunPayload(run, "completed"))
	if d.Status != http.StatusAccepted {
		p.t.Fatalf("the delivery was answered with %d", d.Status)
	}
	return d
}

// pushes puts the plan on main, of which GitHub tells the App, and returns that.
func (p *servedPlan) pushes(plan string) Delivery {
	p.t.Helper()
	return p.pushed(p.r.Commit(p.t, "main", "plan", map[string]string{"ports.yml": plan}))
}

// pushed waits until the App has heard that main is at a commit.
func (p *servedPlan) pushed(sha string) (d Delivery) {
	p.t.Helper()
	p.app.Until("the App hears of the push", func() bool {
		for _, d = range p.r.Deliveries() {
			if d.Event == "push" && d.Status == http.StatusAccepted && strings.Contains(string(d.Body), `"after":"`+sha) {
				return true
			}
		}
		return false
	})
	return d
}

// walks delivers the event of every run that ends, until none does.
func (p *servedPlan) walks() {
	p.t.Helper()
	for {
		p.app.Idle()
		over := p.told()
		if len(over) == 0 {
			return
		}
		for _, run := range over {
			p.tell(run)
		}
	}
}

// turns are the turns that were dispatched, in their order: "api impl 0".
func (p *servedPlan) turns() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, in := range p.dispatches {
		out = append(out, fmt.Sprint(in["port"], " ", in["role"], " ", in["iteration"]))
	}
	return out
}

// wantTurns fails the test unless each of these was dispatched, once.
func (p *servedPlan) wantTurns(want ...string) {
	p.t.Helper()
	got := p.turns()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		p.t.Errorf("dispatched %q\nwant %q", got, want)
	}
}

// stands is the status of each port: "api passed, docs running".
func (p *servedPlan) stands() string {
	p.t.Helper()
	reg := p.register()
	var out []string
	for id, k := range reg.Ports {
		out = append(out, id+" "+string(k.Standing))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func (p *servedPlan) register() plan.BuildState {
	p.t.Helper()
	reg, err := plan.FoldBuildState(p.stream(routing.PlanKey(p.r.FullName, "ports.yml")))
	if err != nil {
		p.t.Fatal(err)
	}
	return reg
}

// stream reads a stream of the ledger's branch.
func (p *servedPlan) stream(key string) []routing.Event {
	p.t.Helper()
	for name, text := range p.r.Tree(p.t, "switchback-ledger") {
		if filepath.Base(name) == ledger.FileName(key) {
			events, err := ledger.Decode(key, []byte(text))
			if err != nil {
				p.t.Fatal(err)
			}
			return events
		}
	}
	return nil
}

// titled returns the one issue whose title holds a part.
func (p *servedPlan) titled(part string) Issue {
	p.t.Helper()
	all := slices.DeleteFunc(p.r.Issues(p.t), func(i Issue) bool { return !strings.Contains(i.Title, part) })
	if len(all) != 1 {
		p.t.Fatalf("%d issues with %q in their title: %+v", len(all), part, p.r.Issues(p.t))
	}
	return all[0]
}

// row is the row of a port in the issue of the plan.
func (p *servedPlan) row(id string) string {
	p.t.Helper()
	for _, l := range strings.Split(p.titled("Plan of ports").Body, "\n") {
		if strings.HasPrefix(l, "| `"+id+"`") {
			return l
		}
	}
	p.t.Fatalf("no row of %s", id)
	return ""
}
