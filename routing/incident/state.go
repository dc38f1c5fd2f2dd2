package incident

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// Standing is how far an incident is.
type Standing string

// The standings.
const (
	Open      Standing = "open"
	Testing   Standing = "testing"   // the cause is said to be over: one member is restarted first
	Resuming  Standing = "resuming"  // the others are restarted one after another
	Over      Standing = "over"      // every member was restarted or has left
	Dismissed Standing = "dismissed" // a person closed it as not planned: nothing is restarted
)

// How is the way in which a member left.
type How string

// The ways.
const (
	LeftPassed How = "passed" // its run passed
	LeftOwn    How = "own"    // it has a further failure of its own
	LeftClosed How = "closed" // the pull request is closed
	LeftOther  How = "other"  // it was not on hold when it was to be linked or restarted: a person decided otherwise
)

// NoteKind is what a comment on the issue says.
type NoteKind string

// The kinds of notes.
const (
	NoteResolved  NoteKind = "resolved"
	NoteReopened  NoteKind = "reopened"
	NoteDismissed NoteKind = "dismissed"
	NoteFinished  NoteKind = "finished"
)

// Note is a comment on the issue.
type Note struct {
	Kind NoteKind
	By   string // the person who caused it, "" for a run
	At   time.Time
}

// Member is one checkpoint of a case that an incident holds.
type Member struct {
	Case       string      `json:"case"`
	Checkpoint string      `json:"checkpoint"`
	Author     string      `json:"author,omitempty"`
	Run        routing.Run `json:"run"` // the newest that failed by the cause

	Joined    time.Time `json:"joined,omitzero"`
	Left      How       `json:"left,omitempty"`
	LeftAt    time.Time `json:"left_at,omitzero"`
	Restarted time.Time `json:"restarted,omitzero"`
}

// Waits reports whether the member is on hold.
func (m Member) Waits() bool { return m.Left == "" && m.Restarted.IsZero() }

// Is reports whether the member is a checkpoint of a case.
func (m Member) Is(key, checkpoint string) bool { return m.Case == key && m.Checkpoint == checkpoint }

// Incident is one cause, or the causes that show themselves together, and the cases that it holds.
type Incident struct {
	trackingissue.Issue
	Causes     []Cause // at least one, all of one kind
	Base       string  // branch whose green run ends it
	Standing   Standing
	Members    []Member // in the order in which they joined
	Red        []routing.Run
	OpenedAt   time.Time
	ResolvedAt time.Time // when the cause was over, as far as is known
	PassedAt   time.Time // when the members after the canary might follow
	EndedAt    time.Time // when it was over or dismissed
	By         string    // who closed it, "" for a green run
	SHA        string    // commit of the green run, "" if a person closed it
	Canary     Member    // zero until one is chosen
	Reopened   int
	Notes      []Note // oldest first
}

// Live reports whether the incident takes further members.
func (i Incident) Live() bool { return i.Standing != Over && i.Standing != Dismissed }

// Ref is what is recorded of the incident with a run.
func (i Incident) Ref() routing.IncidentRef {
	return routing.IncidentRef{ID: i.ID, Kind: i.Kind(), What: i.What(), Number: i.Number, URL: i.URL}
}

// Kind is what the incident comes from.
func (i Incident) Kind() routing.IncidentKind { return i.Causes[0].Kind }

// What names the causes for people. It comes from runs and is hostile.
func (i Incident) What() string {
	what := i.Causes[0].Text()
	if n := len(i.Causes) - 1; n > 0 {
		what += fmt.Sprintf(" (+%d)", n)
	}
	return what
}

// Has reports whether a cause is one of the incident's.
func (i Incident) Has(c Cause) bool {
	return slices.ContainsFunc(i.Causes, func(k Cause) bool { return k.Key() == c.Key() })
}

// Member returns the member that a checkpoint of a case is.
func (i Incident) Member(key, checkpoint string) (Member, bool) {
	for _, m := range i.Members {
		if m.Is(key, checkpoint) {
			return m, true
		}
	}
	return Member{}, false
}

// OnHold counts the members that are on hold.
func (i Incident) OnHold() int {
	n := 0
	for _, m := range i.Members {
		if m.Waits() {
			n++
		}
	}
	return n
}

// Waiting returns the members that are on hold.
func (i Incident) Waiting() []Member {
	var out []Member
	for _, m := range i.Members {
		if m.Waits() {
			out = append(out, m)
		}
	}
	return out
}

// Late reports whether the turn of a checkpoint that is on hold for the incident has passed: it was
// put on hold while the others were restarted.
func (i Incident) Late(key, checkpoint string) bool {
	m, _ := i.Member(key, checkpoint)
	switch i.Standing {
	case Open, Dismissed:
		return false
	case Over:
		return m.Left != LeftClosed
	}
	return !m.Waits() && m.Left != LeftClosed
}

// Sighting is a run that failed by causes that others may share.
type Sighting struct {
	Sighted
	At time.Time
}

// State is the incidents of a repository.
type State struct {
	Incidents []Incident // in the order in which they were opened
	Sightings []Sighting // lately
}

// Projection folds the stream of a repository's incidents.
var Projection = routing.Projection[State]{
	New:   func(string) State { return State{} },
	Clone: State.clone,
	Apply: State.apply,
}

// clone returns a copy that apply may change.
func (s State) clone() State {
	s.Incidents, s.Sightings = slices.Clone(s.Incidents), slices.Clone(s.Sightings)
	for n := range s.Incidents {
		i := &s.Incidents[n]
		i.Causes, i.Members, i.Notes = slices.Clone(i.Causes), slices.Clone(i.Members), slices.Clone(i.Notes)
	}
	return s
}

// Fold returns the incidents of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// ByID returns the incident of an id.
func (s State) ByID(id string) (Incident, bool) { return trackingissue.ByID(s.Incidents, id) }

// ByNumber returns the incident whose issue has a number.
func (s State) ByNumber(n int) (Incident, bool) { return trackingissue.ByNumber(s.Incidents, n) }

// Live returns the incidents that take further members.
func (s State) Live() []Incident {
	return slices.DeleteFunc(slices.Clone(s.Incidents), func(i Incident) bool { return !i.Live() })
}

// Explaining returns the incident that explains all that failed in a verdict, together with others of
// its kind where there are several causes.
func (s State) Explaining(v routing.Verdict) (Incident, bool) {
	keys := map[routing.IncidentKind]map[string]bool{routing.IncidentBase: {}, routing.IncidentEnvironment: {}}
	live := s.Live()
	for _, i := range live {
		for _, c := range i.Causes {
			keys[c.Kind][c.Key()] = true
		}
	}
	causes := CausesOf(v)
	for _, i := range live {
		if slices.ContainsFunc(causes, i.Has) && explains(i.Kind(), keys[i.Kind()], v) {
			return i, true
		}
	}
	return Incident{}, false
}

// TakesBase returns the incident that is to take the failures of a run whose base is known to fail in
// its newest runs, as that of a merge group: one that explains them all, or is to be opened for it. It
// reports false where some failure is not the base's. Seen.Red of Steps.See opens what is not open.
func (s State) TakesBase(base routing.Checkpoint, v routing.Verdict) (cause Cause, open *Incident, ok bool) {
	if i, ok := s.Explaining(v); ok {
		return i.Causes[0], &i, true
	}
	red := Red(base, routing.Verdict{})
	keys := map[string]bool{}
	for _, c := range red {
		if c.Kind == routing.IncidentBase {
			keys[c.Key()] = true
		}
	}
	for _, c := range CausesOf(v) {
		if keys[c.Key()] && explains(routing.IncidentBase, keys, v) {
			return c, nil, true
		}
	}
	return Cause{}, nil, false
}

// How long sightings are kept, and how many at most.
const (
	SightingsLast = 24 * time.Hour
	mostSightings = 500
)

// Apply returns s after an event, or why the event does not follow. It leaves s as it is.
func (s State) Apply(ev routing.Event) (State, error) {
	next, err := s.clone().apply(ev)
	if err != nil {
		return s, err
	}
	return next, nil
}

// apply is Apply that changes s: with a thousand members, copying them for each event would take a
// second.
func (s State) apply(ev routing.Event) (State, error) {
	p, err := routing.PayloadAs[Payload](ev)
	if err != nil {
		return s, err
	}
	switch p := p.(type) {
	case Sighted:
		return s.sighted(p, ev.At)
	case Opened:
		return s.opened(p, ev.At)
	case Widened:
		return s.change(p.ID, nil, func(i *Incident) error {
			for _, c := range p.Causes {
				if !i.Has(c) {
					i.Causes = append(i.Causes, c)
				}
			}
			i.Redraw()
			return nil
		})
	case Joined:
		return s.change(p.ID, nil, func(i *Incident) error { return i.join(p.Member, ev.At) })
	case MemberLeft:
		return s.change(p.ID, nil, func(i *Incident) error { leave(i, p, ev.At); return nil })
	case Resolved:
		return s.change(p.ID, p.Lease, func(i *Incident) error { return resolve(i, p, ev) })
	case Reopened:
		return s.change(p.ID, p.Lease, func(i *Incident) error { return reopen(i, p, ev) })
	case CanaryChosen:
		return s.change(p.ID, nil, func(i *Incident) error {
			m, ok := i.Member(p.Case, p.Checkpoint)
			if i.Standing != Testing || !ok {
				return fmt.Errorf("it is %s: no canary is due", i.Standing)
			}
			i.Canary = m
			return nil
		})
	case CanaryPassed:
		return s.change(p.ID, nil, func(i *Incident) error {
			if i.Standing != Testing {
				return fmt.Errorf("it is %s", i.Standing)
			}
			i.Standing, i.PassedAt = Resuming, ev.At
			i.Redraw()
			return nil
		})
	case MemberRestarted:
		return s.change(p.ID, nil, func(i *Incident) error {
			return i.member(p.Case, p.Checkpoint, func(m *Member) {
				if m.Waits() {
					m.Restarted = ev.At
				}
			})
		})
	case Finished:
		return s.change(p.ID, p.Lease, func(i *Incident) error {
			if i.Standing != Resuming || i.OnHold() > 0 {
				return fmt.Errorf("it is %s, and %d members wait", i.Standing, i.OnHold())
			}
			i.Standing, i.EndedAt = Over, ev.At
			i.note(Note{Kind: NoteFinished, At: ev.At})
			i.Want(trackingissue.WorkClose)
			return nil
		})
	case Leased:
		return s.change(p.ID, p.Lease, func(*Incident) error { return nil })
	case WorkDone:
		return s.change(p.ID, nil, func(i *Incident) error { i.Finish(p.Done); return nil })
	}
	return s, fmt.Errorf("%T is no event of an incident", p)
}

// change returns s with an incident changed by fn.
func (s State) change(id string, lease *routing.Lease, fn func(*Incident) error) (State, error) {
	return s, trackingissue.Change(s.Incidents, "incident", id, lease, fn)
}

func (s State) sighted(p Sighted, at time.Time) (State, error) {
	if p.Case == "" || p.Checkpoint == "" || len(p.Causes) == 0 {
		return s, fmt.Errorf("a sighting without a case, a checkpoint or a cause")
	}
	kept := slices.DeleteFunc(s.Sightings, func(x Sighting) bool { return at.Sub(x.At) > SightingsLast })
	if n := len(kept) - mostSightings + 1; n > 0 {
		kept = slices.Delete(kept, 0, n)
	}
	s.Sightings = append(kept, Sighting{p, at})
	return s, nil
}

func (s State) opened(p Opened, at time.Time) (State, error) {
	for _, i := range s.Incidents {
		if i.ID == p.ID || i.Live() && slices.ContainsFunc(p.Causes, i.Has) {
			return s, fmt.Errorf("incident %s is open already, as %s", p.ID, i.ID)
		}
	}
	if p.ID == "" || len(p.Causes) == 0 || p.Causes[0].Kind == "" {
		return s, fmt.Errorf("an incident without id or cause")
	}
	i := Incident{Issue: trackingissue.Issue{ID: p.ID, Lease: p.Lease}, Causes: slices.Clone(p.Causes), Base: p.Base, Standing: Open, Red: p.Red, OpenedAt: at}
	for _, m := range p.Members {
		if m.Joined.IsZero() {
			m.Joined = at
		}
		i.Members = append(i.Members, m)
	}
	i.Redraw()
	i.Want(trackingissue.WorkMembers)
	s.Incidents = append(s.Incidents, i)
	return s, nil
}

// join takes a member in, or has it wait again.
func (i *Incident) join(m Member, at time.Time) error {
	if !i.Live() {
		return fmt.Errorf("it is %s", i.Standing)
	}
	m.Joined, m.Left, m.LeftAt, m.Restarted = at, "", time.Time{}, time.Time{}
	if n := slices.IndexFunc(i.Members, func(o Member) bool { return o.Is(m.Case, m.Checkpoint) }); n >= 0 {
		m.Joined = i.Members[n].Joined
		i.Members[n] = m
	} else {
		i.Members = append(i.Members, m)
	}
	i.Redraw()
	return nil
}

func leave(i *Incident, p MemberLeft, at time.Time) {
	for n := range i.Members {
		m := &i.Members[n]
		if m.Case == p.Case && (p.Checkpoint == "" || m.Checkpoint == p.Checkpoint) && m.Left == "" {
			m.Left, m.LeftAt = p.How, at
			if i.Canary.Is(m.Case, m.Checkpoint) {
				i.Canary = Member{}
			}
			i.Redraw()
		}
	}
}

func (i *Incident) member(key, checkpoint string, fn func(*Member)) error {
	n := slices.IndexFunc(i.Members, func(m Member) bool { return m.Is(key, checkpoint) })
	if n < 0 {
		return fmt.Errorf("%s/%s is no member", key, checkpoint)
	}
	fn(&i.Members[n])
	i.Redraw()
	return nil
}

func resolve(i *Incident, p Resolved, ev routing.Event) error {
	if i.Standing != Open && !(p.Dismissed && i.Live()) {
		return fmt.Errorf("it is %s", i.Standing)
	}
	i.Said(p.Source)
	i.ResolvedAt, i.By, i.SHA, i.Canary = ev.At, ev.Actor, p.SHA, Member{}
	if p.Dismissed {
		i.Standing, i.EndedAt = Dismissed, ev.At
		i.note(Note{Kind: NoteDismissed, By: ev.Actor, At: ev.At})
		return nil
	}
	i.Standing = Testing
	i.note(Note{Kind: NoteResolved, By: ev.Actor, At: ev.At})
	return nil
}

func reopen(i *Incident, p Reopened, ev routing.Event) error {
	if i.Standing == Open || i.Standing == Over {
		return fmt.Errorf("it is %s", i.Standing)
	}
	i.Said(p.Source)
	i.Standing, i.ResolvedAt, i.PassedAt, i.EndedAt, i.Canary, i.SHA = Open, time.Time{}, time.Time{}, time.Time{}, Member{}, ""
	i.Reopened++
	i.note(Note{Kind: NoteReopened, By: ev.Actor, At: ev.At})
	i.Want(trackingissue.WorkReopen)
	return nil
}

func (i *Incident) note(n Note) {
	i.Notes = append(i.Notes, n)
	i.Comment(len(i.Notes))
}
