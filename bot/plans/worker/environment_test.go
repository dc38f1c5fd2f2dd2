package worker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestS6_2_Permitted(t *testing.T) {
	t.Parallel()
	got := permitted([]string{
		"PATH=/bin", "GITHUB_SHA=1", "RUNNER_TEMP=/t", "RUNNER_TRACKING_ID=github_1", "AGENT_KEY=k", "GH_TOKEN=given", GivenNames + "=AGENT_KEY,GH_TOKEN,GITHUB_TOKEN,ACTIONS_RUNTIME_TOKEN",
		"GITHUB_ENV=e", "GITHUB_PATH=p", "GITHUB_OUTPUT=o", "GITHUB_STATE=s", "GITHUB_STEP_SUMMARY=m", "GITHUB_TOKEN=t", "github_token=t", "GH_ENTERPRISE_TOKEN=t",
		"ACTIONS_RUNTIME_TOKEN=t", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=t", "ACTIONS_CACHE_URL=u", "SWITCHBACK_GITHUB_TOKEN=t", "INPUT_TOKEN=t", "INPUT_WORKER-ENV=w",
	})
	if want := []string{"PATH=/bin", "GITHUB_SHA=1", "RUNNER_TEMP=/t", "RUNNER_TRACKING_ID=github_1", "AGENT_KEY=k", "GH_TOKEN=given"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := permitted([]string{"GH_TOKEN=t"}); len(got) > 0 {
		t.Errorf("%q is given to workers", got)
	}
}

func TestS6_2_RunnerFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	env := map[string]string{"GITHUB_ENV": path("env"), "GITHUB_PATH": path("path"), "GITHUB_OUTPUT": path("output"), "GITHUB_STATE": path("state"), "GITHUB_STEP_SUMMARY": path("summary")}
	for _, name := range []string{"env", "path", "output", "summary"} {
		if err := os.WriteFile(path(name), []byte("before\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := KeepRunnerFiles(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(path("env"), []byte("before\nLD_PRELOAD=/evil.so\n"), 0o644),
		os.Remove(path("path")), os.WriteFile(path("evil"), []byte("before\n"), 0o644), os.Symlink("evil", path("path")),
		os.Remove(path("output")), os.Mkdir(path("output"), 0o755), os.WriteFile(path("state"), []byte("x=1\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	changed, err := files.Restore()
	slices.Sort(changed)
	if err != nil || strings.Join(changed, " ") != "env output path state" {
		t.Errorf("%v %q", err, changed)
	}
	for _, name := range []string{"env", "path", "output", "summary"} {
		info, err := os.Lstat(path(name))
		data, _ := os.ReadFile(path(name))
		if err != nil || !info.Mode().IsRegular() || string(data) != "before\n" {
			t.Errorf("%s: %v %q", name, err, data)
		}
	}
	if _, err := os.Lstat(path("state")); err == nil {
		t.Error("a file that was not there is there")
	}
	if changed, err := files.Restore(); len(changed) > 0 || err != nil {
		t.Errorf("%v %q", err, changed)
	}
}
