package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

// A Finding is one weakness.
type Finding struct {
	File    string
	Line    int
	Rule    string // as zizmor names it
	Message string // what is wrong, and what to write instead
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Rule, f.Message)
}

// checker holds the workflow that is checked, and what was found.
type checker struct {
	file     File
	root     *yaml.Node
	triggers []string
	found    []Finding
}

// own are the actions of this project. They are used by version: their commits are not known before
// they exist.
const own = "switchback-ci/switchback"

// Check returns the weaknesses of a workflow or an action, in the order of its lines.
func (f File) Check() []Finding {
	c := &checker{file: f}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Text), &doc); err != nil || len(doc.Content) == 0 {
		return []Finding{{f.Name, f.Line + 1, "syntax", fmt.Sprintf("it is no YAML: %v", err)}}
	}
	c.root = doc.Content[0]
	c.walk(c.root)
	if runs := get(c.root, "runs"); runs != nil {
		c.steps(get(runs, "steps"), nil, nil)
	}
	if jobs := get(c.root, "jobs"); jobs != nil {
		c.triggers = keysOf(get(c.root, "on"))
		c.workflow(jobs)
	}
	slices.SortStableFunc(c.found, func(a, b Finding) int { return a.Line - b.Line })
	return c.found
}

func (c *checker) add(n *yaml.Node, rule, format string, args ...any) {
	c.found = append(c.found, Finding{c.file.Name, c.file.Line + n.Line, rule, fmt.Sprintf(format, args...)})
}

var (
	commit  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	actor   = regexp.MustCompile(`github\.(actor|triggering_actor)\s*[!=]=|[!=]=\s*github\.(actor|triggering_actor)`)
	everyS  = regexp.MustCompile(`toJSON\(\s*secrets\s*\)`)
	headRef = regexp.MustCompile(`(?i)head[._]|head_ref|pull_request\.number|refs/pull`)
	push    = regexp.MustCompile(`\bgit\b.*\bpush\b`)
	publish = regexp.MustCompile(`\b(gh release|npm publish|twine upload|docker push|goreleaser)\b`)
)

// walk checks what holds anywhere in a file.
func (c *checker) walk(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && everyS.MatchString(n.Value) {
		c.add(n, "overprovisioned-secrets", "toJSON(secrets) gives every secret away; name the ones that are needed")
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			switch {
			case k.Value == "uses" && v.Kind == yaml.ScalarNode:
				c.uses(v)
			case k.Value == "secrets" && v.Value == "inherit":
				c.add(v, "secrets-inherit", "a called workflow gets every secret; pass the ones that it needs by name")
			case k.Value == "ACTIONS_ALLOW_UNSECURE_COMMANDS":
				c.add(k, "insecure-commands", "output of a step could set environment variables; remove it")
			case k.Value == "if" && actor.MatchString(v.Value):
				c.add(v, "bot-conditions", "github.actor is whoever caused the event last; ask for the author, such as github.event.pull_request.user.login")
			case k.Value == "container" || k.Value == "image":
				c.image(v)
			}
		}
	}
	for _, x := range n.Content {
		c.walk(x)
	}
}

// uses checks that an action of others is pinned, to the commit and version that the project uses.
func (c *checker) uses(n *yaml.Node) {
	name, ref, _ := strings.Cut(n.Value, "@")
	switch {
	case strings.HasPrefix(name, "./"), name == own, strings.HasPrefix(name, own+"/"):
		return
	case strings.HasPrefix(name, "docker://"):
		if !strings.HasPrefix(ref, "sha256:") {
			c.add(n, "unpinned-uses", "%s is not pinned; add @sha256:… of the image", n.Value)
		}
		return
	case !commit.MatchString(ref):
		c.add(n, "unpinned-uses", "%s is a tag or branch that its owner can move; write its full commit SHA, and the version as a comment", n.Value)
		return
	}
	p, ok := actionpins.Of(name)
	switch {
	case !ok:
		c.add(n, "unpinned-uses", "%s has no row in routing/actionpins; add it once two independent sources show this commit for its version", name)
	case ref != p.Commit:
		c.add(n, "ref-version-mismatch", "%s is at %s and routing/actionpins says %s", name, ref, p.Commit)
	case !strings.HasPrefix(n.LineComment+",", "# "+p.Version+",") && !strings.HasPrefix(n.LineComment, "# "+p.Version+" "):
		c.add(n, "ref-version-mismatch", "write the version beside the commit of %s: # %s", name, p.Version)
	}
}

func (c *checker) image(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value != "" && !strings.Contains(n.Value, "${{") && !strings.Contains(n.Value, "@sha256:") {
		c.add(n, "unpinned-images", "%s is a tag that its owner can move; add @sha256:…", n.Value)
	}
}

func (c *checker) workflow(jobs *yaml.Node) {
	top := get(c.root, "permissions")
	several := len(jobs.Content) > 2
	c.permissions(top, several)
	privileged := c.privileged(jobs)
	for i := 0; i+1 < len(jobs.Content); i += 2 {
		name, job := jobs.Content[i], jobs.Content[i+1]
		p := get(job, "permissions")
		if p == nil && top == nil {
			c.add(name, "excessive-permissions", "job %s has the permissions that the repository gives by default; say which it needs", name.Value)
		}
		c.permissions(p, false)
		c.steps(get(job, "steps"), job, &privileged)
	}
}

// permissions checks what a workflow or a job may do. What one job of several needs, all others of
// the workflow have as well if it stands above them.
func (c *checker) permissions(n *yaml.Node, several bool) {
	if n == nil {
		return
	}
	if n.Value == "write-all" || n.Value == "read-all" {
		c.add(n, "excessive-permissions", "%s is more than any job needs; name the permissions", n.Value)
	}
	if !several || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i+1].Value == "write" {
			c.add(n.Content[i], "excessive-permissions", "every job of the workflow gets %s: write; give it to the job that needs it", n.Content[i].Value)
		}
	}
}

// outside reports whether strangers can trigger the workflow while it has the repository's rights.
func (c *checker) outside() bool {
	return slices.Contains(c.triggers, "pull_request_target") || slices.Contains(c.triggers, "workflow_run")
}

// privileged reports whether what the workflow builds is published, or whether it runs with the
// repository's rights for strangers: a cache that others can write to must not reach it.
func (c *checker) privileged(jobs *yaml.Node) bool {
	if c.outside() || slices.Contains(c.triggers, "release") {
		return true
	}
	found := false
	var look func(*yaml.Node)
	look = func(n *yaml.Node) {
		if n.Kind == yaml.MappingNode {
			for i := 0; i+1 < len(n.Content); i += 2 {
				k, v := n.Content[i].Value, n.Content[i+1].Value
				found = found || (slices.Contains([]string{"id-token", "attestations", "packages"}, k) && v == "write") || (k == "run" && publish.MatchString(v))
			}
		}
		for _, x := range n.Content {
			look(x)
		}
	}
	look(jobs)
	return found
}

// steps checks the steps of a job, or of a composite action, which has no job.
func (c *checker) steps(steps, job *yaml.Node, privileged *bool) {
	if steps == nil {
		return
	}
	pushes := false
	for _, s := range steps.Content {
		pushes = pushes || push.MatchString(value(s, "run"))
	}
	for _, s := range steps.Content {
		run, uses := get(s, "run"), value(s, "uses")
		if run != nil && strings.Contains(run.Value, "${{") {
			c.add(run, "template-injection", "an expression in run: becomes part of the script; give it in env: and quote the variable")
		}
		if script := get(get(s, "with"), "script"); script != nil && strings.Contains(script.Value, "${{") {
			c.add(script, "template-injection", "an expression in script: becomes part of the program; give it in env:")
		}
		if run != nil && c.outside() && regexp.MustCompile(`>>?\s*"?\$\{?GITHUB_(ENV|PATH)`).MatchString(run.Value) {
			c.add(run, "github-env", "what strangers write could become an environment variable of later steps; use GITHUB_OUTPUT")
		}
		if strings.HasPrefix(uses, "actions/checkout@") {
			c.checkout(s, job, pushes)
		}
		if privileged != nil && *privileged {
			c.cache(s, uses)
		}
	}
}

// checkout checks that a checkout leaves no token behind, and gives strangers' code no rights.
func (c *checker) checkout(s, job *yaml.Node, pushes bool) {
	with := get(s, "with")
	if value(with, "persist-credentials") != "false" && !pushes {
		c.add(s, "artipacked", "the checkout keeps the job's token in .git/config, where every later step and artifact can have it; add persist-credentials: false")
	}
	if !c.outside() {
		return
	}
	for _, k := range []string{"ref", "repository"} {
		// A run that was dispatched comes from the repository itself.
		if v := get(with, k); v != nil && headRef.MatchString(v.Value) && !strings.Contains(value(job, "if"), "github.event.workflow_run.event == 'workflow_dispatch'") {
			c.add(v, "dangerous-triggers", "a stranger's code is checked out where the token can write; read artifacts instead")
		}
	}
}

// cache checks that a step reads no cache. setup-go caches unless it is told not to.
func (c *checker) cache(s *yaml.Node, uses string) {
	const message = "a cache that another workflow wrote becomes part of what is published or trusted; "
	with := get(s, "with")
	switch {
	case strings.HasPrefix(uses, "actions/cache@"), strings.HasPrefix(uses, "actions/cache/"):
		c.add(s, "cache-poisoning", message+"remove the step")
	case strings.HasPrefix(uses, "actions/setup-go@") && value(with, "cache") != "false":
		c.add(s, "cache-poisoning", message+"add cache: false")
	case strings.HasPrefix(uses, "actions/setup-") && value(with, "cache") != "" && value(with, "cache") != "false":
		c.add(s, "cache-poisoning", message+"remove cache")
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

func value(n *yaml.Node, key string) string {
	if v := get(n, key); v != nil {
		return v.Value
	}
	return ""
}

// keysOf returns the events of on:, which is a name, a list or a mapping.
func keysOf(n *yaml.Node) []string {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}
	case yaml.SequenceNode:
		var out []string
		for _, x := range n.Content {
			out = append(out, x.Value)
		}
		return out
	}
	var out []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		out = append(out, n.Content[i].Value)
	}
	return out
}
