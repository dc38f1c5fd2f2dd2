package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	proseColumns      = 100
	architectureLines = 200
	readmeLines       = 120
)

// linkOnly matches a line that is nothing but a link or a picture, in a list or not: it cannot be
// wrapped.
var linkOnly = regexp.MustCompile(`^\s*([-*] )?(!?\[[^\]]*\]\([^)]*\)|\[[^\]]+\]: \S+|<?https?://\S+>?)[.,;]?$`)

// longLines returns the numbers of the lines of prose that are wider than proseColumns. Tables,
// code blocks, headings, lines that are a link, and HTML comments are not prose.
func longLines(page string) []int {
	var long []int
	fence, comment := "", false
	for i, line := range strings.Split(page, "\n") {
		text := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) && strings.Trim(text, fence[:1]) == "" {
				fence = ""
			}
			continue
		case comment:
			comment = !strings.Contains(text, "-->")
			continue
		case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
			fence = text[:3]
			continue
		case strings.HasPrefix(text, "<!--"):
			comment = !strings.Contains(text, "-->")
			continue
		case strings.HasPrefix(text, "|"), strings.HasPrefix(text, "#"), linkOnly.MatchString(line):
			continue
		}
		if utf8.RuneCountInString(line) > proseColumns {
			long = append(long, i+1)
		}
	}
	return long
}

func TestProseIsWrapped(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("only %d pages in docs (%v)", len(pages), err)
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", filepath.Join("e2e", "README.md")} {
		pages = append(pages, filepath.Join(root, name))
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(filepath.ToSlash(page), "../../")
		for _, n := range longLines(string(data)) {
			t.Errorf("%s:%d is wider than %d columns; wrap it", name, n, proseColumns)
		}
		if n := strings.Count(string(data), "\n"); name == "ARCHITECTURE.md" && n > architectureLines {
			t.Errorf("%s has %d lines; shorten it to %d", name, n, architectureLines)
		} else if name == "README.md" && n > readmeLines {
			t.Errorf("%s has %d lines; move some to docs", name, n)
		}
	}
}

func TestLongLinesAreFound(t *testing.T) {
	t.Parallel()
	word := strings.Repeat("x", proseColumns-4)
	for _, c := range []struct {
		name, page string
		long       bool
	}{
		{"prose", "some " + word, true},
		{"as wide as allowed", "abc " + word, false},
		{"wide letters", "äöü " + word, false},
		{"list", "- some " + word, true},
		{"quote", "> some " + word, true},
		{"prose with a link", "[some](" + word + ") and", true},
		{"prose after a code block", "```sh\ntrue\n```\nsome " + word, true},
		{"prose after a comment", "<!-- a\nb -->\nsome " + word, true},
		{"table", "| some | " + word + " |", false},
		{"heading", "## some " + word, false},
		{"code block", "```sh\nsome " + word + "\n```", false},
		{"code block in a list", "- a\n  ```sh\n  some " + word + "\n  ```", false},
		{"comment", "<!-- some " + word + " -->", false},
		{"comment of several lines", "<!--\nsome " + word + "\n-->", false},
		{"link", "[some](https://example.com/" + word + ")", false},
		{"picture", "![some](pictures/" + word + ".png)", false},
	} {
		if got := longLines(c.page); (len(got) == 1) != c.long {
			t.Errorf("%s: long lines %v, want long: %v", c.name, got, c.long)
		}
	}
}
