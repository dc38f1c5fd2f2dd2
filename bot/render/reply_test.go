package render

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

func TestFixedNamesTheCommit(t *testing.T) {
	t.Parallel()
	const sha = "2fac6680e2d38d8c50b043c8f360e2e8f154fa24"
	c := routing.Case{Checkpoints: map[string]routing.Checkpoint{"unit": {Name: "unit", State: routing.Completed, Green: sha}}}
	o := Options{ServerURL: "https://github.com", Repo: "acme/app"}
	want := "[`2fac668`](https://github.com/acme/app/commit/" + sha + ")"
	if got := Fixed(c, "unit", o); !strings.Contains(string(got), want) {
		t.Errorf("%q is not in %q", want, got)
	}
}
