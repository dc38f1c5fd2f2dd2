package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/routing/actionpins"
)

var root = filepath.Join("..", "..")

func collected(t *testing.T) []File {
	t.Helper()
	files, err := Collect(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// No workflow of the project, generated or documented, has one of the weaknesses.
func TestWorkflows(t *testing.T) {
	t.Run("S6-6 S6-10 no workflow has a known weakness", func(t *testing.T) {
		files := collected(t)
		places := map[string]int{}
		for _, f := range files {
			places[f.Name]++
			for _, x := range f.Check() {
				t.Error(x)
			}
		}
		for name, least := range map[string]int{"README.md": 2, "docs/start.md": 3, "docs/ports.md": 3, "docs/feedback.md": 2, "docs/replay.md": 1,
			".github/workflows/ci.yml": 1, ".github/workflows/switchback.yml": 1, ".github/workflows/ports.yml": 1, ".github/workflows/release.yml": 1,
			"action.yml": 1, "ports/action.yml": 1, "survey/action.yml": 1, "reconcile/action.yml": 1, "cmd/switchback/testdata/plan.golden.yml": 1} {
			if places[name] < least {
				t.Errorf("%s: %d workflows were found, want %d", name, places[name], least)
			}
		}
	})
}

// TestRules gives each rule a workflow that breaks it, and changes it to one that does not.
func TestRules(t *testing.T) {
	const head = "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: x\n    steps:\n"
	checkout := "      - uses: " + actionpins.Ref("actions/checkout") + " # v6.0.2\n        with:\n          persist-credentials: false\n"
	for _, c := range []struct {
		rule, text string
		instead    [2]string // what makes it right: this by that
	}{
		{"unpinned-uses", head + "      - uses: actions/checkout@v6\n        with: {persist-credentials: false}\n", [2]string{"actions/checkout@v6", actionpins.Ref("actions/checkout") + " # v6.0.2"}},
		{"unpinned-uses", head + "      - uses: someone/else@" + strings.Repeat("a", 40) + " # v1.0.0\n", [2]string{"someone/else@" + strings.Repeat("a", 40) + " # v1.0.0", "./"}},
		{"unpinned-uses", "runs:\n  using: composite\n  steps:\n    - uses: actions/upload-artifact@main\n", [2]string{"actions/upload-artifact@main", actionpins.Ref("actions/upload-artifact") + " # v7.0.1"}},
		{"unpinned-uses", head + "      - uses: docker://alpine:3\n", [2]string{"alpine:3", "alpine@sha256:" + strings.Repeat("a", 64)}},
		{"unpinned-images", head + "      - run: x\n    container: alpine:3\n", [2]string{"alpine:3", "alpine@sha256:" + strings.Repeat("a", 64)}},
		{"ref-version-mismatch", head + strings.Replace(checkout, "v6.0.2", "v6.0.1", 1), [2]string{"v6.0.1", "v6.0.2"}},
		{"ref-version-mismatch", head + strings.Replace(checkout, " # v6.0.2", "", 1), [2]string{"\n        with:", " # v6.0.2, of main\n        with:"}},
		{"ref-version-mismatch", head + strings.Replace(checkout, "@de0f", "@aaaa", 1), [2]string{"@aaaa", "@de0f"}},
		{"template-injection", head + "      - run: echo ${{ github.event.issue.title }}\n", [2]string{"${{ github.event.issue.title }}", `"$TITLE"`}},
		{"excessive-permissions", "on: push\njobs:\n  a:\n    runs-on: x\n    steps: [{run: x}]\n", [2]string{"jobs:", "permissions: {}\njobs:"}},
		{"excessive-permissions", "on: push\npermissions: write-all\njobs:\n  a:\n    runs-on: x\n    steps: [{run: x}]\n", [2]string{"write-all", "{contents: write}"}},
		{"excessive-permissions", "on: push\npermissions: {contents: write}\njobs:\n  a: {runs-on: x, steps: [{run: x}]}\n  b: {runs-on: x, steps: [{run: x}]}\n", [2]string{"write", "read"}},
		{"artipacked", head + strings.Replace(checkout, "        with:\n          persist-credentials: false\n", "", 1), [2]string{"# v6.0.2\n", "# v6.0.2\n      - run: git push\n"}},
		{"artipacked", head + strings.Replace(checkout, "false", "true", 1), [2]string{"true", "false"}},
		{"dangerous-triggers", strings.Replace(head, "push", "pull_request_target", 1) + checkout + "          ref: ${{ github.event.pull_request.head.sha }}\n", [2]string{"pull_request_target", "pull_request"}},
		{"dangerous-triggers", strings.Replace(head, "push", "{workflow_run: {workflows: [CI]}}", 1) + checkout + "          ref: ${{ github.event.workflow_run.head_sha }}\n", [2]string{"          ref: ${{ github.event.workflow_run.head_sha }}\n", ""}},
		{"github-env", strings.Replace(head, "push", "issue_comment, workflow_run]", 1) + "      - run: echo \"X=$BODY\" >> $GITHUB_ENV\n", [2]string{"GITHUB_ENV", "GITHUB_OUTPUT"}},
		{"cache-poisoning", head + "      - uses: " + actionpins.Ref("actions/setup-go") + " # v6.2.0\n      - run: gh release create v1\n", [2]string{"# v6.2.0", "# v6.2.0\n        with: {cache: false}"}},
		{"secrets-inherit", "on: push\npermissions: {}\njobs:\n  a:\n    uses: ./.github/workflows/b.yml\n    secrets: inherit\n", [2]string{"secrets: inherit", "secrets: {A: b}"}},
		{"overprovisioned-secrets", head + "      - run: x\n        env: {ALL: '${{ toJSON(secrets) }}'}\n", [2]string{"toJSON(secrets)", "secrets.ONE"}},
		{"bot-conditions", head + "      - run: x\n        if: github.actor == 'dependabot[bot]'\n", [2]string{"github.actor", "github.event.pull_request.user.login"}},
		{"insecure-commands", head + "      - run: x\n        env: {ACTIONS_ALLOW_UNSECURE_COMMANDS: true}\n", [2]string{"ACTIONS_ALLOW_UNSECURE_COMMANDS", "OTHER"}},
	} {
		t.Run("S6-6 "+c.rule, func(t *testing.T) {
			c.text = strings.Replace(c.text, "on: issue_comment, workflow_run]", "on: [issue_comment, workflow_run]", 1)
			found := File{Name: "w.yml", Line: 10, Text: c.text}.Check()
			if len(found) != 1 || found[0].Rule != c.rule || found[0].Line <= 10 || !strings.HasPrefix(found[0].String(), "w.yml:") {
				t.Errorf("%v in\n%s", found, c.text)
			}
			right := strings.Replace(c.text, c.instead[0], c.instead[1], 1)
			if found := (File{Text: right}).Check(); right == c.text || len(found) != 0 {
				t.Errorf("%v in\n%s", found, right)
			}
		})
	}
	if found := (File{Text: "a: ["}).Check(); len(found) != 1 || found[0].Rule != "syntax" {
		t.Errorf("%v", found)
	}
}

// Every reference to an action of others in any text that people copy, also in parts of workflows,
// is a commit of the table.
func TestPinnedActions(t *testing.T) {
	use := regexp.MustCompile(`(?m)\buses: *([A-Za-z0-9-]+/[A-Za-z0-9./_-]+)@(\S+)(?: # (v[0-9.]+))?`)
	var names []string
	for _, pattern := range []string{".github/workflows/*", "action.yml", "*/action.yml", "*.md", "docs/*.md", "docs/*/*.md", "e2e/*.md", "cmd/switchback/testdata/*.yml"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	used := map[string]bool{}
	t.Run("S6-6 all files use the commits of the table", func(t *testing.T) {
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range use.FindAllStringSubmatch(string(data), -1) {
				if strings.HasPrefix(m[1], own) {
					continue
				}
				used[m[1]] = true
				if p, ok := actionpins.Of(m[1]); !ok || p.Commit != m[2] || p.Version != m[3] {
					t.Errorf("%s: %s; routing/actionpins says %+v", name, m[0], p)
				}
			}
		}
		for _, p := range actionpins.Pins {
			if !used[p.Action] {
				t.Errorf("no file uses %s", p.Action)
			}
		}
	})
}

// Documented workflows are valid, and where they route apart from the tests, nothing but the
// routing job may write and that job runs nothing of a checkout.
func TestDocumentedWorkflows(t *testing.T) {
	lint := filepath.Join(root, "bin", "actionlint")
	if _, err := os.Stat(lint); err != nil {
		t.Fatal("bin/actionlint is missing: run `make e2e-tools`")
	}
	short := 0
	for _, f := range collected(t) {
		if path.Base(f.Name) == "action.yml" {
			continue
		}
		t.Run("S6-10 "+f.Name, func(t *testing.T) {
			cmd := exec.Command(lint, "-")
			cmd.Stdin = strings.NewReader(f.Text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("actionlint: %v\n%s", err, out)
			}
			if strings.HasPrefix(f.Text, "# The short form: the tests can write") {
				short++
				return
			}
			for _, x := range tested(t, f) {
				t.Error(x)
			}
		})
	}
	t.Run("S6-10 one page shows the short form", func(t *testing.T) {
		if short != 1 {
			t.Errorf("%d workflows run tests with write permissions, want the one whose cost docs/start.md tells", short)
		}
	})
	t.Run("S6-10 a test job that may write is found", func(t *testing.T) {
		for _, w := range []string{
			"on: pull_request\npermissions: {contents: write}\njobs:\n  a:\n    steps:\n      - run: go test ./...\n",
			"on: pull_request\njobs:\n  a:\n    permissions: {issues: write}\n    steps:\n      - run: npm test\n",
			"on: workflow_run\njobs:\n  a:\n    permissions: {issues: write}\n    steps:\n      - uses: actions/checkout@x\n      - uses: switchback-ci/switchback@v1\n      - run: ./check.sh\n",
		} {
			if len(tested(t, File{Text: w})) == 0 {
				t.Errorf("nothing is found in\n%s", w)
			}
		}
	})
}

// tests are the commands that run code of a checkout.
var tests = regexp.MustCompile(`\b(go test|npm (ci|install|test)|pytest|make|mvn|gradle|cargo test)\b|(^|\s)(sh |bash )?\.?/?[\w-]+\.sh\b`)

// tested returns the jobs of a workflow that run code of a checkout with the right to write.
func tested(t *testing.T, f File) []string {
	t.Helper()
	type permissions map[string]string
	var w struct {
		Permissions permissions
		Jobs        map[string]struct {
			Permissions *permissions
			Steps       []struct {
				Uses, Run string
				With      map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(f.Text), &w); err != nil {
		t.Fatal(err)
	}
	var out []string
	for name, j := range w.Jobs {
		p := w.Permissions
		if j.Permissions != nil {
			p = *j.Permissions
		}
		writes := false
		for _, level := range p {
			writes = writes || level == "write"
		}
		runs := ""
		for _, s := range j.Steps {
			if tests.MatchString(s.Run) && !strings.HasPrefix(s.Run, "scripts/tag.sh ") {
				runs = s.Run
			}
		}
		// A worker that pushes its work is no test, and its page says what it may do.
		pushes := false
		for _, s := range j.Steps {
			pushes = pushes || push.MatchString(s.Run)
		}
		if writes && runs != "" && !pushes {
			out = append(out, f.Name+": job "+name+" may write and runs "+runs)
		}
	}
	return out
}
