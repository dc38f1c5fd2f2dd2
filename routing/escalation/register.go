package escalation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Register is all escalations of a repository: the fold of its register.
// It is a value: no method changes it.
type Register struct {
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

// deed is what an event of the register says happened.
type deed string

const (
	deedOpen    deed = "open"    // Record
	deedJoin    deed = "join"    // Member, Facts: new, or brought up to date
	deedFiled   deed = "filed"   // Number, URL
	deedLease   deed = "lease"   // Lease
	deedGone    deed = "gone"    // the issue is not there any more
	deedLeave   deed = "leave"   // Member with LeftAt, How, By, Fix
	deedResolve deed = "resolve" // By, Text, SHA
	deedSettle  deed = "settle"
	deedReopen  deed = "reopen"  // Member, Facts
	deedDismiss deed = "dismiss" // SHA, By
	deedRecall  deed = "recall"  // a dismissed one calls again
	deedAnswer  deed = "answer"  // Answer
	deedFanned  deed = "fanned"  // Generation
)

// entry is the Data of an event of the register.
type entry struct {
	Deed       deed           `json:"deed"`
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
var Projection = routing.Projection[Register]{
	New:   func(string) Register { return Register{} },
	Apply: Register.Apply,
}

// FoldRegister returns the escalations of a stream; see routing.Projection.
func FoldRegister(events []routing.Event) (Register, error) { return Projection.Fold("", events) }

// Apply returns the register after e.
func (r Register) Apply(e routing.Event) (Register, error) {
	if e.Type != routing.EventEscalation {
		return r, fmt.Errorf("unknown event type %q", e.Type)
	}
	var en entry
	if err := json.Unmarshal(e.Data, &en); err != nil {
		return r, fmt.Errorf("unreadable: %w", err)
	}
	next := Register{Version: r.Version + 1, Records: slices.Clone(r.Records)}
	if en.Deed == deedOpen {
		return next.open(en, e.At)
	}
	i := next.index(en.ID)
	if i < 0 {
		return r, fmt.Errorf("%s %s: %w", en.Deed, en.ID, ErrUnknown)
	}
	rec, err := next.Records[i].apply(en, e.At)
	if err != nil {
		return r, fmt.Errorf("%s %s: %w", en.Deed, en.ID, err)
	}
	rec.UpdatedAt = later(rec.UpdatedAt, e.At)
	next.Records[i] = rec
	return next, nil
}

// Filed returns the issue that an event of the register gives to the escalation
// of an id; other events have the number 0.
func Filed(e routing.Event) (id string, number int, url string, err error) {
	var en entry
	if e.Type != routing.EventEscalation {
		return "", 0, "", fmt.Errorf("unknown event type %q", e.Type)
	}
	if err := json.Unmarshal(e.Data, &en); err != nil {
		return "", 0, "", fmt.Errorf("unreadable: %w", err)
	}
	if en.Deed != deedFiled {
		return en.ID, 0, "", nil
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

func (r Register) open(en entry, at time.Time) (Register, error) {
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

func (r Record) apply(en entry, at time.Time) (Record, error) {
	switch en.Deed {
	case deedJoin:
		return r.join(en)
	case deedFiled:
		r.Number, r.URL, r.Gone, r.Lease = en.Number, en.URL, false, nil
	case deedLease:
		r.Lease = en.Lease
	case deedGone:
		r.Number, r.URL, r.Gone = 0, "", true
	case deedLeave:
		return r.leave(en)
	case deedResolve:
		if !r.Open() {
			return r, ErrResolved
		}
		if len(r.Members) > 0 {
			return r, errors.New("it still holds cases")
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = at, en.By, en.Text, en.SHA, false
	case deedSettle:
		r.Settled = true
	case deedReopen:
		if r.Open() {
			return r, ErrOpen
		}
		r.ResolvedAt, r.ResolvedBy, r.Resolution, r.Fix, r.Settled = time.Time{}, "", "", "", false
		r.Reopened++
		r.RecalledAt = at
		return r.join(en)
	case deedDismiss:
		r.Dismissed, r.DismissedAt, r.ClosedAt = en.SHA, at, at
	case deedRecall:
		r.Dismissed, r.DismissedAt, r.RecalledAt = "", time.Time{}, at
	case deedAnswer:
		return r.answer(en)
	case deedFanned:
		return r.fanned(en)
	default:
		return r, fmt.Errorf("unknown deed %q", en.Deed)
	}
	return r, nil
}

func (r Record) join(en entry) (Record, error) {
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

func (r Record) leave(en entry) (Record, error) {
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

func (r Record) answer(en entry) (Record, error) {
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

func (r Record) fanned(en entry) (Record, error) {
	r.Answers = slices.Clone(r.Answers)
	for i := range r.Answers {
		if r.Answers[i].Generation == en.Generation {
			r.Answers[i].Fanned = true
			return r, nil
		}
	}
	return r, fmt.Errorf("no answer of generation %d", en.Generation)
}

func (r Register) index(id string) int {
	return slices.IndexFunc(r.Records, func(x Record) bool { return x.ID == id })
}

// ByID returns the record of an id.
func (r Register) ByID(id string) (Record, bool) {
	if i := r.index(id); i >= 0 {
		return r.Records[i], true
	}
	return Record{}, false
}

// ByNumber returns the record of an issue.
func (r Register) ByNumber(number int) (Record, bool) {
	for _, x := range r.Records {
		if number > 0 && x.Number == number {
			return x, true
		}
	}
	return Record{}, false
}

// ByGroup returns the open records with a member of a group.
func (r Register) ByGroup(group string) []Record {
	return r.find(func(x Record) bool {
		return group != "" && slices.ContainsFunc(x.Members, func(m Member) bool { return m.Group == group })
	})
}

// Open returns the open records that hold a checkpoint of a case, or with
// checkpoint "" any of the case.
func (r Register) Open(caseKey, checkpoint string) []Record {
	return r.find(func(x Record) bool {
		return slices.ContainsFunc(x.Members, func(m Member) bool {
			return m.Case == caseKey && (checkpoint == "" || m.Checkpoint == checkpoint)
		})
	})
}

// LeftBehind returns the records that are resolved because a checkpoint of a
// case moved out of them as the last, and whose issues do not show it yet.
func (r Register) LeftBehind(caseKey, checkpoint string) []Record {
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
func (r Register) AllOpen() []Record { return r.find(func(Record) bool { return true }) }

func (r Register) find(ok func(Record) bool) []Record {
	var out []Record
	for _, x := range r.Records {
		if x.Open() && ok(x) {
			out = append(out, x)
		}
	}
	return out
}
