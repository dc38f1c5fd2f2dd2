package web

import (
	"net/http"

	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// feedbackView is the page of feedback between ports.
type feedbackView struct {
	Rows []feedbackRow
	All  feedback.Stats
}

type feedbackRow struct {
	Type feedback.Type
	Text string
	feedback.Stats
}

// requestTexts say what each type of feedback asks for.
var requestTexts = map[feedback.Type]string{
	feedback.FixRequest:        "fix earlier work",
	feedback.ContextRequest:    "answer a question",
	feedback.DependencyMissing: "something that the plan does not have",
	feedback.ArchitectureIssue: "plan anew",
}

func (s *Server) feedback(v Viewer, r *http.Request) (Page, error) {
	byType, all, err := s.o.Feed.FeedbackRequests(r.Context(), v.Repos)
	if err != nil {
		return Page{}, err
	}
	b := feedbackView{All: all}
	for _, t := range feedback.Types() {
		b.Rows = append(b.Rows, feedbackRow{t, requestTexts[t], byType[t]})
	}
	return Page{Name: "feedback", Title: "Feedback", Live: []string{string(activity.FeedbackChanged)}, Query: s.onlyRepo(r), Picks: true, Body: b}, nil
}
