package web

import (
	"net/http"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing/activity"
)

// caseEvents are the events that may change lists of cases.
var caseEvents = []string{string(activity.SessionStart), string(activity.SessionEnd), string(activity.RunAnalyzed), string(activity.HumanActed),
	string(activity.EscalationNew), string(activity.EscalationResolved)}

// overviewPage is the page of cases in progress, of those that wait for maintainers, and of recent
// figures.
type overviewPage struct {
	store *eventstream.Store
	names Names
	now   func() time.Time
}

func (p overviewPage) section() Section {
	return Section{Links: []Link{{"/", "Overview", 10}}, Routes: map[string]Handler{"GET /{$}": p.show}}
}

// overview is what the page shows.
type overview struct {
	States    []stateCount
	Incidents []eventstream.Incident // that are not over, the newest first
	Waiting   []eventstream.Case
	More      int // escalated cases beyond those of the page
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

func (p overviewPage) show(v Viewer, r *http.Request) (Page, error) {
	ctx := r.Context()
	var b overview
	states, err := p.store.Cases.InStates(ctx, v.Repos)
	if err != nil {
		return Page{}, err
	}
	for _, st := range eventstream.States {
		b.States = append(b.States, stateCount{st, states[st]})
		b.Cases += states[st]
	}
	if b.Incidents, err = p.store.Incidents.List(ctx, v.Repos, true, 0, few); err != nil {
		return Page{}, err
	}
	if b.Waiting, err = p.store.Cases.List(ctx, v.Repos, []eventstream.State{eventstream.Escalated}, eventstream.LongestWait, 0, few); err != nil {
		return Page{}, err
	}
	b.More = states[eventstream.Escalated] - len(b.Waiting)
	if b.Escalated, err = p.store.Plans.Escalated(ctx, v.Repos, few); err != nil {
		return Page{}, err
	}
	if b.Recent, err = p.store.Cases.List(ctx, v.Repos, []eventstream.State{eventstream.InProgress, eventstream.Paused, eventstream.Waiting}, eventstream.NewestFirst, 0, few); err != nil {
		return Page{}, err
	}
	var at span
	at, b.Windows = window(r, spans[:2]...)
	from := since(p.now(), at.days)
	outcomes, err := p.store.Figures.Outcomes(ctx, v.Repos, from)
	if err != nil {
		return Page{}, err
	}
	b.Window, b.Chart = at.title, chartOf(outcomes, from, p.now())
	if b.Green, err = p.store.Figures.Greens(ctx, v.Repos, from); err != nil {
		return Page{}, err
	}
	return Page{Name: "overview", Title: "Overview", Live: append(slices.Clone(caseEvents), incidentEvents...), Query: RepoQuery(p.names, r), Picks: true, Body: b}, nil
}
