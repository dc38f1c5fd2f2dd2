//go:build !windows

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstall runs scripts/install.sh with a curl that serves a folder. The
// runner's temporary folder is named as on Windows, where it begins with a
// drive that tar takes for a host, and holds backslashes that sha256sum escapes.
func TestInstall(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../scripts/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, temp, spoil, version string
		want                       string // in the output, "" if it installs
	}{
		{"a plain folder", "temp", "", "v1.2.3", ""},
		{"a folder with spaces", "my temp", "", "v1.2.3", ""},
		{"a folder of Windows", `D:\a\_temp`, "", "v1.2.3", ""},
		{"another file than the release's", "temp", "x", "v1.2.3", "does not match"},
		{"a branch", "temp", "", "main", "is no release"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "output")
			served(t, dir, c.spoil)
			cmd := exec.Command(bash, script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "SERVED="+filepath.Join(dir, "served"),
				"RUNNER_TEMP="+c.temp, "WANTED="+c.version, "ACTION_REF=", "ACTION_PATH=", "GITHUB_OUTPUT="+out)
			text, err := cmd.CombinedOutput()
			if c.want != "" {
				if err == nil || !strings.Contains(string(text), c.want) {
					t.Errorf("%v: %s", err, text)
				}
				if _, err := os.Stat(out); err == nil {
					t.Error("a path was put out")
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			path := strings.TrimSpace(strings.TrimPrefix(string(b), "path="))
			if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != "the program" {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		})
	}
}

// served puts a release and a curl that copies its files below dir.
func served(t *testing.T, dir, spoil string) {
	t.Helper()
	put := func(name, content string, mode os.FileMode) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	put("bin/curl", "#!/usr/bin/env bash\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=\"$2\"; shift; done\ncp \"$SERVED/${1##*/}\" \"$out\"\n", 0o755)
	put("served/switchback", "the program", 0o755)
	var sums strings.Builder
	for _, system := range []string{"linux", "darwin"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := fmt.Sprintf("switchback_1.2.3_%s_%s.tar.gz", system, arch)
			file := filepath.Join(dir, "served", name)
			if out, err := exec.Command("tar", "-C", filepath.Join(dir, "served"), "-czf", file, "./switchback").CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b), name)
			if spoil != "" {
				put("served/"+name, string(b)+spoil, 0o644)
			}
		}
	}
	put("served/checksums.txt", sums.String(), 0o644)
}
