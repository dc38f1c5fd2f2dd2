package testreport

import (
	"fmt"
	"strings"
)

// surefireFormat reads what Maven prints: the tests of Surefire and Failsafe
// (2.x and 3.x), compiler errors, and why a goal failed.
var surefireFormat = format{
	name:  "surefire",
	order: 590,
	wakes: &wake{flush: digits + "[TRB", indent: "T", holds: '<'},
	console: func(out Sink, lim Limits) console {
		s := &surefireConsole{out: out, lim: lim, anon: newAnonymous(), diags: diagnosticSet{out: out, lim: lim}}
		s.reset()
		return s
	},
}

// surefireConsole reads one module after the other. Surefire prints a line per
// class, the failures of it, and at the end of a module its totals, which
// alone are exact where failing tests were run again.
type surefireConsole struct {
	out   Sink
	lim   Limits
	anon  *anonymous
	diags diagnosticSet

	scanned bool // Maven itself said that it began; its end must follow
	at      int
	module  surefireModule
	failed  int // tests and problems handed on since Maven began
	ended   bool
	tests   bool // any test line was seen since Maven began
	goal    *goalFailure
	crash   bool // a dead process was told of since Maven began
}

// surefireModule is one run of Surefire.
type surefireModule struct {
	open    bool
	at      int
	class   string // of the last line that ended one
	running string // of the last line that began one
	sum     mavenTotals
	tests   []*failure
	block   *failure
	framed  bool // a stack frame of the block was seen
	results bool // in the list at the end
	list    surefireList
	crash   *Problem
}

// mavenTotals is "Tests run: 3, Failures: 1, Errors: 0, Skipped: 0".
type mavenTotals struct{ tests, failures, errors, skipped, flakes int }

func (s *surefireConsole) reset() { s.module = surefireModule{} }

// mavenLevel takes off Maven's level and says which it was. Some log formats
// put the time of day before it.
func mavenLevel(t string) (level, rest string) {
	if len(t) > 9 && t[0] >= '0' && t[0] <= '9' {
		if i := strings.IndexByte(t[:min(len(t), 40)], '['); i > 0 && isIdent(t[:i], ":.,- +T") {
			t = t[i:]
		}
	}
	if len(t) < 6 || t[0] != '[' {
		return "", t
	}
	for _, l := range [...]string{"[INFO]", "[ERROR]", "[WARNING]", "[WARN]"} {
		if strings.HasPrefix(t, l) {
			return l[1 : len(l)-1], strings.TrimPrefix(t[len(l):], " ")
		}
	}
	return "", t
}

func (s *surefireConsole) idle() bool {
	return !s.scanned && !s.module.open && !s.module.results && s.module.block == nil && s.goal == nil
}

func (s *surefireConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			s.finish()
		}
		return false
	}
	s.at = l.No
	level, t := mavenLevel(l.Text)
	t = strings.TrimRight(t, " ")
	m := &s.module
	if t == "" {
		s.blank()
		return false
	}
	if level == "" && t[0] == '\t' {
		s.text(t)
		return false
	}
	switch {
	case strings.HasPrefix(t, "Tests run: "):
		return s.totals(t)
	case strings.Contains(t, "<<< "):
		if s.header(t) {
			return true
		}
	case level == "INFO" && t[0] == 'S' && strings.HasPrefix(t, "Scanning for projects..."):
		s.finish()
		s.scanned, s.ended = true, false
		return true
	case t[0] == 'R' && strings.HasPrefix(t, "Running "):
		return s.running(t[len("Running "):])
	case t[0] == 'R' && m.open && (t == "Results :" || t == "Results:"):
		s.closeBlock()
		m.results = true
		return true
	case t[0] == 'T' && t == "T E S T S" || t[0] == ' ' && t == " T E S T S":
		s.begin()
		return true
	case t[0] == 'B' && level == "INFO" && strings.HasPrefix(t, "BUILD "):
		return s.build(t[len("BUILD "):])
	}
	if level == "ERROR" || level == "WARNING" || level == "WARN" {
		if s.plugin(level, t) {
			return true
		}
	} else if s.goal != nil && !s.goal.pending {
		s.closeGoal()
	}
	if m.open && !m.results && isListHead(t) {
		s.closeBlock()
		m.results = true
	}
	if m.results {
		return m.list.line(t, l.No, s.lim)
	}
	if level == "INFO" {
		s.closeBlock()
		return false
	}
	s.text(t)
	return false
}

func (s *surefireConsole) begin() {
	s.closeBlock()
	if s.module.open && s.module.results {
		s.endModule(nil)
	}
	if !s.module.open {
		s.module.open, s.module.at = true, s.at
	}
	s.tests = true
}

// running notes the class that begins. "Running x" alone proves nothing.
func (s *surefireConsole) running(class string) bool {
	if !isIdent(class, ".$-") || !strings.Contains(class, ".") && !s.module.open {
		return false
	}
	s.closeBlock()
	s.module.running = strings.Clone(class)
	return s.module.open
}

func parseMavenTotals(t string) (mt mavenTotals, rest string, ok bool) {
	rest = t
	for {
		label, after, found := strings.Cut(rest, ": ")
		if !found {
			break
		}
		n, tail, isNum := leadingInt(after)
		if !isNum {
			break
		}
		switch label {
		case "Tests run":
			mt.tests, ok = n, true
		case "Failures":
			mt.failures = n
		case "Errors":
			mt.errors = n
		case "Skipped":
			mt.skipped = n
			return mt, tail, ok && strings.Contains(t, "Failures: ")
		case "Flakes":
			mt.flakes = n
		default:
			return mt, rest, false
		}
		rest = strings.TrimPrefix(tail, ", ")
	}
	return mt, rest, false // JUnit's own runner has no Skipped
}

// totals reads the line that ends a class, which has a time, or a module.
func (s *surefireConsole) totals(t string) bool {
	mt, rest, ok := parseMavenTotals(t)
	if !ok {
		return false
	}
	m := &s.module
	rest = strings.TrimPrefix(rest, ",")
	if !strings.Contains(rest, "Time elapsed: ") {
		if rest != "" && !strings.HasPrefix(rest, " ") {
			return false
		}
		if !m.open {
			s.begin()
		}
		s.endModule(&mt)
		return true
	}
	s.begin()
	m.class = m.running
	for _, sep := range [...]string{" -- in ", " - in "} {
		if i := strings.Index(rest, sep); i >= 0 {
			m.class = strings.Clone(strings.TrimSpace(rest[i+len(sep):]))
		}
	}
	m.sum.tests += mt.tests
	m.sum.failures += mt.failures
	m.sum.errors += mt.errors
	m.sum.skipped += mt.skipped
	return true
}

// header reads the line above a failure.
func (s *surefireConsole) header(t string) bool {
	name, rest, ok := strings.Cut(t, "Time elapsed: ")
	if !ok {
		return false
	}
	_, how, ok := strings.Cut(rest, "<<< ")
	how = strings.TrimSuffix(how, "!")
	if !ok || how != "FAILURE" && how != "ERROR" {
		return false
	}
	secs, _, _ := strings.Cut(rest, " ")
	name = strings.TrimSpace(strings.TrimSuffix(strings.TrimRight(name, " "), "--"))
	if name == "" {
		return false
	}
	s.begin()
	m := &s.module
	suite, test := surefireName(name, m.class)
	f := newFailure(Test{Suite: suite, Name: test, Status: Failed, Duration: spent(secs), At: s.at}, shrunk(s.lim, len(m.tests)))
	if how == "FAILURE" {
		f.t.Kind = KindAssertion
	}
	if name == suite || test == "initializationError" {
		f.t.Kind = KindSetup
	}
	m.block, m.framed = f, false
	if len(m.tests) < 5*s.lim.Failing {
		m.tests = append(m.tests, f)
	}
	return true
}

// surefireName splits "test(com.x.T)", "com.x.T.test", "test" or "com.x.T".
func surefireName(name, class string) (suite, test string) {
	if strings.HasSuffix(name, ")") {
		if i := strings.LastIndexByte(name, '('); i > 0 && isIdent(name[i+1:len(name)-1], ".$-") && (class == "" || !strings.HasPrefix(name, class+".")) {
			if in := name[i+1 : len(name)-1]; strings.Contains(in, ".") || in == class || class == "" {
				return in, strings.TrimSpace(name[:i])
			}
		}
	}
	switch {
	case class == "":
		base := name
		if i := strings.IndexAny(name, "([{"); i > 0 {
			base = name[:i]
		}
		if i := strings.LastIndexByte(base, '.'); i > 0 && isIdent(base, ".$") {
			return name[:i], name[i+1:]
		}
		return "", name
	case name == class:
		return class, class[strings.LastIndexByte(class, '.')+1:]
	case strings.HasPrefix(name, class+"."):
		return class, name[len(class)+1:]
	}
	// A suite runs other classes, a class its nested ones: com.x.T$Inner.test.
	base := name
	if i := strings.IndexAny(name, "([{ "); i > 0 {
		base = name[:i]
	}
	if i := strings.LastIndexByte(base, '.'); i > 0 && isIdent(base, ".$") {
		return name[:i], name[i+1:]
	}
	return class, name
}

func (s *surefireConsole) text(t string) {
	m := &s.module
	if m.block == nil {
		return
	}
	m.block.text.add(t)
	if t[0] == '\t' {
		m.framed = true
	}
}

func (s *surefireConsole) blank() {
	if m := &s.module; m.block != nil {
		if m.framed {
			s.closeBlock()
			return
		}
		m.block.text.add("")
	}
}

func (s *surefireConsole) closeBlock() { s.module.block = nil }

// build reads how Maven ended.
func (s *surefireConsole) build(how string) bool {
	if how != "SUCCESS" && how != "FAILURE" {
		return false
	}
	if s.module.open {
		s.endModule(nil)
	}
	s.ended = true
	if how == "FAILURE" && s.failed == 0 {
		s.goal = &goalFailure{problem: Problem{Kind: KindExit, Name: "maven", Message: "BUILD FAILURE", At: s.at}, pending: true}
	}
	return true
}

// finish ends a run of Maven: its step, or the log, is over.
func (s *surefireConsole) finish() {
	s.closeGoal()
	if s.module.open {
		s.endModule(nil)
	}
	if s.scanned && s.tests && !s.ended {
		s.problem(Problem{Kind: KindTruncated, At: s.at, Message: "the output of Maven ends before its result"})
	}
	s.scanned, s.tests, s.ended, s.failed, s.crash = false, false, false, 0, false
}

func (s *surefireConsole) end() { s.finish() }

func (s *surefireConsole) problem(p Problem) {
	s.failed++
	s.out.Problem(p)
}

// endModule hands on the tests of a module; without totals the classes' lines
// are all there is, and the module did not end.
func (s *surefireConsole) endModule(mt *mavenTotals) {
	m := &s.module
	s.closeBlock()
	sum := m.sum
	if mt != nil {
		sum = *mt
	}
	m.adopt(s.lim)
	failing := sum.failures + sum.errors
	named := 0
	for _, f := range attempts(m.tests, nil, failing) {
		t := f.jvm()
		if m.list.flaky[listKey(t.Suite, t.Name)] || mt != nil && failing == 0 {
			t.Flaky, t.Status, t.Retries = true, Passed, max(t.Retries, 1)
			if sum.tests > 0 {
				sum.tests--
				s.out.Test(t)
			}
			continue
		}
		named++
		s.failed++
		s.out.Test(t)
	}
	skipped := min(sum.skipped, max(sum.tests, 0))
	s.anon.emit(s.out, sum.tests-skipped-max(failing, named), Test{Status: Passed, At: m.at})
	s.anon.emit(s.out, skipped, Test{Status: Skipped, At: m.at})
	if failing > max(named, len(m.tests)) {
		s.problem(Problem{Kind: KindPackage, Name: firstOf(m.class, "surefire"), At: s.at, Message: fmt.Sprintf("%d failing test(s) stated, %d named", failing, named)})
	}
	if m.crash != nil {
		s.crash = true
		s.problem(*m.crash)
	} else if mt == nil {
		s.problem(Problem{Kind: KindTruncated, At: s.at, Message: "the output of Surefire ends before the totals of the module"})
	}
	s.reset()
}
