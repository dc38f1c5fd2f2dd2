package config

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing"
)

func sentence(format string, a ...any) string { return fmt.Sprintf(format, a...) }

// lineOf returns the line of what path leads to, or of the last part that exists.
func lineOf(n *yaml.Node, path []any) int {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	line := n.Line
	for _, step := range path {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch s := step.(type) {
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == s {
					line, next = n.Content[i].Line, n.Content[i+1]
				}
			}
		case int:
			if n.Kind == yaml.SequenceNode && s < len(n.Content) {
				next = n.Content[s]
				line = next.Line
			}
		}
		if next == nil {
			return line
		}
		n = next
	}
	return line
}

// find returns the node that path leads to, nil if there is none.
func find(n *yaml.Node, path []any) *yaml.Node {
	for _, step := range append([]any{0}, path...) {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		var next *yaml.Node
		switch s := step.(type) {
		case string:
			for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == s {
					next = n.Content[i+1]
				}
			}
		case int:
			if n.Kind != yaml.MappingNode && s < len(n.Content) {
				next = n.Content[s]
			}
		}
		if next == nil {
			return nil
		}
		n = next
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// keysOf returns the YAML keys of a type of this package by its name.
func keysOf(typeName string) []string {
	var out []string
	var visit func(t reflect.Type)
	seen := map[reflect.Type]bool{}
	visit = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			if t.Name() == typeName {
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
				out = append(out, name)
			}
			visit(t.Field(i).Type)
		}
	}
	visit(reflect.TypeOf(File{}))
	return out
}

func classNames() []string {
	var out []string
	for _, c := range routing.Classes() {
		out = append(out, string(c))
	}
	return out
}

// findCycle returns a circle of needs as names, the first repeated at the end.
func findCycle(cps map[string]Checkpoint) []string {
	const (
		open = 1
		done = 2
	)
	state := map[string]int{}
	var stack []string
	var visit func(n string) []string
	visit = func(n string) []string {
		if state[n] == done {
			return nil
		}
		stack = append(stack, n)
		if state[n] == open {
			for i, s := range stack {
				if s == n {
					return append([]string(nil), stack[i:]...)
				}
			}
		}
		state[n] = open
		for _, d := range cps[n].Needs {
			if c := visit(d); c != nil {
				return c
			}
		}
		state[n] = done
		stack = stack[:len(stack)-1]
		return nil
	}
	for _, n := range keys(cps) {
		if c := visit(n); c != nil {
			return c
		}
	}
	return nil
}
