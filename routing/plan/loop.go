package plan

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// LoopStatus is how the pair of a port stands.
type LoopStatus string

// The statuses of a pair. All but Running are final.
const (
	Running LoopStatus = "running"
	Success LoopStatus = "success"
	Failed  LoopStatus = "failed"    // cancelled, or its runner broke: it says nothing of the work
	Raised  LoopStatus = "escalated" // an escalation is open
	Paused  LoopStatus = "paused"    // it waits for feedback that it sent
)

// Outcome is how a pair ended.
type Outcome string

// The outcomes. Timeout and token are escalations as well.
const (
	Succeeded   Outcome = "success"
	Broke       Outcome = "failed"
	UsedUp      Outcome = "escalated"
	TimedOut    Outcome = "timeout"
	OutOfTokens Outcome = "token"
	Waiting     Outcome = "waiting"
)

// Phase is which worker of a pair is at work.
type Phase string

// The phases of a pair.
const (
	Implementing Phase = "implementing"
	Testing      Phase = "testing"
	Ended        Phase = "ended"
)

// Loop is the pair of one port: the work, the test, and back, until it passes or
// someone else is needed.
type Loop struct {
	ID          string     `json:"id"`
	Port        string     `json:"port_id"`
	Operator    string     `json:"operator_session"`
	ImplSession string     `json:"impl_session"`
	TestSession string     `json:"test_session"`
	ChannelID   string     `json:"channel_id"`
	MaxRetries  int        `json:"max_retries"` // reworks returned for a fix
	CurrentTry  int        `json:"current_try"` // failures so far
	Status      LoopStatus `json:"status"`

	Attempt     int               `json:"attempt"` // that runs, or ran last, counted from 1
	Phase       Phase             `json:"phase"`
	Outcome     Outcome           `json:"outcome,omitempty"`
	Reason      string            `json:"reason,omitempty"` // why it ended otherwise than by a pass
	Tokens      int64             `json:"tokens_used"`
	TokenBudget int64             `json:"token_budget"` // 0: none
	Timeout     time.Duration     `json:"timeout"`      // of all turns together, 0: none
	StartedAt   time.Time         `json:"started_at"`
	EndedAt     time.Time         `json:"ended_at,omitzero"`
	Last        *TestFeedback     `json:"last_feedback,omitempty"`
	Escalation  *escalation.Facts `json:"escalation,omitempty"`
	Requests    []WorkerRequest   `json:"requests,omitempty"` // feedback that it runs for
}

// Action is one thing that the operator of a pair is to do.
type Action struct {
	Kind      ActionKind
	Iteration int           // StartImpl, StartTest: the turn, counted from 1
	Feedback  *TestFeedback // StartImpl: what the last turn failed with, nil for the first
	Message   *Message      // Send
}

// ActionKind is what an action does.
type ActionKind string

// The actions.
const (
	OpenChannel ActionKind = "open channel" // between the two workers
	StartImpl   ActionKind = "start impl"
	StartTest   ActionKind = "start test"
	Send        ActionKind = "send"     // Message, on the channel
	Stop        ActionKind = "stop"     // whichever worker still runs
	CloseDown   ActionKind = "close"    // the channel
	Report      ActionKind = "report"   // the loop as it ended, to the operator
	Escalate    ActionKind = "escalate" // its Escalation, to the operator
)

// NewLoop begins the pair of a port in a build, and returns what to do first.
func NewLoop(build string, spec Spec, s Settings, now time.Time) (Loop, []Action) {
	operator, impl, test := PairSessions(build, spec.ID)
	l := Loop{
		ID: operator.ID, Port: spec.ID, Operator: operator.ID, ImplSession: impl.ID, TestSession: test.ID, ChannelID: operator.ID + "/channel",
		MaxRetries: min(s.Attempts(spec), routing.HardCap), Status: Running, Attempt: 1, Phase: Implementing,
		TokenBudget: spec.TokenBudget, Timeout: s.Limit(spec), StartedAt: now,
	}
	return l, []Action{{Kind: OpenChannel}, {Kind: StartImpl, Iteration: 1}}
}

// Worked is how the implementing worker ended.
type Worked struct {
	OK      bool
	Payload []byte // its result as JSON, for the testing worker
	Reason  string // why it is not OK
	Tokens  int64  // used by this turn
}

// ImplEnded takes the end of the implementing worker. A result is sent to the
// testing worker, which begins. A worker that failed left nothing to verify: its
// turn failed.
func (l Loop) ImplEnded(w Worked, now time.Time) (Loop, []Action, error) {
	if err := l.expect(Implementing); err != nil {
		return l, nil, err
	}
	l.Tokens += max(0, w.Tokens)
	if !w.OK {
		why := "the implementing worker failed"
		if w.Reason != "" {
			why += ": " + w.Reason
		}
		return l.failed(TestFeedback{FailedTests: []FailedTest{}, Suggestions: []string{why}}, false, now)
	}
	if t, over := overLimits(l, now); over {
		return l.raise(exhaustionFacts(l, t), outcomeOf(t), now)
	}
	l.Phase = Testing
	send := Action{Kind: Send, Message: &Message{
		ID: fmt.Sprintf("%s/result/%d", l.ChannelID, l.Attempt), ChannelID: l.ChannelID, From: l.ImplSession, To: l.TestSession,
		Type: ResultMessage, Payload: w.Payload, CreatedAt: now,
	}}
	return l, []Action{send, {Kind: StartTest, Iteration: l.Attempt}}, nil
}

// TestEnded takes what the testing worker said. A pass ends the pair whatever it
// used. A failure is returned for a fix with feedback, or, once the reworks, the tokens
// or the time are used up, opens an escalation without any.
func (l Loop) TestEnded(f TestFeedback, tokens int64, now time.Time) (Loop, []Action, error) {
	if err := l.expect(Testing); err != nil {
		return l, nil, err
	}
	if err := f.Validate(); err != nil {
		return l.Break(err.Error(), now)
	}
	l.Tokens += max(0, tokens)
	l.Last = &f
	if f.Success {
		return l.end(Success, Succeeded, "", now), []Action{{Kind: CloseDown}, {Kind: Report}}, nil
	}
	return l.failed(f, true, now)
}

// failed counts a failing turn. The feedback is sent if a worker said it.
func (l Loop) failed(f TestFeedback, said bool, now time.Time) (Loop, []Action, error) {
	l.Last = &f
	before := l.CurrentTry // the reworks returned for a fix so far
	l.CurrentTry++
	if t, over := l.exhausted(before, now); over {
		return l.raise(exhaustionFacts(l, t), outcomeOf(t), now)
	}
	l.Attempt++
	l.Phase = Implementing
	var acts []Action
	if said {
		acts = append(acts, Action{Kind: Send, Message: &Message{
			ID: fmt.Sprintf("%s/feedback/%d", l.ChannelID, l.CurrentTry), ChannelID: l.ChannelID, From: l.TestSession, To: l.ImplSession,
			Type: FeedbackMessage, Payload: encode(f), CreatedAt: now,
		}})
	}
	return l, append(acts, Action{Kind: StartImpl, Iteration: l.Attempt, Feedback: &f}), nil
}

// Tick takes the time, and the tokens that the running turn has used so far, and
// ends a pair that is over its limits.
func (l Loop) Tick(tokens int64, now time.Time) (Loop, []Action, error) {
	if l.Status != Running {
		return l, nil, nil
	}
	u := usageOf(l, now)
	u.Tokens += max(0, tokens)
	t, over := escalation.Evaluate(u, escalation.DefaultTriggers())
	if !over {
		return l, nil, nil
	}
	l.Tokens = u.Tokens
	return l.raise(exhaustionFacts(l, t), outcomeOf(t), now)
}

// Break ends a pair that was cancelled or whose runner failed. It is never a
// success, and says nothing of the work.
func (l Loop) Break(reason string, now time.Time) (Loop, []Action, error) {
	if l.Status != Running {
		return l, nil, fmt.Errorf("pair %s ended as %s", l.ID, l.Status)
	}
	return l.end(Failed, Broke, reason, now), []Action{{Kind: Stop}, {Kind: CloseDown}, {Kind: Report}}, nil
}

// Raise lets one of the two workers call the operator by itself.
func (l Loop) Raise(session string, t escalation.Type, s escalation.Severity, text string, now time.Time) (Loop, []Action, error) {
	switch {
	case session != l.ImplSession && session != l.TestSession:
		return l, nil, fmt.Errorf("session %q is none of the two workers of pair %s", session, l.ID)
	case !t.Valid() || !s.Valid():
		return l, nil, fmt.Errorf("an escalation of type %q and severity %q; see the lists of both", t, s)
	case l.Status != Running:
		return l, nil, fmt.Errorf("pair %s ended as %s", l.ID, l.Status)
	}
	return l.raise(escalation.Facts{
		Kind: routing.KindUnclear, Type: t, Severity: s, Title: fmt.Sprintf("Port %s: its worker asks for help", l.Port), Description: text,
		Context: fmt.Sprintf("turn %d, %s", l.Attempt, l.Phase),
	}, UsedUp, now)
}

func (l Loop) raise(f escalation.Facts, o Outcome, now time.Time) (Loop, []Action, error) {
	l = l.end(Raised, o, f.Description, now)
	l.Escalation = &f
	return l, []Action{{Kind: Stop}, {Kind: CloseDown}, {Kind: Escalate}, {Kind: Report}}, nil
}

func (l Loop) end(s LoopStatus, o Outcome, reason string, now time.Time) Loop {
	l.Status, l.Outcome, l.Reason, l.Phase, l.EndedAt = s, o, reason, Ended, now
	return l
}

func (l Loop) expect(p Phase) error {
	if l.Phase != p {
		return fmt.Errorf("pair %s is %s, not %s", l.ID, l.Phase, p)
	}
	return nil
}
