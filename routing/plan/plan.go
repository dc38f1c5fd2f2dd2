package plan

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/switchback-ci/switchback/routing/suggest"
	"github.com/switchback-ci/switchback/routing/truncate"
)

// Plan is a graph of ports without anything wrong with it.
type Plan struct {
	Graph
	specs []Spec // by number
}

// Compile reads a plan from its files. Their order does not matter. The error
// is an *Error with everything that is wrong. No files are an empty plan.
func Compile(files []File) (Plan, error) {
	var specs []Spec
	var problems []Problem
	for _, f := range parseAll(files) {
		specs, problems = append(specs, f.specs...), append(problems, f.problems...)
	}
	return newPlan(specs, problems)
}

// parsed is what a file says, and what is wrong with it.
type parsed struct {
	specs    []Spec
	problems []Problem
}

// parsedAlone is how many files are parsed in less time than others take to begin.
const parsedAlone = 64

// parseAll parses files, on all processors if they are many. It panics if Parse does.
func parseAll(files []File) []parsed {
	out := make([]parsed, len(files))
	var next atomic.Int64
	var done sync.WaitGroup
	var panicked atomic.Pointer[any]
	parse := func() {
		defer func() {
			if v := recover(); v != nil {
				panicked.Store(&v)
			}
		}()
		for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
			out[i].specs, out[i].problems = Parse(files[i])
		}
	}
	for range min(runtime.GOMAXPROCS(0)-1, len(files)/parsedAlone) {
		done.Go(parse)
	}
	parse()
	done.Wait()
	if v := panicked.Load(); v != nil {
		panic(*v)
	}
	return out
}

func newPlan(specs []Spec, problems []Problem) (Plan, error) {
	slices.SortStableFunc(specs, func(a, b Spec) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	c := &checker{specs: specs, problems: problems, byID: make(map[string]int, len(specs))}
	c.index()
	g := newGraph(c.nodes())
	c.circles(g)
	c.parents()
	if len(c.problems) > 0 {
		slices.SortStableFunc(c.problems, func(a, b Problem) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
		return Plan{}, &Error{c.problems}
	}
	p := Plan{g, make([]Spec, len(specs))}
	for _, s := range specs {
		p.specs[g.number[s.ID]] = s
	}
	return p, nil
}

// checker finds what is wrong between ports.
type checker struct {
	specs    []Spec
	byID     map[string]int // the first port of an id
	problems []Problem
}

func (c *checker) add(s *Spec, line int, format string, a ...any) {
	c.problems = append(c.problems, Problem{s.File, line, truncate.Message(fmt.Sprintf(format, a...))})
}

// index finds ids that are given twice. File systems, artifacts and jobs do not
// all tell capitals from small letters.
func (c *checker) index() {
	folded := make(map[string]int, len(c.specs))
	for i := range c.specs {
		s := &c.specs[i]
		if s.ID == "" {
			continue // said already
		}
		low := strings.ToLower(s.ID)
		j, twice := folded[low]
		switch first := &c.specs[j]; {
		case !twice:
			folded[low], c.byID[s.ID] = i, i
		case first.ID == s.ID:
			c.add(s, s.lineOf("id"), "id %q is taken by %s:%d; give one of them another", s.ID, first.File, first.lineOf("id"))
		default:
			c.byID[s.ID] = i
			c.add(s, s.lineOf("id"), "id %q differs from %q in %s:%d by capitals alone; give one of them another", s.ID, first.ID, first.File, first.lineOf("id"))
		}
	}
}

// nodes returns what the graph is built of, without the edges that are wrong,
// which it reports.
func (c *checker) nodes() []node {
	out := make([]node, 0, len(c.byID))
	for i := range c.specs {
		s := &c.specs[i]
		needs := make([]string, 0, len(s.DependsOn))
		for k, d := range s.DependsOn {
			switch _, known := c.byID[d]; {
			case d == s.ID:
				c.add(s, s.deps[k], "port %q depends on itself; remove that", s.ID)
			case !known:
				c.add(s, s.deps[k], "port %q depends on %q, which is none of the ports; %s", s.ID, d, c.hint(s, d))
			default:
				needs = append(needs, d)
			}
		}
		if first, ok := c.byID[s.ID]; ok && first == i {
			out = append(out, node{s.ID, s.Priority, needs})
		}
	}
	return out
}

// hint returns what a port may have meant by an id. Among many ports, or for many mistakes,
// looking would take longer than all the rest.
func (c *checker) hint(s *Spec, id string) string {
	if len(c.byID) > 200 || len(c.problems) > 200 {
		return "write its port, or remove that"
	}
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(c.byID)), func(k string) bool { return k == s.ID })
	if _, ok := suggest.Close(id, ids); !ok && (len(ids) > 12 || len(ids) == 0) {
		return "write its port, or remove that"
	}
	return suggest.Hint(id, ids)
}

func (c *checker) circles(g Graph) {
	for _, way := range circles(g) {
		names := g.named(way)
		s := &c.specs[c.byID[names[0]]]
		c.add(s, s.deps[slices.Index(s.DependsOn, names[1])], "ports depend on each other in a circle: %s; remove one of these dependencies", strings.Join(names, " → "))
	}
}

// parents checks the links to parents, which are a forest.
func (c *checker) parents() {
	done := make([]bool, len(c.specs))
	for i := range c.specs {
		s := &c.specs[i]
		if s.Parent == "" {
			continue
		}
		if s.Parent == s.ID {
			c.add(s, s.lineOf("parent"), "port %q is its own parent; remove that", s.ID)
			done[i] = true
			continue
		}
		if _, known := c.byID[s.Parent]; !known {
			c.add(s, s.lineOf("parent"), "parent %q is none of the ports; %s", s.Parent, c.hint(s, s.Parent))
			continue
		}
		c.streak(i, done)
	}
}

// streak walks up from a port to what was walked before, and reports a circle.
func (c *checker) streak(i int, done []bool) {
	var way []string
	at := map[int]int{}
	for !done[i] {
		if j, again := at[i]; again {
			s := &c.specs[i]
			c.add(s, s.lineOf("parent"), "ports are each other's parents in a circle: %s; remove one of these links", strings.Join(append(way[j:], s.ID), " → "))
			break
		}
		at[i] = len(way)
		way = append(way, c.specs[i].ID)
		next, ok := c.byID[c.specs[i].Parent]
		if !ok {
			break
		}
		i = next
	}
	for k := range at {
		done[k] = true
	}
}

// Ports returns the ports by priority, then id.
func (p Plan) Ports() []Spec { return slices.Clone(p.specs) }

// Port returns a port by its id.
func (p Plan) Port(id string) (Spec, bool) {
	n, ok := p.number[id]
	if !ok {
		return Spec{}, false
	}
	return p.specs[n], true
}

// Ancestors returns the ports that a port may send feedback to: all it depends
// on and all its parents, and theirs, in the order in which they run.
func (p Plan) Ancestors(id string) []string {
	n, ok := p.number[id]
	if !ok {
		return nil
	}
	seen := make([]bool, len(p.ids))
	for queue := []int32{n}; len(queue) > 0; {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		up := p.deps.of(at)
		if parent, ok := p.number[p.specs[at].Parent]; ok {
			up = append(slices.Clip(up), parent)
		}
		for _, m := range up {
			if !seen[m] {
				seen[m] = true
				queue = append(queue, m)
			}
		}
	}
	var out []string
	for _, m := range p.order() {
		if seen[m] && m != n {
			out = append(out, p.ids[m])
		}
	}
	return out
}
