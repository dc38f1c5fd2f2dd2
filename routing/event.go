package routing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// EventType names what happened. That of an event of another stream than a case's begins with the
// family of the stream and a dot, as "survey.opened" does.
type EventType string

// The events of a case. Their payloads are RunRecorded, EffectDone, LeaseTaken, HumanActed,
// BasePassed, IncidentChanged, HandoffChanged, GroupNoted, GroupRan and RegisterBegun.
const (
	EventRun    EventType = "run"    // a run was analyzed and decided
	EventEffect EventType = "effect" // an effect was applied
	EventLease  EventType = "lease"  // a process took, renewed or released the lease on the pending effects
	EventHuman  EventType = "human"  // a person acted
	EventBase   EventType = "base"   // the base passes what a checkpoint is on hold for
	EventGroup  EventType = "group"  // a merge group began or ended; in the group's case

	EventGroupRan EventType = "group-ran" // a merge group with the pull request ran

	EventHandoff EventType = "handoff" // something happened to the active hand-off

	EventIncident EventType = "incident" // a checkpoint joins an incident, or is restarted after it

	EventRegister EventType = "register" // the repository has a quarantine; recorded in the case of its default branch
)

// The families of events of the other streams.
const (
	FamilyEscalation = "escalation" // package escalation
	FamilySurvey     = "survey"     // package survey
	FamilyFeedback   = "feedback"   // package plan/feedback
	FamilyQuarantine = "quarantine" // package quarantine
	FamilyRerun      = "rerun"      // failed jobs that were run again, package bot/pipeline/effect
	FamilyIncident   = "incident"   // package incident
	FamilyPlan       = "plan"       // package plan
	FamilyPort       = "port"       // package plan
)

// Family returns the family of streams that events of this type are of, "" for those of a case.
func (t EventType) Family() string {
	family, _, ok := strings.Cut(string(t), ".")
	if !ok {
		return ""
	}
	return family
}

// Name returns the type without its family.
func (t EventType) Name() string {
	_, name, ok := strings.Cut(string(t), ".")
	if !ok {
		return string(t)
	}
	return name
}

// Event is one record of a stream: an envelope that is the same for every stream, and a payload
// that the package defines whose stream it is.
type Event struct {
	Type   EventType
	At     time.Time
	Stream string // key of the stream; a ledger fills it in
	Actor  string // login of the person who acted, "" for the bot itself
	// Data is the payload: a value of the Go type registered for Type, or json.RawMessage where
	// none is, or where the stored text is not one. PayloadOf reads it.
	Data any
}

// Envelope is an Event as it is stored.
type Envelope struct {
	Type    EventType       `json:"type"`
	At      time.Time       `json:"at"`
	Stream  string          `json:"stream"`
	Actor   string          `json:"actor,omitempty"`
	Version int             `json:"version,omitempty"` // of the payload; 0: 1
	Data    json.RawMessage `json:"data,omitempty"`
}

// payload is what is known of the payload of a type of events.
type payload struct {
	migrate []func(json.RawMessage) (json.RawMessage, error)
	decode  func(json.RawMessage) (any, error)
}

// payloads is written by RegisterPayload alone, while packages are initialized.
var payloads = map[EventType]payload{}

// RegisterPayload says that the payload of a type of events is a P. It is called while packages are
// initialized, by the package that owns the stream. The i-th of migrations turns version i of the
// payload, counted from 1, into version i+1; without any the stored version is 1.
func RegisterPayload[P any](t EventType, migrations ...func(json.RawMessage) (json.RawMessage, error)) {
	payloads[t] = payload{migrations, func(data json.RawMessage) (any, error) {
		var p P
		err := json.Unmarshal(data, &p)
		return p, err
	}}
}

// open returns the payload of an envelope.
func (p payload) open(e Envelope) (any, error) {
	v := max(e.Version, 1)
	if newest := len(p.migrate) + 1; v > newest {
		return nil, fmt.Errorf("version %d of %q was written by a newer release; this one knows up to %d", v, e.Type, newest)
	}
	data := e.Data
	if len(data) == 0 {
		data = json.RawMessage("{}")
	}
	for ; v <= len(p.migrate); v++ {
		var err error
		if data, err = p.migrate[v-1](data); err != nil {
			return nil, fmt.Errorf("version %d of %q: %w", v, e.Type, err)
		}
	}
	return p.decode(data)
}

// Open returns the event. A payload that cannot be decoded stays as it is: the projection of the
// stream refuses it, and names its place.
func (e Envelope) Open() Event {
	out := Event{Type: e.Type, At: e.At, Stream: e.Stream, Actor: e.Actor}
	if len(e.Data) > 0 {
		out.Data = e.Data
	}
	if p, known := payloads[e.Type]; known {
		if data, err := p.open(e); err == nil {
			out.Data = data
		} else {
			out.Data = sealed{e, err}
		}
	}
	return out
}

// sealed is a stored payload that this release cannot decode.
type sealed struct {
	Envelope
	why error
}

// Seal returns the event as it is stored.
func (e Event) Seal() (Envelope, error) {
	out := Envelope{Type: e.Type, At: e.At, Stream: e.Stream, Actor: e.Actor}
	switch d := e.Data.(type) {
	case nil:
	case json.RawMessage:
		out.Data = d
	case sealed:
		out.Version, out.Data = d.Version, d.Data
	default:
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(d); err != nil {
			return out, err
		}
		out.Data = bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
		if n := len(payloads[e.Type].migrate); n > 0 {
			out.Version = n + 1
		}
	}
	return out, nil
}

// MarshalJSON returns the event as it is stored.
func (e Event) MarshalJSON() ([]byte, error) {
	sealed, err := e.Seal()
	if err != nil {
		return nil, err
	}
	return json.Marshal(sealed)
}

// UnmarshalJSON reads an event as it is stored.
func (e *Event) UnmarshalJSON(data []byte) error {
	var in Envelope
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*e = in.Open()
	return nil
}

// PayloadOf returns the payload of an event as a P, or why it is none.
func PayloadOf[P any](e Event) (P, error) {
	var p P
	switch d := e.Data.(type) {
	case P:
		return d, nil
	case json.RawMessage:
		if err := json.Unmarshal(d, &p); err != nil {
			return p, fmt.Errorf("the payload of %q is unreadable: %w", e.Type, err)
		}
		return p, nil
	case sealed:
		return p, fmt.Errorf("the payload of %q is unreadable: %w", e.Type, d.why)
	case nil:
		return p, fmt.Errorf("%q has no payload", e.Type)
	default:
		return p, fmt.Errorf("%q has a payload of type %T", e.Type, d)
	}
}

// PayloadAs returns the payload of an event as a P, the interface that all payloads of its stream
// implement, or why it is none.
func PayloadAs[P any](e Event) (P, error) {
	if raw, ok := e.Data.(json.RawMessage); ok {
		p, known := payloads[e.Type]
		if !known {
			var none P
			return none, fmt.Errorf("unknown event type %q", e.Type)
		}
		data, err := p.decode(raw)
		if err != nil {
			var none P
			return none, fmt.Errorf("the payload of %q is unreadable: %w", e.Type, err)
		}
		e.Data = data
	}
	return PayloadOf[P](e)
}

// EventsOf returns payloads as events of a person, "" for the bot itself, at now.
func EventsOf[P any](ps []P, typeOf func(P) EventType, by string, now time.Time) []Event {
	out := make([]Event, len(ps))
	for i, p := range ps {
		out[i] = Event{Type: typeOf(p), At: now, Actor: by, Data: p}
	}
	return out
}
