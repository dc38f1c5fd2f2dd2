package render

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/diagnose"
)

func TestReply(t *testing.T) {
	t.Parallel()
	o := Options{Redact: diagnose.Redact}
	for in, want := range map[string]string{
		"Done: `resume` of `unit`.": "Done: `resume` of `unit`.",
		`Not understood: "@acme/all" is not a command; known are ` + "`/switchback resume`, on a line of its own.": "Not understood: `\"@acme/all\"` is not a command; known are `/switchback resume`, on a line of its own.",
		"Not done: there is no checkpoint `a` @acme/all fixes #1 `b`.":                                             "",
	} {
		got := Reply([]string{in}, o)
		if want != "" && got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
		inert(t, got, o)
	}
}
