package feedback

import (
	"errors"
	"fmt"
	"maps"
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

// State is all feedback of a repository: the fold of its register of edges.
// It is a value: no exported method changes it.
type State struct {
	Version int      // events folded
	Records []Record // in the order they were sent

	used map[pair]int // rounds
	open chains
}

// own returns a register that may be changed without changing r.
func (r State) own() State {
	out := State{r.Version, slices.Clone(r.Records), maps.Clone(r.used), r.open.clone()}
	if out.used == nil {
		out.used, out.open = map[pair]int{}, chains{map[spot][]spot{}, map[spot][]spot{}}
	}
	return out
}

// put sets record i, which may be a new one at the end, and what is known of
// its edge.
func (r *State) put(i int, x Record) {
	was := false
	if i == len(r.Records) {
		r.Records = append(r.Records, x)
	} else {
		was = r.Records[i].Status.Open()
		r.Records[i] = x
	}
	switch is := x.Status.Open(); {
	case is && !was:
		r.open.join(x)
	case was && !is:
		r.open.cut(x)
	}
	if x.Escalates == "" && x.Round > 0 {
		p := pair{x.Plan, x.Message.From, x.Message.To}
		r.used[p] = max(r.used[p], x.Round)
	}
}

// eventOf is the type of the event that brings a request into a status.
func eventOf(s Status) routing.EventType {
	return routing.EventType(routing.FamilyFeedback + "." + strings.ToLower(string(s)))
}

func init() {
	for _, s := range Statuses() {
		routing.RegisterPayload[Change](eventOf(s))
	}
}

// Change is the payload of the events of the stream: the line of the audit trail, without its
// timestamp, and what the change brings with it.
type Change struct {
	ID        string      `json:"feedback_id"`
	Type      Type        `json:"type"`
	Source    string      `json:"source"`
	Target    string      `json:"target"`
	Round     int         `json:"round"`
	Status    Status      `json:"status"`
	Plan      string      `json:"plan,omitempty"`      // queued first, rejected
	Message   *Message    `json:"feedback,omitempty"`  // queued first, rejected
	Priority  Priority    `json:"priority,omitempty"`  // queued
	Refusal   *Refusal    `json:"refusal,omitempty"`   // rejected
	Outcome   *Outcome    `json:"outcome,omitempty"`   // verifying, resolved, failed, queued again
	Withdrawn string      `json:"withdrawn,omitempty"` // failed without a run
	Escalates string      `json:"escalates,omitempty"` // queued first
	Escalated *Escalation `json:"escalated,omitempty"` // failed, rejected
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

// Apply returns the register after e.
func (r State) Apply(e routing.Event) (State, error) {
	next := r.own()
	if err := next.add(e); err != nil {
		return r, err
	}
	return next, nil
}

// add changes r, which must be the caller's own.
func (r *State) add(e routing.Event) error {
	if e.Type.Family() != routing.FamilyFeedback {
		return fmt.Errorf("unknown event type %q", e.Type)
	}
	en, err := routing.PayloadOf[Change](e)
	if err != nil {
		return err
	}
	at := e.At.UTC().Truncate(time.Second)
	if en.ID == r.nextID() {
		err = r.begin(en, at)
	} else if i := r.index(en.ID); i >= 0 {
		var x Record
		if x, err = r.Records[i].apply(en, at, r.Version); err == nil {
			err = r.checkRound(x, r.Records[i])
		}
		if err == nil {
			r.put(i, x)
		}
	} else {
		err = ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", en.Status, en.ID, err)
	}
	r.Version++
	return nil
}

// checkRound refuses a round that does not follow: the next one begins where a
// feedback is queued again, if the pair has one left.
func (r *State) checkRound(next, old Record) error {
	want := old.Round
	if next.Status == Queued {
		want++
	}
	if next.Round != want || next.Status == Queued && (!r.furtherRound(old) || !next.Priority.Valid()) {
		return fmt.Errorf("round %d of priority %q after round %d", next.Round, next.Priority, old.Round)
	}
	return nil
}

// furtherRound reports whether x may have another round: an escalation counts
// its own, everything else those of its pair.
func (r *State) furtherRound(x Record) bool {
	if x.Escalates != "" {
		return x.Round < MaxRounds
	}
	return r.Rounds(x.Plan, x.Message.From, x.Message.To) < MaxRounds
}

// begin adds a record. The limits hold for whatever wrote the event.
func (r *State) begin(en Change, at time.Time) error {
	if en.Message == nil || en.Status != Queued && en.Status != Rejected {
		return errors.New("a feedback without its message, or without its beginning")
	}
	x := Record{ID: en.ID, Plan: en.Plan, Message: *en.Message, Round: en.Round, Priority: en.Priority, Status: en.Status,
		Refusal: en.Refusal, Escalates: en.Escalates, Escalated: en.Escalated, SentAt: at, place: r.Version}
	switch {
	case x.Message.From != en.Source || x.Message.To != en.Target || x.Message.Type != en.Type:
		return errors.New("its message is another's")
	case en.Status == Rejected && (en.Refusal == nil || en.Round != 0):
		return errors.New("rejected without a reason")
	case en.Status == Queued:
		if ref := r.limit(x.Plan, en.Source, en.Target, x.Escalates != ""); ref != nil {
			return ref
		}
		if want := r.firstRound(x); en.Round != want || !x.Priority.Valid() || en.Source == en.Target {
			return fmt.Errorf("round %d of priority %q where %d follows", en.Round, x.Priority, want)
		}
		x.QueuedAt = at
	}
	r.put(len(r.Records), x)
	return nil
}

func (r *State) firstRound(x Record) int {
	if x.Escalates != "" {
		return 1
	}
	return r.Rounds(x.Plan, x.Message.From, x.Message.To) + 1
}

func (x Record) apply(en Change, at time.Time, place int) (Record, error) {
	if x.Message.From != en.Source || x.Message.To != en.Target || x.Message.Type != en.Type {
		return x, errors.New("its message is another's")
	}
	if !slices.Contains(transitions[x.Status], en.Status) {
		return x, &StateError{x.ID, x.Status, en.Status}
	}
	was := x.Status
	x.Status, x.Round = en.Status, en.Round
	if was == Processing || was == Verifying {
		if err := x.record(was, en); err != nil {
			return x, err
		}
	}
	switch en.Status {
	case Queued:
		x.QueuedAt, x.place, x.Priority, x.DeliveredAt = at, place, en.Priority, time.Time{}
	case Delivered:
		x.DeliveredAt = at
	case Resolved:
		x.ResolvedAt = at
	case Failed:
		x.FailedAt, x.Escalated, x.Withdrawn = at, en.Escalated, en.Withdrawn
	}
	return x, nil
}

// record adds what the target, or then the sender, came to.
func (x *Record) record(was Status, en Change) error {
	if en.Outcome == nil {
		if en.Withdrawn != "" && en.Status == Failed {
			return nil
		}
		return errors.New("a run without an outcome")
	}
	if en.Outcome.OK != (en.Status == Verifying || en.Status == Resolved) {
		return fmt.Errorf("an outcome that does not lead to %s", en.Status)
	}
	x.Attempts = slices.Clone(x.Attempts)
	if was == Processing {
		x.Attempts = append(x.Attempts, Attempt{Round: x.Round, Fix: *en.Outcome})
		return nil
	}
	x.Attempts[len(x.Attempts)-1].Verify = en.Outcome // verifying follows processing alone
	return nil
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
