//go:build ignore

// Render makes an HTML page of a Markdown file, in the style of GitHub, for a
// picture of it. Usage: go run docs/pictures/render.go STYLE.css IN.md OUT.html
package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(style, in, out string) error {
	css, err := os.ReadFile(style)
	if err != nil {
		return err
	}
	md, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	// The Markdown is our own, sanitised by what rendered it; GitHub shows the
	// same few tags.
	g := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := g.Convert(md, &body); err != nil {
		return err
	}
	page := fmt.Sprintf("<!doctype html><meta charset=utf-8><style>%s body{margin:0;padding:24px;max-width:860px}"+
		".markdown-body{border:1px solid #d1d9e0;border-radius:6px;padding:16px}"+
		"li:has(>input){list-style:none}li>input{margin:0 .2em .25em -1.4em!important;vertical-align:middle}</style><article class=markdown-body>%s</article>", css, body.Bytes())
	return os.WriteFile(out, []byte(page), 0o644)
}
