package multimatch

import "strings"

// prefilter finds places of a text where one of many literals can end, at about half a nanosecond
// per byte. It looks at pairs of bytes: literals are divided into eight groups, and for each group
// a bit per lane follows the last pairs of its literals. It has false positives and no false
// negatives. A bit is 0 where a pair passes, which saves an operation per byte (the algorithm is
// known as Shift-Or).
type prefilter struct {
	pairs [1 << 15]uint64 // by pair: lane × group
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

// add adds a literal of at least two bytes; with fold, the case of ASCII letters does not matter.
// After the last literal comes finish.
func (p *prefilter) add(w string, fold bool) {
	bit := uint64(1) << group(w)
	n := len(w) - 1
	for lane := range lanes {
		i := n - lanes + lane // the pair in this lane
		if i < 0 {
			p.start &^= bit << (8 * lane)
			continue
		}
		p.pairs[pair(w[i], w[i+1])] &^= bit << (8 * lane)
		if fold {
			a, b := otherCase(w[i]), otherCase(w[i+1])
			p.pairs[pair(a, w[i+1])] &^= bit << (8 * lane)
			p.pairs[pair(w[i], b)] &^= bit << (8 * lane)
			p.pairs[pair(a, b)] &^= bit << (8 * lane)
		}
	}
}

// finish lets every pair pass in the lanes that literals are too short for.
func (p *prefilter) finish() {
	for k := range p.pairs {
		p.pairs[k] &= p.start
	}
}

// group puts short literals, whose first lanes filter nothing, in groups by their length, and long
// ones in groups by their last byte.
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

// pair is the number of two bytes, seven bits of each, in the order of memory.
func pair(a, b byte) uint16 { return uint16(a&0x7f) | uint16(b&0x7f)<<8 }

// otherCase returns c in the other case, itself if it is no ASCII letter.
func otherCase(c byte) byte {
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return c ^ 0x20
	}
	return c
}

// find returns the first index from i on where a literal can end, or -1, and the state to continue
// with after it. A search begins at index 1 with the state p.start.
func (p *prefilter) find(s string, i int, state uint64) (int, uint64) {
	const none = 0xff << (8 * (lanes - 1)) // least state in which no last lane passes
	const all = 1<<15 - 1
	for ; i+7 <= len(s); i += 7 {
		x := eight(s[i-1:]) & (0x7f * ones)
		s1 := state<<8 | p.pairs[x&all]
		s2 := s1<<8 | p.pairs[x>>8&all]
		s3 := s2<<8 | p.pairs[x>>16&all]
		s4 := s3<<8 | p.pairs[x>>24&all]
		s5 := s4<<8 | p.pairs[x>>32&all]
		s6 := s5<<8 | p.pairs[x>>40&all]
		s7 := s6<<8 | p.pairs[x>>48&all]
		if s1&s2&s3&s4&s5&s6&s7 < none {
			switch {
			case s1 < none:
				return i, s1
			case s2 < none:
				return i + 1, s2
			case s3 < none:
				return i + 2, s3
			case s4 < none:
				return i + 3, s4
			case s5 < none:
				return i + 4, s5
			case s6 < none:
				return i + 5, s6
			}
			return i + 6, s7
		}
		state = s7
	}
	if i >= len(s) {
		return -1, state
	}
	var x uint64 // from the byte before i on
	if len(s) >= 8 {
		x = eight(s[len(s)-8:]) >> (8 * (7 - len(s) + i))
	} else {
		for k := len(s) - 1; k >= i-1; k-- {
			x = x<<8 | uint64(s[k])
		}
	}
	x &= 0x7f * ones
	for ; i < len(s); i++ {
		state = state<<8 | p.pairs[x&all]
		if state < none {
			return i, state
		}
		x >>= 8
	}
	return -1, state
}

const ones = 0x0101010101010101

// eight returns the first eight bytes of s, the first in the lowest.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// groups returns the groups whose literals can end where the state was found, a bit for each.
func groups(state uint64) uint8 { return uint8(^state >> (8 * (lanes - 1))) }

// endings finds the literals that end at an index, by their last bytes.
type endings struct {
	by   [3]map[uint32][]ending  // of literals of two, three and more bytes
	some [3][1 << 15 / 64]uint64 // a bit for the hash of each key: most lookups find none
}

func hash(key uint32) uint32 { return key * 0x9e3779b1 >> 17 }

type ending struct {
	text  string // in lower case if fold
	fold  bool
	owner uint16
}

// add adds a literal of alternative owner.
func (e *endings) add(w string, fold bool, owner uint16) {
	k := min(len(w), 4)
	if e.by[k-2] == nil {
		e.by[k-2] = map[uint32][]ending{}
	}
	key := lastBytes(w, k)
	e.by[k-2][key] = append(e.by[k-2][key], ending{w, fold, owner})
	h := hash(key)
	e.some[k-2][h>>6] |= 1 << (h & 63)
}

// any reports whether a literal of groups, which come from the prefilter, can end where s ends.
func (e *endings) any(s string, groups uint8) bool {
	if groups>>2 != 0 && len(s) >= 4 {
		if h := hash(lastBytes(s, 4)); e.some[2][h>>6]>>(h&63)&1 != 0 {
			return true
		}
	}
	return groups&3 != 0
}

// find calls each with the owners of the literals that end s. groups come from the prefilter.
func (e *endings) find(s string, groups uint8, each func(owner uint16)) {
	for k := 2; k <= min(4, len(s)); k++ {
		if k < 4 && groups>>(k-2)&1 == 0 || k == 4 && groups>>2 == 0 {
			continue
		}
		key := lastBytes(s, k)
		if h := hash(key); e.some[k-2][h>>6]>>(h&63)&1 == 0 {
			continue
		}
		for _, l := range e.by[k-2][key] {
			if n := len(s) - len(l.text); n >= 0 && (s[n:] == l.text || l.fold && strings.EqualFold(s[n:], l.text)) {
				each(l.owner)
			}
		}
	}
}

// lastBytes returns the last n bytes of s, at most four, as one number that is the same for upper
// and lower case.
func lastBytes(s string, n int) uint32 {
	if n == 4 {
		s = s[len(s)-4:]
		return (uint32(s[3]) | uint32(s[2])<<8 | uint32(s[1])<<16 | uint32(s[0])<<24) | 0x20202020
	}
	var key uint32
	for i := len(s) - n; i < len(s); i++ {
		key = key<<8 | uint32(s[i]|0x20)
	}
	return key
}

func cases(c byte, fold bool) []byte {
	if fold && otherCase(c) != c {
		return []byte{c, c ^ 0x20}
	}
	return []byte{c}
}

// starts finds alternatives by the first two bytes of a text.
type starts struct {
	at   [1 << 15]uint16 // by pair: 1 + index of lists
	list [][]uint16
}

// add adds a literal of alternative owner that occurs at the start of a text.
func (s *starts) add(l literal, owner uint16) {
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
			s.list[*at-1] = append(s.list[*at-1], owner)
		}
	}
}

// of returns the alternatives whose literal text can begin with.
func (s *starts) of(text string) []uint16 {
	if len(text) < 2 {
		return nil
	}
	if at := s.at[pair(text[0], text[1])]; at > 0 {
		return s.list[at-1]
	}
	return nil
}
