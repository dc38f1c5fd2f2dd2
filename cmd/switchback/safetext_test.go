package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// converted are the files outside of bot/render that make a markdown.Text of a string, and why that is
// safe. What is posted has this type, so there is no other way around the functions of bot/render.
var converted = map[string]string{
	"bot/github/post.go":           "replaces what is not UTF-8 in a text",
	"bot/github/issues.go":         "keeps a text that is sealed with its marker",
	"bot/github/checks.go":         "replaces what is not UTF-8 in a text",
	"bot/handler/checkboxes.go":    "changes boxes in the body of an issue of the bot",
	"bot/handler/surveys.go":       "changes boxes and remarks in the body of an issue of the bot",
	"bot/pipeline/effect/issue.go": "names an issue by its number",
}

func TestSafeText(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(root, "bot"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "bot/render/") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, at := range conversions(file) {
			found[rel] = true
			if converted[rel] == "" {
				t.Errorf("S6-1 %s:%d makes a markdown.Text of a string: use Code, Prose or Fence of bot/render/markdown", rel, files.Position(at).Line)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range converted {
		if !found[file] {
			t.Errorf("%s makes no markdown.Text any more", file)
		}
	}
}

// conversions are the places of a file where something that is not constant becomes a markdown.Text.
func conversions(file *ast.File) []token.Pos {
	var out []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return true
		}
		of, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || of.Sel.Name != "Text" {
			return true
		}
		if pkg, ok := of.X.(*ast.Ident); !ok || pkg.Name != "markdown" {
			return true
		}
		if _, constant := call.Args[0].(*ast.BasicLit); !constant {
			out = append(out, call.Pos())
		}
		return true
	})
	return out
}

func TestConversions(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar a, b = markdown.Text(`constant`), markdown.Text(foreign)\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := conversions(file); len(got) != 1 || slices.Contains(got, token.NoPos) {
		t.Errorf("%v", got)
	}
}
