package doctor

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/config"
)

// action is the Action of this project, without its version.
const action = "switchback-ci/switchback"

// workflow is what is read of a workflow file.
type workflow struct {
	file, name string
	triggers   *yaml.Node
	uses       []usage
	uploads    []upload
}

// usage is a step that uses the Action.
type usage struct {
	workflow    string // its file
	line        int
	ref         string // the version
	part        string // of the Action: "" for its root, else such as reconcile
	job         string
	jobLine     int
	permissions map[string]string // nil: those that the repository gives by default
	all         string            // read-all or write-all
	events      []string
	of          []string // workflows whose runs start it
	completed   bool     // by runs that have completed
	triggerLine int
	command     string
	reports     []string
}

// after reports whether the step analyzes runs of other workflows.
func (u usage) after() bool { return slices.Contains(u.events, "workflow_run") }

// routes reports whether the step routes runs: plans, surveys and replays have needs of their own.
func (u usage) routes() bool {
	return u.part == "" && slices.Contains([]string{"", "auto", "step", "workflow-run", "review", "answer", "reconcile"}, u.command)
}

// may reports whether the job's token has a permission.
func (u usage) may(name, level string) bool {
	switch have := u.permissions[name]; {
	case u.all == "write-all", have == "write", have == level:
		return true
	default:
		return u.all == "read-all" && level == "read"
	}
}

// upload is what a step uploads as an artifact.
type upload struct {
	name, path string
}

func (u upload) String() string {
	return u.name + " (" + strings.Join(strings.Fields(u.path), ", ") + ")"
}

// open reports whether only a run shows what is uploaded.
func (u upload) open() bool {
	return strings.ContainsAny(u.path, "*?[{$") || strings.HasSuffix(u.path, "/") || path.Ext(u.path) == ""
}

// glob is one that matches all that is uploaded.
func (u upload) glob() string {
	if strings.Contains(u.name, "${{") {
		return "**/" + path.Base(u.path)
	}
	return u.name + "/**"
}

// mayMatch reports whether one of globs may match a file of the artifact, which is named by its path
// in it, or below the artifact's name.
func (u upload) mayMatch(globs []string) bool {
	for p := range strings.FieldsSeq(u.path) {
		one := upload{u.name, p}
		for _, g := range globs {
			for _, name := range []string{path.Base(p), p, u.name + "/" + path.Base(p), u.name + "/" + p} {
				if ok, err := doublestar.Match(g, name); err == nil && ok {
					return true
				}
			}
			if one.open() && (path.Ext(g) == path.Ext(p) || strings.HasSuffix(p, "/") || path.Ext(p) == "" || path.Ext(g) == "") {
				return true
			}
		}
	}
	return false
}

// readWorkflows reads the workflows of the checkout.
func (c *checkout) readWorkflows() {
	entries, _ := fs.ReadDir(c.tree, ".github/workflows") // checkWorkflows says that there is none
	for _, e := range entries {
		file := ".github/workflows/" + e.Name()
		if ext := path.Ext(file); ext != ".yml" && ext != ".yaml" {
			continue
		}
		data, err := fs.ReadFile(c.tree, file)
		if err != nil {
			c.add(Finding{Level: Error, Check: "workflows", File: file, Message: err.Error()})
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
			c.add(Finding{Level: Error, Check: "workflows", File: file, Message: fmt.Sprintf("not valid YAML: %v", err), Remedy: "GitHub runs nothing of the file until it is"})
			continue
		}
		c.workflows = append(c.workflows, readWorkflow(file, doc.Content[0]))
	}
}

func readWorkflow(file string, root *yaml.Node) workflow {
	w := workflow{file: file, name: text(get(root, "name")), triggers: get(root, "on")}
	if w.name == "" {
		w.name = file
	}
	jobs := get(root, "jobs")
	for i := 0; jobs != nil && jobs.Kind == yaml.MappingNode && i+1 < len(jobs.Content); i += 2 {
		id, job := jobs.Content[i], jobs.Content[i+1]
		steps := get(job, "steps")
		if steps == nil {
			continue
		}
		for _, s := range steps.Content {
			uses, with := get(s, "uses"), get(s, "with")
			name, ref, _ := strings.Cut(text(uses), "@")
			switch {
			case name == "actions/upload-artifact":
				up := upload{text(get(with, "name")), text(get(with, "path"))}
				if up.name == "" {
					up.name = "artifact"
				}
				w.uploads = append(w.uploads, up)
			case strings.EqualFold(name, action), strings.HasPrefix(strings.ToLower(name), action+"/"):
				u := usage{part: strings.TrimPrefix(strings.ToLower(name)[len(action):], "/"), workflow: file, line: uses.Line, ref: ref, job: id.Value, jobLine: id.Line, command: text(get(with, "command"))}
				for r := range strings.Lines(text(get(with, "reports"))) {
					if r = strings.TrimSpace(r); r != "" {
						u.reports = append(u.reports, r)
					}
				}
				permissions := get(job, "permissions")
				if permissions == nil {
					permissions = get(root, "permissions")
				}
				u.grant(permissions)
				u.trigger(w.triggers)
				w.uses = append(w.uses, u)
			}
		}
	}
	return w
}

// grant reads the permissions of the job.
func (u *usage) grant(n *yaml.Node) {
	if n == nil {
		return
	}
	u.permissions, u.all = map[string]string{}, n.Value
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		u.permissions[n.Content[i].Value] = n.Content[i+1].Value
	}
}

// trigger reads what starts the workflow.
func (u *usage) trigger(n *yaml.Node) {
	u.events = keysOf(n)
	run := get(n, "workflow_run")
	u.of, u.completed = list(get(run, "workflows")), slices.Contains(list(get(run, "types")), "completed") || get(run, "types") == nil
	if run != nil {
		u.triggerLine = run.Line
	}
}

// needs are the permissions of a job that routes runs, and what they are for.
var needs = []struct{ name, level, what string }{
	{"contents", "write", "nothing is remembered: every failure is the first attempt, and nothing escalates"},
	{"pull-requests", "write", "there is no comment"},
	{"checks", "write", "there is no check run"},
	{"issues", "write", "no escalation is opened"},
}

var released = regexp.MustCompile(`^v[0-9]+(\.[0-9]+){0,2}$|^[0-9a-f]{40}$`)

// checkWorkflows checks the workflows that use the Action.
func (c *checkout) checkWorkflows() {
	const check = "workflows"
	routes := c.routes()
	if len(routes) == 0 {
		if c.config.Acts == config.ActsApp {
			c.add(Finding{Level: OK, Check: check, Message: "the configuration says `acts: app`: no workflow needs to use the Action"})
			return
		}
		c.add(Finding{Level: Error, Check: check, Message: "no workflow uses " + action, Remedy: "`switchback init --write` writes them; where the App acts, write `acts: app` in " + config.Path})
		return
	}
	events := map[string]bool{}
	for _, w := range c.workflows {
		for _, u := range w.uses {
			for _, e := range u.events {
				events[e] = events[e] || u.routes() || u.part == "reconcile" && e == "schedule"
			}
		}
	}
	for _, u := range routes {
		before := len(c.all)
		c.permissions(u)
		if !released.MatchString(u.ref) {
			c.add(Finding{Level: Error, Check: check, File: u.workflow, Line: u.line, Message: fmt.Sprintf("@%s is no release: a branch holds no digests of binaries, so nothing is installed", u.ref), Remedy: "use a version such as @v1, or the full SHA of a release's commit"})
		}
		if u.after() {
			c.missingNames(u)
			if !u.completed {
				c.add(Finding{Level: Error, Check: check, File: u.workflow, Line: u.triggerLine, Message: "on: workflow_run does not take completed runs", Remedy: "write `types: [completed]`"})
			}
			if len(u.of) == 0 {
				c.add(Finding{Level: Error, Check: check, File: u.workflow, Line: u.triggerLine, Message: "on: workflow_run names no workflow", Remedy: "write the names of the workflows that run tests: `workflows: [CI]`"})
			}
		}
		if len(c.all) == before {
			c.add(Finding{Level: OK, Check: check, File: u.workflow, Line: u.line, Message: fmt.Sprintf("the job %s may do what it needs", u.job)})
		}
	}
	file := routes[len(routes)-1].workflow
	for _, e := range []struct {
		name, what, write string
		level             Level
	}{
		{"issue_comment", "no command in a comment is carried out", "issue_comment: {types: [created]}", Warning},
		{"issues", "no box that a maintainer ticks in an escalation is applied", "issues: {types: [edited, closed, reopened, deleted, transferred]}", Warning},
		{"schedule", "what was interrupted is finished by the next run only, and no reminder is sent", `schedule: [{cron: "17 * * * *"}]`, Note},
	} {
		if !events[e.name] {
			c.add(Finding{Level: e.level, Check: "events", File: file, Message: fmt.Sprintf("no workflow with the Action runs on %s: %s", e.name, e.what), Remedy: "write `" + e.write + "` below `on:`"})
		}
	}
	if !events["workflow_run"] && !events["pull_request"] && !events["push"] && !events["merge_group"] {
		c.add(Finding{Level: Error, Check: "events", File: file, Message: "no run is analyzed: the Action runs neither in the workflow of the tests nor after it", Remedy: "write `workflow_run: {workflows: [CI], types: [completed]}` below `on:`"})
	}
}

// permissions checks the permissions of a job.
func (c *checkout) permissions(u usage) {
	const check = "permissions"
	if u.permissions == nil {
		c.add(Finding{Level: Warning, Check: check, File: u.workflow, Line: u.jobLine, Message: fmt.Sprintf("the job %s has no `permissions:`, so it has those that the repository gives by default, which may be read-only", u.job), Remedy: "write `permissions:` with contents, pull-requests, checks and issues: write"})
		return
	}
	for _, n := range needs {
		if !u.may(n.name, n.level) {
			c.add(Finding{Level: Error, Check: check, File: u.workflow, Line: u.jobLine, Message: fmt.Sprintf("the job %s lacks `%s: %s`: %s", u.job, n.name, n.level, n.what), Remedy: fmt.Sprintf("add `%s: %s` to `permissions:`", n.name, n.level)})
		}
	}
	if !u.after() {
		return
	}
	switch {
	case !u.may("actions", "read"):
		c.add(Finding{Level: Error, Check: check, File: u.workflow, Line: u.jobLine, Message: fmt.Sprintf("the job %s lacks `actions: write`: it can read neither runs nor artifacts", u.job), Remedy: "add `actions: write` to `permissions:`"})
	case !u.may("actions", "write"):
		c.add(Finding{Level: Note, Check: check, File: u.workflow, Line: u.jobLine, Message: fmt.Sprintf("the job %s has `actions: read`: failed jobs are not run again", u.job), Remedy: "write `actions: write` to have flaky jobs run again"})
	}
}

// get returns the value of a key, nil if n is no mapping or lacks it.
func get(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return n.Value
}

// list returns the texts of a sequence, or of a single text.
func list(n *yaml.Node) []string {
	switch {
	case n == nil:
		return nil
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}
	}
	var out []string
	for _, x := range n.Content {
		out = append(out, x.Value)
	}
	return out
}

// keysOf returns the events of on:, which is a name, a list or a mapping.
func keysOf(n *yaml.Node) []string {
	if n == nil || n.Kind != yaml.MappingNode {
		return list(n)
	}
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}
