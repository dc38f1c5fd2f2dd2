package diagnosis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/evidence"
	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/truncate"
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

// A template is a suggestion split into its parts.
type template []templatePart

// templatePart is a text, a placeholder, or what stands in double brackets.
type templatePart struct {
	text  string   // of a placeholder with its braces
	value bool     // text is a placeholder
	inner template // of an optional part
}

func parseTemplate(s string) template {
	var t template
	for s != "" {
		m := optional.FindStringIndex(s)
		if m == nil {
			return t.plain(s)
		}
		t = t.plain(s[:m[0]])
		t = append(t, templatePart{inner: template{}.plain(s[m[0]+2 : m[1]-2])})
		s = s[m[1]:]
	}
	return t
}

// plain appends the texts and placeholders of s, which has no optional parts.
func (t template) plain(s string) template {
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(s, -1) {
		if !placeholders[s[m[0]:m[1]]] {
			continue
		}
		if at < m[0] {
			t = append(t, templatePart{text: s[at:m[0]]})
		}
		t = append(t, templatePart{text: s[m[0]:m[1]], value: true})
		at = m[1]
	}
	if at < len(s) {
		t = append(t, templatePart{text: s[at:]})
	}
	return t
}

// fill inserts values and leaves out the optional parts that lack one; ok is false if another
// placeholder has no value.
func (t template) fill(v *values) (string, bool) {
	var b strings.Builder
	ok := t.write(&b, v)
	return strings.TrimSpace(b.String()), ok
}

func (t template) write(b *strings.Builder, v *values) bool {
	ok := true
	for i := range t {
		p := &t[i]
		switch {
		case p.inner != nil:
			if p.inner.filled(v) {
				p.inner.write(b, v)
			}
		case p.value:
			s := v.get(p.text)
			ok = ok && s != ""
			b.WriteString(s)
		default:
			b.WriteString(p.text)
		}
	}
	return ok
}

func (t template) filled(v *values) bool {
	for i := range t {
		if t[i].value && v.get(t[i].text) == "" {
			return false
		}
	}
	return true
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
	"en": "Correct the code that [[{test} ]]checks: [[{message}.]][[ The failing line is {where}.]]",
	"ko": "[[{test}이(가) ]]확인하는 코드를 고치세요: [[{message}.]][[ 실패한 줄: {where}.]]",
}

// An adviser writes suggestions in one language. It is used by one goroutine.
type adviser struct {
	lang   string
	parsed map[string]template // of the texts used so far
}

func newAdviser(lang string) *adviser {
	if lang != "ko" {
		lang = "en"
	}
	return &adviser{lang: lang, parsed: map[string]template{}}
}

func (a *adviser) fill(tmpl string, v *values) (string, bool) {
	t, ok := a.parsed[tmpl]
	if !ok {
		t = parseTemplate(tmpl)
		a.parsed[tmpl] = t
	}
	return t.fill(v)
}

// suggest returns the advice for f, and whether it is a remedy: that of a rule that knows what is
// missing or in the way, not that of a class. r is the rule that decided it, or nil.
func (a *adviser) suggest(f *routing.Failure, r *Rule, match string) (advice string, certain bool) {
	v := &values{f: f, match: match}
	if r != nil {
		tmpl := r.Suggestion
		if a.lang == "ko" && r.SuggestionKo != "" {
			tmpl = r.SuggestionKo
		}
		if tmpl != "" {
			if s, ok := a.fill(tmpl, v); ok {
				return s, r.user || remedied(f.Class)
			}
		}
	}
	tmpl := classSuggestion[a.lang][f.Class]
	if f.Class == routing.LogicError && (f.Expected == "" || f.Actual == "") {
		tmpl = logicFallback[a.lang]
	}
	s, _ := a.fill(tmpl, v)
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), ":")), false
}

// remedied reports whether a rule of the class knows what to do: why a result is wrong, or what
// hangs, stands in no log.
func remedied(c routing.Class) bool {
	return c == routing.NotImplemented || c == routing.TypeError || c == routing.Quality || c == routing.EnvIssue
}

// inTest reports whether the place of a failure is the line of a test that noticed it, and not what
// is wrong. What a compiler or a linter says of a test is wrong there.
func inTest(f *routing.Failure) bool {
	return f.Kind != "diagnostic" && f.Class != routing.TypeError && f.Class != routing.Quality && evidence.IsTest(f.File)
}

// values are what a failure has for the placeholders of a suggestion.
type values struct {
	f     *routing.Failure
	match string
}

func (v *values) get(placeholder string) string {
	f := v.f
	switch placeholder {
	case "{file}":
		return f.File
	case "{expected}":
		return brief(f.Expected, 120)
	case "{actual}":
		return brief(f.Actual, 120)
	case "{match}":
		return brief(v.match, 120)
	case "{message}":
		return strings.TrimRight(brief(f.Message, 160), ".:")
	case "{test}":
		if f.Kind != "log" && f.Kind != "diagnostic" {
			return brief(f.Name, 120)
		}
	case "{line}":
		if f.Line > 0 {
			return strconv.Itoa(f.Line)
		}
	case "{where}":
		if inTest(v.f) {
			return ""
		}
		if f.File != "" && f.Line > 0 {
			return f.File + ":" + strconv.Itoa(f.Line)
		}
		return f.File
	}
	return ""
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
	return truncate.Prefix(s, max) + truncate.Ellipsis
}
