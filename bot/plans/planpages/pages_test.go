package planpages

import (
	"testing"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

func TestEveryTypeOfRequestHasAText(t *testing.T) {
	t.Parallel()
	for _, x := range feedback.Types() {
		if requestTexts[x] == "" {
			t.Errorf("nothing says what %s asks for", x)
		}
	}
}
