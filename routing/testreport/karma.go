package testreport

import (
	"strings"
)

// karmaFormat reads Karma's progress and dots reporters.
var karmaFormat = format{
	name:  "karma",
	order: 560,
	wakes: &wake{flush: "S", holds: '('},
	console: func(out Sink, lim Limits) console {
		return &karmaConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

type karmaConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	browsers []karmaBrowser
	cur      *failedEntry
	at       int
	sum      *karmaSummary
	marks    int // one more than the lines "✖ name" since "START:", 0 before it
}

// karmaSummary is what karma-mocha-reporter ends with.
type karmaSummary struct {
	passed, skipped, failed, named int
	list                           bool // below "FAILED TESTS:"
	tree                           []nodeGroup
	at                             int
}

// karmaBrowser is the last progress of one browser.
type karmaBrowser struct {
	name                             string
	executed, total, failed, skipped int
	named                            int
	problem                          bool
	at                               int
}

func (c *karmaConsole) budget() *anonymous { return c.anon }

func (c *karmaConsole) idle() bool {
	return c.cur == nil && c.sum == nil && c.marks == 0
}

func (c *karmaConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	if c.sum != nil && t != "" {
		if claimed, done := c.summary(l.No, t); done {
			return claimed
		}
	}
	c.mark(t)
	if len(t) < 8 {
		if c.cur != nil {
			c.cur.add(t)
		}
		return false
	}
	if t[0] == '\t' || t[0] == ' ' {
		if c.cur != nil && c.cur.lines < failureLines {
			c.cur.add(strings.ReplaceAll(t, "\t", "    "))
			return true
		}
		return false
	}
	if t == "SUMMARY:" {
		c.closeEntry()
		c.sum = &karmaSummary{at: l.No}
		return false
	}
	if i := strings.Index(t, "): Executed "); i > 0 && strings.IndexByte(t[:i], '(') > 0 && c.progress(l.No, t[:i+1], t[i+len("): Executed "):]) {
		return true
	}
	if name, ok := strings.CutSuffix(t, " FAILED"); ok && c.failed(l.No, name) {
		return true
	}
	return c.trouble(l.No, t)
}

// mark counts the failing lines of karma-mocha-reporter's tree.
func (c *karmaConsole) mark(t string) {
	switch {
	case t == "START:":
		c.marks = 1
	case c.marks > 0 && strings.HasPrefix(strings.TrimLeft(t, " "), "✖ "):
		c.marks++
	}
}

// summary takes the lines of karma-mocha-reporter's end.
func (c *karmaConsole) summary(no int, t string) (claimed, done bool) {
	s := strings.TrimLeft(t, " ")
	indent := len(t) - len(s)
	u := c.sum
	if mark, rest, ok := strings.Cut(t, " "); ok && indent == 0 {
		if n, word, ok := counted(rest); ok && (strings.HasPrefix(word, "test ") || strings.HasPrefix(word, "tests ")) {
			switch {
			case mark == "✔" && strings.HasSuffix(word, " completed"):
				u.passed = n
				return true, true
			case mark == "ℹ" && strings.HasSuffix(word, " skipped"):
				u.skipped = n
				return true, true
			case mark == "✖" && strings.HasSuffix(word, " failed"):
				u.failed = n
				return true, true
			}
		}
	}
	if t == "FAILED TESTS:" && u.failed > 0 {
		u.list = true
		return true, true
	}
	if indent == 0 || !u.list {
		c.closeSummary()
		return false, false
	}
	if c.cur != nil && indent > u.tree[len(u.tree)-1].indent {
		if karmaBrowserName(s+" ") == 0 { // the browsers it failed in
			c.cur.add(t)
		}
		return true, true
	}
	if c.cur != nil && indent == u.tree[len(u.tree)-1].indent && !strings.HasPrefix(s, "✖ ") && c.cur.lines == 0 {
		c.cur.add(t)
		return true, true
	}
	return c.summaryTree(no, indent, s), true
}

func (c *karmaConsole) summaryTree(no, indent int, s string) bool {
	u := c.sum
	c.closeEntry()
	for n := len(u.tree); n > 0 && u.tree[n-1].indent >= indent; n-- {
		u.tree = u.tree[:n-1]
	}
	if name, ok := strings.CutPrefix(s, "✖ "); ok {
		path := make([]string, len(u.tree))
		for i, g := range u.tree {
			path[i] = g.name
		}
		c.cur = newFailedEntry(c.lim, Test{Suite: strings.Join(path, " > "), Name: name, At: no})
		u.named++
	}
	if len(u.tree) < 50 {
		u.tree = append(u.tree, nodeGroup{indent, s})
	}
	return true
}

// closeSummary emits the totals, unless the browsers' own are known.
func (c *karmaConsole) closeSummary() {
	u := c.sum
	c.closeEntry()
	c.sum = nil
	if u == nil || u.passed+u.skipped+u.failed == 0 || len(c.browsers) > 0 {
		return
	}
	c.anon.emit(c.out, u.passed, Test{Status: Passed, At: u.at})
	c.anon.emit(c.out, u.skipped, Test{Status: Skipped, At: u.at})
	unnamed(c.out, "karma", u.failed, u.named, u.at)
	if u.failed == 0 && c.marks > 1 {
		c.out.Problem(cutOff("karma", "the summary ends before the number of failures", u.at))
	}
	c.marks = 0
}

// progress takes "3 of 3 (1 FAILED) (skipped 1) (0.01 secs / 0.002 secs)"; only
// the last of a browser counts.
func (c *karmaConsole) progress(no int, browser, s string) bool {
	n, rest, ok := leadingInt(s)
	if !ok || !strings.HasPrefix(rest, " of ") {
		return false
	}
	total, rest, ok := leadingInt(rest[len(" of "):])
	if !ok {
		return false
	}
	c.closeEntry()
	b := c.browser(browser)
	if n < b.executed || total != b.total && b.total > 0 {
		c.flush(b) // another run
		b = c.browser(browser)
	}
	b.executed, b.total, b.at = n, total, no
	if i := strings.Index(rest, " FAILED)"); i > 0 {
		b.failed, _, _ = leadingInt(rest[strings.LastIndexByte(rest[:i], '(')+1:])
	}
	if _, skipped, found := strings.Cut(rest, "(skipped "); found {
		b.skipped, _, _ = leadingInt(skipped)
	}
	c.at = no
	return true
}

func (c *karmaConsole) browser(name string) *karmaBrowser {
	for i := range c.browsers {
		if c.browsers[i].name == name {
			return &c.browsers[i]
		}
	}
	if len(c.browsers) >= 64 {
		return &c.browsers[0]
	}
	c.browsers = append(c.browsers, karmaBrowser{name: name})
	return &c.browsers[len(c.browsers)-1]
}

// karmaBrowserName reads "Chrome Headless 114.0.5735.90 (Linux x86_64) " at the
// start of a line and returns its length.
func karmaBrowserName(t string) int {
	i := strings.Index(t, ") ")
	if i < 0 || i > 120 {
		return 0
	}
	open := strings.LastIndexByte(t[:i], '(')
	if open < 3 || t[open-1] != ' ' {
		return 0
	}
	version := t[strings.LastIndexByte(t[:open-1], ' ')+1 : open-1]
	if _, rest, ok := leadingInt(version); !ok || !strings.HasPrefix(rest, ".") || t[0] < 'A' || t[0] > 'Z' {
		return 0
	}
	return i + 2
}

// failed takes "Chrome 114.0.0.0 (Linux) suite name FAILED".
func (c *karmaConsole) failed(no int, t string) bool {
	n := karmaBrowserName(t)
	if n == 0 || n >= len(t) {
		return false
	}
	c.closeEntry()
	c.cur = newFailedEntry(c.lim, Test{Name: t[n:], Output: t[:n-1], At: no})
	return true
}

// trouble takes what a browser says apart from tests.
func (c *karmaConsole) trouble(no int, t string) bool {
	if c.cur != nil {
		c.closeEntry()
	}
	n := karmaBrowserName(t)
	if n == 0 {
		return false
	}
	switch rest := t[n:]; {
	case rest == "ERROR", strings.HasPrefix(rest, "DISCONNECTED"):
		b := c.browser(t[:n-1])
		if !b.problem {
			b.problem = true
			c.out.Problem(Problem{Kind: KindExit, Name: t[:n-1], Message: t, At: no})
		}
		return true
	}
	return false
}

func (c *karmaConsole) closeEntry() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	if c.sum != nil {
		c.out.Test(f.done())
		return
	}
	b := c.browser(f.test.Output)
	f.test.Output = ""
	b.named++
	b.at = max(b.at, f.test.At)
	c.out.Test(f.done())
}

// flush emits a browser's totals and forgets it.
func (c *karmaConsole) flush(b *karmaBrowser) {
	skipped := min(b.skipped, b.executed)
	if b.executed < b.total && b.skipped > 0 && b.executed+b.skipped >= b.total {
		skipped = b.total - b.executed // newer versions do not count them as executed
		c.anon.emit(c.out, b.executed-max(b.failed, b.named), Test{Status: Passed, At: b.at})
	} else {
		c.anon.emit(c.out, b.executed-max(b.failed, b.named)-skipped, Test{Status: Passed, At: b.at})
	}
	c.anon.emit(c.out, skipped, Test{Status: Skipped, At: b.at})
	unnamed(c.out, "karma", b.failed, b.named, b.at)
	if b.executed+b.skipped < b.total && !b.problem || b.total == 0 && b.named > 0 {
		c.out.Problem(cutOff("karma", b.name+" did not execute all tests", b.at))
	}
	for i := range c.browsers {
		if &c.browsers[i] == b {
			c.browsers = append(c.browsers[:i], c.browsers[i+1:]...)
			return
		}
	}
}

func (c *karmaConsole) end() {
	c.closeSummary()
	c.closeEntry()
	for len(c.browsers) > 0 {
		c.flush(&c.browsers[0])
	}
	*c = karmaConsole{out: c.out, lim: c.lim, anon: c.anon}
}
