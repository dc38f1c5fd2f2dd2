package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

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
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		c.decodeError(err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		c.addLine(more.Line, "a second document; keep one, without ---")
	}
	_ = yaml.Unmarshal(data, &c.root)
	if len(c.problems) == 0 {
		c.check(f)
	}
	if len(c.problems) > 0 {
		sort.SliceStable(c.problems, func(i, j int) bool { return c.problems[i].Line < c.problems[j].Line })
		return File{}, &Error{c.problems}
	}
	return f, nil
}

type checker struct {
	name     string
	root     yaml.Node
	problems []Problem
}

func (c *checker) addLine(line int, format string, a ...any) {
	c.problems = append(c.problems, Problem{c.name, line, fmt.Sprintf(format, a...)})
}

// add notes a problem at the line of the key or item that path leads to.
func (c *checker) add(path []any, format string, a ...any) {
	c.addLine(lineOf(&c.root, path), format, a...)
}

var (
	typeErrorRE = regexp.MustCompile(`^line (\d+): (.*)$`)
	unknownRE   = regexp.MustCompile(`^field (\S+) not found in type config\.(\S+)$`)
	wrongTypeRE = regexp.MustCompile("^cannot unmarshal !!(\\w+) `?(.*?)`? into (.*)$")
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
		m := typeErrorRE.FindStringSubmatch(e)
		if m == nil {
			c.addLine(0, "%s", e)
			continue
		}
		n, _ := strconv.Atoi(m[1])
		c.addLine(n, "%s", explain(m[2]))
	}
}

// explain turns a message of the YAML decoder into one for people.
func explain(msg string) string {
	if m := unknownRE.FindStringSubmatch(msg); m != nil {
		hint := nearest(m[1], keysOf(m[2]))
		return fmt.Sprintf("unknown key %q; %s", m[1], hint)
	}
	if m := wrongTypeRE.FindStringSubmatch(msg); m != nil {
		return fmt.Sprintf("%q is not %s", m[2], article(m[3]))
	}
	return msg
}

func article(goType string) string {
	switch {
	case strings.HasSuffix(goType, "int"):
		return "a whole number"
	case strings.HasSuffix(goType, "bool"):
		return "true or false"
	case strings.HasPrefix(goType, "[]"):
		return "a list; write each item on a line of its own with a leading dash"
	case strings.HasPrefix(goType, "map"), strings.HasPrefix(goType, "config."):
		return "a mapping of keys to values"
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
	for _, ref := range keys(f.Cases) {
		if !regexp.MustCompile(`^(#\d+|@\S+)$`).MatchString(ref) {
			c.add([]any{"cases", ref}, "case %q is neither a pull request (\"#12\") nor a branch (\"@main\")", ref)
		}
		c.limit([]any{"cases", ref, "max_iterations"}, f.Cases[ref].MaxIterations)
	}
	for i, h := range f.Handover {
		c.handover([]any{"handover", i}, h)
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
	c.criteria([]any{"criteria"}, f.Criteria)
	c.checkpoints(f)
	c.rules(f.Rules)
}

func (c *checker) criteria(path []any, cr Criteria) {
	for _, k := range []struct {
		name string
		v    *int
	}{{"min_tests", cr.MinTests}, {"max_skipped", cr.MaxSkipped}, {"max_flaky", cr.MaxFlaky}} {
		if k.v != nil && *k.v < 0 {
			c.add(append(path, k.name), "%s is %d; it must not be negative", k.name, *k.v)
		}
	}
}

func (c *checker) checkpoints(f File) {
	for _, name := range keys(f.Checkpoints) {
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
			if _, ok := f.Checkpoints[n]; !ok {
				c.add(append(path, "needs", i), "checkpoint %q needs %q, which is not among the checkpoints; %s", name, n, nearest(n, keys(f.Checkpoints)))
			}
		}
	}
	if cycle := findCycle(f.Checkpoints); cycle != nil {
		c.add([]any{"checkpoints", cycle[0], "needs"}, "the checkpoints need each other in a circle: %s", strings.Join(cycle, " → "))
	}
}

func (c *checker) rules(rules []Rule) {
	seen := map[string]bool{}
	for i, r := range rules {
		path := []any{"rules", i}
		if strings.TrimSpace(r.Name) == "" {
			c.add(path, "a rule without name; give it one")
		} else if seen[r.Name] {
			c.add(append(path, "name"), "a second rule named %q; names are shown as evidence and must differ", r.Name)
		}
		seen[r.Name] = true
		if r.Pattern == "" {
			c.add(path, "rule %q has no pattern", r.Name)
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
