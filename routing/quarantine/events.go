package quarantine

import (
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// The events of the stream of a repository's quarantine.
const (
	EventFlaked   routing.EventType = "quarantine.flaked"   // Flaked
	EventProposed routing.EventType = "quarantine.proposed" // Proposed
	EventBegan    routing.EventType = "quarantine.began"    // Began
	EventFixing   routing.EventType = "quarantine.fixing"   // Fixing
	EventReminded routing.EventType = "quarantine.reminded" // Reminded
	EventExpired  routing.EventType = "quarantine.expired"  // Expired
	EventPassing  routing.EventType = "quarantine.passing"  // Passing
	EventReleased routing.EventType = "quarantine.released" // Released
	EventLeased   routing.EventType = "quarantine.leased"   // Leased
	EventDone     routing.EventType = "quarantine.done"     // WorkDone
)

func init() {
	routing.RegisterPayload[Flaked](EventFlaked)
	routing.RegisterPayload[Proposed](EventProposed)
	routing.RegisterPayload[Began](EventBegan)
	routing.RegisterPayload[Fixing](EventFixing)
	routing.RegisterPayload[Reminded](EventReminded)
	routing.RegisterPayload[Expired](EventExpired)
	routing.RegisterPayload[Passing](EventPassing)
	routing.RegisterPayload[Released](EventReleased)
	routing.RegisterPayload[Leased](EventLeased)
	routing.RegisterPayload[WorkDone](EventDone)
}

// Payload is that of an event of the stream: one of the types that the events name.
type Payload interface{ event() routing.EventType }

// Events returns payloads as events of a person, "" for the bot itself, at now.
func Events(ps []Payload, by string, now time.Time) []routing.Event {
	return routing.EventsOf(ps, Payload.event, by, now)
}

// Evidence is one commit on which a test failed and passed, or a run in which it failed when a person
// put it into quarantine.
type Evidence struct {
	Case   string      `json:"case"`
	Failed routing.Run `json:"failed"`
	Passed routing.Run `json:"passed,omitzero"` // zero if none is known
	At     time.Time   `json:"at"`
}

// Flaked is the payload of EventFlaked: a test failed and passed on one commit.
type Flaked struct {
	Test     routing.TestRef `json:"entry"`
	Evidence Evidence        `json:"evidence"`
}

// Proposed is the payload of EventProposed: a maintainer is asked whether a test is to be put into
// quarantine.
type Proposed struct {
	ID    string         `json:"id"`
	Lease *routing.Lease `json:"lease,omitempty"` // of the process that files the issue
}

// Began is the payload of EventBegan: the failures of a test do not count until a time. The event's
// actor said so.
type Began struct {
	Test     routing.TestRef `json:"entry"`
	Evidence []Evidence      `json:"evidence,omitempty"` // besides what is known
	Until    time.Time       `json:"until"`
	Source   string          `json:"source,omitempty"` // names what was said: comment/12/1, edit/…
	Lease    *routing.Lease  `json:"lease,omitempty"`
}

// Fixing is the payload of EventFixing: the event's actor wants the test to be fixed.
type Fixing struct {
	ID     string         `json:"id"`
	Source string         `json:"source,omitempty"`
	Lease  *routing.Lease `json:"lease,omitempty"`
}

// Reminded is the payload of EventReminded: the quarantine is about to end.
type Reminded struct {
	ID    string         `json:"id"`
	Until time.Time      `json:"until"`
	Lease *routing.Lease `json:"lease,omitempty"`
}

// Expired is the payload of EventExpired: the time is over. It only says so: failures count from
// Entry.Until on, whether it is recorded or not.
type Expired struct {
	ID    string         `json:"id"`
	Lease *routing.Lease `json:"lease,omitempty"`
}

// Passing is the payload of EventPassing: the test passed so often in a row that its release is
// proposed.
type Passing struct {
	ID     string         `json:"id"`
	Passes int            `json:"passes"`
	Lease  *routing.Lease `json:"lease,omitempty"`
}

// Released is the payload of EventReleased: the event's actor ended the quarantine, or declined it.
type Released struct {
	ID     string         `json:"id"`
	Source string         `json:"source,omitempty"`
	Lease  *routing.Lease `json:"lease,omitempty"`
}

// Leased is the payload of EventLeased: a process takes over what is to be posted.
type Leased struct {
	ID    string         `json:"id"`
	Lease *routing.Lease `json:"lease,omitempty"`
}

// WorkDone is the payload of EventDone: something was found out or posted.
type WorkDone struct {
	trackingissue.Done
	Owners []string `json:"owners,omitempty"` // of WorkOwners
}

func (Flaked) event() routing.EventType   { return EventFlaked }
func (Proposed) event() routing.EventType { return EventProposed }
func (Began) event() routing.EventType    { return EventBegan }
func (Fixing) event() routing.EventType   { return EventFixing }
func (Reminded) event() routing.EventType { return EventReminded }
func (Expired) event() routing.EventType  { return EventExpired }
func (Passing) event() routing.EventType  { return EventPassing }
func (Released) event() routing.EventType { return EventReleased }
func (Leased) event() routing.EventType   { return EventLeased }
func (WorkDone) event() routing.EventType { return EventDone }

// About returns the id of the entry that an event of the stream is about.
func About(e routing.Event) (id string, err error) {
	p, err := routing.PayloadAs[Payload](e)
	switch p := p.(type) {
	case Flaked:
		id = IDOf(p.Test)
	case Proposed:
		id = p.ID
	case Began:
		id = IDOf(p.Test)
	case Fixing:
		id = p.ID
	case Reminded:
		id = p.ID
	case Expired:
		id = p.ID
	case Passing:
		id = p.ID
	case Released:
		id = p.ID
	case Leased:
		id = p.ID
	case WorkDone:
		id = p.ID
	}
	return id, err
}
