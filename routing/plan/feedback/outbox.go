package feedback

import (
	"errors"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

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

// Outbox sends the messages of one plan.
type Outbox struct {
	state State
	plan  string
	graph Graph
	now   time.Time
}

// Outbox returns what sends messages along a plan's graph.
func (r State) Outbox(plan string, g Graph, now time.Time) Outbox { return Outbox{r, plan, g, now} }

// Send queues a message along the plan's graph, whatever is running. In this
// order it is validated, its target found, and the limits asked; what fails is
// recorded as rejected. A sending whose key the plan knows is not repeated. Who
// verifies and sends the same kind of thing to the same target again has found
// that it did not help: the next round begins, or none is left.
func (o Outbox) Send(m Message) (Sent, error) {
	m = m.kept()
	if s, ok := o.sent(m.Key, func(x Record) bool { return x.Plan == o.plan }); ok {
		return s, nil
	}
	ref := m.Validate()
	if ref == nil {
		ref = findTarget(o.graph, m)
	}
	if ref == nil {
		if s, ok, err := o.again(m); ok || err != nil {
			return s, err
		}
		ref = o.state.limits.refuse(o.plan, m.From, m.To, false)
	}
	d := newDraft(o.state, o.graph, o.now)
	if ref != nil {
		return d.reject(o.plan, m, ref)
	}
	id := d.state.nextID()
	if err := d.queue(o.plan, m, ""); err != nil {
		return Sent{}, err
	}
	x, _ := d.state.ByID(id)
	return Sent{ID: id, Status: Queued, Round: x.Round, Events: d.events}, nil
}

// sent returns what a message of a key came to that was sent before and counts.
func (o Outbox) sent(key string, counts func(Record) bool) (Sent, bool) {
	for _, x := range o.state.Records {
		if key != "" && x.Message.Key == key && counts(x) {
			return Sent{ID: x.ID, Status: x.Status, Round: x.Round, Refusal: x.Refusal, Escalation: x.Escalated}, true
		}
	}
	return Sent{}, false
}

// SendJSON is Send for a message as Parse reads it.
func (o Outbox) SendJSON(data []byte) (Sent, error) {
	m, err := Parse(data)
	var ref *Refusal
	if errors.As(err, &ref) {
		return newDraft(o.state, o.graph, o.now).reject(o.plan, m.kept(), ref)
	}
	return o.Send(m)
}

// SendOnce is Send of a message whose key names what was written outside of any
// build: what is recorded under it in another build is not sent again either.
func (o Outbox) SendOnce(m Message) (Sent, error) {
	if s, ok := o.sent(m.Key, func(Record) bool { return true }); ok {
		return s, nil
	}
	return o.Send(m)
}

// again takes a sending of a node that verifies and asks the same target for the
// same kind of thing once more: what it asked for did not help. That is what its
// verification came to, and no feedback of its own. ok is false if the sending is
// nothing of the kind.
func (o Outbox) again(m Message) (s Sent, ok bool, err error) {
	said := m.asOutcome()
	i := slices.IndexFunc(o.state.Records, func(x Record) bool {
		return x.between(o.plan, m.From, m.To) && x.Message.Type == m.Type && (x.Status == Verifying || x.Status == Queued && x.ended(said))
	})
	if i < 0 {
		return Sent{}, false, nil
	}
	x := o.state.Records[i]
	if x.Status == Queued { // said before
		return Sent{ID: x.ID, Status: x.Status, Round: x.Round}, true, nil
	}
	d := newDraft(o.state, o.graph, o.now)
	if err := d.end(x.ID, Verifying, said); err != nil {
		return Sent{}, true, err
	}
	x = d.state.Records[i]
	if x.Status == Queued {
		return Sent{ID: x.ID, Status: x.Status, Round: x.Round, Events: d.events}, true, nil
	}
	// No round is left: the feedback has failed, and what is sent is one too many.
	ref := d.state.limits.refuse(o.plan, m.From, m.To, false)
	if ref == nil {
		ref = refuse(Rounds, "Max feedback rounds (%d) exceeded for %s → %s", MaxRounds, m.From, m.To)
	}
	s, err = d.reject(o.plan, m, ref)
	if s.Escalation == nil {
		s.Escalation = x.Escalated
	}
	return s, true, err
}

// asOutcome is what a message says of the verification in which it was sent.
func (m Message) asOutcome() Outcome {
	o := Outcome{Summary: m.Text, Trace: m.Trace}
	if s := m.suggestion(); s != m.Text {
		o.Summary += "\n" + s
	}
	return o.kept()
}

// ended reports whether the last attempt of x was verified and came to o.
func (x Record) ended(o Outcome) bool {
	n := len(x.Attempts)
	return n > 0 && x.Attempts[n-1].Verify != nil && !x.Attempts[n-1].Verify.OK && x.Attempts[n-1].Verify.Summary == o.Summary
}
