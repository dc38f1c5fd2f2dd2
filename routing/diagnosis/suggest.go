package diagnosis

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/internal/lazyregexp"
)

// placeholder is {name} in a suggestion. A part in [[double brackets]] is omitted if one of its
// placeholders is empty.
var (
	placeholder = lazyregexp.New(`\{[a-z0-9_]+\}`)
	optional    = lazyregexp.New(`\[\[.*?\]\]`)
)

var placeholders = map[string]bool{
	"{file}": true, "{line}": true, "{where}": true, "{expected}": true,
	"{actual}": true, "{test}": true, "{match}": true, "{message}": true,
}

// checkTemplate returns an error for an unknown placeholder.
func checkTemplate(s string) error {
	for _, p := range placeholder.FindAllString(s, -1) {
		if !placeholders[p] {
			return fmt.Errorf("suggestion: unknown placeholder %s", p)
		}
	}
	return nil
}

// fill inserts values into a suggestion; ok is false if a placeholder outside brackets has no
// value.
func fill(tmpl string, vals map[string]string) (string, bool) {
	s, ok := fillPlain(dropUnfilled(tmpl, vals), vals)
	return strings.TrimSpace(s), ok
}

// dropUnfilled removes the optional parts that cannot be filled, and the brackets of the others.
func dropUnfilled(tmpl string, vals map[string]string) string {
	return optional.ReplaceAllStringFunc(tmpl, func(part string) string {
		if _, ok := fillPlain(part[2:len(part)-2], vals); !ok {
			return ""
		}
		return part[2 : len(part)-2]
	})
}

func fillPlain(s string, vals map[string]string) (string, bool) {
	ok := true
	out := placeholder.ReplaceAllStringFunc(s, func(p string) string {
		if !placeholders[p] {
			return p
		}
		v := vals[p]
		if v == "" {
			ok = false
		}
		return v
	})
	return out, ok
}

// classSuggestion is the advice for a class, used where no rule has a suggestion of its own.
var classSuggestion = map[string]map[routing.Class]string{
	"en": {
		routing.NotImplemented: "Implement what [[{test} ]]needs: it fails because something it calls does not exist yet[[ ({message})]].[[ Start at {where}.]]",
		routing.LogicError:     "[[Correct the code so that {test} gets {expected} instead of {actual}.]][[ The failing line is {where}.]]",
		routing.TypeError:      "Make the code compile: [[{message}.]][[ See {where}.]]",
		routing.Quality:        "Bring the code in line with the check: [[{message}.]][[ See {where}.]]",
		routing.DesignMismatch: "Test and design contradict each other: [[{message}.]] Decide which of them holds before changing code.",
		routing.EnvIssue:       "Fix the environment, not the code: [[{message}.]] Rerun when it is fixed.",
		routing.Timeout:        "Find what hangs or is slow[[ in {test}]], or raise the limit if the work really needs the time.",
		routing.Flaky:          "[[{test} ]]failed and passed on the same commit: look for shared state, order or time before changing its logic.",
		routing.Unknown:        "The log does not say why the run ended; read the lines before its end, and rerun with more output if they do not tell.",
	},
	"ko": {
		routing.NotImplemented: "[[{test}에 ]]필요한 것을 구현하세요. 호출하는 대상이 아직 없습니다[[ ({message})]].[[ {where}부터 보세요.]]",
		routing.LogicError:     "[[{test}의 결과가 {actual} 대신 {expected}이(가) 되도록 코드를 고치세요.]][[ 실패한 줄: {where}.]]",
		routing.TypeError:      "코드가 컴파일되도록 고치세요: [[{message}.]][[ 위치: {where}.]]",
		routing.Quality:        "검사 규칙에 맞게 코드를 고치세요: [[{message}.]][[ 위치: {where}.]]",
		routing.DesignMismatch: "테스트와 설계가 서로 모순됩니다: [[{message}.]] 코드를 바꾸기 전에 어느 쪽이 맞는지 정하세요.",
		routing.EnvIssue:       "코드가 아니라 환경을 고치세요: [[{message}.]] 고친 뒤 다시 실행하세요.",
		routing.Timeout:        "[[{test}에서 ]]멈추거나 느린 곳을 찾으세요. 정말 시간이 더 필요하면 제한을 늘리세요.",
		routing.Flaky:          "[[{test}은(는) ]]같은 커밋에서 실패하고 성공했습니다. 로직을 바꾸기 전에 공유 상태, 순서, 시간을 살펴보세요.",
		routing.Unknown:        "실행이 끝난 이유가 로그에 없습니다. 마지막 줄들을 읽고, 부족하면 출력을 늘려 다시 실행하세요.",
	},
}

// logicFallback is the advice for a LOGIC_ERROR without an expected value.
var logicFallback = map[string]string{
	"en": "Correct the code that [[{test} ]]checks: [[{message}.]]",
	"ko": "[[{test}이(가) ]]확인하는 코드를 고치세요: [[{message}.]]",
}

// suggest returns the advice for f. r is the rule that decided it, or nil.
func suggest(f routing.Failure, r *Rule, match, lang string) string {
	if lang != "ko" {
		lang = "en"
	}
	vals := values(f, match)
	if r != nil {
		tmpl := r.Suggestion
		if lang == "ko" && r.SuggestionKo != "" {
			tmpl = r.SuggestionKo
		}
		if tmpl != "" {
			if s, ok := fill(tmpl, vals); ok {
				return s
			}
		}
	}
	tmpl := classSuggestion[lang][f.Class]
	if f.Class == routing.LogicError && (f.Expected == "" || f.Actual == "") {
		tmpl = logicFallback[lang] + "[[ The failing line is {where}.]]"
		if lang == "ko" {
			tmpl = logicFallback[lang] + "[[ 실패한 줄: {where}.]]"
		}
	}
	s, _ := fill(tmpl, vals)
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ":"))
}

func values(f routing.Failure, match string) map[string]string {
	v := map[string]string{
		"{file}":     f.File,
		"{expected}": brief(f.Expected, 120),
		"{actual}":   brief(f.Actual, 120),
		"{match}":    brief(match, 120),
		"{test}":     brief(f.Name, 120),
		"{message}":  strings.TrimRight(brief(f.Message, 160), ".:"),
	}
	if f.Kind == "log" || f.Kind == "diagnostic" {
		v["{test}"] = ""
	}
	if f.Line > 0 {
		v["{line}"] = fmt.Sprint(f.Line)
	}
	if f.File != "" && f.Line > 0 {
		v["{where}"] = fmt.Sprintf("%s:%d", f.File, f.Line)
	} else {
		v["{where}"] = f.File
	}
	return v
}

// brief returns the first line of s that is not blank, cut to max bytes at a rune boundary. Text in
// braces that resembles a placeholder is not filled a second time.
func brief(s string, max int) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = strings.TrimSpace(s[:i]) + " …"
	}
	if len(s) <= max {
		return s
	}
	for max > 0 && s[max]&0xC0 == 0x80 {
		max--
	}
	return s[:max] + "…"
}
