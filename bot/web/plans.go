package web

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/eventstream"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/activity"
	"github.com/switchback-ci/switchback/routing/plan"
)

// planEvents are the events after which a plan may look otherwise.
var planEvents = []string{string(activity.PlanStart), string(activity.PlanPort), string(activity.PairChanged), string(activity.WorkerSpawn), string(activity.WorkerProgress),
	string(activity.WorkerComplete), string(activity.WorkerFeedback), string(activity.EscalationNew), string(activity.EscalationResolved), string(activity.FeedbackChanged)}

// mostPlans is how many plans are listed.
const mostPlans = 100

// planRow is a plan in the list.
type planRow struct {
	eventstream.Plan
	Passed, Total int
	Counts        []standingCount
}

type standingCount struct {
	Standing plan.Standing
	N        int
}

func (s *Server) plans(v Viewer, r *http.Request) (Page, error) {
	list, err := s.o.Feed.Plans(r.Context(), v.Repos, mostPlans)
	if err != nil {
		return Page{}, err
	}
	rows := make([]planRow, 0, len(list))
	for _, p := range list {
		w := walked(p, nil)
		row := planRow{Plan: p, Total: len(w.Ports), Counts: w.Counts}
		for _, c := range w.Counts {
			if c.Standing == plan.IsPassed {
				row.Passed = c.N
			}
		}
		rows = append(rows, row)
	}
	return Page{Name: "plans", Title: "Plans", Live: planEvents, Query: s.onlyRepo(r), Body: rows}, nil
}

// walk is a plan as it stands.
type walk struct {
	Plan     eventstream.Plan
	Ports    []portRow // in the order of their levels
	Counts   []standingCount
	Critical plan.Path
	Passed   int
	Graph    drawing
}

// portRow is one port of a plan.
type portRow struct {
	ID       string
	Level    int
	Needs    []string
	Standing plan.Standing
	Known    plan.Known
	State    eventstream.PortState
	Progress float64 // 0 to 1; of one that has not begun 0
	Critical bool    // on the path that takes longest
	Took     time.Duration
}

// Percent is the progress in whole percent.
func (p portRow) Percent() int { return int(p.Progress * 100) }

// Tokens are those that the port used, as far as it told.
func (p portRow) Tokens() int64 { return max(p.State.Tokens, p.Known.Tokens) }

// walked says how the ports of a plan stand.
func walked(p eventstream.Plan, ports map[string]eventstream.Port) walk {
	g := plan.GraphOf(p.Graph)
	took := map[string]time.Duration{}
	for id, k := range p.Ports {
		took[id] = time.Duration(k.Seconds * float64(time.Second))
	}
	w := walk{Plan: p, Critical: plan.NewSchedule(g, took).CriticalPath()}
	stands := map[string]plan.Standing{}
	counts := map[plan.Standing]int{}
	for level, ids := range g.Levels() {
		for _, id := range ids {
			row := portRow{ID: id, Level: level, Needs: g.DependsOn(id), Known: p.Ports[id], State: ports[id].PortState, Took: took[id],
				Critical: slices.Contains(w.Critical.Ports, id)}
			row.Standing = standingOf(p, row, stands)
			stands[id] = row.Standing
			counts[row.Standing]++
			switch {
			case row.Standing == plan.IsPassed:
				row.Progress = 1
				w.Passed++
			case row.Standing == plan.IsRunning:
				row.Progress = row.State.Progress
			}
			w.Ports = append(w.Ports, row)
		}
	}
	for _, st := range plan.Standings {
		if counts[st] > 0 {
			w.Counts = append(w.Counts, standingCount{st, counts[st]})
		}
	}
	w.Graph = draw(w.Ports)
	return w
}

// standingOf is what the register says of a port or, where it says nothing, what
// follows from the ports that it depends on.
func standingOf(p eventstream.Plan, row portRow, before map[string]plan.Standing) plan.Standing {
	if k, known := p.Ports[row.ID]; known && k.Standing != "" && (k.Build == p.PlanState.Build.ID || k.Standing == plan.IsPassed) {
		return k.Standing
	}
	out := plan.IsReady
	for _, d := range row.Needs {
		switch before[d] {
		case plan.IsPassed:
		case plan.IsEscalated, plan.IsFailed, plan.IsBlocked, plan.IsHeld:
			return plan.IsBlocked
		default:
			out = plan.IsPending
		}
	}
	return out
}

// planPage is what the page of a plan shows.
type planPage struct {
	walk
	Events []activity.Event // newest first
	Edges  []activity.Event
}

// mostNews is how many events the page of a plan shows.
const mostNews = 30

func (s *Server) plan(v Viewer, r *http.Request) (Page, error) {
	repo := s.o.Names.Kept(r.PathValue("owner") + "/" + r.PathValue("repo"))
	name := r.PathValue("plan")
	if !v.May(repo) {
		return Page{}, ErrNotFound
	}
	p, ok, err := s.o.Feed.Plan(r.Context(), routing.PlanKey(repo, name))
	if err != nil || !ok {
		return Page{}, orNotFound(err)
	}
	ports, err := s.o.Feed.Ports(r.Context(), repo, name)
	if err != nil {
		return Page{}, err
	}
	b := planPage{walk: walked(p, ports)}
	streams := []string{p.Key}
	for id := range ports {
		if len(streams) < 400 { // of a larger plan the newest events of some ports
			streams = append(streams, routing.PortKey(repo, name, id))
		}
	}
	if b.Events, err = s.o.Feed.Of(r.Context(), mostNews, streams...); err != nil {
		return Page{}, err
	}
	slices.Reverse(b.Events)
	if b.Edges, err = s.o.Feed.Of(r.Context(), mostNews, routing.StreamKey(repo, routing.StreamFeedbackRequests)); err != nil {
		return Page{}, err
	}
	slices.Reverse(b.Edges)
	return Page{Name: "plan", Title: s.o.Names.Now(repo) + ": " + name, Live: planEvents, Query: url.Values{"repo": {s.o.Names.Now(repo)}}.Encode(), Body: b}, nil
}

func orNotFound(err error) error {
	if err == nil {
		return ErrNotFound
	}
	return err
}
