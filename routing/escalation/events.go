package escalation

import "github.com/switchback-ci/switchback/routing"

// The events of the stream of a repository's escalations.
const (
	EventOpened    routing.EventType = "escalation.opened"    // RecordOpened
	EventJoined    routing.EventType = "escalation.joined"    // MemberJoined
	EventFiled     routing.EventType = "escalation.filed"     // IssueFiled
	EventLeased    routing.EventType = "escalation.leased"    // LeaseTaken
	EventGone      routing.EventType = "escalation.gone"      // IssueGone
	EventLeft      routing.EventType = "escalation.left"      // MemberLeft
	EventResolved  routing.EventType = "escalation.resolved"  // RecordResolved
	EventSettled   routing.EventType = "escalation.settled"   // RecordSettled
	EventReopened  routing.EventType = "escalation.reopened"  // RecordReopened
	EventDismissed routing.EventType = "escalation.dismissed" // RecordDismissed
	EventRecalled  routing.EventType = "escalation.recalled"  // RecordRecalled
	EventAnswered  routing.EventType = "escalation.answered"  // AnswerTaken
	EventFanned    routing.EventType = "escalation.fanned"    // AnswerFanned
)

func init() {
	register[RecordOpened](EventOpened)
	register[MemberJoined](EventJoined)
	register[IssueFiled](EventFiled)
	register[LeaseTaken](EventLeased)
	register[IssueGone](EventGone)
	register[MemberLeft](EventLeft)
	register[RecordResolved](EventResolved)
	register[RecordSettled](EventSettled)
	register[RecordReopened](EventReopened)
	register[RecordDismissed](EventDismissed)
	register[RecordRecalled](EventRecalled)
	register[AnswerTaken](EventAnswered)
	register[AnswerFanned](EventFanned)
}

// payload is what the payloads of the stream have in common: each is about one record.
type payload interface{ record() string }

// payloads reads the payload of each type of events. It is written by register alone, while the
// package is initialized.
var payloads = map[routing.EventType]func(routing.Event) (payload, error){}

func register[P payload](t routing.EventType) {
	routing.RegisterPayload[P](t)
	payloads[t] = func(e routing.Event) (payload, error) { return routing.PayloadOf[P](e) }
}

// RecordOpened is the payload of EventOpened.
type RecordOpened struct {
	Record Record `json:"record"`
}

// MemberJoined is the payload of EventJoined: a member that is new to the record, or is brought up
// to date.
type MemberJoined struct {
	ID     string `json:"id"`
	Member Member `json:"member"`
	Facts  *Facts `json:"facts,omitempty"` // nil leaves those of the record
}

// IssueFiled is the payload of EventFiled.
type IssueFiled struct {
	ID     string `json:"id"`
	Number int    `json:"number"`
	URL    string `json:"url,omitempty"`
}

// LeaseTaken is the payload of EventLeased: a process files the issue.
type LeaseTaken struct {
	ID    string        `json:"id"`
	Lease routing.Lease `json:"lease"`
}

// IssueGone is the payload of EventGone: the issue was deleted or transferred.
type IssueGone struct {
	ID string `json:"id"`
}

// MemberLeft is the payload of EventLeft. The member says when and how it left.
type MemberLeft struct {
	ID     string `json:"id"`
	Member Member `json:"member"`
}

// RecordResolved is the payload of EventResolved.
type RecordResolved struct {
	ID   string `json:"id"`
	By   string `json:"by,omitempty"`
	Text string `json:"text,omitempty"`
	Fix  string `json:"fix,omitempty"` // commit at which the last member left
}

// RecordSettled is the payload of EventSettled: the issue shows that the record is resolved.
type RecordSettled struct {
	ID string `json:"id"`
}

// RecordReopened is the payload of EventReopened: a resolved record holds a member again.
type RecordReopened struct {
	ID     string `json:"id"`
	Member Member `json:"member"`
	Facts  *Facts `json:"facts,omitempty"` // nil leaves those of the record
}

// RecordDismissed is the payload of EventDismissed: a person closed the issue for a commit.
type RecordDismissed struct {
	ID  string `json:"id"`
	SHA string `json:"sha,omitempty"`
	By  string `json:"by,omitempty"`
}

// RecordRecalled is the payload of EventRecalled: a dismissed record is open again.
type RecordRecalled struct {
	ID string `json:"id"`
}

// AnswerTaken is the payload of EventAnswered.
type AnswerTaken struct {
	ID     string   `json:"id"`
	Answer Answered `json:"answer"`
}

// AnswerFanned is the payload of EventFanned: every case of the record has the answer of a
// generation.
type AnswerFanned struct {
	ID         string `json:"id"`
	Generation int    `json:"generation"`
}

func (p RecordOpened) record() string    { return p.Record.ID }
func (p MemberJoined) record() string    { return p.ID }
func (p IssueFiled) record() string      { return p.ID }
func (p LeaseTaken) record() string      { return p.ID }
func (p IssueGone) record() string       { return p.ID }
func (p MemberLeft) record() string      { return p.ID }
func (p RecordResolved) record() string  { return p.ID }
func (p RecordSettled) record() string   { return p.ID }
func (p RecordReopened) record() string  { return p.ID }
func (p RecordDismissed) record() string { return p.ID }
func (p RecordRecalled) record() string  { return p.ID }
func (p AnswerTaken) record() string     { return p.ID }
func (p AnswerFanned) record() string    { return p.ID }
