package planpages

import (
	"net/http"

	"github.com/switchback-ci/switchback/bot/web"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// feedbackView is the page of feedback requests.
type feedbackView struct {
	Rows []feedbackRow
	All  feedback.Stats
}

type feedbackRow struct {
	Type feedback.Type
	Text string
	feedback.Stats
}

// requestTexts say what each type of feedback request asks for.
var requestTexts = map[feedback.Type]string{
	feedback.FixRequest:        "fix earlier work",
	feedback.ContextRequest:    "answer a question",
	feedback.DependencyMissing: "something that the plan does not have",
	feedback.ArchitectureIssue: "plan anew",
}

func (p pages) feedback(v web.Viewer, r *http.Request) (web.Page, error) {
	byType, all, err := p.plans.FeedbackRequests(r.Context(), v.Repos)
	if err != nil {
		return web.Page{}, err
	}
	b := feedbackView{All: all}
	for _, t := range feedback.Types() {
		b.Rows = append(b.Rows, feedbackRow{t, requestTexts[t], byType[t]})
	}
	return web.Page{Name: "feedback", Title: "Feedback", Live: []string{string(activity.FeedbackChanged)}, Query: web.RepoQuery(p.names, r), Picks: true, Body: b}, nil
}
