package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A File is a workflow, or an action, and where it stands.
type File struct {
	Name string // path, for messages
	Line int    // lines before it in that file: it may be a block of a page
	Text string
}

// block finds the fenced YAML blocks of a Markdown page, also those in lists.
var block = regexp.MustCompile("(?ms)^( *)```yaml\n(.*?)^ *```")

// Collect returns all workflows below root: files, blocks of pages that hold jobs, and workflows
// that the program's tests record as generated.
func Collect(root string) ([]File, error) {
	var out []File
	var names []string
	for _, pattern := range []string{".github/workflows/*.yml", ".github/workflows/*.yaml", "action.yml", "*/action.yml", "cmd/switchback/testdata/*.golden.yml", "bot/scaffold/testdata/*.golden.yml", "*.md", "docs/*.md", "docs/*/*.md", "e2e/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		if filepath.Ext(name) == ".md" {
			out = append(out, Blocks(filepath.ToSlash(rel), string(data))...)
			continue
		}
		out = append(out, File{Name: filepath.ToSlash(rel), Text: string(data)})
	}
	slices.SortStableFunc(out, func(a, b File) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Line, b.Line)) })
	return out, nil
}

// Blocks returns the workflows that stand in a Markdown page.
func Blocks(name, page string) []File {
	var out []File
	for _, m := range block.FindAllStringSubmatchIndex(page, -1) {
		indent, text := page[m[2]:m[3]], page[m[4]:m[5]]
		if indent != "" {
			lines := strings.Split(text, "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], indent)
			}
			text = strings.Join(lines, "\n")
		}
		if regexp.MustCompile(`(?m)^jobs:`).MatchString(text) {
			out = append(out, File{Name: name, Line: strings.Count(page[:m[4]], "\n"), Text: text})
		}
	}
	return out
}
