package reader

import (
	"math/bits"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
)

// gate tells which consoles a line is given to. It keeps them in groups, each
// with tables of its own, so that there may be any number of them.
type gate []gateGroup

// groupSize is how many consoles are in a group: the bits of a word.
const groupSize = 64

// gateGroup is the gate of up to groupSize consoles, which are bits, in order.
type gateGroup struct {
	sleepers []format.Sleeper // nil: never idle
	awake    uint64           // those that are given every line they look at
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
func (g *gate) add(f *format.Format, c format.Console, sleeps bool) {
	if n := len(*g); n == 0 || len((*g)[n-1].sleepers) == groupSize {
		*g = append(*g, gateGroup{})
	}
	(*g)[len(*g)-1].add(f, c, sleeps)
}

func (g *gateGroup) add(f *format.Format, c format.Console, sleeps bool) {
	me := uint64(1) << len(g.sleepers)
	for b := range g.looks {
		if f.Begins == "" || strings.IndexByte(f.Begins, byte(b)) >= 0 {
			g.looks[b] |= me
		}
	}
	if f.Begins == "" {
		g.blank |= me
	}
	s, ok := c.(format.Sleeper)
	if !ok || !sleeps || f.Wakes == nil {
		g.sleepers = append(g.sleepers, nil)
		g.awake |= me
		return
	}
	g.sleepers = append(g.sleepers, s)
	w := f.Wakes
	set(&g.first, w.Flush, me)
	set(&g.indent, w.Indent, me)
	set(&g.last, w.Ends, me)
	if w.Holds != 0 {
		g.holds = append(g.holds, holder{w.Holds, me})
	}
	if w.Dots {
		g.dots |= me
	}
	if w.Prefix {
		g.prefix |= me
	}
	if w.Holds != 0 || w.Dots || w.Prefix {
		g.slow |= me
	}
}

func set(to *[256]uint64, bytes string, me uint64) {
	for i := 0; i < len(bytes); i++ {
		to[bytes[i]] |= me
	}
}

// to returns the consoles that the line t is given to, and those for which only woken
// tells: that takes longer, and most lines belong to a console before them.
// The first byte of t that is no blank stands at lead. All that look at it are
// given a line that the runner marked.
func (g *gateGroup) to(t string, marked bool, lead int) (m, more uint64) {
	looks := g.blank
	if t != "" {
		looks = g.looks[t[0]]
	}
	if marked {
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
	if g.prefix&more != 0 && lines.OutputPrefix(t) != "" {
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
	if s.Idle() {
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
