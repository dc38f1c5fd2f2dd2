package feedback

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// Events of the register are made here alone. Each function is given the newest
// register and refuses what does not follow from it.

func event(en Change, now time.Time) routing.Event {
	return routing.Event{Type: eventOf(en.Status), At: now, Data: en}
}

// draft is a register with the events that a change adds to it.
type draft struct {
	State
	events []routing.Event
	now    time.Time
}

func (r State) draft(now time.Time) *draft {
	return &draft{State: r.own(), now: now}
}

func (d *draft) note(en Change) error {
	e := event(en, d.now)
	if err := d.add(e); err != nil {
		return err
	}
	d.events = append(d.events, e)
	return nil
}

func (x Record) entry(next Status) Change {
	return Change{ID: x.ID, Type: x.Message.Type, Source: x.Message.From, Target: x.Message.To, Round: x.Round, Status: next}
}

// Sent is what a sending came to. A refusal is a finding: its events are
// appended like others.
type Sent struct {
	ID         string
	Status     Status // queued or rejected; of a repeated sending what it is by now
	Round      int
	Refusal    *Refusal    // why it was rejected
	Escalation *Escalation // what a third round led to
	Events     []routing.Event
}

// Send queues a message along a plan's graph, whatever is running. In this
// order it is validated, its target found, and the limits asked; what fails is
// recorded as rejected. A sending whose key the plan knows is not repeated. Who
// verifies and sends the same kind of thing to the same target again has found
// that it did not help: the next round begins, or none is left.
func (r State) Send(plan string, g Graph, m Message, now time.Time) (Sent, error) {
	m = m.kept()
	for _, x := range r.Records {
		if m.Key != "" && x.Message.Key == m.Key && x.Plan == plan {
			return Sent{ID: x.ID, Status: x.Status, Round: x.Round, Refusal: x.Refusal, Escalation: x.Escalated}, nil
		}
	}
	ref := m.Validate()
	if ref == nil {
		ref = findTarget(g, m)
	}
	if ref == nil {
		if s, ok, err := r.again(plan, g, m, now); ok || err != nil {
			return s, err
		}
		ref = r.limit(plan, m.From, m.To, false)
	}
	d := r.draft(now)
	if ref != nil {
		return d.reject(plan, g, m, ref)
	}
	id := r.nextID()
	if err := d.queue(plan, m, ""); err != nil {
		return Sent{}, err
	}
	x, _ := d.ByID(id)
	return Sent{ID: id, Status: Queued, Round: x.Round, Events: d.events}, nil
}

// SendJSON is Send for a message as Parse reads it.
func (r State) SendJSON(plan string, g Graph, data []byte, now time.Time) (Sent, error) {
	m, err := Parse(data)
	var ref *Refusal
	if errors.As(err, &ref) {
		return r.draft(now).reject(plan, g, m.kept(), ref)
	}
	return r.Send(plan, g, m, now)
}

// queue adds the record of a message, in its pair's next round.
func (d *draft) queue(plan string, m Message, escalates string) error {
	x := Record{ID: d.nextID(), Plan: plan, Message: m, Escalates: escalates}
	x.Round = d.firstRound(x)
	en := x.entry(Queued)
	en.Plan, en.Message, en.Escalates, en.Priority = plan, &m, escalates, m.Priority
	if x.Round > 1 {
		en.Priority = m.Priority.Raised()
	}
	return d.note(en)
}

func (d *draft) reject(plan string, g Graph, m Message, ref *Refusal) (Sent, error) {
	x := Record{ID: d.nextID(), Plan: plan, Message: m}
	en := x.entry(Rejected)
	en.Plan, en.Message, en.Refusal = plan, &m, ref
	if ref.Why == Rounds && !d.escalated(x) {
		en.Escalated = d.escalation(g, x)
	}
	if err := d.note(en); err != nil {
		return Sent{}, err
	}
	if err := d.follow(x, en.Escalated); err != nil {
		return Sent{}, err
	}
	return Sent{ID: x.ID, Status: Rejected, Refusal: ref, Escalation: en.Escalated, Events: d.events}, nil
}

// to moves a record on.
func (r State) to(id string, next Status, now time.Time) ([]routing.Event, error) {
	x, ok := r.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	d := r.draft(now)
	if err := d.note(x.entry(next)); err != nil {
		return nil, err
	}
	return d.events, nil
}

// Deliver notes that a queued feedback stands with its target.
func (r State) Deliver(id string, now time.Time) ([]routing.Event, error) {
	return r.to(id, Delivered, now)
}

// Begin notes that the target is at it. A run that begins anew, because the
// first was lost, changes nothing.
func (r State) Begin(id string, now time.Time) ([]routing.Event, error) {
	if x, ok := r.ByID(id); ok && x.Status == Processing {
		return nil, nil
	}
	return r.to(id, Processing, now)
}

// ErrAnswer says that a question is ended by Answer alone, and nothing else is.
var ErrAnswer = errors.New("a CONTEXT_REQUEST, and nothing else, is answered")

// Processed notes what the run of the target came to. If it failed so has the
// feedback, and nothing is verified; else the sender is to run again. g is the
// plan, for an escalation.
func (r State) Processed(g Graph, id string, o Outcome, now time.Time) ([]routing.Event, error) {
	x, ok := r.ByID(id)
	if ok && o.OK && x.Message.Type.Asks() == Reply && strings.TrimSpace(o.Answer) == "" {
		return nil, ErrAnswer
	}
	return r.end(g, id, Processing, Verifying, o, now)
}

// Answer notes what the target of a question answers, and the files it names.
// The sender then runs again with the answer.
func (r State) Answer(id, text string, files []string, now time.Time) ([]routing.Event, error) {
	x, ok := r.ByID(id)
	if ok && x.Message.Type.Asks() != Reply || strings.TrimSpace(text) == "" {
		return nil, ErrAnswer
	}
	return r.end(nil, id, Processing, Verifying, Outcome{OK: true, Answer: text, Files: files}, now)
}

// Verified notes what the run of the sender came to. If it passed the feedback
// is resolved; else the next round begins, or, where none is left, the feedback
// has failed and is escalated.
func (r State) Verified(g Graph, id string, o Outcome, now time.Time) ([]routing.Event, error) {
	return r.end(g, id, Verifying, Resolved, o, now)
}

// end notes the outcome of a run in state is, which leads to next if it is good.
func (r State) end(g Graph, id string, is, next Status, o Outcome, now time.Time) ([]routing.Event, error) {
	x, ok := r.ByID(id)
	switch {
	case !ok:
		return nil, ErrUnknown
	case x.Status != is:
		return nil, &StateError{id, x.Status, next}
	}
	o = o.kept()
	d := r.draft(now)
	en := x.entry(next)
	en.Outcome = &o
	if !o.OK {
		en.Status = Failed
		switch {
		case is == Verifying && d.furtherRound(x):
			en.Status, en.Round, en.Priority = Queued, x.Round+1, x.Priority.Raised()
		case !d.furtherRound(x) && !d.escalated(x):
			x.Attempts = append(slices.Clip(x.Attempts), Attempt{Round: x.Round, Fix: o}) // for the escalation's words
			en.Escalated = d.escalation(g, x)
		}
	}
	if err := d.note(en); err != nil {
		return nil, err
	}
	if err := d.follow(x, en.Escalated); err != nil {
		return nil, err
	}
	return d.events, nil
}

// Withdraw ends a feedback that cannot go on, as when its target is no longer
// in the plan. why is told with it.
func (r State) Withdraw(id, why string, now time.Time) ([]routing.Event, error) {
	x, ok := r.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	if why = strings.TrimSpace(why); why == "" {
		return nil, errors.New("a feedback is withdrawn for a reason")
	}
	d := r.draft(now)
	en := x.entry(Failed)
	en.Withdrawn = cut(redact.Text(why), maxText)
	if err := d.note(en); err != nil {
		return nil, err
	}
	return d.events, nil
}

func (o Outcome) kept() Outcome {
	o.Summary, o.Answer = cut(redact.Text(o.Summary), maxText), cut(redact.Text(o.Answer), maxTrace)
	o.Trace = tail(redact.Text(o.Trace), maxTrace)
	o.Files = slices.Clone(o.Files[:min(len(o.Files), maxArtifacts)])
	for i, f := range o.Files {
		o.Files[i] = cut(f, maxName)
	}
	return o
}

// Receive delivers what is queued for a node that asks, and notes that it is at
// all that stands with it. A node that waits for feedback of its own gets
// nothing new until that is closed.
func (r State) Receive(plan, node string, now time.Time) ([]routing.Event, error) {
	d := r.draft(now)
	waits := r.sends(plan, node, "")
	for _, x := range r.sorted(func(x Record) bool { return x.Plan == plan && x.Message.To == node }) {
		if x.Status == Queued && !waits {
			if err := d.note(x.entry(Delivered)); err != nil {
				return nil, err
			}
			x.Status = Delivered
		}
		if x.Status == Delivered {
			if err := d.note(x.entry(Processing)); err != nil {
				return nil, err
			}
		}
	}
	return d.events, nil
}
