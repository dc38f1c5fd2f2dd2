package plan

import "slices"

// circles returns one circle of every knot of ports that depend on each other:
// the shortest one through its first port, that port again at the end.
func circles(g Graph) [][]int32 {
	knot := knots(g)
	var out [][]int32
	seen := map[int32]bool{}
	for n := range int32(len(g.ids)) {
		if k := knot[n]; k >= 0 && !seen[k] {
			seen[k] = true
			out = append(out, circle(g, n, knot))
		}
	}
	return out
}

// knots gives the ports that can reach each other one number, and -1 to those
// that reach only themselves (Tarjan's algorithm, without recursion: a chain may
// be as long as the plan).
func knots(g Graph) []int32 {
	type frame struct{ n, next int32 }
	count := len(g.ids)
	knot, index, low := make([]int32, count), make([]int32, count), make([]int32, count)
	onStack := make([]bool, count)
	for i := range knot {
		knot[i] = -1
	}
	var stack []int32
	var found, knots int32
	for root := range int32(count) {
		if index[root] != 0 || g.level[root] >= 0 {
			continue // with a level it is in no circle
		}
		frames := []frame{{root, 0}}
		for len(frames) > 0 {
			f := &frames[len(frames)-1]
			n := f.n
			if f.next == 0 {
				found++
				index[n], low[n], onStack[n] = found, found, true
				stack = append(stack, n)
			}
			if deps := g.deps.of(n); int(f.next) < len(deps) {
				d := deps[f.next]
				f.next++
				switch {
				case g.level[d] >= 0:
				case index[d] == 0:
					frames = append(frames, frame{d, 0})
				case onStack[d]:
					low[n] = min(low[n], index[d])
				}
				continue
			}
			frames = frames[:len(frames)-1]
			if len(frames) > 0 {
				up := frames[len(frames)-1].n
				low[up] = min(low[up], low[n])
			}
			if low[n] == index[n] {
				stack = pop(stack, n, knots, knot, onStack)
				knots++
			}
		}
	}
	return knot
}

// pop takes a knot, whose first port is n, off the stack.
func pop(stack []int32, n, number int32, knot []int32, onStack []bool) []int32 {
	alone := stack[len(stack)-1] == n
	for {
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		onStack[m] = false
		if !alone {
			knot[m] = number
		}
		if m == n {
			return stack
		}
	}
}

// circle returns the shortest way from n along dependencies back to n.
func circle(g Graph, n int32, knot []int32) []int32 {
	from := map[int32]int32{}
	for queue := []int32{n}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, d := range g.deps.of(at) {
			if d == n {
				way := []int32{n}
				for m := at; m != n; m = from[m] {
					way = append(way, m)
				}
				way = append(way, n)
				slices.Reverse(way)
				return way
			}
			if _, seen := from[d]; !seen && knot[d] == knot[n] {
				from[d] = at
				queue = append(queue, d)
			}
		}
	}
	return nil // unreachable: n is in a knot
}
