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
	if want := "체크포인트 ``@acme/all `x` closes #1``이 없습니다. 있는 것: `a`, "; !strings.Contains(string(s), want) {
		t.Errorf("%q is not in %q", want, s)
	}
	inert(t, s, Options{})
	if got := NotDone("x", routing.Refuse("new", "no {cp}", "cp", "unit"), Options{Language: Korean}); !strings.Contains(string(got), "no `unit`") {
		t.Errorf("a reason that the language lacks: %s", got)
	}
}

func TestReasonsOfRunsInKorean(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"LOGIC_ERROR: shop > TestA (kind:assertion), and 4 more; returned for a fix 1/3": "잘못된 결과: `shop > TestA` 외 4건",
		"ENV_ISSUE; returned for a fix 1/3":                                              "환경",
		"no test ran, or none was reported":                                              "실행되거나 보고된 테스트가 없습니다",
		"the run ended as cancelled and its output does not say why":                     "실행이 cancelled(으)로 끝났지만 출력에 이유가 없습니다",
		"no test report was found (looked for **/*.xml)":                                 "테스트 리포트를 찾지 못했습니다(찾은 경로: `**/*.xml`)",
		"no report could be read: a.xml @octocat":                                        "리포트를 읽지 못했습니다: `a.xml @octocat`",
		"still failing after 3 of 3 fix attempts":                                        "재작업 3회 중 3회 뒤에도 실패합니다",
		"something new": "something new",
	} {
		got := reasonText(Korean, reason)
		if want = strings.Replace(want, "cancelled(으)로", "cancelled로", 1); string(got) != want {
			t.Errorf("%q is %q, want %q", reason, got, want)
		}
		inert(t, got, Options{})
	}
}
