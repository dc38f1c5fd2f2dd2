package routing

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// EventType names what happened.
type EventType string

// The events of a ledger stream.
const (
	EventRun    EventType = "run"    // a run was analyzed and decided
	EventEffect EventType = "effect" // an effect was carried out
	EventLease  EventType = "lease"  // a process took, renewed or released the lease on the pending effects
	EventHuman  EventType = "human"  // a human acted
)

// Registers are streams of a repository that are no case's: their events carry
// Data, and each has a fold of its own. RegisterKey names them.
const (
	EventEscalation EventType = "escalation" // of the register of escalations
	EventFeedback   EventType = "feedback"   // of the register of prompts and feedback
	EventEdge       EventType = "edge"       // of the register of feedback between nodes of plans
	EventPort       EventType = "port"       // of the register of one port of a plan
)

// The registers of a repository.
const (
	RegisterEscalations = "escalations"
	RegisterFeedback    = "feedback"
	RegisterEdges       = "edges"
	RegisterPorts       = "ports" // one for each port: PortKey names it
)

// RegisterKey returns the ledger key of a repository's register: no case has
// it, as a case's key goes on with # or @ behind the repository.
func RegisterKey(repo, name string) string { return repo + "!" + name }

// PortKey returns the ledger key of one port's register in a plan.
func PortKey(repo, plan, port string) string {
	return RegisterKey(repo, RegisterPorts+"/"+plan+"/"+port)
}

// IsRegister reports whether key is that of a register and not of a case.
func IsRegister(key string) bool {
	_, rest, ok := strings.Cut(key, "/")
	i := strings.IndexAny(rest, "#@!")
	return ok && i >= 0 && rest[i] == '!'
}

// HumanAction is what a human did to a checkpoint.
type HumanAction string

// The actions of a human.
const (
	HumanResume  HumanAction = "resume"  // go on; an escalation is resolved
	HumanPause   HumanAction = "pause"   // stop until resumed
	HumanReset   HumanAction = "reset"   // begin again with a count of zero
	HumanExtend  HumanAction = "extend"  // N further turns
	HumanSkip    HumanAction = "skip"    // do without this checkpoint
	HumanHandoff HumanAction = "handoff" // hand over the rework that waits

	HumanPhase      HumanAction = "phase"      // send back to Phase
	HumanRerun      HumanAction = "rerun"      // it was the environment: run again
	HumanQuarantine HumanAction = "quarantine" // Test is flaky: its failures no longer count
	HumanWontFix    HumanAction = "wont-fix"   // leave it as it is
	HumanWrong      HumanAction = "wrong"      // the class was wrong, it is Class
)

// Event is one line of a ledger stream. Which fields are set depends on Type.
type Event struct {
	Type       EventType   `json:"type"`
	At         time.Time   `json:"at"`
	Case       string      `json:"case"`
	Checkpoint string      `json:"checkpoint,omitempty"`
	Verdict    *Verdict    `json:"verdict,omitempty"`  // run
	Decision   *Decision   `json:"decision,omitempty"` // run
	Lease      *Lease      `json:"lease,omitempty"`    // run, human, lease
	Effect     *Effect     `json:"effect,omitempty"`   // effect
	Ref        string      `json:"ref,omitempty"`      // effect: what stands outside, e.g. a comment's id
	Action     HumanAction `json:"action,omitempty"`   // human
	By         string      `json:"by,omitempty"`       // human
	N          int         `json:"n,omitempty"`        // human: further turns
	Note       string      `json:"note,omitempty"`

	// Of a human event: Answer names what the human wrote or ticked, and an
	// answer counts once; SHA is the commit that it is bound to.
	Answer string `json:"answer,omitempty"`
	SHA    string `json:"sha,omitempty"`
	Phase  Phase  `json:"phase,omitempty"`
	Test   string `json:"test,omitempty"`
	Class  Class  `json:"class,omitempty"`

	Data json.RawMessage `json:"data,omitempty"` // of a register's event
}

// RunEvent returns the event that records decision d on verdict v.
func RunEvent(caseKey string, v Verdict, d Decision, now time.Time) Event {
	if v.At.IsZero() {
		v.At = now
	}
	return Event{Type: EventRun, At: now, Case: caseKey, Checkpoint: v.Checkpoint, Verdict: &v, Decision: &d}
}

// transitions lists where a state may go; anything else is refused.
var transitions = map[State][]State{
	"":         {Pending, InProgress},
	Pending:    {Pending, InProgress},
	InProgress: {InProgress, Completed, Escalated},
	Escalated:  {Escalated, InProgress, Completed},
	Completed:  {InProgress}, // a new commit, or a late failing part of the green run
}

// to returns cp in state next, or an error if that is not a transition.
func (cp Checkpoint) to(next State) (Checkpoint, error) {
	if cp.State == next {
		return cp, nil
	}
	for _, ok := range transitions[cp.State] {
		if ok == next {
			cp.State = next
			return cp, nil
		}
	}
	return cp, fmt.Errorf("checkpoint %q: no transition from %q to %q", cp.Name, cp.State, next)
}
