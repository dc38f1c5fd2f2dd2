package diagnose

import "strings"

// prefilter tells in about a nanosecond per byte that none of many literals
// stands in a text. It looks at pairs of bytes: each of eight groups of
// literals is followed through the last pairs of its members, one lane of a
// word per pair. What passes need not be a literal. Bits are 0 where something
// passes, which spares the search a step per byte.
type prefilter struct {
	pairs [1 << 14]uint64 // by two bytes of seven bits: lane × group
	start uint64          // lanes that literals are too short for
}

func newPrefilter() *prefilter {
	p := &prefilter{start: ^uint64(0)}
	for k := range p.pairs {
		p.pairs[k] = ^uint64(0)
	}
	return p
}

const lanes = 8 // pairs of a literal that are looked at

// add takes a literal of at least two bytes; fold leaves the case of ASCII
// letters open.
func (p *prefilter) add(w string, fold bool) {
	bit := uint64(1) << group(w)
	n := len(w) - 1
	for lane := range lanes {
		i := n - lanes + lane // the pair in this lane
		if i < 0 {
			p.start &^= bit << (8 * lane)
			for k := range p.pairs {
				p.pairs[k] &^= bit << (8 * lane)
			}
			continue
		}
		for _, a := range cases(w[i], fold) {
			for _, b := range cases(w[i+1], fold) {
				p.pairs[pair(a, b)] &^= bit << (8 * lane)
			}
		}
	}
}

// group keeps short literals, whose first lanes tell nothing, to themselves,
// and of the others those together that end alike.
func group(w string) int {
	switch n := len(w); {
	case n <= 3:
		return n - 2
	case n <= 5:
		return 2
	case n <= lanes:
		return 3
	}
	return 4 + int(w[len(w)-1])&3
}

func pair(a, b byte) int { return int(a&0x7f)<<7 | int(b&0x7f) }

func cases(c byte, fold bool) []byte {
	if fold && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
		return []byte{c, c ^ 0x20}
	}
	return []byte{c}
}

// find returns where from index i of s on what may be a literal ends, the
// first there is, or -1, and the state to go on with behind it. The search
// begins at index 1 with the state p.start.
func (p *prefilter) find(s string, i int, state uint64) (int, uint64) {
	if i >= len(s) {
		return -1, state
	}
	const none = 0xff << (8 * (lanes - 1)) // least state in which no last lane passes
	last := uint32(s[i-1] & 0x7f)
	for ; i+1 < len(s); i += 2 {
		a, b := uint32(s[i]&0x7f), uint32(s[i+1]&0x7f)
		one := state<<8 | p.pairs[last<<7|a]
		two := one<<8 | p.pairs[a<<7|b]
		if one&two < none {
			if one < none {
				return i, one
			}
			return i + 1, two
		}
		state, last = two, b
	}
	if i < len(s) {
		state = state<<8 | p.pairs[last<<7|uint32(s[i]&0x7f)]
		if state < none {
			return i, state
		}
	}
	return -1, state
}

// groups returns the groups of which the state found may have a literal.
func groups(state uint64) uint8 { return uint8(^state >> (8 * (lanes - 1))) }

// endings finds the literals that end at a place, by their last bytes.
type endings struct {
	by   [3]map[uint32][]ending  // of literals of two, three and more bytes
	some [3][1 << 12 / 64]uint64 // a bit for the place of each key
}

// place spreads the keys: most ends that are looked up have none.
func place(key uint32) uint32 { return key * 0x9e3779b1 >> 20 }

type ending struct {
	text  string // in lower case if fold
	fold  bool
	owner uint16
}

// add takes a literal of branch.
func (e *endings) add(w string, fold bool, branch uint16) {
	k := min(len(w), 4)
	if e.by[k-2] == nil {
		e.by[k-2] = map[uint32][]ending{}
	}
	key := lastBytes(w, k)
	e.by[k-2][key] = append(e.by[k-2][key], ending{w, fold, branch})
	h := place(key)
	e.some[k-2][h>>6] |= 1 << (h & 63)
}

// find sets in hits the branches of the literals that end s and reports
// whether there are any. groups are those of the prefilter that may have one.
// It clears hits first unless they are clean.
func (e *endings) find(s string, groups uint8, hits []uint64, clean *bool) (any bool) {
	for k := 2; k <= min(4, len(s)); k++ {
		if k < 4 && groups>>(k-2)&1 == 0 || k == 4 && groups>>2 == 0 {
			continue
		}
		key := lastBytes(s, k)
		if h := place(key); e.some[k-2][h>>6]>>(h&63)&1 == 0 {
			continue
		}
		if !*clean {
			clear(hits)
			*clean = true
		}
		for _, l := range e.by[k-2][key] {
			if n := len(s) - len(l.text); n >= 0 && (s[n:] == l.text || l.fold && strings.EqualFold(s[n:], l.text)) {
				hits[l.owner>>6] |= 1 << (l.owner & 63)
				any = true
			}
		}
	}
	return any
}

// lastBytes returns the last n bytes of s, at most four, as one number that is
// the same for upper and lower case.
func lastBytes(s string, n int) uint32 {
	var key uint32
	for i := len(s) - n; i < len(s); i++ {
		key = key<<8 | uint32(s[i]|0x20)
	}
	return key
}

// starts finds branches by the first two bytes of a text.
type starts struct {
	at   [1 << 14]uint16 // by two bytes of seven bits: 1 + index of lists
	list [][]uint16
}

// add takes a literal of branch that stands at the start of a text.
func (s *starts) add(l literal, branch uint16) {
	w := l.exact
	if w == "" {
		w = l.text
	}
	for _, a := range cases(w[0], l.exact == "") {
		for _, b := range cases(w[1], l.exact == "") {
			at := &s.at[pair(a, b)]
			if *at == 0 {
				s.list = append(s.list, nil)
				*at = uint16(len(s.list))
			}
			s.list[*at-1] = append(s.list[*at-1], branch)
		}
	}
}

// of returns the branches whose literal text may begin with.
func (s *starts) of(text string) []uint16 {
	if len(text) < 2 {
		return nil
	}
	if at := s.at[pair(text[0], text[1])]; at > 0 {
		return s.list[at-1]
	}
	return nil
}
