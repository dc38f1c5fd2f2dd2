package routing

import (
	"strings"
	"time"
)

// How long the failures of a test do not count: at most, and where nobody says otherwise.
const (
	MaxQuarantine     = 30 * 24 * time.Hour
	DefaultQuarantine = 14 * 24 * time.Hour
)

// MaxQuarantined is how many tests of a repository may be in quarantine at a time.
const MaxQuarantined = 50

// NamedTest is a test in quarantine by the configuration, by its name with or without its suite.
type NamedTest struct {
	Test  string
	Until time.Time // when its failures count again
}

// quarantined returns the tests that are in quarantine by the configuration at a time.
func (p Policy) quarantined(now time.Time) []string {
	var out []string
	for _, q := range p.Quarantine {
		if now.Before(q.Until) {
			out = append(out, q.Test)
		}
	}
	return out
}

// Register is the quarantine of a repository as it was when a run was recorded, as far as the
// failures of the run are concerned.
type Register struct {
	Entries []QuarantineEntry `json:"entries,omitempty"`
}

// RegisterBegun is the payload of EventRegister. Who reads the case of the default branch anyway knows
// by it whether there is a quarantine to be read.
type RegisterBegun struct{}

// RegisterEvent returns the event that says that a repository has a quarantine.
func RegisterEvent(caseKey string, now time.Time) Event {
	return Event{Type: EventRegister, At: now, Stream: caseKey, Data: RegisterBegun{}}
}

// QuarantineEntry is a test of a checkpoint in quarantine.
type QuarantineEntry struct {
	Suite string    `json:"suite,omitempty"`
	Name  string    `json:"name"`
	Until time.Time `json:"until"`           // when its failures count again
	Issue int       `json:"issue,omitempty"` // number of the issue about it, 0 until it is opened
	URL   string    `json:"url,omitempty"`   // of the issue
}

// entry returns the entry by which a failure does not count at a time, nil if it counts.
func (r *Register) entry(f Failure, at time.Time) *QuarantineEntry {
	if r == nil || noTest[f.Kind] {
		return nil
	}
	for i, e := range r.Entries {
		if e.Suite == f.Suite && e.Name == f.Name && at.Before(e.Until) {
			return &r.Entries[i]
		}
	}
	return nil
}

// Names reports whether a text names a test: by its name, or with that of its suite before it.
func (t TestRef) Names(written string) bool {
	return Failure{Suite: t.Suite, Name: t.Name}.IsTest(strings.TrimSpace(written))
}

// TestRef is a test of a checkpoint.
type TestRef struct {
	Checkpoint string `json:"checkpoint"`
	Suite      string `json:"suite,omitempty"`
	Name       string `json:"name"`
	File       string `json:"file,omitempty"` // path in the repository where known, else as printed
}

// Tests returns the tests among the failures of v, each once.
func (v Verdict) Tests() []TestRef {
	var out []TestRef
	seen := map[[2]string]bool{}
	add := func(f Failure) {
		if at := [2]string{f.Suite, f.Name}; f.IsTest(f.Name) && !seen[at] {
			seen[at] = true
			out = append(out, TestRef{v.Checkpoint, f.Suite, f.Name, f.File})
		}
	}
	for _, f := range v.Failures {
		add(f)
	}
	for _, f := range v.Cut {
		add(f.failure())
	}
	return out
}
