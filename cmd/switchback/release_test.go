//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// released copies the sources to dir and builds the release of one platform there.
func released(t *testing.T, dir string, committed bool) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "go.mod", "go.sum", "LICENSE", "README.md", "scripts", ".github", "bot", "cmd", "routing", "internal/sbom")
	list.Dir = filepath.Join("..", "..")
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(names), "\x00"), "\x00") {
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") && !strings.Contains(name, "demo") {
			continue
		}
		from := filepath.Join("..", "..", name)
		info, err := os.Stat(from)
		if os.IsNotExist(err) { // deleted, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if committed { // Go would record the commit
		shell(t, dir, "git init --quiet && git add --all && git -c user.name=a -c user.email=a@example.com commit --quiet --message one")
	}
	_, version, _ := strings.Cut(actionVersion, "@")
	shell(t, dir, "scripts/release.sh "+version+" linux/"+runtime.GOARCH)
	return filepath.Join(dir, "dist")
}

func shell(t *testing.T, dir, command string) string {
	t.Helper()
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", command)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// A release is the same bytes wherever it is built, and the commit that holds its digests is tagged.
func TestRelease(t *testing.T) {
	t.Parallel()
	one, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "another directory")
	first := released(t, one, true)
	t.Run("S6-6 builds in two directories give the same bytes, with and without a commit", func(t *testing.T) {
		second := released(t, other, false)
		names, err := os.ReadDir(first)
		if err != nil || len(names) != 3 {
			t.Fatalf("%v %v", names, err)
		}
		for _, n := range names {
			a, err := os.ReadFile(filepath.Join(first, n.Name()))
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(second, n.Name()))
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s differs (%v)", n.Name(), err)
			}
		}
		info := shell(t, first, "tar -xzf *.tar.gz ./switchback && go version -m switchback && ./switchback --version")
		if strings.Contains(info, "vcs.") || strings.Contains(info, one) || !strings.Contains(info, "v1.0.0") {
			t.Errorf("the binary says where it was built:\n%s", info)
		}
	})
	t.Run("S6-6 the bill of materials names the modules of the binary", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(first, "switchback_1.0.0.cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			BOMFormat, SpecVersion string
			Components             []struct{ Name, PURL string }
		}
		if err := json.Unmarshal(data, &d); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, c := range d.Components {
			names[c.Name] = strings.HasPrefix(c.PURL, "pkg:golang/"+c.Name+"@")
		}
		if d.BOMFormat != "CycloneDX" || d.SpecVersion != "1.6" || !names["stdlib"] || !names["github.com/google/go-github/v60"] || !names["modernc.org/sqlite"] {
			t.Errorf("%+v", d)
		}
	})
	t.Run("S6-6 the digests are committed, and that commit is tagged", func(t *testing.T) {
		at := strings.TrimSpace(shell(t, one, "git rev-parse HEAD"))
		shell(t, one, "scripts/tag.sh v1.0.0 dist/checksums.txt && scripts/tag.sh v1.0.0 dist/checksums.txt")
		if parent := strings.TrimSpace(shell(t, one, "git rev-parse v1.0.0^")); parent != at {
			t.Errorf("the parent of the tagged commit is %s, want %s", parent, at)
		}
		if changed := shell(t, one, "git diff --name-only v1.0.0^ v1.0.0; git show v1.0.0:scripts/checksums.txt | cmp - dist/checksums.txt"); changed != "scripts/checksums.txt\n" {
			t.Errorf("the commit changes %s", changed)
		}
		for _, wrong := range []string{
			"scripts/tag.sh v1.0.1 dist/checksums.txt",                                                        // of another version
			"echo x >> dist/checksums.txt; scripts/tag.sh v1.0.0 dist/checksums.txt",                          // tagged with other digests
			"scripts/release.sh v9.9.9",                                                                       // ports.yml calls another version
			"scripts/release.sh 1.0.0", "scripts/release.sh v1.0.0/x", `scripts/release.sh "v1.0.0; touch x"`, // no versions
		} {
			cmd := exec.Command("bash", "-c", wrong)
			cmd.Dir = one
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("%s succeeds:\n%s", wrong, out)
			}
		}
	})
}
