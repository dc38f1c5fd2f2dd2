package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

// nothingStub stands where an action would be fetched from whose work this machine has done already.
const nothingStub = `name: nothing
description: does nothing
inputs:
  go-version-file: {description: f, required: false}
runs:
  using: composite
  steps:
    - shell: bash
      run: "true"
`

// TestQuickStart runs the workflows that people copy, as the pages have them: the one for Go of
// docs/quickstart.md fails and uploads its report, and that of the README routes it.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	page := readAll(filepath.Join(s.b.Root, "docs", "quickstart.md"))
	_, section, _ := strings.Cut(page, "\n## Go\n")
	ci := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(section)[1]
	readme := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(readAll(filepath.Join(s.b.Root, "README.md")), -1)
	dir := t.TempDir()
	upload, download, setup, own := mkdir(t, dir, "upload"), mkdir(t, dir, "download"), mkdir(t, dir, "setup"), mkdir(t, dir, "own")
	write(t, upload, "action.yml", uploadStub)
	write(t, download, "action.yml", downloadStub)
	write(t, setup, "action.yml", nothingStub)
	for name, text := range installedOf(t, s.b) {
		write(t, mkdir(t, own, filepath.Dir(name)), filepath.Base(name), text)
	}
	env, uploads := goEnv(t), t.TempDir()
	env["UPLOADS"] = uploads
	act := Act{Repo: s.r, Token: s.token, RunID: s.runID, SHA: s.sha, Env: env, Timeout: 4 * time.Minute,
		Local: map[string]string{actionpins.Ref("actions/upload-artifact"): upload, actionpins.Ref("actions/download-artifact"): download,
			actionpins.Ref("actions/setup-go"): setup, "switchback-ci/switchback@v1.0.0": own}}
	act.Files = map[string]string{".github/workflows/ci.yml": ci, "go.mod": "module example.com/calc\n\ngo 1.26\n",
		"calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "calc_test.go": calcTest}
	act.Workflow, act.Event, act.Payload = ".github/workflows/ci.yml", "pull_request", s.event()
	res := s.b.RunAct(t, act)
	t.Logf("act took %v", res.Took)
	report := readAll(filepath.Join(uploads, "test-output", "test-output.json"))
	if res.Jobs["test"] != "failure" || !strings.Contains(report, `"Action":"fail"`) {
		t.Fatalf("%v\n%s\n%s\n%s", res.Jobs, report, res.Console, res.Stderr)
	}
	run := s.r.AddRun(Run{HeadSHA: s.sha, HeadBranch: "feature", HeadRepo: s.r.FullName, Conclusion: "failure",
		Jobs:      []Job{{Name: "test", Log: "Process completed with exit code 1.\n"}},
		Artifacts: []Artifact{{Name: "test-output", Files: map[string]string{"test-output.json": report}}}})
	act.Files = map[string]string{".github/workflows/switchback.yml": readme[len(readme)-1][1]}
	act.Workflow, act.Event, act.Payload, act.RunID = ".github/workflows/switchback.yml", "workflow_run", s.r.RunPayload(run, "completed"), s.runID+1
	res = s.b.RunAct(t, act)
	t.Logf("act took %v", res.Took)
	if got := s.bot(); res.Jobs["route"] != "success" || len(got) != 1 || !strings.Contains(got[0], "TestAdd") || !strings.Contains(got[0], "1 of 3") {
		t.Errorf("%v %q\n%s\n%s", res.Jobs, got, res.Console, res.Stderr)
	}
	s.clean()
}
