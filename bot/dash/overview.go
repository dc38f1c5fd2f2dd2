package dash

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/switchback-ci/switchback/bot/feed"
	"github.com/switchback-ci/switchback/routing/live"
)

// caseEvents are the events after which lists of cases may look otherwise.
var caseEvents = []string{string(live.SessionStart), string(live.SessionEnd), string(live.RunJudged), string(live.HumanActed),
	string(live.EscalationNew), string(live.EscalationResolved)}

// overview shows what is in flight, what waits for people, and what came out lately.
type overview struct {
	States  []stateCount
	Waiting []feed.Case
	Calling []feed.Port
	Recent  []feed.Case
	Chart   chart
}

type stateCount struct {
	State feed.State
	N     int
}

const (
	few      = 10
	perPage  = 50
	lastDays = 7 * 24 * time.Hour
)

func (s *Server) overview(v Viewer, r *http.Request) (Page, error) {
	ctx := r.Context()
	var b overview
	states, err := s.o.Feed.InStates(ctx, v.Repos)
	if err != nil {
		return Page{}, err
	}
	for _, st := range feed.States {
		b.States = append(b.States, stateCount{st, states[st]})
	}
	if b.Waiting, err = s.o.Feed.Cases(ctx, v.Repos, []feed.State{feed.Escalated}, feed.LongestWait, 0, few); err != nil {
		return Page{}, err
	}
	if b.Calling, err = s.o.Feed.Calling(ctx, v.Repos, few); err != nil {
		return Page{}, err
	}
	if b.Recent, err = s.o.Feed.Cases(ctx, v.Repos, []feed.State{feed.InProgress, feed.Paused, feed.Waiting}, feed.NewestFirst, 0, few); err != nil {
		return Page{}, err
	}
	outcomes, err := s.o.Feed.Outcomes(ctx, v.Repos, s.o.Now().Add(-lastDays))
	if err != nil {
		return Page{}, err
	}
	b.Chart = chartOf(outcomes)
	return Page{Name: "overview", Title: "Overview", Live: caseEvents, Query: onlyRepo(r), Body: b}, nil
}

// onlyRepo is the query of the events of the one repository that is looked at.
func onlyRepo(r *http.Request) string {
	if repo := r.URL.Query().Get("repo"); repo != "" {
		return url.Values{"repo": {repo}}.Encode()
	}
	return ""
}

// list is a page of a list of cases.
type list struct {
	State      feed.State
	Cases      []feed.Case
	Prev, Next string // query of the page before and behind, "" if none
}

func (s *Server) cases(v Viewer, r *http.Request) (Page, error) {
	q := r.URL.Query()
	n, _ := strconv.Atoi(q.Get("page"))
	n = min(max(n, 1), 1_000_000)
	var states []feed.State
	b := list{State: feed.State(q.Get("state"))}
	if b.State != "" {
		states = []feed.State{b.State}
	}
	order := feed.NewestFirst
	if b.State == feed.Escalated {
		order = feed.LongestWait
	}
	var err error
	if b.Cases, err = s.o.Feed.Cases(r.Context(), v.Repos, states, order, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	page := func(n int) string {
		q.Set("page", strconv.Itoa(n))
		return q.Encode()
	}
	if n > 1 {
		b.Prev = page(n - 1)
	}
	if len(b.Cases) > perPage {
		b.Cases, b.Next = b.Cases[:perPage], page(n+1)
	}
	return Page{Name: "cases", Title: "Cases", Live: caseEvents, Query: onlyRepo(r), Body: b}, nil
}
