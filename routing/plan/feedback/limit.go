package feedback

import (
	"fmt"
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

// limits is what bounds further feedback: the rounds that were used, and the chains of what is open.
type limits struct {
	used map[pair]int
	open chains
}

func (l limits) clone() limits {
	if l.used == nil {
		return limits{map[pair]int{}, chains{map[spot][]spot{}, map[spot][]spot{}}}
	}
	return limits{maps.Clone(l.used), l.open.clone()}
}

// note takes in a record that changed; open is whether it was open before.
func (l limits) note(x Record, open bool) {
	switch is := x.Status.Open(); {
	case is && !open:
		l.open.join(x)
	case open && !is:
		l.open.cut(x)
	}
	if x.Escalates == "" && x.Round > 0 {
		p := pair{x.Plan, x.Message.From, x.Message.To}
		l.used[p] = max(l.used[p], x.Round)
	}
}

func (l limits) rounds(plan, from, to string) int { return l.used[pair{plan, from, to}] }

// firstRound returns the round in which x begins.
func (l limits) firstRound(x Record) int {
	if x.Escalates != "" {
		return 1
	}
	return l.rounds(x.Plan, x.Message.From, x.Message.To) + 1
}

// furtherRound reports whether x may have another round: an escalation counts its own, everything
// else those of its pair.
func (l limits) furtherRound(x Record) bool {
	if x.Escalates != "" {
		return x.Round < MaxRounds
	}
	return l.rounds(x.Plan, x.Message.From, x.Message.To) < MaxRounds
}

// checkRound refuses a round that does not follow: the next one begins where a
// feedback is queued again, if the pair has one left.
func (l limits) checkRound(next, old Record) error {
	want := old.Round
	if next.Status == Queued {
		want++
	}
	if next.Round != want || next.Status == Queued && (!l.furtherRound(old) || !next.Priority.Valid()) {
		return fmt.Errorf("round %d of priority %q after round %d", next.Round, next.Priority, old.Round)
	}
	return nil
}

// refuse returns which limit refuses feedback from one node to another, nil if
// none does. An escalation has no limit of rounds.
func (l limits) refuse(plan, from, to string, escalation bool) *Refusal {
	if !escalation && l.rounds(plan, from, to) >= MaxRounds {
		return refuse(Rounds, "Max feedback rounds (%d) exceeded for %s → %s", MaxRounds, from, to)
	}
	if back := l.open.path(spot{plan, to}, spot{plan, from}); back != nil {
		return refuse(Cycle, "Feedback cycle detected: %s", strings.Join(append(back, to), " → "))
	}
	if longest(l.open.before, spot{plan, from})+1+longest(l.open.after, spot{plan, to}) > MaxDepth {
		return refuse(Depth, "Feedback chain depth (%d) exceeded", MaxDepth)
	}
	return nil
}

func (x *Record) between(plan, from, to string) bool {
	return x.Message.From == from && x.Message.To == to && x.Plan == plan
}

// pair is a sender and a target in a plan, spot a node in one.
type (
	pair struct{ plan, from, to string }
	spot struct{ plan, node string }
)

// chains are the edges of open feedback. They close no circle, as refuse lets
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
