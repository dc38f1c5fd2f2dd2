package feedback

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// Outcome is what a node's run came to.
type Outcome struct {
	OK      bool     `json:"ok"`
	Summary string   `json:"summary,omitempty"` // what was done
	Trace   string   `json:"trace,omitempty"`   // of the failure
	Files   []string `json:"files,omitempty"`   // that were changed
	Answer  string   `json:"answer,omitempty"`  // to a question
}

// Attempt is one round of a feedback.
type Attempt struct {
	Round  int      `json:"round"`
	Fix    Outcome  `json:"fix"`              // of the target
	Verify *Outcome `json:"verify,omitempty"` // of the sender, nil until it has run
}

// Record is one feedback of a register.
type Record struct {
	ID        string      `json:"feedback_id"` // FB-001 and so on, over the whole register
	Plan      string      `json:"plan,omitempty"`
	Message   Message     `json:"feedback"`
	Round     int         `json:"round"` // 1 or 2; 0 if rejected
	Priority  Priority    `json:"priority,omitempty"`
	Status    Status      `json:"status"`
	Attempts  []Attempt   `json:"attempts,omitempty"`
	Refusal   *Refusal    `json:"refusal,omitempty"`   // why it was rejected
	Withdrawn string      `json:"withdrawn,omitempty"` // why it failed without a run
	Escalates string      `json:"escalates,omitempty"` // id of the feedback whose rounds were used up
	Escalated *Escalation `json:"escalated,omitempty"` // what its used up rounds led to

	SentAt      time.Time `json:"timestamp"`
	QueuedAt    time.Time `json:"queued_at,omitzero"` // for this round
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	ResolvedAt  time.Time `json:"resolved_at,omitzero"`
	FailedAt    time.Time `json:"failed_at,omitzero"`

	place int // in the queue: events that stood before it
}

// Answer returns what the target answered in the newest round.
func (x Record) Answer() string {
	if n := len(x.Attempts); n > 0 {
		return x.Attempts[n-1].Fix.Answer
	}
	return ""
}

// State is all feedback of a repository: the fold of its stream of feedback requests. It is a value:
// no exported method changes it. Of, Outbox and Lifecycle return what asks about it, and what makes
// the events that change it.
type State struct {
	Version int      // events folded
	Records []Record // in the order they were sent

	limits limits
}

// own returns a state that may be changed without changing r.
func (r State) own() State {
	return State{r.Version, slices.Clone(r.Records), r.limits.clone()}
}

// put sets record i, which may be a new one at the end.
func (r *State) put(i int, x Record) {
	open := false
	if i == len(r.Records) {
		r.Records = append(r.Records, x)
	} else {
		open = r.Records[i].Status.Open()
		r.Records[i] = x
	}
	r.limits.note(x, open)
}

// Projection folds the stream of the feedback requests of a repository.
var Projection = routing.Projection[State]{
	New:   func(string) State { return State{}.own() },
	Clone: State.own,
	Apply: func(r State, e routing.Event) (State, error) {
		err := r.add(e)
		return r, err
	},
}

// Fold returns the feedback requests of a stream; see routing.Projection.
func Fold(events []routing.Event) (State, error) { return Projection.Fold("", events) }

// Apply returns the state after e.
func (r State) Apply(e routing.Event) (State, error) {
	next := r.own()
	if err := next.add(e); err != nil {
		return r, err
	}
	return next, nil
}

// add changes r, which must be the caller's own.
func (r *State) add(e routing.Event) error {
	p, status, err := read(e)
	if err != nil {
		return err
	}
	at := e.At.UTC().Truncate(time.Second)
	switch p := p.(type) {
	case RequestQueued:
		err = r.queue(p, at)
	case RequestRejected:
		err = r.reject(p, at)
	default:
		err = r.change(p, status, at)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", status, p.subject().ID, err)
	}
	r.Version++
	return nil
}

// queue adds the record of a request. The limits hold for whatever wrote the event.
func (r *State) queue(p RequestQueued, at time.Time) error {
	if err := r.begins(p.Subject, p.Message, Queued); err != nil {
		return err
	}
	x := Record{ID: p.ID, Plan: p.Plan, Message: *p.Message, Round: p.Round, Priority: p.Priority, Status: Queued, Escalates: p.Escalates,
		SentAt: at, QueuedAt: at, place: r.Version}
	if ref := r.limits.refuse(x.Plan, p.Source, p.Target, x.Escalates != ""); ref != nil {
		return ref
	}
	if want := r.limits.firstRound(x); p.Round != want || !x.Priority.Valid() || p.Source == p.Target {
		return fmt.Errorf("round %d of priority %q where %d follows", p.Round, x.Priority, want)
	}
	r.put(len(r.Records), x)
	return nil
}

// reject adds the record of a request that was refused.
func (r *State) reject(p RequestRejected, at time.Time) error {
	if err := r.begins(p.Subject, p.Message, Rejected); err != nil {
		return err
	}
	if p.Refusal == nil || p.Round != 0 {
		return errors.New("rejected without a reason")
	}
	r.put(len(r.Records), Record{ID: p.ID, Plan: p.Plan, Message: *p.Message, Status: Rejected, Refusal: p.Refusal, Escalated: p.Escalated,
		SentAt: at, place: r.Version})
	return nil
}

// begins returns why s and m begin no record in a status.
func (r *State) begins(s Subject, m *Message, next Status) error {
	if old, ok := r.ByID(s.ID); ok {
		return &StateError{s.ID, old.Status, next}
	}
	switch {
	case s.ID != r.nextID():
		return ErrUnknown
	case m == nil:
		return errors.New("a feedback without its message")
	case !s.of(*m):
		return errOther
	}
	return nil
}

var errOther = errors.New("its message is another's")

// of reports whether s is about a message.
func (s Subject) of(m Message) bool {
	return s.Source == m.From && s.Target == m.To && s.Type == m.Type
}

// change applies an event to the record that it is about.
func (r *State) change(p payload, next Status, at time.Time) error {
	i := r.index(p.subject().ID)
	if i < 0 {
		return ErrUnknown
	}
	x, err := r.Records[i].apply(p, next, at, r.Version)
	if err != nil {
		return err
	}
	if err := r.limits.checkRound(x, r.Records[i]); err != nil {
		return err
	}
	r.put(i, x)
	return nil
}

// apply returns the record after an event that leads to next.
func (x Record) apply(p payload, next Status, at time.Time, place int) (Record, error) {
	if !p.subject().of(x.Message) {
		return x, errOther
	}
	if !slices.Contains(transitions[x.Status], next) {
		return x, &StateError{x.ID, x.Status, next}
	}
	was := x.Status
	x.Status, x.Round = next, p.subject().Round
	switch p := p.(type) {
	case RequestDelivered:
		x.DeliveredAt = at
	case RequestProcessed:
		return x.ran(was, p.Outcome)
	case RequestRequeued:
		x.QueuedAt, x.place, x.Priority, x.DeliveredAt = at, place, p.Priority, time.Time{}
		return x.ran(was, p.Outcome)
	case RequestResolved:
		x.ResolvedAt = at
		return x.ran(was, p.Outcome)
	case RequestFailed:
		x.FailedAt, x.Escalated = at, p.Escalated
		return x.ran(was, p.Outcome)
	case RequestWithdrawn:
		if x.FailedAt, x.Withdrawn = at, p.Reason; p.Reason == "" {
			return x, errors.New("withdrawn without a reason")
		}
	}
	return x, nil
}

// ran adds what the run of the target, or then of the sender, came to.
func (x Record) ran(was Status, o *Outcome) (Record, error) {
	switch {
	case o == nil:
		return x, errors.New("a run without an outcome")
	case was != Processing && was != Verifying:
		return x, &StateError{x.ID, was, x.Status}
	case o.OK != (x.Status == Verifying || x.Status == Resolved):
		return x, fmt.Errorf("an outcome that does not lead to %s", x.Status)
	}
	x.Attempts = slices.Clone(x.Attempts)
	if was == Processing {
		x.Attempts = append(x.Attempts, Attempt{Round: x.Round, Fix: *o})
	} else {
		x.Attempts[len(x.Attempts)-1].Verify = o // verifying follows processing alone
	}
	return x, nil
}

// ErrUnknown says that there is no such feedback.
var ErrUnknown = errors.New("there is no such feedback")

// StateError says that a feedback is not where a change would begin.
type StateError struct {
	ID       string
	Is, Next Status
}

func (e *StateError) Error() string {
	return fmt.Sprintf("feedback %s is %s: %s does not follow", e.ID, e.Is, e.Next)
}

func idOf(place int) string { return fmt.Sprintf("FB-%03d", place) }

func (r State) nextID() string { return idOf(len(r.Records) + 1) }

// index finds a record by its id, which holds its place.
func (r State) index(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(id, "FB-"))
	if err != nil || n < 1 || n > len(r.Records) || r.Records[n-1].ID != id {
		return -1
	}
	return n - 1
}

// ByID returns the record of an id.
func (r State) ByID(id string) (Record, bool) {
	if i := r.index(id); i >= 0 {
		return r.Records[i], true
	}
	return Record{}, false
}

// Rounds returns how many rounds a pair has used in a plan. Rejected feedback used none, and
// escalations do not count.
func (r State) Rounds(plan, from, to string) int { return r.limits.rounds(plan, from, to) }
