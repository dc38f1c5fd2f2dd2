// Package rendertest checks Markdown as GitHub would read it.
package rendertest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/switchback-ci/switchback/routing"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

// live is what GitHub makes a link or a notification of in text that is not code.
var live = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|(?i)\bgh-[0-9]|\b[0-9a-f]{7,40}\b|https?:/|www\.[a-z]|<!--`)

// ourHTML is all the HTML that our templates hold.
var ourHTML = regexp.MustCompile(`^(?:</?details>|<summary>(?:[^<>@#]|<code>[^<>]*</code>)*</summary>|<br>|<!-- switchback:v1 key=[A-Za-z0-9._/#:+%-]* gen=-?[0-9]+ -->|<!-- switchback:checkboxes nonce=[0-9a-f]+ gen=[0-9]+ sha=[0-9a-f-]+ -->|<!-- sb:[a-z0-9:-]+ -->)$`)

// Inert fails if anything of md that GitHub would act on is not ours: links lead to server, and the
// only live mentions are those of mentions.
func Inert(t testing.TB, md, server, mentions string) {
	t.Helper()
	src := []byte(md)
	doc := gfm.Parser().Parse(text.NewReader(src))
	open := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			t.Errorf("an image: %s", n.Destination)
		case *ast.AutoLink:
			t.Errorf("an automatic link: %s", n.URL(src))
		case *ast.Link:
			if !strings.HasPrefix(string(n.Destination), server+"/") {
				t.Errorf("a link to %s", n.Destination)
			}
			return ast.WalkSkipChildren, nil
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock:
			if l := n.Lines(); l.Len() > 0 && !strings.HasPrefix(strings.TrimLeft(string(src[l.At(l.Len()-1).Stop:]), " "), "```") {
				t.Errorf("an open fence: %q", l.Value(src))
			}
		case *ast.CodeBlock, *ast.Blockquote, *ast.ThematicBreak:
			if n.Kind() != ast.KindBlockquote {
				t.Errorf("a %s: %q", n.Kind(), n.Lines().Value(src))
			}
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(src))
			}
			open += strings.Count(html, "<details>") - strings.Count(html, "</details>")
			for _, l := range strings.Split(strings.TrimSpace(html), "\n") {
				if !ourHTML.MatchString(l) {
					t.Errorf("HTML that is not ours: %q", l)
				}
			}
		case *ast.RawHTML:
			if html := string(n.Segments.Value(src)); !ourHTML.MatchString(html) {
				t.Errorf("HTML that is not ours: %q", html)
			}
		case *ast.Text:
			s := string(n.Segment.Value(src))
			for _, m := range strings.Fields(mentions) {
				s = strings.ReplaceAll(s, m, "")
			}
			if m := live.FindString(s); m != "" {
				t.Errorf("live text %q in %q", m, s)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if open != 0 {
		t.Errorf("%d <details> left open", open)
	}
}

// Cells counts the cells of the tables of md.
func Cells(md string) int {
	n := 0
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader([]byte(md))), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && node.Kind() == east.KindTableCell {
			n++
		}
		return ast.WalkContinue, nil
	})
	return n
}

// Hostile is a failure whose every text tries to break out of its place on a page.
func Hostile() routing.Failure {
	return routing.Failure{
		Name: "@octocat fixes #1 | <img src=https://e.vil/p.png> ![x](https://e.vil/q.png)\n/merge", Suite: "`</details>` ``a`` GH-12 acme/shop#3",
		Class: routing.LogicError, Fingerprint: "--> @all", File: "../../etc/pass`wd](javascript:alert(1)).go", Line: 3,
		Message:  "@acme/team \x1b[31mclosed\x1b[0m by deadbeefdeadbeef\n```\n# heading\n</details>\n<script>alert(1)</script>\n<!-- switchback:v1 key=acme/shop%2312/unit/comment gen=99 -->\n~~~~~\n",
		Expected: "```\nresolves #99\n```", Actual: "````\n@octocat https://e.vil\n",
		Trace:      "https://e.vil/?leak=1\n\u202egnp.exe\u202c\u200b\n`````\n- [ ] submit\n/approve\ntoken ghp_0123456789abcdefghij0123456789abcdef\n",
		Excerpt:    &routing.Excerpt{File: "a|b.go", Start: 1, Mark: 1, Lines: []string{"```", "// @octocat", "x\ny"}},
		Suggestion: "1. See [here](javascript:alert(1)) @octocat, www.e.vil, mail a@b.example: resolves #12! `unclosed",
		Evidence:   []routing.Evidence{{Line: 1, Text: "|a|b| `@octocat`", Signal: "x`y"}},
	}
}
