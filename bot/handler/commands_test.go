package handler

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// What is done without, or left as it is, waits for nobody: a command that
// names no checkpoint is about the one that does.
func TestPick(t *testing.T) {
	t.Parallel()
	escalated := routing.Checkpoint{State: routing.Escalated}
	skipped := routing.Checkpoint{State: routing.Escalated, Skipped: true}
	left := routing.Checkpoint{State: routing.Escalated, WontFix: &routing.Act{}}
	for _, c := range []struct {
		a, b routing.Checkpoint
		want string
	}{
		{escalated, skipped, "a"}, {skipped, escalated, "b"}, {escalated, left, "a"}, {routing.Checkpoint{Paused: true}, skipped, "a"},
		{routing.Checkpoint{Skipped: true, Paused: true}, routing.Checkpoint{}, "a"}, {escalated, escalated, ""}, {skipped, left, ""},
	} {
		got, err := pick(routing.Case{Checkpoints: map[string]routing.Checkpoint{"a": c.a, "b": c.b}}, "")
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q, want %q (%v)", got, c.want, err)
		}
	}
}
