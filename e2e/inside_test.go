package e2e

import (
	"bytes"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/action"
)

// RunInside runs the Action within this process at a time of the test's choice,
// with the same environment that RunAction gives it.
func (b *Bench) RunInside(tb testing.TB, a Action, now time.Time) Result {
	tb.Helper()
	env := b.actionEnv(tb, &a, tb.TempDir())
	var out, errs bytes.Buffer
	code := action.Run(tb.Context(), action.Env{
		Getenv: func(k string) string { return env[k] }, Stdout: &out, Stderr: &errs, Version: "test", Now: func() time.Time { return now },
	})
	outputs, err := parseOutputs(readAll(env["GITHUB_OUTPUT"]))
	if err != nil {
		tb.Errorf("GITHUB_OUTPUT: %v", err)
	}
	return Result{ExitCode: code, Stdout: out.String(), Stderr: errs.String(), Outputs: outputs, Summary: readAll(env["GITHUB_STEP_SUMMARY"])}
}
