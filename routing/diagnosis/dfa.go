package diagnosis

import (
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// dfa says whether a pattern matches a text, as regexp's MatchString does, in
// a few nanoseconds per byte: a deterministic automaton whose states are built
// when a text first needs them. Go's regexp follows every state a pattern may
// be in at each rune, which costs ten times as much. It is safe for concurrent
// use; what comes while another asks, or past its bounds, it leaves to regexp.
type dfa struct {
	mu    sync.Mutex
	prog  *syntax.Prog
	room  *atomic.Int64 // bytes that it may still take of what it shares with others
	from  bool          // a match begins at the start of the text
	looks uint32        // word boundaries, starts and ends of lines that it asks for

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

// dfaState is the instructions that may come next, and a rune that stands for
// the one before: -1 at the start, else '\n', 'a' or ' '.
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
	maxDFAs         = 8 << 20   // bytes of all that share their room
	maxDFAClasses   = 200
	maxInstructions = 10_000
)

func newRoom() *atomic.Int64 {
	room := new(atomic.Int64)
	room.Store(maxDFAs)
	return room
}

// newDFA returns the dfa of re, nil if re is too large for one. A match must
// begin at the start of the text if from is set.
func newDFA(re *syntax.Regexp, from bool, room *atomic.Int64) *dfa {
	prog, err := syntax.Compile(re)
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil
	}
	d := &dfa{prog: prog, room: room, from: from || prog.StartCond()&syntax.EmptyBeginText != 0, index: map[string]uint16{}, seen: make([]uint32, len(prog.Inst))}
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

// classes puts runes that no instruction tells apart into one class.
func (d *dfa) classes() bool {
	d.bounds = []rune{0, '\n', '\n' + 1, '0', '9' + 1, 'A', 'Z' + 1, '_', '_' + 1, 'a', 'z' + 1}
	var sets [][]rune
	for i := range d.prog.Inst {
		in := &d.prog.Inst[i]
		if in.Op == syntax.InstEmptyWidth {
			d.looks |= in.Arg
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

// split gives intervals that lie in the same of sets the same class.
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

// ranges returns the runes that in takes as pairs of first and last, nil if
// it takes none.
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

// match reports whether the pattern matches s. It is not ok if it cannot say.
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

// step builds the transition of state on class c: dfaUnknown if there is no
// room for it.
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

// follow returns the instructions behind rune r, or that the pattern matched
// before it.
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
	if !d.from && r >= 0 {
		out = d.closure(out, uint32(d.prog.Start), 0)
	}
	return out, false
}

// closure adds to set what can be reached from pc without a rune where flags
// hold, and was not seen in this round.
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

// before returns what stands for r as the rune before the next.
func (d *dfa) before(r rune) rune {
	switch {
	case r == '\n' && d.looks&uint32(syntax.EmptyBeginLine) != 0:
		return '\n'
	case d.looks&uint32(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 && syntax.IsWordChar(r):
		return 'a'
	}
	return ' '
}

// state returns the state of pcs behind prev: dfaMatch if they hold a match,
// dfaUnknown if there is no room.
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
	if d.size+size > maxDFA || d.room.Add(-int64(size)) < 0 {
		return dfaUnknown
	}
	d.size += size
	n := uint16(len(d.states))
	d.states = append(d.states, dfaState{pcs, prev})
	d.next = append(d.next, make([]uint16, width)...)
	d.index[key.String()] = n
	return n
}
