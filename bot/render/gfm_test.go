package render

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

// live is what GitHub makes a link or a notification of in text that is not code.
var live = regexp.MustCompile(`@[A-Za-z0-9]|#[0-9]|(?i)\bgh-[0-9]|\b[0-9a-f]{7,40}\b|https?:/|www\.[a-z]|<!--`)

// ourHTML is all the HTML that our templates hold.
var ourHTML = regexp.MustCompile(`^(?:</?details>|<summary>[^<>@#]*</summary>|<!-- switchback:v1 key=[A-Za-z0-9._/#:+%-]* gen=-?[0-9]+ -->|<!-- switchback:prompt nonce=[0-9a-f]+ gen=[0-9]+ sha=[0-9a-f-]+ -->|<!-- sb:[a-z0-9:-]+ -->)$`)

// inert fails if anything of md that GitHub would act on is not ours.
func inert(t *testing.T, md string, o Options) {
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
			if !strings.HasPrefix(string(n.Destination), o.server()+"/") {
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
			for _, m := range strings.Fields(o.mention()) {
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

// cells counts the cells of the tables of md.
func cells(md string) int {
	n := 0
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader([]byte(md))), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && node.Kind() == east.KindTableCell {
			n++
		}
		return ast.WalkContinue, nil
	})
	return n
}
