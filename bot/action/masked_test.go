package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/bot/render/markdown"
	"github.com/switchback-ci/switchback/routing/redact"
)

// TestS6_5_RunnerShowsNoSecret is S6-5: annotations, outputs, the job summary and what a port's
// process prints show neither tokens nor the values that the step holds.
func TestS6_5_RunnerShowsNoSecret(t *testing.T) {
	t.Parallel()
	const held = "held by the step's test"
	redact.Hide(held)
	dir := t.TempDir()
	var out strings.Builder
	r := runner{Env{Stdout: &out, Getenv: func(name string) string { return filepath.Join(dir, name) }}}
	text := "a " + held + ", ghp_" + strings.Repeat("a1B2", 9)
	r.say("error", text)
	r.notice("%s", text)
	lines := &inertLines{w: &out}
	_, _ = lines.Write([]byte(text + "\n" + text))
	lines.flush()
	if err := r.summary(markdown.Text(text)); err != nil {
		t.Fatal(err)
	}
	if err := r.outputs(map[string]string{"o": text}); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got += string(data)
	}
	if strings.Contains(got, held) || strings.Contains(got, "a1B2") || strings.Count(got, "a ***, ghp_***") != 6 {
		t.Errorf("%s", got)
	}
}
