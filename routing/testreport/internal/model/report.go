package model

import (
	"strings"
	"time"
)

// Status is what a test ended with, in the terms of CTRF (ctrf.io).
type Status string

// The statuses of a test. Pending is a test that is declared but not written
// (todo, pending, undefined); Other is anything a tool reports that is neither.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Skipped Status = "skipped"
	Pending Status = "pending"
	Other   Status = "other"
)

// Kind tells how a test failed or what kind of problem it is. It is what the
// format itself says, not a guess: "" when it says nothing.
type Kind string

// The kinds. Assertion and Error apply to tests; the others to tests and problems.
const (
	KindAssertion Kind = "assertion" // an expectation did not hold
	KindError     Kind = "error"     // an unexpected exception or error outside an expectation
	KindCrash     Kind = "crash"     // panic, signal, abort
	KindTimeout   Kind = "timeout"   // the runner's own limit fired
	KindSetup     Kind = "setup"     // set-up, tear-down, fixture, import or collection failed
	KindBuild     Kind = "build"     // the code under test or the test did not compile
	KindRace      Kind = "race"      // a data race or sanitizer report
	KindPackage   Kind = "package"   // a package or suite failed as a whole and no test says why; on a passed Test: Counts.Groups
	KindTruncated Kind = "truncated" // the report ends before its end
	KindEmpty     Kind = "empty"     // the report holds nothing
	KindCoverage  Kind = "coverage"  // a threshold was missed
	KindLint      Kind = "lint"      // a linter or formatter said that it failed
	KindTests     Kind = "tests"     // tests failed that the output counts and does not name
	KindExit      Kind = "exit"      // the runner said it failed without naming a test
)

// Test is one test of a report. Suite and Name together name it; Suite is the
// class, package, file or describe-path, its parts joined by " > ", and may be empty.
type Test struct {
	Name     string
	Suite    string
	Status   Status
	Kind     Kind
	Duration time.Duration
	File     string // as printed by the tool, "" if unknown
	Line     int    // 1-based in File, 0 if unknown
	Column   int    // 1-based, 0 if unknown
	Type     string // exception or assertion type, e.g. "AssertionError"
	Message  string // what failed, in the tool's words
	Trace    string // stack trace or block, cut to Limits.Text
	Expected string // set only if the tool itself states both sides
	Actual   string
	Output   string // what the test printed, cut to Limits.Text
	Retries  int    // further attempts after the first
	Flaky    bool   // failed and passed within this report
	Parent   bool   // failed only because a subtest did, which is reported too
	At       int    // 1-based line in the input where the failure (or the test) is reported, 0 if unknown
	// Loose says that a log shows the result within the run of another tool, or alone: a test of that
	// tool may have printed it.
	Loose bool
}

// FullName returns Suite and Name joined as most tools print them.
func (t Test) FullName() string {
	if t.Suite == "" {
		return t.Name
	}
	if strings.HasSuffix(t.Suite, ".py") || strings.Contains(t.Suite, ".py::") {
		return t.Suite + "::" + t.Name // a node id of pytest
	}
	return t.Suite + " > " + t.Name
}

// Problem is a failure that is not a test's: a build or package failure, a
// suite-level error, a crash before the report, a truncated document.
// A report with a problem is never green.
type Problem struct {
	Kind    Kind
	Name    string // what failed: a package, a suite, a file, a target
	File    string
	Line    int
	Column  int
	Message string
	Trace   string
	At      int  // 1-based line in the input, 0 if unknown
	Tests   int  // failing tests that it stands for; they are in the counts of a report
	Loose   bool // see Test.Loose
}

// Severity is how grave a diagnostic is.
type Severity string

// The severities of a diagnostic; an unknown one counts as an error.
const (
	SevError   Severity = "error"
	SevWarning Severity = "warning"
	SevNote    Severity = "note"
)

// Diagnostic is one message of a compiler or linter about a place in a file.
type Diagnostic struct {
	Tool     string
	File     string
	Line     int
	Column   int
	Severity Severity
	Code     string
	Message  string
	At       int // 1-based line in the input
}

// Counts are the totals of a report. Problems are not tests and not in here, but for those of Problem.Tests.
type Counts struct {
	Tests   int `json:"tests"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"` // skipped and pending
	Other   int `json:"other,omitempty"`
	Flaky   int `json:"flaky,omitempty"`
	// Groups are packages or files that passed as a whole and whose tool did
	// not name the tests in them: `ok  example.com/a  0.1s` of go test.
	Groups int `json:"groups,omitempty"`
}

// Report is the parsed output of one run.
type Report struct {
	Formats     []string // names of the formats that recognised something, in order of first sight
	Counts      Counts
	Failing     []Test // in the order reported, at most Limits.Failing
	Flaky       []Test // passed in the end, at most Limits.Failing
	Problems    []Problem
	Diagnostics []Diagnostic
	Duration    time.Duration // sum over tests where the tool states none
	Cut         []string      // what was left out or could not be read, for people
	Lines       int           // lines read
	Bytes       int64         // bytes read

	// LoosePassed and LooseFailed are how many of the tests that passed and failed are loose.
	LoosePassed, LooseFailed int
}

// Green reports whether the report alone holds positive evidence of success: at least one test, or
// a package as a whole, passed, none failed or ended in a status that is not known, and nothing
// outside the tests failed.
func (r *Report) Green() bool {
	return r.Counts.Passed+r.Counts.Groups > 0 && r.Counts.Failed+r.Counts.Other == 0 && len(r.Problems) == 0
}

// Sink takes what a format reads, in the order of the input.
type Sink interface {
	Test(Test)
	Problem(Problem)
	Diagnostic(Diagnostic)
	// Cut notes something that was left out, in a sentence for people.
	Cut(note string)
}

// Limits bound what is kept. Zero fields take the defaults of DefaultLimits.
type Limits struct {
	Line    int // bytes kept of one line
	Text    int // bytes kept of one message, trace or output
	Failing int // failing tests, problems and diagnostics kept, each
	Depth   int // nesting of XML or JSON
	Unnamed int // tests of one log that totals count and nothing names
}

// DefaultLimits returns the limits used where none are given.
func DefaultLimits() Limits {
	return Limits{Line: 1 << 20, Text: 16 << 10, Failing: 2000, Depth: 200, Unnamed: 1 << 22}
}

// WithDefaults returns l with the defaults in its zero fields.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	if l.Line <= 0 {
		l.Line = d.Line
	}
	if l.Text <= 0 {
		l.Text = d.Text
	}
	if l.Failing <= 0 {
		l.Failing = d.Failing
	}
	if l.Depth <= 0 {
		l.Depth = d.Depth
	}
	if l.Unnamed <= 0 {
		l.Unnamed = d.Unnamed
	}
	return l
}
