package e2e

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

// keepStub stands where actions/upload-artifact would be fetched from: it copies the files of a path
// as that does.
const keepStub = `name: upload
description: copies
inputs:
  name: {description: n, required: true}
  path: {description: p, required: true}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: "${{ inputs.name }}", FROM: "${{ inputs.path }}"}
      run: mkdir -p "$UPLOADS/$NAME" && cp -r $FROM "$UPLOADS/$NAME/"
`

// What `switchback init --write` writes for a repository runs there: the tests of each tool, whose
// output is uploaded, and the Action, which returns what failed to the author.
func TestInitRuns(t *testing.T) {
	t.Parallel()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	repo := t.TempDir()
	files := map[string]string{
		"api/go.mod": "module example.com/api\n\ngo 1.21\n", "api/calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n", "api/calc_test.go": calcTest,
		"web/package.json": `{"scripts": {"test": "node --test"}}` + "\n",
		"web/sum.test.js":  "const test = require('node:test')\nconst assert = require('node:assert')\ntest('adds up', () => assert.strictEqual(1 + 1, 3))\n",
	}
	for name, text := range files {
		write(t, mkdir(t, repo, filepath.Dir(name)), filepath.Base(name), text)
	}
	if out, err := exec.Command(bin, "init", "--write", repo).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	for _, name := range []string{".github/workflows/ci.yml", ".github/workflows/switchback.yml", ".github/switchback.yml"} {
		files[name] = readAll(filepath.Join(repo, name))
	}
	s := newStory(t, files[".github/switchback.yml"])
	upload, setup, uploads := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, upload, "action.yml", keepStub)
	write(t, setup, "action.yml", "name: setup\ndescription: nothing\ninputs: {go-version-file: {description: f, required: true}}\nruns: {using: composite, steps: []}\n")
	env := goEnv(t)
	env["UPLOADS"] = uploads
	tests := s.b.RunAct(t, Act{Files: files, Workflow: ".github/workflows/ci.yml", Repo: s.r, Token: s.token, Event: "pull_request", Payload: s.event(), RunID: s.runID, SHA: s.sha, Env: env,
		Local: map[string]string{actionpins.Ref("actions/upload-artifact"): upload, actionpins.Ref("actions/setup-go"): setup}})
	if tests.Jobs["api-go-test"] != "failure" || tests.Jobs["web-node-test"] != "failure" {
		t.Fatalf("%v\n%s%s", tests.Jobs, tests.Console, tests.Stderr)
	}
	run := Run{Name: "CI", Path: ".github/workflows/ci.yml", Conclusion: "failure", Jobs: []Job{{Name: "api-go-test", NoLog: true}}}
	artifacts, err := os.ReadDir(uploads)
	if err != nil || len(artifacts) != 2 {
		t.Fatalf("%d artifacts, %v", len(artifacts), err)
	}
	for _, a := range artifacts {
		art := Artifact{Name: a.Name(), Files: map[string]string{}}
		entries, err := fs.ReadDir(os.DirFS(uploads), a.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			art.Files[e.Name()] = readAll(filepath.Join(uploads, a.Name(), e.Name()))
		}
		run.Artifacts = append(run.Artifacts, art)
	}
	s.r.Commit(t, "main", "workflows", map[string]string{".github/workflows/ci.yml": files[".github/workflows/ci.yml"]})
	action := t.TempDir()
	for name, text := range installedOf(t, s.b) {
		write(t, mkdir(t, action, filepath.Dir(name)), filepath.Base(name), text)
	}
	download := t.TempDir()
	write(t, download, "action.yml", downloadStub)
	routed := s.b.RunAct(t, Act{Files: files, Workflow: ".github/workflows/switchback.yml", Repo: s.r, Token: s.token, Payload: s.r.RunPayload(s.seen(run), "completed"), RunID: s.runID + 1,
		Env:   map[string]string{"SWITCHBACK_CONTENT_INTERVAL": "1ms", "UPLOADS": uploads},
		Local: map[string]string{"switchback-ci/switchback@v1.0.0": action, actionpins.Ref("actions/upload-artifact"): upload, actionpins.Ref("actions/download-artifact"): download}})
	if got := s.bot(); routed.Jobs["route"] != "success" || len(got) != 1 || !strings.Contains(got[0], "TestAdd") || !strings.Contains(got[0], "adds up") {
		t.Errorf("%v\n%q\n%s%s", routed.Jobs, got, routed.Console, routed.Stderr)
	}
	s.clean()
}
