package render

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

// Every reason that a person is told has Korean words, with the same values.
func TestReasonsInKorean(t *testing.T) {
	t.Parallel()
	call := regexp.MustCompile(`(?:(?:refuse|unsure)\(|RefusedError\{Format: )("(?:[^"\\]|\\.)*")`)
	verb := regexp.MustCompile(`%(?:\[[0-9]\])?[a-z]`)
	used := map[string]bool{}
	for _, file := range []string{"../../routing/human.go", "../../routing/plan/answer.go", "../../routing/plan/feedback/planning.go", "../action/comment.go", "../action/plans.go", "../action/send.go"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(src), -1) {
			english, err := strconv.Unquote(m[1])
			if err != nil {
				t.Fatal(err)
			}
			used[english] = true
			if ko, ok := koreanReasons[english]; !ok || len(verb.FindAllString(ko, -1)) != len(verb.FindAllString(english, -1)) {
				t.Errorf("%q: %q", english, ko)
			}
		}
	}
	if len(used) != len(koreanReasons) {
		t.Errorf("%d reasons, %d of them in use", len(koreanReasons), len(used))
	}
	ko := Options{Language: Korean}
	for _, err := range []error{
		&routing.RefusedError{Format: "%d of at most %d reworks of checkpoint %q were returned for a fix; reset it first", Args: []any{10, 10, "unit"}},
		&routing.StaleAnswerError{Checkpoint: "unit", SHA: "0123456789", Newest: "abcdef0123"}, &answers.UnknownTestError{Test: "T"}, &answers.UnknownTestError{Test: "T", Nearest: "U"},
	} {
		if s := NotDone("/switchback retry", err, ko); strings.Contains(s, "%!") || strings.Contains(s, "returned for a fix") || !strings.Contains(s, "니다") {
			t.Errorf("%v: %s", err, s)
		}
	}
}
