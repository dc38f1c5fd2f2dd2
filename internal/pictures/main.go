// Command pictures takes pictures for the documentation, of posts and of pages:
//
//	go run ./internal/pictures DIR NAME=POST.md NAME@HEIGHT=http://127.0.0.1:8080/ …
//
// A post is shown as GitHub shows it, and the whole of it; of another page the part that a window of
// the height shows. docs/pictures/make.sh calls it.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/internal/browser"
	"github.com/switchback-ci/switchback/internal/githubpage"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "pictures: name a directory, and what to take pictures of as NAME=POST.md or NAME@HEIGHT=ADDRESS")
		os.Exit(2)
	}
	if err := take(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func take(dir string, what []string) (err error) {
	b, err := browser.Start(".", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, one := range what {
		name, source, _ := strings.Cut(one, "=")
		name, size, _ := strings.Cut(name, "@")
		height, _ := strconv.Atoi(size) // 0 for a post
		if err := shoot(b, name, source, height, filepath.Join(dir, name+".png")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// shoot takes one picture: of a post at the width of a comment, of another page as a window of a height
// shows it.
func shoot(b *browser.Browser, name, source string, height int, file string) error {
	width := 1200
	show := func() error { return b.Do(name, "open", map[string]any{"url": source}, nil) }
	if strings.HasSuffix(source, ".md") {
		post, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		page, err := githubpage.HTML(string(post))
		if err != nil {
			return err
		}
		width = 900
		show = func() error { return b.Do(name, "show", map[string]any{"html": page}, nil) }
	}
	if err := b.Do(name, "look", map[string]any{"width": width, "height": max(height, 300)}, nil); err != nil {
		return err
	}
	if err := show(); err != nil {
		return err
	}
	return b.Do(name, "picture", map[string]any{"file": file, "whole": height == 0}, nil)
}
