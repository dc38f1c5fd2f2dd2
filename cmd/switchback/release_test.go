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

// nfpm builds the packager that tools/go.mod pins.
func nfpm(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "nfpm")
	cmd := exec.Command("go", "build", "-C", filepath.Join("..", "..", "tools"), "-trimpath", "-o", name, "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return name
}

// released copies the sources to dir and builds the release of one platform there.
func released(t *testing.T, dir, nfpm string, committed bool) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "go.mod", "go.sum", "LICENSE", "README.md", "CHANGELOG.md", "scripts", ".github", "bot", "cmd", "routing", "internal/sbom")
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
	shell(t, dir, "LEVEL=1 NFPM="+nfpm+" scripts/release.sh "+version+" linux/"+runtime.GOARCH)
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
	packager := nfpm(t)
	first := released(t, one, packager, true)
	t.Run("S6-6 builds in two directories give the same bytes, with and without a commit", func(t *testing.T) {
		second := released(t, other, packager, false)
		names, err := os.ReadDir(first)
		if err != nil || len(names) != 7 { // an archive, three packages, a formula, the bill of materials and the digests
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
	t.Run("the Debian package installs the program, its manual pages and completions", func(t *testing.T) {
		root := t.TempDir()
		shell(t, first, "dpkg-deb -x switchback_1.0.0_"+runtime.GOARCH+".deb "+root)
		info := shell(t, first, "dpkg-deb -f switchback_1.0.0_"+runtime.GOARCH+".deb Package Version Architecture")
		if want := "Package: switchback\nVersion: 1.0.0\nArchitecture: " + runtime.GOARCH + "\n"; info != want {
			t.Errorf("%q, want %q", info, want)
		}
		if got := shell(t, root, "usr/bin/switchback --version"); !strings.Contains(got, "v1.0.0") {
			t.Errorf("the installed program says %q", got)
		}
		if got := shell(t, root, "gzip -dc usr/share/man/man1/switchback-route.1.gz"); !strings.Contains(got, "Decide what to do about a run") || strings.Contains(got, "2026\" \"\"") {
			t.Errorf("the manual page is\n%s", got)
		}
		// bash completes the commands that begin with "di".
		completes := "source usr/share/bash-completion/completions/switchback; type __start_switchback > /dev/null; PATH=usr/bin switchback __complete di"
		if got := shell(t, root, completes); !strings.Contains(got, "diagnose\t") || strings.Contains(got, "route\t") {
			t.Errorf("the shell completes\n%s", got)
		}
		for _, name := range []string{"zsh/vendor-completions/_switchback", "fish/vendor_completions.d/switchback.fish", "doc/switchback/copyright", "doc/switchback/CHANGELOG.md"} {
			if st, err := os.Stat(filepath.Join(root, "usr", "share", filepath.FromSlash(name))); err != nil || st.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("the formula and the digests name every file", func(t *testing.T) {
		formula, err := os.ReadFile(filepath.Join(first, "switchback.rb"))
		if err != nil {
			t.Fatal(err)
		}
		archive := "switchback_1.0.0_linux_" + runtime.GOARCH + ".tar.gz"
		digest := strings.Fields(shell(t, first, "sha256sum "+archive))[0]
		for _, want := range []string{"/releases/download/v1.0.0/" + archive + "\"", "sha256 \"" + digest + "\"", `version "1.0.0"`} {
			if !strings.Contains(string(formula), want) {
				t.Errorf("the formula has no %s:\n%s", want, formula)
			}
		}
		shell(t, first, "grep -v '^#\\|^version' checksums.txt | sha256sum --check --strict --quiet && [ $(grep -c '  switchback' checksums.txt) = 6 ]")
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
