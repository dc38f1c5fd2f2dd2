package render

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

func TestReply(t *testing.T) {
	t.Parallel()
	o := Options{Redact: redact.Text}
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

func TestFixedNamesTheCommit(t *testing.T) {
	t.Parallel()
	const sha = "2fac6680e2d38d8c50b043c8f360e2e8f154fa24"
	c := routing.Case{Checkpoints: map[string]routing.Checkpoint{"unit": {Name: "unit", State: routing.Completed, Green: sha}}}
	o := Options{ServerURL: "https://github.com", Repo: "acme/app"}
	want := "[`2fac668`](https://github.com/acme/app/commit/" + sha + ")"
	if got := Fixed(c, "unit", o); !strings.Contains(got, want) {
		t.Errorf("%q is not in %q", want, got)
	}
}
