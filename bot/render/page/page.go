// Package page prints Markdown from templates. What a template prints passes through the functions
// of package markdown: a markdown.Text and a number stand as they are, and any other value is made
// safe as prose, whether the template asks for it or not.
package page

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"github.com/switchback-ci/switchback/bot/render/catalog"
	"github.com/switchback-ci/switchback/bot/render/markdown"
)

//go:embed *.md.tmpl
var shared embed.FS

// Fact is a row of the template "facts", a table of names and values. ID is that of the name in the
// catalogue.
type Fact struct {
	ID    string
	Value markdown.Text
}

// Set is a set of templates, in every language of the catalogue.
type Set struct {
	parsed map[catalog.Language]func() *template.Template
}

// New returns the templates of files that match the patterns. They are parsed when the first page of
// a language is printed, and are constants of the program: one that cannot be parsed panics.
//
// Besides those of text/template, they have the functions say and count of the catalogue, and code,
// codes, prose, cell, fence, link and para of package markdown. row prints cells as a row of a table,
// and head prints a header row from ids of the catalogue. inc adds 1. The templates "facts", "bullets"
// and "numbered" are part of every set.
func New(files fs.FS, patterns ...string) *Set {
	s := &Set{parsed: map[catalog.Language]func() *template.Template{}}
	for _, l := range catalog.Languages() {
		s.parsed[l] = sync.OnceValue(func() *template.Template {
			t := template.Must(template.New("").Funcs(functions(l)).ParseFS(shared, "*.md.tmpl"))
			template.Must(t.ParseFS(files, patterns...))
			for _, one := range t.Templates() {
				if one.Tree != nil {
					guard(one.Tree, one.Tree.Root)
				}
			}
			return t
		})
	}
	return s
}

func functions(l catalog.Language) template.FuncMap {
	return template.FuncMap{
		"say":   l.Say,
		"count": l.Count,
		"code":  markdown.Code, "codes": markdown.Codes,
		"prose": func(limit int, s string) markdown.Text { return markdown.ProseLimit(s, limit) },
		"cell":  func(v any) markdown.Text { return markdown.Cell(text(v)) },
		"fence": markdown.Fence,
		"link":  markdown.Link,
		"para":  markdown.Paragraph,
		"row":   row,
		"head": func(ids ...string) markdown.Text {
			cells := make([]any, len(ids))
			for i, id := range ids {
				cells[i] = l.Say(id)
			}
			return row(cells...)
		},
		"inc":  func(i int) int { return i + 1 },
		"text": text,
	}
}

// row prints values as the cells of one row of a table.
func row(cells ...any) markdown.Text {
	out := make([]markdown.Text, len(cells))
	for i, c := range cells {
		out[i] = markdown.Cell(text(c))
	}
	return "| " + markdown.Join(out, " | ") + " |"
}

// text makes a value safe to print.
func text(v any) markdown.Text {
	switch v := v.(type) {
	case markdown.Text:
		return v
	case int, int64:
		return markdown.Text(fmt.Sprint(v))
	}
	return markdown.Prose(fmt.Sprint(v))
}

// guard has the function text follow all that the nodes of a template print, so that no template can
// print a value that is not safe.
func guard(tree *parse.Tree, n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				guard(tree, child)
			}
		}
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 {
			id := parse.NewIdentifier("text").SetTree(tree).SetPos(n.Pos)
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{id}})
		}
	case *parse.IfNode:
		guard(tree, n.List)
		guard(tree, n.ElseList)
	case *parse.RangeNode:
		guard(tree, n.List)
		guard(tree, n.ElseList)
	case *parse.WithNode:
		guard(tree, n.List)
		guard(tree, n.ElseList)
	}
}

// Print returns the page of a template, without newlines at its end. It panics where the template
// names what data does not have.
func (s *Set) Print(l catalog.Language, name string, data any) markdown.Text {
	parsed, ok := s.parsed[l]
	if !ok {
		parsed = s.parsed[catalog.English]
	}
	var b strings.Builder
	if err := parsed().ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	return markdown.Text(strings.TrimRight(b.String(), "\n"))
}
