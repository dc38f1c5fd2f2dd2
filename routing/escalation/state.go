package escalation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// State is all escalations of a repository: the fold of its register.
// It is a value: no method changes it.
type State struct {
	Version int      // events folded
	Records []Record // in the order they were opened
}

// What a change of the register may be refused for.
var (
	ErrUnknown  = errors.New("there is no such escalation")
	ErrResolved = errors.New("the escalation is resolved already")
	ErrOpen     = errors.New("the same escalation is open already")
)

// AnsweredError says that somebody else's answer came first.
type AnsweredError struct{ First Answered }

func (e *AnsweredError) Error() string {
	return fmt.Sprintf("answered before, by %s at %s", e.First.By, e.First.At.UTC().Format(time.RFC3339))
}

// Projection folds the stream of a repository's escalations.
var Projection = routing.Projection[State]{
	New:   func(string) State { return State{} },
	Apply: State.Apply,
}

// Fold returns the escalations of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Apply returns the escalations after e.
func (r State) Apply(e routing.Event) (State, error) {
	read, known := payloads[e.Type]
	if !known {
		return r, fmt.Errorf("unknown event type %q", e.Type)
	}
	p, err := read(e)
	if err != nil {
		return r, err
	}
	next := State{Version: r.Version + 1, Records: slices.Clone(r.Records)}
	if opened, ok := p.(RecordOpened); ok {
		return next.open(opened.Record, e.At)
	}
	i := next.index(p.record())
	if i < 0 {
		return r, fmt.Errorf("%s %s: %w", e.Type.Name(), p.record(), ErrUnknown)
	}
	rec, err := next.Records[i].apply(p, e.At)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", e.Type.Name(), p.record(), err)
	}
	rec.UpdatedAt = later(rec.UpdatedAt, e.At)
	next.Records[i] = rec
	return next, nil
}

// Filed returns the issue that an event of the stream gives to the escalation
// of an id; other events have the number 0.
func Filed(e routing.Event) (id string, number int, url string, err error) {
	switch {
	case e.Type.Family() != routing.FamilyEscalation:
		return "", 0, "", fmt.Errorf("unknown event type %q", e.Type)
	case e.Type != EventFiled:
		return "", 0, "", nil
	}
	p, err := routing.PayloadOf[IssueFiled](e)
	return p.ID, p.Number, p.URL, err
}

// later returns at, or just after old if that is not before it: the order of
// events counts, not the clocks of those who wrote them.
func later(old, at time.Time) time.Time {
	if at = at.UTC().Truncate(time.Millisecond); at.After(old) {
		return at
	}
	return old.Add(time.Millisecond)
}

func (r State) open(rec Record, at time.Time) (State, error) {
	if rec.ID == "" || len(rec.Members) == 0 {
		return r, errors.New("an escalation without id or member")
	}
	if r.index(rec.ID) >= 0 {
		return r, fmt.Errorf("open %s: %w", rec.ID, ErrOpen)
	}
	for _, m := range rec.Members {
		for _, o := range r.Records {
			if o.Open() && o.Type == rec.Type && o.Holds(m.Case, m.Checkpoint) {
				return r, fmt.Errorf("open %s: %s is held by %s: %w", rec.ID, m.Key(), o.ID, ErrOpen)
			}
		}
	}
	rec.OpenedAt, rec.UpdatedAt = at, later(time.Time{}, at)
	r.Records = append(r.Records, rec)
	return r, nil
}

func (r Record) apply(p payload, at time.Time) (Record, error) {
	switch p := p.(type) {
	case MemberJoined:
		return r.join(p.Member, p.Facts)
	case IssueFiled:
		r.Number, r.URL, r.Gone, r.Lease = p.Number, p.URL, false, nil
	case LeaseTaken:
		r.Lease = &p.Lease
	case IssueGone:
		r.Number, r.URL, r.Gone = 0, "", true
	case MemberLeft:
		return r.leave(p.Member)
	case RecordResolved:
		if !r.Open() {
			return r, ErrResolved
		}
		if len(r.Members) > 0 {
			return r, errors.New("it still holds cases")
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = at, p.By, p.Text, p.Fix, false
	case RecordSettled:
		r.Settled = true
	case RecordReopened:
		if r.Open() {
			return r, ErrOpen
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = time.Time{}, "", "", "", false
		r.Reopened++
		r.RecalledAt = at
		return r.join(p.Member, p.Facts)
	case RecordDismissed:
		r.Dismissed, r.DismissedAt, r.ClosedAt = p.SHA, at, at
	case RecordRecalled:
		r.Dismissed, r.DismissedAt, r.RecalledAt = "", time.Time{}, at
	case AnswerTaken:
		return r.answer(p.Answer)
	case AnswerFanned:
		return r.fanned(p.Generation)
	default:
		return r, fmt.Errorf("a payload of type %T", p)
	}
	return r, nil
}

// join takes a member in, or brings it up to date. Facts that are nil stay as they are.
func (r Record) join(m Member, facts *Facts) (Record, error) {
	if m.Case == "" || m.Checkpoint == "" {
		return r, errors.New("no member")
	}
	if !r.Open() {
		return r, ErrResolved
	}
	r.Members = slices.Clone(r.Members)
	if i := r.member(m.Key()); i >= 0 {
		r.Members[i] = m
	} else {
		r.Members = append(r.Members, m)
	}
	if facts != nil {
		facts.into(&r)
	}
	return r, nil
}

func (r Record) leave(m Member) (Record, error) {
	i := r.member(m.Key())
	if i < 0 {
		return r, fmt.Errorf("%s is not held by it", m.Key())
	}
	r.Members = slices.Delete(slices.Clone(r.Members), i, i+1)
	r.Left = append(slices.Clip(r.Left), m)
	return r, nil
}

func (r Record) answer(a Answered) (Record, error) {
	if a.By == "" {
		return r, errors.New("an answer of nobody")
	}
	if !r.Open() {
		return r, ErrResolved
	}
	for _, first := range r.Answers {
		if first.Generation == a.Generation {
			return r, &AnsweredError{first}
		}
	}
	if a.Generation != r.Generation {
		return r, fmt.Errorf("an answer of generation %d where %d is asked", a.Generation, r.Generation)
	}
	r.Answers = append(slices.Clip(r.Answers), a)
	r.Generation++
	return r, nil
}

func (r Record) fanned(generation int) (Record, error) {
	r.Answers = slices.Clone(r.Answers)
	for i := range r.Answers {
		if r.Answers[i].Generation == generation {
			r.Answers[i].Fanned = true
			return r, nil
		}
	}
	return r, fmt.Errorf("no answer of generation %d", generation)
}

func (r State) index(id string) int {
	return slices.IndexFunc(r.Records, func(x Record) bool { return x.ID == id })
}

// ByID returns the record of an id.
func (r State) ByID(id string) (Record, bool) {
	if i := r.index(id); i >= 0 {
		return r.Records[i], true
	}
	return Record{}, false
}

// ByNumber returns the record of an issue.
func (r State) ByNumber(number int) (Record, bool) {
	for _, x := range r.Records {
		if number > 0 && x.Number == number {
			return x, true
		}
	}
	return Record{}, false
}

// ByGroup returns the open records with a member of a group.
func (r State) ByGroup(group string) []Record {
	return r.find(func(x Record) bool {
		return group != "" && slices.ContainsFunc(x.Members, func(m Member) bool { return m.Group == group })
	})
}

// Open returns the open records that hold a checkpoint of a case, or with
// checkpoint "" any of the case.
func (r State) Open(caseKey, checkpoint string) []Record {
	return r.find(func(x Record) bool {
		return slices.ContainsFunc(x.Members, func(m Member) bool {
			return m.Case == caseKey && (checkpoint == "" || m.Checkpoint == checkpoint)
		})
	})
}

// LeftBehind returns the records that are resolved because a checkpoint of a
// case moved out of them as the last, and whose issues do not show it yet.
func (r State) LeftBehind(caseKey, checkpoint string) []Record {
	var out []Record
	for _, x := range r.Records {
		n := len(x.Left)
		if !x.Open() && !x.Settled && n > 0 && x.Left[n-1].How == Moved && x.Left[n-1].Key() == caseKey+"/"+checkpoint {
			out = append(out, x)
		}
	}
	return out
}

// AllOpen returns the open records.
func (r State) AllOpen() []Record { return r.find(func(Record) bool { return true }) }

func (r State) find(ok func(Record) bool) []Record {
	var out []Record
	for _, x := range r.Records {
		if x.Open() && ok(x) {
			out = append(out, x)
		}
	}
	return out
}
