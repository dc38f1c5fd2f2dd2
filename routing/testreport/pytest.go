package testreport

import "strings"

// pytestFormat reads what pytest prints on a terminal, at any verbosity that
// prints a summary, also from xdist workers and several sessions in one log.
var pytestFormat = format{
	name:  "pytest",
	order: 370,
	wakes: &wake{flush: "IEF", ends: "=]s"},
	console: func(out Sink, lim Limits) console {
		return &pytestConsole{out: out, lim: lim, anon: newAnonymous()}
	},
}

// pytestConsole finds the sessions of a log; a pytestSession reads one.
type pytestConsole struct {
	out  Sink
	lim  Limits
	anon *anonymous
	s    *pytestSession
	// conftest is open between "ImportError while loading conftest" and the
	// line that says why; pytest ends there without a session.
	conftest *Problem
	// usage is open for the one line that may say what is wrong with it.
	usage *Problem
}

func (c *pytestConsole) idle() bool {
	return c.conftest == nil && c.usage == nil && c.s == nil
}

func (c *pytestConsole) line(l Line) bool {
	if c.conftest != nil && c.conftestLine(l) {
		return true
	}
	if c.usage != nil {
		p := *c.usage
		c.usage = nil
		if _, _, found := strings.Cut(l.Text, ": error: "); found {
			p.Message += "\n" + l.Text
			c.out.Problem(p)
			return true
		}
		c.out.Problem(p)
	}
	if c.s != nil {
		if stepOver(l) {
			c.close(false)
			return false
		}
		if l.Mark != "" {
			return false // an annotation repeats what the log says anyway
		}
		text, mine := strings.CutPrefix(l.Text, c.s.prefix)
		if !mine {
			return false
		}
		if text != "" && text[0] == '=' {
			if title, ok := ruled(text, '='); ok && isPytestStart(title) && !c.s.nest() {
				prefix := c.s.prefix
				c.close(false)
				c.start(prefix, l.No)
				return true
			}
		}
		claimed := c.s.line(l.No, text)
		if c.s.ended {
			c.close(true)
		}
		return claimed
	}
	return c.outside(l)
}

func (c *pytestConsole) end() {
	if c.conftest != nil {
		c.out.Problem(*c.conftest)
	}
	if c.usage != nil {
		c.out.Problem(*c.usage)
	}
	c.close(false)
}

func (c *pytestConsole) close(complete bool) {
	if c.s != nil {
		c.s.finish(complete)
		c.s = nil
	}
}

func isPytestStart(title string) bool {
	return title == "test session starts" || strings.HasPrefix(title, "test session starts (")
}

// outside looks for a session's start. With -q there is none: then the first
// section, or a bare line of progress or totals, opens it.
func (c *pytestConsole) outside(l Line) bool {
	t := l.Text
	n := len(t)
	if n < 5 {
		return false
	}
	switch {
	case t[n-1] == '=' || (t[n-1] == ' ' && strings.HasSuffix(strings.TrimRight(t, " "), "=")):
		return c.openRuled(l)
	case t[n-1] == ']' && isBareProgress(t):
		c.start("", l.No)
		return true
	case t[n-1] == 's' && t[0] >= '0' && t[0] <= '9':
		if sum, ok := parsePytestTotals(t); ok && sum.decimals == 2 {
			c.start("", l.No)
			c.s.total(sum)
			c.close(true)
			return true
		}
	case strings.HasPrefix(t, "ImportError while loading conftest '"):
		c.conftest = &Problem{Kind: KindSetup, Name: quoted(t), File: quoted(t), Message: t, At: l.No}
		return true
	case t[0] == 'E' || t[0] == 'F':
		if p, ok := pytestUsage(t, l.No); ok {
			if strings.HasPrefix(t, "ERROR: usage: ") {
				c.usage = &p
				return true
			}
			c.out.Problem(p)
			return true
		}
	}
	return false
}

func (c *pytestConsole) openRuled(l Line) bool {
	text, prefix := l.Text, ""
	if text[0] != '=' {
		// "web_1  | ==== test session starts ====" and the like.
		i := strings.Index(text, "=")
		if i <= 0 || i > 80 || !strings.Contains(text, " test session starts") {
			return false
		}
		prefix, text = text[:i], text[i:]
		if !strings.HasSuffix(prefix, "| ") && !strings.HasSuffix(prefix, ": ") && !strings.HasSuffix(prefix, "] ") {
			return false
		}
	}
	title, ok := ruled(text, '=')
	if !ok {
		return false
	}
	switch {
	case isPytestStart(title):
		c.start(prefix, l.No)
		return true
	case title == "FAILURES", title == "ERRORS", title == "short test summary info":
		c.start(prefix, l.No)
		return c.s.line(l.No, text)
	}
	return false
}

func (c *pytestConsole) start(prefix string, at int) {
	c.s = newPytestSession(c.out, c.lim, c.anon, prefix, at)
}

// conftestLine collects why a conftest could not be loaded.
func (c *pytestConsole) conftestLine(l Line) bool {
	p := c.conftest
	switch {
	case strings.HasPrefix(l.Text, "E   "):
		p.Message += "\n" + strings.TrimSpace(l.Text[1:])
	case l.Text != "" && l.Mark == "" && len(p.Trace) < c.lim.Text && (l.Text[0] == ' ' || strings.Contains(l.Text, ": in ")):
		p.Trace += l.Text + "\n"
		if file, line, _, ok := pytestLocation(l.Text); ok && !foreign(file) {
			p.File, p.Line = file, line
		}
	default:
		c.out.Problem(*p)
		c.conftest = nil
		return false
	}
	if len(p.Message) > c.lim.Text {
		p.Message = CutText(p.Message, c.lim.Text)
	}
	return true
}

// pytestUsage reads what pytest or pytest-cov says when it fails as a whole.
func pytestUsage(t string, at int) (Problem, bool) {
	switch {
	case strings.HasPrefix(t, "ERROR: file or directory not found: "),
		strings.HasPrefix(t, "ERROR: usage: pytest "),
		strings.HasPrefix(t, "ERROR: usage: __main__.py ["),
		strings.HasPrefix(t, "ERROR: usage: py.test "),
		strings.HasPrefix(t, "ERROR: not found: ") && strings.Contains(t, "::"),
		strings.HasPrefix(t, "ERROR: found no collectors for "):
		return Problem{Kind: KindSetup, Name: "pytest", Message: t, At: at}, true
	case strings.HasPrefix(t, "FAIL Required test coverage of "),
		strings.HasPrefix(t, "ERROR: Coverage failure: total of "):
		return Problem{Kind: KindCoverage, Name: "coverage", Message: t, At: at}, true
	}
	return Problem{}, false
}

// isBareProgress recognises "..F.s   [ 50%]" as -q prints it.
func isBareProgress(t string) bool {
	open := strings.LastIndexByte(t, '[')
	if open < 2 || !strings.HasSuffix(t, "%]") {
		return false
	}
	n, rest, ok := leadingInt(strings.TrimLeft(t[open+1:len(t)-2], " "))
	return ok && rest == "" && n <= 100 && t[0] != ' ' && onlyProgress(strings.TrimRight(t[:open], " "))
}

func onlyProgress(s string) bool {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(".FEsxXRr", s[i]) < 0 {
			return false
		}
	}
	return len(s) > 0
}

// quoted returns what stands between the first and the last single quote.
func quoted(s string) string { return quotedBy(s, '\'') }

func quotedBy(s string, q byte) string {
	i, j := strings.IndexByte(s, q), strings.LastIndexByte(s, q)
	if i < 0 || j <= i {
		return ""
	}
	return s[i+1 : j]
}

// pytestLocation reads the file and line at the start of a traceback line:
// "path.py:12: ValueError", "path.py:12: in f", `  File "path.py", line 12, in f`.
// what is the text behind, an exception's type or "in f".
func pytestLocation(t string) (file string, line int, what string, ok bool) {
	if rest, found := strings.CutPrefix(strings.TrimLeft(t, " "), `File "`); found {
		i := strings.Index(rest, `", line `)
		if i < 0 {
			return "", 0, "", false
		}
		n, after, isNum := leadingInt(rest[i+len(`", line `):])
		return rest[:i], n, strings.TrimPrefix(after, ", "), isNum && n > 0
	}
	if t == "" || t[0] == ' ' || t[0] == 'E' && strings.HasPrefix(t, "E  ") {
		return "", 0, "", false
	}
	for from := 0; from < min(len(t), 1<<10); {
		i := strings.IndexByte(t[from:], ':')
		if i < 0 {
			return "", 0, "", false
		}
		i += from
		n, after, isNum := leadingInt(t[i+1:])
		if i > 0 && isNum && n > 0 && (strings.HasPrefix(after, ": ") || after == ":") {
			return t[:i], n, strings.TrimSpace(after[1:]), true
		}
		from = i + 1
	}
	return "", 0, "", false
}

// pytestTotals is pytest's last line.
type pytestTotals struct {
	passed, failed, errors, skipped, xfailed, xpassed, reruns, deselected int
	empty                                                                 bool // "no tests ran"
	collected                                                             bool // --collect-only: nothing was to run
	decimals                                                              int  // of the seconds
}

// parsePytestTotals reads "2 failed, 3 passed in 1.23s" (without rules).
func parsePytestTotals(s string) (pytestTotals, bool) {
	var t pytestTotals
	i := strings.LastIndex(s, " in ")
	if i < 0 {
		return t, false
	}
	_, after, ok := leadingInt(s[i+4:])
	if !ok {
		return t, false
	}
	if strings.HasPrefix(after, ".") {
		_, rest, _ := leadingInt(after[1:])
		t.decimals = len(after) - 1 - len(rest)
		after = rest
	}
	unit := strings.TrimSpace(after)
	if !strings.HasPrefix(unit, "s") {
		return t, false
	}
	if j := strings.IndexByte(unit, ' '); j > 0 && !strings.HasPrefix(unit[j:], " (") {
		return t, false
	}
	if strings.HasPrefix(s, "no tests ran") || strings.HasPrefix(s, "no tests collected") {
		t.empty = true
		return t, true
	}
	for _, part := range strings.Split(s[:i], ", ") {
		n, word, ok := leadingInt(part)
		if !ok || !t.add(n, strings.TrimSpace(word)) {
			return t, false
		}
	}
	return t, true
}

func (t *pytestTotals) add(n int, word string) bool {
	switch word {
	case "passed", "subtests passed":
		if word == "passed" {
			t.passed = n
		}
	case "failed":
		t.failed = n
	case "error", "errors":
		t.errors = n
	case "skipped":
		t.skipped = n
	case "xfailed":
		t.xfailed = n
	case "xpassed":
		t.xpassed = n
	case "rerun", "reruns":
		t.reruns = n
	case "deselected":
		t.deselected = n
	case "tests collected", "test collected":
		t.collected = true
	default: // warnings, subtests, what plugins add
		return word != "" && !strings.ContainsAny(word, "0123456789:/()[]")
	}
	return true
}
