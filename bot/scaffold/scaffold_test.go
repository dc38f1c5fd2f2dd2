package scaffold

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/switchback-ci/switchback/bot/config"
)

var update = flag.Bool("update", false, "write the recorded files anew")

// member is the line before a file of an archive.
var member = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// fixture reads an archive of files: each stands behind a line with its name.
func fixture(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	at := member.FindAllSubmatchIndex(data, -1)
	for i, m := range at {
		end := len(data)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		out[string(data[m[2]:m[3]])] = &fstest.MapFile{Data: data[m[1]:end]}
	}
	return out
}

func options() Options { return Options{Action: "switchback-ci/switchback@v1.0.0", Version: "v1.0.0"} }

// Each ecosystem is detected, and the files made for it are those recorded, workflows that actionlint
// takes and a configuration that is valid.
func TestEcosystems(t *testing.T) {
	t.Parallel()
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) < 20 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	dir := t.TempDir()
	lint := []string{}
	tools := map[string]bool{}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".txtar")
		found, err := Detect(fixture(t, archive))
		if err != nil || len(found.Projects) == 0 || found.Cut {
			t.Errorf("%s: %+v %v", name, found, err)
			continue
		}
		for _, p := range found.Projects {
			tools[p.Tool] = true
		}
		files, err := Files(found, options())
		if err != nil || len(files) != 3 {
			t.Errorf("%s: %d files, %v", name, len(files), err)
			continue
		}
		if _, err := config.Parse(files[2].Path, []byte(files[2].Text)); err != nil || !strings.HasPrefix(files[2].Text, "# yaml-language-server: $schema=https://") {
			t.Errorf("%s: %v\n%s", name, err, files[2].Text)
		}
		golden := filepath.Join("testdata", name+".golden.yml")
		if *update {
			if err := os.WriteFile(golden, []byte(files[0].Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != files[0].Text {
			t.Errorf("%s: not as recorded (-update writes it): %v\n%s", name, err, files[0].Text)
		}
		for _, f := range files[:2] {
			path := filepath.Join(dir, name+"-"+filepath.Base(f.Path))
			if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			lint = append(lint, path)
		}
	}
	for _, tool := range []string{"go test", "Jest", "Vitest", "Mocha", "Playwright", "node:test", "npm test", "pytest", "Gradle", "Maven", "cargo test", "dotnet test", "PHPUnit", "Pest", "RSpec", "CTest"} {
		if !tools[tool] {
			t.Errorf("no fixture is of %s", tool)
		}
	}
	actionlint := filepath.Join("..", "..", "bin", "actionlint")
	if _, err := os.Stat(actionlint); err != nil {
		t.Fatal("bin/actionlint is missing: run `make e2e-tools`")
	}
	if out, err := exec.Command(actionlint, append([]string{"-shellcheck=", "-pyflakes="}, lint...)...).CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
}

// What is found of a repository with several tools, and what is not: vendored and deep folders, those
// whose name cannot stand in a workflow, and what a tool above them covers.
func TestDetect(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"go":         "test: go test in the root",
		"monorepo":   "services-api-go-test: go test in services/api; services-mail-go-test: go test in services/mail; tools-2lint-pytest: pytest in tools/2lint; web-vitest: Vitest in web",
		"workspaces": "vitest: Vitest in the root; packages-b-jest: Jest in packages/b",
		"maven":      "test: Maven in the root",
		"ctest":      "test: CTest in the root",
	} {
		found, err := Detect(fixture(t, filepath.Join("testdata", name+".txtar")))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range found.Projects {
			got = append(got, p.ID+": "+p.Tool+" in "+p.Where())
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, s, want)
		}
	}
	for name, want := range map[string]string{"go": "trunk", "odd-branch": "master", "beside": "main", "jest": "main"} {
		if found, err := Detect(fixture(t, filepath.Join("testdata", name+".txtar"))); err != nil || found.Branch != want {
			t.Errorf("%s: branch %q, want %q; %v", name, found.Branch, want, err)
		}
	}
	many := fstest.MapFS{}
	for i := range 20 {
		many[string(rune('a'+i))+"/go.mod"] = &fstest.MapFile{}
	}
	if found, err := Detect(many); err != nil || len(found.Projects) != mostProjects || !found.Cut {
		t.Errorf("%d projects, cut %v, %v", len(found.Projects), found.Cut, err)
	}
	if found, err := Detect(fstest.MapFS{"README.md": {}}); err != nil || len(found.Projects) != 0 {
		t.Errorf("%+v %v", found, err)
	}
	if _, err := Detect(os.DirFS(filepath.Join(t.TempDir(), "nope"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// A workflow of the same name, and files with the other suffix, are not doubled.
func TestFilesBesideOthers(t *testing.T) {
	t.Parallel()
	found, err := Detect(fixture(t, "testdata/beside.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(found, options())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(files[0].Text, "name: Tests 2\n") || !strings.Contains(files[1].Text, "workflows: [Tests 2]\n") || files[2].Path != config.OtherPath {
		t.Errorf("%s\n%s\n%s", files[0].Text, files[1].Text, files[2].Path)
	}
	if got := found.Conflicts(files); !slices.Equal(got, []string{config.OtherPath}) {
		t.Errorf("conflicts %q", got)
	}
	o := options()
	o.Existing = []string{"CI", "on"}
	files, err = Files(found, o)
	if err != nil || len(files) != 2 || !strings.Contains(files[0].Text, `workflows: [CI, "on"]`) {
		t.Fatalf("%v\n%+v", err, files)
	}
	f, err := config.Parse(files[1].Path, []byte(files[1].Text))
	if err != nil || !slices.Equal(f.Workflows, o.Existing) || len(f.Reports) == 0 {
		t.Errorf("%+v %v", f, err)
	}
}

// listing returns every file below a folder with what it holds.
func listing(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		b.WriteString(filepath.ToSlash(rel))
		if !d.IsDir() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.WriteString("=" + string(data))
		}
		b.WriteString(";")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// All files are written or none, whatever is in the way.
func TestWrite(t *testing.T) {
	t.Parallel()
	files := []File{{".github/workflows/ci.yml", "a"}, {".github/workflows/switchback.yml", "b"}, {".github/switchback.yml", "c"}}
	const all = ".github;.github/switchback.yml=c;.github/workflows;.github/workflows/ci.yml=a;.github/workflows/switchback.yml=b;"
	put := func(dir, name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		begin func(dir string)
		force bool
		err   string // "" if they are written
		left  string
	}{
		{"into an empty folder", func(string) {}, false, "", all},
		{"over nothing but one file", func(dir string) { put(dir, ".github/switchback.yml", "x") }, false, ".github/switchback.yml exists already, so nothing was written", ".github;.github/switchback.yml=x;"},
		{"by force over one file", func(dir string) { put(dir, ".github/switchback.yml", "x") }, true, "", all},
		{"where a folder is a file", func(dir string) { put(dir, ".github/workflows", "x") }, true, "nothing was written", ".github;.github/workflows=x;"},
		{"where the last file is a folder", func(dir string) { put(dir, ".github/switchback.yml/x", "x") }, true, ".github/switchback.yml is no file; nothing was written", ".github;.github/switchback.yml;.github/switchback.yml/x=x;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.begin(dir)
			err := Write(dir, files, c.force)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v, want %q", err, c.err)
			}
			if got := listing(t, dir); got != c.left {
				t.Errorf("left %s\nwant %s", got, c.left)
			}
		})
	}
	t.Run("what was replaced is put back", func(t *testing.T) {
		dir := t.TempDir()
		put(dir, ".github/workflows/ci.yml", "old")
		bad := append(slices.Clone(files), File{Path: ".github/workflows/ci.yml/below", Text: "x"})
		if err := Write(dir, bad, true); err == nil {
			t.Error("a file below a file is written")
		}
		if got := listing(t, dir); got != ".github;.github/workflows;.github/workflows/ci.yml=old;" {
			t.Errorf("left %s", got)
		}
		r, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		w := writing{root: r}
		if err := errors.Join(w.check(files, true), w.prepare(files[0]), w.prepare(files[1]), w.replace(files[0]), w.undo()); err != nil {
			t.Fatal(err)
		}
		if got := listing(t, dir); got != ".github;.github/workflows;.github/workflows/ci.yml=old;" {
			t.Errorf("left %s", got)
		}
	})
	t.Run("nothing is written outside the folder", func(t *testing.T) {
		dir, outside := t.TempDir(), t.TempDir()
		if err := os.Symlink(outside, filepath.Join(dir, ".github")); err != nil {
			t.Fatal(err)
		}
		if err := Write(dir, files, true); err == nil {
			t.Error("a link that leads outside is followed")
		}
		if got := listing(t, outside); got != "" {
			t.Errorf("outside: %s", got)
		}
	})
}
