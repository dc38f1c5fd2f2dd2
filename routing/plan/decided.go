package plan

import (
	"maps"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Links returns what each port of a plan hangs on.
func (p Plan) Links() map[string]feedback.Links {
	out := make(map[string]feedback.Links, len(p.specs))
	for _, s := range p.specs {
		out[s.ID] = feedback.Links{Parent: s.Parent, DependsOn: s.DependsOn}
	}
	return out
}

// Read records the plan as it was read, so that those who have no checkout know
// it: nothing if the register has it so.
func (r BuildState) Read(links map[string]feedback.Links, now time.Time) []routing.Event {
	same := func(a, b feedback.Links) bool { return a.Parent == b.Parent && slices.Equal(a.DependsOn, b.DependsOn) }
	if maps.EqualFunc(r.Graph, links, same) {
		return nil
	}
	return []routing.Event{{Type: EventRead, At: now, Data: PlanRead{r.Build.ID, links}}}
}

// Nodes is the plan as the register knows it, as the graph that feedback runs
// along.
func (r BuildState) Nodes() feedback.Nodes {
	return feedback.Nodes{Top: feedback.DefaultRoot, Links: r.Graph}
}

// Turned records that a port which was handed out to a run is in a turn: nothing
// if that is known, or is no news.
func (r BuildState) Turned(id, run string, turn int, now time.Time) []routing.Event {
	k, ok := r.Ports[id]
	if !ok || k.Standing != IsRunning || k.Build != r.Build.ID || k.Run != run || turn <= k.Attempts {
		return nil
	}
	return []routing.Event{{Type: EventTurned, At: now, Data: PortTurned{r.Build.ID, id, run, turn}}}
}

// Decided records what a human decided about a port: nothing if it is known.
func (r BuildState) Decided(id string, a Answer) []routing.Event {
	if r.Answers[id].ID == a.ID {
		return nil
	}
	return []routing.Event{{Type: EventDecided, At: a.At, Data: PortDecided{id, &a}}}
}

// stands returns what a human decided about the port as it is now: to skip it or
// to leave it as it is. It holds until its content changes or somebody decides
// otherwise.
func (r BuildState) stands(id, hash string) (Answer, bool) {
	a, ok := r.Answers[id]
	return a, ok && !a.Goes() && a.Hash == hash
}
