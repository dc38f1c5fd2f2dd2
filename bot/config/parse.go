package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/escalate"

	"github.com/switchback-ci/switchback/routing"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	File    string
	Line    int // 1-based, 0 if it concerns the whole file
	Message string
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s: %s", p.File, p.Message)
}

// Error is all that is wrong with a configuration, in order of lines.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Parse reads a configuration; name is what messages call the file. An empty
// file is the default configuration. The error is an *Error.
func Parse(name string, data []byte) (File, error) {
	var f File
	c := &checker{name: name}
	rootErr := yaml.Unmarshal(data, &c.root)
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		c.decodeError(err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		c.addLine(more.Line, "a second document; keep one, without ---")
	}
	if rootErr == nil {
		c.values(&c.root, nil)
		c.whole(&c.root, reflect.TypeOf(f), "")
		c.check(f)
	}
	return c.result(f)
}

// mostProblems is how many problems of a file are listed.
const mostProblems = 50

type checker struct {
	name     string
	root     yaml.Node
	problems []Problem
	more     int // problems beyond those
}

func (c *checker) result(f File) (File, error) {
	if len(c.problems) == 0 {
		return f, nil
	}
	sort.SliceStable(c.problems, func(i, j int) bool { return c.problems[i].Line < c.problems[j].Line })
	if c.more > 0 {
		c.problems = append(c.problems, Problem{c.name, 0, fmt.Sprintf("and %d further problems", c.more)})
	}
	return File{}, &Error{c.problems}
}

func (c *checker) addLine(line int, format string, a ...any) {
	if len(c.problems) >= mostProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, Problem{c.name, line, shortened(fmt.Sprintf(format, a...))})
}

// shortened returns a message as one line, and cuts it where it quotes much.
func shortened(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= 600 {
		return s
	}
	return strings.ToValidUTF8(s[:400], "") + " … " + strings.ToValidUTF8(s[len(s)-100:], "")
}

// values refuses keys without value, which read like a setting and are none.
// A checkpoint may stand there by its name alone.
func (c *checker) values(n *yaml.Node, path []string) {
	if len(path) > 8 {
		return
	}
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, x := range n.Content {
			c.values(x, path)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			byName := len(path) == 1 && path[0] == "checkpoints"
			input := len(path) > 0 && path[len(path)-1] == "inputs" // may well be empty
			empty := v.Tag == "!!null" && !byName || v.Kind == yaml.ScalarNode && v.Value == "" && v.Tag == "!!str"
			if empty && !input {
				c.addLine(k.Line, "%q has no value; give it one or leave the key out", k.Value)
			}
			c.values(v, append(path[:len(path):len(path)], k.Value))
		}
	}
}

// add notes a problem at the line of the key or item that path leads to.
func (c *checker) add(path []any, format string, a ...any) {
	c.addLine(lineOf(&c.root, path), format, a...)
}

var (
	typeErrorRE = regexp.MustCompile(`(?s)^line (\d+): (.*)$`)
	unknownRE   = regexp.MustCompile(`(?s)^field (.+) not found in type config\.(\S+)$`)
	wrongTypeRE = regexp.MustCompile("(?s)^cannot unmarshal !!?(\\S*)(?: `(.*)`)? into (.*)$")
	doubleRE    = regexp.MustCompile(`(?s)^mapping key (.+) already defined at line (\d+)$`)
)

func lineError(line int, format string, a ...any) string {
	return fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, a...)
}

func (c *checker) decodeError(err error) {
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := typeErrorRE.FindStringSubmatch(msg); m != nil {
			n, _ := strconv.Atoi(m[1])
			c.addLine(n, "not valid YAML: %s", m[2])
			return
		}
		c.addLine(0, "not valid YAML: %s", msg)
		return
	}
	for _, e := range te.Errors {
		if len(c.problems) >= mostProblems {
			c.more++
			continue
		}
		m := typeErrorRE.FindStringSubmatch(e)
		if m == nil {
			c.addLine(0, "%s", e)
			continue
		}
		n, _ := strconv.Atoi(m[1])
		text := explain(m[2])
		if key := c.keyOf(n, m[2]); key != "" {
			text = key + ": " + text
		}
		c.addLine(n, "%s", text)
	}
}

// keyOf returns the key whose value on a line has the wrong type that msg
// tells of, "" if it is none or one of several.
func (c *checker) keyOf(line int, msg string) string {
	m := wrongTypeRE.FindStringSubmatch(msg)
	if m == nil {
		return ""
	}
	kinds := map[string]yaml.Kind{"seq": yaml.SequenceNode, "map": yaml.MappingNode}
	found, n := "", 0
	var walk func(*yaml.Node)
	walk = func(node *yaml.Node) {
		for i, v := range node.Content {
			walk(v)
			if node.Kind != yaml.MappingNode || i%2 == 0 || v.Line != line {
				continue
			}
			kind, nested := kinds[m[1]]
			if nested && v.Kind == kind || !nested && v.Kind == yaml.ScalarNode && strings.HasPrefix(v.Value, strings.TrimSuffix(m[2], "...")) {
				found = node.Content[i-1].Value
				n++
			}
		}
	}
	walk(&c.root)
	if n != 1 {
		return ""
	}
	return found
}

// explain turns a message of the YAML decoder into one for people.
func explain(msg string) string {
	if m := unknownRE.FindStringSubmatch(msg); m != nil {
		hint := nearest(m[1], keysOf(m[2]))
		return fmt.Sprintf("unknown key %q; %s", m[1], hint)
	}
	if m := wrongTypeRE.FindStringSubmatch(msg); m != nil {
		what := fmt.Sprintf("%q", m[2])
		if name, ok := map[string]string{"seq": "a list", "map": "a mapping"}[m[1]]; ok {
			what = name
		}
		return fmt.Sprintf("%s is not %s", what, article(m[3]))
	}
	if m := doubleRE.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("key %s stands in line %s already; keep one of them", m[1], m[2])
	}
	return msg
}

func article(goType string) string {
	switch {
	case strings.HasPrefix(goType, "[]"):
		return "a list; write each item on a line of its own with a leading dash"
	case strings.HasPrefix(goType, "map"), strings.HasPrefix(goType, "config."):
		return "a mapping of keys to values"
	case strings.HasSuffix(goType, "int"):
		return "a whole number"
	case strings.HasSuffix(goType, "bool"):
		return "true or false"
	}
	return "a text"
}

func (c *checker) check(f File) {
	c.oneOf([]any{"language"}, f.Language, "en", "ko")
	c.oneOf([]any{"on_max"}, f.OnMax, "manual", "error", "skip")
	c.oneOf([]any{"pause_scope"}, f.PauseScope, "checkpoint", "case")
	c.oneOf([]any{"mode"}, f.Mode, "auto", "manual")
	if f.Version != 0 && f.Version != 1 {
		c.add([]any{"version"}, "version %d is not known; write 1 or leave it out", f.Version)
	}
	c.limit([]any{"max_iterations"}, f.MaxIterations)
	if f.MaxActions != nil && (*f.MaxActions < 1 || *f.MaxActions > 1000) {
		c.add([]any{"max_actions"}, "max_actions is %d; it must be 1 to 1000", *f.MaxActions)
	}
	for i, name := range f.Quarantine {
		if strings.TrimSpace(name) == "" {
			c.add([]any{"quarantine", i}, "quarantine[%d] names no test", i)
		}
	}
	for _, ref := range keys(f.Cases) {
		if !regexp.MustCompile(`^(#\d+|@\S+)$`).MatchString(ref) {
			c.add([]any{"cases", ref}, "case %q is neither a pull request (\"#12\") nor a branch (\"@main\")", ref)
		}
		if f.Cases[ref].MaxIterations == nil {
			c.add([]any{"cases", ref}, "case %q overrides nothing; write max_iterations", ref)
		}
		c.limit([]any{"cases", ref, "max_iterations"}, f.Cases[ref].MaxIterations)
	}
	for i, h := range f.Handover {
		if c.has(len(f.Handover), "handover") {
			c.handover([]any{"handover", i}, h)
		}
	}
	if f.Reviewer != nil {
		c.handover([]any{"reviewer"}, *f.Reviewer)
	}
	for _, sev := range keys(f.Review.FailOn) {
		c.oneOf([]any{"review", "fail_on", sev}, sev, "blocker", "critical", "major", "minor")
		if f.Review.FailOn[sev] < 0 {
			c.add([]any{"review", "fail_on", sev}, "fail_on.%s is %d; it must be 0 (never) or more", sev, f.Review.FailOn[sev])
		}
	}
	c.oneOf([]any{"answers", "permission"}, f.Answers.Permission, "triage", "write", "maintain", "admin")
	for i, id := range f.Answers.Apps {
		if id < 1 {
			c.add([]any{"answers", "apps", i}, "%d is no id of an App; it is the number on its settings page", id)
		}
	}
	c.criteria([]any{"criteria"}, f.Criteria)
	c.escalation(f.Escalation)
	c.feedback(f.Feedback)
	c.ports(f.Ports)
	c.checkpoints(f)
	c.rules(f.Rules)
}

func (c *checker) escalation(e EscalationSettings) {
	if n := e.MaxIssues; n != nil && (*n < 1 || *n > 50) {
		c.add([]any{"escalation", "max_issues"}, "max_issues is %d; it must be 1 to 50", *n)
	}
	var types []string
	for _, t := range escalate.Types() {
		types = append(types, string(t))
	}
	for _, t := range keys(e.AutoResolve) {
		c.oneOf([]any{"escalation", "auto_resolve", t}, t, types...)
	}
}

func (c *checker) criteria(path []any, cr Criteria) {
	for _, k := range []struct {
		name string
		v    *int
	}{{"min_tests", cr.MinTests}, {"max_skipped", cr.MaxSkipped}, {"max_flaky", cr.MaxFlaky}, {"max_drop", cr.MaxDrop}} {
		if k.v != nil && *k.v < 0 {
			c.add(append(path, k.name), "%s is %d; it must not be negative", k.name, *k.v)
		}
	}
	if d := cr.MaxDrop; d != nil && *d > 100 {
		c.add(append(path, "max_drop"), "max_drop is %d; it is per cent, 0 to 100", *d)
	}
}

func (c *checker) checkpoints(f File) {
	names := keys(f.Checkpoints)
	for _, name := range names {
		cp := f.Checkpoints[name]
		path := []any{"checkpoints", name}
		c.limit(append(path, "max_iterations"), cp.MaxIterations)
		if cp.Criteria != nil {
			c.criteria(append(path, "criteria"), *cp.Criteria)
		}
		if cp.Start != nil {
			c.handover(append(path, "start"), *cp.Start)
		}
		for i, n := range cp.Needs {
			switch _, ok := f.Checkpoints[n]; {
			case ok:
			case len(c.problems) >= mostProblems:
				c.more++
			case c.has(len(cp.Needs), "checkpoints", name, "needs"):
				c.add(append(path, "needs", i), "checkpoint %q needs %q, which is not among the checkpoints; %s", name, n, nearest(n, names))
			}
		}
	}
	if cycle := findCycle(f.Checkpoints); cycle != nil {
		c.add([]any{"checkpoints", cycle[0], "needs"}, "the checkpoints need each other in a circle: %s; remove one of these needs", strings.Join(cycle, " → "))
	}
}

func (c *checker) rules(rules []Rule) {
	seen := map[string]bool{}
	if !c.has(len(rules), "rules") {
		return
	}
	for i, r := range rules {
		path := []any{"rules", i}
		if strings.TrimSpace(r.Name) == "" {
			c.add(path, "a rule without name; give it one")
		} else if seen[r.Name] {
			c.add(append(path, "name"), "a second rule named %q; names are shown as evidence and must differ", r.Name)
		}
		seen[r.Name] = true
		if r.Pattern == "" {
			c.add(path, "rule %q has no pattern; give it a regular expression", r.Name)
		} else if _, err := regexp.Compile(r.Pattern); err != nil {
			c.add(append(path, "pattern"), "rule %q: %v; the syntax is RE2", r.Name, err)
		}
		if r.Class == string(routing.Flaky) {
			c.add(append(path, "class"), "rule %q: FLAKY needs a test that failed and passed on one commit, no pattern can show it", r.Name)
		} else if !routing.Class(r.Class).Valid() {
			c.add(append(path, "class"), "rule %q: class %q is not known; %s", r.Name, r.Class, nearest(r.Class, classNames()))
		}
	}
}

// whole refuses fractions where a whole number is wanted, of which the decoder
// would take the whole part without a word. key is the one that n stands behind.
func (c *checker) whole(n *yaml.Node, t reflect.Type, key string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		c.whole(n.Content[0], t, "")
	case n.Kind == yaml.ScalarNode && t.Kind() == reflect.Int && n.Tag == "!!float":
		if len(n.Value) > 15 {
			return // too large, which the decoder says
		}
		c.addLine(n.Line, "%s: %q is not a whole number", key, n.Value)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, x := range n.Content {
			c.whole(x, t.Elem(), key)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if e := valueType(t, n.Content[i].Value); e != nil {
				c.whole(n.Content[i+1], e, n.Content[i].Value)
			}
		}
	}
}

// valueType returns the type of the value of a key, nil if t has no such key.
func valueType(t reflect.Type, key string) reflect.Type {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem()
	case reflect.Struct:
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name == key {
				return t.Field(i).Type
			}
		}
	}
	return nil
}

// has reports whether the list that path leads to has n items: of a list with
// items of a wrong type the others are no longer where they stand.
func (c *checker) has(n int, path ...any) bool {
	at := find(&c.root, path)
	return at != nil && at.Kind == yaml.SequenceNode && len(at.Content) == n
}

func (c *checker) limit(path []any, n *int) {
	if n != nil && (*n < 0 || *n > routing.HardCap) {
		c.add(path, "max_iterations is %d; it must be 0 (hand back nothing) to %d", *n, routing.HardCap)
	}
}

func (c *checker) oneOf(path []any, got string, want ...string) {
	for _, w := range want {
		if got == w || got == "" {
			return
		}
	}
	c.add(path, "%v is %q; it must be one of %s", path[len(path)-1], got, strings.Join(want, ", "))
}

func (c *checker) handover(path []any, h Handover) {
	set := 0
	for _, s := range []string{h.Mention, h.Workflow, h.Dispatch, h.Label} {
		if s != "" {
			set++
		}
	}
	if set != 1 {
		c.add(path, "name exactly one of mention, workflow, repository_dispatch, label; %d are named", set)
	}
	if h.Workflow == "" && (h.Ref != "" || len(h.Inputs) > 0) {
		c.add(path, "ref and inputs go with workflow only")
	}
	if h.Workflow != "" && strings.ContainsAny(h.Workflow, "/\\") {
		c.add(append(path, "workflow"), "workflow %q; give the file name alone, without its folder", h.Workflow)
	}
}
