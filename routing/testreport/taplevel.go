package testreport

import "fmt"

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
		if t := k.test; t.Kind == KindSetup && !c.prove.active() {
			c.out.Problem(Problem{Kind: KindSetup, Name: t.Name, File: t.File, Line: t.Line, Column: t.Column, Message: t.Message, Trace: k.stack, At: t.At})
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
	c.emit(k)
}

// checkPlan reports a subtest whose plan does not fit, if nothing failed in it.
func (c *tapConsole) checkPlan(lv *tapLevel, name string, no int) {
	if lv.plan >= 0 && lv.plan != lv.count && lv.failed == 0 {
		c.out.Problem(Problem{Kind: KindExit, Name: name, Message: fmt.Sprintf("planned %d tests, ran %d", lv.plan, lv.count), At: no})
	}
}
