package plan

import (
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/suggest"
)

// File is one file of a plan as it was read.
type File struct {
	Name string // as messages call it; the ending tells Markdown from YAML
	Data []byte
}

// Parse reads the ports of one file: Markdown with YAML front matter is one
// port, YAML one or several (documents, a list, or a list below "ports"). It
// returns what could be read, with everything that is wrong.
func Parse(f File) ([]Spec, []Problem) {
	r := &reader{in: &values{file: f.Name}}
	data := bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	if i := notText(data); i >= 0 {
		r.in.add(1+bytes.Count(data[:i], []byte("\n")), "byte 0x%02x is no text; write the file in UTF-8", data[i])
		return nil, r.in.problems
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".md", ".markdown":
		r.markdown(string(data))
	case ".yml", ".yaml":
		r.documents(data, func(n *yaml.Node) { r.ports(n, true) })
	default:
		r.in.add(0, "is neither Markdown (.md) nor YAML (.yml, .yaml)")
	}
	return r.specs, r.in.problems
}

// notText returns where the first byte is that is no part of a text in UTF-8,
// -1 if there is none.
func notText(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// reader reads the ports of one file.
type reader struct {
	in    *values
	specs []Spec
}

// markdown reads a port whose keys stand between two lines of three dashes.
func (r *reader) markdown(text string) {
	front, body, err := split(text)
	if err != nil {
		r.in.add(1, "%v", err)
		return
	}
	r.in.offset = 1
	r.documents([]byte(front), func(n *yaml.Node) {
		before := len(r.specs)
		r.ports(n, false)
		if len(r.specs) == before {
			return
		}
		s := &r.specs[before]
		if s.lines["brief"] > 0 {
			r.in.add(s.lines["brief"], "brief goes with YAML only; the text below the front matter is the brief")
		}
		s.Brief = strings.TrimSpace(body)
	})
}

var (
	errNoFront = errors.New("no front matter; begin the file with a line ---, the keys (id: …), and a line ---")
	errOpen    = errors.New("the front matter does not end; close it with a line ---")
)

// split takes front matter and body of a Markdown file apart.
func split(text string) (front, body string, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != "---" {
		return "", "", errNoFront
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		if l := strings.TrimRight(line, " \t"); l == "---" || l == "..." {
			return rest[:at], rest[min(len(rest), at+len(line)+1):], nil
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", errOpen
}

// HasFrontMatter reports whether a text begins like a port in Markdown; a
// README beside the ports does not.
func HasFrontMatter(data []byte) bool {
	_, _, err := split(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	return !errors.Is(err, errNoFront)
}

var syntaxRE = lazyregexp.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// documents calls each for the root of every document.
func (r *reader) documents(data []byte, each func(*yaml.Node)) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	found := false
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			m := syntaxRE.FindStringSubmatch(err.Error())
			if m == nil {
				m = []string{"", "", err.Error()}
			}
			line, _ := strconv.Atoi(m[1])
			if line > 0 {
				line += r.in.offset
			}
			remedy := ""
			if strings.Contains(m[2], "tab character") || strings.Contains(m[2], "cannot start any token") {
				remedy = "; indent with spaces, YAML takes no tabs, and quote a text that begins with @, ` or %"
			}
			r.in.add(line, "not valid YAML: %s%s", m[2], remedy)
			return
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue
		}
		found = true
		if a := alias(doc.Content[0]); a != nil {
			// One list that every port repeats by its name would make a plan of
			// billions of edges out of a small file.
			r.in.at(a, "*%s: aliases are not supported; write the value out", a.Value)
			continue
		}
		each(doc.Content[0])
	}
	if !found {
		r.in.add(1, "is empty; a port needs at least an id")
	}
}

// ports reads one port, or a list of them where that is allowed.
func (r *reader) ports(n *yaml.Node, several bool) {
	switch {
	case n.Kind == yaml.MappingNode && several && len(n.Content) == 2 && n.Content[0].Value == "ports":
		list := n.Content[1]
		if list.Kind != yaml.SequenceNode {
			r.in.at(n.Content[0], "ports is not a list; write each port with a leading dash")
			return
		}
		r.ports(list, true)
	case n.Kind == yaml.MappingNode:
		r.port(n)
	case n.Kind == yaml.SequenceNode && several:
		for _, x := range n.Content {
			r.ports(x, false)
		}
	default:
		r.in.at(n, "is not a mapping of keys to values; write e.g. id: api")
	}
}

// alias returns the first alias below n, nil if there is none.
func alias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n
	}
	for _, x := range n.Content {
		if a := alias(x); a != nil {
			return a
		}
	}
	return nil
}

// port reads one port from its mapping.
func (r *reader) port(n *yaml.Node) {
	s := Spec{File: r.in.file, Line: n.Line + r.in.offset, Status: Pending, Priority: DefaultPriority, lines: map[string]int{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if before := s.lines[k.Value]; before > 0 {
			r.in.at(k, "key %q stands in line %d already; keep one of them", k.Value, before)
			continue
		}
		s.lines[k.Value] = k.Line + r.in.offset
		j := slices.Index(keyNames, k.Value)
		switch {
		case k.Tag == "!!merge":
			r.in.at(k, "merging keys (<<) is not supported; write them out")
		case j < 0:
			r.in.at(k, "unknown key %q; %s", k.Value, suggest.Hint(k.Value, keyNames))
		case v.Tag == "!!null" || v.Kind == yaml.ScalarNode && strings.TrimSpace(v.Value) == "":
			r.in.at(k, "%s has no value; give it one or leave the key out", k.Value)
		default:
			keyReaders[j].read(portReader{r.in, &s}, v)
		}
	}
	if s.lines["id"] == 0 {
		r.in.add(s.Line, "id is missing; give the port a short name, e.g. id: api")
	} else {
		s.Line = s.lines["id"]
	}
	r.specs = append(r.specs, s)
}
