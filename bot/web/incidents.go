package web

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/incident"
)

// incidentPages are the list of incidents and the page of each.
type incidentPages struct {
	incidents eventstream.Incidents
	stream    func(ctx context.Context, key string) ([]routing.Event, error) // see Options.Stream
	links     links
}

func (p incidentPages) section() Section {
	return Section{Links: []Link{{"/incidents", "Incidents", 25}},
		Routes: map[string]Handler{"GET /incidents": p.list, "GET /incident/{owner}/{repo}/{id}": p.one}}
}

// incidentEvents are the events that change the pages of incidents.
var incidentEvents = []string{string(activity.IncidentChanged)}

// incidentList is a page of the list of incidents.
type incidentList struct {
	States     []choice
	Open       bool // only open ones are listed
	Incidents  []eventstream.Incident
	Prev, Next template.URL // queries of the neighbouring pages, "" if there is none
}

func (p incidentPages) list(v Viewer, r *http.Request) (Page, error) {
	n := pageOf(r)
	b := incidentList{Open: r.URL.Query().Get("state") == "open"}
	b.States = []choice{{with(r, "state", ""), "all", !b.Open}, {with(r, "state", "open"), "not over", b.Open}}
	var err error
	if b.Incidents, err = p.incidents.List(r.Context(), v.Repos, b.Open, (n-1)*perPage, perPage+1); err != nil {
		return Page{}, err
	}
	b.Prev, b.Next = pages(r, n, len(b.Incidents) > perPage)
	b.Incidents = b.Incidents[:min(len(b.Incidents), perPage)]
	return Page{Name: "incidents", Title: "Incidents", Live: incidentEvents, Query: RepoQuery(p.links.names, r), Picks: true, Body: b}, nil
}

// The limits of what the page of an incident shows; ?all=1 shows more.
const (
	mostMembers    = 100
	mostMembersAll = 5000
)

// incidentView is the page of an incident.
type incidentView struct {
	incident.Incident
	Repo    string
	Issue   href
	Base    href // branch
	Causes  []causeView
	Red     []href // failing runs of the base
	Members []memberView
	More    int // members that are not shown
	Line    []incidentEntry
	Commit  href // of the green run that ended it
	Canary  string
	All     bool
}

// causeView is a cause by its parts.
type causeView struct{ Signal, Service, Checkpoint, Test string }

type memberView struct {
	incident.Member
	Run href
}

// incidentEntry is a line of an incident's time line. Members that join, leave or are restarted in a
// row are one.
type incidentEntry struct {
	At    time.Time
	Until time.Time // of the last in the row, zero for one alone
	Text  string
	Cases []string // keys, the first of them
	More  int

	change string
}

func (p incidentPages) one(v Viewer, r *http.Request) (Page, error) {
	repo := p.links.names.Kept(r.PathValue("owner") + "/" + r.PathValue("repo"))
	if !v.May(repo) {
		return Page{}, ErrNotFound
	}
	key := routing.StreamKey(repo, routing.StreamIncidents)
	events, err := p.stream(r.Context(), key)
	if err != nil {
		return Page{}, err
	}
	st, err := incident.Fold(events)
	if err != nil {
		return Page{}, err
	}
	in, ok := st.ByID(r.PathValue("id"))
	if !ok {
		return Page{}, ErrNotFound
	}
	told, err := activity.Since(key, events, 0)
	if err != nil {
		return Page{}, err
	}
	return Page{Name: "incident", Title: OneLine("Incident: " + in.What()), Live: incidentEvents, Query: url.Values{"repo": {p.links.names.Now(repo)}}.Encode(),
		Body: p.view(in, repo, told, r.URL.Query().Get("all") != "")}, nil
}

func (p incidentPages) view(in incident.Incident, repo string, told []activity.Event, all bool) incidentView {
	b := incidentView{Incident: in, Repo: repo, Issue: p.links.issueHref(repo, in.Number, in.URL), All: all}
	if in.Base != "" && in.Kind() == routing.IncidentBase {
		b.Base = p.links.subjectHref(repo + "@" + in.Base)
	}
	if in.SHA != "" {
		b.Commit = p.links.commitHref(repo, in.SHA)
	}
	if in.Standing == incident.Testing {
		b.Canary = in.Canary.Case
	}
	for _, c := range in.Causes {
		b.Causes = append(b.Causes, causeView{c.Signal, c.Service, c.Checkpoint, routing.TestName(c.Suite, c.Name)})
	}
	for _, run := range in.Red {
		b.Red = append(b.Red, p.links.runHref(repo, run))
	}
	most := mostMembers
	if all {
		most = mostMembersAll
	}
	members := slices.Clone(in.Members) // those on hold first
	slices.SortStableFunc(members, func(a, b incident.Member) int { return memberOrder(a) - memberOrder(b) })
	b.More = max(0, len(members)-most)
	for _, m := range members[:len(members)-b.More] {
		b.Members = append(b.Members, memberView{m, p.links.runHref(m.Case, m.Run)})
	}
	b.Line = incidentLine(told, in.ID)
	return b
}

func memberOrder(m incident.Member) int {
	switch {
	case m.Waits():
		return 0
	case m.Left == "":
		return 1
	}
	return 2
}

// incidentLine returns the time line of an incident.
func incidentLine(told []activity.Event, id string) []incidentEntry {
	var out []incidentEntry
	for _, e := range told {
		var x activity.IncidentChange
		if e.Type != activity.IncidentChanged || json.Unmarshal(e.Data, &x) != nil || x.Incident != id {
			continue
		}
		n := len(out)
		if n == 0 || x.Case == "" || out[n-1].change != x.Change+string(x.How) {
			text := incidentText(x)
			if text == "" {
				continue
			}
			out = append(out, incidentEntry{At: e.At, Text: text, change: x.Change + string(x.How)})
			n++
		} else {
			out[n-1].Until = e.At
		}
		if at := &out[n-1]; x.Case != "" && len(at.Cases) < mostNamed {
			at.Cases = append(at.Cases, x.Case)
		} else if x.Case != "" {
			at.More++
		}
	}
	return out
}

// incidentText describes a change of an incident.
func incidentText(x activity.IncidentChange) string {
	who := OneLine(x.By)
	by := func(person, run string) string {
		if who == "" {
			return run
		}
		return who + person
	}
	switch x.Change {
	case "opened":
		return fmt.Sprintf("It opened; checkpoints on hold: %d", x.OnHold)
	case activity.Filed:
		if x.Number == 0 {
			return "Its issue could not be opened"
		}
		return fmt.Sprintf("Issue #%d was opened", x.Number)
	case "widened":
		return "Further failures of the base were added"
	case "joined":
		return "On hold for it"
	case "left":
		return "No longer part of it: " + howText(x.How)
	case "resolved":
		return by(" said that the cause is over", "A green run shows that the cause is over")
	case "dismissed":
		return by(" closed it as not planned: nothing is restarted", "It was closed as not planned: nothing is restarted")
	case "reopened":
		return by(" opened it again", "What was restarted fails by the same cause: it is open again")
	case "canary":
		return "Chosen to be restarted first"
	case "passed":
		return "The cause is over: the others are restarted one after another"
	case "restarted":
		return "Restarted"
	case "finished":
		return "It is over: every case was restarted, or has left"
	}
	return ""
}

func howText(h incident.How) string {
	switch h {
	case incident.LeftPassed:
		return "it passed"
	case incident.LeftOwn:
		return "it has a failure of its own"
	case incident.LeftClosed:
		return "closed"
	case incident.LeftOther:
		return "a person decided otherwise"
	}
	return OneLine(string(h))
}

// incidentName names how far an incident is.
func incidentName(s incident.Standing) string {
	switch s {
	case incident.Open:
		return "open"
	case incident.Testing:
		return "said to be over, one case is tried"
	case incident.Resuming:
		return "over, cases are restarted"
	case incident.Over:
		return "over"
	case incident.Dismissed:
		return "closed as not planned"
	}
	return OneLine(string(s))
}

// incidentClass is the class of style of a standing.
func incidentClass(s incident.Standing) string {
	switch s {
	case incident.Open:
		return "escalated"
	case incident.Testing, incident.Resuming:
		return "in_progress"
	case incident.Dismissed:
		return "paused"
	}
	return "completed"
}

// incidentPath returns the path of the page of an incident, by the repository or by one of its cases.
func (l links) incidentPath(key, id string) string {
	return "/incident/" + escapePath(l.names.Now(repoOf(key))+"/"+strings.ReplaceAll(id, "/", ""))
}

// issueHref links to an issue, empty if there is none.
func (l links) issueHref(repo string, number int, address string) href {
	if number <= 0 {
		return href{}
	}
	n := fmt.Sprint(number)
	return href{orElse(web(address), l.github(repo, "issues", n)), "#" + n}
}
