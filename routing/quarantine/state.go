// Package quarantine says which tests of a repository do not count, why, and until when. It is pure:
// the state of a repository's quarantine is folded from the events of one stream, and what follows
// from the time is asked for with the time.
package quarantine

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Standing is how far a test is.
type Standing string

// The standings.
const (
	Seen         Standing = "seen"        // it has flake evidence, too little to propose anything
	ProposedTest Standing = "proposed"    // a maintainer is asked
	Quarantined  Standing = "quarantined" // its failures do not count before Until
	Ended        Standing = "expired"     // they count again, and nobody has said what follows
	Settled      Standing = "released"    // a person released it, or declined
)

// NoteKind is what a comment on the issue says.
type NoteKind string

// The kinds of notes.
const (
	NoteBegan    NoteKind = "began"
	NoteFixing   NoteKind = "fixing"
	NoteReminder NoteKind = "reminder"
	NoteExpired  NoteKind = "expired"
	NotePassing  NoteKind = "passing"
	NoteReleased NoteKind = "released"
)

// Note is a comment on the issue of a test.
type Note struct {
	Kind   NoteKind
	By     string // the person who caused it, "" for the time
	At     time.Time
	Until  time.Time // of the quarantine then
	Passes int       // of NotePassing
}

// Entry is what a repository's quarantine knows of one test.
type Entry struct {
	trackingissue.Issue // its ID is that of the test, in hexadecimal
	routing.TestRef
	Owners   []string // logins and teams with "@", as CODEOWNERS names them
	Evidence []Evidence
	Standing Standing
	Asked    time.Time // when the issue was first wanted
	Since    time.Time // begin of the newest quarantine
	Until    time.Time // and its end
	By       string    // who put it there
	Fixer    string    // who wants it to be fixed, "" if nobody does
	Notes    []Note    // oldest first
	Reminded bool      // of the end of the newest quarantine
	Offered  bool      // its release was proposed since it began
	Declined time.Time // when it was released last
}

// TestID returns the id of the test.
func (e Entry) TestID() history.ID { return history.TestID(e.Checkpoint, e.Suite, e.Name) }

// IDOf returns the id of the entry of a test.
func IDOf(t routing.TestRef) string {
	return fmt.Sprintf("%016x", uint64(history.TestID(t.Checkpoint, t.Suite, t.Name)))
}

// Excuses reports whether failures of the test do not count at a time.
func (e Entry) Excuses(now time.Time) bool {
	return e.Standing == Quarantined && now.Before(e.Until) && e.Until.Sub(e.Since) <= routing.MaxQuarantine
}

// Open reports whether the test has an issue that waits for somebody.
func (e Entry) Open() bool {
	return e.Standing == ProposedTest || e.Standing == Quarantined || e.Standing == Ended
}

// Name returns the test with its suite.
func (e Entry) Title() string { return routing.TestName(e.Suite, e.Name) }

// State is the quarantine of a repository.
type State struct {
	Entries []Entry // in the order in which they were first seen
}

// Projection folds the stream of a repository's quarantine.
var Projection = routing.Projection[State]{
	New:   func(string) State { return State{} },
	Apply: State.Apply,
}

// Fold returns the quarantine of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Entry returns what is known of a test by its id.
func (s State) Entry(id string) (Entry, bool) { return trackingissue.ByID(s.Entries, id) }

// ByNumber returns the entry whose issue has a number.
func (s State) ByNumber(n int) (Entry, bool) { return trackingissue.ByNumber(s.Entries, n) }

func (s State) index(id string) int {
	return slices.IndexFunc(s.Entries, func(e Entry) bool { return e.ID == id })
}

// Excused returns the entries whose failures do not count at a time.
func (s State) Excused(now time.Time) []Entry {
	var out []Entry
	for _, e := range s.Entries {
		if e.Excuses(now) {
			out = append(out, e)
		}
	}
	return out
}

// Register returns what the quarantine says of the failures of a verdict at a time.
func (s State) Register(v routing.Verdict, now time.Time) *routing.Register {
	out := &routing.Register{}
	excused := s.Excused(now)
	if len(excused) == 0 {
		return out
	}
	failed := map[string]bool{}
	for _, t := range v.Tests() {
		failed[IDOf(t)] = true
	}
	for _, e := range excused {
		if failed[e.ID] {
			out.Entries = append(out.Entries, routing.QuarantineEntry{Suite: e.Suite, Name: e.Name, Until: e.Until, Issue: e.Number, URL: e.URL})
		}
	}
	return out
}

// mostEvidence bounds the evidence that is kept of one test, and mostSeen the tests that have nothing
// but evidence.
const (
	mostEvidence = 10
	mostSeen     = 500
)

// Apply returns s after an event, or why the event does not follow.
func (s State) Apply(ev routing.Event) (State, error) {
	p, err := routing.PayloadAs[Payload](ev)
	if err != nil {
		return s, err
	}
	s.Entries = slices.Clone(s.Entries)
	switch p := p.(type) {
	case Flaked:
		return s.flaked(p)
	case Proposed:
		return s.change(p.ID, p.Lease, func(e *Entry) error { return e.propose(ev.At) })
	case Began:
		return s.began(p, ev)
	case Fixing:
		return s.change(p.ID, p.Lease, func(e *Entry) error {
			if !e.Open() {
				return fmt.Errorf("it is %s", e.Standing)
			}
			e.Fixer = ev.Actor
			e.Said(p.Source)
			e.note(Note{Kind: NoteFixing, By: ev.Actor, At: ev.At})
			return nil
		})
	case Reminded:
		return s.change(p.ID, p.Lease, func(e *Entry) error {
			if e.Standing != Quarantined || e.Reminded || !e.Until.Equal(p.Until) {
				return fmt.Errorf("no reminder is due")
			}
			e.Reminded = true
			e.note(Note{Kind: NoteReminder, At: ev.At})
			return nil
		})
	case Expired:
		return s.change(p.ID, p.Lease, func(e *Entry) error {
			if e.Standing != Quarantined || ev.At.Before(e.Until) {
				return fmt.Errorf("it has not expired")
			}
			e.Standing = Ended
			e.note(Note{Kind: NoteExpired, At: ev.At})
			return nil
		})
	case Passing:
		return s.change(p.ID, p.Lease, func(e *Entry) error {
			if !e.Open() || e.Offered {
				return fmt.Errorf("its release is not to be proposed")
			}
			e.Offered = true
			e.note(Note{Kind: NotePassing, At: ev.At, Passes: p.Passes})
			return nil
		})
	case Released:
		return s.change(p.ID, p.Lease, func(e *Entry) error {
			if !e.Open() {
				return fmt.Errorf("it is %s", e.Standing)
			}
			e.Standing, e.Declined, e.Fixer = Settled, ev.At, ""
			e.Said(p.Source)
			e.note(Note{Kind: NoteReleased, By: ev.Actor, At: ev.At})
			e.Want(trackingissue.WorkClose)
			return nil
		})
	case Leased:
		return s.change(p.ID, p.Lease, func(*Entry) error { return nil })
	case WorkDone:
		return s.change(p.ID, nil, func(e *Entry) error { e.done(p); return nil })
	}
	return s, fmt.Errorf("%T is no event of a quarantine", p)
}

// change returns s with an entry changed by fn.
func (s State) change(id string, lease *routing.Lease, fn func(*Entry) error) (State, error) {
	err := trackingissue.Change(s.Entries, "test", id, lease, func(e *Entry) error {
		e.Notes, e.Evidence = slices.Clone(e.Notes), slices.Clone(e.Evidence)
		return fn(e)
	})
	return s, err
}

// with returns s with an entry of a test, and the entry's id.
func (s State) with(t routing.TestRef) (State, string) {
	id := IDOf(t)
	if i := s.index(id); i >= 0 {
		if s.Entries[i].File == "" {
			s.Entries[i].File = t.File
		}
		return s, id
	}
	seen := 0
	for _, e := range s.Entries {
		if e.Standing == Seen {
			seen++
		}
	}
	if seen >= mostSeen {
		i := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.Standing == Seen })
		s.Entries = slices.Delete(s.Entries, i, i+1)
	}
	s.Entries = append(s.Entries, Entry{Issue: trackingissue.Issue{ID: id}, TestRef: t, Standing: Seen})
	return s, id
}

func (s State) flaked(p Flaked) (State, error) {
	if p.Test.Name == "" || p.Test.Checkpoint == "" || p.Evidence.Case == "" {
		return s, fmt.Errorf("evidence without a test or a case")
	}
	s, id := s.with(p.Test)
	return s.change(id, nil, func(e *Entry) error { e.learn(p.Evidence); return nil })
}

func (s State) began(p Began, ev routing.Event) (State, error) {
	switch long := p.Until.Sub(ev.At); {
	case p.Test.Name == "" || p.Test.Checkpoint == "":
		return s, fmt.Errorf("a quarantine of no test")
	case long <= 0 || long > routing.MaxQuarantine:
		return s, fmt.Errorf("a quarantine of %s; it lasts at most %s", long, routing.MaxQuarantine)
	}
	s, id := s.with(p.Test)
	return s.change(id, p.Lease, func(e *Entry) error {
		for _, x := range p.Evidence {
			e.learn(x)
		}
		e.ask(ev.At)
		if e.Standing == Settled {
			e.Want(trackingissue.WorkReopen)
		}
		e.Standing, e.Since, e.Until, e.By = Quarantined, ev.At, p.Until, ev.Actor
		e.Reminded, e.Offered = false, false
		e.Said(p.Source)
		e.note(Note{Kind: NoteBegan, By: ev.Actor, At: ev.At})
		return nil
	})
}

// learn adds evidence that is not known.
func (e *Entry) learn(x Evidence) {
	known := func(k Evidence) bool {
		return k.Case == x.Case && k.Failed.Key() == x.Failed.Key() && k.Failed.Part == x.Failed.Part
	}
	if i := slices.IndexFunc(e.Evidence, known); i >= 0 {
		if e.Evidence[i].Passed.ID == "" {
			e.Evidence[i] = x
		}
		return
	}
	e.Evidence = append(e.Evidence, x)
	if n := len(e.Evidence) - mostEvidence; n > 0 {
		e.Evidence = slices.Delete(e.Evidence, 0, n)
	}
}

// ask wants the issue.
func (e *Entry) ask(at time.Time) {
	if e.Asked.IsZero() {
		e.Asked = at
	}
	if e.Number == 0 {
		e.Want(trackingissue.WorkOwners)
	}
}

func (e *Entry) propose(at time.Time) error {
	if e.Open() {
		return fmt.Errorf("it is %s", e.Standing)
	}
	e.ask(at)
	if e.Standing == Settled {
		e.Want(trackingissue.WorkReopen)
	}
	e.Standing, e.Fixer, e.Offered = ProposedTest, "", false
	e.Redraw()
	return nil
}

// note adds a comment.
func (e *Entry) note(n Note) {
	n.Until = e.Until
	e.Notes = append(e.Notes, n)
	e.Comment(len(e.Notes))
}

func (e *Entry) done(p WorkDone) {
	if p.Work == trackingissue.WorkOwners && slices.Contains(e.Pending, p.Work) {
		e.Owners = p.Owners
	}
	e.Finish(p.Done)
}
