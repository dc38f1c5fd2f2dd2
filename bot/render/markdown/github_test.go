package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
)

func TestLongRuns(t *testing.T) {
	t.Parallel()
	t.Run("S6-1 runs of more than 20 backticks or tildes become 20", func(t *testing.T) {
		for in, want := range map[string]string{
			strings.Repeat("`", 20):                                          strings.Repeat("`", 20),
			strings.Repeat("`", 21):                                          strings.Repeat("`", 20),
			strings.Repeat("~", 300) + "a":                                   strings.Repeat("~", 20) + "a",
			strings.Repeat("`", 15) + "\u200b" + strings.Repeat("`", 15):     strings.Repeat("`", 20),
			strings.Repeat("`", 15) + "\x1b[1m" + strings.Repeat("`", 15):    strings.Repeat("`", 20),
			strings.Repeat("`", 15) + strings.Repeat("~", 15) + "`":          strings.Repeat("`", 15) + strings.Repeat("~", 15) + "`",
			"한" + strings.Repeat("`", 260) + "\n" + strings.Repeat("`", 260): "한" + strings.Repeat("`", 20) + "\n" + strings.Repeat("`", 20),
		} {
			if got := markdown.Clean(in); got != want {
				t.Errorf("Clean(%q) = %q", in, got)
			}
		}
	})
}

func TestFenceKeepsOtherBotsOut(t *testing.T) {
	t.Parallel()
	got := markdown.Fence("text", "/approve\n/usr/bin/x: no\n/retest all\n/ x\n /skip")
	if want := markdown.Text("```text\n /approve\n/usr/bin/x: no\n /retest all\n/ x\n /skip\n```"); got != want {
		t.Errorf("%s", got)
	}
}

func TestLinkRefusesOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "javascript:alert(1)", "https://a/b) @me", "https://a/b\n@me", "https://a/<b>", "https://a/`", "/a", "https://a/" + strings.Repeat("x", 3000)} {
		if got := markdown.Link("t", bad); got != "t" {
			t.Errorf("%q: %s", bad, got)
		}
	}
	if got := markdown.Link("t", "https://github.com/a/b/blob/main/c%20d.go#L3"); got != "[t](https://github.com/a/b/blob/main/c%20d.go#L3)" {
		t.Errorf("%s", got)
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	page := "### " + markdown.Code("a `` @acme") + "\n\n" + markdown.Fence("text", "x\n````\n@acme #1\n<img src=x>\n한글") + "\n\n" + markdown.Prose("fixes #1 for @acme") +
		"\n\n" + markdown.Link(markdown.Code("@acme"), "https://github.com/acme/shop") + "\n\nlast"
	t.Run("S6-1 a page that is cut anywhere has nothing live in it", func(t *testing.T) {
		var pages []string
		for limit := range len(page) {
			cut := markdown.Truncate(page, limit, utf8.RuneCountInString)
			if n := utf8.RuneCountInString(string(cut)); n > max(limit, 9) {
				t.Errorf("%d characters of %d", n, limit)
			}
			rendertest.Inert(t, string(cut), "https://github.com", "")
			pages = append(pages, string(cut))
		}
		for i, r := range rendertest.GitHub(t, pages...) {
			for _, problem := range r.Problems("https://github.com", "") {
				t.Errorf("cut at %d: %s in\n%s", i, problem, pages[i])
			}
		}
	})
	if got := markdown.Truncate(page, 10_000, utf8.RuneCountInString); got != page {
		t.Errorf("%s", got)
	}
}
