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

	"github.com/switchback-ci/switchback/routing/suggest"
	"gopkg.in/yaml.v3"
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
		hint := suggest.Hint(m[1], keysOf(m[2]))
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
