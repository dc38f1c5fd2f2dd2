package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
)

// casePages are the list of cases and the page of each.
type casePages struct {
	cases  eventstream.Cases
	stream func(ctx context.Context, key string) ([]routing.Event, error) // see Options.Stream
	links  links
}

func (p casePages) section() Section {
	return Section{Links: []Link{{"/cases", "Cases", 20}}, Routes: map[string]Handler{"GET /cases": p.list, "GET /case/{path...}": p.one}}
}

// caseView is the page of a case.
type caseView struct {
	Key         string
	Link        href
	State       eventstream.State
	Since       time.Time
	Opened      time.Time
	Updated     time.Time
	Quarantine  []string // names of tests that do not count
	Handoff     *handoffView
	Checkpoints []checkpointView
	All         bool // all entries are shown
}

type checkpointView struct {
	ID, Name   string
	State      eventstream.State
	Since      time.Time
	Iterations int
	Most       int
	Why        string // it is escalated
	Incident   *routing.IncidentRef
	Issue      href
	Comment    href
	Newest     href // run
	Pending    []effectEntry
	Streaks    []streak // the newest first
	Earlier    int      // entries left out
	Grid       grid
	LastChange time.Time
}

// streak is the entries between two green runs or resets.
type streak struct {
	N       int // 1 for the first
	Newest  bool
	Entries []entry
}

// caseEventsAll are the events that change the page of a case.
var caseEventsAll = append(slices.Clone(caseEvents), string(activity.WorkerFeedback), string(activity.EffectDone))

// key returns the key of the case of a page's path.
func (p casePages) key(path string) (key string, ok bool) {
	parts := strings.SplitN(path, "/", 3)
	if len(parts) < 3 {
		return "", false
	}
	repo, subject := p.links.names.Kept(parts[0]+"/"+parts[1]), parts[2]
	if subject != "" && !strings.HasPrefix(subject, "@") {
		subject = "#" + subject
	}
	key = repo + subject
	return key, activity.Repo(key) == repo && !routing.IsRepositoryStream(key)
}

func (p casePages) one(v Viewer, r *http.Request) (Page, error) {
	key, ok := p.key(r.PathValue("path"))
	if !ok || !v.May(repoOf(key)) {
		return Page{}, ErrNotFound
	}
	events, err := p.stream(r.Context(), key)
	if err != nil {
		return Page{}, err
	}
	if len(events) == 0 {
		return Page{}, ErrNotFound
	}
	st, err := storyOf(p.links, key, events)
	if err != nil {
		return Page{}, err
	}
	return Page{Name: "case", Title: OneLine(p.links.subject(key)), Live: caseEventsAll, Query: url.Values{"session": {p.links.subject(key)}}.Encode(),
		Body: p.view(st, r.URL.Query().Get("all") != "")}, nil
}

func (p casePages) view(st story, all bool) caseView {
	b := caseView{Key: st.Key, Link: p.links.subjectHref(st.Key), Opened: st.Opened, Updated: st.Updated, All: all, Handoff: handoffOf(st.Case)}
	b.State, _, b.Since = eventstream.Standing(st.Case)
	for _, q := range st.Quarantine {
		if len(b.Quarantine) < mostNamed {
			b.Quarantine = append(b.Quarantine, q.Test)
		}
	}
	most := mostEntries
	if all {
		most = mostAll
	}
	for i, name := range st.Names() {
		b.Checkpoints = append(b.Checkpoints, p.checkpoint(st, fmt.Sprintf("checkpoint-%d", i+1), name, most))
	}
	return b
}

func (p casePages) checkpoint(st story, id, name string, most int) checkpointView {
	cp := st.Checkpoints[name]
	v := checkpointView{ID: id, Name: name, Iterations: cp.Retries, Most: cp.Limit + cp.Extra, LastChange: cp.Updated}
	v.State, v.Since = eventstream.StateOf(cp)
	if cp.Last.ID != "" {
		v.Newest = p.links.runHref(st.Key, cp.Last)
	}
	if e := cp.Escalation; e != nil {
		v.Why = e.Reason
		v.Issue = p.links.effectHref(st, name, routing.EffectIssue, string(e.Kind))
	}
	if ref, on := routing.OnHoldForIncident(cp); on {
		v.Incident = &ref
	}
	v.Comment = p.links.effectHref(st, name, routing.EffectComment, "")
	for _, e := range st.Pending {
		if e.Checkpoint == name {
			v.Pending = append(v.Pending, effectEntry{What: effectText(e)})
		}
	}
	entries := st.lines[name]
	for i := range entries {
		entries[i].ID = id + "-" + entries[i].ID
	}
	shown := entries
	if n := len(entries); n > most {
		v.Earlier, shown = n-most, entries[n-most:]
	}
	v.Grid = gridOf(entries)
	for i := range v.Grid.Columns {
		if c := &v.Grid.Columns[i]; !slices.ContainsFunc(shown, func(e entry) bool { return e.ID == c.Entry }) {
			c.Entry = ""
		}
	}
	for _, e := range shown {
		if n := len(v.Streaks); n == 0 || v.Streaks[n-1].N != e.Streak+1 {
			v.Streaks = append(v.Streaks, streak{N: e.Streak + 1})
		}
		at := &v.Streaks[len(v.Streaks)-1]
		at.Entries = append(at.Entries, e)
	}
	slices.Reverse(v.Streaks)
	if len(v.Streaks) > 0 {
		v.Streaks[0].Newest = true
	}
	return v
}
