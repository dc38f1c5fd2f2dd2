package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/plan"
)

// meetScript is a worker that continues only once another one runs as well.
const meetScript = `#!/bin/sh
echo $$ > "$2/$1"
until [ -s "$2/$3" ]; do sleep 0.1; done
echo 3 > "$1.txt"
`

// TestPortsIntegration is test/integration/workflow_test.sh of the document, as a
// workflow: its three scripts are ports of one plan.
func TestPortsIntegration(t *testing.T) {
	t.Parallel()
	meet := t.TempDir()
	meeting := func(id, other string) string {
		return fmt.Sprintf("id: %s\npriority: critical\ntimeout: 2m\nmax_iterations: 0\nimpl: sh meet.sh %s %s %s\ntest: sh test.sh\n", id, id, meet, other)
	}
	// act does not evaluate max-parallel: in this copy of the file it is a number.
	workflow := readAll(filepath.Join("..", ".github", "workflows", "ports.yml"))
	const evaluated = "max-parallel: ${{ fromJSON(needs.plan.outputs.max-parallel) }}"
	if !strings.Contains(workflow, evaluated) {
		t.Fatal("the workflow has no max-parallel of the plan")
	}
	p := newBuild(t, map[string]string{
		".github/workflows/ports.yml": strings.ReplaceAll(workflow, evaluated, "max-parallel: 2"),
		"meet.sh":                     meetScript, "ports/one.yml": meeting("one", "two"), "ports/two.yml": meeting("two", "one"),
		"ports/loop.yml": "id: loop\nimpl: sh worker.sh\ntest: sh test.sh\n",
		"ports/next.yml": good("next", "one", "two", "loop"),
		"ports/fail.yml": "id: fail\nmax_iterations: 0\nimpl: echo 7 > fail.txt\ntest: sh test.sh\n", "ports/wait.yml": good("wait", "fail", "next"),
		"ports/used.yml": "id: used\ntoken_budget: 100\nimpl: echo 95 > \"$SWITCHBACK_TOKENS_FILE\"; sleep 1000\ntest: sh test.sh\n",
		"ports/slow.yml": "id: slow\ntimeout: 1s\nimpl: sleep 1000\ntest: sh test.sh\n",
		"ports/help.yml": "id: help\nimpl: '\"$SWITCHBACK_BIN\" channel escalate --type dependency --severity critical --text \"no key\"; sleep 1000'\ntest: sh test.sh\n",
	})
	a, _ := p.act(t, 551)
	a.Workflow, a.Event, a.Payload, a.Timeout = ".github/workflows/ports.yml", "workflow_dispatch", map[string]any{"ref": "refs/heads/main"}, 4*time.Minute
	res := p.b.RunAct(t, a)
	t.Logf("act took %v", res.Took)
	for _, id := range []string{"one", "two", "loop", "next", "fail", "used", "slow", "help"} {
		if p.journal(t, "ports", id).Loop == nil {
			t.Fatalf("port %s was never run\n%s\n%s", id, res.Console, res.Stderr)
		}
	}
	t.Run("test_parallel_execution, two ports wait for each other while both run (S2-91)", func(t *testing.T) {
		for _, id := range []string{"one", "two"} {
			if l := p.journal(t, "ports", id).Loop; l.Status != plan.Success {
				t.Errorf("%s: %+v\n%s", id, l, res.Console)
			}
		}
	})
	t.Run("never more at once than max-parallel (S2-43)", func(t *testing.T) {
		var all []*plan.Loop
		for _, id := range []string{"one", "two", "loop", "fail", "used", "slow", "help", "next"} {
			all = append(all, p.journal(t, "ports", id).Loop)
		}
		for _, a := range all {
			var with []string // that run as a begins, itself among them
			for _, b := range all {
				if !b.StartedAt.After(a.StartedAt) && b.EndedAt.After(a.StartedAt) {
					with = append(with, b.Port)
				}
			}
			if len(with) > 2 {
				t.Errorf("%v at once", with)
			}
		}
	})
	t.Run("test_feedback_loop, a failing test is returned for a fix until it passes (S2-92)", func(t *testing.T) {
		j := p.journal(t, "ports", "loop")
		var sent []string
		for _, m := range j.Mail.Messages {
			sent = append(sent, string(m.Type))
		}
		if j.Loop.Status != plan.Success || j.Loop.CurrentTry != 2 || strings.Join(sent, " ") != "result feedback result feedback result" {
			t.Errorf("%+v, %v", j.Loop, sent)
		}
	})
	t.Run("test_escalation_triggers, reworks, tokens and time used up, and a call for help (S2-93)", func(t *testing.T) {
		for id, want := range map[string]string{"fail": "test_failure high", "used": "token_exhausted medium", "slow": "timeout high", "help": "dependency critical"} {
			calls := p.journal(t, "ports", id).Waiting()
			if len(calls) != 1 || string(calls[0].Type)+" "+string(calls[0].Severity) != want {
				t.Errorf("%s: %+v, want %s", id, calls, want)
			}
		}
	})
	t.Run("workflow_test, every port comes to its end in one run (S2-94)", func(t *testing.T) {
		p.want(t, "ports", map[string]string{"one": "passed 1", "two": "passed 1", "loop": "passed 3", "next": "passed 1",
			"fail": "escalated 1", "used": "escalated 1", "slow": "escalated 1", "help": "escalated 1", "wait": "blocked"}, res)
		if res.Jobs["level-2"] != "success" || res.Jobs["collect-1"] != "success" || res.ExitCode == 0 {
			t.Errorf("exit %d, %v", res.ExitCode, res.Jobs)
		}
	})
	p.clean(t)
}
