package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/handler"
)

// An action refuses the commands of another one, and says which that is.
func TestCommandsOfActions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ action, command, want string }{
		{"switchback", "auto", ""},
		{"switchback", "replay", ""},
		{"switchback", "port", `input command is "port", which is a command of the action switchback-ci/switchback/ports; the commands of this one are auto, step`},
		{"switchback", "reconcile", "switchback-ci/switchback/reconcile"},
		{"switchback", "dance", `input command is "dance"; it must be one of auto, step, workflow-run`},
		{"ports", "collect", ""},
		{"ports", "step", "the commands of this one are plan, matrix, port, collect, port-event"},
		{"", "survey", ""},
		{"", "dance", "answer, auto, collect"},
	} {
		err := checkCommand(c.action, c.command)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: %v", c.action, c.command, err)
		}
	}
}

// A schedule reconciles in a job that has no files, and reads the reports of a job that has.
func TestCommandOfTheEvent(t *testing.T) {
	t.Parallel()
	empty, full := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "go.mod"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ action, event, workspace, reports, want string }{
		{"switchback", "schedule", empty, "a.xml", "reconcile"},
		{"switchback", "workflow_dispatch", empty, "a.xml", "reconcile"},
		{"switchback", "schedule", full, "a.xml", "step"},
		{"switchback", "schedule", full, "", "reconcile"},
		{"switchback", "push", empty, "a.xml", "step"},
		{"survey", "schedule", empty, "", "reconcile"},
		{"survey", "push", full, "", ""},
		{"survey", "pull_request_review", empty, "", ""},
	} {
		env := Env{Getenv: func(name string) string {
			return map[string]string{actionVariable: c.action, "GITHUB_WORKSPACE": c.workspace}[name]
		}}
		s := &step{runner: runner{env}, in: Inputs{Command: "auto", Reports: list(c.reports)}, event: &handler.Event{Name: c.event, Action: "submitted"}}
		if got := s.command(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
