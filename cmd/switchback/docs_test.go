package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/switchback-ci/switchback/bot/config"
	"github.com/switchback-ci/switchback/routing/plan"
	"github.com/switchback-ci/switchback/routing/survey"
)

// The examples of docs/feedback.md are what people copy: they have to work.
func TestFeedbackPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "feedback.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][]string{}
	for _, m := range regexp.MustCompile("(?s)```(json|yaml|console)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]] = append(blocks[m[1]], m[2])
	}
	if len(blocks["json"]) != 2 || len(blocks["yaml"]) != 3 || len(blocks["console"]) != 1 {
		t.Fatalf("%d JSON, %d YAML, %d console", len(blocks["json"]), len(blocks["yaml"]), len(blocks["console"]))
	}
	if _, err := survey.ParseResult("result.json", []byte(blocks["json"][0])); err != nil {
		t.Error(err)
	}
	if f, err := config.Parse("switchback.yml", []byte(blocks["yaml"][2])); err != nil || !f.Feedback.Reenters() {
		t.Errorf("%+v %v", f, err)
	}
	known := actionFile(t, "survey")
	for _, b := range blocks["yaml"][:2] {
		var w struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		if err := yaml.Unmarshal([]byte(b), &w); err != nil {
			t.Fatal(err)
		}
		for _, j := range w.Jobs {
			for _, s := range j.Steps {
				for in := range s.With {
					if strings.HasPrefix(s.Uses, "actions/") {
						continue
					}
					if _, ok := known.Inputs[in]; !ok {
						t.Errorf("survey/action.yml has no input %s", in)
					}
				}
			}
		}
	}
	for _, out := range []string{"goal", "goal-file", "survey-issue"} {
		if _, ok := known.Outputs[out]; !ok {
			t.Errorf("survey/action.yml has no output %s", out)
		}
	}
	dir, led := surveyDir(t, blocks["json"][0])
	id := ""
	for _, line := range strings.Split(strings.TrimSpace(blocks["console"][0]), "\n") {
		line, _, _ = strings.Cut(strings.TrimPrefix(line, "$ "), "   ") // without its remark
		words := fieldsOf(strings.NewReplacer("feedback.jsonl", led+".jsonl", "ID", id, "goal.json", filepath.Join(dir, "goal.json"), "result.json", filepath.Join(dir, "result.json")+" --root "+dir).Replace(line))
		if words[0] != "switchback" {
			continue
		}
		r := run(t, "", words[1:]...)
		if r.code != 0 {
			t.Fatalf("%q: exit %d %s", line, r.code, r.err)
		}
		if id == "" {
			var p surveyed
			decode(t, r.out, &p)
			id = p.ID
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "goal.json"))
	var want, have survey.Goal
	decode(t, blocks["json"][1], &want)
	if err == nil {
		decode(t, string(got), &have)
	}
	if err != nil || have.Line() != want.Line() {
		t.Errorf("the page says %s, the commands give %s (%v)", want.Line(), have.Line(), err)
	}
}

// fieldsOf splits a command line at blanks that are not quoted.
func fieldsOf(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

// The examples of docs/ports.md are ports, its errors are those that are
// printed, and its table names every key.
func TestPortsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ports.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	head, actions, _ := strings.Cut(string(page), "\n## In GitHub Actions\n")
	callsPorts(t, actions)
	for i, m := range regexp.MustCompile("(?s)```(markdown|yaml)\n(.*?)```").FindAllStringSubmatch(head, -1) {
		name := map[string]string{"markdown": "api.md", "yaml": "rest.yml"}[m[1]]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(m[2]), 0o644); err != nil || i > 1 {
			t.Fatal(err, i)
		}
	}
	if r := run(t, "", "ports", "lint", dir); r.code != 0 || r.err != "" || !strings.Contains(r.out, "is valid: 3 ports, 3 dependencies, 3 levels") {
		t.Errorf("exit %d %s%s", r.code, r.out, r.err)
	}
	broken := run(t, "", "ports", "lint", filepath.Join("testdata", "broken"))
	if want := strings.ReplaceAll(broken.err, "testdata/broken/", "ports/"); !strings.Contains(string(page), "$ switchback ports lint ports\n"+want+"```") {
		t.Errorf("the page does not show what is printed:\n%s", want)
	}
	for _, k := range plan.Keys() {
		if !strings.Contains(string(page), "`"+k+"`") {
			t.Errorf("the page does not explain %s", k)
		}
	}
}

// callsPorts checks that the workflow on a page gives ports.yml inputs and secrets
// that it has, and the permissions that its jobs ask for.
func callsPorts(t *testing.T, page string) {
	t.Helper()
	m := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(page)
	file, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "ports.yml"))
	if err != nil || m == nil {
		t.Fatal(err, m)
	}
	type jobs map[string]struct {
		Uses          string
		With, Secrets map[string]string
		Permissions   map[string]string
	}
	var caller struct {
		On struct {
			Dispatch struct{ Inputs map[string]any } `yaml:"workflow_dispatch"`
		}
		Permissions map[string]string
		Jobs        jobs
	}
	var called struct {
		On struct {
			Call struct{ Inputs, Secrets map[string]any } `yaml:"workflow_call"`
		}
		Jobs jobs
	}
	if err := errors.Join(yaml.Unmarshal([]byte(m[1]), &caller), yaml.Unmarshal(file, &called)); err != nil {
		t.Fatal(err)
	}
	j := caller.Jobs["ports"]
	if !strings.HasPrefix(j.Uses, "switchback-ci/switchback/.github/workflows/ports.yml@v") || caller.On.Dispatch.Inputs["build"] == nil || j.With["build"] == "" {
		t.Errorf("the workflow does not go on: %+v", caller)
	}
	for name := range j.With {
		if called.On.Call.Inputs[name] == nil {
			t.Errorf("ports.yml has no input %s", name)
		}
	}
	for name := range j.Secrets {
		if called.On.Call.Secrets[name] == nil {
			t.Errorf("ports.yml has no secret %s", name)
		}
	}
	for name, c := range called.Jobs {
		for scope, level := range c.Permissions {
			if have := caller.Permissions[scope]; have != level && (have != "write" || level != "read") { // who may write may read
				t.Errorf("job %s wants %s: %s", name, scope, level)
			}
		}
	}
}
