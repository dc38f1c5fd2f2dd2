package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/routing/suggest"
	"github.com/switchback-ci/switchback/routing/truncate"
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

// Advice implements advice.Adviser: somebody has to correct the configuration.
func (e *Error) Advice() advice.Advice {
	return advice.Advice{Kind: advice.Blocked, After: 10 * time.Minute, Reason: "configuration"}
}

// Parse reads a configuration; name is what messages call the file. An empty
// file is the default configuration. The error is an *Error.
func Parse(name string, data []byte) (File, error) {
	var f File
	problems := &problemList{file: name}
	if len(data) > MaxBytes {
		problems.add(0, "it has %d bytes, at most %d are read; remove what repeats defaults, and comments", len(data), MaxBytes)
		return File{}, problems.err()
	}
	var root yaml.Node
	rootErr := yaml.Unmarshal(data, &root)
	doc := document{root: &root, problems: problems}
	if !doc.bounded() {
		return File{}, problems.err()
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		doc.decodeError(err)
	}
	var more yaml.Node
	if err := dec.Decode(&more); err == nil {
		problems.add(more.Line, "a second document; keep one, without ---")
	}
	if rootErr == nil {
		doc.values(&root, nil)
		doc.whole(&root, reflect.TypeOf(f), "")
		checker{root: &root, problems: problems}.check(f)
	}
	if err := problems.err(); err != nil {
		return File{}, err
	}
	return f, nil
}

// mostProblems is how many problems of a file are listed.
const mostProblems = 50

// problemList collects the problems of a file.
type problemList struct {
	file string
	list []Problem
	more int // problems beyond those
}

// add lists a problem at a line, 0 for one of the whole file.
func (l *problemList) add(line int, format string, a ...any) {
	if !l.full() {
		l.list = append(l.list, Problem{l.file, line, truncate.Message(fmt.Sprintf(format, a...))})
	}
}

// full reports whether no further problem is listed. If so, it counts one.
func (l *problemList) full() bool {
	if len(l.list) < mostProblems {
		return false
	}
	l.more++
	return true
}

// err returns the problems in order of lines as an *Error, nil if there are none.
func (l *problemList) err() error {
	if len(l.list) == 0 {
		return nil
	}
	sort.SliceStable(l.list, func(i, j int) bool { return l.list[i].Line < l.list[j].Line })
	if l.more > 0 {
		l.list = append(l.list, Problem{l.file, 0, fmt.Sprintf("and %d further problems", l.more)})
	}
	return &Error{l.list}
}

// document checks how the YAML is written, whatever its keys mean.
type document struct {
	root     *yaml.Node
	problems *problemList
}

// values refuses keys without value, which read like a setting and are none.
// A checkpoint may stand there by its name alone.
func (d document) values(n *yaml.Node, path []string) {
	if len(path) > 8 {
		return
	}
	switch n.Kind {
	case yaml.DocumentNode, yaml.SequenceNode:
		for _, x := range n.Content {
			d.values(x, path)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			byName := len(path) == 1 && path[0] == "checkpoints"
			input := len(path) > 0 && path[len(path)-1] == "inputs" // may well be empty
			empty := v.Tag == "!!null" && !byName || v.Kind == yaml.ScalarNode && v.Value == "" && v.Tag == "!!str"
			if empty && !input {
				d.problems.add(k.Line, "%q has no value; give it one or leave the key out", k.Value)
			}
			d.values(v, append(path[:len(path):len(path)], k.Value))
		}
	}
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

func (d document) decodeError(err error) {
	var te *yaml.TypeError
	if !errors.As(err, &te) {
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if strings.HasSuffix(msg, "cannot start any token") {
			msg += "; if it is a tab, indent with blanks"
		}
		if m := typeErrorRE.FindStringSubmatch(msg); m != nil {
			n, _ := strconv.Atoi(m[1])
			d.problems.add(n, "not valid YAML: %s", m[2])
			return
		}
		d.problems.add(0, "not valid YAML: %s", msg)
		return
	}
	for _, e := range te.Errors {
		if d.problems.full() {
			continue
		}
		m := typeErrorRE.FindStringSubmatch(e)
		if m == nil {
			d.problems.add(0, "%s", e)
			continue
		}
		n, _ := strconv.Atoi(m[1])
		text := explain(m[2])
		if key := d.keyOf(n, m[2]); key != "" {
			text = key + ": " + text
		}
		d.problems.add(n, "%s", text)
	}
}

// keyOf returns the key whose value on a line has the wrong type that msg
// tells of, "" if it is none or one of several.
func (d document) keyOf(line int, msg string) string {
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
	walk(d.root)
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
		if m[3] == "config.QuarantinedTest" {
			return fmt.Sprintf("%s has no date; every quarantine ends: write {test: %s, until: YYYY-MM-DD}, a day at most %d days ahead", what, cmp.Or(m[2], "NAME"), MaxQuarantineDays)
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
func (d document) whole(n *yaml.Node, t reflect.Type, key string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.DocumentNode && len(n.Content) > 0:
		d.whole(n.Content[0], t, "")
	case n.Kind == yaml.ScalarNode && t.Kind() == reflect.Int && n.Tag == "!!float":
		if len(n.Value) > 15 {
			return // too large, which the decoder says
		}
		d.problems.add(n.Line, "%s: %q is not a whole number", key, n.Value)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, x := range n.Content {
			d.whole(x, t.Elem(), key)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if e := valueType(t, n.Content[i].Value); e != nil {
				d.whole(n.Content[i+1], e, n.Content[i].Value)
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
