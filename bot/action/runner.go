package action

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/redact"
)

// runner is the environment that GitHub's runner gives a step: its files and its workflow commands.
type runner struct{ Env }

// path resolves name below the workspace.
func (r runner) path(name string) string {
	ws := r.Getenv("GITHUB_WORKSPACE")
	if ws == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(ws, name)
}

// temp is the directory for what later steps of the job may read.
func (r runner) temp() string {
	if t := r.Getenv("RUNNER_TEMP"); t != "" {
		return t
	}
	return os.TempDir()
}

// say prints a workflow command that shows text: as a notice, warning or error. Secrets are masked.
func (r runner) say(level, text string) {
	fmt.Fprintf(r.Stdout, "::%s title=Switchback::%s\n", level, escapeData(redact.Text(text)))
}

func (r runner) notice(format string, a ...any) { r.say("notice", fmt.Sprintf(format, a...)) }

func (r runner) outputs(values map[string]string) error {
	return setOutputs(r.Getenv("GITHUB_OUTPUT"), values)
}

// summary appends Markdown to the job summary. Secrets that nothing masked before are masked.
func (r runner) summary(text markdown.Text) error {
	name := r.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("the job summary: %w", err)
	}
	if _, err := file.WriteString(redact.Tokens(string(text)) + "\n"); err != nil {
		_ = file.Close()
		return fmt.Errorf("the job summary: %w", err)
	}
	return file.Close()
}
