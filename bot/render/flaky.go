package render

import (
	"slices"

	"github.com/switchback-ci/switchback/routing"
)

// flakyView says what of a turn failed and passed on one commit.
type flakyView struct{ view }

func flakyOf(v view) flakyView { return flakyView{v} }

// failedOn reports whether a test failed and passed on a commit of the streak after it failed here.
func (v flakyView) failedOn(f compared) bool {
	name := routing.TestName(f.of.Suite, f.of.Name)
	return slices.ContainsFunc(v.story, func(t routing.Attempt) bool { return slices.Contains(t.Flaky, name) })
}

// commit reports whether failed jobs were run again, and all that fails since passed before.
func (v flakyView) commit() bool {
	return v.turn.Kind == routing.KindRerun && v.cp.Runs[v.turn.Verdict.Run.Key()].Decision.Rule == "flaky-commit"
}

// named names up to n tests that passed in this run and failed on its commit before.
func (v flakyView) named(n int) md {
	if len(v.turn.Flaky) == 0 {
		return ""
	}
	return v.lang.Say("pass.flaky", "names", v.names(v.turn.Flaky, n))
}
