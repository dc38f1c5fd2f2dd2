package render

import (
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// actsShown is how many of the newest decisions of people are listed.
const actsShown = 5

// actTexts say what people decided, and what became of it.
var actTexts = map[Language]map[string]string{
	English: {
		"acts":            "What people decided:",
		"acts.someone":    "a person",
		"act.resume":      "{who} resumed it",
		"act.pause":       "{who} paused it",
		"act.reset":       "{who} had it begin again with a count of zero",
		"act.extend.one":  "{who} handed it back for 1 more turn",
		"act.extend.many": "{who} handed it back for {n} more turns",
		"act.skip":        "{who} skipped it",
		"act.handoff":     "{who} handed the rework over",
		"act.phase":       "{who} sent it back to **{phase}**",
		"act.rerun":       "{who} said that it was the environment and had the failed jobs run again",
		"act.quarantine":  "{who} put {test} into quarantine",
		"act.wont-fix":    "{who} decided that it will not be fixed",
		"act.wrong":       "{who} said that the class is {class}, not {from}",
		"excused.one":     "🧪 1 failure is in quarantine and does not count: {names}.",
		"excused.many":    "🧪 {n} failures are in quarantine and do not count: {names}.",
		"turn.undone":     "{kind} (taken back)",
		"fail.was":        "a person corrected it, it was `{class}`",
		"state.wontfix":   "{who} decided that this will not be fixed. A green run still passes it; {resume} goes on.",
		"check.wontfix":   "Will not be fixed: {kind}",
		"check.skipped":   "Skipped by a person",
		"check.resumed":   "Resumed by a person; the next run decides",
		"check.excused":   "{title}, {n} in quarantine",
	},
	Korean: {
		"acts":            "사람이 결정한 내용:",
		"acts.someone":    "담당자",
		"act.resume":      "{who}: 재개했습니다",
		"act.pause":       "{who}: 일시 중지했습니다",
		"act.reset":       "{who}: 횟수를 0으로 되돌려 다시 시작했습니다",
		"act.extend.one":  "{who}: 1회 더 돌려보냈습니다",
		"act.extend.many": "{who}: {n}회 더 돌려보냈습니다",
		"act.skip":        "{who}: 건너뛰었습니다",
		"act.handoff":     "{who}: 재작업을 전달했습니다",
		"act.phase":       "{who}: **{phase}** 단계로 돌려보냈습니다",
		"act.rerun":       "{who}: 환경 문제로 보고 실패한 작업을 다시 실행했습니다",
		"act.quarantine":  "{who}: {test} 테스트를 격리했습니다",
		"act.wont-fix":    "{who}: 수정하지 않기로 했습니다",
		"act.wrong":       "{who}: 분류를 {from}에서 {class}(으)로 바로잡았습니다",
		"excused.one":     "🧪 격리된 실패 1건은 집계하지 않습니다: {names}.",
		"excused.many":    "🧪 격리된 실패 {n}건은 집계하지 않습니다: {names}.",
		"turn.undone":     "{kind} (철회됨)",
		"fail.was":        "사람이 바로잡음, 이전 분류 `{class}`",
		"state.wontfix":   "{who}: 수정하지 않기로 했습니다. 통과하는 실행이 있으면 통과하며, {resume} 로 계속합니다.",
		"check.wontfix":   "수정하지 않음: {kind}",
		"check.skipped":   "사람이 건너뜀",
		"check.resumed":   "사람이 재개함, 다음 실행이 판정",
		"check.excused":   "{title}, 격리 {n}건",
	},
}

// acts lists what people decided since the first run of the view's story.
func (v view) acts() string {
	var lines []string
	for _, a := range v.cp.Acts {
		if len(v.story) > 0 && a.At.Before(v.story[0].At) {
			continue
		}
		lines = append(lines, "- "+a.At.UTC().Format("2006-01-02 15:04")+" · "+v.act(a))
	}
	if len(lines) == 0 {
		return ""
	}
	lines = lines[max(0, len(lines)-actsShown):]
	return "**" + v.lang.say("acts") + "**\n\n" + strings.Join(lines, "\n")
}

func (v view) act(a routing.Act) string {
	args := []any{"who", v.who(a.By), "test", code(v.o.redact(a.Test)), "class", code(string(a.Class)), "from", code(string(a.From)), "phase", v.lang.say("phase." + string(a.Phase))}
	text := "act." + string(a.Action)
	switch {
	case a.Action == routing.HumanExtend:
		return v.lang.count(text, max(1, a.N), args...)
	case v.lang.has(text):
		return v.lang.say(text, args...)
	}
	return v.who(a.By) + ": " + code(string(a.Action)) // recorded by a newer version
}

// who names a person without mentioning them.
func (v view) who(login string) string {
	if login == "" {
		return v.lang.say("acts.someone")
	}
	return code(v.o.redact(login))
}

// excusedText says which failures do not count.
func (v view) excusedText() string {
	if len(v.excused) == 0 {
		return ""
	}
	return v.lang.count("excused", len(v.excused), "names", v.names(v.excused, 12))
}

// counting separates the failures that count from the names of those in quarantine.
func counting(fs []routing.Failure) (left []routing.Failure, excused []string) {
	for _, f := range fs {
		if f.Quarantined {
			excused = append(excused, escalation.Name(f))
			continue
		}
		left = append(left, f)
	}
	return left, excused
}

// resumed is true if a person resumed the checkpoint after the escalation of this turn.
func (v view) resumed() bool {
	return v.has && v.turn.Kind.Escalates() && v.cp.Escalation == nil && v.cp.State == routing.InProgress
}
