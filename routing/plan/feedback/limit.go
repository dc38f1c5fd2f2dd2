package feedback

import (
	"maps"
	"slices"
	"strings"
)

// findTarget returns why m does not reach its target in g, nil if it does.
func findTarget(g Graph, m Message) *Refusal {
	if !slices.Contains(Ancestors(g, m.From), m.To) {
		return refuse(NoTarget, "Target node '%s' not found in ancestors of '%s'", m.To, m.From)
	}
	if m.Type.Asks() == Replan && !slices.Contains(Planners(g, m.From), m.To) {
		return refuse(NoTarget, "%s goes to the root or to a parent of '%s': '%s' plans nothing", m.Type, m.From, m.To)
	}
	return nil
}

// Rounds returns how many rounds a pair has used in a plan. Rejected feedback
// used none, and escalations do not count.
func (r State) Rounds(plan, from, to string) int { return r.used[pair{plan, from, to}] }

func (x *Record) between(plan, from, to string) bool {
	return x.Message.From == from && x.Message.To == to && x.Plan == plan
}

// limit returns which limit refuses feedback from one node to another, nil if
// none does. An escalation has no limit of rounds.
func (r State) limit(plan, from, to string, escalation bool) *Refusal {
	if !escalation && r.Rounds(plan, from, to) >= MaxRounds {
		return refuse(Rounds, "Max feedback rounds (%d) exceeded for %s → %s", MaxRounds, from, to)
	}
	if back := r.open.path(spot{plan, to}, spot{plan, from}); back != nil {
		return refuse(Cycle, "Feedback cycle detected: %s", strings.Join(append(back, to), " → "))
	}
	if longest(r.open.before, spot{plan, from})+1+longest(r.open.after, spot{plan, to}) > MaxDepth {
		return refuse(Depth, "Feedback chain depth (%d) exceeded", MaxDepth)
	}
	return nil
}

// pair is a sender and a target in a plan, spot a node in one.
type (
	pair struct{ plan, from, to string }
	spot struct{ plan, node string }
)

// chains are the edges of open feedback. They close no circle, as limit lets
// none in.
type chains struct{ after, before map[spot][]spot }

func (c chains) clone() chains { return chains{maps.Clone(c.after), maps.Clone(c.before)} }

// join adds the edge of x, and cut takes it away. A list is never changed in
// place: clones share it.
func (c chains) join(x Record) {
	from, to := spot{x.Plan, x.Message.From}, spot{x.Plan, x.Message.To}
	c.after[from] = append(slices.Clip(c.after[from]), to)
	c.before[to] = append(slices.Clip(c.before[to]), from)
}

func (c chains) cut(x Record) {
	from, to := spot{x.Plan, x.Message.From}, spot{x.Plan, x.Message.To}
	without(c.after, from, to)
	without(c.before, to, from)
}

func without(m map[spot][]spot, at, end spot) {
	old := m[at]
	i := slices.Index(old, end)
	if m[at] = slices.Concat(old[:i], old[i+1:]); len(m[at]) == 0 {
		delete(m, at)
	}
}

// path returns the nodes of a shortest way along open feedback, both ends
// included, nil if there is none.
func (c chains) path(from, to spot) []string {
	came := map[spot]spot{from: {}}
	for todo := []spot{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			var out []string
			for n := to; n != from; n = came[n] {
				out = append(out, n.node)
			}
			slices.Reverse(out)
			return append([]string{from.node}, out...)
		}
		for _, next := range c.after[todo[0]] {
			if _, seen := came[next]; !seen {
				came[next] = todo[0]
				todo = append(todo, next)
			}
		}
	}
	return nil
}

// longest returns the hops of the longest chain from a spot along edges, which
// close no circle and are at most MaxDepth deep.
func longest(edges map[spot][]spot, at spot) int {
	n := 0
	for _, next := range edges[at] {
		n = max(n, 1+longest(edges, next))
	}
	return n
}
