package testreport

import (
	"fmt"
	"strings"
)

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
	first Problem
}

func (s *junitShort) add(more junitShort) {
	if s.n == 0 {
		s.first = more.first
	}
	s.n += more.n
	s.tests += more.tests
}

// declare reads the attributes of a suite's start tag.
func (c *junitSuite) declare(x *xmlReader) {
	c.titled = strings.Contains(c.name, " ") && x.attr("timestamp") == "" && x.attr("hostname") == ""
	for _, a := range [...]string{"skipped", "skips", "skip", "disabled", "ignored"} {
		if n := declared(x.attr(a)); n >= 0 {
			c.skips += n
			c.titled = false
		}
	}
	switch {
	case c.name == "pytest", c.root && c.name == "pytest tests":
		c.loose = true
	case x.attr("hostname") == "tbd": // Catch2
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
		r.d.out.Cut(fmt.Sprintf("line %d: every test of suite %q was skipped without a reason; GoogleTest does so when the set-up of the suite fails, too", s.line, CutText(r.path(), 200)))
	}
	if lost := s.bad - s.failures - s.accounted; lost > 0 {
		missing += lost
		r.failed = true
		r.d.out.Problem(Problem{
			Kind: KindPackage, Name: r.path(), File: s.file, At: s.line,
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
	case s.tests <= listed, s.nested && s.tests == s.inner, s.short.n > 0:
	case s.loose && s.cases > 0:
		r.d.out.Cut(fmt.Sprintf("line %d: suite %q declares %d tests and holds %d", s.line, CutText(r.path(), 200), s.tests, s.cases))
	default:
		p := Problem{Kind: KindTruncated, Name: r.path(), File: s.file, At: s.line, Message: fmt.Sprintf("the suite declares %d tests and holds none", s.tests)}
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
	if r.failed || r.held.failed {
		r.d.out.Cut(fmt.Sprintf("line %d: %s: %s", p.At, CutText(p.Name, 200), p.Message))
		return
	}
	r.d.out.Problem(p)
}
