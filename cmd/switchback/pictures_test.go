package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPicturesAreOfThesePosts compares what the program posts with what the pictures of the documentation
// were made of: a picture itself depends on the browser and its fonts.
func TestPicturesAreOfThesePosts(t *testing.T) {
	t.Parallel()
	posts := t.TempDir()
	if r := run(t, "", "demo", "--quiet", "--write", posts); r.code != 0 {
		t.Fatal(r.err)
	}
	list, err := os.ReadFile("../../docs/pictures/posts.sha256")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		path := filepath.Join(posts, name)
		if name == "casecomment_short.md" {
			path = filepath.Join("../../bot/render/testdata", name)
		}
		post, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(post)); got != sum {
			t.Errorf("the picture is of another %s than is posted now: run `make pictures`, and look at them", name)
		}
		n++
	}
	if n < 4 {
		t.Errorf("%d posts are compared", n)
	}
}
