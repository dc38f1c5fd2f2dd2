package feedback

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// The events of the stream. Each but two brings a request into the status that it is named after:
// one that is requeued is queued for its next round, one that is withdrawn has failed without a run.
const (
	EventQueued     routing.EventType = "feedback.queued"     // RequestQueued
	EventRejected   routing.EventType = "feedback.rejected"   // RequestRejected
	EventDelivered  routing.EventType = "feedback.delivered"  // RequestDelivered
	EventProcessing routing.EventType = "feedback.processing" // RequestBegun
	EventVerifying  routing.EventType = "feedback.verifying"  // RequestProcessed
	EventRequeued   routing.EventType = "feedback.requeued"   // RequestRequeued
	EventResolved   routing.EventType = "feedback.resolved"   // RequestResolved
	EventFailed     routing.EventType = "feedback.failed"     // RequestFailed
	EventWithdrawn  routing.EventType = "feedback.withdrawn"  // RequestWithdrawn
)

// Subject says which request an event is about. With the status and the time of the event it is the
// line of the audit trail.
type Subject struct {
	ID     string `json:"feedback_id"`
	Type   Type   `json:"type"`
	Source string `json:"source"`
	Target string `json:"target"`
	Round  int    `json:"round"`
}

// RequestQueued is the payload of EventQueued: a request was sent, and waits in its pair's next
// round.
type RequestQueued struct {
	Subject
	Plan      string   `json:"plan,omitempty"`
	Message   *Message `json:"feedback"`
	Priority  Priority `json:"priority"`
	Escalates string   `json:"escalates,omitempty"` // id of the request whose rounds were used up
}

// RequestRejected is the payload of EventRejected: a request was sent, and refused.
type RequestRejected struct {
	Subject
	Plan      string      `json:"plan,omitempty"`
	Message   *Message    `json:"feedback"`
	Refusal   *Refusal    `json:"refusal"`
	Escalated *Escalation `json:"escalated,omitempty"`
}

// RequestDelivered is the payload of EventDelivered: the request reached its target.
type RequestDelivered struct{ Subject }

// RequestBegun is the payload of EventProcessing: the run of the target has begun.
type RequestBegun struct{ Subject }

// RequestProcessed is the payload of EventVerifying: the target has run, and the sender is to
// verify.
type RequestProcessed struct {
	Subject
	Outcome *Outcome `json:"outcome"` // of the target
}

// RequestRequeued is the payload of EventRequeued: the sender has verified that the request is not
// met, and its next round begins.
type RequestRequeued struct {
	Subject
	Priority Priority `json:"priority"`
	Outcome  *Outcome `json:"outcome"` // of the sender
}

// RequestResolved is the payload of EventResolved: the sender has verified that the request is met.
type RequestResolved struct {
	Subject
	Outcome *Outcome `json:"outcome"` // of the sender
}

// RequestFailed is the payload of EventFailed: a run has failed, and no further round follows.
type RequestFailed struct {
	Subject
	Outcome   *Outcome    `json:"outcome"` // of the target or the sender
	Escalated *Escalation `json:"escalated,omitempty"`
}

// RequestWithdrawn is the payload of EventWithdrawn: the request ended without a run.
type RequestWithdrawn struct {
	Subject
	Reason string `json:"withdrawn"`
}

// payload is the payload of one of the events.
type payload interface {
	subject() Subject
	event() routing.EventType
}

func (s Subject) subject() Subject { return s }

func (RequestQueued) event() routing.EventType    { return EventQueued }
func (RequestRejected) event() routing.EventType  { return EventRejected }
func (RequestDelivered) event() routing.EventType { return EventDelivered }
func (RequestBegun) event() routing.EventType     { return EventProcessing }
func (RequestProcessed) event() routing.EventType { return EventVerifying }
func (RequestRequeued) event() routing.EventType  { return EventRequeued }
func (RequestResolved) event() routing.EventType  { return EventResolved }
func (RequestFailed) event() routing.EventType    { return EventFailed }
func (RequestWithdrawn) event() routing.EventType { return EventWithdrawn }

// kind is what is known of the events of one type.
type kind struct {
	status Status // that the request is in afterwards
	read   func(routing.Event) (payload, error)
}

var kinds = map[routing.EventType]kind{}

func register[P payload](s Status) {
	var p P
	routing.RegisterPayload[P](p.event())
	kinds[p.event()] = kind{s, func(e routing.Event) (payload, error) { return routing.PayloadOf[P](e) }}
}

func init() {
	register[RequestQueued](Queued)
	register[RequestRejected](Rejected)
	register[RequestDelivered](Delivered)
	register[RequestBegun](Processing)
	register[RequestProcessed](Verifying)
	register[RequestRequeued](Queued)
	register[RequestResolved](Resolved)
	register[RequestFailed](Failed)
	register[RequestWithdrawn](Failed)
}

// read returns the payload of an event of the stream, and the status it leads to.
func read(e routing.Event) (payload, Status, error) {
	k, ok := kinds[e.Type]
	if !ok {
		return nil, "", fmt.Errorf("unknown event type %q", e.Type)
	}
	p, err := k.read(e)
	return p, k.status, err
}

func event(p payload, now time.Time) routing.Event {
	return routing.Event{Type: p.event(), At: now, Data: p}
}
