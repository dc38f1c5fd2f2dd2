// Package githubpage shows a post as GitHub does: its Markdown through cmark-gfm, in GitHub's style.
// Tests measure such pages, and the pictures of the documentation are of them.
package githubpage

import (
	_ "embed"
	"fmt"
	"os/exec"
	"strings"
)

// style is that of GitHub's Markdown, as far as posts need it.
//
//go:embed style.css
var style string

// HTML returns a page with a post, which is an element named article.
func HTML(markdown string) (string, error) {
	cmd := exec.Command("cmark-gfm", "--unsafe", "--hardbreaks", "-e", "footnotes", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tagfilter", "-e", "tasklist")
	cmd.Stdin = strings.NewReader(markdown)
	body, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cmark-gfm, of Debian's package of that name: %w", err)
	}
	return "<!doctype html><html lang=en><meta charset=utf-8><title>Post</title><style>" + style + "</style><main><article>" + string(body) + "</article></main></html>", nil
}
