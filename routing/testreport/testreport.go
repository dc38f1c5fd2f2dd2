// Package testreport reads the test output of one run, whatever tool printed it, from an io.Reader
// in one pass and in bounded memory.
//
// [Parse] reads an input into a [Report]; [Read] hands what it finds to a [Sink] as it goes. Both
// detect the format: a document (XML, JSON) is read by the format that recognises its first bytes,
// anything else is a log, of which every line is shown to the consoles of all formats. So a log may
// hold the output of several tools, also documents, between lines of none.
//
// # Limits
//
// The input is taken for hostile. It may be gzip, UTF-8 or UTF-16; what is unpacked is bounded.
// Lines are cleaned of time stamps, ANSI sequences, control, zero-width and bidirectional
// characters. Memory is bounded by [Limits], whatever the input claims: long lines and texts lose
// their middle, failures past the limit are counted and not kept, entities of XML beyond the five
// of the language and numeric ones are not expanded, nothing outside the input is opened. What was
// left out is said in Report.Cut. A document that breaks off is read up to there, and its report is
// never green.
//
// The texts of a report are those of the input, cleaned: escape them for where they are shown.
//
// # More formats
//
// [Register] adds a format; those of this module are registered in the same way. A format reads
// either documents or, as a [Console], lines among other lines.
//
// # Stability
//
// Before 1.0 of the module anything here may change with a minor version. Not expected to change
// are Parse, Read, the fields and constants of Report, Test, Problem and Diagnostic, and the names
// of formats. Expected to change are Format, Document, Console and Wake, as more formats need more,
// and the words of messages and of Report.Cut. What a format recognises grows with every version:
// the same input may give a fuller report.
package testreport

import (
	"io"

	"github.com/switchback-ci/switchback/routing/testreport/internal/bounded"
	"github.com/switchback-ci/switchback/routing/testreport/internal/format"
	_ "github.com/switchback-ci/switchback/routing/testreport/internal/formats" // registers them
	"github.com/switchback-ci/switchback/routing/testreport/internal/formats/lint"
	"github.com/switchback-ci/switchback/routing/testreport/internal/lines"
	"github.com/switchback-ci/switchback/routing/testreport/internal/model"
	"github.com/switchback-ci/switchback/routing/testreport/internal/reader"
)

// What is read: a Report holds the totals and what did not pass.
type (
	Report     = model.Report
	Counts     = model.Counts
	Test       = model.Test
	Problem    = model.Problem
	Diagnostic = model.Diagnostic
	Status     = model.Status
	Kind       = model.Kind
	Severity   = model.Severity
)

// How it is read.
type (
	Options   = model.Options   // steer Read
	Limits    = model.Limits    // bound what is kept
	Info      = model.Info      // what Read saw
	Line      = lines.Line      // a line of a log, cleaned
	Sink      = model.Sink      // takes what is read
	Collector = model.Collector // the Sink that builds a Report
)

// What a format is made of, see Register.
type (
	Format   = format.Format
	Document = format.Document
	Console  = format.Console
	Sleeper  = format.Sleeper
	Wake     = format.Wake
)

// The statuses of a test. Pending is a test that is declared but not written
// (todo, pending, undefined); Other is anything a tool reports that is neither.
const (
	Passed  = model.Passed
	Failed  = model.Failed
	Skipped = model.Skipped
	Pending = model.Pending
	Other   = model.Other
)

// The kinds. Assertion and Error apply to tests; the others to tests and problems.
const (
	KindAssertion = model.KindAssertion // an expectation did not hold
	KindError     = model.KindError     // an unexpected exception or error outside an expectation
	KindCrash     = model.KindCrash     // panic, signal, abort
	KindTimeout   = model.KindTimeout   // the runner's own limit fired
	KindSetup     = model.KindSetup     // set-up, tear-down, fixture, import or collection failed
	KindBuild     = model.KindBuild     // the code under test or the test did not compile
	KindRace      = model.KindRace      // a data race or sanitizer report
	KindPackage   = model.KindPackage   // a package or suite failed as a whole and no test says why
	KindTruncated = model.KindTruncated // the report ends before its end
	KindEmpty     = model.KindEmpty     // the report holds nothing
	KindCoverage  = model.KindCoverage  // a threshold was missed
	KindLint      = model.KindLint      // a linter or formatter said that it failed
	KindTests     = model.KindTests     // tests failed that the output counts and does not name
	KindExit      = model.KindExit      // the runner said it failed without naming a test
)

// The severities of a diagnostic; an unknown one counts as an error.
const (
	SevError   = model.SevError
	SevWarning = model.SevWarning
	SevNote    = model.SevNote
)

// The errors of Parse and Read, to be compared with errors.Is.
var (
	ErrEmpty         = model.ErrEmpty         // the input holds no byte but white space
	ErrUnknownFormat = model.ErrUnknownFormat // no format recognised anything in the input
	ErrPacked        = reader.ErrPacked       // the input is packed in a way that is not read
)

// Parse reads r into a Report. An input that is empty or in no known format
// gives an error and, for ErrUnknownFormat, the report of what was seen.
func Parse(r io.Reader, opt Options) (*Report, error) { return reader.Parse(r, opt) }

// Read reads r to its end, unpacked if it is packed with gzip, and hands what
// it finds to out. It returns ErrEmpty, ErrUnknownFormat or ErrPacked (wrapped),
// an error for an unknown Options.Format, or an error of r.
func Read(r io.Reader, opt Options, out Sink) (Info, error) { return reader.Read(r, opt, out) }

// NewCollector returns an empty Collector; zero limits take the defaults.
func NewCollector(lim Limits) *Collector { return model.NewCollector(lim) }

// DefaultLimits returns the limits used where none are given.
func DefaultLimits() Limits { return model.DefaultLimits() }

// Register makes formats known, as a rule in the init function of the package that reads them. It
// panics if a format has no name, one that is taken, not exactly one of Document and Console, or a
// Document without Detect. It may be called while inputs are read; those do not see the format.
func Register(formats ...Format) { format.Register(formats...) }

// Names returns the names of all formats that Options.Format may ask for, sorted. A format of the
// errorformat library whose name another format has is read as "errorformat:NAME".
func Names() []string { return format.Names() }

// Machine reports whether the format name is written for machines, not for people: a document of
// tests, or a stream of events. Where both were read of one run, it is the one to count.
func Machine(name string) bool { return reader.Machine(name) }

// Compiler reports whether errors of the tool of a Diagnostic keep code from building.
func Compiler(tool string) bool { return lint.Compiler(tool) }

// CutText returns s if it has at most max bytes, else its first three quarters and its last quarter
// of max around a note of how much is missing. It never cuts inside a rune.
func CutText(s string, max int) string { return bounded.CutText(s, max) }

// Invisible reports whether r shows nothing or changes the direction of what follows it: controls,
// zero-width and bidirectional formatting characters, variation tags.
func Invisible(r rune) bool { return lines.Invisible(r) }
