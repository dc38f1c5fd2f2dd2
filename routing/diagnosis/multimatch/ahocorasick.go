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

type trie struct {
	width int
	next  []int32
	out   [][]uint16
	order []int32 // breadth first
}

func newTrie(l *ahoCorasick, words map[string][]uint16) *trie {
	t := &trie{width: l.width}
	states := 1
	for w := range words {
		states += len(w) // at most
	}
	t.next, t.out = make([]int32, 0, states*l.width), make([][]uint16, 0, states)
	t.add()
	for w, owners := range words {
		s := int32(0)
		for i := 0; i < len(w); i++ {
			at := int(s)*t.width + int(l.class[w[i]])
			if t.next[at] < 0 {
				n := t.add()
				t.next[at] = n
			}
			s = t.next[at]
		}
		t.out[s] = append(t.out[s], owners...)
	}
	return t
}

func (t *trie) add() int32 {
	t.next = t.next[:len(t.next)+t.width]
	for i := len(t.next) - t.width; i < len(t.next); i++ {
		t.next[i] = -1
	}
	t.out = append(t.out, nil)
	return int32(len(t.out) - 1)
}

// link turns the trie into an automaton: a missing edge leads where the
// longest proper suffix leads, and a state has the output of its suffixes.
func (t *trie) link() {
	fail := make([]int32, len(t.out))
	t.order = append(make([]int32, 0, len(t.out)), 0)
	for i := 0; i < len(t.order); i++ {
		s := t.order[i]
		for c := 0; c < t.width; c++ {
			at := int(s)*t.width + c
			n := t.next[at]
			back := int32(0)
			if s != 0 {
				back = t.next[int(fail[s])*t.width+c]
			}
			if n < 0 {
				t.next[at] = back
				continue
			}
			fail[n] = back
			t.out[n] = append(t.out[n], t.out[back]...)
			t.order = append(t.order, n)
		}
	}
}

// renumber puts the states with output last, so that scan recognizes them by one comparison.
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
	l.next = make([]uint16, len(t.next))
	l.out = make([][]uint16, len(t.out))
	for s := range t.out {
		if o := t.out[s]; len(o) > 0 {
			o = slices.Clone(o)
			slices.Sort(o)
			l.out[to[s]] = slices.Compact(o)
		}
		row := l.next[int(to[s])*t.width:][:t.width]
		for c, n := range t.next[s*t.width:][:t.width] {
			row[c] = to[n]
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
