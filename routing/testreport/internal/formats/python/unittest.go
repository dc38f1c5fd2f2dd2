package python

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// unittestFormat reads what Python's unittest prints, also through Django,
// nose, tornado, unittest-xml-reporting and Twisted's trial.
var unittestFormat = format.Format{
	Name:  "unittest",
	Order: 410,
	Wakes: &format.Wake{Flush: "=-RTF", Ends: ")", Dots: true, Prefix: true},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		anon := model.NewAnonymous(lim)
		open := func() format.Console { return &unittestConsole{out: out, lim: lim, anon: anon} }
		return &format.BehindPrefix{Plain: open(), Open: open, Starts: startsUnittest, May: func(t string) bool {
			c := t[len(t)-1]
			return (c == '=' || c == '-') && len(t) > failtext.UnittestRule && t[len(t)-failtext.UnittestRule] == c
		}}
	},
}

// startsUnittest recognises the rules before a block and before the totals.
func startsUnittest(t string) bool {
	return t != "" && (t[0] == '=' || t[0] == '-') && parse.OnlyOf(t, t[0], failtext.UnittestRule)
}

// unittestConsole reads runs one after the other. A run is certain once a
// block of a failure, a verbose line or "Ran 3 tests in 0.1s" was seen.
type unittestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous

	rule    bool // the line before was a rule of "="
	cur     *failtext.Entry
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
	fatal       *model.Problem
	afterTotals int // lines since "Ran"
}

// verboseTest is a test that failed by its line; its block may never come.
type verboseTest struct {
	id   string
	word string
	at   int
}

func (c *unittestConsole) Idle() bool {
	return !c.rule && !c.dash && c.cur == nil && c.ranAt == 0 && c.fatal == nil
}

func (c *unittestConsole) Line(l lines.Line) bool {
	if lines.StepOver(l) {
		c.End()
		return false
	}
	if l.Mark != "" && l.Mark != "error" {
		return false
	}
	t := strings.TrimRight(l.Text, " ")
	rule, dash := c.rule, c.dash
	c.rule = len(t) >= failtext.UnittestRule && t[0] == '=' && parse.OnlyOf(t, '=', failtext.UnittestRule)
	c.dash = len(t) >= failtext.UnittestRule && t[0] == '-' && parse.OnlyOf(t, '-', failtext.UnittestRule) || t == "Tests running..." // testtools
	switch {
	case c.rule:
		c.closeBlock()
		return false
	case rule && c.title(l.No, t):
		return true
	case c.cur != nil && c.header:
		c.header = !c.dash
		if !c.dash && c.cur.Lines == 0 && t != "" {
			c.cur.Test.Output = t // the docstring's first line
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
	if c.cur.Lines > failtext.FailureLines {
		c.closeBlock()
		return
	}
	if c.trial && parse.IsDotted(t) && strings.Count(t, ".") >= 2 {
		if len(c.ids) < 1000 {
			c.ids = append(c.ids, t)
		}
		return
	}
	c.cur.Add(t)
}

// title opens a block: "ERROR: test_x (pkg.Class)", "FAIL [0.1s]: …", trial's "[FAIL]".
func (c *unittestConsole) title(no int, t string) bool {
	if t == "[FAIL]" || t == "[ERROR]" {
		c.open(no, "")
		c.trial = true
		c.cur.Test.Kind = model.KindAssertion
		if t == "[ERROR]" {
			c.cur.Test.Kind = model.KindError
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
		c.cur.Test.Kind = model.KindAssertion
	case "TIMEOUT":
		c.cur.Test.Kind = model.KindTimeout
	case "UNEXPECTED SUCCESS":
		c.cur.Test.Kind, c.cur.Test.Message = model.KindAssertion, "unexpected success"
		c.header = false
	}
	return true
}

func (c *unittestConsole) open(no int, id string) {
	c.ran, c.ranAt = -1, 0
	t := model.Test{At: no}
	t.Suite, t.Name = unittestID(id)
	c.cur, c.header, c.trial, c.ids = failtext.NewEntry(c.lim, t), false, false, nil
}

// unittestID cuts "test_x (pkg.Class.test_x) [msg] (i=1)" into the class and the name.
func unittestID(id string) (suite, name string) {
	i := strings.Index(id, " (")
	if i < 0 {
		if dot := strings.LastIndexByte(id, '.'); dot > 0 && parse.IsIdent(id, ".") { // nose and testtools
			return id[:dot], id[dot+1:]
		}
		return "", id
	}
	j := strings.IndexByte(id[i:], ')')
	if j < 0 || !parse.IsIdent(strings.ReplaceAll(id[i+2:i+j], "<locals>", ""), ".-") {
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
func (c *unittestConsole) emit(t model.Test) {
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
func unittestTest(f *failtext.Entry) model.Test {
	doc := f.Test.Output
	f.Test.Output = ""
	text := f.Text.String()
	msg, typ := failtext.PythonException(text)
	if f.Test.Message == "" {
		f.Test.Message, f.Test.Type = msg, typ
	}
	if f.Test.Message == "" {
		f.Test.Message = doc
	}
	switch {
	case strings.HasPrefix(f.Test.Name, "setUp"), strings.HasPrefix(f.Test.Name, "tearDown"),
		strings.HasPrefix(f.Test.Suite, "unittest.loader."), strings.HasPrefix(f.Test.Name, "Failure: "):
		f.Test.Kind = model.KindSetup
	case f.Test.Kind == "":
		f.Test.Kind = model.KindError
	}
	f.Test.File, f.Test.Line = pythonPlace(text)
	return f.Done()
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
		if ok && !parse.Foreign(f) && !strings.Contains(f, "/unittest/") {
			file, line = f, n
		}
	}
	return file, line
}

// totals takes "Ran 3 tests in 0.005s"; a rule stands before it.
func (c *unittestConsole) totals(no int, t string, dash bool) bool {
	n, rest, ok := parse.LeadingInt(t[len("Ran "):])
	if !ok || !strings.HasPrefix(rest, " test") || !strings.Contains(rest, " in ") || !strings.HasSuffix(t, "s") {
		return false
	}
	if !dash && (c.cur == nil && c.blocks == 0 && c.verbose == 0 || c.running != "") {
		return false // it is what the running test prints
	}
	c.closeBlock()
	c.ran, c.ranAt, c.afterTotals = n, no, 0
	return true
}

// verdict takes the line behind the totals: "OK (skipped=1)", "FAILED (errors=1)".
func (c *unittestConsole) verdict(no int, t string) bool {
	if c.afterTotals++; c.afterTotals > 30 {
		c.finish(nil)
		return false
	}
	word, rest, _ := strings.Cut(t, " ")
	switch word {
	case "OK", "FAILED", "PASSED", "SUCCESS":
		if rest == "" || rest[0] == '(' && rest[len(rest)-1] == ')' {
			sum := parseUnittestCounts(strings.Trim(rest, "()"))
			sum.failed = word == "FAILED"
			c.finish(&sum)
			return true
		}
	case "NO":
		if strings.HasPrefix(t, "NO TESTS RAN") {
			c.out.Problem(model.Problem{Kind: model.KindEmpty, Name: "unittest", Message: t, At: no})
			sum := unittestCounts{}
			c.finish(&sum)
			return true
		}
	}
	return false
}

type unittestCounts struct {
	failures, errors, skipped, expected, unexpected int
	failed                                          bool
}

// parseUnittestCounts reads "failures=1, errors=2, expected failures=1" and
// nose's "SKIP=3, KNOWNFAIL=1".
func parseUnittestCounts(s string) unittestCounts {
	var u unittestCounts
	for _, part := range strings.Split(s, ",") {
		word, num, _ := strings.Cut(strings.TrimSpace(part), "=")
		n, _, _ := parse.LeadingInt(num)
		switch word {
		case "failures", "Failures":
			u.failures = n
		case "errors", "Errors":
			u.errors = n
		case "skipped", "SKIP", "skips":
			u.skipped = n
		case "expected failures", "KNOWNFAIL", "expectedFailures", "TODO", "todos":
			u.expected = n
		case "unexpected successes", "unexpectedSuccesses":
			u.unexpected = n
		}
	}
	return u
}

// finish ends a run. Without totals it was cut off: then the verbose lines
// name what no block does.
func (c *unittestConsole) finish(sum *unittestCounts) {
	c.closeBlock()
	for _, b := range c.bad {
		t := model.Test{Status: model.Failed, Kind: model.KindError, At: b.at}
		t.Suite, t.Name = unittestID(b.id)
		if c.listed[t.Suite+"\x00"+unittestBase(t.Name)] || sum != nil && b.word != "unexpected success" {
			continue
		}
		if b.word != "ERROR" {
			t.Kind = model.KindAssertion
		}
		if b.word == "unexpected success" {
			t.Message = b.word
		}
		c.emit(t)
	}
	if c.fatal != nil {
		c.out.Problem(*c.fatal)
	}
	c.emitCounts(sum, max(c.ranAt, c.verboseAt, c.last))
	*c = unittestConsole{out: c.out, lim: c.lim, anon: c.anon}
}

func (c *unittestConsole) emitCounts(sum *unittestCounts, at int) {
	switch {
	case sum != nil:
		if sum.failed {
			failtext.Unnamed(c.out, "unittest", max(sum.failures+sum.errors+sum.unexpected, 1), c.blocks, at)
		}
		skipped := sum.skipped + sum.expected
		c.anon.Emit(c.out, c.ran-c.failing-skipped-max(sum.unexpected-c.unexpd, 0), model.Test{Status: model.Passed, At: at})
		c.anon.Emit(c.out, skipped, model.Test{Status: model.Skipped, At: at})
	case c.fatal != nil:
	case c.blocks > 0, c.verbose > 1, c.verbose == 1 && c.running == "":
		msg := "the run of unittest ends before its totals"
		if c.running != "" {
			msg += ", while running " + c.running
		}
		c.out.Problem(failtext.CutOff("unittest", msg, at))
	}
}

// unittestFixture reports whether an entry is not of a test that Ran counts.
func unittestFixture(name string) bool {
	switch name {
	case "setUpClass", "tearDownClass", "setUpModule", "tearDownModule":
		return true
	}
	return false
}

// unittestBase is a test's name without the parameters of a subtest.
func unittestBase(name string) string {
	if i := strings.IndexByte(name, ' '); i > 0 {
		return name[:i]
	}
	return name
}

func (c *unittestConsole) End() {
	if c.cur != nil || c.blocks > 0 || c.verbose > 0 || c.fatal != nil || c.ranAt > 0 {
		if c.running != "" && c.verbose == 0 {
			c.verbose = 1
		}
		c.finish(nil)
		return
	}
	*c = unittestConsole{out: c.out, lim: c.lim, anon: c.anon}
}

// progress takes a line of a verbose run: "test_x (pkg.Class.test_x) ... ok".
func (c *unittestConsole) progress(no int, t string) bool {
	if len(t) < 6 {
		return false
	}
	if t[0] == 'F' && c.running != "" && strings.HasPrefix(t, "Fatal Python error: ") {
		c.crash(no, t)
		return true
	}
	if c.fatal != nil && t[0] == ' ' && c.fatal.Line == 0 {
		if file, line, _, ok := pytestLocation(t); ok && !parse.Foreign(file) {
			c.fatal.File, c.fatal.Line = file, line
			return true
		}
	}
	if !strings.Contains(t, " ...") {
		if t[len(t)-1] == ')' && t[0] != ' ' && unittestVerbose(t) { // a docstring follows
			c.running = t
		}
		return false
	}
	i := strings.LastIndex(t, " ... ")
	if i < 0 {
		if id, ok := strings.CutSuffix(t, " ..."); ok && unittestVerbose(strings.TrimSpace(id)) {
			c.running = strings.TrimSpace(id)
		}
		return false
	}
	id, word := strings.TrimSpace(t[:i]), t[i+5:]
	if !unittestVerbose(id) {
		if c.running == "" || strings.Contains(id, " ... ") {
			return false
		}
		id = c.running
	}
	return c.result(no, id, word)
}

func (c *unittestConsole) crash(no int, t string) {
	c.fatal = &model.Problem{Kind: model.KindCrash, Name: c.running, Message: t, At: no}
}

// unittestVerbose recognises "test_x (pkg.Class)" with or without parameters.
func unittestVerbose(id string) bool {
	suite, name := unittestID(id)
	return suite != "" && strings.Contains(suite, ".") && strings.Contains(id, " (") && parse.IsIdent(unittestBase(name), ".")
}

func (c *unittestConsole) result(no int, id, word string) bool {
	if i := strings.Index(word, " ("); i > 0 { // xmlrunner: "ok (0.001s)"
		word = word[:i]
	}
	switch {
	case word == "ok", word == "expected failure", word == "skipped", strings.HasPrefix(word, "skipped "), strings.HasPrefix(word, "SKIP"):
	case word == "FAIL", word == "ERROR", word == "unexpected success":
		if len(c.bad) < 20*c.lim.Failing {
			c.bad = append(c.bad, verboseTest{id, word, no})
		}
	case strings.HasPrefix(word, "Fatal Python error: "):
		c.running = id
		c.crash(no, word)
		return true
	default:
		if unittestVerbose(id) {
			c.running = id // it printed something before its result
		}
		return false
	}
	c.running = ""
	c.verbose++
	c.verboseAt = no
	return true
}
