package feedback

import (
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// again takes a sending of a node that verifies and asks the same target for the
// same kind of thing once more: what it asked for did not help. That is what its
// verification came to, and no feedback of its own. ok is false if the sending is
// nothing of the kind.
func (r State) again(plan string, g Graph, m Message, now time.Time) (s Sent, ok bool, err error) {
	said := m.asOutcome()
	i := slices.IndexFunc(r.Records, func(x Record) bool {
		return x.between(plan, m.From, m.To) && x.Message.Type == m.Type && (x.Status == Verifying || x.Status == Queued && x.ended(said))
	})
	if i < 0 {
		return Sent{}, false, nil
	}
	x := r.Records[i]
	if x.Status == Queued { // said before
		return Sent{ID: x.ID, Status: x.Status, Round: x.Round}, true, nil
	}
	events, err := r.Verified(g, x.ID, said, now)
	if err != nil {
		return Sent{}, true, err
	}
	next, err := r.with(events)
	if err != nil {
		return Sent{}, true, err
	}
	x = next.Records[i]
	if x.Status == Queued {
		return Sent{ID: x.ID, Status: x.Status, Round: x.Round, Events: events}, true, nil
	}
	// No round is left: the feedback has failed, and what is sent is one too many.
	ref := next.limit(plan, m.From, m.To, false)
	if ref == nil {
		ref = refuse(Rounds, "Max feedback rounds (%d) exceeded for %s → %s", MaxRounds, m.From, m.To)
	}
	s, err = next.draft(now).reject(plan, g, m, ref)
	s.Events = append(slices.Clip(events), s.Events...)
	if s.Escalation == nil {
		s.Escalation = x.Escalated
	}
	return s, true, err
}

// with returns the register after events.
func (r State) with(events []routing.Event) (State, error) {
	next := r.own()
	for _, e := range events {
		if err := next.add(e); err != nil {
			return r, err
		}
	}
	return next, nil
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

// Waiting returns the open feedback that a node sent and whose target has not
// run yet, most urgent first. The node has nothing to do before that.
func (r State) Waiting(plan, node string) []Record {
	return r.sorted(func(x Record) bool {
		return x.Plan == plan && x.Message.From == node && x.Status.Open() && x.Status != Verifying
	})
}

// Open returns the open feedback of a plan, most urgent first.
func (r State) Open(plan string) []Record {
	return r.sorted(func(x Record) bool { return x.Plan == plan && x.Status.Open() })
}

// Knows reports whether any feedback of a plan is recorded.
func (r State) Knows(plan string) bool {
	return slices.ContainsFunc(r.Records, func(x Record) bool { return x.Plan == plan })
}
