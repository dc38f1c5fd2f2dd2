package incident

import (
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/trackingissue"
)

// The events of the stream of a repository's incidents.
const (
	EventSighted   routing.EventType = "incident.sighted"   // Sighted
	EventOpened    routing.EventType = "incident.opened"    // Opened
	EventWidened   routing.EventType = "incident.widened"   // Widened
	EventJoined    routing.EventType = "incident.joined"    // Joined
	EventLeft      routing.EventType = "incident.left"      // MemberLeft
	EventResolved  routing.EventType = "incident.resolved"  // Resolved
	EventReopened  routing.EventType = "incident.reopened"  // Reopened
	EventCanary    routing.EventType = "incident.canary"    // CanaryChosen
	EventPassed    routing.EventType = "incident.passed"    // CanaryPassed
	EventRestarted routing.EventType = "incident.restarted" // MemberRestarted
	EventFinished  routing.EventType = "incident.finished"  // Finished
	EventLeased    routing.EventType = "incident.leased"    // Leased
	EventDone      routing.EventType = "incident.done"      // WorkDone
)

func init() {
	routing.RegisterPayload[Sighted](EventSighted)
	routing.RegisterPayload[Opened](EventOpened)
	routing.RegisterPayload[Widened](EventWidened)
	routing.RegisterPayload[Joined](EventJoined)
	routing.RegisterPayload[MemberLeft](EventLeft)
	routing.RegisterPayload[Resolved](EventResolved)
	routing.RegisterPayload[Reopened](EventReopened)
	routing.RegisterPayload[CanaryChosen](EventCanary)
	routing.RegisterPayload[CanaryPassed](EventPassed)
	routing.RegisterPayload[MemberRestarted](EventRestarted)
	routing.RegisterPayload[Finished](EventFinished)
	routing.RegisterPayload[Leased](EventLeased)
	routing.RegisterPayload[WorkDone](EventDone)
}

// Payload is that of an event of the stream: one of the types that the events name.
type Payload interface{ event() routing.EventType }

// Events returns payloads as events of a person, "" for the bot itself, at now.
func Events(ps []Payload, by string, now time.Time) []routing.Event {
	return routing.EventsOf(ps, Payload.event, by, now)
}

// Sighted is the payload of EventSighted: a run failed by causes that others may share.
type Sighted struct {
	Case       string      `json:"case"`
	Checkpoint string      `json:"checkpoint"`
	Author     string      `json:"author,omitempty"` // of the pull request, "" if unknown
	Run        routing.Run `json:"run"`
	Causes     []Cause     `json:"causes"`
}

// Opened is the payload of EventOpened: cases share causes, all of one kind.
type Opened struct {
	ID      string         `json:"id"`
	Causes  []Cause        `json:"causes"`
	Base    string         `json:"base,omitempty"` // branch whose green run ends the incident
	Members []Member       `json:"members,omitempty"`
	Red     []routing.Run  `json:"red,omitempty"` // of the base, where its failures opened the incident
	Lease   *routing.Lease `json:"lease,omitempty"`
}

// Widened is the payload of EventWidened: the base fails by further causes.
type Widened struct {
	ID     string  `json:"id"`
	Causes []Cause `json:"causes"`
}

// Joined is the payload of EventJoined: a member that is new, or that failed by the cause again.
type Joined struct {
	ID     string `json:"id"`
	Member Member `json:"member"`
}

// MemberLeft is the payload of EventLeft: a member is none any more.
type MemberLeft struct {
	ID         string `json:"id"`
	Case       string `json:"case"`
	Checkpoint string `json:"checkpoint,omitempty"` // "" is every checkpoint of the case
	How        How    `json:"how"`
}

// Resolved is the payload of EventResolved: the cause is over. The event's actor closed the issue, or
// it is "" for a green run.
type Resolved struct {
	ID        string         `json:"id"`
	SHA       string         `json:"sha,omitempty"`       // commit of the green run
	Source    string         `json:"source,omitempty"`    // names what the person did; it counts once
	Dismissed bool           `json:"dismissed,omitempty"` // nothing is restarted
	Lease     *routing.Lease `json:"lease,omitempty"`
}

// Reopened is the payload of EventReopened: what was restarted failed by the cause again, or the
// event's actor opened the issue again.
type Reopened struct {
	ID     string         `json:"id"`
	Source string         `json:"source,omitempty"`
	Lease  *routing.Lease `json:"lease,omitempty"`
}

// CanaryChosen is the payload of EventCanary: one member is restarted before all others.
type CanaryChosen struct {
	ID         string `json:"id"`
	Case       string `json:"case"`
	Checkpoint string `json:"checkpoint"`
}

// CanaryPassed is the payload of EventPassed: the others may follow.
type CanaryPassed struct {
	ID    string `json:"id"`
	Quiet bool   `json:"quiet,omitempty"` // it did not fail, and nobody waits for it any longer
}

// MemberRestarted is the payload of EventRestarted.
type MemberRestarted struct {
	ID         string `json:"id"`
	Case       string `json:"case"`
	Checkpoint string `json:"checkpoint"`
}

// Finished is the payload of EventFinished: every member was restarted or has left.
type Finished struct {
	ID    string         `json:"id"`
	Lease *routing.Lease `json:"lease,omitempty"`
}

// Leased is the payload of EventLeased: a process takes over what is to be posted.
type Leased struct {
	ID    string         `json:"id"`
	Lease *routing.Lease `json:"lease,omitempty"`
}

// WorkDone is the payload of EventDone.
type WorkDone struct{ trackingissue.Done }

func (Sighted) event() routing.EventType         { return EventSighted }
func (Opened) event() routing.EventType          { return EventOpened }
func (Widened) event() routing.EventType         { return EventWidened }
func (Joined) event() routing.EventType          { return EventJoined }
func (MemberLeft) event() routing.EventType      { return EventLeft }
func (Resolved) event() routing.EventType        { return EventResolved }
func (Reopened) event() routing.EventType        { return EventReopened }
func (CanaryChosen) event() routing.EventType    { return EventCanary }
func (CanaryPassed) event() routing.EventType    { return EventPassed }
func (MemberRestarted) event() routing.EventType { return EventRestarted }
func (Finished) event() routing.EventType        { return EventFinished }
func (Leased) event() routing.EventType          { return EventLeased }
func (WorkDone) event() routing.EventType        { return EventDone }

// Subject is what an event of the stream is about.
type Subject struct {
	ID               string // of the incident, "" for a sighting
	Case, Checkpoint string // of the member, if the event is about one
	How              How    // it left
}

// About returns what an event of the stream is about.
func About(e routing.Event) (s Subject, err error) {
	p, err := routing.PayloadAs[Payload](e)
	switch p := p.(type) {
	case Opened:
		s.ID = p.ID
	case Widened:
		s.ID = p.ID
	case Joined:
		s = Subject{p.ID, p.Member.Case, p.Member.Checkpoint, ""}
	case MemberLeft:
		s = Subject(p)
	case Resolved:
		s.ID = p.ID
	case Reopened:
		s.ID = p.ID
	case CanaryChosen:
		s = Subject{p.ID, p.Case, p.Checkpoint, ""}
	case CanaryPassed:
		s.ID = p.ID
	case MemberRestarted:
		s = Subject{p.ID, p.Case, p.Checkpoint, ""}
	case Finished:
		s.ID = p.ID
	case Leased:
		s.ID = p.ID
	case WorkDone:
		s.ID = p.ID
	}
	return s, err
}
