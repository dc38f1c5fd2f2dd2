package jvm

import (
	"strings"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
)

// sbtFormat reads the tests that sbt runs (ScalaTest, specs2, MUnit, uTest,
// JUnit), the compiler's messages, and ScalaTest's console without sbt.
var sbtFormat = format.Format{
	Name:  "sbt",
	Order: 740,
	Wakes: &format.Wake{Flush: "[RT=", Holds: '*'},
	Console: func(out model.Sink, lim model.Limits) format.Console {
		c := &failtext.CountingSink{Sink: out}
		s := &sbtConsole{out: c, lim: lim, anon: model.NewAnonymous(lim), diags: failtext.Diagnostics{Out: c, Limits: lim}}
		s.reset()
		return s
	},
}

type sbtConsole struct {
	out   *failtext.CountingSink
	lim   model.Limits
	anon  *model.Anonymous
	diags failtext.Diagnostics

	at     int
	seen   bool // sbt's or ScalaTest's own lines
	suite  string
	path   []scalaTitle
	tests  []*failtext.Failure
	cur    *failtext.Failure
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
	scalaTotals = lazyregexp.New(`^Tests: succeeded (\d+), failed (\d+), canceled (\d+), ignored (\d+), pending (\d+)`)
	sbtTotals   = lazyregexp.New(`^(Passed|Failed|Error): Total (\d+), Failed (\d+), Errors (\d+), Passed (\d+)(?:, (?:Skipped|Ignored|Canceled|Pending) \d+)*$`)
	scalaPlace  = lazyregexp.New(`\(([\w$-]+\.scala):(\d+)\)`)
	munitFail   = lazyregexp.New(`^==> X (\S.*?)  ?(\d+(?:\.\d+)?)s ?(.*)$`)
	sbtJUnit    = lazyregexp.New(`^Test ([\w.$]+)\.([^.\s]\S*) failed: (.*?)(?:, took ([\d.]+)(?: sec|s))?$`)
	utestFail   = lazyregexp.New(`^X ([\w.$]+(?:\.[^.]+)+) (\d+)ms ?$`)
	sbtError    = lazyregexp.New(`^((?:[A-Za-z]:)?/[^:]+\.(?:scala|java|sbt|sc)):(\d+)(?::(\d+))?: (?:error: )?(.+)$`)
	scala3Error = lazyregexp.New(`^-- (?:\[(E\d+)\] )?(.*?)(Error|Warning): (\S.*?):(\d+):(\d+) -*$`)
	sbtTask     = lazyregexp.New(`^\((.+?)\) (.+)$`)
)

func (s *sbtConsole) Idle() bool {
	return !s.seen && s.cur == nil
}

func (s *sbtConsole) Line(l lines.Line) bool {
	if l.Mark != "" {
		if lines.StepOver(l) {
			s.End()
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
			s.cur.Text.Add("")
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
			f.Text.Add(m[3])
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
		s.out.Problem(model.Problem{Kind: model.KindSetup, Name: strings.Clone(name), Message: "the suite was aborted", At: s.at})
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
			s.fail(s.where(), name, spentKind{"", model.KindError})
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
	if s.cur != nil && s.placed && level == "info" && !failtext.IsJVMFrame(trimmed) && trimmed != "..." && !strings.HasPrefix(trimmed, "+ ") && !strings.HasPrefix(trimmed, "Cause:") {
		s.cur = nil // a heading, indented like the text above it
	}
	if s.cur != nil && scalaPlace.MatchString(trimmed) && !failtext.IsJVMFrame(trimmed) {
		s.placed = true
	}
	if s.cur != nil && (indent > s.indent || level == "error" && !strings.HasPrefix(trimmed, "- ") && s.indent == 0 && indent >= 0 && s.cur.Text.Head.Len() > 0 && failtext.IsJVMFrame(trimmed)) {
		s.cur.Text.Add(trimmed)
		return true
	}
	if s.cur != nil && s.indent > 0 && level == "error" && indent >= s.indent {
		s.cur.Text.Add(trimmed)
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
	if indent == 0 && parse.IsIdent(t, ".$") && t[0] >= 'A' && t[0] <= 'Z' { // specs2
		s.suite, s.path = strings.Clone(t), nil
		return
	}
	if indent == 0 && strings.HasSuffix(t, ":") && parse.IsIdent(strings.TrimSuffix(t, ":"), ".$") {
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
	kind model.Kind
}

func (s *sbtConsole) fail(suite, name string, o spentKind) *failtext.Failure {
	f := failtext.NewFailure(model.Test{Suite: suite, Name: name, Status: model.Failed, Duration: parse.Spent(o.secs), Kind: o.kind, At: s.at}, failtext.Shrunk(s.lim, len(s.tests)))
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
		if !ok || !parse.IsIdent(part, "$") {
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
	f.Text.Add(m[3])
	s.indent = -1
}

// scalaTest hands on a run of ScalaTest.
func (s *sbtConsole) scalaTest(m []string) {
	n := func(i int) int { v, _, _ := parse.LeadingInt(m[i]); return v }
	s.seen = true
	s.flush(n(1)+n(2)+n(3)+n(4)+n(5), n(2), n(3)+n(4)+n(5))
	s.counted = true
}

// totals reads sbt's own over all frameworks; ScalaTest's are more exact.
func (s *sbtConsole) totals(m []string) {
	n := func(i int) int { v, _, _ := parse.LeadingInt(m[i]); return v }
	s.seen = true
	if s.counted {
		s.counted = false
		if len(s.tests) > 0 {
			s.flush(len(s.tests), len(s.tests), 0)
		}
		return
	}
	s.flush(n(2), n(3)+n(4), max(n(2)-n(3)-n(4)-n(5), 0))
}

// abort reads how many suites were aborted.
func (s *sbtConsole) abort(count string) {
	n, _, _ := parse.LeadingInt(count)
	if n > s.aborted {
		s.out.Problem(model.Problem{Kind: model.KindSetup, Name: "sbt", At: s.at, Message: parse.Plural(n, "suite") + " aborted"})
	}
	s.aborted = 0
}

func (s *sbtConsole) flush(total, failed, skipped int) {
	s.cur, s.path, s.suite = nil, nil, ""
	for _, f := range s.tests {
		s.out.Test(explainScala(f))
	}
	named := len(s.tests)
	s.anon.Emit(s.out, total-skipped-max(failed, named), model.Test{Status: model.Passed, At: s.at})
	s.anon.Emit(s.out, skipped, model.Test{Status: model.Skipped, At: s.at})
	if failed > named {
		failtext.Unnamed(s.out, "sbt", failed, named, s.at)
	}
	s.tests, s.ran = nil, false
}

func explainScala(f *failtext.Failure) model.Test {
	text := f.Text.String()
	t := &f.Test
	if strings.HasPrefix(text, "munit.") && explainMunit(t, text) {
		return *t
	}
	failtext.ExplainJVM(t, withoutScalaPlaces(text))
	t.Trace = text
	if file, line := failtext.PlaceIn(text, "", ""); t.Line == 0 && line > 0 {
		t.File, t.Line = file, line
	}
	if m := scalaPlace.FindStringSubmatch(text); m != nil {
		t.File = m[1]
		t.Line, _, _ = parse.LeadingInt(m[2])
		if t.Type == "" {
			t.Kind = model.KindAssertion
		}
	}
	if i := strings.Index(t.Message, " was thrown."); i > 0 || strings.Contains(t.Message, "Exception: ") {
		t.Kind = model.KindError
	}
	return *t
}

// withoutScalaPlaces takes "(File.scala:12)" off the lines that are not frames.
func withoutScalaPlaces(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if !failtext.IsJVMFrame(strings.TrimSpace(l)) {
			lines[i] = scalaPlace.ReplaceAllString(l, "")
		}
	}
	return strings.Join(lines, "\n")
}

// explainMunit reads "munit.FailException: /path/S.scala:8", the source around
// the line, and what the assertion says.
func explainMunit(t *model.Test, text string) bool {
	first, rest, _ := strings.Cut(text, "\n")
	typ, place, ok := strings.Cut(first, ": ")
	file, line, _, isPlace := parse.Location(place)
	if !ok || !isPlace {
		return false
	}
	t.Type, t.File, t.Line, t.Trace, t.Kind = typ, file, line, text, model.KindAssertion
	var msg []string
	for _, l := range strings.Split(rest, "\n") {
		if n, after, ok := parse.LeadingInt(l); ok && n > 0 && strings.HasPrefix(after, ":") && len(msg) == 0 {
			continue
		}
		if failtext.IsJVMFrame(strings.TrimSpace(l)) {
			break
		}
		msg = append(msg, l)
	}
	t.Message = strings.TrimSpace(strings.Join(msg, "\n"))
	if _, after, ok := strings.Cut(t.Message, "=> Obtained\n"); ok {
		if got, diff, ok := strings.Cut(after, "\n=> Diff"); ok {
			t.Actual = strings.TrimSpace(got)
			for _, l := range strings.Split(diff, "\n")[1:] {
				if strings.HasPrefix(l, "+") {
					t.Expected = strings.TrimSpace(t.Expected + "\n" + l[1:])
				}
			}
		}
	}
	return true
}

// listed reads the suites that failed as sbt lists them.
func (s *sbtConsole) listed(name string) {
	if s.list == "error" && parse.IsIdent(name, ".$") {
		s.out.Problem(model.Problem{Kind: model.KindSetup, Name: strings.Clone(name), Message: "the suite could not be run", At: s.at})
	}
}

// task reads why a task failed: "(Test / test) sbt.TestsFailedException: …".
func (s *sbtConsole) task(name, why string) {
	s.list, s.cur = "", nil
	s.seen = true
	p := model.Problem{Kind: model.KindExit, Name: strings.Clone(name), Message: strings.Clone(why), At: s.at}
	switch {
	case strings.Contains(why, "Tests unsuccessful") && s.out.Failed+len(s.tests) > 0:
		return
	case strings.Contains(why, "Compilation failed") || strings.Contains(name, "compileIncremental"):
		p.Kind = model.KindBuild
		s.diags.Place(&p)
	case strings.Contains(why, "ResolveException") || strings.Contains(name, "update"):
		p.Kind = model.KindSetup
	}
	s.problem = true
	s.out.Problem(p)
}

// compiler reads scalac's messages of Scala 2 and 3.
func (s *sbtConsole) compiler(level, t string) bool {
	if len(t) > 4<<10 || !strings.Contains(t, ":") {
		return false
	}
	d := model.Diagnostic{Tool: "scalac", Severity: model.SevError, At: s.at}
	if level == "warn" {
		d.Severity = model.SevWarning
	}
	if m := sbtError.FindStringSubmatch(t); m != nil {
		d.File, d.Message = m[1], m[4]
		d.Line, _, _ = parse.LeadingInt(m[2])
		d.Column, _, _ = parse.LeadingInt(m[3])
	} else if m := scala3Error.FindStringSubmatch(t); m != nil {
		d.Code, d.File, d.Message = m[1], m[4], strings.TrimSpace(m[2]+m[3])
		d.Line, _, _ = parse.LeadingInt(m[5])
		d.Column, _, _ = parse.LeadingInt(m[6])
	} else {
		return false
	}
	s.seen = true
	s.diags.Add(d)
	return true
}

func (s *sbtConsole) End() {
	if s.seen && (len(s.tests) > 0 || s.ran) {
		for _, f := range s.tests {
			s.out.Test(explainScala(f))
		}
		s.out.Problem(model.Problem{Kind: model.KindTruncated, At: s.at, Message: "the output of the tests ends before their totals"})
	} else if s.diags.Errors > 0 && !s.problem && s.out.Failed == 0 {
		p := model.Problem{Kind: model.KindBuild, Name: "sbt", Message: s.diags.First.Message, At: s.diags.First.At}
		s.diags.Place(&p)
		s.out.Problem(p)
	}
	s.diags.Errors, s.out.Failed = 0, 0
	s.reset()
}
