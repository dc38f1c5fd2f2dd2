package feedback

import (
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// ForPeople returns the open feedback of a plan that nobody but people can act on:
// what its root is asked, and has not ended. It is in the order in which it was
// sent.
func (r State) ForPeople(plan, root string) []Record {
	var out []Record
	for _, x := range r.Records {
		if x.Plan == plan && x.Message.To == root && x.ForPeople() {
			out = append(out, x)
		}
	}
	return out
}

// ForPeople reports whether x, which is for people, waits for them.
func (x Record) ForPeople() bool {
	return x.Status == Queued || x.Status == Delivered || x.Status == Processing
}

// Asks returns the call with which people are asked to act on x, as a call of key.
func (x Record) Asks(key string) escalation.Request {
	kind := routing.KindDesign
	if x.Message.Type.Asks() == Reply {
		kind = routing.KindUnclear
	}
	f := escalation.Facts{
		Kind: kind, Type: asked[x.Message.Type], Severity: severities[x.Priority],
		Description: x.Message.Text, Context: x.Message.Trace, Suggested: []string{x.Message.suggestion()},
	}
	m := escalation.Member{Case: key, Checkpoint: x.Message.From, Kind: f.Kind, Type: f.Type, Run: x.ID, Gen: x.Round, Opened: x.QueuedAt, At: x.QueuedAt}
	return escalation.Request{ID: key, Member: m, Facts: f}
}

// Said is what people say of feedback that they are to act on.
type Said struct {
	Done bool   // the plan was changed, or the question is answered; else it is declined
	Text string // the answer, or what they say besides
	By   string
}

// Heard takes what people say of a feedback. What was not delivered yet is
// delivered with it. A *routing.RefusedError says what an answer lacks.
func (r State) Heard(g Graph, id string, s Said, now time.Time) ([]routing.Event, error) {
	d := r.draft(now)
	x, ok := d.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	for _, next := range []Status{Delivered, Processing} {
		if was := x.Status; was == Queued || was == Delivered && next == Processing {
			if err := d.note(x.entry(next)); err != nil {
				return nil, err
			}
			x, _ = d.ByID(id)
		}
	}
	question := x.Message.Type.Asks() == Reply
	o := Outcome{OK: s.Done, Summary: s.By + ": " + orElse(s.Text, map[bool]string{true: "the plan was changed", false: "it is not changed"}[s.Done])}
	if s.Done && question {
		if strings.TrimSpace(s.Text) == "" {
			return nil, routing.Refuse("feedback.no-text", "an answer to a question needs a text")
		}
		o.Answer = s.Text
	}
	more, err := d.State.end(g, id, Processing, Verifying, o, now)
	return append(d.events, more...), err
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}

// SendOnce is Send of a message whose key names what was written outside of any
// build: what is recorded under it in another build is not sent again either.
func (r State) SendOnce(plan string, g Graph, m Message, now time.Time) (Sent, error) {
	for _, x := range r.Records {
		if m.Key != "" && x.Message.Key == m.Key {
			return Sent{ID: x.ID, Status: x.Status, Round: x.Round, Refusal: x.Refusal, Escalation: x.Escalated}, nil
		}
	}
	return r.Send(plan, g, m, now)
}
