package generic

import (
	"fmt"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
)

// mozlogFormat reads the structured lines of Mozilla's harnesses (mochitest,
// reftest, xpcshell, web-platform-tests, marionette): "TEST-START | test",
// "TEST-UNEXPECTED-FAIL | test | message", "TEST-OK | test | took 12ms".
var mozlogFormat = format.Format{
	Name:   "mozlog",
	Order:  640,
	Begins: " [TSRP" + format.Digits,
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &mozlogConsole{out: out, lim: lim, open: map[string]int{}, failed: map[string]int{}}
	},
}

// mozlogConsole pairs starts and ends of tests, which may overlap. A harness
// reports what was not expected by a line each; a test with one has failed.
type mozlogConsole struct {
	out    model.Sink
	lim    model.Limits
	open   map[string]int // line at which a test started
	failed map[string]int // index in tests
	tests  []model.Test
	more   int // failed tests past the limit
	suite  int // line at which a suite started that has not ended
}

func (c *mozlogConsole) Line(l lines.Line) bool {
	t := l.Text
	if len(t) < 12 {
		return false
	}
	switch b := t[0]; {
	case b == '[' && strings.HasPrefix(t, "[task "), b >= '0' && b <= '9', b == 'T' && strings.HasPrefix(t, "TEST-"), b == 'S' && strings.HasPrefix(t, "SUITE-"), b == 'R' && strings.HasPrefix(t, "REFTEST"), b == 'P' && strings.HasPrefix(t, "PROCESS-"), b == ' ':
	default:
		return false
	}
	if strings.IndexByte(t[:min(len(t), 160)], '|') < 0 {
		return false // all that follows has one behind its word
	}
	head := t[:min(len(t), 96)]
	i := strings.Index(head, "TEST-")
	if i > 0 && strings.HasPrefix(t[i-min(i, 3):], "REFTEST-") {
		return false
	}
	if i < 0 {
		if i = strings.Index(head, "PROCESS-CRASH | "); i < 0 {
			return c.suiteLine(l.No, head)
		}
	}
	word, rest, ok := strings.Cut(t[i:], " | ")
	if !ok || len(word) > 40 || strings.ContainsAny(word, " \t") || i > 0 && t[i-1] != ' ' {
		return false
	}
	name, msg, _ := strings.Cut(rest, " | ")
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 2<<10 {
		return false
	}
	return c.event(l.No, word, strings.Clone(name), msg)
}

// suiteLine follows "SUITE-START | Running 12 tests" and "SUITE-END | took 3s".
func (c *mozlogConsole) suiteLine(no int, head string) bool {
	i := strings.Index(head, "SUITE-")
	if i < 0 || i > 0 && head[i-1] != ' ' {
		return false
	}
	switch {
	case strings.HasPrefix(head[i:], "SUITE-START | Running "):
		c.suite = no
	case strings.HasPrefix(head[i:], "SUITE-END | took "):
		c.suite = 0
	default:
		return false
	}
	return true
}

func (c *mozlogConsole) event(no int, word, name, msg string) bool {
	ended := strings.HasPrefix(msg, "took ")
	switch word {
	case "TEST-START":
		if len(c.open) < 10000 {
			c.open[name] = no
		}
	case "TEST-SKIP":
		delete(c.open, name)
		c.out.Test(model.Test{Name: name, Status: model.Skipped, Message: reasonOf(msg)})
	case "TEST-OK", "TEST-PASS", "TEST-FAIL", "TEST-ERROR", "TEST-TIMEOUT", "TEST-CRASH", "TEST-KNOWN-FAIL", "TEST-KNOWN-INTERMITTENT-OK", "TEST-KNOWN-INTERMITTENT-PASS", "TEST-KNOWN-INTERMITTENT-FAIL":
		// What is neither UNEXPECTED nor an end is one assertion's result.
		if ended || word == "TEST-OK" {
			c.ends(name)
		}
	case "PROCESS-CRASH":
		name, msg = crashed(name, msg)
		if hasAnySuffix(name, ".toml", ".ini", ".list") { // of a manifest, not of a test
			c.out.Problem(model.Problem{Kind: model.KindCrash, Name: name, File: name, Message: msg, At: no})
			break
		}
		c.fail(model.Test{Name: name, Kind: model.KindCrash, Message: msg, At: no})
	default:
		what, ok := strings.CutPrefix(word, "TEST-UNEXPECTED-")
		if !ok {
			return false
		}
		c.fail(model.Test{Name: name, Kind: unexpectedKind(what, msg), Type: "UNEXPECTED-" + what, Message: strings.TrimSpace(msg), At: no})
	}
	return true
}

// crashed returns the test and the signature of a crash. "PROCESS-CRASH | test | application crashed
// [@ signature]" is the older order; newer ones have the signature first, with or without the words
// before it: "PROCESS-CRASH | JS::Call [@ js::Call] | dom/test_a.html".
func crashed(name, msg string) (test, signature string) {
	rest, _, more := strings.Cut(msg, " | ")
	other := ""
	if more && !strings.Contains(msg, "application crashed") { // a signature can hold the separator
		i := strings.LastIndex(msg, " | ")
		rest, other = msg[i+3:], msg[:i]
	}
	rest = strings.TrimSpace(rest)
	switch {
	case rest == "":
		return name, msg
	case strings.HasPrefix(name, "application crashed"), !testPath(name) && testPath(rest) && !strings.Contains(rest, "application crashed"):
		return strings.Clone(rest), strings.TrimSuffix(name+" | "+other, " | ")
	}
	return name, msg
}

// testPath reports whether s is how a harness names a test, and not a signature of a function.
func testPath(s string) bool {
	if strings.ContainsAny(s, "[@(<") || strings.Contains(s, "::") {
		return false
	}
	return !strings.Contains(s, " ") && (strings.Contains(s, "/") || hasAnySuffix(s, ".js", ".html", ".xhtml", ".py", ".toml", ".ini", ".list", ".htm", ".svg", ".xml"))
}

func reasonOf(msg string) string {
	if strings.HasPrefix(msg, "took ") {
		return ""
	}
	return msg
}

// ends ends a test that went as expected, unless it said otherwise before.
func (c *mozlogConsole) ends(name string) {
	if _, ok := c.open[name]; !ok {
		return
	}
	delete(c.open, name)
	if _, bad := c.failed[name]; !bad {
		c.out.Test(model.Test{Name: name, Status: model.Passed})
	}
}

func unexpectedKind(what, msg string) model.Kind {
	switch {
	case what == "TIMEOUT", strings.HasPrefix(msg, "Test timed out"), strings.HasPrefix(msg, "application timed out"):
		return model.KindTimeout
	case what == "CRASH":
		return model.KindCrash
	case what == "ERROR", what == "NOTRUN":
		return model.KindError
	}
	return model.KindAssertion
}

// fail notes that t failed; what it says further is added to its trace.
func (c *mozlogConsole) fail(t model.Test) {
	t.Status = model.Failed
	if i, ok := c.failed[t.Name]; ok {
		old := &c.tests[i]
		if len(old.Trace) < c.lim.Text/4 {
			old.Trace += t.Message + "\n"
		}
		if t.Kind == model.KindCrash {
			old.Kind = model.KindCrash
		}
		return
	}
	if len(c.tests) >= c.lim.Failing {
		c.more++
		return
	}
	t.Message = bounded.CutText(strings.Clone(t.Message), c.lim.Text/4)
	c.failed[t.Name] = len(c.tests)
	c.tests = append(c.tests, t)
}

func (c *mozlogConsole) End() {
	unended, first := 0, ""
	for name, at := range c.open {
		if _, bad := c.failed[name]; bad {
			continue
		}
		if unended++; first == "" || at < c.open[first] {
			first = name
		}
	}
	for _, t := range c.tests {
		c.out.Test(t)
	}
	if c.more > 0 {
		c.out.Problem(model.Problem{Kind: model.KindExit, Name: "mozlog", Message: fmt.Sprintf("%d further unexpected results", c.more)})
	}
	if c.suite > 0 && unended == 0 {
		c.out.Problem(model.Problem{Kind: model.KindTruncated, Name: "mozlog", Message: "the suite started and never ended", At: c.suite})
	}
	if unended > 0 {
		c.out.Problem(model.Problem{Kind: model.KindTruncated, Name: first, Message: fmt.Sprintf("%d test(s) started and never ended; the first is %s", unended, first), At: c.open[first]})
	}
}

func hasAnySuffix(s string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}
