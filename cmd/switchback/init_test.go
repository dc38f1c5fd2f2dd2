package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What init writes is what it prints, is a valid configuration, and is not written over.
func TestInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module app\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	printed := run(t, "", "init", dir)
	if printed.code != 0 || !strings.Contains(printed.err, "nothing was written") || !strings.Contains(printed.out, "uses: switchback-ci/switchback@v") {
		t.Fatalf("exit %d\n%s%s", printed.code, printed.out, printed.err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".github")); err == nil {
		t.Error("init without --write writes")
	}
	if r := run(t, "", "init", dir, "--write"); r.code != 0 || !strings.Contains(r.out, "next:\n  1. Read .github/workflows/ci.yml") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for part := range strings.SplitSeq(printed.out, "# --- ") {
		name, text, _ := strings.Cut(part, "\n")
		if name == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || strings.TrimSpace(string(data)) != strings.TrimSpace(text) {
			t.Errorf("%s is not as printed: %v\n%s", name, err, data)
		}
	}
	if r := run(t, "", "config", "check", filepath.Join(dir, ".github", "switchback.yml")); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := run(t, "", "init", dir, "--write"); r.code != 1 || !strings.Contains(r.err, `exist already, so nothing was written; --force writes over what is there`) || !strings.Contains(r.err, `say --existing "CI"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := run(t, "", "init", dir, "--write", "--force", "--existing", "CI"); r.code != 0 || !strings.Contains(r.out, "wrote .github/workflows/switchback.yml, .github/switchback.yml\n") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}
