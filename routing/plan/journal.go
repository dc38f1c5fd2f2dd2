package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// EventKind names what happened while a port ran.
type EventKind string

// What happens while a port runs. Pair and runner are for whoever runs it.
const (
	SessionStart       EventKind = "session.start"
	SessionEnd         EventKind = "session.end"
	WorkerSpawn        EventKind = "worker.spawn"
	WorkerDispatch     EventKind = "worker.dispatch"
	WorkerComplete     EventKind = "worker.complete"
	WorkerProgress     EventKind = "worker.progress"
	WorkerFeedback     EventKind = "worker.feedback"
	TestFeedbackLogged EventKind = "test_feedback" // by the hook of an agent
	ChannelOpened      EventKind = "channel.open"
	ChannelShut        EventKind = "channel.close"
	DirectMessage      EventKind = "direct.message"
	Delivered          EventKind = "direct.delivered"
	EscalationNew      EventKind = "escalation.new"
	EscalationResolved EventKind = "escalation.resolved"
	PairChanged        EventKind = "pair"
	RunnerChanged      EventKind = "runner"
	HumanAnswered      EventKind = "human"
)

// event is the type of the event of the stream.
func (k EventKind) event() routing.EventType {
	return routing.EventType(routing.FamilyPort + "." + string(k))
}

// Event is one thing that happened while a port ran. Which fields are set depends on Kind; what the
// stream stores has those alone (Record). Its JSON form is what `switchback port` prints.
type Event struct {
	Kind       EventKind     `json:"event,omitempty"`
	At         time.Time     `json:"at,omitzero"`
	Session    string        `json:"session_id,omitempty"`
	Port       string        `json:"port_id,omitempty"`
	Started    *Session      `json:"session,omitempty"`    // session.start
	Spawn      *Spawn        `json:"spawn,omitempty"`      // worker.spawn, worker.dispatch
	Exit       *Exit         `json:"exit,omitempty"`       // worker.complete
	Progress   *Progress     `json:"progress,omitempty"`   // worker.progress
	Feedback   *TestFeedback `json:"feedback,omitempty"`   // worker.feedback, test_feedback
	Channel    *Channel      `json:"channel,omitempty"`    // channel.open, channel.close
	Message    *Message      `json:"message,omitempty"`    // direct.message
	IDs        []string      `json:"messages,omitempty"`   // direct.delivered
	Escalation *Escalation   `json:"escalation,omitempty"` // escalation.new, escalation.resolved
	Pair       *Loop         `json:"pair,omitempty"`       // pair
	Result     *Result       `json:"result,omitempty"`     // pair, once it ended
	Runner     *Runner       `json:"runner,omitempty"`     // runner
	Answer     *Answer       `json:"answer,omitempty"`     // human
	Reason     string        `json:"reason,omitempty"`     // session.end
	Outcome    Outcome       `json:"outcome,omitempty"`    // session.end
	Iteration  int           `json:"iteration,omitempty"`  // of a worker, counted from 1
}

// Spawn is a worker that was started.
type Spawn struct {
	Role Role   `json:"role"`
	Mark string `json:"mark"` // in the environment of all its processes
	Host string `json:"host"`

	// Of a worker that is a workflow.
	Workflow string    `json:"workflow,omitempty"` // its file
	Key      string    `json:"key,omitempty"`      // of the dispatch; see DispatchKey
	At       time.Time `json:"at,omitzero"`        // since when the runner may send it, and nobody else
	Sent     bool      `json:"sent,omitempty"`     // GitHub took it
}

// Exit is how a worker ended.
type Exit struct {
	Role    Role    `json:"role"`
	OK      bool    `json:"ok"`
	Code    int     `json:"code"` // -1 if it was ended by a signal
	Reason  string  `json:"reason,omitempty"`
	Seconds float64 `json:"seconds"`
	Tokens  int64   `json:"tokens_used"`
	Printed int64   `json:"printed"` // bytes
	Cut     int64   `json:"cut,omitempty"`
	URL     string  `json:"url,omitempty"` // of the run, if it is a workflow
}

// Progress is how far a port is.
type Progress struct {
	Session  string  `json:"session_id"`
	Port     string  `json:"port_id"`
	Progress float64 `json:"progress"` // 0 to 1
	Task     string  `json:"current_task"`
	Tokens   int64   `json:"tokens_used"`
}

// Validate refuses progress outside 0 to 1, and tokens below 0.
func (p Progress) Validate() error {
	if !(p.Progress >= 0 && p.Progress <= 1) { // not a number is outside, too
		return fmt.Errorf("progress is %v; it must be 0.0 to 1.0", p.Progress)
	}
	if p.Tokens < 0 {
		return fmt.Errorf("tokens_used is %d; it must not be below 0", p.Tokens)
	}
	return nil
}

// Escalation is an escalation of a port.
type Escalation struct {
	ID         string              `json:"id"`
	Session    string              `json:"session_id"`
	Port       string              `json:"port_id"`
	Type       escalation.Type     `json:"type"`
	Severity   escalation.Severity `json:"severity"`
	Title      string              `json:"title"`
	Text       string              `json:"description"`
	Context    map[string]any      `json:"context"`
	Suggested  []string            `json:"suggested_actions"`
	ResolvedBy string              `json:"resolved_by,omitempty"`
	ResolvedAt time.Time           `json:"resolved_at,omitzero"`
	CreatedAt  time.Time           `json:"created_at"`
}

// Runner is the process that runs a port.
type Runner struct {
	ID      string `json:"id"` // differs for every process
	Host    string `json:"host,omitempty"`
	PID     int    `json:"pid,omitempty"`
	Born    string `json:"born,omitempty"` // what tells the process from a later one of its number
	Run     string `json:"run_id,omitempty"`
	Attempt int    `json:"attempt,omitempty"`

	// Of one that does not wait for workers that are workflows.
	Events bool   `json:"events,omitempty"` // whoever hears of their end goes on
	Left   bool   `json:"left,omitempty"`   // it has ended, and one of them is at work
	Of     string `json:"of,omitempty"`     // the run that the port was handed out to, where that is not Run
	Ref    string `json:"ref,omitempty"`    // that workflows run on whose command names none
}

// Journal is what the stream of one port says.
type Journal struct {
	Loop        *Loop        `json:"pair,omitempty"` // the newest, nil before the first
	Pairs       int          `json:"pairs"`          // begun so far
	Runner      *Runner      `json:"runner,omitempty"`
	Worker      *Spawn       `json:"worker,omitempty"` // begun, and not said to have ended
	Mail        Mail         `json:"mail"`
	Escalations []Escalation `json:"escalations,omitempty"`
	Answers     []Answer     `json:"answers,omitempty"` // of people, in their order
	Result      *Result      `json:"result,omitempty"`  // of the newest pair that ended
	Passed      string       `json:"passed,omitempty"`  // hash of the content that passed last
	Updated     time.Time
}

// JournalProjection folds the stream of one port. It passes over events of other types.
var JournalProjection = routing.Projection[Journal]{
	New:   func(string) Journal { return Journal{} },
	Clone: Journal.clone,
	Apply: func(j Journal, e routing.Event) (Journal, error) {
		one, ours, err := Recorded(e)
		if err == nil && ours {
			err = j.Apply(one)
		}
		return j, err
	},
}

// FoldJournal returns the journal of a stream; see routing.Projection.
func FoldJournal(events []routing.Event) (Journal, error) {
	return JournalProjection.Fold("", events)
}

// clone returns a journal that Apply may change without changing j.
func (j Journal) clone() Journal {
	j.Mail.Channels, j.Mail.Messages = slices.Clone(j.Mail.Channels), slices.Clone(j.Mail.Messages)
	j.Escalations = slices.Clone(j.Escalations)
	return j
}

// Apply adds what happened. What does not follow from the journal is refused.
func (j *Journal) Apply(e Event) error {
	if e.At.After(j.Updated) {
		j.Updated = e.At
	}
	switch {
	case e.Pair != nil:
		j.pair(*e.Pair, e.Result)
	case e.Kind == RunnerChanged:
		j.Runner = e.Runner
	case e.Answer != nil:
		j.Answers = append(slices.Clip(j.Answers), *e.Answer)
	case e.Spawn != nil:
		j.Worker = e.Spawn
	case e.Exit != nil:
		j.Worker = nil
	case e.Progress != nil:
		return e.Progress.Validate()
	case e.Kind == ChannelOpened && e.Channel != nil:
		_, err := j.Mail.Open(e.Channel.ID, e.Channel.SessionA, e.Channel.SessionB, e.Channel.CreatedAt)
		return err
	case e.Kind == ChannelShut && e.Channel != nil:
		return j.Mail.Close(e.Channel.ID)
	case e.Message != nil:
		return j.Mail.Send(*e.Message)
	case e.Kind == Delivered:
		for i := range j.Mail.Messages {
			if m := &j.Mail.Messages[i]; m.DeliveredAt.IsZero() && slices.Contains(e.IDs, m.ID) {
				m.DeliveredAt = e.At
			}
		}
	case e.Escalation != nil:
		return j.call(e.Kind, *e.Escalation)
	}
	return nil
}

func (j *Journal) pair(l Loop, r *Result) {
	if j.Loop == nil || j.Loop.ID != l.ID {
		j.Pairs++
	}
	j.Loop = &l
	if r != nil {
		j.Result = r
		if r.Status == Success {
			j.Passed = r.Hash
		}
	}
}

// call adds an escalation, or the end of one. The same open one is not filed
// twice, and none is resolved twice.
func (j *Journal) call(k EventKind, c Escalation) error {
	at := slices.IndexFunc(j.Escalations, func(old Escalation) bool { return old.ID == c.ID })
	if k == EscalationNew {
		if at < 0 {
			j.Escalations = append(j.Escalations, c)
		}
		return nil
	}
	switch {
	case at < 0:
		return fmt.Errorf("there is no escalation %q", c.ID)
	case !j.Escalations[at].ResolvedAt.IsZero():
		return fmt.Errorf("escalation %q was resolved by %s before", c.ID, j.Escalations[at].ResolvedBy)
	case c.ResolvedBy == "" || c.ResolvedAt.IsZero():
		return fmt.Errorf("escalation %q is resolved by nobody, or at no time", c.ID)
	}
	j.Escalations[at].ResolvedBy, j.Escalations[at].ResolvedAt = c.ResolvedBy, c.ResolvedAt
	return nil
}

// Waiting returns the escalations that nobody resolved.
func (j Journal) Waiting() []Escalation {
	var out []Escalation
	for _, c := range j.Escalations {
		if c.ResolvedAt.IsZero() {
			out = append(out, c)
		}
	}
	return out
}

// Resumed returns a running pair as it goes on after a break: the time since the
// last event, in which nobody ran it, does not count. A workflow that was
// dispatched runs on meanwhile.
func (j Journal) Resumed(now time.Time) Loop {
	l := *j.Loop
	if j.Worker != nil && j.Worker.Sent {
		return l
	}
	return l.Rested(now.Sub(j.Updated))
}

// Share returns how far a pair is, from 0 to 1: every turn that it may still take
// counts the same, for its work and for its test.
func (l Loop) Share() float64 {
	if l.Status != Running {
		return 1
	}
	steps, done := 2*(l.MaxRetries+1), 2*l.CurrentTry
	if l.Phase == Testing {
		done++
	}
	if steps <= 0 || done < 0 {
		return 0 // no pair of ours: what a branch holds may be anything
	}
	return min(1, float64(done)/float64(steps))
}
