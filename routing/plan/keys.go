package plan

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// keyReaders read the value of each key, in the order they are listed to people.
var keyReaders = []struct {
	name string
	read func(r *reader, s *Spec, n *yaml.Node)
}{
	{"id", func(r *reader, s *Spec, n *yaml.Node) { s.ID = r.id(n, "id") }},
	{"title", func(r *reader, s *Spec, n *yaml.Node) { s.Title, _ = r.text(n, "title") }},
	{"status", (*reader).status},
	{"priority", (*reader).priority},
	{"depends_on", (*reader).dependsOn},
	{"parent", func(r *reader, s *Spec, n *yaml.Node) { s.Parent = r.id(n, "parent") }},
	{"impl", func(r *reader, s *Spec, n *yaml.Node) { s.Impl = r.command(n, "impl") }},
	{"test", func(r *reader, s *Spec, n *yaml.Node) { s.Test = r.command(n, "test") }},
	{"timeout", (*reader).timeout},
	{"max_iterations", (*reader).maxIterations},
	{"runs_on", (*reader).runsOn},
	{"env", (*reader).env},
	{"paths", (*reader).paths},
	{"token_budget", (*reader).tokenBudget},
	{"brief", func(r *reader, s *Spec, n *yaml.Node) {
		text, _ := r.text(n, "brief")
		s.Brief = strings.TrimSpace(text)
	}},
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

// port reads one port from its mapping.
func (r *reader) port(n *yaml.Node) {
	s := Spec{File: r.file, Line: n.Line + r.offset, Status: Pending, Priority: DefaultPriority, lines: map[string]int{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if before := s.lines[k.Value]; before > 0 {
			r.at(k, "key %q stands in line %d already; keep one of them", k.Value, before)
			continue
		}
		s.lines[k.Value] = k.Line + r.offset
		j := slices.Index(keyNames, k.Value)
		switch {
		case k.Tag == "!!merge":
			r.at(k, "merging keys (<<) is not supported; write them out")
		case j < 0:
			r.at(k, "unknown key %q; %s", k.Value, suggest.Hint(k.Value, keyNames))
		case v.Tag == "!!null" || v.Kind == yaml.ScalarNode && strings.TrimSpace(v.Value) == "":
			r.at(k, "%s has no value; give it one or leave the key out", k.Value)
		default:
			keyReaders[j].read(r, &s, v)
		}
	}
	if s.lines["id"] == 0 {
		r.add(s.Line, "id is missing; give the port a short name, e.g. id: api")
	} else {
		s.Line = s.lines["id"]
	}
	r.specs = append(r.specs, s)
}

// text returns the text of a scalar, whatever it looks like.
func (r *reader) text(n *yaml.Node, key string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.at(n, "%s is %s; write a text", key, kindOf(n))
		return "", false
	}
	if strings.ContainsRune(n.Value, 0) {
		// No environment and no command line can hold one.
		r.at(n, "%s is %s, which has a NUL; leave it out", key, kindOf(n))
		return "", false
	}
	return n.Value, true
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	}
	return fmt.Sprintf("%q", n.Value)
}

// list returns the items of a list; a text alone is a list of one.
func (r *reader) list(n *yaml.Node, key string) []*yaml.Node {
	if n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	if n.Kind != yaml.SequenceNode {
		r.at(n, "%s is %s; write a list, each item with a leading dash", key, kindOf(n))
		return nil
	}
	return n.Content
}

// texts returns the texts of a list, without empty ones, which it reports.
func (r *reader) texts(n *yaml.Node, key string) []string {
	var out []string
	for _, x := range r.list(n, key) {
		v, ok := r.text(x, "an item of "+key)
		if ok && strings.TrimSpace(v) == "" {
			r.at(x, "an item of %s is empty; give it a value or leave it out", key)
		} else if ok {
			out = append(out, v)
		}
	}
	return out
}

var idRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`)

func (r *reader) id(n *yaml.Node, key string) string {
	v, ok := r.text(n, key)
	if ok && !idRE.MatchString(v) {
		r.at(n, "%s is %q; use letters, digits, dots, underscores and hyphens, beginning with a letter or digit, at most 80", key, v)
		return ""
	}
	return v
}

func (r *reader) status(s *Spec, n *yaml.Node) {
	v, ok := r.text(n, "status")
	if !ok {
		return
	}
	if s.Status = statuses[v]; s.Status == "" {
		s.Status = Pending
		r.at(n, "status is %q; %s", v, suggest.Hint(v, slices.Sorted(maps.Keys(statuses))))
	}
}

// mostPriority is the largest number that people may order ports by.
const mostPriority = 1_000_000

func (r *reader) priority(s *Spec, n *yaml.Node) {
	if v, ok := priorities[n.Value]; ok && n.Kind == yaml.ScalarNode {
		s.Priority = v
		return
	}
	if v, ok := r.whole(n, "priority", 0, mostPriority, "or critical, high, medium, low; a lower number runs first"); ok {
		s.Priority = int(v)
	}
}

// whole returns a whole number between least and most.
func (r *reader) whole(n *yaml.Node, key string, least, most int64, remedy string) (int64, bool) {
	var v int64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&v) != nil || v < least || v > most {
		if remedy != "" {
			remedy = ", " + remedy
		}
		r.at(n, "%s is %s; write a whole number from %d to %d%s", key, kindOf(n), least, most, remedy)
		return 0, false
	}
	return v, true
}

func (r *reader) dependsOn(s *Spec, n *yaml.Node) {
	seen := map[string]bool{}
	if n.Kind == yaml.ScalarNode && strings.ContainsAny(n.Value, ", ") {
		if names := strings.FieldsFunc(n.Value, func(c rune) bool { return c == ',' || c == ' ' }); !slices.ContainsFunc(names, func(v string) bool { return !idRE.MatchString(v) }) {
			r.at(n, "depends_on is %s, which is one text; write a list: [%s]", kindOf(n), strings.Join(names, ", "))
			return
		}
	}
	for _, x := range r.list(n, "depends_on") {
		v := r.id(x, "an item of depends_on")
		if v == "" || seen[v] {
			continue // named twice counts once
		}
		seen[v] = true
		s.DependsOn = append(s.DependsOn, v)
		s.deps = append(s.deps, x.Line+r.offset)
	}
}

func (r *reader) timeout(s *Spec, n *yaml.Node) {
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < 0 || v > longestTimeout {
		r.at(n, "timeout is %s; write a duration up to 120h, e.g. 30m or 1h30m, or 0 for none", kindOf(n))
		return
	}
	s.Timeout = &v
}

func (r *reader) maxIterations(s *Spec, n *yaml.Node) {
	if v, ok := r.whole(n, "max_iterations", 0, routing.HardCap, ""); ok {
		i := int(v)
		s.MaxIterations = &i
	}
}

func (r *reader) runsOn(s *Spec, n *yaml.Node) {
	for _, v := range r.texts(n, "runs_on") {
		if strings.ContainsAny(v, "\n\r") || strings.Contains(v, "${{") {
			r.at(n, "runs_on has %q; write labels of a runner, expressions are not evaluated", v)
			continue
		}
		s.RunsOn = append(s.RunsOn, v)
	}
}

var envRE = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (r *reader) env(s *Spec, n *yaml.Node) {
	s.Env = r.mapping(n, "env", func(k *yaml.Node) bool {
		switch up := strings.ToUpper(k.Value); {
		case !envRE.MatchString(k.Value):
			r.at(k, "env has %q; a name is letters, digits and underscores, beginning with no digit", k.Value)
		case strings.HasPrefix(up, "SWITCHBACK_") || strings.HasPrefix(up, "GITHUB_"):
			r.at(k, "env sets %s; names beginning with SWITCHBACK_ and GITHUB_ are set for the worker", k.Value)
		default:
			return true
		}
		return false
	})
}

// mapping reads texts by name; fit reports whether a name is taken.
func (r *reader) mapping(n *yaml.Node, key string, fit func(*yaml.Node) bool) map[string]string {
	if n.Kind != yaml.MappingNode {
		r.at(n, "%s is %s; write a mapping of names to values", key, kindOf(n))
		return nil
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if _, twice := out[k.Value]; twice {
			r.at(k, "%s has %q twice; keep one of them", key, k.Value)
			continue
		}
		if !fit(k) {
			continue
		}
		if v.Tag == "!!null" {
			r.at(k, "%s has no value for %s; write \"\" for an empty one", key, k.Value)
			continue
		}
		if t, ok := r.text(v, key+"."+k.Value); ok {
			out[k.Value] = t
		}
	}
	return out
}

func (r *reader) paths(s *Spec, n *yaml.Node) {
	for _, v := range r.texts(n, "paths") {
		switch parts := strings.Split(strings.TrimPrefix(v, "!"), "/"); {
		case strings.HasPrefix(v, "!"):
			r.at(n, "paths has %q; exclusions are not supported, name what belongs to the port", v)
		case strings.HasPrefix(v, "/") || strings.Contains(v, `\`) || slices.Contains(parts, ".."):
			r.at(n, "paths has %q; write globs relative to the root of the repository, with /", v)
		case !doublestar.ValidatePattern(v):
			r.at(n, "paths has %q, which is no glob; see that every [ and { is closed", v)
		default:
			s.Paths = append(s.Paths, strings.TrimPrefix(v, "./"))
		}
	}
}

func (r *reader) tokenBudget(s *Spec, n *yaml.Node) {
	s.TokenBudget, _ = r.whole(n, "token_budget", 0, 1e15, "0 for none")
}

// command reads a command line, several, or a workflow to dispatch.
func (r *reader) command(n *yaml.Node, key string) *Command {
	if n.Kind != yaml.MappingNode {
		if lines := r.texts(n, key); len(lines) > 0 {
			return &Command{Run: lines}
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			r.at(n, "%s is an empty list; name a command or leave the key out", key)
		}
		return nil
	}
	c := &Command{}
	known := []string{"workflow", "ref", "inputs"}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if seen[k.Value] {
			r.at(k, "%s has %q twice; keep one of them", key, k.Value)
			continue
		}
		seen[k.Value] = true
		switch k.Value {
		case "workflow":
			c.Workflow = r.workflow(v, key)
		case "ref":
			c.Ref, _ = r.text(v, key+".ref")
		case "inputs":
			c.Inputs = r.inputs(v, key+".inputs")
		default:
			r.at(k, "%s has the unknown key %q; %s", key, k.Value, suggest.Hint(k.Value, known))
		}
	}
	if !seen["workflow"] {
		r.at(n, "%s names no workflow; write workflow: FILE.yml, or a command as a text", key)
	}
	return c
}

// inputs reads what a workflow is given besides what every worker is given.
func (r *reader) inputs(n *yaml.Node, key string) map[string]string {
	in := r.mapping(n, key, func(k *yaml.Node) bool {
		if slices.Contains(ownInputs, k.Value) {
			r.at(k, "%s sets %q, which is set for every worker; give it another name", key, k.Value)
			return false
		}
		return true
	})
	if most := mostInputs - len(ownInputs); len(in) > most {
		r.at(n, "%s has %d inputs; GitHub takes %d, of which %d are set for every worker, so that %d are left", key, len(in), mostInputs, len(ownInputs), most)
	}
	return in
}

var workflowRE = regexp.MustCompile(`^[^/\\\s]+\.ya?ml$`)

func (r *reader) workflow(n *yaml.Node, key string) string {
	v, ok := r.text(n, key+".workflow")
	if ok && !workflowRE.MatchString(v) {
		r.at(n, "%s.workflow is %s; give the file name alone, e.g. build.yml", key, strconv.Quote(v))
		return ""
	}
	return v
}
