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

// The events of the stream of a repository's escalations, each with the fields of Change that it
// sets.
const (
	EventOpened    routing.EventType = "escalation.opened"    // Record
	EventJoined    routing.EventType = "escalation.joined"    // Member, Facts: new, or brought up to date
	EventFiled     routing.EventType = "escalation.filed"     // Number, URL
	EventLeased    routing.EventType = "escalation.leased"    // Lease
	EventGone      routing.EventType = "escalation.gone"      // the issue was deleted or transferred
	EventLeft      routing.EventType = "escalation.left"      // Member with LeftAt, How, By, Fix
	EventResolved  routing.EventType = "escalation.resolved"  // By, Text, SHA
	EventSettled   routing.EventType = "escalation.settled"   // the issue shows that it is resolved
	EventReopened  routing.EventType = "escalation.reopened"  // Member, Facts
	EventDismissed routing.EventType = "escalation.dismissed" // SHA, By
	EventRecalled  routing.EventType = "escalation.recalled"  // a dismissed one is open again
	EventAnswered  routing.EventType = "escalation.answered"  // Answer
	EventFanned    routing.EventType = "escalation.fanned"    // Generation
)

func init() {
	for _, t := range []routing.EventType{
		EventOpened, EventJoined, EventFiled, EventLeased, EventGone, EventLeft, EventResolved, EventSettled, EventReopened,
		EventDismissed, EventRecalled, EventAnswered, EventFanned,
	} {
		routing.RegisterPayload[Change](t)
	}
}

// Change is the payload of the events of the stream: what happened to the escalation of an id.
type Change struct {
	ID         string         `json:"id"`
	Record     *Record        `json:"record,omitempty"`
	Member     *Member        `json:"member,omitempty"`
	Facts      *Facts         `json:"facts,omitempty"`
	Lease      *routing.Lease `json:"lease,omitempty"`
	Number     int            `json:"number,omitempty"`
	URL        string         `json:"url,omitempty"`
	By         string         `json:"by,omitempty"`
	Text       string         `json:"text,omitempty"`
	SHA        string         `json:"sha,omitempty"`
	Answer     *Answered      `json:"answer,omitempty"`
	Generation int            `json:"generation,omitempty"`
}

// Projection folds the stream of a repository's escalations.
var Projection = routing.Projection[State]{
	New:   func(string) State { return State{} },
	Apply: State.Apply,
}

// Fold returns the escalations of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Apply returns the register after e.
func (r State) Apply(e routing.Event) (State, error) {
	if e.Type.Family() != routing.FamilyEscalation {
		return r, fmt.Errorf("unknown event type %q", e.Type)
	}
	en, err := routing.PayloadOf[Change](e)
	if err != nil {
		return r, err
	}
	next := State{Version: r.Version + 1, Records: slices.Clone(r.Records)}
	if e.Type == EventOpened {
		return next.open(en, e.At)
	}
	i := next.index(en.ID)
	if i < 0 {
		return r, fmt.Errorf("%s %s: %w", e.Type.Name(), en.ID, ErrUnknown)
	}
	rec, err := next.Records[i].apply(e.Type, en, e.At)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", e.Type.Name(), en.ID, err)
	}
	rec.UpdatedAt = later(rec.UpdatedAt, e.At)
	next.Records[i] = rec
	return next, nil
}

// Filed returns the issue that an event of the register gives to the escalation
// of an id; other events have the number 0.
func Filed(e routing.Event) (id string, number int, url string, err error) {
	if e.Type.Family() != routing.FamilyEscalation {
		return "", 0, "", fmt.Errorf("unknown event type %q", e.Type)
	}
	en, err := routing.PayloadOf[Change](e)
	if err != nil || e.Type != EventFiled {
		return en.ID, 0, "", err
	}
	return en.ID, en.Number, en.URL, nil
}

// later returns at, or just after old if that is not before it: the order of
// events counts, not the clocks of those who wrote them.
func later(old, at time.Time) time.Time {
	if at = at.UTC().Truncate(time.Millisecond); at.After(old) {
		return at
	}
	return old.Add(time.Millisecond)
}

func (r State) open(en Change, at time.Time) (State, error) {
	if en.Record == nil || en.Record.ID != en.ID || en.ID == "" || len(en.Record.Members) == 0 {
		return r, errors.New("an escalation without id, record or member")
	}
	if r.index(en.ID) >= 0 {
		return r, fmt.Errorf("open %s: %w", en.ID, ErrOpen)
	}
	for _, m := range en.Record.Members {
		for _, o := range r.Records {
			if o.Open() && o.Type == en.Record.Type && o.Holds(m.Case, m.Checkpoint) {
				return r, fmt.Errorf("open %s: %s is held by %s: %w", en.ID, m.Key(), o.ID, ErrOpen)
			}
		}
	}
	rec := *en.Record
	rec.OpenedAt, rec.UpdatedAt = at, later(time.Time{}, at)
	r.Records = append(r.Records, rec)
	return r, nil
}

func (r Record) apply(t routing.EventType, en Change, at time.Time) (Record, error) {
	switch t {
	case EventJoined:
		return r.join(en)
	case EventFiled:
		r.Number, r.URL, r.Gone, r.Lease = en.Number, en.URL, false, nil
	case EventLeased:
		r.Lease = en.Lease
	case EventGone:
		r.Number, r.URL, r.Gone = 0, "", true
	case EventLeft:
		return r.leave(en)
	case EventResolved:
		if !r.Open() {
			return r, ErrResolved
		}
		if len(r.Members) > 0 {
			return r, errors.New("it still holds cases")
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = at, en.By, en.Text, en.SHA, false
	case EventSettled:
		r.Settled = true
	case EventReopened:
		if r.Open() {
			return r, ErrOpen
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = time.Time{}, "", "", "", false
		r.Reopened++
		r.RecalledAt = at
		return r.join(en)
	case EventDismissed:
		r.Dismissed, r.DismissedAt, r.ClosedAt = en.SHA, at, at
	case EventRecalled:
		r.Dismissed, r.DismissedAt, r.RecalledAt = "", time.Time{}, at
	case EventAnswered:
		return r.answer(en)
	case EventFanned:
		return r.fanned(en)
	default:
		return r, fmt.Errorf("unknown event type %q", t)
	}
	return r, nil
}

func (r Record) join(en Change) (Record, error) {
	if en.Member == nil || en.Member.Case == "" || en.Member.Checkpoint == "" {
		return r, errors.New("no member")
	}
	if !r.Open() {
		return r, ErrResolved
	}
	r.Members = slices.Clone(r.Members)
	if i := r.member(en.Member.Key()); i >= 0 {
		r.Members[i] = *en.Member
	} else {
		r.Members = append(r.Members, *en.Member)
	}
	if f := en.Facts; f != nil {
		f.into(&r)
	}
	return r, nil
}

func (r Record) leave(en Change) (Record, error) {
	if en.Member == nil {
		return r, errors.New("no member")
	}
	i := r.member(en.Member.Key())
	if i < 0 {
		return r, fmt.Errorf("%s is not held by it", en.Member.Key())
	}
	r.Members = slices.Delete(slices.Clone(r.Members), i, i+1)
	r.Left = append(slices.Clip(r.Left), *en.Member)
	return r, nil
}

func (r Record) answer(en Change) (Record, error) {
	if en.Answer == nil || en.Answer.By == "" {
		return r, errors.New("an answer of nobody")
	}
	if !r.Open() {
		return r, ErrResolved
	}
	for _, a := range r.Answers {
		if a.Generation == en.Answer.Generation {
			return r, &AnsweredError{a}
		}
	}
	if en.Answer.Generation != r.Generation {
		return r, fmt.Errorf("an answer of generation %d where %d is asked", en.Answer.Generation, r.Generation)
	}
	r.Answers = append(slices.Clip(r.Answers), *en.Answer)
	r.Generation++
	return r, nil
}

func (r Record) fanned(en Change) (Record, error) {
	r.Answers = slices.Clone(r.Answers)
	for i := range r.Answers {
		if r.Answers[i].Generation == en.Generation {
			r.Answers[i].Fanned = true
			return r, nil
		}
	}
	return r, fmt.Errorf("no answer of generation %d", en.Generation)
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
