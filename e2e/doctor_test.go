package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// doctor in a checkout that init made, with a token: it asks what it needs of GitHub in requests that
// GitHub describes, and names what is in the way.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", "module app\n")
	doctor := func(token string, args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GITHUB_API_URL="+s.b.URL, "GITHUB_TOKEN="+token)
		out, _ := cmd.CombinedOutput() // its exit code is compared
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := doctor("", "init", "--write"); code != 0 {
		t.Fatalf("init: exit %d\n%s", code, out)
	}
	s.r.Commit(t, "main", "workflows", map[string]string{".github/workflows/ci.yml": readAll(filepath.Join(dir, ".github/workflows/ci.yml"))})
	out, code := doctor(s.b.UserToken(Owner), "doctor", "--repo", s.r.FullName)
	if code != 0 || strings.Contains(out, "error ") {
		t.Errorf("exit %d\n%s", code, out)
	}
	for _, want := range []string{"ok       configuration", "ok       workflows", "ok       reports", "ok       reachability", "ok       clock", "ok       token"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if out, code := doctor("ghp_nobody", "doctor", "--repo", s.r.FullName); code != 1 || !strings.Contains(out, "error    token") {
		t.Errorf("exit %d\n%s", code, out)
	}
	s.clean()
}
