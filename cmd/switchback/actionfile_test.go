package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// anAction is what is read of an action.yml.
type anAction struct {
	Inputs map[string]struct {
		Description string
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Steps []struct {
			ID, Run, Uses string
			Env           map[string]string
		}
	}
}

// actionFile reads the action in a folder of the repository.
func actionFile(t *testing.T, folder string) anAction {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", folder, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var a anAction
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatalf("%s/action.yml: %v", folder, err)
	}
	return a
}

// The actions share one installation, and each input reaches the program.
func TestActions(t *testing.T) {
	t.Parallel()
	if n := len(actionFile(t, ".").Inputs); n > 10 {
		t.Errorf("action.yml has %d inputs; a test job needs at most 10", n)
	}
	for folder, name := range map[string]string{".": "switchback", "ports": "ports", "survey": "survey", "reconcile": "reconcile"} {
		a := actionFile(t, folder)
		binary, route := a.Runs.Steps[0], a.Runs.Steps[0]
		for _, s := range a.Runs.Steps {
			if s.ID == "route" {
				route = s
			}
		}
		installer := map[bool]string{true: "${{ github.action_path }}/scripts/install.sh", false: "${{ github.action_path }}/../scripts/install.sh"}[folder == "."]
		if binary.ID != "binary" || binary.Run != `bash "$INSTALLER"` || binary.Env["INSTALLER"] != installer || binary.Env["ACTION_REF"] != "${{ github.action_ref }}" {
			t.Errorf("%s/action.yml installs by %+v", folder, binary)
		}
		if route.Env["SWITCHBACK_ACTION"] != name || route.Env["GITHUB_TOKEN"] != "${{ inputs.token }}" || route.Run != `exec "$SWITCHBACK" action` {
			t.Errorf("%s/action.yml runs %+v", folder, route)
		}
		for in, x := range a.Inputs {
			if x.Description == "" || strings.Contains(x.Description, "eave it") {
				t.Errorf("%s/action.yml: the description of %s is %q", folder, in, x.Description)
			}
			if in != "token" && in != "artifact" && !strings.Contains(route.Env["INPUT_"+strings.ToUpper(in)], "inputs."+in+" ") {
				t.Errorf("%s/action.yml: the program does not get the input %s", folder, in)
			}
		}
		for out, x := range a.Outputs {
			if x.Value != "${{ steps.route.outputs."+out+" }}" {
				t.Errorf("%s/action.yml: output %s is %s", folder, out, x.Value)
			}
		}
	}
}

// use is a step of a workflow, or of a part of one, that uses an action of this repository.
var use = regexp.MustCompile(`(?m)^( *)(?:- )?(?:id: \S+\n *)?uses: switchback-ci/switchback(/[a-z]+)?@\S+\n((?: +if: .*\n)?)( *)with:(?: \{(.*)\}|((?:\n +[a-z-]+: .*)+))`)

// Every input that a page, a workflow or a generated workflow gives to an action is one that the
// action has.
func TestDocumentedInputs(t *testing.T) {
	t.Parallel()
	var names []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/*/*.md", ".github/workflows/*.yml", "cmd/switchback/testdata/*.yml"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	known, uses := map[string]anAction{}, 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range use.FindAllStringSubmatch(string(data), -1) {
			folder := "./" + strings.TrimPrefix(m[2], "/")
			a, ok := known[folder]
			if !ok {
				a = actionFile(t, folder)
				known[folder] = a
			}
			uses++
			for _, in := range regexp.MustCompile(`(?m)([a-z-]+): `).FindAllStringSubmatch(inputLines(m[5]+m[6]), -1) {
				if _, ok := a.Inputs[in[1]]; !ok {
					t.Errorf("%s: %s/action.yml has no input %s", name, folder, in[1])
				}
			}
		}
	}
	if uses < 15 {
		t.Errorf("only %d uses with inputs were found", uses)
	}
}

// inputLines keeps of each line what stands before its value.
func inputLines(with string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(with, "\n") {
		if name, _, ok := strings.Cut(strings.TrimSpace(l), ": "); ok {
			b.WriteString(name + ": \n")
		}
	}
	return b.String()
}
