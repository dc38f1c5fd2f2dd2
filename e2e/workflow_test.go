package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

// sourceOf is a checkout of this project: a repository that uses the action from its own root
// builds it from source.
func sourceOf(t *testing.T, b *Bench) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, part := range []string{"action.yml", "scripts", "go.mod", "go.sum", "cmd", "bot", "routing"} {
		err := filepath.WalkDir(filepath.Join(b.Root, part), func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && d.Name() == "testdata" {
					return fs.SkipDir
				}
				return err
			}
			if strings.HasSuffix(p, "_test.go") {
				return nil
			}
			data, err := os.ReadFile(p)
			if rel, e := filepath.Rel(b.Root, p); e == nil {
				out[filepath.ToSlash(rel)] = string(data)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	out["action.yml"] = forAct(t, b)
	return out
}

// forAct is action.yml as act can run it. act knows the status and the matrix of a job in the defaults
// of inputs and not in the steps of a composite action, where GitHub's runner knows them too
// (step-env in its action_yaml.json); and it knows no strategy.job-total at all.
func forAct(t *testing.T, b *Bench) string {
	t.Helper()
	text := readAll(filepath.Join(b.Root, "action.yml"))
	declared := "inputs:\n"
	for name, expression := range map[string]string{"job-status": "job.status", "matrix": "toJSON(matrix)", "matrix-total": "strategy.job-total"} {
		was := fmt.Sprintf("INPUT_%s: ${{ %s }}\n", strings.ToUpper(name), expression)
		if strings.Count(text, was) != 1 {
			t.Fatalf("action.yml has no line %q", was)
		}
		text = strings.Replace(text, was, fmt.Sprintf("INPUT_%s: ${{ inputs.%s }}\n", strings.ToUpper(name), name), 1)
		declared += fmt.Sprintf("  %s: {description: of the job, default: \"${{ %s }}\"}\n", name, expression)
	}
	return strings.Replace(text, "inputs:\n", declared, 1)
}

// installedOf is the action with the binary under test in the place of a release's. Building from
// source takes five seconds of a core for each job.
func installedOf(t *testing.T, b *Bench) map[string]string {
	t.Helper()
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"action.yml": forAct(t, b), "survey/action.yml": readAll(filepath.Join(b.Root, "survey", "action.yml")),
		"scripts/install.sh": "echo \"path=" + bin + "\" >> \"$GITHUB_OUTPUT\"\n"}
}

// goEnv lets Go build in a step: the modules and the cache of this machine.
func goEnv(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{"GOFLAGS": "-mod=mod -trimpath", "GOPROXY": "off", "SWITCHBACK_CONTENT_INTERVAL": "1ms", "SWITCHBACK_LEASE_TTL": "2s"}
	for _, k := range []string{"GOMODCACHE", "GOCACHE", "GOROOT"} {
		out, err := exec.Command("go", "env", k).Output()
		if err != nil {
			t.Fatal(err)
		}
		env[k] = strings.TrimSpace(string(out))
	}
	return env
}

// uploadStub stands where actions/upload-artifact would be fetched from: it puts the file or folder
// that it is given below the folder that UPLOADS names.
const uploadStub = `name: upload
description: copies
inputs:
  name: {description: n, required: true}
  path: {description: p, required: true}
  if-no-files-found: {description: i, required: false}
  overwrite: {description: o, required: false}
runs:
  using: composite
  steps:
    - shell: bash
      env: {NAME: "${{ inputs.name }}", FROM: "${{ inputs.path }}"}
      run: rm -rf "$UPLOADS/$NAME" && mkdir -p "$UPLOADS/$NAME" && if [ -f "$FROM" ]; then cp "$FROM" "$UPLOADS/$NAME/"; else cp -r "$FROM/." "$UPLOADS/$NAME/"; fi
`

// downloadStub stands where actions/download-artifact would be fetched from: each artifact that the
// pattern names has a folder of its own, but an only one has none.
const downloadStub = `name: download
description: copies
inputs:
  pattern: {description: n, required: true}
  path: {description: p, required: true}
runs:
  using: composite
  steps:
    - shell: bash
      env: {PATTERN: "${{ inputs.pattern }}", TO: "${{ inputs.path }}"}
      run: |
        rm -rf "$TO" && mkdir -p "$TO"
        found=()
        for d in "$UPLOADS"/$PATTERN; do if [ -d "$d" ]; then found+=("$d"); fi; done
        if [ ${#found[@]} = 1 ]; then cp -r "${found[0]}/." "$TO/"; elif [ ${#found[@]} -gt 1 ]; then cp -r "${found[@]}" "$TO/"; fi
`

// workflow runs a workflow file with act as the story's pull request. The checkout holds the
// action, as sourceOf or installedOf, and files.
func (s *story) workflow(t *testing.T, action func(*testing.T, *Bench) map[string]string, event, text string, payload any, files map[string]string) (ActResult, string) {
	t.Helper()
	all := action(t, s.b)
	all[".github/workflows/ci.yml"], all[".github/switchback.yml"] = text, s.config
	maps.Copy(all, files)
	env, uploads, upload, download := goEnv(t), t.TempDir(), t.TempDir(), t.TempDir()
	env["UPLOADS"] = uploads
	write(t, upload, "action.yml", uploadStub)
	write(t, download, "action.yml", downloadStub) // fetched even where its step does not run
	return s.b.RunAct(t, Act{
		Files: all, Mode: map[string]os.FileMode{"scripts/install.sh": 0o755}, Workflow: ".github/workflows/ci.yml", Repo: s.r, Token: s.token, Event: event, Payload: payload,
		RunID: s.runID, SHA: s.sha, Env: env, Timeout: 4 * time.Minute,
		Local: map[string]string{actionpins.Ref("actions/upload-artifact"): upload, actionpins.Ref("actions/download-artifact"): download},
	}), uploads
}

const stepWorkflow = `name: CI
on: pull_request
jobs:
  unit:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: tests
        run: exit 1
      - id: back
        if: always()
        uses: ./
        with:
          reports: results/*.xml
      - id: use
        if: always()
        env:
          FEEDBACK: ${{ steps.back.outputs.feedback-file }}
          REPORT: ${{ steps.back.outputs.report }}
        run: |
          echo "got ${{ steps.back.outputs.decision }} ${{ steps.back.outputs.iteration }}/${{ steps.back.outputs.max-iterations }} ${{ steps.back.outputs.class }}"
          grep -q TestAdd "$FEEDBACK" && grep -q '"name": *"TestAdd"' "$REPORT" && echo "files are there"
`

func TestWorkflowStep(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	res, uploads := s.workflow(t, sourceOf, "pull_request", stepWorkflow, s.event(), map[string]string{"results/report.xml": failing("TestAdd"), "calc_test.go": calcTest})
	t.Logf("act took %v", res.Took)
	t.Run("the outputs are usable in a later step", func(t *testing.T) {
		if use := res.Step("unit", "use"); !strings.Contains(use.Log, "got RETRY 1/3 LOGIC_ERROR\nfiles are there\n") {
			t.Errorf("%+v\n%s\n%s", use, res.Console, res.Stderr)
		}
	})
	t.Run("the job's own failure stays what it is", func(t *testing.T) {
		if back := res.Step("unit", "back"); back.Result != "success" || res.Jobs["unit"] != "failure" {
			t.Errorf("%+v %v", back, res.Jobs)
		}
	})
	t.Run("the job summary is written", func(t *testing.T) {
		if sum := res.Step("unit", "back/route").Summary; !strings.Contains(sum, "TestAdd") || !strings.Contains(sum, "RETRY") {
			t.Errorf("%q", sum)
		}
	})
	t.Run("the comment and the check stand on the pull request", func(t *testing.T) {
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "1 of 3") {
			t.Errorf("%q", got)
		}
		if c := s.r.CheckRuns(t, s.sha); len(c) != 1 || c[0].Name != "switchback / unit" || c[0].Conclusion != "failure" || c[0].Output.AnnotationsCount != 1 {
			t.Errorf("%+v", c)
		}
	})
	t.Run("S0-31 the feedback of the turn is uploaded as an artifact", func(t *testing.T) {
		found, err := filepath.Glob(filepath.Join(uploads, "switchback-feedback-*", "*", "unit", "iterations", "1", "feedback.md"))
		if err != nil || len(found) != 1 || !strings.Contains(readAll(found[0]), "TestAdd") {
			t.Errorf("%v %v", found, err)
		}
	})
	s.clean()
}

const matrixWorkflow = `name: CI
on: pull_request
jobs:
  plan:
    runs-on: ubuntu-latest
    outputs:
      matrix: ${{ steps.m.outputs.matrix }}
    steps:
      - id: m
        run: echo 'matrix={"include":[{"os":"linux","n":0},{"os":"mac","n":1}]}' >> "$GITHUB_OUTPUT"
  unit:
    needs: plan
    runs-on: ubuntu-latest
    strategy:
      fail-fast: false
      matrix: ${{ fromJSON(needs.plan.outputs.matrix) }}
    steps:
      - uses: actions/checkout@v4
      - run: exit 1
      - id: back
        if: always()
        uses: ./
        with:
          reports: results/${{ matrix.n }}.xml
          matrix-total: ${{ strategy.job-total || 2 }} # act does not know it
`

func TestWorkflowMatrix(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	res, uploads := s.workflow(t, installedOf, "pull_request", matrixWorkflow, s.event(), map[string]string{"results/0.xml": failing("TestLinux"), "results/1.xml": failing("TestMac")})
	t.Logf("act took %v", res.Took)
	t.Run("S0-12 two failing legs are one turn and one comment with both", func(t *testing.T) {
		got := s.bot()
		if len(got) != 1 || !strings.Contains(got[0], "TestLinux") || !strings.Contains(got[0], "TestMac") || !strings.Contains(got[0], "1 of 3") {
			t.Errorf("%q\n%s\n%s", got, res.Console, res.Stderr)
		}
		if n := s.count("run:RETRY"); n != 1 || s.count("run") != 2 {
			t.Errorf("%v", s.events())
		}
	})
	t.Run("each leg is known by its values", func(t *testing.T) {
		tree := fmt.Sprint(s.r.Tree(t, "switchback-ledger"))
		for _, want := range []string{`\"os\":\"linux\"`, `\"os\":\"mac\"`, `"parts":2`} {
			if !strings.Contains(tree, want) {
				t.Errorf("%s is not in the ledger", want)
			}
		}
	})
	t.Run("the legs upload artifacts of different names", func(t *testing.T) {
		if found, err := os.ReadDir(uploads); err != nil || len(found) != 2 {
			t.Errorf("%v %v\n%s", found, err, res.Console)
		}
	})
	s.clean()
}

const greenMatrix = `name: CI
on: pull_request
jobs:
  unit:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        os: [linux, mac]
    steps:
      - uses: actions/checkout@v4
      - id: back
        if: always()
        uses: ./
        with:
          reports: results/*.xml
          matrix-total: ${{ strategy.job-total || 2 }} # act does not know it
`

func TestWorkflowGreenMatrix(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	res, _ := s.workflow(t, installedOf, "pull_request", greenMatrix, s.event(), map[string]string{"results/0.xml": passing})
	t.Run("a matrix passes when its last leg has", func(t *testing.T) {
		if s.count("run:NONE") != 1 || s.count("run:PASS") != 1 {
			t.Errorf("%v\n%s\n%s", s.events(), res.Console, res.Stderr)
		}
	})
	s.clean()
}

const outsideWorkflow = `name: Switchback
on:
  workflow_run:
    workflows: [CI]
    types: [completed]
jobs:
  route:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: back
        uses: ./
        with:
          reports: "**/*.xml"
          checkpoint: unit
      - id: use
        run: echo "got ${{ steps.back.outputs.decision }} ${{ steps.back.outputs.iteration }}"
`

func TestWorkflowRun(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	f := s.fork("feature")
	run := s.r.AddRun(s.ranOn(f, "feature", failing("TestAdd")))
	s.runID = 77
	res, _ := s.workflow(t, installedOf, "workflow_run", outsideWorkflow, s.r.RunPayload(run, "completed"), nil)
	t.Logf("act took %v", res.Took)
	t.Run("a workflow on workflow_run routes a fork's run", func(t *testing.T) {
		if use := res.Step("route", "use"); use.Log != "got RETRY 1\n" || res.Jobs["route"] != "success" {
			t.Errorf("%+v %v\n%s\n%s", use, res.Jobs, res.Console, res.Stderr)
		}
		if got := s.bot(); len(got) != 1 || !strings.Contains(got[0], "TestAdd") {
			t.Errorf("%q", got)
		}
	})
	s.clean()
}
