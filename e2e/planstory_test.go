package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// planStory is a plan whose steps run one by one, as the jobs of its workflow do.
type planStory struct {
	*story
	ws    string
	run   int64
	build string
	level string

	workflow string // its file
	main     string // commit that the plan is read from
}

// twoPorts is a plan whose first port never passes unless right.txt is there.
const twoPorts = `- id: model
  max_iterations: 1
  test: [sh test.sh]
- id: refunds
  depends_on: model
  test: [sh test.sh]
`

// modelTest fails as go test does, unless right.txt stands beside it.
const modelTest = `if [ -f right.txt ]; then
  printf -- '=== RUN   TestWork\n--- PASS: TestWork (0.00s)\nPASS\nok  \texample.com/work\t0.01s\n'
  exit 0
fi
printf -- '=== RUN   TestWork\n--- FAIL: TestWork (0.00s)\n    work_test.go:7: got 2, want 3\nFAIL\nFAIL\texample.com/work\t0.01s\nFAIL\n'
exit 1
`

func newPlanStory(t *testing.T, plan, config string) *planStory {
	t.Helper()
	s := newStory(t, config)
	s.r.Grant(t, Writer, "push")
	s.r.Commit(t, "main", "plan", map[string]string{".github/workflows/ports.yml": "name: Ports\non: workflow_dispatch\njobs: {}\n"})
	p := &planStory{story: s, ws: t.TempDir(), run: 5000, workflow: "ports.yml", main: s.r.SHA(t, "main")}
	write(t, p.ws, "ports.yml", plan)
	write(t, p.ws, "test.sh", modelTest)
	write(t, mkdir(t, p.ws, ".github"), "switchback.yml", s.config)
	return p
}

// step describes a step of the plan's workflow.
func (p *planStory) step(command string, in map[string]string) Action {
	p.t.Helper()
	bin, err := switchback()
	if err != nil {
		p.t.Fatal(err)
	}
	inputs := map[string]string{"command": command, "ports": "ports.yml", "build": p.build}
	for k, v := range in {
		inputs[k] = v
	}
	return Action{Binary: bin, Args: []string{"action"}, Repo: p.r, Token: p.token, Event: "push", SHA: p.main, RunID: p.run, Workspace: p.ws, Inputs: inputs,
		Env: map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms", "GITHUB_REF": "refs/heads/main",
			"GITHUB_WORKFLOW_REF": p.r.FullName + "/.github/workflows/" + p.workflow + "@refs/heads/main"}}
}

// does runs a step, which has to succeed, and returns the ports it hands out.
func (p *planStory) does(a Action) []string {
	p.t.Helper()
	res := p.b.RunAction(p.t, a)
	if res.ExitCode != 0 || strings.Contains(res.Stdout, "::warning") {
		p.t.Fatalf("exit %d\n%s\n%s", res.ExitCode, res.Stdout, res.Stderr)
	}
	p.build, p.level = res.Outputs["build"], res.Outputs["level"]
	var m plan.Include
	if err := json.Unmarshal([]byte(res.Outputs["matrix"]), &m); err != nil {
		p.t.Fatal(err)
	}
	var ids []string
	for _, e := range m.Include {
		ids = append(ids, e.ID)
	}
	return ids
}

// walk runs a build from its beginning until nothing is ready, and returns what
// was handed out, level by level.
func (p *planStory) walk() []string {
	p.t.Helper()
	p.run++
	p.build = ""
	ids := p.does(p.step("plan", nil))
	var all []string
	for len(ids) > 0 {
		all = append(all, strings.Join(ids, " "))
		for _, id := range ids {
			p.b.RunAction(p.t, p.step("port", map[string]string{"port": id}))
		}
		ids = p.does(p.step("collect", map[string]string{"level": p.level}))
	}
	return all
}

func (p *planStory) walks(want ...string) {
	p.t.Helper()
	if got := p.walk(); !slices.Equal(got, want) {
		p.t.Errorf("handed out %q, want %q", got, want)
	}
}

// journal reads what the ledger holds of a port.
func (p *planStory) journal(id string) plan.Journal {
	p.t.Helper()
	key := routing.PortKey(p.r.FullName, "ports.yml", id)
	for name, text := range p.r.Tree(p.t, "switchback-ledger") {
		if filepath.Base(name) != ledger.FileName(key) {
			continue
		}
		events, err := ledger.Decode(key, []byte(text))
		if err != nil {
			p.t.Fatal(err)
		}
		j, err := plan.FoldJournal(events)
		if err != nil {
			p.t.Fatal(err)
		}
		return j
	}
	return plan.Journal{}
}

// titled returns the issues whose title holds a part.
func (p *planStory) titled(part string) []Issue {
	p.t.Helper()
	var out []Issue
	for _, i := range p.r.Issues(p.t) {
		if strings.Contains(i.Title, part) {
			out = append(out, i)
		}
	}
	return out
}

func (p *planStory) one(part string) Issue {
	p.t.Helper()
	all := p.titled(part)
	if len(all) != 1 {
		p.t.Fatalf("%d issues with %q in their title: %+v", len(all), part, p.r.Issues(p.t))
	}
	return all[0]
}

// row is the row of a port in the issue of the plan.
func (p *planStory) row(id string) string {
	p.t.Helper()
	for _, l := range strings.Split(p.one("Plan of ports").Body, "\n") {
		if strings.HasPrefix(l, "| `"+id+"`") {
			return l
		}
	}
	p.t.Fatalf("no row of %s", id)
	return ""
}

// check is the check of the newest build.
func (p *planStory) check() CheckRun {
	p.t.Helper()
	var newest CheckRun
	for _, c := range p.r.CheckRuns(p.t, p.main) {
		if strings.HasSuffix(c.ExternalID, p.build+"/check") {
			if newest.ID != 0 {
				p.t.Errorf("two checks of build %s", p.build)
			}
			newest = c
		}
	}
	return newest
}

// starts are the builds that were asked for by dispatches.
func (p *planStory) starts() []string {
	var out []string
	for _, d := range p.r.Dispatches() {
		in, _ := d.Body["inputs"].(map[string]any)
		out = append(out, fmt.Sprint(d.Name, " ", d.Ref, " ", in["build"]))
	}
	return out
}
