package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// cloneStub stands where actions/checkout@v4 would be fetched from: it clones
// what ORIGIN names, as it is then.
const cloneStub = `name: checkout
description: clones
inputs:
  ref: {description: r, required: false}
runs:
  using: composite
  steps:
    - shell: bash
      run: git init -q -b main . && git fetch -q "$ORIGIN" main && git reset -q --hard FETCH_HEAD
`

// worker is an implementing worker that works from nothing but the feedback: it
// writes one more than the last test got.
const workerScript = `#!/bin/sh
got=0
if [ -n "$SWITCHBACK_FEEDBACK" ]; then
  got=$(sed -n 's/.*got \([0-9][0-9]*\), want 3.*/\1/p' "$SWITCHBACK_FEEDBACK" | head -n 1)
fi
echo $((got + 1)) > "$SWITCHBACK_PORT.txt"
`

// testScript is its test, which prints as go test does.
const testScript = `#!/bin/sh
got=$(cat "$SWITCHBACK_PORT.txt")
echo "=== RUN   TestWork"
if [ "$got" -eq 3 ]; then
  printf -- '--- PASS: TestWork (0.00s)\nPASS\nok  \texample.com/work\t0.01s\n'
  exit 0
fi
printf -- '--- FAIL: TestWork (0.00s)\n    work_test.go:7: got %s, want 3\nFAIL\nFAIL\texample.com/work\t0.01s\nFAIL\n' "$got"
exit 1
`

// good is a port that passes at once.
func good(id string, needs ...string) string {
	return fmt.Sprintf("id: %s\ndepends_on: [%s]\nimpl: echo 3 > %s.txt\ntest: sh test.sh\n", id, strings.Join(needs, ", "), id)
}

// build is a repository with a plan whose workflow is run with act.
type build struct {
	t      *testing.T
	b      *Bench
	r      *Repo
	token  string
	files  map[string]string
	origin string
	local  map[string]string
	view   *View
}

func newBuild(t *testing.T, ports map[string]string) *build {
	t.Helper()
	b := Start(t)
	files := map[string]string{"worker.sh": workerScript, "test.sh": testScript, ".github/workflows/ports.yml": readAll(filepath.Join(b.Root, ".github", "workflows", "ports.yml"))}
	maps.Copy(files, ports)
	r := b.NewRepo(t, files)
	p := &build{t: t, b: b, r: r, token: b.AppToken(t, ActionsAppID, r, nil), files: files, view: r.View()}
	p.origin = b.checkout(t, t.TempDir(), Act{Files: files, Repo: r})
	bin, err := switchback()
	if err != nil {
		t.Fatal(err)
	}
	clone, upload, action := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, clone, "action.yml", cloneStub)
	write(t, upload, "action.yml", uploadStub)
	write(t, action, "action.yml", readAll(filepath.Join(b.Root, "action.yml")))
	// A release is fetched over the network; all behind it is as it is.
	write(t, mkdir(t, action, "scripts"), "install.sh", "echo \"path="+bin+"\" >> \"$GITHUB_OUTPUT\"\n")
	p.local = map[string]string{"actions/checkout@v4": clone, "actions/upload-artifact@v4": upload, "switchback-ci/switchback@v1.0.0": action}
	return p
}

// run runs the workflow as run id, with inputs if a dispatch gave some.
func (p *build) run(t *testing.T, id int64, inputs map[string]any, kill *Hold) (ActResult, string) {
	t.Helper()
	uploads := t.TempDir()
	return p.b.RunAct(t, Act{
		Files: p.files, Workflow: ".github/workflows/ports.yml", Repo: p.r, Token: p.token, Event: "workflow_dispatch", Payload: map[string]any{"inputs": inputs, "ref": "refs/heads/main"},
		RunID: id, Local: p.local, Kill: kill, Timeout: 2 * time.Minute,
		Env: map[string]string{"ORIGIN": p.origin, "UPLOADS": uploads, "SWITCHBACK_CONTENT_INTERVAL": "1ms", "GITHUB_REF": "refs/heads/main",
			"GITHUB_WORKFLOW_REF": p.r.FullName + "/.github/workflows/ports.yml@refs/heads/main"},
	}), uploads
}

// standings reads how the ports stand from the plan's issue: "a passed 1".
func (p *build) standings(t *testing.T, title string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, i := range p.r.Issues(t) {
		if !strings.HasSuffix(i.Title, title) {
			continue
		}
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)`[^|]*\\| \\S+ (\\w+) \\| (\\d*) \\|").FindAllStringSubmatch(i.Body, -1) {
			out[m[1]] = strings.TrimSpace(m[2] + " " + m[3])
		}
	}
	return out
}

func (p *build) want(t *testing.T, title string, want map[string]string, res ActResult) {
	t.Helper()
	if got := p.standings(t, title); !maps.Equal(got, want) {
		t.Errorf("the ports stand as %v, want %v\n%s\n%s", got, want, res.Console, res.Stderr)
	}
}

func (p *build) clean(t *testing.T) {
	t.Helper()
	if v := p.view.Violations(); len(v) > 0 {
		t.Errorf("requests that GitHub would refuse: %v", v)
	}
}

func TestPorts(t *testing.T) {
	p := newBuild(t, map[string]string{
		"ports/a.yml": good("a"), "ports/b.yml": good("b"),
		"ports/c.yml": "id: c\ndepends_on: a\nimpl: sh worker.sh\ntest: sh test.sh\n",
		"ports/d.yml": good("d", "a", "b", "c"), "ports/e.yml": good("e", "d"),
		"ports/x.yml": "id: x\nmax_iterations: 1\nimpl: echo 7 > x.txt\ntest: sh test.sh\n", "ports/y.yml": good("y", "x"),
	})
	res, uploads := p.run(t, 501, nil, nil)
	t.Logf("act took %v, jobs %v", res.Took, res.Jobs)
	p.want(t, "ports", map[string]string{"a": "passed 1", "b": "passed 1", "c": "passed 3", "d": "passed 1", "e": "ready", "x": "escalated 2", "y": "blocked"}, res)
	_ = uploads
	p.clean(t)
}

var _ = os.Stat
var _ = exec.Command
