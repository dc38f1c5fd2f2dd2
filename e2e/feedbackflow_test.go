package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const askWorkflow = `name: Nightly
on: workflow_dispatch
jobs:
  optimize:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: ask
        uses: ./survey
        with:
          result: result.json
      - id: use
        run: echo "asked in ${{ steps.ask.outputs.survey-issue }}, goal '${{ steps.ask.outputs.goal }}'"
`

const takeWorkflow = `name: Feedback
on: issue_comment
jobs:
  switchback:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: take
        uses: ./survey
      - id: use
        env:
          GOAL: ${{ steps.take.outputs.goal }}
          FILE: ${{ steps.take.outputs.goal-file }}
        run: |
          echo "$GOAL"
          grep -q human_feedback "$FILE" && echo "the file is there"
`

// TestWorkflowFeedback runs both workflows of the documentation's kind with a
// real runner.
func TestWorkflowFeedback(t *testing.T) {
	t.Parallel()
	s := newStory(t, "")
	s.r.Grant(t, Writer, "push")
	files := map[string]string{"result.json": resultJSON, "optimizer/level20_report.md": "# Level 20\n"}
	res, _ := s.workflow(t, installedOf, "workflow_dispatch", askWorkflow, map[string]any{"repository": map[string]any{"default_branch": "main"}}, files)
	t.Logf("act took %v", res.Took)
	issue := s.onlyIssue()
	t.Run("S1-1 a step with a result asks in an issue, whose number later steps have", func(t *testing.T) {
		if use := res.Step("optimize", "use"); use.Log != fmt.Sprintf("asked in %d, goal ''\n", issue.Number) {
			t.Errorf("%+v\n%s\n%s", use, res.Console, res.Stderr)
		}
	})
	const text = "/switchback answer raise accept 1 once more"
	id := s.r.Comment(t, Writer, issue.Number, text)
	s.runID++
	res, uploads := s.workflow(t, installedOf, "issue_comment", takeWorkflow, map[string]any{
		"action": "created", "repository": map[string]any{"default_branch": "main"}, "sender": map[string]any{"login": Writer, "type": "User"},
		"issue":   map[string]any{"number": issue.Number, "body": issue.Body, "user": map[string]any{"login": ActionsBot}},
		"comment": map[string]any{"id": id, "body": text, "user": map[string]any{"login": Writer, "type": "User"}},
	}, nil)
	t.Run("S1-33 S1-34 an answer gives later steps the goal, and an artifact", func(t *testing.T) {
		use := res.Step("switchback", "use")
		if !strings.Contains(use.Log, `{"next_automation_level":30,"optimization_directives":["Cache the modules"],"carry_over_issues":["once more"],"approved_by":"human_feedback"}`) || !strings.Contains(use.Log, "the file is there") {
			t.Errorf("%+v\n%s\n%s", use, res.Console, res.Stderr)
		}
		found := 0
		_ = filepath.WalkDir(uploads, func(p string, _ os.DirEntry, _ error) error {
			if filepath.Base(p) == "goal.json" && strings.Contains(p, "switchback-goal-") {
				found++
			}
			return nil
		})
		if found != 1 {
			t.Errorf("%d goals uploaded\n%s", found, res.Console)
		}
	})
	s.clean()
}
