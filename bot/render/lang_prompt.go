package render

import (
	"fmt"
	"strings"
)

// promptTexts are the fixed texts of feedback prompts. The Korean ones of the
// two blocks are those of the document that defines them.
var promptTexts = map[Language]map[string]string{
	English: {
		"title":    "Feedback wanted: {workflow}, automation level {level}",
		"result":   "Result of the workflow optimization",
		"workflow": "Workflow",
		"level":    "Automation level applied",
		"report":   "Report",
		"run":      "Run",

		"review":       "Please review",
		"ask.level":    "Was the automation level appropriate? (appropriate / raise / lower)",
		"keep":         "Appropriate",
		"raise":        "Raise recommended",
		"lower":        "Lower recommended",
		"ask.accept":   "Which suggestions should the next cycle take up?",
		"ask.none":     "No suggestions were made.",
		"ask.text":     "Further remarks (optional):",
		"submit":       "**Submit**: nothing happens before this is ticked",
		"how":          "Tick boxes here, or answer by a comment such as {command}. Remarks go behind the command, or into this text, below item 3. Whichever answer comes first counts.",
		"how.remarks":  "your remarks",
		"until":        "Without an answer by {deadline}, the level stays at {level} and the question goes over to the next cycle.",
		"answered":     "Answered by {who} at {at}.",
		"timedout":     "Nobody answered by {deadline}.",
		"nobody":       "somebody",
		"ack":          "Thank you, {who}. This is what was understood and recorded:",
		"ack.level":    "Automation level: {before} → {after} ({choice})",
		"ack.accepted": "Taken up in the next cycle: {list}",
		"ack.rejected": "Not taken up: {list}",
		"ack.text":     "Carried over to the next cycle, as written:",
		"ack.none":     "none",
		"ack.row":      "Recorded as {id}, of {audit}. The goal of the next cycle (`goal.json`):",
		"remind.1":     "This still waits for an answer; half of the time is over.",
		"remind.2":     "This still waits for an answer; less than 12 hours are left.",
		"expired":      "Nobody answered in time, so the automation level stays at {level}. An answer from now on changes nothing. The goal of the next cycle (`goal.json`):",

		"refused.no-level":       "Nothing was recorded: tick exactly one of the three choices of item 1 (or write {command}), then submit again.",
		"refused.several-levels": "Nothing was recorded: {words} contradict each other. Choose exactly one of the three, then submit again.",
		"refused.no-suggestion":  "Nothing was recorded: there is no suggestion {words}. Name them by their numbers, 1 to {most}.",
		"refused.not-submitted":  "Nothing was recorded: the Submit box of your reply is not ticked.",
		"second":                 "{who} answered before, at {at}; that answer counts and yours changes nothing.",
		"late":                   "Thank you. The time for an answer was over at {deadline}, so this changes nothing; the goal is that of the timeout.",
		"restored":               "The text of this issue is the question itself, so it was put back. Answer by ticking its boxes, or by a comment.",
	},
	Korean: {
		"title":    "피드백 요청: {workflow}, Automation Level {level}",
		"result":   "워크플로우 최적화 결과",
		"workflow": "워크플로우",
		"level":    "적용된 Automation Level",
		"report":   "리포트 경로",
		"run":      "실행",

		"review":       "검토 요청",
		"ask.level":    "Automation Level이 적절했습니까? (적절 / 상향 권장 / 하향 권장)",
		"keep":         "적절",
		"raise":        "상향 권장",
		"lower":        "하향 권장",
		"ask.accept":   "개선 제안 중 다음 주기에 반영할 항목을 선택해주세요:",
		"ask.none":     "개선 제안이 없습니다.",
		"ask.text":     "추가 의견 (선택):",
		"submit":       "**제출**: 이 항목을 선택하기 전에는 아무 일도 일어나지 않습니다",
		"how":          "여기에서 선택하거나 {command} 같은 댓글로 답해 주세요. 추가 의견은 명령 뒤나 이 글의 3번 항목 아래에 적습니다. 먼저 온 답변이 반영됩니다.",
		"how.remarks":  "추가 의견",
		"until":        "{deadline}까지 답변이 없으면 Level은 {level}로 유지되고 이 질문은 다음 주기로 넘어갑니다.",
		"answered":     "{at}에 {who} 님이 답변했습니다.",
		"timedout":     "{deadline}까지 답변이 없었습니다.",
		"nobody":       "누군가",
		"ack":          "{who} 님, 감사합니다. 다음과 같이 이해하고 기록했습니다:",
		"ack.level":    "Automation Level: {before} → {after} ({choice})",
		"ack.accepted": "다음 주기에 반영: {list}",
		"ack.rejected": "반영하지 않음: {list}",
		"ack.text":     "다음 주기로 넘긴 의견(원문 그대로):",
		"ack.none":     "없음",
		"ack.row":      "{id}(으)로 기록했습니다({audit} 관련). 다음 주기의 목표(`goal.json`):",
		"remind.1":     "아직 답변을 기다리고 있습니다. 시간의 절반이 지났습니다.",
		"remind.2":     "아직 답변을 기다리고 있습니다. 12시간이 남지 않았습니다.",
		"expired":      "제시간에 답변이 없어 Automation Level은 {level}로 유지됩니다. 이제부터의 답변은 아무것도 바꾸지 않습니다. 다음 주기의 목표(`goal.json`):",

		"refused.no-level":       "기록하지 않았습니다. 1번 항목의 세 선택지 중 하나만 선택하고(또는 {command} 라고 적고) 다시 제출해 주세요.",
		"refused.several-levels": "기록하지 않았습니다. {words}은(는) 함께 선택할 수 없습니다. 셋 중 하나만 선택하고 다시 제출해 주세요.",
		"refused.no-suggestion":  "기록하지 않았습니다. 제안 {words}은(는) 없습니다. 1부터 {most}까지의 번호로 적어 주세요.",
		"refused.not-submitted":  "기록하지 않았습니다. 답글의 제출 항목이 선택되지 않았습니다.",
		"second":                 "{at}에 {who} 님이 먼저 답변했습니다. 그 답변이 반영되며 이 답변은 아무것도 바꾸지 않습니다.",
		"late":                   "감사합니다. 답변 시간은 {deadline}에 끝났으므로 이 답변은 아무것도 바꾸지 않습니다. 목표는 시간 초과 때의 것입니다.",
		"restored":               "이 이슈의 글은 질문 자체이므로 되돌렸습니다. 항목을 선택하거나 댓글로 답해 주세요.",
	},
}

// ask returns a fixed text of a prompt with its {placeholders} filled.
func (l Language) ask(id string, args ...any) string {
	m, ok := promptTexts[l]
	if !ok {
		m = promptTexts[English]
	}
	pairs := make([]string, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		pairs = append(pairs, "{"+fmt.Sprint(args[i])+"}", fmt.Sprint(args[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(m[id])
}
