package plan

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// values reads YAML values of one file, and notes what is wrong with them.
type values struct {
	file     string
	offset   int // lines above the YAML
	problems []Problem
}

func (r *values) add(line int, format string, a ...any) {
	r.problems = append(r.problems, Problem{r.file, line, truncate.Message(fmt.Sprintf(format, a...))})
}

// at notes a problem at a node.
func (r *values) at(n *yaml.Node, format string, a ...any) { r.add(n.Line+r.offset, format, a...) }

// text returns the text of a scalar, whatever it looks like.
func (r *values) text(n *yaml.Node, key string) (string, bool) {
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
func (r *values) list(n *yaml.Node, key string) []*yaml.Node {
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
func (r *values) texts(n *yaml.Node, key string) []string {
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

var idRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$`)

func (r *values) id(n *yaml.Node, key string) string {
	v, ok := r.text(n, key)
	if ok && !idRE.MatchString(v) {
		r.at(n, "%s is %q; use letters, digits, dots, underscores and hyphens, beginning with a letter or digit, at most 80", key, v)
		return ""
	}
	return v
}

// whole returns a whole number between least and most.
func (r *values) whole(n *yaml.Node, key string, least, most int64, remedy string) (int64, bool) {
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

// mapping reads texts by name; fit reports whether a name is taken.
func (r *values) mapping(n *yaml.Node, key string, fit func(*yaml.Node) bool) map[string]string {
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
