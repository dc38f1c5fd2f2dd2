package surveyview

import (
	"errors"
	"fmt"
	"testing"

	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/bot/render/rendertest"
	"github.com/switchback-ci/switchback/routing/survey"
)

// pagesOf are all pages of a survey in which every text of a result and of an answer is a, b or c.
func pagesOf(a, b, c, language string) []rendertest.Page {
	const most = 1200
	a, b, c = a[:min(most, len(a))], b[:min(most, len(b))], c[:min(most, len(c))]
	o := render.Options{Mention: "@maintainer"}
	p := exampleSurvey(language)
	p.Audit = "A" + a
	p.Result.WorkflowName, p.Result.ReportPath, p.Result.RunID = a, b, "r"+c
	p.Result.Suggestions = []survey.Suggestion{{ID: "a", Text: "x" + a}, {ID: "B" + b, Text: b}, {ID: "c", Text: c}}
	done := replied(p, survey.Answer{Level: survey.Keep, Accepted: []string{"a"}, FreeText: "x" + b + "\n" + c})
	done.Answered.By, done.Answered.Feedback.ID = "b"+a, "i"+c
	timedOut := p
	goal := survey.TimedOut(p.Result, language)
	timedOut.Goal, timedOut.TimedOut = &goal, true
	var out []rendertest.Page
	for _, page := range []struct {
		name string
		body md
	}{
		{"survey", Body(p, o)}, {"closed", Closed(done, o)}, {"closed by time", Closed(timedOut, o)}, {"acknowledged", Acknowledged(done, o)},
		{"reminder", Reminder(p, 1, o)}, {"timed out", TimedOut(timedOut, o)}, {"second", Second(done, o)}, {"late", Late(p, o)}, {"restored", Restored(p)},
		{"refused", Refused(p, &survey.Refused{Why: survey.NoSuggestion, Words: []string{"w" + a, "w" + b, c}}, o)}, {"failed", Refused(p, errors.New("e "+c), o)},
	} {
		out = append(out, rendertest.Page{Name: language + " " + page.name, Body: page.body})
	}
	return out
}

func inertPages(t testing.TB, a, b, c string) {
	t.Helper()
	rendertest.Compare(t, "https://github.com", "@maintainer", func(f func(string) string) []rendertest.Page {
		return append(pagesOf(f(a), f(b), f(c), "en"), pagesOf(f(a), f(b), f(c), "ko")...)
	})
}

func TestSurveyPagesOnGitHub(t *testing.T) {
	t.Parallel()
	for i, s := range rendertest.Seeds() {
		t.Run(fmt.Sprintf("S6-1 no text of a result or an answer is live in a survey/%d", i), func(t *testing.T) {
			t.Parallel()
			inertPages(t, s, s+"\n"+s, "t\n"+s)
		})
	}
}

func FuzzSurveyPagesOnGitHub(f *testing.F) {
	for _, s := range rendertest.Corpus() {
		f.Add(s, s+"\n"+s, "t\n"+s)
	}
	f.Fuzz(func(t *testing.T, a, b, c string) { inertPages(t, a, b, c) })
}
