package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// keyReaders read the value of each key, in the order they are listed to people.
var keyReaders = []struct {
	name string
	read func(p portReader, n *yaml.Node)
}{
	{"id", func(p portReader, n *yaml.Node) { p.spec.ID = p.in.id(n, "id") }},
	{"title", func(p portReader, n *yaml.Node) { p.spec.Title, _ = p.in.text(n, "title") }},
	{"status", portReader.status},
	{"priority", portReader.priority},
	{"depends_on", portReader.dependsOn},
	{"parent", func(p portReader, n *yaml.Node) { p.spec.Parent = p.in.id(n, "parent") }},
	{"impl", func(p portReader, n *yaml.Node) { p.spec.Impl = p.command(n, "impl") }},
	{"test", func(p portReader, n *yaml.Node) { p.spec.Test = p.command(n, "test") }},
	{"timeout", portReader.timeout},
	{"max_iterations", portReader.maxIterations},
	{"runs_on", portReader.runsOn},
	{"env", portReader.env},
	{"paths", portReader.paths},
	{"token_budget", portReader.tokenBudget},
	{"brief", func(p portReader, n *yaml.Node) {
		text, _ := p.in.text(n, "brief")
		p.spec.Brief = strings.TrimSpace(text)
	}},
}

// portReader reads the values of the keys of one port.
type portReader struct {
	in   *values
	spec *Spec
}

// Keys lists the keys of a port.
func Keys() []string {
	out := make([]string, len(keyReaders))
	for i, k := range keyReaders {
		out[i] = k.name
	}
	return out
}

var keyNames = Keys()

func (p portReader) status(n *yaml.Node) {
	v, ok := p.in.text(n, "status")
	if !ok {
		return
	}
	if p.spec.Status = statuses[v]; p.spec.Status == "" {
		p.spec.Status = Pending
		p.in.at(n, "status is %q; %s", v, suggest.Hint(v, slices.Sorted(maps.Keys(statuses))))
	}
}

// mostPriority is the largest number that people may order ports by.
const mostPriority = 1_000_000

func (p portReader) priority(n *yaml.Node) {
	if v, ok := priorities[n.Value]; ok && n.Kind == yaml.ScalarNode {
		p.spec.Priority = v
		return
	}
	if v, ok := p.in.whole(n, "priority", 0, mostPriority, "or critical, high, medium, low; a lower number runs first"); ok {
		p.spec.Priority = int(v)
	}
}

func (p portReader) dependsOn(n *yaml.Node) {
	seen := map[string]bool{}
	if n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, ", ") {
		if names := strings.FieldsFunc(n.Value, func(c rune) bool { return c == ',' || c == ' ' }); !slices.ContainsFunc(names, func(v string) bool { return !idRE.MatchString(v) }) {
			p.in.at(n, "depends_on is %s, which is one text; write a list: [%s]", kindOf(n), strings.Join(names, ", "))
			return
		}
	}
	for _, x := range p.in.list(n, "depends_on") {
		v := p.in.id(x, "an item of depends_on")
		if v == "" || seen[v] {
			continue // named twice counts once
		}
		seen[v] = true
		p.spec.DependsOn = append(p.spec.DependsOn, v)
		p.spec.deps = append(p.spec.deps, x.Line+p.in.offset)
	}
}

func (p portReader) timeout(n *yaml.Node) {
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < 0 || v > longestTimeout {
		p.in.at(n, "timeout is %s; write a duration up to 120h, e.g. 30m or 1h30m, or 0 for none", kindOf(n))
		return
	}
	p.spec.Timeout = &v
}

func (p portReader) maxIterations(n *yaml.Node) {
	if v, ok := p.in.whole(n, "max_iterations", 0, routing.HardCap, ""); ok {
		i := int(v)
		p.spec.MaxIterations = &i
	}
}

func (p portReader) runsOn(n *yaml.Node) {
	for _, v := range p.in.texts(n, "runs_on") {
		if strings.ContainsAny(v, "\n\r") || strings.Contains(v, "${{") {
			p.in.at(n, "runs_on has %q; write labels of a runner, expressions are not evaluated", v)
			continue
		}
		p.spec.RunsOn = append(p.spec.RunsOn, v)
	}
}

var envRE = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (p portReader) env(n *yaml.Node) {
	p.spec.Env = p.in.mapping(n, "env", func(k *yaml.Node) bool {
		switch up := strings.ToUpper(k.Value); {
		case !envRE.MatchString(k.Value):
			p.in.at(k, "env has %q; a name is letters, digits and underscores, beginning with no digit", k.Value)
		case strings.HasPrefix(up, "SWITCHBACK_") || strings.HasPrefix(up, "GITHUB_"):
			p.in.at(k, "env sets %s; names beginning with SWITCHBACK_ and GITHUB_ are set for the worker", k.Value)
		default:
			return true
		}
		return false
	})
}

func (p portReader) paths(n *yaml.Node) {
	for _, v := range p.in.texts(n, "paths") {
		switch parts := strings.Split(strings.TrimPrefix(v, "!"), "/"); {
		case strings.HasPrefix(v, "!"):
			p.in.at(n, "paths has %q; exclusions are not supported, name what belongs to the port", v)
		case strings.HasPrefix(v, "/") || strings.Contains(v, `\`) || slices.Contains(parts, ".."):
			p.in.at(n, "paths has %q; write globs relative to the root of the repository, with /", v)
		case !doublestar.ValidatePattern(v):
			p.in.at(n, "paths has %q, which is no glob; see that every [ and { is closed", v)
		default:
			p.spec.Paths = append(p.spec.Paths, strings.TrimPrefix(v, "./"))
		}
	}
}

func (p portReader) tokenBudget(n *yaml.Node) {
	p.spec.TokenBudget, _ = p.in.whole(n, "token_budget", 0, 1e15, "0 for none")
}

// command reads a command line, several, or a workflow to dispatch.
func (p portReader) command(n *yaml.Node, key string) *Command {
	if n.Kind != yaml.MappingNode {
		if lines := p.in.texts(n, key); len(lines) > 0 {
			return &Command{Run: lines}
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			p.in.at(n, "%s is an empty list; name a command or leave the key out", key)
		}
		return nil
	}
	c := &Command{}
	known := []string{"workflow", "ref", "inputs"}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if seen[k.Value] {
			p.in.at(k, "%s has %q twice; keep one of them", key, k.Value)
			continue
		}
		seen[k.Value] = true
		switch k.Value {
		case "workflow":
			c.Workflow = p.workflow(v, key)
		case "ref":
			c.Ref, _ = p.in.text(v, key+".ref")
		case "inputs":
			c.Inputs = p.inputs(v, key+".inputs")
		default:
			p.in.at(k, "%s has the unknown key %q; %s", key, k.Value, suggest.Hint(k.Value, known))
		}
	}
	if !seen["workflow"] {
		p.in.at(n, "%s names no workflow; write workflow: FILE.yml, or a command as a text", key)
	}
	return c
}

// inputs reads what a workflow is given besides what every worker is given.
func (p portReader) inputs(n *yaml.Node, key string) map[string]string {
	in := p.in.mapping(n, key, func(k *yaml.Node) bool {
		if slices.Contains(ownInputs, k.Value) {
			p.in.at(k, "%s sets %q, which is set for every worker; give it another name", key, k.Value)
			return false
		}
		return true
	})
	if most := mostInputs - len(ownInputs); len(in) > most {
		p.in.at(n, "%s has %d inputs; GitHub takes %d, of which %d are set for every worker, so that %d are left", key, len(in), mostInputs, len(ownInputs), most)
	}
	return in
}

var workflowRE = lazyregexp.New(`^[^/\\\s]+\.ya?ml$`)

func (p portReader) workflow(n *yaml.Node, key string) string {
	v, ok := p.in.text(n, key+".workflow")
	if ok && !workflowRE.MatchString(v) {
		p.in.at(n, "%s.workflow is %s; give the file name alone, e.g. build.yml", key, strconv.Quote(v))
		return ""
	}
	return v
}
