package plan

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"text/tabwriter"
	"time"
)

// Shape is a kind of random plan.
type Shape string

// The shapes.
const (
	Sparse  Shape = "sparse"  // up to 3 dependencies anywhere before
	Dense   Shape = "dense"   // 5 dependencies a port
	Layered Shape = "layered" // layers of very different width; a port depends on 1 to 4 of the layer before
	Chains  Shape = "chains"  // long chains side by side, now and then tied together
	Trees   Shape = "trees"   // each port depends on one, many on the same
)

// Shapes lists the shapes.
func Shapes() []Shape { return []Shape{Sparse, Dense, Layered, Chains, Trees} }

// Trial is one random plan that was played.
type Trial struct {
	Shape       Shape
	Ports       int
	Edges       int
	Levels      int
	Concurrency int
	Makespan
}

// ReadyRatio is how much longer than the bound the ready set takes.
func (t Trial) ReadyRatio() float64 { return ratio(t.Ready, t.Bound) }

// LevelRatio is how much longer than the bound the levels take.
func (t Trial) LevelRatio() float64 { return ratio(t.ByLevel, t.Bound) }

// Contended reports whether neither the critical path nor the work decides the
// bound alone: the hard case, as in the others almost any order reaches it.
func (t Trial) Contended() bool { return t.Critical < 2*t.Share && t.Share < 2*t.Critical }

func ratio(a, b time.Duration) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// Simulation says which random plans are played. The same seed plays the same.
type Simulation struct {
	Seed        uint64
	Rounds      int   // of every shape, size and concurrency
	Sizes       []int // ports
	Concurrency []int
}

// DefaultSimulation plays 180 plans of 10 to 10,000 ports.
func DefaultSimulation() Simulation {
	return Simulation{Seed: 1, Rounds: 3, Sizes: []int{10, 100, 1000, 10_000}, Concurrency: []int{3, 16, 64}}
}

// Run plays the plans.
func (s Simulation) Run() []Trial {
	var out []Trial
	rnd := rand.New(rand.NewPCG(s.Seed, 0))
	for _, shape := range Shapes() {
		for _, size := range s.Sizes {
			for range s.Rounds {
				g, took := random(rnd, shape, size)
				for _, c := range s.Concurrency {
					out = append(out, Trial{shape, g.Len(), g.Edges(), g.depth, c, newSchedule(g, took).Makespan(c)})
				}
			}
		}
	}
	return out
}

// random makes a plan. How long ports take is spread as jobs of CI are: most
// around some minutes, a few ten times as long.
func random(rnd *rand.Rand, shape Shape, size int) (Graph, []time.Duration) {
	nodes := make([]node, size)
	chains := max(1, int(math.Sqrt(float64(size))))
	layers := [][2]int{{0, 0}} // first port and end of the layer before, and of this one
	for i := range nodes {
		nodes[i] = node{fmt.Sprintf("p%05d", i), DefaultPriority, nil}
		var needs []int
		switch shape {
		case Sparse:
			needs = some(rnd, 0, i, rnd.IntN(4))
		case Dense:
			needs = some(rnd, 0, i, 5)
		case Layered:
			last := layers[len(layers)-1]
			if i == last[1] {
				last = [2]int{i, i + 1 + rnd.IntN(2*chains)}
				layers = append(layers, last)
			}
			before := layers[len(layers)-2]
			needs = some(rnd, before[0], before[1], 1+rnd.IntN(4))
		case Chains:
			if i >= chains {
				needs = []int{i - chains}
				if rnd.IntN(10) == 0 {
					needs = append(needs, some(rnd, 0, i-chains, 1)...)
				}
			}
		case Trees:
			needs = some(rnd, i/4, i, 1)
		}
		for _, n := range needs {
			nodes[i].needs = append(nodes[i].needs, nodes[n].id)
		}
	}
	g := newGraph(nodes)
	took := make([]time.Duration, size)
	for n := range took {
		took[n] = time.Duration(float64(5*time.Minute) * math.Exp(rnd.NormFloat64()))
	}
	return g, took
}

// some returns up to count different numbers from first up to, not including, end.
func some(rnd *rand.Rand, first, end, count int) []int {
	var out []int
	for range min(count, end-first) {
		if n := first + rnd.IntN(end-first); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[min(len(v)-1, int(q*float64(len(v))))]
}

// WriteTrials prints the ratios as a table, a row for every shape and
// concurrency, one for the contended plans, and one for all.
func WriteTrials(w io.Writer, trials []Trial) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "shape\tat once\tplans\tports\tready set: median\t90 %\tworst\tby level: median\t90 %\tworst\t")
	type row struct {
		shape Shape
		c     int
	}
	var order []row
	groups := map[row][]Trial{}
	for _, t := range trials {
		k := row{t.Shape, t.Concurrency}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], t)
	}
	line := func(shape, c string, ts []Trial) {
		var r, l []float64
		least, most := math.MaxInt, 0
		for _, t := range ts {
			r, l = append(r, t.ReadyRatio()), append(l, t.LevelRatio())
			least, most = min(least, t.Ports), max(most, t.Ports)
		}
		fmt.Fprintf(tw, "%s\t%s\t%d\t%d–%d\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t\n", shape, c, len(ts), least, most,
			quantile(r, 0.5), quantile(r, 0.9), quantile(r, 1), quantile(l, 0.5), quantile(l, 0.9), quantile(l, 1))
	}
	for _, k := range order {
		line(string(k.shape), fmt.Sprint(k.c), groups[k])
	}
	if hard := slices.DeleteFunc(slices.Clone(trials), func(t Trial) bool { return !t.Contended() }); len(hard) > 0 {
		line("contended", "", hard)
	}
	if len(trials) > 0 {
		line("all", "", trials)
	}
	return tw.Flush()
}
