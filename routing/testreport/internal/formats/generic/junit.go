package generic

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/failtext"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/parse"
	"github.com/switchback-ci/switchback/routing/testreport/internal/xmlstream"
)

// junitFormat reads the XML that Ant's JUnit task began and that nearly every
// test tool writes today, each in its own dialect.
var junitFormat = format.Format{Name: "junit", Order: 10, Opens: []string{"testsuites", "testsuite"}, Detect: detectJUnit, Document: readJUnit}

// detectJUnit looks for the root element behind declaration, comments and space.
var detectJUnit = xmlstream.DetectRoot("testsuites", "testsuite")

// junitReader is the state of one document.
type junitReader struct {
	d      *format.Document
	x      *xmlstream.Reader
	suites []junitSuite
	text   bounded.Text // of the element being read
	sysOut bounded.Text
	held   failtext.Reruns
	last   string // file of a suite without cases of its own, see Cypress below
	roots  int
	deep   bool
	short  junitShort // of the suites that ended
	failed bool       // a suite, not a test
}

// junitSuite is an open <testsuite> or <testsuites>.
type junitSuite struct {
	name, file string
	path       string // names of the suites around it and its own
	line       int
	root       bool // <testsuites>
	tests, bad int  // as declared, -1 if not
	worst      int  // of failures and errors the greater: gotestsum counts what did not build as both
	cases      int  // found inside, nested ones too
	failures   int  // failing elements found inside, nested ones too
	accounted  int  // declared failures already said to be missing further in
	nested     bool
	goParents  map[string]bool // tests of Go of which a subtest failed
	mute       int             // cases skipped without a word: GoogleTest's, where the suite's set-up failed or skipped
	junitTally
}

func readJUnit(d *format.Document) error {
	r := &junitReader{d: d, x: xmlstream.NewReader(d.Reader, d.Limits, d.Base, !d.Embedded)}
	r.x.InLog = d.Embedded
	r.text.Max = d.Limits.Text
	r.sysOut.Max = d.Limits.Text / 4
	r.held.Out = d.Out
	err := r.read()
	r.held.Flush()
	r.tellShort(r.short)
	if err != nil && err != io.EOF {
		return err
	}
	if _, err := d.Reader.Peek(1); !d.Embedded && err != nil && err != io.EOF {
		return err
	}
	if r.roots == 0 {
		return fmt.Errorf("%w: it holds no <testsuite>", model.ErrUnknownFormat)
	}
	r.complain()
	return nil
}

// complain says what makes the document incomplete.
func (r *junitReader) complain() {
	p := model.Problem{Kind: model.KindTruncated, At: r.x.Line}
	switch {
	case len(r.x.Stack) > 0 && r.x.Malformed > 0:
		p.At = r.x.Malformed
		p.Message = fmt.Sprintf("the JUnit document is damaged at line %d (%s) and breaks off inside <%s>", p.At, r.x.Damage, bounded.CutText(r.x.Stack[len(r.x.Stack)-1], 80))
	case len(r.x.Stack) > 0:
		p.Message = fmt.Sprintf("the JUnit document breaks off at line %d inside <%s>", r.x.Line, bounded.CutText(r.x.Stack[len(r.x.Stack)-1], 80))
	case r.x.Malformed > 0:
		p.At = r.x.Malformed
		p.Message = fmt.Sprintf("the JUnit document is damaged at line %d: %s", p.At, r.x.Damage)
	default:
		return
	}
	if len(r.suites) > 0 {
		p.Name = r.path()
	}
	r.d.Out.Problem(p)
}

func (r *junitReader) read() error {
	for {
		tok, err := r.x.Next()
		if err != nil {
			return err
		}
		switch tok.Kind {
		case xmlstream.Start:
			err = r.start(tok)
		case xmlstream.Text:
			if r.d.Embedded && len(r.suites) > 0 {
				r.x.Spoil(tok.Line, "text between the elements of a suite")
				return nil // the log goes on; the document did not end
			}
		}
		if err != nil {
			return err
		}
		// A damaged document may close suites from far inside.
		r.end(len(r.x.Stack))
		if r.d.Embedded && r.roots > 0 && len(r.x.Stack) == 0 {
			return nil
		}
	}
}

func (r *junitReader) start(tok xmlstream.Token) error {
	switch tok.Name {
	case "testsuites", "testsuite":
		if len(r.suites) >= r.d.Limits.Depth {
			return r.tooDeep(tok)
		}
		r.open(tok)
		return nil
	case "testcase":
		return r.testcase(tok)
	case "failure", "error":
		if len(r.suites) > 0 {
			return r.suiteFailure(tok)
		}
	}
	return r.x.Skip()
}

func (r *junitReader) tooDeep(tok xmlstream.Token) error {
	if !r.deep {
		r.deep = true
		note := fmt.Sprintf("suites nested deeper than %d are not read", r.d.Limits.Depth)
		r.d.Out.Cut(note)
		r.d.Out.Problem(model.Problem{Kind: model.KindTruncated, Name: r.path(), At: tok.Line, Message: note})
	}
	return r.x.Skip()
}

func (r *junitReader) open(tok xmlstream.Token) {
	x := r.x
	s := junitSuite{
		name: x.Attr("name"), line: tok.Line, root: tok.Name == "testsuites",
		tests: parse.Declared(x.Attr("tests")), bad: -1,
	}
	s.file = parse.FirstOf(x.Attr("file"), x.Attr("filepath"))
	s.declare(x)
	for _, a := range [...]string{"failures", "errors"} {
		if n := parse.Declared(x.Attr(a)); n >= 0 {
			s.bad, s.worst = max(s.bad, 0)+n, max(s.worst, n)
		}
	}
	if n := len(r.suites); n > 0 {
		r.suites[n-1].nested = true
		s.loose = s.loose || r.suites[n-1].loose
		if s.file == "" {
			s.file = r.suites[n-1].file
		}
	}
	// Cypress (mocha-junit-reporter) names the spec file only on an empty
	// "Root Suite" before the suites of that file.
	if s.name == "Root Suite" {
		r.last = s.file
	} else if s.file == "" {
		s.file = r.last
	}
	r.roots++
	r.suites = append(r.suites, s)
	r.suites[len(r.suites)-1].path = r.join()
}

// end closes suites until no more are open than elements.
func (r *junitReader) end(open int) {
	for len(r.suites) > open {
		n := len(r.suites) - 1
		s := r.suites[n]
		r.held.Flush()
		missing := r.account(&s)
		r.suites = r.suites[:n]
		if n > 0 {
			p := &r.suites[n-1]
			p.cases += s.cases
			p.failures += s.failures
			p.accounted += missing
			p.add(&s)
		} else {
			r.short.add(s.short)
		}
	}
}

// path returns the names of the open suites.
func (r *junitReader) path() string {
	if n := len(r.suites); n > 0 {
		return r.suites[n-1].path
	}
	return ""
}

func (r *junitReader) join() string {
	var names []string
	for _, s := range r.suites {
		if s.name != "" && !s.root {
			names = append(names, bounded.CleanText(s.name))
		}
	}
	if len(names) == 0 && len(r.suites) > 0 {
		return bounded.CleanText(r.suites[0].name)
	}
	return strings.Join(names, " > ")
}

// inverts reports whether class names the innermost open suites, two or more, in inverse order.
func (r *junitReader) inverts(class string) bool {
	names := strings.Split(class, " > ")
	if len(names) < 2 || len(names) > len(r.suites) {
		return false
	}
	for i, n := range names {
		if n != bounded.CleanText(r.suites[len(r.suites)-1-i].name) {
			return false
		}
	}
	return true
}

// suiteFailure reads <failure> or <error> that stands in a suite, not a case.
func (r *junitReader) suiteFailure(tok xmlstream.Token) error {
	o, err := r.outcome(tok)
	s := &r.suites[len(r.suites)-1]
	s.failures++
	r.failed = true
	p := model.Problem{Kind: model.KindPackage, Name: r.path(), File: s.file, At: tok.Line, Message: o.message, Trace: o.text}
	if tok.Name == "error" || parse.HasAny(strings.ToLower(o.message), "setup", "set-up", "beforeall", "before all", "before_all", "teardown", "afterall", "after all") {
		p.Kind = model.KindSetup
	}
	if f, l := failtext.PlaceIn(o.text, "", ""); f != "" && (p.File == "" || failtext.SameFile(p.File, f)) {
		p.File, p.Line = f, l
	}
	if p.Message == "" {
		p.Message = "the suite failed"
	}
	r.d.Out.Problem(p)
	return err
}

// junitOutcome is one <failure>, <error>, <skipped> or a dialect's variant.
type junitOutcome struct {
	element string
	message string // never empty if the element says anything
	typ     string
	text    string
	line    int
}

// outcome reads the element just opened to its end.
func (r *junitReader) outcome(tok xmlstream.Token) (junitOutcome, error) {
	o := junitOutcome{element: tok.Name, line: tok.Line}
	o.message, o.typ = bounded.CleanText(r.x.Attr("message")), bounded.CleanText(strings.TrimSpace(r.x.Attr("type")))
	err := r.x.Content(&r.text)
	o.text = strings.TrimSpace(r.text.String())
	o.message = bounded.CutText(failtext.Meaningful(o.message, o.text, o.typ), r.d.Limits.Text)
	return o, err
}

// testcase reads one <testcase> with all its outcomes.
func (r *junitReader) testcase(tok xmlstream.Token) error {
	x := r.x
	var a caseAttrs
	a.read(x.Attrs)
	status := strings.ToLower(parse.FirstOf(a.status, a.result))
	result := strings.ToLower(a.result)
	success := strings.ToLower(parse.FirstOf(a.success, a.passed))
	var c junitCase
	r.name(&c.t, tok, &a)
	c.key = r.key(&c.t)
	if n := len(r.suites); n > 0 {
		r.suites[n-1].loosen(&a, r.suites[n-1].name)
	}
	r.sysOut.Reset()

	depth := len(x.Stack) - 1
	var err error
	for len(x.Stack) > depth {
		var in xmlstream.Token
		if in, err = x.Next(); err != nil {
			break
		}
		if in.Kind == xmlstream.Start {
			if err = r.caseChild(in, &c); err != nil {
				break
			}
		}
	}
	c.attributes(status, result, success)
	if err != nil && c.skipped == nil && len(c.failures) == 0 {
		// The document breaks off inside this case: whether it passed is unknown.
		return err
	}
	r.finish(&c)
	return err
}

// caseAttrs are the attributes of a test case in all dialects.
type caseAttrs struct {
	name, class, classname, time, file, filepath, line, lineno, id, status, result, success, passed string
}

// read takes the values of attrs; of several of one name the first counts.
func (a *caseAttrs) read(attrs []xmlstream.Attr) {
	for i := len(attrs) - 1; i >= 0; i-- {
		v := attrs[i].Value
		switch attrs[i].Name {
		case "name":
			a.name = v
		case "classname":
			a.classname = v
		case "time":
			a.time = v
		case "class":
			a.class = v
		case "file":
			a.file = v
		case "filepath":
			a.filepath = v
		case "line":
			a.line = v
		case "lineno":
			a.lineno = v
		case "id":
			a.id = v
		case "status":
			a.status = v
		case "result":
			a.result = v
		case "success":
			a.success = v
		case "passed":
			a.passed = v
		}
	}
}

// name makes t a test with what the attributes of its start tag say.
func (r *junitReader) name(t *model.Test, tok xmlstream.Token, a *caseAttrs) {
	class := a.classname
	// PHPUnit writes the class with its real separators in a second attribute.
	if class == "" || a.class != "" && strings.ReplaceAll(a.class, "\\", ".") == class {
		class = a.class
	}
	t.Name, t.Status, t.Duration, t.At = bounded.CleanText(a.name), model.Passed, parse.Seconds(a.time), tok.Line
	if a.file != "" || a.filepath != "" {
		t.File = bounded.CleanText(parse.FirstOf(a.file, a.filepath))
	}
	if line := parse.FirstOf(a.line, a.lineno); line != "" {
		if n, ok := parse.Number(line); ok && n > 0 {
			t.Line = n
		}
	}
	if i := strings.LastIndexByte(t.File, ':'); i > 1 && t.Line == 0 { // ExUnit: file="a.exs:4"
		if n, ok := parse.Number(t.File[i+1:]); ok && n > 0 {
			t.File, t.Line = t.File[:i], n
		}
	}
	t.Suite = bounded.CleanText(class)
	if f, l, ok := strings.Cut(t.Suite, ":"); ok && t.File == "" && strings.Contains(f, ".") { // busted: classname="spec/a_spec.lua:4"
		if n, ok := parse.Number(l); ok && n > 0 {
			t.Suite, t.File, t.Line = f, f, n
		}
	}
	if t.File == "" && t.Line > 0 && parse.IsScript(t.Suite) { // deno: classname="./a_test.js" line="4"
		t.File = strings.TrimPrefix(t.Suite, "./")
	}
	// mocha-junit-reporter puts the test's own title there, bun the suites from the innermost out.
	if t.Suite == "" || endsIn(t.Name, t.Suite) || r.inverts(t.Suite) {
		t.Suite = r.path()
	}
	if t.Name == "" {
		t.Name = parse.FirstOf(a.id, t.Suite, "(no name)")
	}
}

// endsIn reports whether name is words or ends in them.
func endsIn(name, words string) bool {
	before, ok := strings.CutSuffix(name, words)
	return ok && (before == "" || before[len(before)-1] == ' ')
}

// junitCase gathers what one <testcase> holds.
type junitCase struct {
	t        model.Test
	key      string         // equal for reruns of one test, "" if that cannot be told
	failures []junitOutcome // failure, error
	retries  []junitOutcome // flakyFailure, rerunFailure …
	nretries int
	flaky    bool
	skipped  *junitOutcome
	pending  bool
	broken   string // status by attribute alone
	unknown  string // a status that nobody knows
}

func (r *junitReader) caseChild(tok xmlstream.Token, c *junitCase) error {
	switch tok.Name {
	case "failure", "error":
		o, err := r.outcome(tok)
		if o.typ == "WARN" { // doctest lists those that do not fail a test, too
			return err
		}
		if len(c.failures) < failtext.MaxOutcomes {
			c.failures = append(c.failures, o)
		}
		r.countFailure()
		return err
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		o, err := r.outcome(tok)
		if len(c.retries) < failtext.MaxOutcomes {
			c.retries = append(c.retries, o)
		}
		c.nretries++
		c.flaky = c.flaky || strings.HasPrefix(tok.Name, "flaky")
		r.countFailure()
		return err
	case "skipped", "disabled", "ignored", "skip":
		o, err := r.outcome(tok)
		c.skipped = &o
		return err
	case "system-out", "system-err":
		return r.output()
	}
	return r.x.Skip()
}

func (r *junitReader) countFailure() {
	if n := len(r.suites); n > 0 {
		r.suites[n-1].failures++
	}
}

// output keeps what the case printed, both streams in one bounded buffer.
func (r *junitReader) output() error {
	r.x.Keep = &r.sysOut
	err := r.x.Skip()
	r.x.Keep = nil
	r.x.Carry = r.x.Carry[:0]
	return err
}

// attributes takes the state that some dialects write as attributes.
func (c *junitCase) attributes(status, result, success string) {
	for _, s := range [...]string{status, result} {
		switch s {
		case "failed", "failure", "fail", "error", "errored", "broken", "timeout", "timedout", "timed_out", "crashed", "crash", "interrupted", "aborted":
			c.broken = s
		case "disabled", "notrun", "skipped", "ignored", "skip", "suppressed", "not_run", "not run", "excluded":
			if c.skipped == nil {
				c.skipped = &junitOutcome{}
			}
		case "pending", "todo", "undefined":
			c.pending = true
		case "fixed", "flaky", "warning", "warn", "true", "yes", "active", "enabled", "expected", "xpass", "xpassed":
		default:
			if _, ok := parse.Number(s); !ok && findingOfWord(s) == unknownWord {
				c.unknown = s
			}
		}
	}
	if c.skipped != nil && slices.Contains(ctestNotRun, c.skipped.message) && status == "notrun" {
		c.broken = "notrun: " + c.skipped.message
	}
	if c.broken == "" && (success == "false" || success == "0") {
		c.broken = "success=" + success
	}
}

// ctestNotRun are why CTest could not run a test. It fails for them, and writes them as skipped.
var ctestNotRun = []string{"Unable to find executable", "Fixture dependency failed", "Missing Configuration", "Required Files Missing", "Insufficient resources", "Failed to start"}

// denoSteps recognises the message of a test of deno that failed only because steps of it did, which
// are cases of their own.
func denoSteps(message string) bool {
	_, rest, ok := parse.LeadingInt(message)
	return ok && (rest == " test step failed" || rest == " test steps failed")
}

// goParent reports whether t is a test of Go that says nothing itself and of which a subtest failed
// in front of it, as gotestsum lists them.
func (r *junitReader) goParent(t *model.Test) bool {
	n := len(r.suites)
	if n == 0 || !strings.HasPrefix(t.Trace, "=== RUN ") {
		return false
	}
	s := &r.suites[n-1]
	for i := strings.IndexByte(t.Name, '/'); i > 0 && len(s.goParents) < goParentsKept; {
		if s.goParents == nil {
			s.goParents = map[string]bool{}
		}
		s.goParents[t.Name[:i]] = true
		next := strings.IndexByte(t.Name[i+1:], '/')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	if !s.goParents[t.Name] {
		return false
	}
	for l := range strings.Lines(t.Trace) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "=== ") && !strings.HasPrefix(l, "--- ") {
			return false
		}
	}
	return true
}

// goParentsKept bounds the tests of a suite that are remembered for their subtests.
const goParentsKept = 10000

// goPlace returns the last place in the output of a test of Go: what it only logged stands in front
// of what made it fail.
func goPlace(text string) (file string, line int) {
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "    "); ok && rest[0] != ' ' {
			place, _, _ := strings.Cut(rest, ": ")
			if f, n, _, ok := parse.Location(place); ok && strings.HasSuffix(f, ".go") {
				file, line = f, n
			}
		}
	}
	return file, line
}

// finish makes a Test of a case and hands it on.
func (r *junitReader) finish(c *junitCase) {
	t := &c.t
	t.Retries = c.nretries
	switch {
	case c.skipped != nil && c.skipped.typ == "todo": // node:test: it may fail
		t.Status, t.Message = model.Pending, c.skipped.message
	case len(c.failures) == 1 && strings.HasSuffix(c.failures[0].typ, "RiskyTestError"):
		// PHPUnit: the test passed, without an assertion say; the run does not fail.
		t.Message, t.Type = c.failures[0].message, c.failures[0].typ
	case len(c.failures) > 0 && c.skipped != nil && strings.HasPrefix(c.skipped.message, "TEST_CASE tagged with !"):
		t.Status, t.Message = model.Skipped, c.skipped.message // Catch2: a failure that is expected or allowed
	case len(c.failures) > 0 && r.boostExpected(c):
	case len(c.failures) > 0:
		r.fail(t, c.failures)
		t.Parent = t.Line > 0 && denoSteps(t.Message) || r.goParent(t)
	case c.nretries > 0 && !c.flaky && c.skipped == nil:
		r.fail(t, c.retries) // rerunFailure without the failure itself
	case c.broken != "":
		t.Status, t.Message = model.Failed, "the report gives the test's status as "+c.broken
		if strings.HasPrefix(c.broken, "time") {
			t.Kind = model.KindTimeout
		}
		r.countFailure()
	case c.skipped != nil:
		t.Status, t.Message = model.Skipped, c.skipped.message
		if n := len(r.suites); n > 0 && t.Line > 0 && t.Message == t.File+":"+strconv.Itoa(t.Line) {
			r.suites[n-1].mute++
		}
	case c.pending:
		t.Status = model.Pending
	case c.flaky:
		t.Flaky = true
		r.describe(t, c.retries)
		t.Status = model.Passed
	case c.unknown != "":
		t.Status, t.Message = model.Other, "the report gives the test's status as "+c.unknown
	}
	if t.Status == model.Failed || t.Flaky {
		t.Output = strings.TrimSpace(r.sysOut.String())
		if t.File == "" {
			r.suiteFile(t)
		}
	}
	if n := len(r.suites); n > 0 {
		s := &r.suites[n-1]
		s.cases++
		s.attempts += c.nretries
		if t.Status == model.Skipped || t.Status == model.Pending {
			s.skipped++
		}
	}
	r.held.Take(c.key, t)
}

// boostExpected reports whether Boost lists failures of a test that are
// expected: of a test that failed its system-err says so.
func (r *junitReader) boostExpected(c *junitCase) bool {
	for _, o := range c.failures {
		if o.element != "failure" || !strings.HasPrefix(o.text, "ASSERTION FAILURE:\n- file ") {
			return false
		}
	}
	return !strings.Contains(r.sysOut.String(), "Failures detected in:")
}

// suiteFile takes the file of the suite for a test whose failure names none.
func (r *junitReader) suiteFile(t *model.Test) {
	if n := len(r.suites); n > 0 {
		t.File = r.suites[n-1].file
	}
}

func (r *junitReader) fail(t *model.Test, all []junitOutcome) {
	t.Status = model.Failed
	r.describe(t, all)
}

// describe takes the first outcome as the test's message and appends the
// others to its trace.
func (r *junitReader) describe(t *model.Test, all []junitOutcome) {
	o := all[0]
	t.Message, t.Type, t.Trace, t.At = o.message, o.typ, o.text, o.line
	t.Kind = outcomeKind(o)
	for _, more := range all[1:] {
		if len(t.Trace) > r.d.Limits.Text {
			break
		}
		t.Trace = strings.TrimSpace(t.Trace + "\n\n" + parse.FirstOf(more.text, more.message))
	}
	if e, a, ok := failtext.SplitAssertion(o.message); ok {
		t.Expected, t.Actual = e, a
	} else if e, a, ok := failtext.SplitAssertion(o.text); ok {
		t.Expected, t.Actual = e, a
	}
	f, l := "", 0
	if strings.HasPrefix(o.text, "=== RUN ") {
		f, l = goPlace(o.text)
	}
	if f == "" {
		f, l = failtext.PlaceIn(o.text, t.Suite, t.File)
	}
	if f == "" {
		f, l = failtext.PlaceIn(o.message, t.Suite, t.File)
	}
	if f == "" && t.File == "" && o.element == "error" { // Boost: the last checkpoint
		f, l = failtext.PlaceIn(r.sysOut.String(), t.Suite, "")
	}
	switch {
	case f == "":
		if t.Line > 0 && len(r.suites) > 0 && r.suites[len(r.suites)-1].name == "pytest" {
			t.Line++ // xunit1 counts from 0
		}
	case t.File == "":
		if n := len(r.suites); n > 0 && failtext.SameFile(r.suites[n-1].file, f) {
			f = r.suites[n-1].file // the fuller or more usual path
		}
		t.File, t.Line = f, l
	case failtext.SameFile(t.File, f):
		t.Line = l
	}
}

// outcomeKind says what the element, its type and its words state.
func outcomeKind(o junitOutcome) model.Kind {
	typ, msg := strings.ToLower(o.typ), strings.ToLower(o.message)
	switch {
	case strings.HasSuffix(typ, "testtimedoutexception"), strings.HasPrefix(msg, "failed: timeout >"), strings.HasPrefix(msg, "timeout of ") && strings.Contains(msg, "exceeded"),
		strings.Contains(msg, "exceeded timeout of "), strings.HasPrefix(msg, "test timed out"):
		return model.KindTimeout
	case strings.HasPrefix(msg, "failed on setup"), strings.HasPrefix(msg, "failed on teardown"), strings.HasPrefix(msg, "collection failure"), strings.HasPrefix(msg, "test setup failure"), strings.HasPrefix(msg, "test teardown failure"):
		return model.KindSetup
	case strings.HasSuffix(o.element, "rror"), parse.HasAny(msg, "c++ exception with description", "unknown c++ exception thrown", "seh exception with code"):
		return model.KindError
	case typ == "" || typ == "failure" || parse.HasAny(typ, "assert", "expect", "comparison", "failed", "failure", "mismatch"):
		if o.typ == "" && failtext.ExceptionMessage.MatchString(o.message) && !parse.HasAny(msg, "assert") {
			return model.KindError // pytest: every exception of the test itself is a <failure>
		}
		if typ == "" && !parse.HasAny(msg, "assert", "expect") {
			if _, _, compared := failtext.SplitAssertion(o.message + "\n" + o.text); !compared {
				return "" // go test and others write every failure so
			}
		}
		return model.KindAssertion
	}
	return model.KindError
}

// key returns what two runs of one test have in common, or "" where a second
// test of t's name in its suite may be another test: parametrised tests often
// share a name. It takes the same place stated for both, or pytest, where names
// are unique.
func (r *junitReader) key(t *model.Test) string {
	pytest := len(r.suites) > 0 && r.suites[len(r.suites)-1].name == "pytest"
	if !pytest && (t.File == "" || t.Line == 0) {
		return ""
	}
	return r.path() + "\x00" + t.Suite + "\x00" + t.Name + "\x00" + t.File + "\x00" + strconv.Itoa(t.Line)
}

// junitTally is what a suite declares of its tests beside their number, and
// what it held. Tests that are declared and not listed make a document that is
// well-formed and yet incomplete, but what "tests" counts differs by producer;
// what explains a difference is taken for the explanation:
//
//   - Surefire and others count each attempt of a test that was run again, and
//     list it once (apache/maven-surefire#2138): attempts.
//   - PHPUnit counts the tests of a skipped class and lists none
//     (sebastianbergmann/phpunit#5354): skipped, skips.
//   - mocha-junit-reporter declares all tests of a suite though --grep chose
//     some; its root states those that ran: a suite around whose total is met
//     settles what is missing further in.
//   - a total over all suites counts the tests of nested ones again: inner.
//   - Catch2 and doctest count assertions (catchorg/Catch2#529), Behat steps
//     (Behat/Behat#311), pytest subtests and tear-downs that failed
//     (pytest-dev/pytest#3850): loose, which see.
type junitTally struct {
	skips    int  // tests declared as skipped, disabled, ignored
	skipped  int  // cases listed as that, nested ones too
	attempts int  // attempts beside the one that made the case, nested ones too
	inner    int  // sum of what all suites inside declare
	loose    bool // the producer counts something else than test cases
	titled   bool // named by a sentence, with no more attributes than Behat writes
	short    junitShort
}

// junitShort are suites that list fewer tests than they declare.
type junitShort struct {
	n     int // of them
	tests int // missing in all
	first model.Problem
}

func (s *junitShort) add(more junitShort) {
	if s.n == 0 {
		s.first = more.first
	}
	s.n += more.n
	s.tests += more.tests
}

// declare reads the attributes of a suite's start tag.
func (c *junitSuite) declare(x *xmlstream.Reader) {
	c.titled = strings.Contains(c.name, " ") && x.Attr("timestamp") == "" && x.Attr("hostname") == ""
	for _, a := range [...]string{"skipped", "skips", "skip", "disabled", "ignored"} {
		if n := parse.Declared(x.Attr(a)); n >= 0 {
			c.skips += n
			c.titled = false
		}
	}
	switch {
	case c.name == "pytest", c.root && c.name == "pytest tests":
		c.loose = true
	case x.Attr("hostname") == "tbd": // Catch2
		c.loose = true
	}
}

// add takes what a suite that ended says of the one around it.
func (c *junitSuite) add(in *junitSuite) {
	c.skipped += in.skipped
	c.attempts += in.attempts
	c.inner += in.inner + max(0, in.tests)
	c.loose = c.loose || in.loose
	c.short.add(in.short)
}

// loosen looks at a case for a producer that counts other things: doctest
// names the source as the class, Behat the title of the feature, which is the
// name of the suite.
func (c *junitTally) loosen(a *caseAttrs, suite string) {
	c.loose = c.loose || a.status == "run" && sourceOfC(a.classname) || c.titled && a.classname == suite
}

func sourceOfC(s string) bool {
	for _, ext := range [...]string{".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".mm", ".m"} {
		if strings.HasSuffix(s, ext) {
			return true
		}
	}
	return false
}

// account compares what a suite declares with what it held and returns how
// many declared failures are said to be missing: one that is nowhere is a
// failure. For tests that are missing see junitTally.
func (r *junitReader) account(s *junitSuite) (missing int) {
	missing = s.accounted
	if s.mute > 0 && s.mute == s.cases {
		r.d.Out.Cut(fmt.Sprintf("line %d: every test of suite %q was skipped without a reason; GoogleTest does so when the set-up of the suite fails, too", s.line, bounded.CutText(r.path(), 200)))
	}
	if lost := s.bad - s.failures - s.accounted; lost > 0 && (s.failures == 0 || s.failures < s.worst) {
		missing += lost
		r.failed = true
		r.d.Out.Problem(model.Problem{
			Kind: model.KindPackage, Name: r.path(), File: s.file, At: s.line,
			Message: fmt.Sprintf("the suite declares %d failures and errors, but its test cases show %d", s.bad, s.failures),
		})
	}
	r.count(s)
	return missing
}

// count compares the number of tests that s declares with those it lists.
func (r *junitReader) count(s *junitSuite) {
	listed := s.cases + s.attempts + max(0, s.skips-s.skipped)
	switch {
	case s.tests < 0:
	case s.tests == s.cases || s.tests == s.cases+s.attempts:
		s.short = junitShort{}
	case s.tests <= listed && s.short.n > 0 && s.short.tests <= s.skips-s.skipped:
		// mocha-junit-reporter counts those that it leaves out here alone.
		for range min(s.short.tests, 10000) {
			r.d.Out.Test(model.Test{Status: model.Skipped, Name: "(skipped)", At: s.line})
		}
		s.short = junitShort{}
	case s.tests <= listed, s.nested && s.tests == s.inner, s.short.n > 0:
	case s.loose && s.cases > 0:
		r.d.Out.Cut(fmt.Sprintf("line %d: suite %q declares %d tests and holds %d", s.line, bounded.CutText(r.path(), 200), s.tests, s.cases))
	default:
		p := model.Problem{Kind: model.KindTruncated, Name: r.path(), File: s.file, At: s.line, Message: fmt.Sprintf("the suite declares %d tests and holds none", s.tests)}
		if s.cases > 0 {
			p.Message = fmt.Sprintf("the suite lists %d of %d declared tests", s.cases, s.tests)
		}
		s.short = junitShort{1, s.tests - s.cases, p}
	}
}

// tellShort says which tests are missing. Where tests failed, that is only a
// note: runners leave out what they no longer ran after a failure.
func (r *junitReader) tellShort(s junitShort) {
	if s.n == 0 {
		return
	}
	p := s.first
	if s.n > 1 {
		p.Message += fmt.Sprintf("; %d suites lack %d tests in all", s.n, s.tests)
	}
	if r.failed || r.held.Failed {
		r.d.Out.Cut(fmt.Sprintf("line %d: %s: %s", p.At, bounded.CutText(p.Name, 200), p.Message))
		return
	}
	r.d.Out.Problem(p)
}
