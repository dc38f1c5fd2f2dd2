// Package activity turns what a ledger recorded into what people are told while it
// happens: one event for each change of state, in order.
package activity

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Type names what changed.
type Type string

// What changes in a case as well as in a port. A case is a session: it starts with
// its first run, and again with the first one after it was complete; it ends when
// every checkpoint passed.
const (
	SessionStart       = Type(plan.SessionStart)
	SessionEnd         = Type(plan.SessionEnd)
	WorkerFeedback     = Type(plan.WorkerFeedback) // something is returned for a fix to a worker
	EscalationNew      = Type(plan.EscalationNew)
	EscalationResolved = Type(plan.EscalationResolved)
)

// What changes in the port of a plan.
const (
	WorkerSpawn    = Type(plan.WorkerSpawn)
	WorkerComplete = Type(plan.WorkerComplete)
	WorkerProgress = Type(plan.WorkerProgress)
	DirectMessage  = Type(plan.DirectMessage)
	PairChanged    = Type(plan.PairChanged) // the pair is in another turn or phase, or ended
)

// What changes elsewhere.
const (
	RunAnalyzed     Type = "run.analyzed"     // a run was analyzed and decided
	HumanActed      Type = "human.acted"      // a human answered
	EffectDone      Type = "effect.done"      // a comment, a check or another effect stands outside
	PlanStart       Type = "plan.start"       // a build of a plan began
	PlanPort        Type = "plan.port"        // a port of a plan stands otherwise than before
	FeedbackChanged Type = "feedback.changed" // a feedback between ports stands otherwise than before
	EscalationIssue Type = "escalation.issue" // an escalation has its issue
	SurveyChanged   Type = "survey.changed"   // people are asked, have answered, did not in time, or what they said goes into the next cycle

	IncidentChanged   Type = "incident.changed"   // an incident opened, took or lost a member, was resolved, or restarted one
	QuarantineChanged Type = "quarantine.changed" // a test flaked, is in quarantine, or its failures count again
)

// Event is one change of state.
type Event struct {
	ID      int64           `json:"id,omitempty"` // place in the feed that it was read from, ascending; 0 outside of one
	Type    Type            `json:"event"`
	At      time.Time       `json:"timestamp"`
	Repo    string          `json:"repository"`
	Session string          `json:"session_id"` // a case, a build, or one of its ports or workers: BUILD/PORT/ROLE
	Port    string          `json:"port_id,omitempty"`
	Stream  string          `json:"stream"` // key of the ledger's stream that tells of it
	Data    json.RawMessage `json:"data"`   // an object, by Type
}

// Of reports whether the event is of a session, or of one within it.
func (e Event) Of(session string) bool {
	return e.Session == session || strings.HasPrefix(e.Session, session+"/")
}

// Since returns what the events of a stream changed, but for the first seen of them. A
// stream of an unknown kind changes nothing.
func Since(key string, events []routing.Event, seen int) ([]Event, error) {
	n := teller{key: key, repo: Repo(key)}
	if seen < 0 || seen > len(events) {
		return nil, fmt.Errorf("%s has %d events, of which %d cannot have been seen", key, len(events), seen)
	}
	if err := n.stream(events, seen); err != nil {
		return n.out, err
	}
	return n.out, n.wrong
}

// Repo returns the repository that a stream is of.
func Repo(key string) string {
	owner, rest, ok := strings.Cut(key, "/")
	if i := strings.IndexAny(rest, "#@!"); ok && i >= 0 {
		return owner + "/" + rest[:i]
	}
	return key
}

// teller collects the events of one stream.
type teller struct {
	key, repo string
	out       []Event
	wrong     error // the first that could not be told
}

func (n *teller) stream(events []routing.Event, seen int) error {
	if _, _, ok := routing.ParsePortKey(n.key); ok {
		return n.port(events, seen)
	}
	if plan, ok := routing.ParsePlanKey(n.key); ok {
		return n.plan(plan, events, seen)
	}
	switch n.key {
	case routing.StreamKey(n.repo, routing.StreamFeedbackRequests):
		return n.requests(events, seen)
	case routing.StreamKey(n.repo, routing.StreamEscalations):
		return n.escalations(events, seen)
	case routing.StreamKey(n.repo, routing.StreamSurveys):
		return n.surveys(events, seen)
	case routing.StreamKey(n.repo, routing.StreamIncidents):
		return n.incidents(events, seen)
	case routing.StreamKey(n.repo, routing.StreamQuarantine):
		return n.quarantined(events, seen)
	}
	if routing.IsRepositoryStream(n.key) {
		return nil
	}
	return n.routed(events, seen)
}

// tell adds an event. What JSON cannot say, such as a year of five digits, is in no
// stream of ours, but anybody who may write to the branch of a ledger can put it there.
func (n *teller) tell(t Type, at time.Time, session, port string, data any) {
	text, err := json.Marshal(data)
	if err == nil {
		_, err = at.UTC().MarshalText()
	}
	if err != nil {
		if n.wrong == nil {
			n.wrong = fmt.Errorf("%s of %s cannot be told: %w", t, n.key, err)
		}
		return
	}
	n.out = append(n.out, Event{Type: t, At: at.UTC(), Repo: n.repo, Session: session, Port: port, Stream: n.key, Data: text})
}
