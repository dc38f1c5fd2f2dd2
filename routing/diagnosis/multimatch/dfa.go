package multimatch

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// dfa decides whether a pattern matches a text, as regexp's MatchString does, in a few nanoseconds
// per byte. It is a deterministic automaton whose states are built when a text first needs them.
// Package regexp simulates every state that the pattern can be in at each rune, which costs ten
// times as much. A dfa is safe for concurrent use: while it is in use by another goroutine, or
// when it has reached its bounds, it returns no answer, and the caller falls back to regexp.
type dfa struct {
	mu       sync.Mutex
	prog     *syntax.Prog
	memory   *atomic.Int64 // bytes that it and others that share the counter can still allocate
	anchored bool          // a match begins at the start of the text
	asserts  uint32        // the zero-width assertions in the pattern: boundaries, starts, ends

	ascii  [utf8.RuneSelf]uint8
	bounds []rune  // first runes of the intervals of runes
	class  []uint8 // of each interval
	sample []rune  // a rune of each class; -1 the last, the end of the text

	next   []uint16 // state*width + class → state
	states []dfaState
	index  map[string]uint16
	size   int      // bytes
	seen   []uint32 // by instruction: the round that saw it
	round  uint32
	todo   []uint32
}

// dfaState is the instructions that can come next, and a rune that represents the one before: -1
// at the start, else '\n', 'a' or ' '.
type dfaState struct {
	pcs  []uint32
	prev rune
}

// The first states of a dfa.
const (
	dfaUnknown = iota // not built yet
	dfaNone           // no match, whatever follows
	dfaMatch
	dfaStart
)

const (
	maxDFA          = 128 << 10 // bytes of one dfa
	maxDFAs         = 8 << 20   // bytes of all that share a counter
	maxDFAClasses   = 200
	maxInstructions = 10_000
)

func newMemory() *atomic.Int64 {
	n := new(atomic.Int64)
	n.Store(maxDFAs)
	return n
}

// newDFA returns the dfa of re, nil if re is too large for one. If anchored is set, a match must
// begin at the start of the text.
func newDFA(re *syntax.Regexp, anchored bool, memory *atomic.Int64) *dfa {
	prog, err := syntax.Compile(re)
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil
	}
	d := &dfa{prog: prog, memory: memory, anchored: anchored || prog.StartCond()&syntax.EmptyBeginText != 0, index: map[string]uint16{}, seen: make([]uint32, len(prog.Inst))}
	if !d.classes() {
		return nil
	}
	d.states = make([]dfaState, dfaStart)
	d.next = make([]uint16, dfaStart*len(d.sample))
	d.round++
	if d.state(d.closure(nil, uint32(prog.Start), 0), -1) != dfaStart {
		return nil
	}
	return d
}

// classes puts runes that no instruction distinguishes into one class.
func (d *dfa) classes() bool {
	d.bounds = []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	var sets [][]rune
	for i := range d.prog.Inst {
		in := &d.prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth {
			d.asserts |= in.Arg
		}
		if set := ranges(in); set != nil {
			sets = append(sets, set)
			for k := 0; k < len(set); k += 2 {
				d.bounds = append(d.bounds, set[k], set[k+1]+1)
			}
		}
	}
	slices.Sort(d.bounds)
	d.bounds = slices.Compact(d.bounds)
	sets = append(sets, []rune{'\n', '\n'}, []rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'})
	if len(d.bounds) > 1000 || !d.split(sets) {
		return false
	}
	for r := range rune(utf8.RuneSelf) {
		d.ascii[r] = d.classOf(r)
	}
	return true
}

// split gives intervals that belong to the same sets the same class.
func (d *dfa) split(sets [][]rune) bool {
	classes, in := make([]int, len(d.bounds)), make([]int, len(d.bounds))
	var to []int
	n := 1
	for _, set := range sets {
		clear(in)
		for k := 0; k < len(set); k += 2 {
			for i := d.interval(set[k]); i < len(d.bounds) && d.bounds[i] <= set[k+1]; i++ {
				in[i] = 1
			}
		}
		to = append(to[:0], make([]int, 2*n)...)
		n = 0
		for i, c := range classes {
			at := 2*c + in[i]
			if to[at] == 0 {
				n++
				to[at] = n
			}
			classes[i] = to[at] - 1
		}
	}
	if n > maxDFAClasses {
		return false
	}
	d.class, d.sample = make([]uint8, len(classes)), make([]rune, n+1)
	for i, c := range classes {
		d.class[i], d.sample[c] = uint8(c), d.bounds[i]
	}
	d.sample[n] = -1
	return true
}

// ranges returns the runes that in consumes as pairs of first and last, nil if it consumes none.
func ranges(in *syntax.Inst) []rune {
	switch in.Op {
	case syntax.InstRuneAny:
		return []rune{0, unicode.MaxRune}
	case syntax.InstRuneAnyNotNL:
		return []rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.InstRune, syntax.InstRune1:
	default:
		return nil
	}
	if len(in.Rune) != 1 {
		return in.Rune
	}
	r := in.Rune[0]
	out := []rune{r, r}
	if in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			out = append(out, f, f)
		}
	}
	return out
}

func (d *dfa) interval(r rune) int {
	i, ok := slices.BinarySearch(d.bounds, r)
	if !ok {
		i--
	}
	return i
}

func (d *dfa) classOf(r rune) uint8 { return d.class[d.interval(r)] }

// match reports whether the pattern matches s. ok is false if the dfa has no answer.
func (d *dfa) match(s string) (yes, ok bool) {
	if d == nil || !d.mu.TryLock() {
		return false, false
	}
	defer d.mu.Unlock()
	width, next, state := len(d.sample), d.next, uint16(dfaStart)
	for i := 0; i <= len(s); {
		c, n := width-1, 1
		if i < len(s) {
			if b := s[i]; b < utf8.RuneSelf {
				c = int(d.ascii[b])
			} else {
				var r rune
				r, n = utf8.DecodeRuneInString(s[i:])
				c = int(d.classOf(r))
			}
		}
		to := next[int(state)*width+c]
		if to < dfaStart {
			if to == dfaUnknown {
				to = d.step(state, c)
				next = d.next
			}
			if to < dfaStart {
				return to == dfaMatch, to != dfaUnknown
			}
		}
		state = to
		i += n
	}
	return false, true // unreachable: at the end there is a match or none
}

// step builds the transition of state on class c. It returns dfaUnknown if memory is exhausted.
func (d *dfa) step(state uint16, c int) uint16 {
	from, r := d.states[state], d.sample[c]
	to := uint16(dfaNone)
	switch out, hit := d.follow(from, r); {
	case hit:
		to = dfaMatch
	case r < 0 || len(out) == 0:
	default:
		if to = d.state(out, d.before(r)); to == dfaUnknown {
			return to
		}
	}
	d.next[int(state)*len(d.sample)+c] = to
	return to
}

// follow returns the instructions after rune r, or that the pattern matched before it.
func (d *dfa) follow(from dfaState, r rune) (out []uint32, hit bool) {
	flags := syntax.EmptyOpContext(from.prev, r)
	d.round++
	var now []uint32
	for _, pc := range from.pcs {
		now = d.closure(now, pc, flags)
	}
	d.round++
	for _, pc := range now {
		switch in := &d.prog.Inst[pc]; {
		case in.Op == syntax.InstMatch:
			return nil, true
		case r >= 0 && in.Op != syntax.InstEmptyWidth && in.MatchRune(r):
			out = d.closure(out, in.Out, 0)
		}
	}
	if !d.anchored && r >= 0 {
		out = d.closure(out, uint32(d.prog.Start), 0)
	}
	return out, false
}

// closure adds to set the instructions that can be reached from pc without a rune where flags
// hold, and that were not seen in this round.
func (d *dfa) closure(set []uint32, pc uint32, flags syntax.EmptyOp) []uint32 {
	d.todo = append(d.todo[:0], pc)
	for len(d.todo) > 0 {
		pc := d.todo[len(d.todo)-1]
		d.todo = d.todo[:len(d.todo)-1]
		if d.seen[pc] == d.round {
			continue
		}
		d.seen[pc] = d.round
		switch in := &d.prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			d.todo = append(d.todo, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			d.todo = append(d.todo, in.Out)
		case syntax.InstFail:
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^flags == 0 {
				d.todo = append(d.todo, in.Out)
				continue
			}
			set = append(set, pc)
		default:
			set = append(set, pc)
		}
	}
	return set
}

// before returns the rune that represents r as the one before the next.
func (d *dfa) before(r rune) rune {
	switch {
	case r == '\n' && d.asserts&uint32(syntax.EmptyBeginLine) != 0:
		return '\n'
	case d.asserts&uint32(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 && syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// state returns the state of pcs after prev: dfaMatch if one of them is a match, dfaUnknown if
// memory is exhausted.
func (d *dfa) state(pcs []uint32, prev rune) uint16 {
	for _, pc := range pcs {
		if d.prog.Inst[pc].Op == syntax.InstMatch {
			return dfaMatch
		}
	}
	slices.Sort(pcs)
	var key strings.Builder
	key.WriteRune(prev + 1)
	for _, pc := range pcs {
		key.WriteRune(rune(pc))
	}
	if n, ok := d.index[key.String()]; ok {
		return n
	}
	width := len(d.sample)
	size := 2*width + 8*len(pcs) + 64 // about
	if d.size+size > maxDFA || d.memory.Add(-int64(size)) < 0 {
		return dfaUnknown
	}
	d.size += size
	n := uint16(len(d.states))
	d.states = append(d.states, dfaState{pcs, prev})
	d.next = append(d.next, make([]uint16, width)...)
	d.index[key.String()] = n
	return n
}
