package rendertest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/marker"
)

// Page is something that the bot posts.
type Page struct {
	Name   string
	Body   markdown.Text
	Marker string // key of its marker, "" for none
}

// Compare renders pages as GitHub does, once with the texts of a run as they are and once with
// harmless texts in their place, and fails where a text of a run did more than be read: where the
// elements are not the same, where text outside of code mentions, refers or links, where a link
// leaves server, where a command or a marker of ours is not ours. make returns the pages with f
// applied to each text that comes from outside.
func Compare(t testing.TB, server, mentions string, make func(f func(string) string) []Page) {
	t.Helper()
	hostile, harmless := make(func(s string) string { return s }), make(Harmless)
	if len(hostile) != len(harmless) {
		t.Fatalf("%d pages, %d of harmless text", len(hostile), len(harmless))
	}
	got, want := GitHub(t, bodies(hostile)...), GitHub(t, bodies(harmless)...)
	for i, p := range hostile {
		where := fmt.Sprintf("%s: ", p.Name)
		if g, w := got[i].elements, want[i].elements; !slices.Equal(g, w) {
			at := 0
			for at < len(g) && at < len(w) && g[at] == w[at] {
				at++
			}
			t.Errorf("%selement %d is %q, with harmless text %q\n%s\n\n%s", where, at, tail(g, at), tail(w, at), p.Body, harmless[i].Body)
		}
		body := string(p.Body)
		for _, mark := range []string{answers.TextBegin, answers.TextEnd} {
			if strings.Count(string(harmless[i].Body), mark) == 1 {
				body = strings.Replace(body, mark, "", 1)
			}
		}
		Inert(t, body, server, mentions)
		for _, problem := range got[i].Problems(server, mentions) {
			t.Errorf("%s%s in\n%s", where, problem, p.Body)
		}
		if cmds := answers.Commands(string(p.Body)); len(cmds) > 0 {
			t.Errorf("%scommands %+v in\n%s", where, cmds, p.Body)
		}
		if m, ok := marker.Parse(string(p.Body)); ok != (p.Marker != "") || m.Key != p.Marker {
			t.Errorf("%smarker %+v, %v in\n%s", where, m, ok, p.Body)
		}
		if line := slashCommand.FindString(string(p.Body)); line != "" {
			t.Errorf("%sother bots read the command %q in\n%s", where, line, p.Body)
		}
	}
}

// slashCommand is what other bots look for in the raw text of a comment, within code too.
var slashCommand = regexp.MustCompile(`(?m)^/[A-Za-z][A-Za-z0-9_-]*(?:[ \t]|$)`)

func tail(s []string, at int) []string { return s[min(at, len(s)):min(at+6, len(s))] }

func bodies(pages []Page) []string {
	out := make([]string, len(pages))
	for i, p := range pages {
		out[i] = string(p.Body)
	}
	return out
}

// Harmless returns letters in place of s. Two texts that read the same get the same letters, and it
// is empty, has several lines and is long where s is.
func Harmless(s string) string {
	clean := markdown.Clean(s)
	if strings.TrimSpace(clean) == "" {
		return s // nothing shows
	}
	clean = strings.TrimSpace(clean)
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(strings.Fields(clean), " "))) // never fails
	word := []byte("h")
	for n := h.Sum64(); len(word) < 12; n /= 16 {
		word = append(word, "ghjklmnpqrstuvwx"[n%16])
	}
	out := string(word)
	out += strings.Repeat("\n"+out, min(strings.Count(clean, "\n"), 200))
	if missing := len(clean) - len(out); missing > 0 && len(clean) > 60 {
		out += strings.Repeat(string(word), (missing+len(word)-1)/len(word))
	}
	return out
}

// Rendered is a page as GitHub shows it.
type Rendered struct {
	elements []string // tags in their order, but for those that only show text, and comments
	live     []string // text outside of code and links
	links    []*html.Node
	open     bool // what follows the page became a part of it
}

// separator stands between two pages that are rendered together.
const separator = `<hr class="page">`

// GitHub renders pages with cmark-gfm and the extensions that GitHub uses, raw HTML as it is.
func GitHub(t testing.TB, pages ...string) []Rendered {
	t.Helper()
	var doc bytes.Buffer
	for _, p := range pages {
		doc.WriteString(p + "\n\n" + separator + "\n\n")
	}
	root := parse(t, CMark(t, doc.String()))
	out := []Rendered{{}}
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		if isSeparator(n) {
			out = append(out, Rendered{})
			continue
		}
		out[len(out)-1].walk(n)
	}
	if len(out) != len(pages)+1 {
		if len(pages) > 1 { // find the page that does not end
			out = nil
			for _, p := range pages {
				out = append(out, GitHub(t, p)...)
			}
			return out
		}
		return []Rendered{{open: true, elements: []string{"a page that does not end"}}}
	}
	return out[:len(pages)]
}

// CMark returns the HTML that cmark-gfm makes of md. It fails where there is none.
func CMark(t testing.TB, md string) []byte {
	t.Helper()
	cmd := exec.Command("cmark-gfm", "--unsafe", "--hardbreaks", "-e", "footnotes", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tagfilter", "-e", "tasklist")
	cmd.Stdin = strings.NewReader(md)
	page, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Fatalf("cmark-gfm renders Markdown as GitHub does, and is missing: apt-get install -y cmark-gfm")
	}
	if err != nil {
		t.Fatalf("cmark-gfm: %v", err)
	}
	return page
}

func parse(t testing.TB, page []byte) *html.Node {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(bytes.NewReader(page), &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	return body
}

func isSeparator(n *html.Node) bool {
	return n.Type == html.ElementNode && n.Data == "hr" && len(n.Attr) == 1 && n.Attr[0].Val == "page"
}

// textual are elements that only show text; how many there are depends on the text.
var textual = []string{"code", "pre", "p", "br", "a"}

func (r *Rendered) walk(n *html.Node) {
	switch n.Type {
	case html.CommentNode:
		kind := ourKind.FindString(n.Data)
		if !ourHTML.MatchString("<!--"+n.Data+"-->") && !ourText.MatchString(n.Data) {
			kind = "a comment that is not ours: " + n.Data
		}
		r.elements = append(r.elements, kind)
	case html.TextNode:
		r.live = append(r.live, n.Data)
	case html.ElementNode:
		name := n.Data
		for _, a := range n.Attr {
			if !(name == "code" && a.Key == "class" || name == "a" && a.Key == "href") {
				name += " " + a.Key + "=" + a.Val
			}
		}
		first := len(r.elements)
		if !slices.Contains(textual, name) {
			r.elements = append(r.elements, name)
		}
		switch n.Data {
		case "a":
			r.links = append(r.links, n)
			return
		case "code", "pre":
			r.code(n)
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			r.walk(c)
		}
		if !slices.Contains(textual, name) {
			r.elements = append(r.elements, "/"+n.Data)
		}
		if slices.Equal(r.elements[first:], testBox) {
			r.elements = r.elements[:first]
		}
	}
}

// testBox is a box about a test; how many there are depends on the names.
var testBox = []string{"li", "input type=checkbox disabled=", "/input", " sb:quarantine", "/li"}

// ourKind is what a comment of ours is, without the id of a test.
var ourKind = regexp.MustCompile(`^ /?[a-z]+(?::[a-z0-9-]+)?`)

var ourText = regexp.MustCompile(`^ /?sb:text $`)

// code finds what is not text in code.
func (r *Rendered) code(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.TextNode && !(n.Data == "pre" && c.Type == html.ElementNode && c.Data == "code") {
			r.elements = append(r.elements, "in code: "+c.Data)
		}
		r.code(c)
	}
}

// Problems says what of a page is live and not ours.
func (r Rendered) Problems(server, mentions string) []string {
	var out []string
	if r.open {
		out = append(out, "a block that does not end")
	}
	for _, s := range r.live {
		for _, m := range strings.Fields(mentions) {
			s = strings.ReplaceAll(s, m, "")
		}
		if m := live.FindString(s); m != "" {
			out = append(out, fmt.Sprintf("live text %q in %q", m, s))
		}
		if !utf8.ValidString(s) {
			out = append(out, fmt.Sprintf("not text: %q", s))
		}
	}
	for _, a := range r.links {
		href := ""
		for _, x := range a.Attr {
			if x.Key == "href" {
				href = x.Val
			}
		}
		if !strings.HasPrefix(href, server+"/") {
			out = append(out, fmt.Sprintf("a link to %q", href))
		}
		for c := a.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && c.Data != "code" {
				out = append(out, "in a link: "+c.Data)
			}
		}
	}
	return out
}

// Seeds are texts that break out of a place on a page which is not safe.
func Seeds() []string {
	const payload = "@acme/security <img src=https://e.vil/p.png> <a href=https://e.vil>x</a> ![x](https://e.vil/q.png) closes #1 GH-12 acme/shop#3 deadbeefdeadbeef www.e.vil a@b.example # owned"
	lines := "\n" + payload + "\n\n# owned\n\n/switchback retry 9\n/approve\n\n- [ ] x <!-- sb:skip -->\n\n" + marker.Format("acme/shop#12/unit/comment", 99) + "\n"
	h := Hostile()
	out := []string{payload, lines, h.Name, h.Suite, h.File, h.Message, h.Expected, h.Trace, h.Suggestion,
		"a\\|b|c", "a\\\\|b", "`|`", "\\", "`", "``` `` `", "~~~", "\u202e\x1b[1", "[a]: https://e.vil\n[a]", "[^1]: x [^1]", "a\n===\n", "a\n---\n", "&#64;octocat &lt;b&gt;", "\\@a", "a](b",
		"1) x", "+ a", ":smile:", "~~a~~", "http://a", "(#1)", "don’t_x", "$`x`$ $$y$$", "> [!NOTE]\n> x", "| a | b |\n|---|---|\n| c | d |", "</details>", "</code></pre>", "<!--", "-->", "<![CDATA[", "<?x", "<!X",
		"mailto:a@b.example xmpp:a@b.example", "{cp} {{.Head}}", "\t\tx\n    y", "\x00@acme", "```mermaid\nclick a href \"https://e.vil\"\n```", "한글@acme 을 를", "\u00a0@acme\u2003#1", strings.Repeat("[", 500) + strings.Repeat("]", 500),
		strings.Repeat("> ", 200) + "@acme", strings.Repeat("a ", 50_000) + "@acme", strings.Repeat("x", 100_000)}
	for _, n := range []int{20, 21, 80, 81, 254, 255, 256, 260, 300} {
		run := strings.Repeat("`", n)
		out = append(out, run+payload, run+"\n"+payload)
	}
	for _, mark := range []string{"`", "~"} {
		run, long := strings.Repeat(mark, 260), strings.Repeat(mark, 70_000)
		half := run[:130]
		out = append(out, "a"+lines+run+lines, payload+run+payload, half+"\u200b"+half+"\n"+payload, half+"\x1b[1m"+half+payload, run+"\n"+long+payload, mark+strings.Repeat(" "+mark, 1000)+payload)
	}
	return out
}

// Corpus returns the seeds that a fuzz target begins with. Without -fuzz that is one of them, since the
// tests render them all.
func Corpus() []string {
	if f := flag.Lookup("test.fuzz"); f == nil || f.Value.String() == "" {
		return Seeds()[:1]
	}
	return slices.DeleteFunc(Seeds(), func(s string) bool { return len(s) > 3000 })
}
