// Package stats makes figures of what a ledger holds: per repository, class,
// rule, signal, checkpoint and day. It is pure and takes one stream at a time,
// so it holds no more than the figures; they are additive, so that neither the
// order of the streams matters nor where they were counted, and that a stream
// which went on can be counted anew in place of what it was.
package stats

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Dimension is what figures are grouped by.
type Dimension string

// The dimensions.
const (
	ByClass      Dimension = "class"      // of the decisive failure, "-" where none is
	ByRule       Dimension = "rule"       // the rule that decided
	BySignal     Dimension = "signal"     // what the class was concluded from, "-" where nothing was
	ByCheckpoint Dimension = "checkpoint" // what has to pass
	ByDay        Dimension = "day"        // 2006-01-02 in UTC; not kept per repository
)

// Dimensions lists the dimensions in the order in which they are shown.
func Dimensions() []Dimension {
	return []Dimension{ByClass, ByRule, BySignal, ByCheckpoint, ByDay}
}

// None is the key of what has no class or no signal.
const None = "-"

// Window is the time that is looked at: from Since on and before Until. A zero
// time is no bound. A streak belongs to when it began.
type Window struct{ Since, Until time.Time }

// Holds reports whether at is in the window.
func (w Window) Holds(at time.Time) bool {
	return (w.Since.IsZero() || !at.Before(w.Since)) && (w.Until.IsZero() || at.Before(w.Until))
}

// Groups are the figures of one repository, or of all.
type Groups struct {
	Total *Figures
	By    map[Dimension]map[string]*Figures
}

func newGroups() *Groups {
	return &Groups{Total: new(Figures), By: map[Dimension]map[string]*Figures{}}
}

// Keys returns what there are figures of in a dimension, sorted.
func (g *Groups) Keys(d Dimension) []string { return slices.Sorted(maps.Keys(g.By[d])) }

func (g *Groups) at(d Dimension, key string) *Figures {
	if g.By[d] == nil {
		g.By[d] = map[string]*Figures{}
	}
	if g.By[d][key] == nil {
		g.By[d][key] = new(Figures)
	}
	return g.By[d][key]
}

func (g *Groups) merge(o *Groups) {
	g.Total.merge(o.Total)
	for d, keys := range o.By {
		for key, f := range keys {
			to := g.at(d, key)
			if to.merge(f); to.empty() {
				delete(g.By[d], key)
			}
		}
	}
}

// Tally is figures over any number of streams.
type Tally struct {
	Window Window

	repos    map[string]*Groups
	days     map[string]*Figures // of all repositories
	requests map[string]*FeedbackRequests

	incidents map[routing.IncidentKind]Incidents
}

// New returns a tally of nothing.
func New(w Window) *Tally {
	return &Tally{Window: w, repos: map[string]*Groups{}, days: map[string]*Figures{}, requests: map[string]*FeedbackRequests{}, incidents: map[routing.IncidentKind]Incidents{}}
}

// RepositoryOf returns the repository of a stream's key.
func RepositoryOf(key string) string {
	owner, rest, ok := strings.Cut(key, "/")
	if !ok {
		return key
	}
	if i := strings.IndexAny(rest, "#@!"); i >= 0 {
		rest = rest[:i]
	}
	return owner + "/" + rest
}

// Merge adds what o counted. Both are of the same window.
func (t *Tally) Merge(o *Tally) {
	for repo, g := range o.repos {
		to := t.repo(repo)
		if to.merge(g); to.Total.empty() {
			delete(t.repos, repo)
		}
	}
	for day, f := range o.days {
		to := t.day(day)
		if to.merge(f); to.empty() {
			delete(t.days, day)
		}
	}
	for repo, e := range o.requests {
		t.feedbackRequests(repo).merge(e)
	}
	for kind, e := range o.incidents {
		t.incidents[kind] = t.incidents[kind].plus(e)
	}
}

func (t *Tally) repo(name string) *Groups {
	if t.repos[name] == nil {
		t.repos[name] = newGroups()
	}
	return t.repos[name]
}

func (t *Tally) day(key string) *Figures {
	if t.days[key] == nil {
		t.days[key] = new(Figures)
	}
	return t.days[key]
}

func (t *Tally) feedbackRequests(repo string) *FeedbackRequests {
	if t.requests[repo] == nil {
		t.requests[repo] = &FeedbackRequests{ByType: map[feedback.Type]int{}}
	}
	return t.requests[repo]
}

// Repositories returns those of which anything was counted, sorted.
func (t *Tally) Repositories() []string { return slices.Sorted(maps.Keys(t.repos)) }

// Of returns the figures of a repository; they are empty if there are none.
func (t *Tally) Of(repo string) *Groups {
	if g := t.repos[repo]; g != nil {
		return g
	}
	return newGroups()
}

// All returns the figures of all repositories together.
func (t *Tally) All() *Groups {
	all := newGroups()
	for _, g := range t.repos {
		all.merge(g)
	}
	all.By[ByDay] = map[string]*Figures{}
	for day, f := range t.days {
		all.By[ByDay][day] = f.clone()
	}
	return all
}

// FeedbackRequests returns the figures of the feedback between the ports of plans.
func (t *Tally) FeedbackRequests() feedback.Stats {
	sum := &FeedbackRequests{ByType: map[feedback.Type]int{}}
	for _, e := range t.requests {
		sum.merge(e)
	}
	return sum.Stats()
}

// Add counts a stream, which is a case's or a register's. Registers of which
// there are no figures count nothing. A stream is to be added once.
func (t *Tally) Add(key string, events []routing.Event) error {
	switch {
	case !routing.IsRepositoryStream(key):
		return t.addCase(key, events)
	case len(events) > 0 && events[0].Type.Family() == routing.FamilyFeedback:
		return t.addFeedbackRequests(key, events)
	case len(events) > 0 && events[0].Type.Family() == routing.FamilyIncident:
		return t.addIncidents(key, events)
	}
	return nil
}
