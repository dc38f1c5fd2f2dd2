package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is named twice, by whatever path, counts once; a copy of it is
// another file.
func TestFileNamedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	green, err := os.ReadFile(recorded("3-pass.txt"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	a, b, link := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt"), filepath.Join(dir, "latest.txt")
	for _, f := range []string{a, b} {
		if err := os.WriteFile(f, green, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{a, a, dir + "/./a.txt", dir + "/../" + filepath.Base(dir) + "/a.txt"}
	if err := os.Symlink(a, link); err == nil {
		names = append(names, link)
	}
	once, twice := "6 tests", "12 tests"
	for want, files := range map[string][]string{once: names, twice: append(names, b)} {
		r := run(t, "", append([]string{"parse", "-o", "text"}, files...)...)
		if r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("parse: exit %d: %s%s, want %s", r.code, r.out, r.err, want)
		}
		got, _ := route(t, filepath.Join(t.TempDir(), "ledger"), append([]string{"--run", "1"}, files...)...)
		if got.Verdict != "pass" || !strings.Contains(got.Reason, want) {
			t.Errorf("route: %s: %s, want %s", got.Verdict, got.Reason, want)
		}
	}
	r := run(t, string(green), "parse", "-o", "text", "-", "-")
	if r.code != 0 || !strings.Contains(r.out, once) {
		t.Errorf("standard input twice: exit %d: %s%s", r.code, r.out, r.err)
	}
}
