package testreport

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/diagnosis/multimatch"
)

// sbtFormat reads the tests that sbt runs (ScalaTest, specs2, MUnit, uTest,
// JUnit), the compiler's messages, and ScalaTest's console without sbt.
var sbtFormat = format{
	name:  "sbt",
	order: 740,
	wakes: &wake{flush: "[RT=", holds: '*'},
	console: func(out Sink, lim Limits) console {
		c := &countingSink{Sink: out}
		s := &sbtConsole{out: c, lim: lim, anon: newAnonymous(), diags: diagnosticSet{out: c, lim: lim}}
		s.reset()
		return s
	},
}

type sbtConsole struct {
	out   *countingSink
	lim   Limits
	anon  *anonymous
	diags diagnosticSet

	at     int
	seen   bool // sbt's or ScalaTest's own lines
	suite  string
	path   []scalaTitle
	tests  []*failure
	cur    *failure
	placed bool // its text has the place, which stands last
	indent int
	// ScalaTest's totals, which sbt's own repeat over all frameworks.
	counted bool
	list    string
	ran     bool
	problem bool
	aborted int // suites named as that
}

type scalaTitle struct {
	indent int
	title  string
}

func (s *sbtConsole) reset() {
	*s = sbtConsole{out: s.out, lim: s.lim, anon: s.anon, diags: s.diags}
}

var (
	scalaTotals = multimatch.New(`^Tests: succeeded (\d+), failed (\d+), canceled (\d+), ignored (\d+), pending (\d+)`)
	sbtTotals   = multimatch.New(`^(Passed|Failed|Error): Total (\d+), Failed (\d+), Errors (\d+), Passed (\d+)(?:, (?:Skipped|Ignored|Canceled|Pending) \d+)*$`)
	scalaPlace  = multimatch.New(`\(([\w$-]+\.scala):(\d+)\)`)
	munitFail   = multimatch.New(`^==> X (\S.*?)  ?(\d+(?:\.\d+)?)s ?(.*)$`)
	sbtJUnit    = multimatch.New(`^Test ([\w.$]+)\.([^.\s]\S*) failed: (.*?)(?:, took ([\d.]+)(?: sec|s))?$`)
	utestFail   = multimatch.New(`^X ([\w.$]+(?:\.[^.]+)+) (\d+)ms ?$`)
	sbtError    = multimatch.New(`^((?:[A-Za-z]:)?/[^:]+\.(?:scala|java|sbt|sc)):(\d+)(?::(\d+))?: (?:error: )?(.+)$`)
	scala3Error = multimatch.New(`^-- (?:\[(E\d+)\] )?(.*?)(Error|Warning): (\S.*?):(\d+):(\d+) -*$`)
	sbtTask     = multimatch.New(`^\((.+?)\) (.+)$`)
)

func (s *sbtConsole) idle() bool {
	return !s.seen && s.cur == nil
}

func (s *sbtConsole) line(l Line) bool {
	if l.Mark != "" {
		if stepOver(l) {
			s.end()
		}
		return false
	}
	t := l.Text
	level := ""
	if len(t) > 5 && t[0] == '[' {
		for _, v := range [...]string{"[info]", "[error]", "[warn]", "[success]"} {
			if strings.HasPrefix(t, v) {
				level, t = v[1:len(v)-1], strings.TrimPrefix(t[len(v):], " ")
				break
			}
		}
	}
	if level == "" && !s.seen && !strings.Contains(t, "*** FAILED ***") && !strings.HasPrefix(t, "Run starting. Expected test count is:") && !strings.HasPrefix(t, "Tests: succeeded ") && !strings.HasPrefix(t, "==> X ") {
		return false
	}
	s.at = l.No
	t = strings.TrimRight(t, " ")
	if t == "" {
		s.list = ""
		if s.cur != nil {
			s.cur.text.add("")
		}
		return false
	}
	return s.read(level, t)
}

func (s *sbtConsole) read(level, t string) bool {
	switch t[0] {
	case 'R':
		if strings.HasPrefix(t, "Run completed in ") || strings.HasPrefix(t, "Run starting. Expected test count is:") {
			s.seen, s.cur = true, nil
			s.ran = s.ran || strings.HasPrefix(t, "Run starting")
			return true
		}
	case 'S':
		if _, n, ok := strings.Cut(t, ", aborted "); ok && s.seen && strings.HasPrefix(t, "Suites: completed ") {
			s.abort(n)
			return true
		}
	case 'T':
		if m := scalaTotals.FindStringSubmatch(t); m != nil {
			s.scalaTest(m)
			return true
		}
		if m := sbtJUnit.FindStringSubmatch(t); m != nil && level == "error" {
			f := s.fail(m[1], m[2], spentKind{m[4], ""})
			f.text.add(m[3])
			s.indent = 0
			return true
		}
	case 'P', 'E':
		if m := sbtTotals.FindStringSubmatch(t); m != nil {
			s.totals(m)
			return true
		}
	case 'F':
		if m := sbtTotals.FindStringSubmatch(t); m != nil {
			s.totals(m)
			return true
		}
		if t == "Failed tests:" && level == "error" {
			s.cur, s.list = nil, "failed"
			return true
		}
	case '*':
		if strings.HasPrefix(t, "*** ") && (strings.HasSuffix(t, " FAILED ***") || strings.HasSuffix(t, " ABORTED ***")) && s.seen {
			s.cur = nil
			return true
		}
	case '=':
		if m := munitFail.FindStringSubmatch(t); m != nil {
			s.munit(m)
			return true
		}
	case '\t':
		if s.list != "" {
			s.listed(strings.TrimSpace(t))
			return true
		}
	case '(':
		if m := sbtTask.FindStringSubmatch(t); m != nil && level == "error" {
			s.task(m[1], m[2])
			return true
		}
	}
	if level == "error" && strings.HasPrefix(t, "Error during tests:") {
		s.cur, s.list = nil, "error"
		return true
	}
	if (level == "error" || level == "warn") && s.compiler(level, t) {
		return true
	}
	return s.tree(level, t)
}

// tree reads the tests' own lines.
func (s *sbtConsole) tree(level, t string) bool {
	trimmed := strings.TrimLeft(t, " ")
	indent := len(t) - len(trimmed)
	if name, ok := strings.CutSuffix(trimmed, " *** FAILED ***"); ok || strings.Contains(trimmed, " *** FAILED *** (") {
		if !ok {
			name, _, _ = strings.Cut(trimmed, " *** FAILED *** (")
		}
		name, bullet := strings.CutPrefix(name, "- ")
		if !bullet && indent == 0 && level == "" && !s.seen {
			return false
		}
		s.seen = true
		s.trim(indent)
		s.fail(s.where(), name, spentKind{})
		s.indent = indent
		return true
	}
	if strings.HasSuffix(trimmed, "*** ABORTED ***") && s.seen {
		name := strings.TrimSpace(strings.TrimSuffix(trimmed, "*** ABORTED ***"))
		s.cur = nil
		s.aborted++
		s.out.Problem(Problem{Kind: KindSetup, Name: strings.Clone(name), Message: "the suite was aborted", At: s.at})
		return true
	}
	if level == "error" {
		if name, ok := strings.CutPrefix(trimmed, "x "); ok && s.seen || ok && indent > 0 { // specs2
			s.trim(indent)
			s.fail(s.where(), name, spentKind{})
			s.indent = indent
			return true
		}
		if name, ok := strings.CutPrefix(trimmed, "! "); ok && indent > 0 {
			s.trim(indent)
			s.fail(s.where(), name, spentKind{"", KindError})
			s.indent = indent
			return true
		}
	}
	if m := utestFail.FindStringSubmatch(trimmed); m != nil && level != "" {
		i := strings.LastIndexByte(m[1], '.')
		s.seen = true
		s.fail(m[1][:i], m[1][i+1:], spentKind{})
		s.indent = indent
		return true
	}
	if s.cur != nil && s.placed && level == "info" && !isJVMFrame(trimmed) && trimmed != "..." && !strings.HasPrefix(trimmed, "+ ") && !strings.HasPrefix(trimmed, "Cause:") {
		s.cur = nil // a heading, indented like the text above it
	}
	if s.cur != nil && scalaPlace.MatchString(trimmed) && !isJVMFrame(trimmed) {
		s.placed = true
	}
	if s.cur != nil && (indent > s.indent || level == "error" && !strings.HasPrefix(trimmed, "- ") && s.indent == 0 && indent >= 0 && s.cur.text.head.Len() > 0 && isJVMFrame(trimmed)) {
		s.cur.text.add(trimmed)
		return true
	}
	if s.cur != nil && s.indent > 0 && level == "error" && indent >= s.indent {
		s.cur.text.add(trimmed)
		return true
	}
	if level != "info" && level != "" {
		return false
	}
	if strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "+ ") {
		s.cur = nil
		return s.seen
	}
	s.title(indent, trimmed)
	return false
}

// title notes a heading: a suite's "Name:" or a subject.
func (s *sbtConsole) title(indent int, t string) {
	s.cur = nil
	if indent == 0 && isIdent(t, ".$") && t[0] >= 'A' && t[0] <= 'Z' { // specs2
		s.suite, s.path = strings.Clone(t), nil
		return
	}
	if indent == 0 && strings.HasSuffix(t, ":") && isIdent(strings.TrimSuffix(t, ":"), ".$") {
		s.suite, s.path = strings.Clone(strings.TrimSuffix(t, ":")), nil
		return
	}
	if len(t) > 200 {
		return
	}
	s.trim(indent)
	if len(s.path) < 20 {
		s.path = append(s.path, scalaTitle{indent, strings.Clone(t)})
	}
}

func (s *sbtConsole) trim(indent int) {
	for len(s.path) > 0 && s.path[len(s.path)-1].indent >= indent && !(indent == 0 && len(s.path) == 1 && s.path[0].indent == 0) {
		s.path = s.path[:len(s.path)-1]
	}
}

func (s *sbtConsole) where() string {
	parts := []string{}
	if s.suite != "" {
		parts = append(parts, s.suite)
	}
	if s.suite != "" {
		for _, p := range s.path {
			parts = append(parts, p.title)
		}
	}
	return strings.Join(parts, " > ")
}

type spentKind struct {
	secs string
	kind Kind
}

func (s *sbtConsole) fail(suite, name string, o spentKind) *failure {
	f := newFailure(Test{Suite: suite, Name: name, Status: Failed, Duration: spent(o.secs), Kind: o.kind, At: s.at}, shrunk(s.lim, len(s.tests)))
	s.cur, s.placed = f, false
	if len(s.tests) < 5*s.lim.Failing {
		s.tests = append(s.tests, f)
	}
	return f
}

// munit reads "==> X com.x.Suite.name  0.02s munit.FailException: /path/S.scala:12".
func (s *sbtConsole) munit(m []string) {
	suite, name := "", m[1]
	rest := m[1]
	for off := 0; ; { // the class ends with the first part that starts with a capital
		part, after, ok := strings.Cut(rest, ".")
		if !ok || !isIdent(part, "$") {
			break
		}
		off += len(part) + 1
		rest = after
		if part[0] >= 'A' && part[0] <= 'Z' {
			suite, name = m[1][:off-1], m[1][off:]
			break
		}
	}
	s.seen = true
	f := s.fail(suite, name, spentKind{m[2], ""})
	f.text.add(m[3])
	s.indent = -1
}
