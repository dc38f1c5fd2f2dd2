package web

import (
	"testing"

	"github.com/switchback-ci/switchback/routing"
)

// Every rule has a text, and every mark.
func TestTexts(t *testing.T) {
	for _, name := range routing.RuleNames() {
		if ruleTexts[name] == "" {
			t.Errorf("nothing says what the rule %s means", name)
		}
	}
	if n := len(routing.RuleNames()) + 1; len(ruleTexts) != n { // no-rule is not in the list
		t.Errorf("%d texts, want %d", len(ruleTexts), n)
	}
	for _, k := range []mark{markNew, markStill, markAgain, markFixed, markFlaky, markUnseen} {
		if k.Sign() == "" || k.Text() == "" {
			t.Errorf("%s has no sign or no text", k)
		}
	}
}
