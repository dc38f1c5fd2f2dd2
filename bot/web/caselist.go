package web

import (
	"html/template"
	"net/http"
	"slices"

	"github.com/switchback-ci/switchback/bot/eventstream"
)

// caseList is a page of the list of cases.
type caseList struct {
	State      eventstream.State
	States     []choice
	Cases      []eventstream.Case
	Prev, Next template.URL // queries of the neighbouring pages, "" if there is none
}

func (p casePages) list(v Viewer, r *http.Request) (Page, error) {
	n := pageOf(r)
	b := caseList{State: eventstream.State(r.URL.Query().Get("state"))}
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
	if b.Cases, err = p.cases.List(r.Context(), v.Repos, states, order, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	b.Prev, b.Next = pages(r, n, len(b.Cases) > perPage)
	b.Cases = b.Cases[:min(len(b.Cases), perPage)]
	return Page{Name: "cases", Title: "Cases", Live: caseEvents, Query: RepoQuery(p.links.names, r), Picks: true, Body: b}, nil
}
