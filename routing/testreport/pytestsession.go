package testreport

import (
	"strings"
)

// pytestSession reads one session, from its start to its line of totals.
// Tests that failed are emitted at the end: their node ids, their traceback and
// their one-line message stand in three places of the output.
type pytestSession struct {
	out    Sink
	lim    Limits
	anon   *anonymous
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
	fatal    *Problem
	internal *kept
	internAt int
	now      Test // the test in hand
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

func newPytestSession(out Sink, lim Limits, anon *anonymous, prefix string, at int) *pytestSession {
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
	t = trimSpaces(t)
	if s.depth > 0 {
		if title, ok := ruled(t, '='); ok {
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
			if title, ok := ruled(t, '='); ok {
				return s.header(no, t, title)
			}
		case '!':
			if title, ok := ruled(t, '!'); ok {
				return s.interrupted(no, title)
			}
		case 'I':
			if strings.HasPrefix(t, "INTERNALERROR>") {
				return s.internalError(no, t)
			}
		case '+':
			if title, ok := ruled(t, '+'); ok && title == "Timeout" {
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

func (s *pytestSession) wholeFailure(no int, t string) (Problem, bool) {
	if t == "" || t[0] != 'E' && t[0] != 'F' || s.block != nil && s.block.captured {
		return Problem{}, false
	}
	return pytestUsage(t, no)
}

func (s *pytestSession) whole(p Problem) bool {
	if p.Kind == KindCoverage {
		if s.coverage {
			return true
		}
		s.coverage = true
	}
	s.problem(p)
	return true
}

func (s *pytestSession) problem(p Problem) {
	s.problems++
	s.out.Problem(p)
}

// header takes "==== title ====".
func (s *pytestSession) header(no int, t, title string) bool {
	if sum, ok := parsePytestTotals(title); ok {
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
	s.section = next
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
	switch {
	case strings.HasPrefix(title, "Interrupted: ") && strings.Contains(title, " during collection"),
		strings.HasPrefix(title, "stopping after "),
		strings.HasPrefix(title, "Interrupted: stopping after "),
		strings.HasPrefix(title, "xdist.dsession.Interrupted: stopping after "):
		return true // the failures themselves are named
	}
	s.closeBlock()
	s.section = pytestRest
	s.problem(Problem{Kind: KindExit, Name: "pytest", Message: title, At: no})
	return true
}

func (s *pytestSession) internalError(no int, t string) bool {
	if s.internal == nil {
		s.internal, s.internAt = &kept{max: s.lim.Text}, no
	}
	s.internal.add(strings.TrimPrefix(strings.TrimPrefix(t, "INTERNALERROR>"), " "))
	return true
}

// timeout takes pytest-timeout's banner. With its thread method the process
// ends right after; with its signal method a test fails and says so.
func (s *pytestSession) timeout(no int) bool {
	if s.fatal == nil {
		s.fatal = &Problem{Kind: KindTimeout, Name: s.running, Message: "pytest-timeout ended the session", At: no}
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
			s.emitNamed(no, id, Skipped, msg)
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
	t.Status, t.At, t.Flaky, t.Retries = Passed, no, false, 0
	s.name(t, id)
	if len(s.reruns) > 0 && s.reruns[id] > 0 {
		t.Flaky, t.Retries = true, s.reruns[id]
		delete(s.reruns, id)
	}
	hand(s.out, t)
}

func (s *pytestSession) emitNamed(no int, id string, st Status, msg string) {
	t := Test{Status: st, At: no, Message: msg}
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
