package planfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/plan"
)

// commitOf commits a folder, and returns what git lists of it.
func commitOf(t *testing.T, root string) Commit {
	t.Helper()
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", root, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "core.autocrlf=false"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("add", "--all")
	git("commit", "-q", "-m", "x")
	var out Commit
	for _, l := range strings.Split(strings.TrimRight(git("ls-tree", "-r", "-z", "HEAD"), "\x00"), "\x00") {
		head, name, _ := strings.Cut(l, "\t")
		f := strings.Fields(head)
		out = append(out, Entry{Path: name, Object: f[2], Link: f[0] == "120000"})
	}
	return out
}

func (c Commit) from(root string) func(Entry) ([]byte, error) {
	return func(e Entry) ([]byte, error) { return os.ReadFile(filepath.Join(root, e.Path)) }
}

// What a plan says, and what its ports are about, is the same without a checkout.
func TestCommit(t *testing.T) {
	t.Parallel()
	root := repository(t, map[string]string{"ports/a.yml": "id: a\npaths: [src/**, doc]\ntest: make\n", "ports/sub/b.md": "---\nid: b\npaths: [doc/d.md]\n---\nBrief.\n",
		"ports/README.md": "# How\n", "ports/.x.yml": "nope", "ports/.hidden/x.yml": "nope", "ports/x.json": "{", "one.yml": "- id: x\n", "src/x.go": "x", "src/empty": "", "doc/d.md": "d\r\n", "portsy.yml": "nope"})
	if err := os.Symlink("x.go", filepath.Join(root, "src", "link.go")); err != nil {
		t.Fatal(err)
	}
	c := commitOf(t, root)
	for name, want := range map[string]string{"ports": "a b", "./ports/": "a b", "one.yml": "x", "ports/sub": "b"} {
		p, err := c.Load(name, c.from(root))
		if got := strings.Join(p.Order(), " "); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"nope", "port", "src/none.yml"} {
		if _, err := c.Load(name, c.from(root)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := c.Load("ports", c.from(root))
	if err != nil {
		t.Fatal(err)
	}
	disk, err := Load(filepath.Join(root, "ports"))
	if err != nil || p.Digest() != disk.Digest() {
		t.Fatalf("%v: %s, from the disk %s", err, p.Digest(), disk.Digest())
	}
	want, err := Hashes(root, disk)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Hashes(p)
	if err != nil || got["a"] != want["a"] || got["b"] != want["b"] || got["a"] == got["b"] {
		t.Errorf("%v: %v, from the disk %v", err, got, want)
	}
	spec, _ := p.Port("a")
	if one, err := c.Hash(spec); err != nil || one != want["a"] {
		t.Errorf("%v %s", err, one)
	}
}

func TestCommitTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := Commit{{Path: "ports/a.yml", Object: "1"}, {Path: "ports/b.yml", Link: true}, {Path: "ports/c.yml", Size: maxFile + 1}}
	_, err := c.Load("ports", func(Entry) ([]byte, error) { return []byte("id: a\ndepends_on: [a]\n"), nil })
	var wrong *plan.Error
	if !errors.As(err, &wrong) || len(wrong.Problems) != 3 {
		t.Fatalf("%v", err)
	}
	for i, want := range []string{"depends on itself", "is a link", "is longer than"} {
		if !strings.Contains(wrong.Problems[i].Message, want) {
			t.Errorf("%+v", wrong.Problems[i])
		}
	}
	lost := errors.New("lost")
	if _, err := c.Load("ports", func(Entry) ([]byte, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}
