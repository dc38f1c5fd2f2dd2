package config

import (
	"path"
	"strings"
	"time"
)

// PortSettings say where the plan of ports is, and how it is run.
type PortSettings struct {
	Path           string   `yaml:"path,omitempty" json:"path,omitempty" jsonschema:"default=ports,description=Folder or file of the plan in the repository."`
	MaxConcurrency *int     `yaml:"max_concurrency,omitempty" json:"max_concurrency,omitempty" jsonschema:"minimum=1,maximum=256,default=3,description=Ports that run at once."`
	Parallel       *bool    `yaml:"parallel,omitempty" json:"parallel,omitempty" jsonschema:"default=true,description=False runs one port at a time in the order of dependencies."`
	Timeout        *Period  `yaml:"timeout_per_port,omitempty" json:"timeout_per_port,omitempty" jsonschema:"default=30m,description=Timeout of a port that sets none: a minute to 120h for all its attempts together."`
	MaxIterations  *int     `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=0,maximum=10,description=Fix attempts of a port that sets none; default: max_iterations of the whole file."`
	RunsOn         []string `yaml:"runs_on,omitempty" json:"runs_on,omitempty" jsonschema:"description=Labels of the runner of a port that sets none; default: ubuntu-latest."`
	Drive          string   `yaml:"drive,omitempty" json:"drive,omitempty" jsonschema:"enum=wait,enum=events,default=wait,description=How a port whose workers are workflows continues: its job waits for them or ends and the event of their completion continues it."`
	Start          string   `yaml:"start,omitempty" json:"start,omitempty" jsonschema:"enum=none,enum=push,default=none,description=Whether the App starts a build when a push to the default branch changes the plan."`
	Workflow       string   `yaml:"workflow,omitempty" json:"workflow,omitempty" jsonschema:"description=File name of the workflow that runs the plan; the App starts it when a runner is needed. Default: the one that ran the plan last."`
}

// PlanPath returns where the plan of ports is.
func (f File) PlanPath() string {
	if f.Ports.Path == "" {
		return "ports"
	}
	return f.Ports.Path
}

// mostAtOnce is how many jobs of a matrix GitHub runs at most.
const mostAtOnce = 256

func (c checker) ports(p PortSettings) {
	if n := p.MaxConcurrency; n != nil && (*n < 1 || *n > mostAtOnce) {
		c.add([]any{"ports", "max_concurrency"}, "max_concurrency is %d; it must be 1 to %d", *n, mostAtOnce)
	}
	c.limit([]any{"ports", "max_iterations"}, p.MaxIterations)
	if t := p.Timeout; t != nil && time.Duration(*t) > 120*time.Hour {
		c.add([]any{"ports", "timeout_per_port"}, "timeout_per_port is %s; a job takes 120h at most", time.Duration(*t))
	}
	if strings.HasPrefix(p.Path, "/") || strings.Contains(p.Path, `\`) || strings.HasPrefix(path.Clean(p.Path), "..") {
		c.add([]any{"ports", "path"}, "path %q is outside of the repository; write it relative to the root, with /", p.Path)
	}
	if p.Drive != "" && p.Drive != "wait" && p.Drive != "events" {
		c.add([]any{"ports", "drive"}, "drive is %q; write wait or events", p.Drive)
	}
	if p.Start != "" && p.Start != "none" && p.Start != "push" {
		c.add([]any{"ports", "start"}, "start is %q; write none or push", p.Start)
	}
	if w := p.Workflow; w != "" && (path.Base(w) != w || path.Ext(w) != ".yml" && path.Ext(w) != ".yaml") {
		c.add([]any{"ports", "workflow"}, "workflow is %q; write the name of a file below .github/workflows, e.g. plan.yml", w)
	}
	for i, l := range p.RunsOn {
		if strings.Contains(l, "${{") {
			c.add([]any{"ports", "runs_on", i}, "runs_on has %q; write labels of a runner, expressions are not evaluated", l)
		}
	}
}
