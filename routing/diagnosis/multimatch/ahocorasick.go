package multimatch

import "slices"

// ahoCorasick finds which of many short literals occur in a text, in one pass and without regard
// to ASCII case. It is an Aho-Corasick automaton stored as a dense table.
type ahoCorasick struct {
	class [256]uint8
	width int
	next  []uint16   // state*width + class → state
	out   [][]uint16 // per state: the owners of the literals that end here
	first uint16     // states from here on have output; see renumber
}

// newAhoCorasick builds the automaton of words, each with the numbers of its owners. Words are at
// least one byte long and in lower case.
func newAhoCorasick(words map[string][]uint16) *ahoCorasick {
	l := &ahoCorasick{}
	l.classes(words)
	t := newTrie(l, words)
	t.link()
	l.renumber(t)
	return l
}

// classes gives every byte that occurs in a word a class of its own, upper
// and lower case the same; all other bytes are class 0.
func (l *ahoCorasick) classes(words map[string][]uint16) {
	used := [256]bool{}
	for w := range words {
		for i := 0; i < len(w); i++ {
			used[w[i]] = true
		}
	}
	l.width = 1
	for b := 0; b < 256; b++ {
		if used[b] {
			l.class[b] = uint8(l.width)
			l.width++
		}
	}
	for b := 'a'; b <= 'z'; b++ {
		l.class[b-'a'+'A'] = l.class[b]
	}
}

// trie holds the words as states, each with a list of its children. Only what comes of it, in renumber,
// is a table.
type trie struct {
	states []trieState
	out    [][]uint16
	order  []int32 // breadth first
}

// trieState is a state of a trie. 0 is the root, and as a child or sibling none.
type trieState struct {
	child, sibling int32
	fail           int32 // the state of the longest proper suffix
	class          uint8
}

func newTrie(l *ahoCorasick, words map[string][]uint16) *trie {
	t := &trie{states: make([]trieState, 1, 8*len(words)+1), out: make([][]uint16, 1, 8*len(words)+1)}
	for w, owners := range words {
		s := int32(0)
		for i := 0; i < len(w); i++ {
			c := l.class[w[i]]
			n := t.next(s, c)
			if n == 0 {
				n = int32(len(t.states))
				t.states = append(t.states, trieState{sibling: t.states[s].child, class: c})
				t.out = append(t.out, nil)
				t.states[s].child = n
			}
			s = n
		}
		t.out[s] = append(t.out[s], owners...)
	}
	return t
}

// next returns the child of a state for a class, 0 if it has none.
func (t *trie) next(s int32, class uint8) int32 {
	n := t.states[s].child
	for n != 0 && t.states[n].class != class {
		n = t.states[n].sibling
	}
	return n
}

// link finds the suffixes of the states, whose outputs they have too.
func (t *trie) link() {
	t.order = append(make([]int32, 0, len(t.states)), 0)
	for i := 0; i < len(t.order); i++ {
		s := t.order[i]
		for n := t.states[s].child; n != 0; n = t.states[n].sibling {
			t.order = append(t.order, n)
			if s == 0 {
				continue
			}
			c, f := t.states[n].class, t.states[s].fail
			for f != 0 && t.next(f, c) == 0 {
				f = t.states[f].fail
			}
			f = t.next(f, c)
			t.states[n].fail = f
			t.out[n] = append(t.out[n], t.out[f]...)
		}
	}
}

// renumber makes the table: a missing edge leads where that of the longest proper suffix leads. States
// with output come last, so that scan recognizes them by one comparison.
func (l *ahoCorasick) renumber(t *trie) {
	var plain, with []int32
	for _, s := range t.order {
		if len(t.out[s]) > 0 {
			with = append(with, s)
		} else {
			plain = append(plain, s)
		}
	}
	to := make([]uint16, len(t.out))
	for i, s := range slices.Concat(plain, with) {
		to[s] = uint16(i)
	}
	l.first = uint16(len(plain))
	l.next = make([]uint16, len(t.states)*l.width)
	l.out = make([][]uint16, len(t.out))
	row := func(s int32) []uint16 { return l.next[int(to[s])*l.width:][:l.width] }
	for _, s := range t.order {
		if o := t.out[s]; len(o) > 0 {
			o = slices.Clone(o)
			slices.Sort(o)
			l.out[to[s]] = slices.Compact(o)
		}
		own := row(s)
		if s != 0 { // the edges of the root lead to it, which is state 0
			copy(own, row(t.states[s].fail))
		}
		for n := t.states[s].child; n != 0; n = t.states[n].sibling {
			own[t.states[n].class] = to[n]
		}
	}
}

// scan sets in hits the bit of every owner of a literal that occurs in s.
func (l *ahoCorasick) scan(s string, hits []uint64) {
	var state uint16
	w, next, first := l.width, l.next, l.first
	for i := 0; i < len(s); i++ {
		state = next[int(state)*w+int(l.class[s[i]])]
		if state >= first {
			for _, o := range l.out[state] {
				hits[o>>6] |= 1 << (o & 63)
			}
		}
	}
}
