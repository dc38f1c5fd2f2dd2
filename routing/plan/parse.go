package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/routing/truncate"
	"gopkg.in/yaml.v3"
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
	r := &reader{file: f.Name}
	data := bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))
	if i := notText(data); i >= 0 {
		r.add(1+bytes.Count(data[:i], []byte("\n")), "byte 0x%02x is no text; write the file in UTF-8", data[i])
		return nil, r.problems
	}
	switch strings.ToLower(path.Ext(f.Name)) {
	case ".md", ".markdown":
		r.markdown(string(data))
	case ".yml", ".yaml":
		r.documents(data, func(n *yaml.Node) { r.ports(n, true) })
	default:
		r.add(0, "is neither Markdown (.md) nor YAML (.yml, .yaml)")
	}
	return r.specs, r.problems
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

type reader struct {
	file     string
	offset   int // lines above the YAML
	specs    []Spec
	problems []Problem
}

func (r *reader) add(line int, format string, a ...any) {
	r.problems = append(r.problems, Problem{r.file, line, truncate.Message(fmt.Sprintf(format, a...))})
}

// at notes a problem at a node.
func (r *reader) at(n *yaml.Node, format string, a ...any) { r.add(n.Line+r.offset, format, a...) }

// markdown reads a port whose keys stand between two lines of three dashes.
func (r *reader) markdown(text string) {
	front, body, err := split(text)
	if err != nil {
		r.add(1, "%v", err)
		return
	}
	r.offset = 1
	r.documents([]byte(front), func(n *yaml.Node) {
		before := len(r.specs)
		r.ports(n, false)
		if len(r.specs) == before {
			return
		}
		s := &r.specs[before]
		if s.lines["brief"] > 0 {
			r.add(s.lines["brief"], "brief goes with YAML only; the text below the front matter is the brief")
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

var syntaxRE = regexp.MustCompile(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

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
				line += r.offset
			}
			remedy := ""
			if strings.Contains(m[2], "tab character") || strings.Contains(m[2], "cannot start any token") {
				remedy = "; indent with spaces, YAML takes no tabs, and quote a text that begins with @, ` or %"
			}
			r.add(line, "not valid YAML: %s%s", m[2], remedy)
			return
		}
		if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
			continue
		}
		found = true
		if a := alias(doc.Content[0]); a != nil {
			// One list that every port repeats by its name would make a plan of
			// billions of edges out of a small file.
			r.at(a, "*%s: aliases are not supported; write the value out", a.Value)
			continue
		}
		each(doc.Content[0])
	}
	if !found {
		r.add(1, "is empty; a port needs at least an id")
	}
}

// ports reads one port, or a list of them where that is allowed.
func (r *reader) ports(n *yaml.Node, several bool) {
	switch {
	case n.Kind == yaml.MappingNode && several && len(n.Content) == 2 && n.Content[0].Value == "ports":
		list := n.Content[1]
		if list.Kind != yaml.SequenceNode {
			r.at(n.Content[0], "ports is not a list; write each port with a leading dash")
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
		r.at(n, "is not a mapping of keys to values; write e.g. id: api")
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
