package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// Graph is ports and what they depend on. The ports are numbered by priority,
// then id, so that the order of numbers is the order people see.
type Graph struct {
	ids      []string
	number   map[string]int32
	priority []int
	deps     edges // port → what it depends on
	outs     edges // port → what depends on it
	level    []int32
	depth    int // levels
}

// edges are lists of numbers, all in one.
type edges struct {
	start []int32 // of the list of a port; one more than there are ports
	to    []int32
}

func (e edges) of(n int32) []int32 { return e.to[e.start[n]:e.start[n+1]] }

// all reports whether ok holds for all that n has an edge to.
func (e edges) all(n int32, ok []bool) bool {
	return !slices.ContainsFunc(e.of(n), func(to int32) bool { return !ok[to] })
}

// node is what a graph is built of.
type node struct {
	id       string
	priority int
	needs    []string // known ids, none twice, none its own
}

// newGraph numbers the nodes, whose ids differ, and finds their levels. It
// walks every edge twice. Ports in or behind a circle have level -1.
func newGraph(nodes []node) Graph {
	order := make([]int32, len(nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &nodes[a], &nodes[b]
		return cmp.Or(cmp.Compare(x.priority, y.priority), strings.Compare(x.id, y.id))
	})
	g := Graph{ids: make([]string, len(nodes)), number: make(map[string]int32, len(nodes)), priority: make([]int, len(nodes))}
	for n, i := range order {
		g.ids[n], g.priority[n], g.number[nodes[i].id] = nodes[i].id, nodes[i].priority, int32(n)
	}
	g.deps.start = make([]int32, len(nodes)+1)
	for n, i := range order {
		for _, id := range nodes[i].needs {
			g.deps.to = append(g.deps.to, g.number[id])
		}
		g.deps.start[n+1] = int32(len(g.deps.to))
		slices.Sort(g.deps.of(int32(n)))
	}
	g.outs = reversed(g.deps)
	g.level, g.depth, _ = levels(g.deps, g.outs)
	return g
}

// reversed turns every edge around; each list comes out in order.
func reversed(e edges) edges {
	n := len(e.start) - 1
	out := edges{make([]int32, n+1), make([]int32, len(e.to))}
	for _, to := range e.to {
		out.start[to+1]++
	}
	for i := range n {
		out.start[i+1] += out.start[i]
	}
	at := slices.Clone(out.start)
	for from := range int32(n) {
		for _, to := range e.of(from) {
			out.to[at[to]] = from
			at[to]++
		}
	}
	return out
}

// levels gives every port the length of the longest chain below it: Kahn's
// algorithm, where a port is taken once all it depends on are. depth is the number of levels, walked
// how many edges were walked.
func levels(deps, outs edges) (level []int32, depth, walked int) {
	count := len(deps.start) - 1
	level = make([]int32, count)
	open := make([]int32, count) // dependencies not yet taken
	queue := make([]int32, 0, count)
	for n := range int32(count) {
		if open[n] = int32(len(deps.of(n))); open[n] == 0 {
			queue = append(queue, n)
		} else {
			level[n] = -1
		}
	}
	above := make([]int32, count) // the highest level of a dependency, plus 1
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		level[n] = above[n]
		depth = max(depth, int(above[n])+1)
		for _, d := range outs.of(n) {
			walked++
			above[d] = max(above[d], level[n]+1)
			if open[d]--; open[d] == 0 {
				queue = append(queue, d)
			}
		}
	}
	return level, depth, walked
}

// Len returns the number of ports.
func (g Graph) Len() int { return len(g.ids) }

// Edges returns the number of dependencies.
func (g Graph) Edges() int { return len(g.deps.to) }

// Levels returns the ports in levels: each stands strictly after all that it
// depends on, and as early as that allows. Within a level they are ordered by
// priority, then id. A plan without ports has no levels.
func (g Graph) Levels() [][]string {
	out := make([][]string, g.depth)
	for n, l := range g.level {
		if l >= 0 {
			out[l] = append(out[l], g.ids[n])
		}
	}
	return out
}

// Level returns the level of a port, counted from 0, -1 if there is no such port.
func (g Graph) Level(id string) int {
	n, ok := g.number[id]
	if !ok {
		return -1
	}
	return int(g.level[n])
}

// order returns the numbers level by level, without ports that have none: those in a
// circle, and what depends on them.
func (g Graph) order() []int32 {
	start := make([]int, g.depth+1)
	for _, l := range g.level {
		if l >= 0 {
			start[l+1]++
		}
	}
	for i := range g.depth {
		start[i+1] += start[i]
	}
	out := make([]int32, start[g.depth])
	for n, l := range g.level {
		if l >= 0 {
			out[start[l]] = int32(n)
			start[l]++
		}
	}
	return out
}

// Order returns all ports in the order in which they run one at a time.
func (g Graph) Order() []string { return g.named(g.order()) }

func (g Graph) named(numbers []int32) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = g.ids[n]
	}
	return out
}

// DependsOn returns what a port depends on directly.
func (g Graph) DependsOn(id string) []string { return g.direct(g.deps, id) }

// NeededBy returns what depends on a port directly.
func (g Graph) NeededBy(id string) []string { return g.direct(g.outs, id) }

func (g Graph) direct(e edges, id string) []string {
	n, ok := g.number[id]
	if !ok {
		return nil
	}
	return g.named(e.of(n))
}

// Dependents returns all that depends on a port, directly or not, in the order
// in which they run.
func (g Graph) Dependents(id string) []string { return g.reach(g.outs, id) }

// Requirements returns all that a port depends on, directly or not, in the
// order in which they run.
func (g Graph) Requirements(id string) []string { return g.reach(g.deps, id) }

func (g Graph) reach(e edges, id string) []string {
	n, ok := g.number[id]
	if !ok {
		return nil
	}
	seen := make([]bool, len(g.ids))
	for queue := []int32{n}; len(queue) > 0; {
		last := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range e.of(last) {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	var out []int32
	for _, m := range g.order() {
		if seen[m] && m != n {
			out = append(out, m)
		}
	}
	return g.named(out)
}

// Block is a port that cannot run.
type Block struct {
	ID string   `json:"id"`
	By []string `json:"by"` // which of its own dependencies failed or are blocked
}

// Blocked returns the ports that depend on one of those that failed, in the
// order in which they would run. All others go on.
func (g Graph) Blocked(failed []string) []Block {
	bad := make([]bool, len(g.ids))
	stopped := make([]bool, len(g.ids))
	for _, id := range failed {
		if n, ok := g.number[id]; ok {
			bad[n], stopped[n] = true, true
		}
	}
	var out []Block
	for _, n := range g.order() {
		var by []string
		for _, d := range g.deps.of(n) {
			if stopped[d] {
				by = append(by, g.ids[d])
			}
		}
		if len(by) > 0 && !bad[n] {
			stopped[n] = true
			out = append(out, Block{g.ids[n], by})
		}
	}
	return out
}

// GraphOf returns the graph of links as a register keeps them. What is named and is
// not among them is left out; priorities are not known.
func GraphOf(links map[string]feedback.Links) Graph {
	nodes := make([]node, 0, len(links))
	for id, l := range links {
		n := node{id: id}
		for _, d := range l.DependsOn {
			if _, known := links[d]; known && d != id && !slices.Contains(n.needs, d) {
				n.needs = append(n.needs, d)
			}
		}
		nodes = append(nodes, n)
	}
	return newGraph(nodes)
}
