package python

import (
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// pytestFormat reads what pytest prints on a terminal, at any verbosity that
// prints a summary, also from xdist workers and several sessions in one log.
var pytestFormat = format.Format{
	Name:  "pytest",
	Order: 370,
	Wakes: &format.Wake{Flush: "IEF", Ends: "=]s"},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		return &pytestConsole{out: out, lim: lim, anon: model.NewAnonymous(lim)}
	},
}

// pytestConsole finds the sessions of a log; a pytestSession reads one.
type pytestConsole struct {
	out  model.Sink
	lim  model.Limits
	anon *model.Anonymous
	s    *pytestSession
	// conftest is open between "ImportError while loading conftest" and the
	// line that says why; pytest ends there without a session.
	conftest *model.Problem
	// usage is open for the one line that may say what is wrong with it.
	usage *model.Problem
}

func (c *pytestConsole) Idle() bool {
	return c.conftest == nil && c.usage == nil && c.s == nil
}

func (c *pytestConsole) Line(l lines.Line) bool {
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
		if lines.StepOver(l) {
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
			if title, ok := parse.Ruled(text, '='); ok && isPytestStart(title) && !c.s.nest() {
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

func (c *pytestConsole) End() {
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
func (c *pytestConsole) outside(l lines.Line) bool {
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
		c.conftest = &model.Problem{Kind: model.KindSetup, Name: parse.Quoted(t), File: parse.Quoted(t), Message: t, At: l.No}
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

func (c *pytestConsole) openRuled(l lines.Line) bool {
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
	title, ok := parse.Ruled(text, '=')
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
func (c *pytestConsole) conftestLine(l lines.Line) bool {
	p := c.conftest
	switch {
	case strings.HasPrefix(l.Text, "E   "):
		p.Message += "\n" + strings.TrimSpace(l.Text[1:])
	case l.Text != "" && l.Mark == "" && len(p.Trace) < c.lim.Text && (l.Text[0] == ' ' || strings.Contains(l.Text, ": in ")):
		p.Trace += l.Text + "\n"
		if file, line, _, ok := pytestLocation(l.Text); ok && !parse.Foreign(file) {
			p.File, p.Line = file, line
		}
	default:
		c.out.Problem(*p)
		c.conftest = nil
		return false
	}
	if len(p.Message) > c.lim.Text {
		p.Message = bounded.CutText(p.Message, c.lim.Text)
	}
	return true
}

// pytestUsage reads what pytest or pytest-cov says when it fails as a whole.
func pytestUsage(t string, at int) (model.Problem, bool) {
	switch {
	case strings.HasPrefix(t, "ERROR: file or directory not found: "),
		strings.HasPrefix(t, "ERROR: usage: pytest "),
		strings.HasPrefix(t, "ERROR: usage: __main__.py ["),
		strings.HasPrefix(t, "ERROR: usage: py.test "),
		strings.HasPrefix(t, "ERROR: not found: ") && strings.Contains(t, "::"),
		strings.HasPrefix(t, "ERROR: found no collectors for "):
		return model.Problem{Kind: model.KindSetup, Name: "pytest", Message: t, At: at}, true
	case strings.HasPrefix(t, "FAIL Required test coverage of "),
		strings.HasPrefix(t, "ERROR: Coverage failure: total of "):
		return model.Problem{Kind: model.KindCoverage, Name: "coverage", Message: t, At: at}, true
	}
	return model.Problem{}, false
}

// isBareProgress recognises "..F.s   [ 50%]" as -q prints it.
func isBareProgress(t string) bool {
	open := strings.LastIndexByte(t, '[')
	if open < 2 || !strings.HasSuffix(t, "%]") {
		return false
	}
	n, rest, ok := parse.LeadingInt(strings.TrimLeft(t[open+1:len(t)-2], " "))
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

// pytestLocation reads the file and line at the start of a traceback line:
// "path.py:12: ValueError", "path.py:12: in f", `  File "path.py", line 12, in f`.
// what is the text behind, an exception's type or "in f".
func pytestLocation(t string) (file string, line int, what string, ok bool) {
	if rest, found := strings.CutPrefix(strings.TrimLeft(t, " "), `File "`); found {
		i := strings.Index(rest, `", line `)
		if i < 0 {
			return "", 0, "", false
		}
		n, after, isNum := parse.LeadingInt(rest[i+len(`", line `):])
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
		n, after, isNum := parse.LeadingInt(t[i+1:])
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
	_, after, ok := parse.LeadingInt(s[i+4:])
	if !ok {
		return t, false
	}
	if strings.HasPrefix(after, ".") {
		_, rest, _ := parse.LeadingInt(after[1:])
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
		n, word, ok := parse.LeadingInt(part)
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

// pytestSession reads one session, from its start to its line of totals.
// Tests that failed are emitted at the end: their node ids, their traceback and
// their one-line message stand in three places of the output.
type pytestSession struct {
	out    model.Sink
	lim    model.Limits
	anon   *model.Anonymous
	prefix string // before every line, from docker compose and the like
	at     int    // line of the start
	ended  bool
	totals *pytestTotals

	section  pytestSection
	block    *pytestBlock
	lineTB   []pytestPlace // --tb=line
	blocks   int           // entries of FAILURES and ERRORS
	depth    int           // sessions inside captured output
	tests    []*pytestTest
	byID     map[string]*pytestTest
	byDomain map[string][]*pytestTest

	files    map[string]bool // test files seen, true if one of their tests failed
	running  string          // node id printed without a status
	lastFile string          // of the last plain node id; no bracket is in it
	verbose  bool            // statuses are printed with node ids
	named    pytestTotals    // emitted by name
	reruns   map[string]int
	problems int
	coverage bool
	fatal    *model.Problem
	internal *bounded.Block
	internAt int
	now      model.Test // the test in hand

	collected int           // tests to run, 0 if not known
	stopped   bool          // the session says that it ends early
	bare      int           // tests known when a summary began without a list of failures, else -1
	spare     *pytestTotals // totals that seem to be what a test printed
}

type pytestSection int

const (
	pytestProgress pytestSection = iota
	pytestFailures
	pytestErrors
	pytestQuietBlocks // PASSES, XFAILURES: blocks of tests that did not fail
	pytestSummary
	pytestRest // warnings, durations, what plugins print
)

// pytestTest is a test that failed, or what could not be collected.
type pytestTest struct {
	id     string // node id, "" if only the block's header is known
	domain string // what the header calls it: Class.test[param]
	phase  string // "", "collect", "setup", "teardown", "error" (not yet known which)
	short  string // message of the summary
	at     int
	block  *pytestBlock
}

func newPytestSession(out model.Sink, lim model.Limits, anon *model.Anonymous, prefix string, at int) *pytestSession {
	return &pytestSession{
		out: out, lim: lim, anon: anon, prefix: prefix, at: at,
		byID: map[string]*pytestTest{}, byDomain: map[string][]*pytestTest{},
		files: map[string]bool{}, reruns: map[string]int{},
	}
}

// nest reports whether a session's start is what a test printed: tests of
// pytest plugins run pytest, and failing ones show its output.
func (s *pytestSession) nest() bool {
	if s.depth == 0 && (s.block == nil || !s.block.captured) {
		return false
	}
	s.depth++
	return true
}

// line takes a line of the session.
func (s *pytestSession) line(no int, t string) bool {
	t = parse.TrimSpaces(t)
	if s.depth > 0 {
		if title, ok := parse.Ruled(t, '='); ok {
			if _, isTotal := parsePytestTotals(title); isTotal {
				s.depth--
			}
		}
		s.block.add(no, t)
		return true
	}
	if len(t) > 0 {
		switch t[0] {
		case '=':
			if title, ok := parse.Ruled(t, '='); ok {
				return s.header(no, t, title)
			}
		case '!':
			if title, ok := parse.Ruled(t, '!'); ok {
				return s.interrupted(no, title)
			}
		case 'I':
			if strings.HasPrefix(t, "INTERNALERROR>") {
				return s.internalError(no, t)
			}
		case '+':
			if title, ok := parse.Ruled(t, '+'); ok && title == "Timeout" {
				return s.timeout(no)
			}
		}
	}
	if mayEndPytest(t) {
		if sum, ok := s.bareTotals(t); ok {
			s.total(sum)
			return true
		}
		if p, ok := s.wholeFailure(no, t); ok {
			return s.whole(p)
		}
	}
	switch s.section {
	case pytestFailures, pytestErrors, pytestQuietBlocks:
		return s.inBlocks(no, t)
	case pytestSummary:
		return s.inSummary(no, t)
	case pytestProgress:
		return s.progress(no, t)
	}
	return false
}

// mayEndPytest spares most lines the tests of bareTotals and wholeFailure.
func mayEndPytest(t string) bool {
	return t != "" && (t[0] >= '0' && t[0] <= '9' || t[0] == 'n' || t[0] == 'E' || t[0] == 'F')
}

// bareTotals reads the last line as -q prints it.
func (s *pytestSession) bareTotals(t string) (pytestTotals, bool) {
	if t == "" || (t[0] < '0' || t[0] > '9') && !strings.HasPrefix(t, "no tests ran in ") {
		return pytestTotals{}, false
	}
	sum, ok := parsePytestTotals(t)
	if ok && s.block != nil && s.block.captured && sum.failed+sum.errors != s.blocks {
		// What a test printed can only be taken for the end if nothing is missing.
		return sum, false
	}
	return sum, ok
}

func (s *pytestSession) wholeFailure(no int, t string) (model.Problem, bool) {
	if t == "" || t[0] != 'E' && t[0] != 'F' || s.block != nil && s.block.captured {
		return model.Problem{}, false
	}
	return pytestUsage(t, no)
}

func (s *pytestSession) whole(p model.Problem) bool {
	if p.Kind == model.KindCoverage {
		if s.coverage {
			return true
		}
		s.coverage = true
	}
	s.problem(p)
	return true
}

func (s *pytestSession) problem(p model.Problem) {
	s.problems++
	s.out.Problem(p)
}

// header takes "==== title ====".
func (s *pytestSession) header(no int, t, title string) bool {
	if sum, ok := parsePytestTotals(title); ok {
		if s.printed(sum) {
			if s.block != nil {
				s.block.add(no, t)
			}
			return true
		}
		s.closeBlock()
		s.total(sum)
		return true
	}
	next := pytestRest
	switch {
	case title == "FAILURES":
		next = pytestFailures
	case title == "ERRORS":
		next = pytestErrors
	case title == "PASSES", title == "XFAILURES", title == "XPASSES":
		next = pytestQuietBlocks
	case title == "short test summary info", title == "rerun test summary info":
		next = pytestSummary
	case s.block != nil && s.block.captured && !endsPytestBlocks(title):
		s.block.add(no, t)
		return true
	}
	s.closeBlock()
	if next == pytestSummary && s.section == pytestProgress {
		s.bare = len(s.tests)
	} else if next != pytestRest || s.section != pytestSummary {
		s.bare = -1
	}
	s.section = next
	return true
}

// printed reports whether totals are what a test printed: they stand in captured
// output, and their failures are not those listed; or no failure was listed
// before, and not all that was collected is in them.
func (s *pytestSession) printed(sum pytestTotals) bool {
	bad := sum.failed + sum.errors
	if s.block != nil && s.block.captured {
		return bad != s.blocks || s.section == pytestQuietBlocks && sum.passed == 0
	}
	if s.section != pytestProgress && (s.section != pytestSummary || s.bare < 0) || s.stopped || s.collected == 0 {
		return false
	}
	all := sum.passed + sum.failed + sum.skipped + sum.xfailed + sum.xpassed
	if all+sum.errors >= s.collected || sum.deselected > 0 {
		return false
	}
	if s.spare == nil {
		s.spare = &sum
	}
	if s.section == pytestSummary {
		for _, t := range s.tests[min(s.bare, len(s.tests)):] {
			delete(s.byID, t.id+"\x00"+phaseKey(t.phase))
		}
		s.tests = s.tests[:min(s.bare, len(s.tests))]
		s.section = pytestProgress
	}
	return true
}

// endsPytestBlocks recognises sections that certainly are pytest's own and not
// part of what a test printed.
func endsPytestBlocks(title string) bool {
	for _, p := range [...]string{"warnings summary", "pytest-warning summary", "slowest ", "tests coverage"} {
		if strings.HasPrefix(title, p) {
			return true
		}
	}
	return false
}

func (s *pytestSession) total(sum pytestTotals) {
	s.totals, s.ended = &sum, true
}

// interrupted takes "!!!! title !!!!".
func (s *pytestSession) interrupted(no int, title string) bool {
	if s.block != nil && s.block.captured {
		s.block.add(no, title)
		return true
	}
	s.stopped = true
	switch {
	case strings.HasPrefix(title, "Interrupted: ") && strings.Contains(title, " during collection"),
		strings.HasPrefix(title, "stopping after "),
		strings.HasPrefix(title, "Interrupted: stopping after "),
		strings.HasPrefix(title, "xdist.dsession.Interrupted: stopping after "):
		return true // the failures themselves are named
	}
	s.closeBlock()
	s.section = pytestRest
	s.problem(model.Problem{Kind: model.KindExit, Name: "pytest", Message: title, At: no})
	return true
}

func (s *pytestSession) internalError(no int, t string) bool {
	if s.internal == nil {
		s.internal, s.internAt = &bounded.Block{Max: s.lim.Text}, no
	}
	s.internal.Add(strings.TrimPrefix(strings.TrimPrefix(t, "INTERNALERROR>"), " "))
	return true
}

// timeout takes pytest-timeout's banner. With its thread method the process
// ends right after; with its signal method a test fails and says so.
func (s *pytestSession) timeout(no int) bool {
	if s.fatal == nil {
		s.fatal = &model.Problem{Kind: model.KindTimeout, Name: s.running, Message: "pytest-timeout ended the session", At: no}
	}
	return true
}

// inSummary takes a line of "short test summary info".
func (s *pytestSession) inSummary(no int, t string) bool {
	word, rest, ok := strings.Cut(t, " ")
	if !ok {
		return false
	}
	if i := strings.IndexByte(word, '('); i > 0 { // SUBFAILED(i=1)
		word = word[:i]
	}
	if d, id, found := strings.Cut(rest, " "); found && isDuration(d) {
		rest = id
	}
	switch word {
	case "FAILED", "FAIL", "SUBFAIL", "SUBFAILED":
		id, msg := splitNodeID(rest)
		s.fail(no, id, "", msg)
	case "ERROR":
		id, msg := splitNodeID(rest)
		s.fail(no, id, "error", msg)
	case "PASSED", "XPASS":
		id, _ := splitNodeID(rest)
		s.passed(no, id)
	case "XFAIL":
		id, msg := splitNodeID(rest)
		if !s.verbose {
			s.named.xfailed++
			s.emitNamed(no, id, model.Skipped, msg)
		}
	case "RERUN":
		id, _ := splitNodeID(rest)
		if !s.verbose {
			s.rerun(id)
		}
	case "SKIPPED", "SUBPASS", "SUBPASSED", "SUBSKIP", "SUBSKIPPED":
		// "SKIPPED [2] tests/test_a.py:3: reason" names no test.
	default:
		return false
	}
	return true
}

// passed takes a test that passed by name. A RERUN before makes it flaky.
func (s *pytestSession) passed(no int, id string) {
	if s.verbose && s.section == pytestSummary {
		return // known from the progress
	}
	s.named.passed++
	t := &s.now // no other field of it is ever set
	t.Status, t.At, t.Flaky, t.Retries = model.Passed, no, false, 0
	s.name(t, id)
	if len(s.reruns) > 0 && s.reruns[id] > 0 {
		t.Flaky, t.Retries = true, s.reruns[id]
		delete(s.reruns, id)
	}
	model.Hand(s.out, t)
}

func (s *pytestSession) emitNamed(no int, id string, st model.Status, msg string) {
	t := model.Test{Status: st, At: no, Message: msg}
	s.name(&t, id)
	s.out.Test(t)
}

func (s *pytestSession) rerun(id string) {
	if n := s.reruns[id]; n > 0 {
		s.reruns[id] = n + 1
	} else if len(s.reruns) < s.lim.Failing {
		s.reruns[strings.Clone(id)] = 1
	}
}

// fail notes that the test id failed. The phase is that of an ERROR.
func (s *pytestSession) fail(no int, id, phase, msg string) *pytestTest {
	if phase == "error" && !strings.Contains(id, "::") {
		phase = "collect"
	}
	key := id + "\x00" + phaseKey(phase)
	if t := s.byID[key]; t != nil {
		if msg != "" {
			t.short = strings.Clone(msg)
		}
		return t
	}
	id, msg = strings.Clone(id), strings.Clone(msg) // kept to the session's end
	domain := domainOf(id)
	if phase == "collect" {
		domain = id
	}
	if t := s.unmatched(domain, phase, func(t *pytestTest) bool { return t.id == "" && t.block.sawFile(fileOf(id)) },
		func(t *pytestTest) bool { return t.id == "" }); t != nil {
		t.id, t.short = id, msg
		s.byID[key] = t
		return t
	}
	t := &pytestTest{id: id, domain: domain, phase: phase, short: msg, at: no}
	s.add(t)
	s.byID[key] = t
	return t
}

func phaseKey(phase string) string {
	if phase == "" {
		return ""
	}
	return "error"
}

func (s *pytestSession) add(t *pytestTest) {
	if len(s.tests) >= 20*s.lim.Failing {
		return // counted by the totals
	}
	s.tests = append(s.tests, t)
	k := phaseKey(t.phase) + "\x00" + t.domain
	s.byDomain[k] = append(s.byDomain[k], t)
}

// unmatched returns the first test of the domain that best accepts, else the
// first that good accepts, and takes it off the list.
func (s *pytestSession) unmatched(domain, phase string, best, good func(*pytestTest) bool) *pytestTest {
	k := phaseKey(phase) + "\x00" + domain
	list := s.byDomain[k]
	for _, accept := range []func(*pytestTest) bool{best, good} {
		for i, t := range list[:min(len(list), 50)] {
			if accept(t) {
				s.byDomain[k] = append(list[:i:i], list[i+1:]...)
				return t
			}
		}
	}
	return nil
}

// progress takes a line before the first section.
func (s *pytestSession) progress(no int, t string) bool {
	if t == "" {
		return false
	}
	if rest, ok := strings.CutPrefix(t, "collected "); ok && s.collected == 0 {
		if n, more, ok := parse.LeadingInt(rest); ok && (more == " item" || more == " items") {
			s.collected = n
			return true
		}
	}
	if id, st, ok := s.plainStatus(t); ok {
		s.status(no, id, st)
		return true
	}
	if i := strings.Index(t, " Fatal Python error: "); i > 0 && isNodeID(strings.TrimSpace(t[:i])) {
		s.running, t = strings.TrimSpace(t[:i]), t[i+1:]
	}
	if strings.HasPrefix(t, "Fatal Python error: ") {
		s.fatal = &model.Problem{Kind: model.KindCrash, Name: s.running, Message: t, At: no}
		return true
	}
	if s.fatal != nil && s.fatal.Kind == model.KindCrash && strings.HasPrefix(t, `  File "`) && len(s.fatal.Trace) < s.lim.Text {
		s.fatal.Trace += t + "\n"
		if file, line, _, ok := pytestLocation(t); ok && s.fatal.File == "" && !parse.Foreign(file) {
			s.fatal.File, s.fatal.Line = file, line
		}
		return true
	}
	if strings.Contains(t, "::") && s.verboseLine(no, t) {
		return true
	}
	if s.running != "" {
		if st, ok := statusAlone(t); ok {
			s.status(no, s.running, st)
			return true
		}
	}
	return s.fileProgress(t)
}

// plainStatus reads "id STATUS [ 50%]" where the id has no blank, which is what
// nearly all lines of a long run are. It says yes only where verboseLine would
// say the same.
func (s *pytestSession) plainStatus(t string) (id, st string, ok bool) {
	if t[0] == ' ' || t[0] == '[' {
		return "", "", false
	}
	if t[len(t)-1] == ']' {
		i := len(t) - 2
		if i < 0 || t[i] != '%' {
			return "", "", false
		}
		for i--; i >= 0 && t[i] >= '0' && t[i] <= '9'; i-- {
		}
		if i == len(t)-3 {
			return "", "", false
		}
		for i >= 0 && t[i] == ' ' {
			i--
		}
		if i < 1 || t[i] != '[' || t[i-1] != ' ' {
			return "", "", false
		}
		t = parse.TrimSpaces(t[:i])
	}
	end := len(t)
	for end > 0 && t[end-1] != ' ' {
		end--
	}
	if end == 0 || !isStatus(t[end:]) {
		return "", "", false
	}
	id = parse.TrimSpaces(t[:end])
	if strings.IndexByte(id, ' ') >= 0 {
		return "", "", false
	}
	if s.inLastFile(id) {
		return id, t[end:], true
	}
	if !isNodeID(id) {
		return "", "", false
	}
	if file := fileOf(id); strings.IndexByte(file, '[') < 0 {
		s.lastFile = strings.Clone(file)
	}
	return id, t[end:], true
}

// inLastFile reports whether the node id is one of a test in the file of the
// last one. Tests in a row mostly are.
func (s *pytestSession) inLastFile(id string) bool {
	i := len(s.lastFile)
	return i > 0 && len(id) > i+2 && id[i] == ':' && id[i+1] == ':' && id[:i] == s.lastFile
}

// name sets what the node id says of a test.
func (s *pytestSession) name(t *model.Test, id string) {
	if s.inLastFile(id) {
		i := len(s.lastFile)
		head := id[i+2:]
		if head[len(head)-1] == ']' {
			if j := strings.IndexByte(head, '['); j >= 0 {
				head = head[:j]
			}
		}
		if t.File = id[:i]; id[i+2] != ':' && !strings.Contains(head, "::") {
			t.Suite, t.Name = id[:i], id[i+2:]
			return
		}
	}
	t.File = fileOf(id)
	t.Suite, t.Name = suiteAndName(id)
}

// verboseLine reads "id STATUS [ 50%]" and xdist's "[gw0] [ 50%] STATUS id".
func (s *pytestSession) verboseLine(no int, t string) bool {
	if strings.HasPrefix(t, "[gw") {
		i := strings.IndexByte(t, ']')
		rest := strings.TrimLeft(t[i+1:], " ")
		if strings.HasPrefix(rest, "[") {
			rest = strings.TrimLeft(rest[strings.IndexByte(rest, ']')+1:], " ")
		}
		st, id, ok := strings.Cut(rest, " ")
		if !ok || !isStatus(st) {
			return false
		}
		s.status(no, strings.TrimSpace(id), st)
		return true
	}
	if t[0] == ' ' {
		return false
	}
	t = trimPercent(t)
	if id, st, ok := splitStatus(t); ok && isNodeID(id) {
		s.status(no, id, st)
		return true
	}
	if s.verbose || s.running == "" {
		if id, _, _ := strings.Cut(t, " "); isNodeID(id) && (len(t) == len(id) || s.verbose) {
			s.running = id
			return true
		}
	}
	return false
}

// trimPercent removes "[ 50%]", "[12/340]" and a duration "[0.12s]" at the end.
func trimPercent(t string) string {
	if !strings.HasSuffix(t, "]") {
		return t
	}
	i := strings.LastIndexByte(t, '[')
	if i <= 0 || t[i-1] != ' ' {
		return t
	}
	in := strings.TrimSpace(t[i+1 : len(t)-1])
	_, rest, ok := parse.LeadingInt(in)
	switch {
	case ok && (rest == "%" || strings.HasPrefix(rest, "/")):
		return trimDuration(strings.TrimRight(t[:i], " "))
	case ok && strings.HasSuffix(rest, "s"):
		return trimDuration(t)
	}
	return t
}

// trimDuration removes "[0.12s]" at the end, which some projects add to a status.
func trimDuration(t string) string {
	if !strings.HasSuffix(t, "s]") {
		return t
	}
	i := strings.LastIndex(t, " [")
	if i > 0 && isDuration(t[i+1:]) {
		return strings.TrimRight(t[:i], " ")
	}
	return t
}

func isDuration(s string) bool {
	if len(s) < 4 || s[0] != '[' || !strings.HasSuffix(s, "s]") {
		return false
	}
	_, err := strconv.ParseFloat(s[1:len(s)-2], 64)
	return err == nil
}

// splitStatus cuts "id STATUS" or "id SKIPPED (reason)" at the status.
func splitStatus(t string) (id, st string, ok bool) {
	if i := strings.LastIndexByte(t, ' '); i >= 0 && isStatus(t[i+1:]) {
		return parse.TrimSpaces(t[:i]), t[i+1:], true
	}
	if !strings.HasSuffix(t, ")") && !strings.HasSuffix(t, "...") {
		return "", "", false
	}
	for _, w := range [...]string{" SKIPPED (", " XFAIL (", " XPASS (", " PASSED (", " FAILED (", " ERROR ("} {
		if i := strings.Index(t, w); i > 0 {
			return strings.TrimRight(t[:i], " "), w[1 : len(w)-2], true
		}
	}
	return "", "", false
}

// isStatus recognises the words behind a node id with -v.
func isStatus(w string) bool {
	switch w {
	case "PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS", "RERUN", "xfail", "xpass":
		return true
	}
	return false
}

// statusAlone reads a status on a line of its own: the test printed something
// between its name and its end. Its last output may stand before the status.
func statusAlone(t string) (string, bool) {
	t = trimPercent(t)
	w, _, _ := strings.Cut(t, " ")
	if isStatus(w) && (len(w) == len(t) || strings.HasPrefix(t[len(w):], " (") && (w == "SKIPPED" || w == "XFAIL" || w == "XPASS")) {
		return w, true
	}
	return "", false
}

// isNodeID recognises "path::name". The path has no space, the name may.
func isNodeID(id string) bool {
	i := strings.Index(id, "::")
	if i <= 0 || i+2 >= len(id) {
		return false
	}
	file := id[:i]
	return !strings.ContainsAny(file, " \t\"'<>") && strings.Contains(file, ".")
}

// status takes the outcome of one test.
func (s *pytestSession) status(no int, id, st string) {
	s.verbose, s.running = true, ""
	switch st {
	case "PASSED", "XPASS", "xpass":
		s.passed(no, id)
	case "SKIPPED":
		s.named.skipped++
		s.emitNamed(no, id, model.Skipped, "")
	case "XFAIL", "xfail":
		s.named.xfailed++
		s.emitNamed(no, id, model.Skipped, "")
	case "RERUN":
		s.rerun(id)
	case "FAILED":
		s.fail(no, id, "", "")
		s.noteFile(fileOf(id), true)
	case "ERROR":
		s.fail(no, id, "error", "")
	}
}

// fileProgress reads "tests/test_a.py ..F.s   [ 50%]" and its continuations.
func (s *pytestSession) fileProgress(t string) bool {
	if strings.HasSuffix(t, "%]") && isBareProgress(t) {
		return true
	}
	if t[0] == ' ' || !strings.Contains(t, ".py ") {
		return false
	}
	file, rest, _ := strings.Cut(trimPercent(t), " ")
	if !strings.HasSuffix(file, ".py") || !onlyProgress(strings.TrimSpace(rest)) {
		return false
	}
	s.noteFile(file, strings.Contains(rest, "F"))
	return true
}

func (s *pytestSession) noteFile(file string, failed bool) {
	if len(s.files) >= 20000 {
		return
	}
	if was, known := s.files[file]; !known {
		s.files[strings.Clone(file)] = failed
	} else if failed && !was {
		s.files[file] = true
	}
}

// splitNodeID cuts "id - message". Parameters may hold " - " themselves: a
// cut inside an open bracket is none.
func splitNodeID(s string) (id, msg string) {
	if strings.HasPrefix(s, "[") { // pytest-subtests: "[i=1] path::test"
		if i := strings.Index(s, "] "); i > 0 && strings.Contains(s[i:], "::") {
			s = s[i+2:]
		}
	}
	depth, from := 0, 0
	for i := 0; i+3 <= len(s); i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth > 0 {
				depth--
			}
		case ' ':
			if s[i:i+3] != " - " {
				continue
			}
			if depth == 0 {
				return s[:i], s[i+3:]
			}
			if from == 0 {
				from = i
			}
		}
	}
	// Unbalanced: a parameter with a single bracket. The last " - " behind a
	// closing bracket is the cut, else the first.
	if i := strings.LastIndex(s, "] - "); i > 0 {
		return s[:i+1], s[i+4:]
	}
	if from > 0 && !strings.HasSuffix(s, "]") {
		return s[:from], s[from+3:]
	}
	return s, ""
}

// suiteAndName cuts a node id at its last "::" outside the parameters.
func suiteAndName(id string) (suite, name string) {
	head := id
	if strings.HasSuffix(id, "]") {
		if i := strings.IndexByte(id, '['); i > 0 {
			head = id[:i]
		}
	}
	for i := len(head) - 2; i >= 0; i-- {
		if head[i] == ':' && head[i+1] == ':' {
			return id[:i], id[i+2:]
		}
	}
	return "", id
}

func fileOf(id string) string {
	file, _, found := strings.Cut(id, "::")
	if !found && !strings.HasSuffix(id, ".py") {
		return ""
	}
	return file
}

// domainOf returns what a block's header calls the test id.
func domainOf(id string) string {
	_, rest, found := strings.Cut(id, "::")
	if !found {
		return id
	}
	if i := strings.IndexByte(rest, '['); i >= 0 {
		return strings.ReplaceAll(rest[:i], "::", ".") + rest[i:]
	}
	return strings.ReplaceAll(rest, "::", ".")
}
