package testreport

import (
	"strings"
)

// unittestFormat reads what Python's unittest prints, also through Django,
// nose, tornado, unittest-xml-reporting and Twisted's trial.
var unittestFormat = format{
	name:  "unittest",
	order: 410,
	wakes: &wake{flush: "=-RTF", ends: ")", dots: true, prefix: true},
	console: func(out Sink, lim Limits) console {
		anon := newAnonymous()
		open := func() console { return &unittestConsole{out: out, lim: lim, anon: anon} }
		return &behindPrefix{plain: open(), open: open, starts: startsUnittest, may: func(t string) bool {
			c := t[len(t)-1]
			return (c == '=' || c == '-') && len(t) > unittestRule && t[len(t)-unittestRule] == c
		}}
	},
}

// startsUnittest recognises the rules before a block and before the totals.
func startsUnittest(t string) bool {
	return t != "" && (t[0] == '=' || t[0] == '-') && onlyOf(t, t[0], unittestRule)
}

// unittestConsole reads runs one after the other. A run is certain once a
// block of a failure, a verbose line or "Ran 3 tests in 0.1s" was seen.
type unittestConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous

	rule    bool // the line before was a rule of "="
	cur     *failedEntry
	header  bool // between a block's title and its rule of "-"
	dash    bool // the line before was a rule of "-"
	trial   bool // the block is of Twisted's trial, which names its tests below
	ids     []string
	blocks  int             // entries emitted
	listed  map[string]bool // tests that an entry named
	failing int             // tests among them, each once
	unexpd  int             // unexpected successes
	last    int             // line of the last entry

	verbose     int    // lines "test_x (pkg.Class) ... ok" seen
	verboseAt   int    // the last of them
	running     string // the test whose result has not been printed
	bad         []verboseTest
	ran         int // "Ran n tests", -1 before
	ranAt       int
	fatal       *Problem
	afterTotals int // lines since "Ran"
}

// verboseTest is a test that failed by its line; its block may never come.
type verboseTest struct {
	id   string
	word string
	at   int
}

const unittestRule = 60 // characters of a rule at least; unittest has 70, trial 79

func (c *unittestConsole) budget() *anonymous { return c.anon }

func (c *unittestConsole) idle() bool {
	return !c.rule && !c.dash && c.cur == nil && c.ranAt == 0 && c.fatal == nil
}

func (c *unittestConsole) line(l Line) bool {
	if stepOver(l) {
		c.end()
		return false
	}
	if l.Mark != "" && l.Mark != "error" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	rule, dash := c.rule, c.dash
	c.rule = len(t) >= unittestRule && t[0] == '=' && onlyOf(t, '=', unittestRule)
	c.dash = len(t) >= unittestRule && t[0] == '-' && onlyOf(t, '-', unittestRule) || t == "Tests running..." // testtools
	switch {
	case c.rule:
		c.closeBlock()
		return false
	case rule && c.title(l.No, t):
		return true
	case c.cur != nil && c.header:
		c.header = !c.dash
		if !c.dash && c.cur.lines == 0 && t != "" {
			c.cur.test.Output = t // the docstring's first line
		}
		return true
	case c.cur != nil && c.dash:
		c.closeBlock()
		return true
	case len(t) > 8 && t[0] == 'R' && strings.HasPrefix(t, "Ran ") && c.totals(l.No, t, dash):
		return true
	case c.ran >= 0 && c.ranAt > 0:
		return c.verdict(l.No, t)
	case c.cur != nil:
		c.body(t)
		return true
	}
	return c.progress(l.No, t)
}

func (c *unittestConsole) body(t string) {
	if c.cur.lines > failureLines {
		c.closeBlock()
		return
	}
	if c.trial && isDotted(t) && strings.Count(t, ".") >= 2 {
		if len(c.ids) < 1000 {
			c.ids = append(c.ids, t)
		}
		return
	}
	c.cur.add(t)
}

// title opens a block: "ERROR: test_x (pkg.Class)", "FAIL [0.1s]: …", trial's "[FAIL]".
func (c *unittestConsole) title(no int, t string) bool {
	if t == "[FAIL]" || t == "[ERROR]" {
		c.open(no, "")
		c.trial = true
		c.cur.test.Kind = KindAssertion
		if t == "[ERROR]" {
			c.cur.test.Kind = KindError
		}
		return true
	}
	word, id, ok := strings.Cut(t, ": ")
	if i := strings.Index(word, " ["); i > 0 && strings.HasSuffix(word, "s]") {
		word = word[:i]
	}
	if !ok || id == "" || word != "ERROR" && word != "FAIL" && word != "UNEXPECTED SUCCESS" && word != "TIMEOUT" {
		return false
	}
	c.open(no, id)
	c.header = true
	switch word {
	case "FAIL":
		c.cur.test.Kind = KindAssertion
	case "TIMEOUT":
		c.cur.test.Kind = KindTimeout
	case "UNEXPECTED SUCCESS":
		c.cur.test.Kind, c.cur.test.Message = KindAssertion, "unexpected success"
		c.header = false
	}
	return true
}

func (c *unittestConsole) open(no int, id string) {
	c.ran, c.ranAt = -1, 0
	t := Test{At: no}
	t.Suite, t.Name = unittestID(id)
	c.cur, c.header, c.trial, c.ids = newFailedEntry(c.lim, t), false, false, nil
}

// unittestID cuts "test_x (pkg.Class.test_x) [msg] (i=1)" into the class and the name.
func unittestID(id string) (suite, name string) {
	i := strings.Index(id, " (")
	if i < 0 {
		if dot := strings.LastIndexByte(id, '.'); dot > 0 && isDotted(id) { // nose and testtools
			return id[:dot], id[dot+1:]
		}
		return "", id
	}
	j := strings.IndexByte(id[i:], ')')
	if j < 0 || !isDotted(strings.ReplaceAll(strings.ReplaceAll(id[i+2:i+j], "<locals>", ""), "-", "_")) {
		return "", id
	}
	name, suite = id[:i], id[i+2:i+j]
	suite = strings.TrimSuffix(suite, "."+name)
	return suite, name + id[i+j+1:]
}

func (c *unittestConsole) closeBlock() {
	f := c.cur
	c.cur = nil
	if f == nil {
		return
	}
	if len(c.ids) == 0 {
		c.emit(unittestTest(f))
		return
	}
	t := unittestTest(f)
	for _, id := range c.ids {
		i := strings.LastIndexByte(id, '.')
		t.Suite, t.Name = id[:i], id[i+1:]
		c.emit(t)
	}
}

// emit hands out an entry. Subtests of a test count once as failing.
func (c *unittestConsole) emit(t Test) {
	c.blocks++
	c.last = max(c.last, t.At)
	if t.Message == "unexpected success" {
		c.unexpd++
	}
	if c.listed == nil {
		c.listed = map[string]bool{}
	}
	if key := t.Suite + "\x00" + unittestBase(t.Name); !c.listed[key] {
		if len(c.listed) < 20*c.lim.Failing {
			c.listed[key] = true
		}
		if !unittestFixture(t.Name) {
			c.failing++
		}
	}
	c.out.Test(t)
}

// unittestTest completes a block. The exception is the last line of its text
// that starts at the margin with a name.
func unittestTest(f *failedEntry) Test {
	doc := f.test.Output
	f.test.Output = ""
	text := f.text.String()
	msg, typ := pythonException(text)
	if f.test.Message == "" {
		f.test.Message, f.test.Type = msg, typ
	}
	if f.test.Message == "" {
		f.test.Message = doc
	}
	switch {
	case strings.HasPrefix(f.test.Name, "setUp"), strings.HasPrefix(f.test.Name, "tearDown"),
		strings.HasPrefix(f.test.Suite, "unittest.loader."), strings.HasPrefix(f.test.Name, "Failure: "):
		f.test.Kind = KindSetup
	case f.test.Kind == "":
		f.test.Kind = KindError
	}
	f.test.File, f.test.Line = pythonPlace(text)
	return f.done()
}

// pythonException returns the last exception of a traceback with its message,
// and its type.
func pythonException(text string) (msg, typ string) {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		head, _, _ := strings.Cut(lines[i], ":")
		if lines[i] == "" || lines[i][0] == ' ' || !isException(head) || head == "Stdout" || head == "Stderr" {
			continue
		}
		// A line that belongs to an earlier exception's message would not
		// stand right below a frame.
		if j := i - 1; j >= 0 && !strings.HasPrefix(lines[j], "  ") && !strings.HasPrefix(lines[j], "Traceback ") && strings.Contains(text, "Traceback ") {
			continue
		}
		end := len(lines)
		for k := i; k < len(lines); k++ {
			if k > i && (lines[k] == "Stdout:" || lines[k] == "Stderr:" || strings.HasPrefix(lines[k], "-------------------- >> begin captured") ||
				strings.HasPrefix(lines[k], "Name ") && strings.Contains(lines[k], " Stmts ")) { // a table of coverage
				end = k
				break
			}
		}
		return strings.TrimSpace(strings.Join(lines[i:min(end, i+200)], "\n")), head
	}
	return "", ""
}

// pythonPlace returns the innermost frame that is the project's own.
func pythonPlace(text string) (file string, line int) {
	for rest := text; rest != ""; {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		if !strings.HasPrefix(strings.TrimLeft(l, " "), `File "`) {
			continue
		}
		f, n, _, ok := pytestLocation(l)
		if ok && !foreign(f) && !strings.Contains(f, "/unittest/") {
			file, line = f, n
		}
	}
	return file, line
}
