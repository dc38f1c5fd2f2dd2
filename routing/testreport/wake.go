package testreport

import (
	"math/bits"
	"strings"
)

// gate tells which consoles a line is given to. It keeps them in groups, each
// with tables of its own, so that there may be any number of them.
type gate []gateGroup

// groupSize is how many consoles are in a group: the bits of a word.
const groupSize = 64

// gateGroup is the gate of up to groupSize consoles, which are bits, in order.
type gateGroup struct {
	sleepers []sleeper // nil: never idle
	awake    uint64    // those that are given every line they look at
	first    [256]uint64
	indent   [256]uint64
	last     [256]uint64
	holds    []holder
	dots     uint64
	prefix   uint64
	slow     uint64      // those with holds, dots or prefix
	looks    [256]uint64 // by a line's first byte, see format.begins
	blank    uint64      // those that look at empty lines
}

type holder struct {
	b    byte
	mask uint64
}

// add takes the console of f as the next one; unless it may sleep, it is
// given every line.
func (g *gate) add(f *format, c console, sleeps bool) {
	if n := len(*g); n == 0 || len((*g)[n-1].sleepers) == groupSize {
		*g = append(*g, gateGroup{})
	}
	(*g)[len(*g)-1].add(f, c, sleeps)
}

func (g *gateGroup) add(f *format, c console, sleeps bool) {
	me := uint64(1) << len(g.sleepers)
	for b := range g.looks {
		if f.begins == "" || strings.IndexByte(f.begins, byte(b)) >= 0 {
			g.looks[b] |= me
		}
	}
	if f.begins == "" {
		g.blank |= me
	}
	s, ok := c.(sleeper)
	if !ok || !sleeps || f.wakes == nil {
		g.sleepers = append(g.sleepers, nil)
		g.awake |= me
		return
	}
	g.sleepers = append(g.sleepers, s)
	w := f.wakes
	set(&g.first, w.flush, me)
	set(&g.indent, w.indent, me)
	set(&g.last, w.ends, me)
	if w.holds != 0 {
		g.holds = append(g.holds, holder{w.holds, me})
	}
	if w.dots {
		g.dots |= me
	}
	if w.prefix {
		g.prefix |= me
	}
	if w.holds != 0 || w.dots || w.prefix {
		g.slow |= me
	}
}

func set(to *[256]uint64, bytes string, me uint64) {
	for i := 0; i < len(bytes); i++ {
		to[bytes[i]] |= me
	}
}

// to returns the consoles that l is given to, and those for which only woken
// tells: that takes longer, and most lines belong to a console before them.
// The first byte of l that is no blank stands at lead.
func (g *gateGroup) to(l *Line, lead int) (m, more uint64) {
	t := l.Text
	looks := g.blank
	if t != "" {
		looks = g.looks[t[0]]
	}
	if l.Mark != "" || stepOver(*l) {
		return looks, 0
	}
	m = g.awake
	if t == "" {
		return m & looks, 0
	}
	switch lead {
	case 0:
		m |= g.first[t[0]]
	case len(t):
	default:
		m |= g.indent[t[lead]]
	}
	n := len(t)
	for n > 1 && t[n-1] == ' ' {
		n--
	}
	m |= g.last[t[n-1]]
	return m & looks, g.slow &^ m & looks
}

// woken returns those of the consoles more that t wakes.
func (g *gateGroup) woken(t string, more uint64) (m uint64) {
	if g.dots&more != 0 && strings.Contains(t, "..") {
		m |= g.dots
	}
	for _, h := range g.holds {
		if h.mask&more != 0 && strings.IndexByte(t, h.b) >= 0 {
			m |= h.mask
		}
	}
	if g.prefix&more != 0 && outputPrefix(t) != "" {
		m |= g.prefix
	}
	return m & more
}

// after notes whether console i, which was given a line, is idle now.
func (g *gateGroup) after(i int) {
	s := g.sleepers[i]
	if s == nil {
		return
	}
	if s.idle() {
		g.awake &^= 1 << i
	} else {
		g.awake |= 1 << i
	}
}

// claimed notes that console i claimed a line. It is taken for awake, which is
// never wrong: more lines follow that are its own.
func (g *gateGroup) claimed(i int) { g.awake |= 1 << i }

// next takes the first console off the set m.
func next(m *uint64) int {
	i := bits.TrailingZeros64(*m)
	*m &= *m - 1
	return i
}
