package render

import (
	"errors"
	"fmt"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/answers"
)

// koreanReasons say why something was refused, by the English of it.
var koreanReasons = map[string]string{
	"name the test to put into quarantine":                                                                      "격리할 테스트의 이름을 적어 주세요",
	"checkpoint %q is not escalated, so there is nothing that would not be fixed":                               "Checkpoint %q 는 에스컬레이션 상태가 아니므로 그대로 둘 것이 없습니다",
	"no checkpoint %q; known are %s":                                                                            "Checkpoint %q 가 없습니다. 있는 것: %s",
	"%d of at most %d reworks of checkpoint %q were returned for a fix; reset it first":                         "%[3]q 의 재작업은 최대 %[2]d회이고 이미 %[1]d회 돌려보냈습니다. 먼저 reset 하세요",
	"%q is no phase that work is sent back to; there are %s, %s and %s":                                         "%q 는 돌려보낼 수 있는 단계가 아닙니다. 가능한 단계: %s, %s, %s",
	"nothing of checkpoint %q failed, so there is nothing to send back":                                         "Checkpoint %q 에 실패한 것이 없어 돌려보낼 것이 없습니다",
	"the newest verdict of checkpoint %q is a review, which cannot be run again":                                "Checkpoint %q 의 최신 판정은 리뷰라서 다시 실행할 수 없습니다",
	"no run of checkpoint %q is known that can be run again":                                                    "Checkpoint %q 에 다시 실행할 수 있는 실행이 없습니다",
	"the port has not been run yet":                                                                             "Port가 아직 실행되지 않았습니다",
	"port %q is being worked on":                                                                                "Port %q 은(는) 작업 중입니다",
	"port %q has passed":                                                                                        "Port %q 은(는) 이미 통과했습니다",
	"port %q may be given %d further turns; reset it to begin to count anew":                                    "Port %q 에는 %d회까지 더 줄 수 있습니다. 횟수를 되돌리려면 reset 하세요",
	"`%s` is nothing that can be done with a port; there are `retry`, `reset`, `resume`, `skip` and `wont-fix`": "`%s` 은(는) Port에 쓸 수 없습니다. 가능한 명령: `retry`, `reset`, `resume`, `skip`, `wont-fix`",
	"`%s` is nothing that can be done with feedback; there are `planned`, `answer` and `declined`":              "`%s` 은(는) 피드백에 쓸 수 없습니다. 가능한 명령: `planned`, `answer`, `declined`",
	"there is no feedback %q":                                                                                   "피드백 %q 이(가) 없습니다",
	"%s answered it before":                                                                                     "%s 이(가) 먼저 답했습니다",
	"a question is answered by a text":                                                                          "질문에는 글로 답해야 합니다",
	"name the port; there are `%s`":                                                                             "Port 이름을 적어 주세요. 있는 것: `%s`",
	"there is no port `%s`; the nearest is `%s`":                                                                "Port `%s` 이(가) 없습니다. 가장 가까운 것: `%s`",
	"checkpoint %q has passed":                                                                                  "Checkpoint %q 는 이미 통과했습니다",
	"%q is no class; there are %s":                                                                              "%q 는 분류가 아닙니다. 가능한 분류: %s",
	"%s is nothing that can be acted on; for a flaky test use `quarantine TEST`":                                "%s 는 라우팅에 쓸 수 없습니다. 불안정한 테스트는 `quarantine TEST` 를 쓰세요",
	"the newest run of checkpoint %q has no failure whose class could be wrong":                                 "Checkpoint %q 의 최신 실행에는 분류를 바로잡을 실패가 없습니다",
	"it is taken for %s already":                                                                                "이미 %s 로 분류되어 있습니다",
	"checkpoint %q has no rework that waits":                                                                    "Checkpoint %q 에 기다리는 재작업이 없습니다",
	"no run of this case has been analyzed":                                                                     "아직 판정된 실행이 없습니다",
	"there is no checkpoint `%s`; there are `%s`":                                                               "Checkpoint `%s` 가 없습니다. 있는 것: `%s`",
	"name the checkpoint; there are `%s`":                                                                       "Checkpoint 이름을 적어 주세요. 있는 것: `%s`",
}

// why says in the language of o why something was refused. What has no words
// there is said in English.
func why(err error, o Options) string {
	if o.Language != Korean {
		return err.Error()
	}
	var refused interface {
		Refusal() (format string, args []any)
	}
	var stale *routing.StaleAnswerError
	var unknown *answers.UnknownTestError
	switch {
	case errors.As(err, &refused):
		format, args := refused.Refusal()
		if ko, ok := koreanReasons[format]; ok {
			return fmt.Sprintf(ko, args...)
		}
	case errors.As(err, &stale):
		return fmt.Sprintf("답은 커밋 %.7s 에 대한 것이고, 그 뒤 Checkpoint %q 의 커밋 %.7s 가 판정되었습니다", stale.SHA, stale.Checkpoint, stale.Newest)
	case errors.As(err, &unknown) && unknown.Nearest != "":
		return fmt.Sprintf("실패한 테스트 중에 `%s` 가 없습니다. 가장 가까운 것: `%s`", unknown.Test, unknown.Nearest)
	case errors.As(err, &unknown):
		return fmt.Sprintf("실패한 테스트 중에 `%s` 가 없습니다", unknown.Test)
	}
	return err.Error()
}
