package generic

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// tapFormat reads TAP 12 to 14 with subtests and diagnostics, as tape, tap,
// node, bats and perl print it, and what perl's prove makes of it.
var tapFormat = format.Format{
	Name:  "tap",
	Order: 480,
	Wakes: &format.Wake{Flush: "T1o#nB", Indent: "#", Dots: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &tapConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// tapConsole reads streams one after the other. Tests that hold subtests are
// no tests of their own unless none of their subtests says why they failed.
type tapConsole struct {
	out   model.Sink
	lim   model.Limits
	anon  *model.Anonymous
	prove proveRun

	crashes failtext.NodeCrashes // in comments of node:test

	now     int // the line in hand
	open    bool
	version bool // "TAP version 13" was seen, so that anything inside is TAP
	at      int
	begun   int        // line
	exited  string     // what Test::More says of the exit code
	none    bool       // the totals at the end count no failure
	stated  int        // failures that they count
	skipped bool       // the plan says that all tests are skipped
	levels  []tapLevel // open levels, the outermost first
	cur     *tapTest   // the test point whose diagnostics follow
	yaml    *tapYAML
	file    string      // of prove -v
	many    bool        // more failed than are kept
	again   []tapRepeat // points whose numbers are taken
	printed []tapPrinted
	first   *tapFirst
}

// tapFirst is a point "ok 1 text" outside of any stream: it is one's first if
// the second or a plan follows.
type tapFirst struct {
	no int
	p  tapPoint
}

// tapRepeat is a point of a number that another point has: one of them is printed by a test.
type tapRepeat struct {
	at int
	p  tapPoint
}

// tapPrinted is a stream of a single point without version and plan. It is one that was cut off. If
// the stream that follows is complete and counts no failure, a test of that may also have printed it:
// only a run that succeeded tells.
type tapPrinted struct {
	kids []*tapTest
	cut  model.Problem
}

// tapPrintedKept bounds the streams that wait for the one that follows, and the points.
const tapPrintedKept = 100

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
	tests  int         // leaves below, for a parent to know that it has some
	brace  *model.Test // the point "not ok 1 - name {" above the level, which "}" closes
}

// tapTest is a test point that is kept until its level's name is known.
type tapTest struct {
	test     model.Test
	no       int      // number of the point
	path     []string // names of the levels above, the nearest first
	diag     bounded.Block
	stack    string
	over     bool // something else followed
	plain    bool // what stands below it are indented lines without a block
	subtests bool // it has some
	said     bool // they failed
}

// tapKept bounds the failing tests that wait for their parent's name.
const tapKept = 2000

func (c *tapConsole) Idle() bool {
	return !c.open && !c.prove.active() && c.first == nil && c.prove.diag == nil && c.yaml == nil && len(c.printed) == 0
}

func (c *tapConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := l.Text
	c.now = l.No
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
		if c.cur != nil && c.cur.plain {
			c.cur.diag.Add("")
		}
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
		return strings.HasPrefix(t, "Bail out!") || strings.HasPrefix(t, "Bailout called.  Further testing stopped:")
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
		case p.number == 1 && p.status != model.Failed && !strings.HasPrefix(s, "ok 1 - "):
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
				p.status = model.Skipped
				return c.point(no, indent, p)
			}
		}
	case 'B':
		if strings.HasPrefix(s, "Bail out!") && (c.open || indent == 0) {
			c.bail(no, strings.TrimSpace(s[len("Bail out!"):]))
			return true
		}
	case '-':
		// A block belongs to the point above it, whatever that says: its lines are no results.
		if s == "---" && c.open && (c.cur != nil || c.at == no-1 && indent > c.levels[len(c.levels)-1].indent) {
			c.yaml = &tapYAML{indent: indent}
			return true
		}
	case '}':
		if s == "}" && c.open && c.closesBrace(indent) {
			return true
		}
	case '#':
		if c.open {
			return c.comment(indent, s)
		}
	}
	return c.below(indent, s)
}

// below takes an indented line below a failing point that has no block: Mocha and Testem print
// message and stack so.
func (c *tapConsole) below(indent int, s string) bool {
	k := c.cur
	if !c.open || k == nil || c.yaml != nil || k.over {
		return false
	}
	if indent == 0 {
		k.over = true
		return false
	}
	if !k.plain && (k.stack != "" || k.test.Message != "") {
		return false
	}
	k.plain = true
	k.diag.Add(strings.Repeat(" ", indent) + s)
	return c.version || c.levels[0].plan > 0
}

// closesBrace ends the level that a point with a brace opened at this indentation. If the point
// failed and none of its subtests did, a hook of it failed.
func (c *tapConsole) closesBrace(indent int) bool {
	for i := len(c.levels) - 1; i > 0; i-- {
		if c.levels[i].brace == nil || c.levels[i].indent != indent+4 {
			continue
		}
		c.closePoint()
		for len(c.levels)-1 > i {
			c.drop()
		}
		lv := &c.levels[i]
		t := *lv.brace
		c.checkPlan(lv, t.Name, c.at)
		if t.Status == model.Failed {
			if lv.failed == 0 && !c.prove.active() {
				c.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Name, Message: parse.FirstOf(t.Message, t.Name+" failed outside of its tests"), At: t.At})
			}
			c.levels[i-1].failed++
		}
		c.drop()
		return true
	}
	return false
}

func (c *tapConsole) start(no int) {
	c.open, c.version, c.at, c.begun = true, false, no, no
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
	n, rest, ok = parse.LeadingInt(rest)
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
		c.skipped = true
		c.anon.Emit(c.out, 1, model.Test{Status: model.Skipped, Message: why, At: no, Name: parse.FirstOf(c.file, "all")})
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
	c.emitPrinted()
	if c.open {
		for _, k := range c.levels[0].kids {
			c.emit(k)
		}
	}
	c.out.Problem(model.Problem{Kind: model.KindExit, Name: parse.FirstOf(c.file, "tap"), Message: strings.TrimSpace("Bail out! " + why), At: no})
	c.open, c.many, c.again = false, false, nil
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
	if strings.Contains(text, " coverage does not meet threshold of ") && strings.HasPrefix(text, "Error: ") {
		c.out.Problem(model.Problem{Kind: model.KindCoverage, Name: "coverage", Message: text[len("Error: "):], At: c.now})
		return true
	}
	c.crashes.Line(text)
	if tapTotal(text) {
		c.closePoint()
		if word, n, _ := strings.Cut(text, " "); indent == 0 && word == "fail" {
			c.none = strings.TrimSpace(n) == "0"
			c.stated, _, _ = parse.LeadingInt(strings.TrimSpace(n))
		}
		return c.version
	}
	if c.cur != nil && (strings.HasPrefix(s, "#  ") || s == "#") {
		c.cur.diag.Add(text)
		return true
	}
	if indent == 0 && strings.HasPrefix(text, "Looks like your test exited with ") {
		c.exited = text // Test::More; the results may all be fine
	}
	if indent == 0 && len(c.levels) == 1 && !strings.HasPrefix(text, "Looks like ") && !strings.HasPrefix(text, "Tests were run") {
		if c.cur != nil && !c.version { // bats: "# (in test file …"
			c.cur.diag.Add(text)
			return true
		}
		c.closePoint()
		c.levels[0].group = text
	}
	return c.version
}

// tapTotal recognises the counts that streams end with: "# tests 12", "# pass 3", "# duration_ms 1.5".
func tapTotal(text string) bool {
	word, rest, ok := strings.Cut(text, " ")
	if !ok {
		return false
	}
	switch word {
	case "tests", "suites", "pass", "fail", "cancelled", "skipped", "skip", "todo", "duration_ms", "ok", "passed", "failed":
		rest = strings.TrimSpace(rest)
		return rest != "" && strings.Trim(rest, "0123456789.") == ""
	}
	return false
}

// point takes a test point.
func (c *tapConsole) point(no, indent int, p tapPoint) bool {
	if !c.open {
		c.start(no)
	}
	c.closePoint()
	if indent == 0 && len(c.levels) == 1 && c.version && p.number > 0 && p.number <= c.levels[0].last && !c.complete() {
		if len(c.again) < tapPrintedKept {
			c.again = append(c.again, tapRepeat{no, p})
		}
		return false // a test prints it, or printed the one before: a stream of its own would say its version
	}
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
	if c.prove.active() && len(c.levels) == 1 {
		c.provePoint(no, lv.last, p)
	}
	return c.result(no, lv, kid, p)
}

func (c *tapConsole) result(no int, lv, kid *tapLevel, p tapPoint) bool {
	if p.dashed {
		lv.group = "" // only tape sets comments above its assertions, and those have no dash
	}
	if p.opens && kid == nil && len(c.levels) < min(c.lim.Depth, 50) {
		t := model.Test{Name: p.name, Status: p.status, At: no}
		c.levels = append(c.levels, tapLevel{indent: lv.indent + 4, plan: -1, name: p.name, brace: &t})
		return true
	}
	name := p.name
	if name == "" {
		name = fmt.Sprintf("test %d", lv.last)
	}
	if kid != nil {
		c.checkPlan(kid, name, no)
		c.give(kid, name)
	}
	isLeaf := kid == nil || kid.tests == 0
	t := model.Test{Name: name, Suite: lv.group, Status: p.status, Message: p.why, At: no}
	if p.status != model.Failed {
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
	c.cur = &tapTest{test: t, no: lv.last, diag: bounded.Block{Max: c.lim.Text}, subtests: kid != nil, said: said}
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
	inside := "" // a point whose block of subtests was not closed
	for len(c.levels) > 1 {
		if b := c.levels[len(c.levels)-1].brace; b != nil {
			inside = b.Name
		}
		c.drop()
	}
	lv := &c.levels[0]
	name := parse.FirstOf(c.file, "tap")
	whole := c.none && lv.plan == lv.count && lv.count > 0 && inside == ""
	if whole {
		c.clear(lv)
	}
	switch {
	case whole && lv.failed == 0 && !c.version:
		for i := range c.printed {
			p := &c.printed[i]
			p.cut.Loose = true
			for _, k := range p.kids {
				k.test.Loose = true
			}
		}
	case lv.plan < 0 && lv.count == 1 && len(lv.kids) == 1 && !c.version && !c.prove.active() && len(c.printed) < tapPrintedKept:
		c.printed = append(c.printed, tapPrinted{lv.kids, failtext.CutOff(name, "the TAP stream has no plan", c.at)})
		c.reset()
		return
	}
	c.emitPrinted()
	for _, k := range lv.kids {
		c.emit(k)
	}
	if lv.count > 0 && lv.plan == lv.count && inside == "" {
		if c.none && lv.failed == 0 {
			model.PassedSession(c.out, c.begun, c.at)
		} else {
			model.Session(c.out, c.begun, c.at)
		}
	}
	switch {
	case c.prove.active(): // prove says it itself
	case lv.plan == 0 && lv.count == 0 && c.version && !c.skipped:
		c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: name, Message: "the TAP stream plans no test", At: c.at})
	case lv.failed == 0 && c.stated > 0:
		c.out.Problem(model.Problem{Kind: model.KindTests, Name: name, Message: fmt.Sprintf("the totals of the TAP stream count %d failures, and it has none", c.stated), At: c.at})
	case inside != "":
		c.out.Problem(failtext.CutOff(name, "the TAP stream ends within the subtests of "+inside, c.at))
	case lv.plan < 0 && (lv.count > 0 || c.version):
		c.out.Problem(failtext.CutOff(name, "the TAP stream has no plan", c.at))
	case lv.plan > lv.count && lv.count == 0 && !c.version: // "1..5" may be anything
	case lv.plan > lv.count:
		c.out.Problem(failtext.CutOff(name, fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), c.at))
	case lv.plan < lv.count:
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: name, Message: fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), At: c.at})
	case c.exited != "":
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: name, Message: c.exited, At: c.at})
	}
	c.reset()
}

func (c *tapConsole) reset() {
	c.open, c.version, c.exited, c.none, c.stated, c.skipped, c.many, c.levels, c.again = false, false, "", false, 0, false, false, c.levels[:0], nil
}

// clear replaces the failures of a stream that counts none: points of their numbers follow, so tests
// printed them.
func (c *tapConsole) clear(lv *tapLevel) {
	last := map[int]tapRepeat{}
	for _, r := range c.again {
		last[r.p.number] = r
	}
	kept := lv.kids[:0]
	for _, k := range lv.kids {
		r, ok := last[k.no]
		if !ok || len(k.path) > 0 || r.p.status == model.Failed {
			kept = append(kept, k)
			continue
		}
		lv.failed--
		c.leaf(&tapTest{test: model.Test{Name: r.p.name, Suite: k.test.Suite, Status: r.p.status, Message: r.p.why, At: r.at}})
	}
	lv.kids = kept
}

// emitPrinted hands on streams that no complete one follows.
func (c *tapConsole) emitPrinted() {
	for _, s := range c.printed {
		for _, k := range s.kids {
			c.emit(k)
		}
		c.out.Problem(s.cut)
	}
	c.printed = nil
}

func (c *tapConsole) End() {
	c.closeStream()
	c.emitPrinted()
	c.endProve()
	*c = tapConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// level returns the level of an indentation: the one that is open there, or a
// new one. Deeper levels are left to wait for their parent's test point.
func (c *tapConsole) level(indent int) *tapLevel {
	for len(c.levels) > 1 && c.levels[len(c.levels)-1].indent > indent && !c.holds(indent) {
		c.drop()
	}
	last := &c.levels[len(c.levels)-1]
	if indent > last.indent && len(c.levels) < min(c.lim.Depth, 50) {
		c.levels = append(c.levels, tapLevel{indent: indent, plan: -1})
		last = &c.levels[len(c.levels)-1]
	}
	return last
}

// holds reports whether the innermost level is the child of the one at indent.
func (c *tapConsole) holds(indent int) bool {
	n := len(c.levels)
	return n >= 2 && c.levels[n-2].indent == indent
}

// drop closes the innermost level without a test point of its own: what it
// held goes to the level above.
func (c *tapConsole) drop() {
	n := len(c.levels) - 1
	kid := c.levels[n]
	c.levels = c.levels[:n]
	c.give(&kid, kid.name)
}

// give hands the kept tests of a closed level to the innermost open one.
func (c *tapConsole) give(kid *tapLevel, name string) {
	up := &c.levels[len(c.levels)-1]
	up.tests += kid.tests
	for _, k := range kid.kids {
		if name != "" {
			k.path = append(k.path, name)
		}
		c.hold(up, k)
	}
}

// hold keeps a failing test at its level; the outermost emits it.
func (c *tapConsole) hold(lv *tapLevel, k *tapTest) {
	if len(c.levels) == 1 || len(lv.kids) >= tapKept {
		c.emit(k)
		return
	}
	lv.kids = append(lv.kids, k)
}

// subtest opens the level that a comment announces: below it (node), or at its
// own indentation (tap).
func (c *tapConsole) subtest(indent int, name string) {
	lv := c.level(indent)
	switch {
	case len(c.levels) > 1 && lv.count == 0 && lv.name == "" && lv.plan < 0 && lv.indent == indent && indent > 0 && c.levels[len(c.levels)-2].indent+4 == indent && lv.tests == 0 && !lv.announced():
		lv.name = name
	default:
		if len(c.levels) < min(c.lim.Depth, 50) {
			c.levels = append(c.levels, tapLevel{indent: indent + 4, plan: -1, name: name})
		}
	}
}

func (lv *tapLevel) announced() bool { return lv.group != "" }

// closePoint ends the diagnostics of the last failing test point.
func (c *tapConsole) closePoint() {
	k := c.cur
	c.yaml = nil
	if k == nil {
		return
	}
	if k.said {
		c.cur = nil
		if t := k.test; t.Kind == model.KindSetup && !c.prove.active() {
			c.out.Problem(model.Problem{Kind: model.KindSetup, Name: t.Name, File: t.File, Line: t.Line, Column: t.Column, Message: t.Message, Trace: k.stack, At: t.At})
		}
		return
	}
	if len(c.levels) > 1 {
		c.cur = nil
		lv := &c.levels[len(c.levels)-1]
		c.hold(lv, k)
		return
	}
	c.cur = nil
	if lv := &c.levels[0]; !c.many && !c.prove.active() {
		lv.kids = append(lv.kids, k) // the totals may tell that a test printed it
		if c.many = len(lv.kids) == tapPrintedKept; c.many {
			for _, k := range lv.kids {
				c.emit(k)
			}
			lv.kids = nil
		}
		return
	}
	c.emit(k)
}

// checkPlan reports a subtest whose plan does not fit, if nothing failed in it.
func (c *tapConsole) checkPlan(lv *tapLevel, name string, no int) {
	if lv.plan >= 0 && lv.plan != lv.count && lv.failed == 0 {
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: name, Message: fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), At: no})
	}
}

// tapPoint is "not ok 3 - name # TODO why".
type tapPoint struct {
	number int
	opens  bool // its subtests follow between braces
	dashed bool // " - " stands before the name
	name   string
	status model.Status
	why    string
}

func parseTAP(s string) (tapPoint, bool) {
	p := tapPoint{status: model.Passed}
	rest, bad := strings.CutPrefix(s, "not ok")
	if bad {
		p.status = model.Failed
	} else if rest, bad = strings.CutPrefix(s, "ok"); !bad {
		return p, false
	}
	if rest == "" {
		return p, true
	}
	if rest[0] != ' ' {
		return p, false
	}
	rest = strings.TrimLeft(rest, " ")
	n, after, ok := parse.LeadingInt(rest)
	if !ok || after != "" && after[0] != ' ' && after[0] != '\t' { // luaunit has a tab
		return p, false // a bare "ok" in prose has no number
	}
	p.number = n
	rest = batsDuration.ReplaceAllString(strings.TrimLeft(after, " \t"), "$1")
	p.dashed = strings.HasPrefix(rest, "-")
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "- "), "-")
	rest, p.opens = strings.CutSuffix(rest, " {")
	p.name = rest
	if i := tapDirective(rest); i >= 0 {
		p.directive(rest, i)
	}
	p.name = strings.TrimSpace(strings.ReplaceAll(p.name, `\#`, "#"))
	return p, true
}

// batsDuration is what bats -T puts behind a name: a name that differs in every run is none.
var batsDuration = lazyregexp.New(` in \d+ms( # (?:skip|timeout after) .*| # skip)?$`)

// tapDirective returns where the last unescaped " #" of a description stands.
func tapDirective(s string) int {
	if strings.HasPrefix(s, "#") {
		return 0
	}
	for i := len(s) - 2; i > 0; i-- {
		if s[i] == '#' && s[i-1] == ' ' {
			return i
		}
	}
	return -1
}

func (p *tapPoint) directive(s string, i int) {
	d := strings.TrimSpace(s[i+1:])
	word, why, _ := strings.Cut(d, " ")
	switch w := strings.ToUpper(word); {
	case strings.HasPrefix(w, "SKIP"):
		p.status, p.why = model.Skipped, strings.TrimSpace(why)
	case strings.HasPrefix(w, "TODO"):
		p.status, p.why = model.Pending, strings.TrimSpace(why)
	case strings.HasPrefix(d, "time="):
	case strings.HasPrefix(d, "timeout after ") && p.status == model.Failed: // bats
		s = batsDuration.ReplaceAllString(s[:i], "$1")
		i = len(s)
	case strings.HasPrefix(d, "in ") && strings.HasSuffix(d, " ms"), strings.HasPrefix(d, "in ") && strings.HasSuffix(d, " sec"):
	default:
		return
	}
	p.name = strings.TrimRight(s[:i], " ")
}

// tapYAML reads the block of diagnostics between "---" and "...". It is read
// as lines, not as YAML: tools do not all write it correctly.
type tapYAML struct {
	indent int
	lines  int
	key    string // whose value the deeper lines are
	depth  int    // indentation of the keys
	value  []string
	quoted bool // a value in double quotes is not closed
	get    map[string]string
}

const tapYAMLLines = 2000

func (c *tapConsole) inYAML(t string) bool {
	y := c.yaml
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	s = strings.TrimRight(s, " ")
	if y.lines++; y.lines > tapYAMLLines {
		c.yaml = nil
		return false
	}
	if y.quoted {
		y.quoted = !closesQuote(s)
		if len(y.value) < 200 {
			y.value = append(y.value, t)
		}
		return true
	}
	if s == "..." && indent <= y.indent {
		y.flush()
		c.diagnosed(y)
		c.yaml = nil
		return true
	}
	if s != "" && indent < y.indent {
		y.flush() // never closed, or another process wrote into it
		c.diagnosed(y)
		c.yaml = nil
		return false
	}
	if s == "" {
		y.value = append(y.value, "")
		return true
	}
	if y.key == "" && y.get == nil && s[0] == '{' && s[len(s)-1] == '}' && y.json(s) {
		return true
	}
	if _, value, ok := strings.Cut(s, `: "`); ok && !closesQuote(value) {
		y.quoted = true
	}
	if y.depth == 0 && indent >= y.indent {
		y.depth = indent + 1 // so that 0 means unknown
	}
	if indent+1 <= y.depth || indent+1 == y.depth {
		if key, value, ok := strings.Cut(s, ":"); ok && (value == "" || value[0] == ' ') && !strings.ContainsAny(key, " '\"(") {
			y.flush()
			y.key = key
			if value = strings.TrimSpace(value); value != "" && value != "|-" && value != "|" && value != ">" && value != ">-" && value != "|+" {
				y.value = append(y.value, parse.YAMLScalar(value))
			}
			return true
		}
	}
	if len(y.value) < 200 {
		y.value = append(y.value, t[min(len(t), y.depth+1):])
	}
	return true
}

// closesQuote reports whether s ends with a double quote that is not escaped.
func closesQuote(s string) bool {
	rest, ok := strings.CutSuffix(s, `"`)
	return ok && (len(rest)-len(strings.TrimRight(rest, `\`)))%2 == 0
}

// json takes a block that is one line of JSON, as Deno writes it.
func (y *tapYAML) json(s string) bool {
	var block struct {
		Message string
		At      struct {
			File string
			Line int
		}
	}
	if json.Unmarshal([]byte(s), &block) != nil || block.Message == "" {
		return false
	}
	shown := strings.Split(block.Message, "\n")
	for i := range shown {
		shown[i] = string(lines.Scrub([]byte(shown[i])))
	}
	message := strings.Join(shown, "\n")
	y.get = map[string]string{"message": failtext.FailureHead(message), "stack": message}
	if block.At.File != "" {
		y.get["file"], y.get["line"] = strings.TrimPrefix(block.At.File, "./"), strconv.Itoa(block.At.Line)
	}
	return true
}

// error takes the name and the message of an error that is a mapping, as Vitest writes it.
func (y *tapYAML) error() {
	name, message, in := "", "", false
	for _, l := range strings.Split(y.get["error"], "\n") {
		t := strings.TrimSpace(l)
		if rest, ok := strings.CutPrefix(t, "name: "); ok && !in {
			name = parse.YAMLScalar(rest)
		} else if rest, ok := strings.CutPrefix(t, "message: "); ok && !in {
			message, in = rest, true
		} else if in {
			message += "\n" + l
		} else {
			return
		}
	}
	if strings.HasPrefix(message, `"`) && strings.HasSuffix(message, `"`) && len(message) > 1 {
		message = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(message[1 : len(message)-1])
	} else {
		message = parse.YAMLScalar(message)
	}
	if message != "" {
		y.get["error"] = message
		if y.get["name"] == "" {
			y.get["name"] = name
		}
	}
}

// details takes what AVA says beside or instead of a message: texts under titles of their own.
func (y *tapYAML) details() {
	text := parse.FirstOf(y.get["details"], y.get["values"])
	message := y.get["message"]
	if text == "" || message != "" && message != "Error thrown in test" && message != "Rejected promise returned by test" {
		return
	}
	ls := strings.Split(parse.Unindent(text), "\n")
	for i, l := range ls {
		if key, _, ok := strings.Cut(l, "': "); ok && strings.HasPrefix(l, "'") {
			ls[i] = key[1:]
		}
	}
	y.get["message"] = strings.TrimSpace(strings.Join(ls, "\n"))
	if len(ls) > 1 && strings.HasSuffix(ls[1], "Error {") {
		y.get["name"] = strings.TrimSpace(strings.TrimSuffix(ls[1], " {"))
	}
}

func (y *tapYAML) flush() {
	if y.key != "" {
		if y.get == nil {
			y.get = map[string]string{}
		}
		if _, dup := y.get[y.key]; !dup && len(y.get) < 50 {
			y.get[y.key] = strings.TrimRight(strings.Join(y.value, "\n"), "\n ")
		}
	}
	y.key, y.value = "", y.value[:0]
}

// diagnosed takes over what the block says about the test.
func (c *tapConsole) diagnosed(y *tapYAML) {
	if c.cur == nil {
		return
	}
	y.error()
	y.details()
	t := &c.cur.test
	if y.get["failureType"] == "subtestsFailed" && c.cur.subtests {
		c.cur = nil
		return
	}
	t.Message = parse.FirstOf(parse.FirstOf(parse.Unindent(y.get["error"]), parse.Unindent(y.get["message"])), t.Message)
	t.Type = y.get["name"]
	t.Expected, t.Actual = parse.FirstOf(y.get["expected"], y.get["wanted"]), parse.FirstOf(y.get["actual"], y.get["found"])
	if _, ok := y.get["actual"]; !ok {
		if _, ok = y.get["found"]; !ok {
			t.Expected = ""
		}
	}
	c.cur.stack = parse.Unindent(y.get["stack"])
	if diff := y.get["diff"]; diff != "" && t.Expected == "" {
		t.Expected, t.Actual, _ = failtext.SplitAssertion(parse.Unindent(diff))
	}
	if failtext.IsTimeout(parse.HeadLine(t.Message)) {
		t.Kind = model.KindTimeout
	}
	switch y.get["failureType"] {
	case "hookFailed":
		t.Kind = model.KindSetup
	case "testTimeoutFailure":
		t.Kind = model.KindTimeout
	case "uncaughtException", "unhandledRejection":
		t.Kind = model.KindError
	}
	if op := y.get["operator"]; op != "" {
		if t.Kind == "" {
			t.Kind = model.KindAssertion
		}
		if t.Message == "" && (t.Expected != "" || t.Actual != "") { // tape: the point's text is the assertion's
			t.Message = fmt.Sprintf("%s: expected %s, actual %s", op, t.Expected, t.Actual)
		}
	}
	tapPlace(t, y, c.cur.stack)
}

// tapPlace finds the place: the stack's first own frame, else what is stated.
func tapPlace(t *model.Test, y *tapYAML, stack string) {
	for _, l := range append(strings.Split(stack, "\n"), y.get["at"]) {
		if file, line, col, ok := failtext.JSFrame("at " + strings.TrimPrefix(strings.TrimSpace(l), "at ")); ok && !parse.Foreign(file) {
			t.File, t.Line, t.Column = file, line, col
			return
		}
	}
	if file, line, col, ok := parse.Location(y.get["location"]); ok {
		t.File, t.Line, t.Column = file, line, col
		return
	}
	for _, l := range strings.Split(y.get["at"], "\n") { // a mapping of its own
		key, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		switch key {
		case "fileName", "file":
			t.File = parse.YAMLScalar(value)
		case "lineNumber", "line":
			t.Line, _, _ = parse.LeadingInt(value)
		case "columnNumber", "column":
			t.Column, _, _ = parse.LeadingInt(value)
		}
	}
	if t.File == "" {
		t.File = parse.YAMLScalar(y.get["file"])
		t.Line, _, _ = parse.LeadingInt(y.get["line"])
	}
}

// emit hands out a failing test with the names of the levels above it.
func (c *tapConsole) emit(k *tapTest) {
	if len(k.path) > 0 {
		var names []string
		for i := len(k.path) - 1; i >= 0; i-- {
			names = append(names, k.path[i])
		}
		if k.test.Suite != "" {
			names = append(names, k.test.Suite)
		}
		k.test.Suite = strings.Join(names, " > ")
	}
	t := k.test
	t.Status = model.Failed
	if t.Message == "test failed" && parse.IsScript(t.Name) {
		if crash, ok := c.crashes.Of(t.Name); ok && !c.prove.active() {
			p := model.Problem{Kind: model.KindSetup, Name: t.Name, File: parse.FirstOf(crash.File, t.Name), Line: crash.Line, Message: crash.Message, Trace: crash.Text, At: t.At}
			if strings.HasPrefix(crash.Message, "SyntaxError") {
				p.Kind = model.KindBuild
			}
			c.out.Problem(p)
			return
		}
	}
	if parse.IsScript(t.Name) && parse.HasAny(parse.HeadLine(t.Message), "SyntaxError", "Parse failure", "Unexpected token", "Transform failed") {
		t.Kind = model.KindBuild // a file that could not be loaded stands as a test
	}
	diag := k.diag.String()
	if k.plain {
		plainDiagnostics(&t, diag)
	}
	perlDiagnostics(&t, diag)
	if t.File == "" && strings.Contains(t.Message, "in test file ") {
		perlDiagnostics(&t, t.Message) // bats, as YAML
	}
	t.Trace = strings.Trim(diag+"\n"+k.stack, "\n")
	if t.Message == "" {
		t.Message = tapMessage(diag)
	}
	if t.Type == "" {
		t.Type = failtext.FailureType(t.Message)
	}
	if t.Kind == "" {
		t.Kind = failtext.FailureKind(t.Type, t.Message)
	}
	if t.Kind == "" && (t.Expected != "" || t.Actual != "") {
		t.Kind = model.KindAssertion
	}
	if t.File == "" {
		t.File = c.file
	}
	if c.prove.active() {
		c.proveFailed(t)
		return
	}
	c.out.Test(t)
}

// plainDiagnostics reads indented lines below a point: a message, which the error's stack repeats.
func plainDiagnostics(t *model.Test, diag string) {
	f := failtext.NewEntry(model.Limits{Text: 2*len(diag) + 1000}, *t)
	for _, l := range strings.Split(diag, "\n") {
		f.Add(l)
	}
	d := f.Done()
	head := strings.TrimSpace(parse.Unindent(d.Message))
	for i := len(head) / 2; i > 0; i-- {
		if head[i] != '\n' {
			continue
		}
		// The second half is "Type: message" of what the first half says.
		first, second := strings.TrimSpace(head[:i]), strings.TrimSpace(head[i:])
		if strings.HasSuffix(second, first) && len(second)-len(first) < 120 {
			head = second
			break
		}
	}
	t.Message = head
	t.Type, t.Kind = failtext.FailureType(head), ""
	t.File, t.Line, t.Expected, t.Actual = d.File, d.Line, d.Expected, d.Actual
}

// tapMessage returns diagnostics without the lines that name the test and its place.
func tapMessage(diag string) string {
	lines := strings.Split(diag, "\n")
	for len(lines) > 0 {
		s := strings.TrimSpace(lines[0])
		if !strings.HasPrefix(s, "Failed test") && !strings.HasPrefix(s, "at ") && !strings.HasPrefix(s, "(in test f") && !strings.HasPrefix(s, "(from function ") && !strings.HasPrefix(s, "in test file ") {
			break
		}
		lines = lines[1:]
	}
	return strings.TrimSpace(parse.Unindent(strings.Join(lines, "\n")))
}

// batsTestPlace is what bats says of where a test failed: in the test itself, or in what it called.
var batsTestPlace = lazyregexp.New("^\\(?(?:from function `[^']*' )?in test file (\\S+), line (\\d+)[,)]")

// perlDiagnostics reads what Test::More says below a failed test.
func perlDiagnostics(t *model.Test, diag string) {
	for _, l := range strings.Split(diag, "\n") {
		s := strings.TrimSpace(l)
		rest, ok := strings.CutPrefix(s, "at ")
		if !ok { // a test without a name
			rest, ok = strings.CutPrefix(strings.TrimLeft(strings.TrimPrefix(s, "Failed test"), " "), "at ")
			ok = ok && strings.HasPrefix(s, "Failed test")
		}
		if ok && t.Line == 0 {
			if file, line, found := strings.Cut(rest, " line "); found {
				if n, _, isNum := parse.LeadingInt(line); isNum {
					t.File, t.Line = file, n
				}
			}
		}
		if m := batsTestPlace.FindStringSubmatch(s); m != nil && t.Line == 0 {
			t.File = m[1]
			t.Line, _, _ = parse.LeadingInt(m[2])
		}
	}
	if t.Expected == "" && t.Actual == "" && strings.Contains(diag, "expected: ") {
		t.Expected, t.Actual, _ = failtext.SplitAssertion(diag)
		t.Expected, t.Actual = parse.YAMLScalar(t.Expected), parse.YAMLScalar(t.Actual)
		if t.Kind == "" {
			t.Kind = model.KindAssertion
		}
	}
}
