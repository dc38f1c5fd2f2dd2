package render

import (
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

func TestReasonsAreSaidInTheLanguage(t *testing.T) {
	t.Parallel()
	capped := routing.Refuse("hard-cap", "checkpoint {cp} was returned for a fix {n} times", "n", 10, "max", 10, "cp", "unit")
	for _, err := range []error{
		capped, &routing.StaleAnswerError{Checkpoint: "unit", SHA: "0123456789", Newest: "abcdef0123"},
		&answers.UnknownTestError{Test: "T"}, &answers.UnknownTestError{Test: "T", Nearest: "U"},
	} {
		for _, l := range []Language{English, Korean} {
			s := NotDone("/switchback retry", err, Options{Language: l})
			if strings.ContainsAny(string(s), "{}") || strings.Contains(string(s), "니다") != (l == Korean) {
				t.Errorf("%s, %v: %s", l, err, s)
			}
		}
	}
	const hostile = "@acme/all `x` closes #1"
	s := NotDone("x", routing.Refuse("no-checkpoint", "no checkpoint {cp}; known are {known}", "cp", hostile, "known", []string{"a", hostile}), Options{Language: Korean})
	if want := "Checkpoint ``@acme/all `x` closes #1``이 없습니다. 있는 것: `a`, "; !strings.Contains(string(s), want) {
		t.Errorf("%q is not in %q", want, s)
	}
	inert(t, s, Options{})
	if got := NotDone("x", routing.Refuse("new", "no {cp}", "cp", "unit"), Options{Language: Korean}); !strings.Contains(string(got), "no `unit`") {
		t.Errorf("a reason that the language lacks: %s", got)
	}
}
