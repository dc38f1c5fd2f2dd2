package plan

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// durations returns how long each port will take, by number: as recorded, or,
// for a port that never ran, the median of the recorded ones, or, where nothing
// was recorded, a minute for each.
func (g Graph) durations(recorded map[string]time.Duration) []time.Duration {
	var known []time.Duration
	for _, id := range g.ids {
		if d, ok := recorded[id]; ok && d > 0 {
			known = append(known, d)
		}
	}
	typical := time.Minute
	if slices.Sort(known); len(known) > 0 {
		typical = known[len(known)/2]
	}
	out := make([]time.Duration, len(g.ids))
	for n, id := range g.ids {
		if out[n] = recorded[id]; out[n] <= 0 {
			out[n] = typical
		}
	}
	return out
}

// tails returns for each port how long the longest chain takes that begins
// with it.
func (g Graph) tails(took []time.Duration) []time.Duration {
	tail := make([]time.Duration, len(g.ids))
	order := g.order()
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		for _, d := range g.outs.of(n) {
			tail[n] = max(tail[n], tail[d])
		}
		tail[n] += took[n]
	}
	return tail
}

// sooner compares two ports that are ready: by priority, then the longest chain
// behind, then id.
func (g Graph) sooner(a, b int32, tail []time.Duration) int {
	return cmp.Or(cmp.Compare(g.priority[a], g.priority[b]), cmp.Compare(tail[b], tail[a]), cmp.Compare(a, b))
}

// Path is the longest chain of a plan, which no number of runners shortens.
type Path struct {
	Ports  []string      `json:"ports"`
	Length time.Duration `json:"length"`
}

// CriticalPath returns the chain of ports that takes longest. Recorded are
// durations by port; see Makespan for what is assumed where there is none.
func (g Graph) CriticalPath(recorded map[string]time.Duration) Path {
	tail := g.tails(g.durations(recorded))
	var out Path
	at := int32(-1)
	for n := range int32(len(g.ids)) {
		if len(g.deps.of(n)) == 0 && (at < 0 || tail[n] > tail[at]) {
			at = n
		}
	}
	if at < 0 {
		return out
	}
	out.Length = tail[at]
	for at >= 0 {
		out.Ports = append(out.Ports, g.ids[at])
		next := int32(-1)
		for _, d := range g.outs.of(at) {
			if g.level[d] >= 0 && (next < 0 || tail[d] > tail[next]) { // a circle has no end
				next = d
			}
		}
		at = next
	}
	return out
}

// Makespan is how long a plan is expected to take.
type Makespan struct {
	Critical time.Duration `json:"critical"` // the longest chain
	Share    time.Duration `json:"share"`    // all the work over the runners
	Bound    time.Duration `json:"bound"`    // the longer of both: no schedule is shorter
	Ready    time.Duration `json:"ready"`    // each port as soon as its own dependencies passed
	ByLevel  time.Duration `json:"by_level"` // each level after the one before it
}

// Makespan returns what a plan is expected to take with so many ports at once.
// A port without a recorded duration takes the median of the others, or a minute
// if there is none at all.
func (g Graph) Makespan(recorded map[string]time.Duration, concurrency int) Makespan {
	return g.makespan(g.durations(recorded), max(1, concurrency))
}

func (g Graph) makespan(took []time.Duration, concurrency int) Makespan {
	tail := g.tails(took)
	var work, longest time.Duration
	for n := range g.ids {
		work += took[n]
		longest = max(longest, tail[n])
	}
	share := (work + time.Duration(concurrency) - 1) / time.Duration(concurrency)
	return Makespan{longest, share, max(longest, share), g.readySpan(took, tail, concurrency, nil), g.levelSpan(took, concurrency)}
}

// started is told of each port that starts, when, and how many then run.
type started func(n int32, at time.Duration, running int)

// readySpan plays a plan in which a port starts as soon as all it depends on has
// passed and a slot is free. It takes V log V + E steps.
func (g Graph) readySpan(took, tail []time.Duration, concurrency int, tell started) time.Duration {
	open := make([]int32, len(g.ids))
	ready := &readyHeap{g: g, tail: tail}
	for n := range g.ids {
		if open[n] = int32(len(g.deps.of(int32(n)))); open[n] == 0 {
			ready.list = append(ready.list, int32(n))
		}
	}
	heap.Init(ready)
	running := &runHeap{}
	var now time.Duration
	for {
		for ready.Len() > 0 && running.Len() < concurrency {
			n := heap.Pop(ready).(int32)
			heap.Push(running, run{n, now + took[n]})
			if tell != nil {
				tell(n, now, running.Len())
			}
		}
		if running.Len() == 0 {
			return now
		}
		ended := heap.Pop(running).(run)
		now = ended.end
		for _, d := range g.outs.of(ended.n) {
			if open[d]--; open[d] == 0 {
				heap.Push(ready, d)
			}
		}
	}
}

// levelSpan plays a plan in which a level starts when all of the one before it
// has ended; within a level the longest port starts first.
func (g Graph) levelSpan(took []time.Duration, concurrency int) time.Duration {
	var now time.Duration
	order := g.order()
	for len(order) > 0 {
		size := 1
		for size < len(order) && g.level[order[size]] == g.level[order[0]] {
			size++
		}
		level := order[:size]
		slices.SortStableFunc(level, func(a, b int32) int { return g.sooner(a, b, took) })
		running := &runHeap{}
		end := now
		for _, n := range level {
			start := now
			if running.Len() == concurrency {
				start = heap.Pop(running).(run).end
			}
			heap.Push(running, run{n, start + took[n]})
			end = max(end, start+took[n])
		}
		now, order = end, order[size:]
	}
	return now
}

// readyHeap holds ports that may start, the one to start first on top.
type readyHeap struct {
	g    Graph
	tail []time.Duration
	list []int32
}

func (h *readyHeap) Len() int           { return len(h.list) }
func (h *readyHeap) Less(i, j int) bool { return h.g.sooner(h.list[i], h.list[j], h.tail) < 0 }
func (h *readyHeap) Swap(i, j int)      { h.list[i], h.list[j] = h.list[j], h.list[i] }
func (h *readyHeap) Push(x any)         { h.list = append(h.list, x.(int32)) }
func (h *readyHeap) Pop() any {
	x := h.list[len(h.list)-1]
	h.list = h.list[:len(h.list)-1]
	return x
}

// run is a port that runs, until a time.
type run struct {
	n   int32
	end time.Duration
}

// runHeap holds what runs, the first to end on top.
type runHeap []run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].end, h[j].end), cmp.Compare(h[i].n, h[j].n)) < 0
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(run)) }
func (h *runHeap) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
