package planfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// repository writes files below a new folder.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, root, name, text)
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	full := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	root := repository(t, map[string]string{
		"ports/a.md": "---\nid: a\n---\n", "ports/sub/b.YML": "id: b\ndepends_on: a\n", "ports/README.md": "# How\n", "ports/sub/readme.md": "---\nid: c\n---\n",
		"ports/.git/x.yml": "nope", "ports/.x.md": "nope", "ports/x.json": "{", "one.yaml": "- id: x\n- id: y\n", "README.md": "# no port\n", "big.yml": strings.Repeat("#", maxFile+1),
	})
	for name, want := range map[string]string{"ports": "a c b", "one.yaml": "x y", "ports/a.md": "a"} {
		p, err := Load(filepath.Join(root, name))
		if got := strings.Join(p.Order(), " "); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	var wrong *plan.Error
	for name, want := range map[string]string{"README.md": "no front matter", "big.yml": "is longer than"} { // named itself, it is meant
		if _, err := Load(filepath.Join(root, name)); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(root, "nope")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Whatever is in the way of one file, the others are read, and everything is
// told at once.
func TestLoadTellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	root := repository(t, map[string]string{
		"ports/a.yml": "id: a\ndepends_on: [a]\n", "ports/big.yml": strings.Repeat("#", maxFile+1), "ports/z.md": "", "ports/.hidden/x.yml": "nope",
		"ports/tab.yml": "id: t\n\ttitle: x\n", "ports/latin.md": "---\nid: l\n---\nCaf\xe9\n", "elsewhere/p.yml": "id: p\n", "ports/dir.md/b.yml": "id: b\n",
	})
	dir := filepath.Join(root, "ports")
	for link, to := range map[string]string{"link.md": "/etc/hostname", "folder": filepath.Join(root, "elsewhere"), "picture.png": "/nowhere", ".dot": "/etc", "gone.yml": "/nowhere"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(dir)
	if err == nil {
		t.Fatal("it is taken")
	}
	base := filepath.ToSlash(dir) + "/"
	want := `a.yml:2: port "a" depends on itself; remove that
big.yml: is longer than 1048576 bytes; a port is a short text
folder: is a link; put the port itself here
gone.yml: is a link; put the port itself here
latin.md:4: byte 0xe9 is no text; write the file in UTF-8
link.md: is a link; put the port itself here
tab.yml:2: not valid YAML: found a tab character that violates indentation; indent with spaces, YAML takes no tabs, and quote a text that begins with @, ` + "`" + ` or %
z.md:1: no front matter; begin the file with a line ---, the keys (id: …), and a line ---`
	if got := strings.ReplaceAll(err.Error(), base, ""); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	link := filepath.Join(root, "linked")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(link); err == nil || !strings.Contains(err.Error(), "linked: is a link; name the folder") {
		t.Error(err)
	}
}

func TestHashes(t *testing.T) {
	t.Parallel()
	const a, b = "id: a\npaths: [src/**/*.go, doc, go.mod]\ntest: go test ./...\n", "---\nid: b\n---\nBrief.\n"
	root := repository(t, map[string]string{"ports/a.yml": a, "ports/b.md": b, "src/x.go": "x", "src/deep/y.go": "y", "src/z.txt": "z", "doc/d.md": "d", "go.mod": "m", "other": "o"})
	hashes := func() map[string]string {
		t.Helper()
		p, err := Load(filepath.Join(root, "ports"))
		if err != nil {
			t.Fatal(err)
		}
		h, err := Hashes(root, p)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := hashes()
	for _, c := range []struct {
		name, file, text string
		a, b             bool // whose content it is
	}{
		{"nothing", "src/x.go", "x", false, false},
		{"a file of its paths", "src/x.go", "x2", true, false},
		{"a file deep in them", "src/deep/y.go", "y2", true, false},
		{"a new file", "src/deep/new.go", "n", true, false},
		{"a file by its name", "go.mod", "m2", true, false},
		{"a file in a folder that is named", "doc/more/e.md", "e", true, false},
		{"a file of another kind", "src/z.txt", "z2", false, false},
		{"a file elsewhere", "other", "o2", false, false},
		{"a comment in the port", "ports/a.yml", "# why\n" + a, false, false},
		{"its priority and status", "ports/a.yml", a + "priority: low\nstatus: in_progress\n", false, false},
		{"its test", "ports/a.yml", strings.Replace(a, "./...", "./src/...", 1), true, false},
		{"its brief", "ports/b.md", b + "More.\n", false, true},
	} {
		write(t, root, c.file, c.text)
		after := hashes()
		if (after["a"] != before["a"]) != c.a || (after["b"] != before["b"]) != c.b {
			t.Errorf("%s: %v, before %v", c.name, after, before)
		}
		before = after
	}
	if err := os.Remove(filepath.Join(root, "doc", "d.md")); err != nil {
		t.Fatal(err)
	}
	if after := hashes(); after["a"] == before["a"] || len(after["a"]) != 32 {
		t.Errorf("a file that is gone: %v", after)
	}
	// A link stands for itself: what it leads to may be anywhere.
	before = hashes()
	if err := os.Symlink("/etc/hostname-that-is-not-there", filepath.Join(root, "src", "link.go")); err != nil {
		t.Fatal(err)
	}
	if after := hashes(); after["a"] == before["a"] {
		t.Error("a new link changes nothing")
	}
}

// Many files are read and parsed at once; what is wrong with some stands in their order, and the plan
// does not depend on it.
func TestLoadAtOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 500 {
		files[fmt.Sprintf("good/%03d.md", n)] = fmt.Sprintf("---\nid: p%03d\ndepends_on: [p%03d]\n---\nThe brief of %d.\n", n, (n+1)%500, n)
	}
	files["good/499.md"] = "---\nid: p499\n---\n" + strings.Repeat("long ", 5000) + "\n"
	for name, text := range files {
		files["bad"+strings.TrimPrefix(name, "good")] = strings.ReplaceAll(text, "id:", "ID:")
	}
	root := repository(t, files)
	p, err := Load(filepath.Join(root, "good"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Ports() {
		n, want := strings.TrimPrefix(s.ID, "p"), "long long"
		if n != "499" {
			want = "The brief of " + strings.TrimLeft(n[:2], "0") + n[2:]
		}
		if !strings.HasPrefix(s.Brief, want) || filepath.Base(s.File) != n+".md" {
			t.Fatalf("%s of %s is told %.40q, want %q", s.ID, s.File, s.Brief, want)
		}
	}
	var wrong *plan.Error
	if _, err := Load(filepath.Join(root, "bad")); !errors.As(err, &wrong) || len(wrong.Problems) < 500 {
		t.Fatalf("%v", err)
	}
	if !slices.IsSortedFunc(wrong.Problems, func(a, b plan.Problem) int { return strings.Compare(a.File, b.File) }) {
		t.Error("the problems are in no order")
	}
}
