package testreport

import (
	"strings"
)

// totals takes "Ran 3 tests in 0.005s"; a rule stands before it.
func (c *unittestConsole) totals(no int, t string, dash bool) bool {
	n, rest, ok := leadingInt(t[len("Ran "):])
	if !ok || !strings.HasPrefix(rest, " test") || !strings.Contains(rest, " in ") || !strings.HasSuffix(t, "s") {
		return false
	}
	if !dash && c.cur == nil && c.blocks == 0 && c.verbose == 0 {
		return false
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
			c.out.Problem(Problem{Kind: KindEmpty, Name: "unittest", Message: t, At: no})
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
		n, _, _ := leadingInt(num)
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
		t := Test{Status: Failed, Kind: KindError, At: b.at}
		t.Suite, t.Name = unittestID(b.id)
		if c.listed[t.Suite+"\x00"+unittestBase(t.Name)] || sum != nil && b.word != "unexpected success" {
			continue
		}
		if b.word != "ERROR" {
			t.Kind = KindAssertion
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
			unnamed(c.out, "unittest", max(sum.failures+sum.errors+sum.unexpected, 1), c.blocks, at)
		}
		skipped := sum.skipped + sum.expected
		c.anon.emit(c.out, c.ran-c.failing-skipped-max(sum.unexpected-c.unexpd, 0), Test{Status: Passed, At: at})
		c.anon.emit(c.out, skipped, Test{Status: Skipped, At: at})
	case c.fatal != nil:
	case c.blocks > 0, c.verbose > 1, c.verbose == 1 && c.running == "":
		msg := "the run of unittest ends before its totals"
		if c.running != "" {
			msg += ", while running " + c.running
		}
		c.out.Problem(cutOff("unittest", msg, at))
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

func (c *unittestConsole) end() {
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
		if file, line, _, ok := pytestLocation(t); ok && !foreign(file) {
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
	c.fatal = &Problem{Kind: KindCrash, Name: c.running, Message: t, At: no}
}

// unittestVerbose recognises "test_x (pkg.Class)" with or without parameters.
func unittestVerbose(id string) bool {
	suite, name := unittestID(id)
	return suite != "" && strings.Contains(suite, ".") && strings.Contains(id, " (") && isDotted(unittestBase(name))
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
