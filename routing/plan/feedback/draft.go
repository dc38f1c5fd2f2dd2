package feedback

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// draft is a state with the events that a change adds to it. Events of the stream are made here
// alone: one that does not follow from the state is refused.
type draft struct {
	state  State
	graph  Graph // the plan, for escalations; nil if unknown
	now    time.Time
	events []routing.Event
}

func newDraft(r State, g Graph, now time.Time) *draft {
	return &draft{state: r.own(), graph: g, now: now}
}

func (d *draft) note(p payload) error {
	e := event(p, d.now)
	if err := d.state.add(e); err != nil {
		return err
	}
	d.events = append(d.events, e)
	return nil
}

func (x Record) subject() Subject {
	return Subject{ID: x.ID, Type: x.Message.Type, Source: x.Message.From, Target: x.Message.To, Round: x.Round}
}

// queue adds the record of a message, in its pair's next round.
func (d *draft) queue(plan string, m Message, escalates string) error {
	x := Record{ID: d.state.nextID(), Plan: plan, Message: m, Escalates: escalates}
	x.Round = d.state.limits.firstRound(x)
	p := RequestQueued{Subject: x.subject(), Plan: plan, Message: &m, Escalates: escalates, Priority: m.Priority}
	if x.Round > 1 {
		p.Priority = m.Priority.Raised()
	}
	return d.note(p)
}

func (d *draft) reject(plan string, m Message, ref *Refusal) (Sent, error) {
	x := Record{ID: d.state.nextID(), Plan: plan, Message: m}
	p := RequestRejected{Subject: x.subject(), Plan: plan, Message: &m, Refusal: ref}
	if ref.Why == Rounds && !d.escalated(x) {
		p.Escalated = d.escalation(x)
	}
	if err := d.note(p); err != nil {
		return Sent{}, err
	}
	if err := d.follow(x, p.Escalated); err != nil {
		return Sent{}, err
	}
	return Sent{ID: x.ID, Status: Rejected, Refusal: ref, Escalation: p.Escalated, Events: d.events}, nil
}

// begin brings a record to its target, and has its run begin.
func (d *draft) begin(x Record) error {
	if x.Status == Queued {
		if err := d.note(RequestDelivered{x.subject()}); err != nil {
			return err
		}
		x.Status = Delivered
	}
	if x.Status == Delivered {
		return d.note(RequestBegun{x.subject()})
	}
	return nil
}

// end notes what the run of the target came to, where the record is processing, or that of the
// sender, where it is verifying.
func (d *draft) end(id string, is Status, o Outcome) error {
	next := Verifying
	if is == Verifying {
		next = Resolved
	}
	x, ok := d.state.ByID(id)
	switch {
	case !ok:
		return ErrUnknown
	case x.Status != is:
		return &StateError{id, x.Status, next}
	}
	o = o.kept()
	s, further := x.subject(), d.state.limits.furtherRound(x)
	switch {
	case o.OK && is == Processing:
		return d.note(RequestProcessed{s, &o})
	case o.OK:
		return d.note(RequestResolved{s, &o})
	case is == Verifying && further:
		s.Round++
		return d.note(RequestRequeued{s, x.Priority.Raised(), &o})
	}
	p := RequestFailed{Subject: s, Outcome: &o}
	if !further && !d.escalated(x) {
		x.Attempts = append(slices.Clip(x.Attempts), Attempt{Round: x.Round, Fix: o}) // for the escalation's words
		p.Escalated = d.escalation(x)
	}
	if err := d.note(p); err != nil {
		return err
	}
	return d.follow(x, p.Escalated)
}

// escalated reports whether the used up rounds of x's pair have led somewhere
// already. What escalates another feedback is a matter of its own.
func (d *draft) escalated(x Record) bool {
	return x.Escalates == "" && slices.ContainsFunc(d.state.Records, func(o Record) bool {
		return o.Escalated != nil && o.Escalates == "" && o.between(x.Plan, x.Message.From, x.Message.To)
	})
}

// escalation says where x goes, whose pair has no round left. The root is
// asked once; an escalation opens where there is none above the pair, where the
// root was asked already, and where the chain would close or be too deep.
func (d *draft) escalation(x Record) *Escalation {
	id := d.state.nextID()
	if id == x.ID { // a rejected one, not recorded yet
		id = idOf(len(d.state.Records) + 2)
	}
	// That x itself may still be open changes nothing: it leaves the sender, as
	// the escalation does.
	if root := rootFor(d.graph, x); root != "" && d.state.limits.refuse(x.Plan, x.Message.From, root, true) == nil {
		return &Escalation{Node: root, Feedback: id}
	}
	f := x.facts()
	return &Escalation{Human: &f}
}

// follow queues what an escalation sends to the root.
func (d *draft) follow(x Record, e *Escalation) error {
	if e == nil || e.Human != nil {
		return nil
	}
	m := Message{
		From: x.Message.From, To: e.Node, Type: ArchitectureIssue, Priority: x.Message.Priority.Raised(), Text: x.exhausted(),
		SuggestedFix: cut(fmt.Sprintf("Plan %s anew, or what %s needs of it. Asked for was: %s", x.Message.To, x.Message.From, x.Message.suggestion()), maxText),
		Artifacts:    x.Message.Artifacts, Trace: x.trace(),
	}
	return d.queue(x.Plan, m, x.ID)
}
