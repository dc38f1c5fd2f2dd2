// Package routing is the pure core: it decides what happens to a checkpoint
// whose run has ended, and folds the events of a ledger into the state it
// decides from. It knows no clock, network, file or context.
package routing

import "github.com/switchback-ci/switchback/routing/history"

// Class says what kind of thing failed, and so who can fix it.
type Class string

// The classes. The first four are fixable by the worker; see Fixable.
const (
	NotImplemented Class = "NOT_IMPLEMENTED" // the thing under test does not exist yet
	LogicError     Class = "LOGIC_ERROR"     // it exists and does the wrong thing
	TypeError      Class = "TYPE_ERROR"      // it does not compile or type-check
	Quality        Class = "QUALITY"         // lint, format, licence, policy, coverage
	DesignMismatch Class = "DESIGN_MISMATCH" // test and design contradict each other
	EnvIssue       Class = "ENV_ISSUE"       // the machine, network, registry, credentials, disk, memory
	Timeout        Class = "TIMEOUT"         // a limit of time fired
	Flaky          Class = "FLAKY"           // failed and passed on one commit; never by keyword
	Unknown        Class = "UNKNOWN"         // no evidence for any of the others
)

// Classes lists all classes in order of precedence: where failures of several
// classes stop one run, the first of this list that is present decides.
func Classes() []Class {
	return []Class{DesignMismatch, EnvIssue, Timeout, TypeError, NotImplemented, LogicError, Quality, Flaky, Unknown}
}

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool {
	for _, k := range Classes() {
		if c == k {
			return true
		}
	}
	return false
}

// Fixable reports whether a worker can fix a failure of class c by reworking.
func (c Class) Fixable() bool {
	switch c {
	case NotImplemented, LogicError, TypeError, Quality, Flaky:
		return true
	}
	return false
}

// Phase is the stage of work that a rework goes back to.
type Phase string

// The phases, in the order they run; review follows implement.
const (
	Research  Phase = "research"
	Plan      Phase = "plan"
	Implement Phase = "implement"
	Review    Phase = "review"
)

// Phases lists the phases in their order.
func Phases() []Phase { return []Phase{Research, Plan, Implement, Review} }

// Evidence is one line that decided a class.
type Evidence struct {
	Line   int    `json:"line,omitempty"` // 1-based in the input, 0 if not of a line
	Text   string `json:"text"`
	Signal string `json:"signal"` // name of the rule, or of the field of the report
}

// Failure is one failing test, diagnostic or problem of a run, diagnosed.
// Text fields are raw and hostile: whoever shows them sanitises and redacts.
type Failure struct {
	Name        string     `json:"name"`
	Suite       string     `json:"suite,omitempty"`
	Class       Class      `json:"class"`
	Evidence    []Evidence `json:"evidence,omitempty"`
	Fingerprint string     `json:"fingerprint"`
	File        string     `json:"file,omitempty"` // path in the repository where known, else as printed
	Line        int        `json:"line,omitempty"`
	Kind        string     `json:"kind,omitempty"` // report.Kind, "diagnostic", or "problem"
	Message     string     `json:"message,omitempty"`
	Expected    string     `json:"expected,omitempty"`
	Actual      string     `json:"actual,omitempty"`
	Trace       string     `json:"trace,omitempty"`   // the few lines that matter, cut
	Excerpt     *Excerpt   `json:"excerpt,omitempty"` // code around File:Line at the run's commit
	Suggestion  string     `json:"suggestion,omitempty"`
	Certain     bool       `json:"certain,omitempty"`  // Suggestion is a remedy, and not only where to look
	Decisive    bool       `json:"decisive,omitempty"` // what stopped the run
	Flaky       bool       `json:"flaky,omitempty"`
	Quarantined bool       `json:"quarantined,omitempty"` // it does not count, as a human or the configuration said
	Was         Class      `json:"was,omitempty"`         // what Class was before a human corrected it

	Quarantine *QuarantineEntry `json:"quarantine,omitempty"` // of the repository, by which it is Quarantined

	Standing       history.Standing `json:"standing,omitempty"`         // against the base, "" where none was asked for
	Since          string           `json:"since,omitempty"`            // first commit of the base that fails like this
	SinceMergeBase bool             `json:"since_merge_base,omitempty"` // the base fails like this only since the merge base
	BaseMessage    string           `json:"base_message,omitempty"`     // what the base says where it fails the test in another way
}

// Excerpt is a piece of a file of the repository at the run's commit.
type Excerpt struct {
	File  string   `json:"file"`
	Start int      `json:"start"` // 1-based number of the first of Lines
	Mark  int      `json:"mark"`  // 1-based number of the failing line
	Lines []string `json:"lines"`
}
