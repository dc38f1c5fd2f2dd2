package feedback

import (
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
func (r Register) Rounds(plan, from, to string) int {
	n := 0
	for i := range r.Records {
		if x := &r.Records[i]; x.between(plan, from, to) && x.Status != Rejected && x.Escalates == "" {
			n = max(n, x.Round)
		}
	}
	return n
}

func (x *Record) between(plan, from, to string) bool {
	return x.Message.From == from && x.Message.To == to && x.Plan == plan
}

// limit returns which limit refuses feedback from one node to another, nil if
// none does. An escalation has no limit of rounds.
func (r Register) limit(plan, from, to string, escalation bool) *Refusal {
	if !escalation && r.Rounds(plan, from, to) >= MaxRounds {
		return refuse(Rounds, "Max feedback rounds (%d) exceeded for %s → %s", MaxRounds, from, to)
	}
	c := r.chains(plan)
	if back := c.path(to, from); back != nil {
		return refuse(Cycle, "Feedback cycle detected: %s", strings.Join(append(back, to), " → "))
	}
	if longest(c.before, from)+1+longest(c.after, to) > MaxDepth {
		return refuse(Depth, "Feedback chain depth (%d) exceeded", MaxDepth)
	}
	return nil
}

// chains are the edges of a plan's open feedback. They close no circle, as
// limit lets none in.
type chains struct{ after, before map[string][]string }

func (r Register) chains(plan string) chains {
	c := chains{map[string][]string{}, map[string][]string{}}
	for i := range r.Records {
		if x := &r.Records[i]; x.Status.Open() && x.Plan == plan {
			from, to := x.Message.From, x.Message.To
			c.after[from] = append(c.after[from], to)
			c.before[to] = append(c.before[to], from)
		}
	}
	return c
}

// path returns the nodes of a shortest way along open feedback, both ends
// included, nil if there is none.
func (c chains) path(from, to string) []string {
	came := map[string]string{from: ""}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			var out []string
			for n := to; n != from; n = came[n] {
				out = append(out, n)
			}
			slices.Reverse(out)
			return append([]string{from}, out...)
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

// longest returns the hops of the longest chain from node along edges, which
// close no circle and are at most MaxDepth deep.
func longest(edges map[string][]string, node string) int {
	n := 0
	for _, next := range edges[node] {
		n = max(n, 1+longest(edges, next))
	}
	return n
}
