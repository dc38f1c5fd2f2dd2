package render

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing/answers"
	"github.com/switchback-ci/switchback/routing/escalation"
	"github.com/switchback-ci/switchback/routing/marker"
	"github.com/switchback-ci/switchback/routing/survey"
)

// What is posted whole must fit: GitHub's client would be cut off at the end,
// where the questions and the marker stand.
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
	p := survey.Prompt{ID: "p", Opened: survey.Opened{Result: r, Timeout: time.Hour}, Goal: &g,
		Answered: &survey.Answered{Answer: a, By: "x", Goal: g, Feedback: survey.NewUserFeedback(1, time.Now(), "x", "", r, f, "TASK-0001")}}
	ticks := strings.Repeat("`|", 120)
	rec := escalation.Record{Fuse: true}
	for i := range 80 {
		rec.Members = append(rec.Members, escalation.Member{Case: "acme/app@" + ticks + fmt.Sprint(i), Checkpoint: ticks, SHA: strings.Repeat("a", 40), RunURL: "https://github.com/acme/app/actions/runs/1", First: ticks, At: time.Now()})
	}
	o := Options{Repo: "acme/app"}
	o.Shared.Prompt = strings.Repeat("p", 20_000) + "\n" + answers.Line(answers.Submit, "S", false)
	o.Shared.Marker = marker.Format("k", 1)
	for name, s := range map[string]string{
		"question": PromptBody(p, o), "done": PromptDone(p, o), "answer": PromptAnswered(p, o), "timeout": PromptTimedOut(p, o), "summary": FuseBody(rec, 10, o),
	} {
		if len(s) > o.limit() || strings.Count(s, "\n```")%2 != 0 {
			t.Errorf("%s: %d bytes of %d", name, len(s), o.limit())
		}
	}
	if s := FuseBody(rec, 10, o); !strings.HasSuffix(s, o.Shared.Prompt+"\n\n"+o.Shared.Marker) {
		t.Errorf("%s", s[max(0, len(s)-300):])
	}
}
