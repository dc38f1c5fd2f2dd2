package plan

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

// WorkflowOptions say how a static workflow is written.
type WorkflowOptions struct {
	Name string // of the workflow
	Plan string // path of the plan in the repository
	Uses string // the Action, with its version
}

type workflowJob struct {
	Name        string            `yaml:"name"`
	Needs       []string          `yaml:"needs,omitempty"`
	If          string            `yaml:"if,omitempty"`
	RunsOn      any               `yaml:"runs-on"`
	Minutes     int               `yaml:"timeout-minutes"`
	Permissions map[string]string `yaml:"permissions"`
	Steps       []workflowStep    `yaml:"steps"`
}

type workflowStep struct {
	Uses string            `yaml:"uses"`
	With map[string]string `yaml:"with,omitempty"`
}

// commentPins writes the version of each pinned action beside its commit, as people and the tools
// that update it read it.
func commentPins(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		name, _, _ := strings.Cut(n.Value, "@")
		if p, ok := actionpins.Of(name); ok {
			n.LineComment = "# " + p.Version
		}
	}
	for _, x := range n.Content {
		commentPins(x)
	}
}

// checkout is a step that leaves no token in the job's checkout, which the workers work in.
func checkout() workflowStep {
	return workflowStep{Uses: actionpins.Ref("actions/checkout"), With: map[string]string{"persist-credentials": "false"}}
}

// Workflow writes a plan as a workflow with one job for each port, whose needs
// are the port's dependencies: a job starts as soon as those have passed, and is
// skipped if one of them fails. A last job takes in what came of them, and shows
// it. Ports that are completed, held, or wait for one that is held have no job. A
// plan without any job is an error, as GitHub takes no workflow without one.
func Workflow(p Plan, s Settings, o WorkflowOptions) ([]byte, error) {
	m := p.Jobs(s, State{}, nil, false)
	if m.Empty {
		return nil, fmt.Errorf("no port of %s is left to run", o.Plan)
	}
	names := jobNames(p.ids)
	has := map[string]bool{}
	for _, e := range m.Matrix.Include {
		has[e.ID] = true
	}
	jobs := make([]workflowJob, 0, len(m.Matrix.Include)+1)
	collect := workflowJob{Name: "collect", If: "${{ !cancelled() }}", RunsOn: "ubuntu-latest", Minutes: 15,
		Permissions: map[string]string{"contents": "write", "checks": "write", "issues": "write"}, Steps: []workflowStep{
			checkout(), {Uses: o.Uses, With: map[string]string{"command": "collect", "ports": o.Plan}}}}
	for _, e := range m.Matrix.Include {
		// Workers that are commands run in the job, so it may only read; the last job records what they
		// did. Where all are workflows it dispatches those, and records itself.
		j := workflowJob{Name: label(e.ID, e.Title), RunsOn: e.RunsOn, Minutes: e.Minutes, Permissions: map[string]string{"contents": "read"}, Steps: []workflowStep{
			checkout(), {Uses: o.Uses, With: map[string]string{"command": "port", "journal": "artifact", "port": e.ID, "ports": o.Plan}}}}
		if spec, _ := p.Port(e.ID); spec.Dispatched() {
			j.Permissions = map[string]string{"actions": "write", "contents": "write"}
			delete(j.Steps[1].With, "journal")
		}
		if len(e.RunsOn) == 1 {
			j.RunsOn = e.RunsOn[0]
		}
		for _, d := range p.DependsOn(e.ID) {
			if has[d] {
				j.Needs = append(j.Needs, names[d])
			}
		}
		jobs, collect.Needs = append(jobs, j), append(collect.Needs, names[e.ID])
	}
	jobs = append(jobs, collect)
	var list yaml.Node // encoded at once: every call costs buffers of its own
	if err := list.Encode(jobs); err != nil {
		return nil, err
	}
	commentPins(&list)
	mapping := yaml.Node{Kind: yaml.MappingNode}
	for i, e := range m.Matrix.Include {
		mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: names[e.ID]}, list.Content[i])
	}
	// A port's job begins with "port-".
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "collect"}, list.Content[len(jobs)-1])
	return written(o, m, &mapping)
}

func written(o WorkflowOptions, m Matrix, jobs *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by `switchback ports workflow`. Write it again when the plan changes.\n")
	for _, x := range m.Blocked {
		fmt.Fprintf(&b, "# %s waits for %s.\n", x.ID, strings.Join(x.By, ", "))
	}
	head := yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "name"}, {Kind: yaml.ScalarNode, Value: plain(o.Name), Tag: "!!str"}}}
	enc := func(n *yaml.Node) error {
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		if err := e.Encode(n); err != nil {
			return err
		}
		return e.Close()
	}
	if err := enc(&head); err != nil {
		return nil, err
	}
	b.WriteString(`on:
  workflow_dispatch:
# The last job records what the jobs of ports did in the ledger, a branch named switchback-ledger, and
# shows how far the plan is, on its commit and in an issue. Jobs in which workers run only read.
permissions:
  contents: read
concurrency:
  group: switchback-ports-${{ github.workflow }}-${{ github.ref }}
`)
	err := enc(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "jobs"}, jobs}})
	return b.Bytes(), err
}

// jobNames gives every port a name that GitHub takes for a job: letters, digits,
// hyphens and underscores. Two ports never share one.
func jobNames(ids []string) map[string]string {
	out := make(map[string]string, len(ids))
	taken := make(map[string]bool, len(ids))
	give := func(id, name string) {
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("port-%s-%d", strings.ReplaceAll(id, ".", "-"), n)
		}
		taken[strings.ToLower(name)] = true
		out[id] = name
	}
	for _, dotted := range []bool{false, true} { // names without a dot stay as they are
		for _, id := range ids {
			if strings.Contains(id, ".") == dotted {
				give(id, "port-"+strings.ReplaceAll(id, ".", "-"))
			}
		}
	}
	return out
}

// label is what people see of a port in the list of jobs.
func label(id, title string) string {
	if title = plain(title); title == "" || title == id {
		return id
	}
	return id + ": " + title
}

// plain returns a text as one line that GitHub evaluates nothing in.
func plain(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:119]) + "…"
	}
	return strings.ReplaceAll(s, "${{", "$ {{")
}
