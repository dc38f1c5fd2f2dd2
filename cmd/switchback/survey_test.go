package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing/survey"
)

const resultOfNightly = `{"workflow_name":"Nightly","automation_level":20,"report_path":"optimizer/level20_report.md","run_id":"77",
"suggestions":[{"id":"cache","text":"Cache the modules"},{"id":"split","text":"Split the suite"}]}`

// surveyDir is a folder with a result and the report it names.
func surveyDir(t *testing.T, result string) (dir, led string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "optimizer"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"result.json": result, "optimizer/level20_report.md": "# Level 20\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "ledger")
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	dir, led := surveyDir(t, resultOfNightly)
	var p surveyed
	r := run(t, "", "survey", "open", "--result", filepath.Join(dir, "result.json"), "--root", dir, "--ledger", led)
	t.Run("S1-1 open prints the survey once its report exists", func(t *testing.T) {
		decode(t, r.out, &p)
		if r.code != 0 || p.State != "open" || p.Audit != "TASK-0001" || !strings.Contains(p.Body, "1. Was the automation level appropriate?") {
			t.Errorf("exit %d %s\n%s", r.code, r.err, r.out)
		}
	})
	t.Run("S1-7 an answer without level is refused", func(t *testing.T) {
		if r := run(t, "", "survey", "answer", p.ID, "--ledger", led); r.code != 2 || !strings.Contains(r.err, "--level to keep, raise or lower") {
			t.Errorf("exit %d %s", r.code, r.err)
		}
	})
	goal := filepath.Join(dir, "goal.json")
	r = run(t, "", "survey", "answer", p.ID, "--ledger", led, "--level", "raise", "--accept", "2", "--text", "more", "--by", "octo", "--goal", goal)
	t.Run("S1-18 S1-33 S1-34 an answer is recorded and writes goal.json", func(t *testing.T) {
		decode(t, r.out, &p)
		data, err := os.ReadFile(goal)
		var g survey.Goal
		if r.code != 0 || err != nil || json.Unmarshal(data, &g) != nil || g.NextAutomationLevel != 30 || !slices.Equal(g.OptimizationDirectives, []string{"Split the suite"}) || !slices.Equal(g.CarryOverIssues, []string{"more"}) {
			t.Errorf("exit %d %s\n%s", r.code, r.err, data)
		}
		if p.Feedback == nil || p.Feedback.ID != "FB-0001" || *p.Feedback.UserID != "octo" || p.State != "answered" {
			t.Errorf("%s", r.out)
		}
	})
	t.Run("S1-32 a second answer is refused", func(t *testing.T) {
		if r := run(t, "", "survey", "answer", p.ID, "--ledger", led, "--level", "lower", "--by", "hubot"); r.code != 1 || !strings.Contains(r.err, "answered by octo before") {
			t.Errorf("exit %d %s", r.code, r.err)
		}
	})
	t.Run("status lists surveys and reconcile finds nothing due", func(t *testing.T) {
		var all []surveyed
		r := run(t, "", "survey", "status", "--ledger", led)
		decode(t, r.out, &all)
		if len(all) != 1 || all[0].Goal == nil || all[0].Title != "" {
			t.Errorf("%s", r.out)
		}
		if r := run(t, "", "survey", "reconcile", "--ledger", led); r.code != 0 || strings.TrimSpace(r.out) != "[]" {
			t.Errorf("exit %d %s %s", r.code, r.out, r.err)
		}
	})
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no result", []string{"open", "--ledger", led}, 2, "--result is missing"},
		{"a result that is not there", []string{"open", "--ledger", led, "--result", filepath.Join(dir, "no.json")}, 1, "no.json"},
		{"S1-1 a report that is not there", []string{"open", "--ledger", led, "--result", filepath.Join(dir, "result.json"), "--root", t.TempDir()}, 1, "report_path: there is no file"},
		{"no ledger", []string{"status"}, 2, "--ledger is missing"},
		{"a survey that is not there", []string{"answer", "nope", "--ledger", led, "--level", "keep"}, 1, `there is no survey "nope"`},
		{"no subcommand", nil, 2, "name open, answer, reconcile or status"},
		{"on GitHub without a repository", []string{"open", "--result", filepath.Join(dir, "result.json")}, 2, "GITHUB_REPOSITORY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, "", append([]string{"survey"}, c.args...)...)
			if r.code != c.code || !strings.Contains(r.err+r.out, c.want) {
				t.Errorf("exit %d, %s%s", r.code, r.err, r.out)
			}
		})
	}
}
