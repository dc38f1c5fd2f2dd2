package testreport

import (
	"strconv"
	"strings"
)

// testcase reads one <testcase> with all its outcomes.
func (r *junitReader) testcase(tok xmlToken) error {
	x := r.x
	var a caseAttrs
	a.read(x.attrs)
	status := strings.ToLower(firstOf(a.status, a.result))
	result := strings.ToLower(a.result)
	success := strings.ToLower(firstOf(a.success, a.passed))
	var c junitCase
	r.name(&c.t, tok, &a)
	c.key = r.key(&c.t)
	if n := len(r.suites); n > 0 {
		r.suites[n-1].loosen(&a, r.suites[n-1].name)
	}
	r.sysOut.reset()

	depth := len(x.stack) - 1
	var err error
	for len(x.stack) > depth {
		var in xmlToken
		if in, err = x.next(); err != nil {
			break
		}
		if in.kind == xmlStart {
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
func (a *caseAttrs) read(attrs []xmlAttr) {
	for i := len(attrs) - 1; i >= 0; i-- {
		v := attrs[i].value
		switch attrs[i].name {
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
func (r *junitReader) name(t *Test, tok xmlToken, a *caseAttrs) {
	class := a.classname
	// PHPUnit writes the class with its real separators in a second attribute.
	if class == "" || a.class != "" && strings.ReplaceAll(a.class, "\\", ".") == class {
		class = a.class
	}
	t.Name, t.Status, t.Duration, t.At = cleanText(a.name), Passed, seconds(a.time), tok.line
	if a.file != "" || a.filepath != "" {
		t.File = cleanText(firstOf(a.file, a.filepath))
	}
	if line := firstOf(a.line, a.lineno); line != "" {
		if n, err := strconv.Atoi(line); err == nil && n > 0 {
			t.Line = n
		}
	}
	if i := strings.LastIndexByte(t.File, ':'); i > 1 && t.Line == 0 { // ExUnit: file="a.exs:4"
		if n, err := strconv.Atoi(t.File[i+1:]); err == nil && n > 0 {
			t.File, t.Line = t.File[:i], n
		}
	}
	t.Suite = cleanText(class)
	// mocha-junit-reporter puts the test's own title there.
	if t.Suite == "" || endsIn(t.Name, t.Suite) {
		t.Suite = r.path()
	}
	if t.Name == "" {
		t.Name = firstOf(a.id, t.Suite, "(no name)")
	}
}

// endsIn reports whether name is words or ends in them.
func endsIn(name, words string) bool {
	before, ok := strings.CutSuffix(name, words)
	return ok && (before == "" || before[len(before)-1] == ' ')
}

// junitCase gathers what one <testcase> holds.
type junitCase struct {
	t        Test
	key      string         // equal for reruns of one test, "" if that cannot be told
	failures []junitOutcome // failure, error
	retries  []junitOutcome // flakyFailure, rerunFailure …
	nretries int
	flaky    bool
	skipped  *junitOutcome
	pending  bool
	broken   string // status by attribute alone
}

// maxOutcomes bounds what is kept of the outcomes of one case.
const maxOutcomes = 20

func (r *junitReader) caseChild(tok xmlToken, c *junitCase) error {
	switch tok.name {
	case "failure", "error":
		o, err := r.outcome(tok)
		if len(c.failures) < maxOutcomes {
			c.failures = append(c.failures, o)
		}
		r.countFailure()
		return err
	case "flakyFailure", "flakyError", "rerunFailure", "rerunError":
		o, err := r.outcome(tok)
		if len(c.retries) < maxOutcomes {
			c.retries = append(c.retries, o)
		}
		c.nretries++
		c.flaky = c.flaky || strings.HasPrefix(tok.name, "flaky")
		r.countFailure()
		return err
	case "skipped", "disabled", "ignored", "skip":
		o, err := r.outcome(tok)
		c.skipped = &o
		return err
	case "system-out", "system-err":
		return r.output()
	}
	return r.x.skip()
}

func (r *junitReader) countFailure() {
	if n := len(r.suites); n > 0 {
		r.suites[n-1].failures++
	}
}

// output keeps what the case printed, both streams in one bounded buffer.
func (r *junitReader) output() error {
	r.x.keep = &r.sysOut
	err := r.x.skip()
	r.x.keep = nil
	r.x.carry = r.x.carry[:0]
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
		}
	}
	if c.broken == "" && (success == "false" || success == "0") {
		c.broken = "success=" + success
	}
}

// finish makes a Test of a case and hands it on.
func (r *junitReader) finish(c *junitCase) {
	t := &c.t
	t.Retries = c.nretries
	switch {
	case len(c.failures) == 1 && strings.HasSuffix(c.failures[0].typ, "RiskyTestError"):
		// PHPUnit: the test passed, without an assertion say; the run does not fail.
		t.Message, t.Type = c.failures[0].message, c.failures[0].typ
	case len(c.failures) > 0:
		r.fail(t, c.failures)
	case c.nretries > 0 && !c.flaky && c.skipped == nil:
		r.fail(t, c.retries) // rerunFailure without the failure itself
	case c.broken != "":
		t.Status, t.Message = Failed, "the report gives the test's status as "+c.broken
		if strings.HasPrefix(c.broken, "time") {
			t.Kind = KindTimeout
		}
		r.countFailure()
	case c.skipped != nil:
		t.Status, t.Message = Skipped, c.skipped.message
		if n := len(r.suites); n > 0 && t.Line > 0 && t.Message == t.File+":"+strconv.Itoa(t.Line) {
			r.suites[n-1].mute++
		}
	case c.pending:
		t.Status = Pending
	case c.flaky:
		t.Flaky = true
		r.describe(t, c.retries)
		t.Status = Passed
	}
	if t.Status == Failed || t.Flaky {
		t.Output = strings.TrimSpace(r.sysOut.String())
		if t.File == "" {
			r.suiteFile(t)
		}
	}
	if n := len(r.suites); n > 0 {
		s := &r.suites[n-1]
		s.cases++
		s.attempts += c.nretries
		if t.Status == Skipped || t.Status == Pending {
			s.skipped++
		}
	}
	r.held.take(c.key, t)
}

// suiteFile takes the file of the suite for a test whose failure names none.
func (r *junitReader) suiteFile(t *Test) {
	if n := len(r.suites); n > 0 {
		t.File = r.suites[n-1].file
	}
}

func (r *junitReader) fail(t *Test, all []junitOutcome) {
	t.Status = Failed
	r.describe(t, all)
}

// describe takes the first outcome as the test's message and appends the
// others to its trace.
func (r *junitReader) describe(t *Test, all []junitOutcome) {
	o := all[0]
	t.Message, t.Type, t.Trace, t.At = o.message, o.typ, o.text, o.line
	t.Kind = outcomeKind(o)
	for _, more := range all[1:] {
		if len(t.Trace) > r.d.lim.Text {
			break
		}
		t.Trace = strings.TrimSpace(t.Trace + "\n\n" + firstOf(more.text, more.message))
	}
	if e, a, ok := splitAssertion(o.message); ok {
		t.Expected, t.Actual = e, a
	} else if e, a, ok := splitAssertion(o.text); ok {
		t.Expected, t.Actual = e, a
	}
	if t.File != "" && t.Line > 0 {
		return
	}
	f, l := placeIn(o.text, t.Suite, t.File)
	if f == "" {
		f, l = placeIn(o.message, t.Suite, t.File)
	}
	switch {
	case f == "":
	case t.File == "":
		if n := len(r.suites); n > 0 && sameFile(r.suites[n-1].file, f) {
			f = r.suites[n-1].file // the fuller or more usual path
		}
		t.File, t.Line = f, l
	case sameFile(t.File, f):
		t.Line = l
	}
}

// outcomeKind says what the element, its type and its words state.
func outcomeKind(o junitOutcome) Kind {
	typ, msg := strings.ToLower(o.typ), strings.ToLower(o.message)
	switch {
	case strings.HasSuffix(typ, "testtimedoutexception"), strings.HasPrefix(msg, "failed: timeout >"), strings.HasPrefix(msg, "timeout of ") && strings.Contains(msg, "exceeded"),
		strings.Contains(msg, "exceeded timeout of "), strings.HasPrefix(msg, "test timed out"):
		return KindTimeout
	case strings.HasPrefix(msg, "failed on setup"), strings.HasPrefix(msg, "failed on teardown"), strings.HasPrefix(msg, "collection failure"), strings.HasPrefix(msg, "test setup failure"), strings.HasPrefix(msg, "test teardown failure"):
		return KindSetup
	case strings.HasSuffix(o.element, "rror"), hasAny(msg, "c++ exception with description", "unknown c++ exception thrown", "seh exception with code"):
		return KindError
	case typ == "" || typ == "failure" || hasAny(typ, "assert", "expect", "comparison", "failed", "failure", "mismatch"):
		if o.typ == "" && exceptionMessage.MatchString(o.message) && !hasAny(msg, "assert") {
			return KindError // pytest: every exception of the test itself is a <failure>
		}
		if typ == "" && !hasAny(msg, "assert", "expect") {
			if _, _, compared := splitAssertion(o.message + "\n" + o.text); !compared {
				return "" // go test and others write every failure so
			}
		}
		return KindAssertion
	}
	return KindError
}

// key returns what two runs of one test have in common, or "" where a second
// test of t's name in its suite may be another test: parametrised tests often
// share a name. It takes the same place stated for both, or pytest, where names
// are unique.
func (r *junitReader) key(t *Test) string {
	pytest := len(r.suites) > 0 && r.suites[len(r.suites)-1].name == "pytest"
	if !pytest && (t.File == "" || t.Line == 0) {
		return ""
	}
	return r.path() + "\x00" + t.Suite + "\x00" + t.Name + "\x00" + t.File + "\x00" + strconv.Itoa(t.Line)
}
