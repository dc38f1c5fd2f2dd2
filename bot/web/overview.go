package web

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing/activity"
)

// caseEvents are the events after which lists of cases may look otherwise.
var caseEvents = []string{string(activity.SessionStart), string(activity.SessionEnd), string(activity.RunAnalyzed), string(activity.HumanActed),
	string(activity.EscalationNew), string(activity.EscalationResolved)}

// overview shows what is in flight, what waits for people, and what came out lately.
type overview struct {
	States    []stateCount
	Waiting   []eventstream.Case
	More      int // cases that wait and are not shown
	Escalated []eventstream.Port
	Recent    []eventstream.Case
	Cases     int
	Windows   []choice
	Window    string
	Chart     chart
	Green     eventstream.Green
}

type stateCount struct {
	State eventstream.State
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
	for _, st := range eventstream.States {
		b.States = append(b.States, stateCount{st, states[st]})
		b.Cases += states[st]
	}
	if b.Waiting, err = s.o.Feed.Cases(ctx, v.Repos, []eventstream.State{eventstream.Escalated}, eventstream.LongestWait, 0, few); err != nil {
		return Page{}, err
	}
	b.More = states[eventstream.Escalated] - len(b.Waiting)
	if b.Escalated, err = s.o.Feed.EscalatedPorts(ctx, v.Repos, few); err != nil {
		return Page{}, err
	}
	if b.Recent, err = s.o.Feed.Cases(ctx, v.Repos, []eventstream.State{eventstream.InProgress, eventstream.Paused, eventstream.Waiting}, eventstream.NewestFirst, 0, few); err != nil {
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
	State      eventstream.State
	States     []choice
	Cases      []eventstream.Case
	Prev, Next template.URL // query of the page before and behind, "" if none
}

func (s *Server) cases(v Viewer, r *http.Request) (Page, error) {
	n := pageOf(r)
	b := list{State: eventstream.State(r.URL.Query().Get("state"))}
	var states []eventstream.State
	if slices.Contains(eventstream.States, b.State) {
		states = []eventstream.State{b.State}
	} else {
		b.State = ""
	}
	b.States = []choice{{with(r, "state", ""), "all", b.State == ""}}
	for _, st := range eventstream.States {
		b.States = append(b.States, choice{with(r, "state", string(st)), stateName(st), b.State == st})
	}
	order := eventstream.NewestFirst
	if b.State == eventstream.Escalated {
		order = eventstream.LongestWait
	}
	var err error
	if b.Cases, err = s.o.Feed.Cases(r.Context(), v.Repos, states, order, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	b.Prev, b.Next = pages(r, n, len(b.Cases) > perPage)
	b.Cases = b.Cases[:min(len(b.Cases), perPage)]
	return Page{Name: "cases", Title: "Cases", Live: caseEvents, Query: s.onlyRepo(r), Picks: true, Body: b}, nil
}
