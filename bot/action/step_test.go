package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Patterns that overlap name each file once: relative and absolute ones, and a
// link to a file beside it.
func TestReportsOfOverlappingPatterns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, f := range []string{"a/r.xml", "b/r.xml"} {
		p := filepath.Join(root, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("<testsuite/>"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "b", "r.xml"), filepath.Join(root, "b", "z.xml")); err != nil {
		t.Log(err) // a system without links
	}
	got, err := reportFiles(root, []string{"a/*.xml", "./a/r.xml", "**/*.xml", filepath.ToSlash(root) + "/**/*.xml", "b/z.xml"})
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "a/r.xml b/r.xml" {
		t.Error(s)
	}
}
