package escalation

import (
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Record is one escalation of a repository: an issue, and the cases it holds.
// An open record has at least one member.
type Record struct {
	ID          string       `json:"id"` // of the host when it was opened; the key of the marker
	Session     string       `json:"session_id"`
	Port        string       `json:"port_id"`
	Kind        routing.Kind `json:"kind"`
	Type        Type         `json:"type"`
	Severity    Severity     `json:"severity"`
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Context     string       `json:"context"`
	Suggested   []string     `json:"suggested_actions"`

	Members []Member `json:"members,omitempty"` // that wait, the host first
	Left    []Member `json:"left,omitempty"`    // that no longer wait, in the order they left

	Number int            `json:"number,omitempty"` // of the issue, 0 until it is filed
	URL    string         `json:"url,omitempty"`
	Gone   bool           `json:"gone,omitempty"`  // the issue was deleted or transferred: filed again at new evidence
	Lease  *routing.Lease `json:"lease,omitempty"` // of the process that files the issue, while there is no number

	Generation int        `json:"generation"` // answers consumed so far; that of the questions
	Answers    []Answered `json:"answers,omitempty"`

	OpenedAt    time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"` // grows with every event of the record
	ResolvedAt  time.Time `json:"resolved_at,omitzero"`
	ResolvedBy  string    `json:"resolved_by,omitempty"`
	Resolution  string    `json:"resolution,omitempty"`
	Fix         string    `json:"fix,omitempty"`     // commit at which the last member left
	Settled     bool      `json:"settled,omitempty"` // the issue shows that it is resolved
	Reopened    int       `json:"reopened,omitempty"`
	Dismissed   string    `json:"dismissed,omitempty"` // commit for which a human closed it
	DismissedAt time.Time `json:"dismissed_at,omitzero"`
	ClosedAt    time.Time `json:"closed_at,omitzero"`   // when a human closed it the last time that is known
	RecalledAt  time.Time `json:"recalled_at,omitzero"` // when a closed issue was called upon again
	Fuse        bool      `json:"fuse,omitempty"`       // the summary of what was not filed one by one
}

// Member is one checkpoint of a case that an escalation holds.
type Member struct {
	Case       string       `json:"case"`
	Checkpoint string       `json:"checkpoint"`
	Kind       routing.Kind `json:"kind"`
	Type       Type         `json:"type"`
	Group      string       `json:"group,omitempty"` // of its decisive failure, "" where there is none
	SHA        string       `json:"sha,omitempty"`   // newest failing commit
	Run        string       `json:"run,omitempty"`   // key of the newest failing run
	RunURL     string       `json:"run_url,omitempty"`
	First      string       `json:"first,omitempty"` // the failing test named first
	Gen        int          `json:"gen"`             // of the case when this was written
	Opened     time.Time    `json:"opened"`          // when the case called
	At         time.Time    `json:"at"`              // of the newest evidence

	LeftAt time.Time `json:"left_at,omitzero"`
	How    How       `json:"how,omitempty"`
	By     string    `json:"by,omitempty"`  // the human who ended it
	Fix    string    `json:"fix,omitempty"` // commit that passed, or at which a human ended it
}

// How is the way in which a member left.
type How string

// The ways.
const (
	Passed   How = "passed"   // a green run
	Released How = "released" // a human's answer
	WontFix  How = "wont-fix" // a human leaves it as it is
	Moved    How = "moved"    // to another record
	Folded   How = "incident" // into an incident
)

// Answered is one answer that was consumed.
type Answered struct {
	Generation int       `json:"generation"` // of the questions that were answered
	By         string    `json:"by"`
	ByID       int64     `json:"by_id,omitempty"`
	Boxes      []string  `json:"boxes,omitempty"` // ids of the boxes ticked
	SHA        string    `json:"sha,omitempty"`
	At         time.Time `json:"at"`
	Fanned     bool      `json:"fanned,omitempty"` // every member's case has it
}

// Open reports whether the record waits for a human.
func (r Record) Open() bool { return r.ResolvedAt.IsZero() }

// Key names the member.
func (m Member) Key() string { return m.Case + "/" + m.Checkpoint }

func (r Record) member(key string) int {
	return slices.IndexFunc(r.Members, func(m Member) bool { return m.Key() == key })
}

// Holds reports whether a checkpoint of a case waits by this record.
func (r Record) Holds(caseKey, checkpoint string) bool {
	return r.member(caseKey+"/"+checkpoint) >= 0
}

// Host is the member whose case the report is about.
func (r Record) Host() Member {
	if len(r.Members) > 0 {
		return r.Members[0]
	}
	if n := len(r.Left); n > 0 {
		return r.Left[n-1]
	}
	return Member{Case: r.Session, Checkpoint: r.Port}
}

// Newest is the member of the newest evidence.
func (r Record) Newest() Member {
	best := r.Host()
	for _, m := range r.Members {
		if m.At.After(best.At) {
			best = m
		}
	}
	return best
}

// Mark orders what the issue has said: a post of a larger mark is newer.
func (r Record) Mark() int { return int(max(0, r.UpdatedAt.UnixMilli())) << 12 }

// Group names what escalations of several cases have in common: the kind of
// the decision and the fingerprint of the decisive failure of the newest turn
// that called. It is "" where that failure has no fingerprint.
func Group(cp routing.Checkpoint) string {
	story := untilEscalation(cp.Story())
	if len(story) == 0 {
		return ""
	}
	last := story[len(story)-1]
	if f, ok := decisive(last.Verdict); ok && f.Fingerprint != "" && last.Kind.Escalates() {
		return string(last.Kind) + "/" + f.Fingerprint
	}
	return ""
}

// First returns the name of the failing test that a verdict names first.
func First(v routing.Verdict) string {
	if f, ok := decisive(v); ok {
		return Name(f)
	}
	return ""
}

// Files returns the files of the failures of v, the decisive one's first, each
// once.
func Files(v routing.Verdict) []string {
	var out []string
	add := func(f routing.Failure) {
		if name := strings.TrimPrefix(f.File, "./"); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	if f, ok := decisive(v); ok {
		add(f)
	}
	for _, f := range v.Failures {
		add(f)
	}
	return out
}
