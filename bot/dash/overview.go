package dash

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"

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
	More    int // cases that wait and are not shown
	Calling []feed.Port
	Recent  []feed.Case
	Cases   int
	Windows []choice
	Window  string
	Chart   chart
	Green   feed.Green
}

type stateCount struct {
	State feed.State
	N     int
}

const (
	few     = 10
	perPage = 50
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
		b.Cases += states[st]
	}
	if b.Waiting, err = s.o.Feed.Cases(ctx, v.Repos, []feed.State{feed.Escalated}, feed.LongestWait, 0, few); err != nil {
		return Page{}, err
	}
	b.More = states[feed.Escalated] - len(b.Waiting)
	if b.Calling, err = s.o.Feed.Calling(ctx, v.Repos, few); err != nil {
		return Page{}, err
	}
	if b.Recent, err = s.o.Feed.Cases(ctx, v.Repos, []feed.State{feed.InProgress, feed.Paused, feed.Waiting}, feed.NewestFirst, 0, few); err != nil {
		return Page{}, err
	}
	var at span
	at, b.Windows = window(r, spans[:2]...)
	from := s.from(at.days)
	outcomes, err := s.o.Feed.Outcomes(ctx, v.Repos, from)
	if err != nil {
		return Page{}, err
	}
	b.Window, b.Chart = at.title, chartOf(outcomes, from, s.o.Now())
	if b.Green, err = s.o.Feed.Greens(ctx, v.Repos, from); err != nil {
		return Page{}, err
	}
	return Page{Name: "overview", Title: "Overview", Live: caseEvents, Query: s.onlyRepo(r), Picks: true, Body: b}, nil
}

// onlyRepo is the query of the events of the one repository that is looked at.
// They are told under its present name, a link may have another one.
func (s *Server) onlyRepo(r *http.Request) string {
	if repo := r.URL.Query().Get("repo"); repo != "" {
		return url.Values{"repo": {s.o.Names.Now(s.o.Names.Kept(repo))}}.Encode()
	}
	return ""
}

// list is a page of a list of cases.
type list struct {
	State      feed.State
	States     []choice
	Cases      []feed.Case
	Prev, Next template.URL // query of the page before and behind, "" if none
}

func (s *Server) cases(v Viewer, r *http.Request) (Page, error) {
	n := pageOf(r)
	b := list{State: feed.State(r.URL.Query().Get("state"))}
	var states []feed.State
	if slices.Contains(feed.States, b.State) {
		states = []feed.State{b.State}
	} else {
		b.State = ""
	}
	b.States = []choice{{with(r, "state", ""), "all", b.State == ""}}
	for _, st := range feed.States {
		b.States = append(b.States, choice{with(r, "state", string(st)), stateName(st), b.State == st})
	}
	order := feed.NewestFirst
	if b.State == feed.Escalated {
		order = feed.LongestWait
	}
	var err error
	if b.Cases, err = s.o.Feed.Cases(r.Context(), v.Repos, states, order, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	b.Prev, b.Next = pages(r, n, len(b.Cases) > perPage)
	b.Cases = b.Cases[:min(len(b.Cases), perPage)]
	return Page{Name: "cases", Title: "Cases", Live: caseEvents, Query: s.onlyRepo(r), Picks: true, Body: b}, nil
}
