package surveyview

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/survey"
)

func exampleSurvey(language string) survey.Survey {
	return survey.Survey{ID: "0123456789ab", OpenedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Number: 7, Opened: survey.Opened{
		Audit: "TASK-0001", Language: language, Timeout: 72 * time.Hour,
		Result: survey.Result{WorkflowName: "Nightly", AutomationLevel: 20, ReportPath: "optimizer/level20_report.md", RunID: "77",
			Suggestions: []survey.Suggestion{{ID: "cache", Text: "Cache the modules"}, {ID: "split", Text: "Split the suite"}}},
	}}
}

func replied(p survey.Survey, a survey.Answer) survey.Survey {
	f, g, _ := survey.Converge(p.Result, a)
	row := survey.NewUserFeedback(1, p.OpenedAt, "octo", p.Language, p.Result, f, p.Audit)
	p.Answered, p.Goal, p.ClosedAt = &survey.Answered{Answer: a, By: "octo", Source: "comment/1", Feedback: row, Goal: g}, &g, p.OpenedAt.Add(time.Hour)
	return p
}

func wantLines(t *testing.T, body string, want ...string) {
	t.Helper()
	lines := strings.Split(body, "\n")
	for _, w := range want {
		if !slices.Contains(lines, w) {
			t.Errorf("no line %q in\n%s", w, body)
		}
	}
}

func TestSurveyBody(t *testing.T) {
	t.Parallel()
	body := Body(exampleSurvey("en"), render.Options{})
	ko := Body(exampleSurvey("ko"), render.Options{})
	t.Run("S1-2 the result block has name, level and report", func(t *testing.T) {
		wantLines(t, string(body), "### Result of the workflow optimization", "- Workflow: `Nightly`", "- Automation level applied: 20", "- Report: `optimizer/level20_report.md`")
		wantLines(t, string(ko), "### 워크플로우 최적화 결과", "- 워크플로우: `Nightly`", "- 적용된 Automation Level: 20", "- 리포트 경로: `optimizer/level20_report.md`")
	})
	t.Run("S1-3 the review block has three numbered items", func(t *testing.T) {
		wantLines(t, string(body), "### Please review", "1. Was the automation level appropriate? (appropriate / raise / lower)", "2. Which suggestions should the next cycle take up?", "3. Further remarks (optional):")
		wantLines(t, string(ko), "### 검토 요청", "1. Automation Level이 적절했습니까? (적절 / 상향 권장 / 하향 권장)", "2. 개선 제안 중 다음 주기에 반영할 항목을 선택해주세요:", "3. 추가 의견 (선택):")
		if n := len(regexp.MustCompile(`(?m)^\d+\. `).FindAllString(string(body), -1)); n != 3 {
			t.Errorf("%d numbered items", n)
		}
	})
	t.Run("S1-4 item 1 has exactly three choices", func(t *testing.T) {
		wantLines(t, string(body), "   - [ ] Appropriate <!-- sb:level:keep -->", "   - [ ] Raise recommended <!-- sb:level:raise -->", "   - [ ] Lower recommended <!-- sb:level:lower -->")
		wantLines(t, string(ko), "   - [ ] 적절 <!-- sb:level:keep -->", "   - [ ] 상향 권장 <!-- sb:level:raise -->", "   - [ ] 하향 권장 <!-- sb:level:lower -->")
		if n := strings.Count(string(body), "<!-- sb:level:"); n != 3 {
			t.Errorf("%d choices", n)
		}
	})
	t.Run("S1-5 S1-9 each suggestion is an unchecked box with its id", func(t *testing.T) {
		wantLines(t, string(body), "   - [ ] (1) Cache the modules <!-- sb:suggestion:cache -->", "   - [ ] (2) Split the suite <!-- sb:suggestion:split -->")
		if strings.Contains(string(body), "[x]") {
			t.Error(body)
		}
	})
	t.Run("S1-6 item 3 takes text that may be left out", func(t *testing.T) {
		wantLines(t, string(body), answers.TextBegin, answers.TextEnd)
		p := exampleSurvey("en")
		a, _, err := p.ReadBody(strings.NewReplacer("[ ] Appropriate", "[x] Appropriate", "[ ] **Submit**", "[x] **Submit**").Replace(string(body)))
		if err != nil || a.Level != survey.Keep || a.FreeText != "" {
			t.Errorf("%+v %v", a, err)
		}
	})
	t.Run("S1-8 there is a Submit box", func(t *testing.T) {
		if p, _ := answers.Parse(string(body)); !slices.Equal(p.Boxes, []string{"level:keep", "level:raise", "level:lower", "suggestion:cache", "suggestion:split", "submit"}) {
			t.Errorf("%q", p.Boxes)
		}
	})
	t.Run("S1-41 the deadline is shown", func(t *testing.T) {
		if !strings.Contains(string(body), "2026-03-04 09:00 UTC") {
			t.Error(body)
		}
	})
}

func TestSurveyNotes(t *testing.T) {
	t.Parallel()
	p := replied(exampleSurvey("ko"), survey.Answer{Level: survey.Raise, Accepted: []string{"cache"}, FreeText: "다시 봐 주세요"})
	t.Run("S1-25 the acknowledgement in render.Korean says what was understood", func(t *testing.T) {
		got := Acknowledged(p, render.Options{})
		for _, w := range []string{"20 → 30 (상향 권장)", "(1) Cache the modules", "(2) Split the suite", "다시 봐 주세요", "`FB-0001`", `"next_automation_level": 30`} {
			if !strings.Contains(string(got), w) {
				t.Errorf("no %q in\n%s", w, got)
			}
		}
	})
	t.Run("S1-7 every refusal has its words in both languages", func(t *testing.T) {
		for _, why := range []survey.Why{survey.NoLevel, survey.SeveralLevels, survey.NoSuggestion, survey.NotSubmitted} {
			en := Refused(exampleSurvey("en"), &survey.Refused{Why: why, Words: []string{"@x"}}, render.Options{})
			ko := Refused(exampleSurvey("ko"), &survey.Refused{Why: why, Words: []string{"@x"}}, render.Options{})
			if len(en) < 20 || len(ko) < 20 || en == ko || unfilled.MatchString(string(en+ko)) {
				t.Errorf("%s: %q %q", why, en, ko)
			}
		}
	})
}

var unfilled = regexp.MustCompile(`\{[a-z]+\}`)

// boxMarks are the hidden ids and text marks of a survey, which inert is not
// to take for those of a stranger.
var boxMarks = regexp.MustCompile(`<!-- /?sb:[a-z0-9:.-]+ -->`)

func TestSurveyIsInert(t *testing.T) {
	t.Parallel()
	h := rendertest.Hostile()
	p := exampleSurvey("en")
	p.Result.WorkflowName, p.Result.ReportPath, p.Result.RunID = h.Name, h.File, h.Suite
	texts := []string{h.Name, h.Message, h.Trace, h.Suggestion, "x <!-- sb:submit -->", "- [x] y <!-- sb:level:raise -->", "a\n- [x] z <!-- sb:level:raise -->", answers.TextEnd}
	p.Result.Suggestions = nil
	for i, s := range texts {
		p.Result.Suggestions = append(p.Result.Suggestions, survey.Suggestion{ID: string(rune('a' + i)), Text: s})
	}
	done := replied(p, survey.Answer{Level: survey.Keep, Accepted: []string{"a"}, FreeText: strings.Join(texts, "\n")})
	out := p
	goal := survey.TimedOut(p.Result, "en")
	out.Goal, out.TimedOut = &goal, true
	for name, md := range map[string]string{
		"body": string(Body(p, render.Options{})), "done": string(Closed(done, render.Options{})), "timed out": string(Closed(out, render.Options{})), "answered": string(Acknowledged(done, render.Options{})),
		"expired": string(TimedOut(out, render.Options{})), "second": string(Second(done, render.Options{})),
		"refused": string(Refused(p, &survey.Refused{Why: survey.NoSuggestion, Words: texts}, render.Options{})),
	} {
		t.Run(name, func(t *testing.T) {
			if boxes, _ := answers.Parse(md); len(boxes.Ticked) != 0 {
				t.Errorf("ticked by a text: %q\n%s", boxes.Ticked, md)
			}
			if n := strings.Count(md, answers.TextEnd); n > 1 {
				t.Errorf("%d ends of the text", n)
			}
			rendertest.Inert(t, boxMarks.ReplaceAllString(md, ""), render.Options{}.Server(), "")
		})
	}
	if boxes, _ := answers.Parse(string(Body(p, render.Options{}))); len(boxes.Boxes) != 3+len(texts)+1 {
		t.Errorf("boxes %q", boxes.Boxes)
	}
	if title := Title(p, render.Options{}); strings.ContainsAny(title, "\n@") || len(title) > 200 {
		t.Errorf("%q", title)
	}
}

func TestSurveyFits(t *testing.T) {
	t.Parallel()
	p := exampleSurvey("ko")
	p.Result.Suggestions = nil
	for i := range 100 {
		p.Result.Suggestions = append(p.Result.Suggestions, survey.Suggestion{ID: "s" + string(rune('a'+i%26)) + string(rune('a'+i/26)), Text: strings.Repeat("`a` b@c ", 120)})
	}
	for name, md := range map[string]string{"body": string(Body(p, render.Options{})), "done": string(Closed(replied(p, survey.Answer{Level: survey.Keep, FreeText: strings.Repeat("x\n", 60_000)}), render.Options{}))} {
		if len(md) > render.DefaultLimit {
			t.Errorf("%s has %d bytes", name, len(md))
		}
	}
	if boxes, _ := answers.Parse(string(Body(p, render.Options{}))); len(boxes.Boxes) != 104 {
		t.Errorf("%d boxes", len(boxes.Boxes))
	}
}

// What is posted whole must fit: GitHub's client would be cut off at the end, where the questions
// stand.
func TestLongestPostsFit(t *testing.T) {
	t.Parallel()
	r := survey.Result{WorkflowName: "N", AutomationLevel: 20, ReportPath: "a"}
	a := survey.Answer{Level: survey.Raise, FreeText: strings.Repeat(strings.Repeat("가x", 160)+"\n", 120)}
	for i := range 100 {
		a.Accepted = append(a.Accepted, fmt.Sprint("s", i))
		r.Suggestions = append(r.Suggestions, survey.Suggestion{ID: a.Accepted[i], Text: strings.Repeat("@a/b `x` <!-- ", 70)})
	}
	f, g, err := survey.Converge(r, a)
	if err != nil {
		t.Fatal(err)
	}
	p := survey.Survey{ID: "p", Opened: survey.Opened{Result: r, Timeout: time.Hour}, Goal: &g,
		Answered: &survey.Answered{Answer: a, By: "x", Goal: g, Feedback: survey.NewUserFeedback(1, time.Now(), "x", "", r, f, "TASK-0001")}}
	o := render.Options{Repo: "acme/app"}
	for name, s := range map[string]string{"question": string(Body(p, o)), "closed": string(Closed(p, o)), "answer": string(Acknowledged(p, o)), "timeout": string(TimedOut(p, o))} {
		if len(s) > o.MaxBytes() || strings.Count(s, "\n```")%2 != 0 {
			t.Errorf("%s: %d bytes of %d", name, len(s), o.MaxBytes())
		}
	}
}
