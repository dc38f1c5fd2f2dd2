package feedback

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/redact"
)

// Lifecycle moves requests that were sent from status to status. Its methods return the events to
// append, and refuse what does not follow from the state.
type Lifecycle struct {
	state State
	graph Graph // the plan, which an escalation goes along; nil if unknown
	now   time.Time
}

// Lifecycle returns what moves requests on. Without a graph an escalation goes to people.
func (r State) Lifecycle(g Graph, now time.Time) Lifecycle { return Lifecycle{r, g, now} }

// events returns what fn notes.
func (l Lifecycle) events(fn func(*draft) error) ([]routing.Event, error) {
	d := newDraft(l.state, l.graph, l.now)
	if err := fn(d); err != nil {
		return nil, err
	}
	return d.events, nil
}

// change notes one event about a request.
func (l Lifecycle) change(id string, of func(Subject) payload) ([]routing.Event, error) {
	x, ok := l.state.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	return l.events(func(d *draft) error { return d.note(of(x.subject())) })
}

// Deliver notes that a queued feedback stands with its target.
func (l Lifecycle) Deliver(id string) ([]routing.Event, error) {
	return l.change(id, func(s Subject) payload { return RequestDelivered{s} })
}

// Begin notes that the target is at it. A run that begins anew, because the
// first was lost, changes nothing.
func (l Lifecycle) Begin(id string) ([]routing.Event, error) {
	if x, ok := l.state.ByID(id); ok && x.Status == Processing {
		return nil, nil
	}
	return l.change(id, func(s Subject) payload { return RequestBegun{s} })
}

// ErrAnswer says that a question is ended by Answer alone, and nothing else is.
var ErrAnswer = errors.New("a CONTEXT_REQUEST, and nothing else, is answered")

// Processed notes what the run of the target came to. If it failed so has the
// feedback, and nothing is verified; else the sender is to run again.
func (l Lifecycle) Processed(id string, o Outcome) ([]routing.Event, error) {
	x, ok := l.state.ByID(id)
	if ok && o.OK && x.Message.Type.Asks() == Reply && strings.TrimSpace(o.Answer) == "" {
		return nil, ErrAnswer
	}
	return l.events(func(d *draft) error { return d.end(id, Processing, o) })
}

// Answer notes what the target of a question answers, and the files it names.
// The sender then runs again with the answer.
func (l Lifecycle) Answer(id, text string, files []string) ([]routing.Event, error) {
	x, ok := l.state.ByID(id)
	if ok && x.Message.Type.Asks() != Reply || strings.TrimSpace(text) == "" {
		return nil, ErrAnswer
	}
	return l.events(func(d *draft) error {
		return d.end(id, Processing, Outcome{OK: true, Answer: text, Files: files})
	})
}

// Verified notes what the run of the sender came to. If it passed the feedback
// is resolved; else the next round begins, or, where none is left, the feedback
// has failed and is escalated.
func (l Lifecycle) Verified(id string, o Outcome) ([]routing.Event, error) {
	return l.events(func(d *draft) error { return d.end(id, Verifying, o) })
}

// Withdraw ends a feedback that cannot go on, as when its target is no longer
// in the plan. why is told with it.
func (l Lifecycle) Withdraw(id, why string) ([]routing.Event, error) {
	if _, ok := l.state.ByID(id); !ok {
		return nil, ErrUnknown
	}
	if why = strings.TrimSpace(why); why == "" {
		return nil, errors.New("a feedback is withdrawn for a reason")
	}
	return l.change(id, func(s Subject) payload { return RequestWithdrawn{s, cut(redact.Text(why), maxText)} })
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
func (l Lifecycle) Receive(plan, node string) ([]routing.Event, error) {
	r := l.state.Of(plan)
	waits := r.sends(node, "")
	return l.events(func(d *draft) error {
		for _, x := range r.sorted(func(x Record) bool { return x.Message.To == node }) {
			if x.Status == Delivered || x.Status == Queued && !waits {
				if err := d.begin(x); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Said is what people say of feedback that they are to act on.
type Said struct {
	Done bool   // the plan was changed, or the question is answered; else it is declined
	Text string // the answer, or what they say besides
	By   string
}

// Heard takes what people say of a feedback. What was not delivered yet is
// delivered with it. A *routing.RefusedError says what an answer lacks.
func (l Lifecycle) Heard(id string, s Said) ([]routing.Event, error) {
	x, ok := l.state.ByID(id)
	if !ok {
		return nil, ErrUnknown
	}
	question := x.Message.Type.Asks() == Reply
	o := Outcome{OK: s.Done, Summary: s.By + ": " + orElse(s.Text, map[bool]string{true: "the plan was changed", false: "it is not changed"}[s.Done])}
	if s.Done && question {
		if strings.TrimSpace(s.Text) == "" {
			return nil, routing.Refuse("feedback.no-text", "an answer to a question needs a text")
		}
		o.Answer = s.Text
	}
	return l.events(func(d *draft) error {
		if err := d.begin(x); err != nil {
			return err
		}
		return d.end(id, Processing, o)
	})
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
