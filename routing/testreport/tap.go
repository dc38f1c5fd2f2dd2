package testreport

import (
	"fmt"
	"strings"
)

// tapFormat reads TAP 12 to 14 with subtests and diagnostics, as tape, tap,
// node, bats and perl print it, and what perl's prove makes of it.
var tapFormat = format{
	name:  "tap",
	order: 480,
	wakes: &wake{flush: "T1o#nB", indent: "#", dots: true},
	console: func(out Sink, lim Limits) console {
		return &tapConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

// tapConsole reads streams one after the other. Tests that hold subtests are
// no tests of their own unless none of their subtests says why they failed.
type tapConsole struct {
	out   Sink
	lim   Limits
	anon  *anonymous
	prove proveRun

	open    bool
	version bool // "TAP version 13" was seen, so that anything inside is TAP
	at      int
	exited  string     // what Test::More says of the exit code
	levels  []tapLevel // open levels, the outermost first
	cur     *tapTest   // the test point whose diagnostics follow
	yaml    *tapYAML
	file    string // of prove -v
	first   *tapFirst
}

// tapFirst is a point "ok 1 text" outside of any stream: it is one's first if
// the second or a plan follows.
type tapFirst struct {
	no int
	p  tapPoint
}

// tapLevel is one plan: the stream's or a subtest's.
type tapLevel struct {
	indent int
	name   string // "# Subtest: name", if it was said before
	group  string // tape's "# name" above its assertions
	plan   int    // -1 before it was read
	count  int
	failed int
	last   int // number of the last test point
	kids   []*tapTest
	tests  int // leaves below, for a parent to know that it has some
}

// tapTest is a test point that is kept until its level's name is known.
type tapTest struct {
	test     Test
	path     []string // names of the levels above, the nearest first
	diag     kept
	stack    string
	subtests bool // it has some
	said     bool // they failed
}

// tapKept bounds the failing tests that wait for their parent's name.
const tapKept = 2000

func (c *tapConsole) budget() *anonymous { return c.anon }

func (c *tapConsole) idle() bool {
	return !c.open && !c.prove.active() && c.first == nil && c.prove.diag == nil && c.yaml == nil
}

func (c *tapConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := l.Text
	if !c.open && !c.prove.active() {
		// The first letters of what opens a stream: TAP, 1.., ok, not ok,
		// Bail out, and a file that prove runs.
		if len(t) < 4 || !tapOpens(t) && c.first == nil && c.prove.diag == nil && !strings.Contains(t, " ..") {
			return false
		}
	}
	if c.yaml != nil && c.inYAML(t) {
		return true
	}
	if c.proveLine(l.No, t) {
		return true
	}
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	s = strings.TrimRight(s, " ")
	if s == "" {
		return false
	}
	return c.take(l.No, indent, s)
}

func tapOpens(t string) bool {
	switch t[0] {
	case 'T':
		return strings.HasPrefix(t, "TAP version 1")
	case '1':
		return strings.HasPrefix(t, "1..")
	case 'o':
		return strings.HasPrefix(t, "ok 1")
	case '#', ' ':
		return strings.HasPrefix(t, "#   Failed test") || strings.HasPrefix(t, "    #   Failed test")
	case 'n':
		return strings.HasPrefix(t, "not ok 1")
	case 'B':
		return strings.HasPrefix(t, "Bail out!")
	}
	return false
}

func (c *tapConsole) take(no, indent int, s string) bool {
	switch s[0] {
	case 'T':
		if indent == 0 && strings.HasPrefix(s, "TAP version 1") {
			if c.open {
				c.closeStream()
			}
			c.start(no)
			c.version = true
			return true
		}
		return c.open && strings.HasPrefix(s, "TAP version 1")
	case '1', '0':
		if c.first != nil && !c.open && indent == 0 && strings.HasPrefix(s, "1..") {
			c.replay()
		}
		if n, why, ok := tapPlan(s); ok && (c.open || indent == 0) {
			return c.planned(no, indent, n, why)
		}
	case 'o', 'n':
		p, ok := parseTAP(s)
		switch {
		case !ok:
		case c.open:
			return c.point(no, indent, p)
		case indent != 0:
		case p.number == 1 && p.status != Failed && !strings.HasPrefix(s, "ok 1 - "):
			c.first = &tapFirst{no, p}
		case p.number == 1:
			return c.point(no, indent, p)
		case p.number == 2 && c.first != nil && no-c.first.no < 1000:
			c.replay()
			return c.point(no, indent, p)
		}
	case 's': // testem
		if rest, ok := strings.CutPrefix(s, "skip "); ok && c.open {
			if p, ok := parseTAP("ok " + rest); ok && p.number == c.levels[0].last+1 {
				p.status = Skipped
				return c.point(no, indent, p)
			}
		}
	case 'B':
		if strings.HasPrefix(s, "Bail out!") && (c.open || indent == 0) {
			c.bail(no, strings.TrimSpace(s[len("Bail out!"):]))
			return true
		}
	case '-':
		if s == "---" && c.cur != nil && c.open {
			c.yaml = &tapYAML{indent: indent}
			return true
		}
	case '#':
		if c.open {
			return c.comment(indent, s)
		}
	}
	return false
}

func (c *tapConsole) start(no int) {
	c.open, c.version, c.at = true, false, no
	c.levels = append(c.levels[:0], tapLevel{plan: -1})
}

// replay takes the first point once it is certain to be one.
func (c *tapConsole) replay() {
	f := c.first
	c.first = nil
	c.point(f.no, 0, f.p)
}

// tapPlan reads "1..5 # skip not here".
func tapPlan(s string) (n int, why string, ok bool) {
	rest, found := strings.CutPrefix(s, "1..")
	if !found {
		if rest, found = strings.CutPrefix(s, "0..0"); !found {
			return 0, "", false
		}
		return 0, strings.TrimSpace(strings.TrimLeft(rest, " #")), rest == "" || rest[0] == ' '
	}
	n, rest, ok = leadingInt(rest)
	if !ok || rest != "" && !strings.HasPrefix(rest, " #") {
		return 0, "", false
	}
	return n, strings.TrimSpace(strings.TrimLeft(rest, " #")), true
}

func (c *tapConsole) planned(no, indent, n int, why string) bool {
	if !c.open {
		c.start(no)
	}
	if indent == 0 && len(c.levels) == 1 && c.levels[0].plan >= 0 && c.complete() {
		c.closeStream() // another program's stream
		c.start(no)
	}
	c.closePoint()
	if indent > 0 && !c.version && len(c.levels) == 1 && c.levels[0].plan < 0 && c.levels[0].count == 0 {
		return false
	}
	lv := c.level(indent)
	c.at = no
	if lv.plan >= 0 {
		return true
	}
	lv.plan = n
	sure := c.version || lv.count > 0
	if n == 0 && len(c.levels) == 1 && strings.HasPrefix(strings.ToLower(why), "skip") {
		c.anon.emit(c.out, 1, Test{Status: Skipped, Message: why, At: no, Name: firstNonEmpty(c.file, "all")})
	}
	return sure
}

func (c *tapConsole) complete() bool {
	lv := &c.levels[0]
	return lv.plan >= 0 && lv.count >= lv.plan
}

func (c *tapConsole) bail(no int, why string) {
	c.closePoint()
	for len(c.levels) > 1 {
		c.drop()
	}
	c.out.Problem(Problem{Kind: KindExit, Name: firstNonEmpty(c.file, "tap"), Message: strings.TrimSpace("Bail out! " + why), At: no})
	c.open = false
	c.levels = c.levels[:0]
}

// comment takes "# Subtest: name", tape's "# name", and perl's diagnostics.
func (c *tapConsole) comment(indent int, s string) bool {
	text := strings.TrimPrefix(strings.TrimPrefix(s, "#"), " ")
	if name, ok := strings.CutPrefix(text, "Subtest: "); ok {
		c.closePoint()
		c.subtest(indent, name)
		return true
	}
	if c.cur != nil && (strings.HasPrefix(s, "#  ") || s == "#") {
		c.cur.diag.add(text)
		return true
	}
	if indent == 0 && strings.HasPrefix(text, "Looks like your test exited with ") {
		c.exited = text // Test::More; the results may all be fine
	}
	if indent == 0 && len(c.levels) == 1 && !strings.HasPrefix(text, "Looks like ") && !strings.HasPrefix(text, "Tests were run") {
		if c.cur != nil && !c.version { // bats: "# (in test file …"
			c.cur.diag.add(text)
			return true
		}
		c.closePoint()
		c.levels[0].group = text
	}
	return c.version
}

// point takes a test point.
func (c *tapConsole) point(no, indent int, p tapPoint) bool {
	if !c.open {
		c.start(no)
	}
	c.closePoint()
	if indent == 0 && len(c.levels) == 1 && p.number == 1 && c.levels[0].count > 0 && c.levels[0].last >= 1 {
		c.closeStream() // numbers start anew: another program's stream
		c.start(no)
	}
	var kid *tapLevel
	lv := c.level(indent)
	if n := len(c.levels); lv.indent > indent && n >= 2 && c.levels[n-2].indent == indent {
		k := c.levels[n-1]
		kid = &k
		c.levels = c.levels[:n-1]
		lv = &c.levels[n-2]
		if kid.tests == 0 && kid.count == 0 && kid.plan < 0 {
			kid = nil // announced only, a test without subtests
		}
	}
	c.at = no
	lv.count++
	lv.last = p.number
	if p.number == 0 {
		lv.last = lv.count
	}
	return c.result(no, lv, kid, p)
}

func (c *tapConsole) result(no int, lv, kid *tapLevel, p tapPoint) bool {
	name := p.name
	if name == "" {
		name = fmt.Sprintf("test %d", lv.last)
	}
	if kid != nil {
		c.checkPlan(kid, name, no)
		c.give(kid, name)
	}
	isLeaf := kid == nil || kid.tests == 0
	t := Test{Name: name, Suite: lv.group, Status: p.status, Message: p.why, At: no}
	if p.status != Failed {
		if isLeaf {
			lv.tests++
			c.leaf(&tapTest{test: t})
		}
		return true
	}
	lv.failed++
	said := kid != nil && kid.failed > 0 // its subtests say why
	if !said {
		lv.tests++
	}
	c.cur = &tapTest{test: t, diag: kept{max: c.lim.Text}, subtests: kid != nil, said: said}
	return true
}

// leaf counts a test that did not fail; its names above are not kept.
func (c *tapConsole) leaf(k *tapTest) {
	k.test.File = c.file
	if k.test.Suite == "" {
		var names []string
		for i := range c.levels {
			if c.levels[i].name != "" {
				names = append(names, c.levels[i].name)
			}
		}
		k.test.Suite = strings.Join(names, " > ")
	}
	if !c.prove.active() {
		c.out.Test(k.test)
	}
}

// closeStream ends a stream: its plan must be there and fit.
func (c *tapConsole) closeStream() {
	if !c.open {
		return
	}
	c.closePoint()
	for len(c.levels) > 1 {
		c.drop()
	}
	lv := c.levels[0]
	for _, k := range lv.kids {
		c.emit(k)
	}
	name := firstNonEmpty(c.file, "tap")
	switch {
	case c.prove.active(): // prove says it itself
	case lv.plan < 0 && (lv.count > 0 || c.version):
		c.out.Problem(cutOff(name, "the TAP stream has no plan", c.at))
	case lv.plan > lv.count && lv.count == 0 && !c.version: // "1..5" may be anything
	case lv.plan > lv.count:
		c.out.Problem(cutOff(name, fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), c.at))
	case lv.plan < lv.count:
		c.out.Problem(Problem{Kind: KindExit, Name: name, Message: fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), At: c.at})
	case c.exited != "":
		c.out.Problem(Problem{Kind: KindExit, Name: name, Message: c.exited, At: c.at})
	}
	c.open, c.version, c.exited, c.levels = false, false, "", c.levels[:0]
}

func (c *tapConsole) end() {
	c.closeStream()
	c.endProve()
	*c = tapConsole{out: c.out, lim: c.lim, anon: c.anon}
}
