package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// plan compiles ports written as "id: needs needs".
func plan(t testing.TB, lines ...string) Plan {
	t.Helper()
	var files []File
	for _, l := range lines {
		id, needs, _ := strings.Cut(l, ":")
		files = append(files, fileOf(id, strings.Fields(needs)...))
	}
	p, err := Compile(files)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGraph(t *testing.T) {
	t.Parallel()
	t.Run("S2-39 a graph knows what each port depends on and what needs it", func(t *testing.T) {
		p := plan(t, "a:", "b:", "c: a", "d: a b c")
		got := fmt.Sprint(p.Len(), p.Edges(), p.DependsOn("d"), p.NeededBy("a"), p.Requirements("d"), p.Dependents("a"), p.Dependents("d"), p.DependsOn("x"))
		if want := "4 4 [a b c] [c d] [a b c] [c d] [] []"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
	t.Run("S2-41 the document's example", func(t *testing.T) {
		if got := plan(t, "D: A B C", "C: A", "B:", "A:").Levels(); !reflect.DeepEqual(got, [][]string{{"A", "B"}, {"C"}, {"D"}}) {
			t.Error(got)
		}
	})
	t.Run("S2-54 an edge that is written twice is one", func(t *testing.T) {
		if p := plan(t, "a:", "b: a a a"); p.Edges() != 1 || len(p.Levels()) != 2 {
			t.Errorf("%d edges", p.Edges())
		}
	})
	t.Run("S2-47 within a level by priority, then id", func(t *testing.T) {
		p, err := Compile([]File{{"p.yml", []byte("- {id: z, priority: 1}\n- {id: b}\n- {id: a}\n- {id: y, priority: low}\n- {id: c, priority: high}\n")}})
		if got := fmt.Sprint(p.Levels(), err); got != "[[z c a b y]] <nil>" {
			t.Error(got)
		}
	})
	t.Run("S2-48 only what depends on a failed port is blocked", func(t *testing.T) {
		p := plan(t, "a:", "b:", "c: a", "d: c b", "e: b", "f: d e")
		got := fmt.Sprint(p.Blocked([]string{"a", "nope"}), p.Blocked(nil), p.Blocked([]string{"a", "c"}))
		if want := "[{c [a]} {d [c]} {f [d]}] [] [{d [c]} {f [d]}]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// randomNodes is a graph without circles whose numbers say nothing of its order.
func randomNodes(rnd *rand.Rand, size, needs int) []node {
	names := rnd.Perm(size)
	nodes := make([]node, size)
	for i := range nodes {
		nodes[i] = node{id: fmt.Sprintf("p%d", names[i]), priority: rnd.IntN(3)}
		for _, d := range some(rnd, 0, i, rnd.IntN(needs+1)) {
			nodes[i].needs = append(nodes[i].needs, nodes[d].id)
		}
	}
	return nodes
}

func TestLevelsOfRandomGraphs(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		nodes := randomNodes(rnd, 1+rnd.IntN(60), rnd.IntN(6))
		checkGraph(t, nodes, rnd)
	}
	t.Run("S2-40 a port stands strictly after all it depends on, and no later than needed", func(t *testing.T) {
		checkGraph(t, randomNodes(rnd, 2000, 8), rnd)
	})
	t.Run("S2-47 the order in which ports are given changes nothing", func(t *testing.T) {
		nodes := randomNodes(rnd, 200, 4)
		want := newGraph(nodes).Levels()
		for range 10 {
			rnd.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
			for _, n := range nodes {
				rnd.Shuffle(len(n.needs), func(i, j int) { n.needs[i], n.needs[j] = n.needs[j], n.needs[i] })
			}
			if got := newGraph(nodes).Levels(); !reflect.DeepEqual(got, want) {
				t.Fatal("other levels")
			}
		}
	})
}

// checkGraph compares a graph with what the definitions say.
func checkGraph(t *testing.T, nodes []node, rnd *rand.Rand) {
	t.Helper()
	g := newGraph(nodes)
	byID := map[string]node{}
	for _, n := range nodes {
		byID[n.id] = n
	}
	total := 0
	for l, level := range g.Levels() {
		total += len(level)
		for _, id := range level {
			highest := -1
			for _, d := range byID[id].needs {
				highest = max(highest, g.Level(d))
			}
			if highest+1 != l || g.Level(id) != l {
				t.Fatalf("%s is in level %d, its dependencies up to %d", id, l, highest)
			}
		}
		if !slices.IsSortedFunc(level, func(a, b string) int {
			return slices.Compare([]int{byID[a].priority, strings.Compare(a, b)}, []int{byID[b].priority, 0})
		}) {
			t.Fatalf("not in order: %v", level)
		}
	}
	if total != len(nodes) || len(circles(g)) > 0 {
		t.Fatalf("%d of %d ports have a level", total, len(nodes))
	}
	failed := nodes[rnd.IntN(len(nodes))].id
	var blocked []string
	for _, b := range g.Blocked([]string{failed}) {
		blocked = append(blocked, b.ID)
	}
	if !slices.Equal(blocked, g.Dependents(failed)) {
		t.Fatalf("%s failed: %v are blocked, %v depend on it", failed, blocked, g.Dependents(failed))
	}
	for _, id := range blocked {
		if !slices.Contains(g.Requirements(id), failed) {
			t.Fatalf("%s does not depend on %s", id, failed)
		}
	}
}

// In a random graph with circles each one named is one, and removing an edge of
// each until none is left ends.
func TestCirclesOfRandomGraphs(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 3))
	met := 0
	for range 300 {
		size := 2 + rnd.IntN(30)
		nodes := make([]node, size)
		for i := range nodes {
			nodes[i].id = fmt.Sprint("p", i)
		}
		for range rnd.IntN(3 * size) {
			a, b := rnd.IntN(size), rnd.IntN(size)
			if id := nodes[b].id; a != b && !slices.Contains(nodes[a].needs, id) {
				nodes[a].needs = append(nodes[a].needs, id)
			}
		}
		for step := 0; ; step++ {
			g := newGraph(nodes)
			ways := circles(g)
			if len(ways) == 0 {
				if slices.Contains(g.level, -1) {
					t.Fatal("ports without a level, and no circle")
				}
				break
			}
			met++
			for _, way := range ways {
				names := g.named(way)
				if len(names) < 3 || names[0] != names[len(names)-1] {
					t.Fatalf("no circle: %v", names)
				}
				for i := range names[1:] {
					if !slices.Contains(g.DependsOn(names[i]), names[i+1]) {
						t.Fatalf("%s does not depend on %s", names[i], names[i+1])
					}
				}
				from := &nodes[slices.IndexFunc(nodes, func(n node) bool { return n.id == names[0] })]
				from.needs = slices.DeleteFunc(from.needs, func(id string) bool { return id == names[1] })
			}
			if step > 4*size {
				t.Fatal("circles without end")
			}
		}
	}
	if met < 100 {
		t.Errorf("only %d graphs had circles", met)
	}
}

// A plan takes one walk over its ports and edges, however it is shaped, and a
// chain as long as the plan does not exhaust the stack.
func TestPlanningIsLinear(t *testing.T) {
	t.Parallel()
	chain := make([]node, 200_000)
	for i := range chain {
		chain[i] = node{id: fmt.Sprintf("p%06d", i)}
		if i > 0 {
			chain[i].needs = []string{chain[i-1].id}
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for name, nodes := range map[string][]node{"chain": chain, "random": randomNodes(rnd, 10_000, 10), "none": make([]node, 1)} {
		g := newGraph(nodes)
		if _, _, walked := levels(g.deps, g.outs); walked != g.Edges() {
			t.Errorf("%s: %d edges were walked, of %d", name, walked, g.Edges())
		}
	}
	chain[0].needs = []string{chain[len(chain)-1].id} // now it is a ring
	if ways := circles(newGraph(chain)); len(ways) != 1 || len(ways[0]) != len(chain)+1 {
		t.Error("the ring is not named")
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, size := range []int{1000, 10_000, 100_000} {
		rnd := rand.New(rand.NewPCG(1, 1))
		nodes := make([]node, size)
		specs := make([]Spec, size)
		for i := range nodes {
			nodes[i] = node{id: fmt.Sprintf("p%d", i)}
			for _, d := range some(rnd, 0, i, 5) {
				nodes[i].needs = append(nodes[i].needs, nodes[d].id)
			}
			specs[i] = Spec{ID: nodes[i].id, DependsOn: nodes[i].needs, deps: make([]int, 5), File: "p.yml", Line: i}
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			edges := 0
			for b.Loop() {
				p, err := newPlan(slices.Clone(specs), nil)
				if err != nil {
					b.Fatal(err)
				}
				edges = p.Edges() + 0*len(p.Jobs(DefaultSettings(), State{}, nil, false).Shards)
			}
			b.ReportMetric(float64(edges), "edges")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size+edges), "ns/part")
		})
	}
}

// Any edges: either every port has a level, or a circle is named.
func FuzzGraph(f *testing.F) {
	f.Add([]byte{1, 0, 2, 1, 0, 2}, uint8(3))
	f.Add([]byte{1, 0, 2, 1, 3, 2}, uint8(9))
	f.Fuzz(func(t *testing.T, pairs []byte, size uint8) {
		nodes := make([]node, max(1, int(size)))
		for i := range nodes {
			nodes[i] = node{id: fmt.Sprint("p", i), priority: i % 3}
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			a, b := int(pairs[i])%len(nodes), int(pairs[i+1])%len(nodes)
			if id := nodes[b].id; a != b && !slices.Contains(nodes[a].needs, id) {
				nodes[a].needs = append(nodes[a].needs, id)
			}
		}
		g := newGraph(nodes)
		if len(circles(g)) > 0 != slices.Contains(g.level, -1) {
			t.Fatalf("%d circles, levels %v", len(circles(g)), g.level)
		}
		if len(circles(g)) == 0 {
			checkGraph(t, nodes, rand.New(rand.NewPCG(1, 1)))
			m := NewSchedule(g, nil).Makespan(3)
			if m.Ready < m.Bound || m.ByLevel < m.Bound {
				t.Fatalf("%+v", m)
			}
		}
	})
}
