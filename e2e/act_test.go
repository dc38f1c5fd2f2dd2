package e2e

import (
	"fmt"
	"strings"
	"testing"
)

const probeAction = `name: probe
description: a composite action
inputs:
  word: {description: a word, required: true}
outputs:
  said: {description: what was said, value: "${{ steps.run.outputs.said }}"}
runs:
  using: composite
  steps:
    - id: run
      shell: bash
      env:
        INPUT_WORD: ${{ inputs.word }}
        TOKEN: ${{ github.token }}
      run: |
        curl -sSf -o /dev/null -H "Authorization: Bearer $TOKEN" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY"
        echo "said=$INPUT_WORD $GITHUB_RUN_ID $GITHUB_RUN_ATTEMPT $GITHUB_ACTOR $GITHUB_EVENT_NAME" >> "$GITHUB_OUTPUT"
        echo "# summary" >> "$GITHUB_STEP_SUMMARY"
`

const probeWorkflow = `name: Probe
on: workflow_run
jobs:
  one:
    runs-on: ubuntu-latest
    outputs:
      said: ${{ steps.a.outputs.said }}
    steps:
      - uses: actions/checkout@v4
      - id: a
        uses: ./
        with: {word: hello}
      - id: bad
        run: exit 1
      - id: never
        run: echo never
      - id: end
        if: always()
        run: 'echo "always ${{ steps.a.outputs.said }} ${{ github.api_url }} ${{ github.event.workflow_run.conclusion }}"'
  two:
    needs: one
    if: always()
    runs-on: ubuntu-latest
    steps:
      - run: echo "two ${{ needs.one.result }} ${{ needs.one.outputs.said }}"
`

func TestBenchAct(t *testing.T) {
	t.Parallel()
	b := Start(t)
	r := b.NewRepo(t, nil)
	v := r.View()
	res := b.RunAct(t, Act{Repo: r, Workflow: ".github/workflows/probe.yml", RunID: 77, Attempt: 2,
		Files:   map[string]string{"action.yml": probeAction, ".github/workflows/probe.yml": probeWorkflow},
		Token:   b.AppToken(t, ActionsAppID, r, nil),
		Payload: map[string]any{"action": "completed", "workflow_run": map[string]any{"conclusion": "failure"}}})
	t.Logf("act took %v", res.Took)
	said := "hello 77 2 octo workflow_run"
	if s := res.Step("one", "a"); s.Outputs["said"] != said || s.Summary != "# summary\n" || s.Result != "success" {
		t.Errorf("the action's step: %+v", s)
	}
	if s := res.Step("one", "end"); s.Log != fmt.Sprintf("always %s %s failure\n", said, b.URL) {
		t.Errorf("the last step: %+v", s)
	}
	if s := res.Step("one", "never"); s.Log != "" {
		t.Errorf("a step ran after a failure: %+v", s)
	}
	if res.Jobs["one"] != "failure" || res.Jobs["two"] != "success" || !strings.Contains(res.Console, "two failure "+said) || res.ExitCode != 1 {
		t.Errorf("jobs: %v, exit %d\n%s%s", res.Jobs, res.ExitCode, res.Console, res.Stderr)
	}
	if q := v.Requests(); len(q) != 1 || q[0].Login != ActionsBot {
		t.Errorf("requests: %v", q)
	}
}
