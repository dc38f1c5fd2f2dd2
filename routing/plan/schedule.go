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
func durations(g Graph, recorded map[string]time.Duration) []time.Duration {
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

// Schedule is a graph with how long its ports take.
type Schedule struct {
	g    Graph
	took []time.Duration // by number
	tail []time.Duration // of the longest chain that begins with a port, by number
}

// NewSchedule returns the schedule of a graph whose ports took as long as recorded. A port without a
// recorded duration takes the median of the others, or a minute if there is none at all.
func NewSchedule(g Graph, recorded map[string]time.Duration) Schedule {
	return newSchedule(g, durations(g, recorded))
}

func newSchedule(g Graph, took []time.Duration) Schedule {
	tail := make([]time.Duration, len(g.ids))
	order := g.order()
	for i := len(order) - 1; i >= 0; i-- {
		n := order[i]
		for _, d := range g.outs.of(n) {
			tail[n] = max(tail[n], tail[d])
		}
		tail[n] += took[n]
	}
	return Schedule{g, took, tail}
}

// sooner compares two ports that are ready: by priority, then the one that is longer, then id.
func sooner(g Graph, a, b int32, long []time.Duration) int {
	return cmp.Or(cmp.Compare(g.priority[a], g.priority[b]), cmp.Compare(long[b], long[a]), cmp.Compare(a, b))
}

// sort orders jobs that are ready: by priority, then the longest chain behind, then id.
func (s Schedule) sort(jobs []Entry) {
	slices.SortStableFunc(jobs, func(a, b Entry) int { return sooner(s.g, s.g.number[a.ID], s.g.number[b.ID], s.tail) })
}

// Path is the longest chain of a plan, which no number of runners shortens.
type Path struct {
	Ports  []string      `json:"ports"`
	Length time.Duration `json:"length"`
}

// CriticalPath returns the chain of ports that takes longest.
func (s Schedule) CriticalPath() Path {
	g, tail := s.g, s.tail
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

// Makespan returns what a plan is expected to take with so many ports at once, at least one.
func (s Schedule) Makespan(concurrency int) Makespan {
	concurrency = max(1, concurrency)
	var work, longest time.Duration
	for n, d := range s.took {
		work += d
		longest = max(longest, s.tail[n])
	}
	share := (work + time.Duration(concurrency) - 1) / time.Duration(concurrency)
	return Makespan{longest, share, max(longest, share), s.readySpan(concurrency, nil), s.levelSpan(concurrency)}
}

// started is told of each port that starts, when, and how many then run.
type started func(n int32, at time.Duration, running int)

// readySpan plays a plan in which a port starts as soon as all it depends on has
// passed and a slot is free. It takes V log V + E steps.
func (s Schedule) readySpan(concurrency int, tell started) time.Duration {
	g, took := s.g, s.took
	open := make([]int32, len(g.ids))
	ready := &readyHeap{g: g, tail: s.tail}
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
func (s Schedule) levelSpan(concurrency int) time.Duration {
	g, took := s.g, s.took
	var now time.Duration
	order := g.order()
	for len(order) > 0 {
		size := 1
		for size < len(order) && g.level[order[size]] == g.level[order[0]] {
			size++
		}
		level := order[:size]
		slices.SortStableFunc(level, func(a, b int32) int { return sooner(g, a, b, took) })
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
func (h *readyHeap) Less(i, j int) bool { return sooner(h.g, h.list[i], h.list[j], h.tail) < 0 }
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
