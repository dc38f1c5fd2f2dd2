package survey

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// The events of the stream of a repository's surveys. An audit row stands before the survey that is
// about it; an answer or a timeout holds the goal it ends in.
const (
	EventAudit          routing.EventType = "survey.audit"           // AuditRecorded
	EventOpened         routing.EventType = "survey.opened"          // SurveyOpened
	EventAnswered       routing.EventType = "survey.answered"        // SurveyAnswered
	EventReminded       routing.EventType = "survey.reminded"        // SurveyReminded
	EventTimedOut       routing.EventType = "survey.timed_out"       // SurveyTimedOut
	EventLeased         routing.EventType = "survey.leased"          // SurveyLeased
	EventDone           routing.EventType = "survey.done"            // WorkDone
	EventReentered      routing.EventType = "survey.reentered"       // CycleReentered
	EventReentryLeased  routing.EventType = "survey.reentry_leased"  // ReentryLeased
	EventReentryStarted routing.EventType = "survey.reentry_started" // ReentryStarted
)

func init() {
	register[AuditRecorded](EventAudit)
	register[SurveyOpened](EventOpened)
	register[SurveyAnswered](EventAnswered)
	register[SurveyReminded](EventReminded)
	register[SurveyTimedOut](EventTimedOut)
	register[SurveyLeased](EventLeased)
	register[WorkDone](EventDone)
	register[CycleReentered](EventReentered)
	register[ReentryLeased](EventReentryLeased)
	register[ReentryStarted](EventReentryStarted)
}

// Entry is the payload of an event of the stream: one of the types that the events name.
type Entry interface {
	// Surveys returns the ids of the surveys that the entry is about.
	Surveys() []string

	event() routing.EventType
}

// payloads reads the payload of each type of events. It is written by register alone, while the
// package is initialized.
var payloads = map[routing.EventType]func(routing.Event) (Entry, error){}

func register[P Entry](t routing.EventType) {
	routing.RegisterPayload[P](t)
	payloads[t] = func(e routing.Event) (Entry, error) { return routing.PayloadOf[P](e) }
}

// EntryOf returns the entry that an event of the stream records.
func EntryOf(e routing.Event) (Entry, error) {
	read, known := payloads[e.Type]
	if !known {
		return nil, fmt.Errorf("unknown event type %q", e.Type)
	}
	return read(e)
}

// Events returns entries as events at now.
func Events(entries []Entry, now time.Time) []routing.Event {
	out := make([]routing.Event, len(entries))
	for i, en := range entries {
		out[i] = routing.Event{Type: en.event(), At: now, Data: en}
	}
	return out
}

// AuditRecorded is the payload of EventAudit: the audit row of a cycle.
type AuditRecorded struct {
	Audit AuditLog `json:"audit"`
}

// SurveyOpened is the payload of EventOpened: people are asked.
type SurveyOpened struct {
	Survey string         `json:"survey"`
	Opened Opened         `json:"opened"`
	Lease  *routing.Lease `json:"lease,omitempty"` // of the process that files the issue
}

// SurveyAnswered is the payload of EventAnswered: somebody answered.
type SurveyAnswered struct {
	Survey   string         `json:"survey"`
	Answered Answered       `json:"answered"`
	Lease    *routing.Lease `json:"lease,omitempty"` // of the process that acknowledges it
}

// SurveyReminded is the payload of EventReminded: nobody has answered so far.
type SurveyReminded struct {
	Survey   string         `json:"survey"`
	Reminder int            `json:"reminder"`        // from 1 on
	Lease    *routing.Lease `json:"lease,omitempty"` // of the process that posts it
}

// SurveyTimedOut is the payload of EventTimedOut: nobody answered in time.
type SurveyTimedOut struct {
	Survey string         `json:"survey"`
	Goal   Goal           `json:"goal"`
	Lease  *routing.Lease `json:"lease,omitempty"` // of the process that says so
}

// SurveyLeased is the payload of EventLeased: a process takes over what is to be posted.
type SurveyLeased struct {
	Survey string         `json:"survey"`
	Lease  *routing.Lease `json:"lease,omitempty"`
}

// WorkDone is the payload of EventDone: something was posted.
type WorkDone struct {
	Survey string `json:"survey"`
	Work   string `json:"work"`          // what of Survey.Pending
	Ref    string `json:"ref,omitempty"` // of what was posted, e.g. an issue's number
	URL    string `json:"url,omitempty"` // its page
}

// CycleReentered is the payload of EventReentered: a completed run starts the next cycle.
type CycleReentered struct {
	Reentry Reentry        `json:"reentry"`
	Lease   *routing.Lease `json:"lease,omitempty"` // of the process that starts it
}

// ReentryLeased is the payload of EventReentryLeased: a process takes over the start of the next
// cycle.
type ReentryLeased struct {
	Run   string         `json:"run"` // Reentry.Run
	Lease *routing.Lease `json:"lease,omitempty"`
}

// ReentryStarted is the payload of EventReentryStarted: the next cycle was started.
type ReentryStarted struct {
	Run string `json:"run"`           // Reentry.Run
	Ref string `json:"ref,omitempty"` // the event that started it
}

// Surveys implements Entry.
func (AuditRecorded) Surveys() []string { return nil }

// Surveys implements Entry.
func (p SurveyOpened) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p SurveyAnswered) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p SurveyReminded) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p SurveyTimedOut) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p SurveyLeased) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p WorkDone) Surveys() []string { return []string{p.Survey} }

// Surveys implements Entry.
func (p CycleReentered) Surveys() []string { return p.Reentry.Surveys }

// Surveys implements Entry.
func (ReentryLeased) Surveys() []string { return nil }

// Surveys implements Entry.
func (ReentryStarted) Surveys() []string { return nil }

func (AuditRecorded) event() routing.EventType  { return EventAudit }
func (SurveyOpened) event() routing.EventType   { return EventOpened }
func (SurveyAnswered) event() routing.EventType { return EventAnswered }
func (SurveyReminded) event() routing.EventType { return EventReminded }
func (SurveyTimedOut) event() routing.EventType { return EventTimedOut }
func (SurveyLeased) event() routing.EventType   { return EventLeased }
func (WorkDone) event() routing.EventType       { return EventDone }
func (CycleReentered) event() routing.EventType { return EventReentered }
func (ReentryLeased) event() routing.EventType  { return EventReentryLeased }
func (ReentryStarted) event() routing.EventType { return EventReentryStarted }
