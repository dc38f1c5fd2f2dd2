package routing

import "time"

// HumanAction is what a person did to a checkpoint.
type HumanAction string

// The actions of a person.
const (
	HumanResume  HumanAction = "resume"  // continue; an escalation is resolved
	HumanPause   HumanAction = "pause"   // on hold until resumed
	HumanReset   HumanAction = "reset"   // begin again with a count of zero
	HumanExtend  HumanAction = "extend"  // N further iterations
	HumanSkip    HumanAction = "skip"    // do without this checkpoint
	HumanHandoff HumanAction = "handoff" // hand off the iteration that waits

	HumanPhase      HumanAction = "phase"      // return to Phase
	HumanRerun      HumanAction = "rerun"      // it was the environment: run again
	HumanQuarantine HumanAction = "quarantine" // Test is flaky: its failures do not count until Until
	HumanWontFix    HumanAction = "wont-fix"   // leave it as it is
	HumanWrong      HumanAction = "wrong"      // the class was wrong, it is Class
	HumanAccept     HumanAction = "accept"     // the green run of the newest commit counts as it is
	HumanAck        HumanAction = "ack"        // acknowledge the hand-off in its worker's place
)

func init() {
	RegisterPayload[RunRecorded](EventRun)
	RegisterPayload[EffectDone](EventEffect)
	RegisterPayload[LeaseTaken](EventLease)
	RegisterPayload[HumanActed](EventHuman)
	RegisterPayload[BasePassed](EventBase)
	RegisterPayload[HandoffChanged](EventHandoff)
	RegisterPayload[RegisterBegun](EventRegister)
}

// RunRecorded is the payload of EventRun: what a run says, and what was decided.
type RunRecorded struct {
	Verdict  Verdict  `json:"verdict"`
	Decision Decision `json:"decision"`
	Lease    *Lease   `json:"lease,omitempty"` // of the process that decided, where effects are pending
}

// EffectDone is the payload of EventEffect: an effect that was applied, or that is not needed any
// more.
type EffectDone struct {
	Effect Effect `json:"effect"`
	Ref    string `json:"ref,omitempty"`  // of what was posted, e.g. a comment's id
	Note   string `json:"note,omitempty"` // why it was not applied

	// At is when a worker was told, as GitHub has it; zero for other effects.
	At time.Time `json:"at,omitzero"`
}

// LeaseTaken is the payload of EventLease.
type LeaseTaken struct {
	Lease *Lease `json:"lease,omitempty"`
	Note  string `json:"note,omitempty"`
}

// HumanActed is the payload of EventHuman: what a person did to a checkpoint. Which of N, Phase,
// Test and Class count depends on Action.
type HumanActed struct {
	Checkpoint string      `json:"checkpoint"`
	Action     HumanAction `json:"action"`
	N          int         `json:"n,omitempty"` // further iterations
	Phase      Phase       `json:"phase,omitempty"`
	Test       string      `json:"test,omitempty"`
	Until      time.Time   `json:"until,omitzero"` // of Test in quarantine; zero: DefaultQuarantine from then on
	Class      Class       `json:"class,omitempty"`
	Answer     string      `json:"answer,omitempty"` // names what the person wrote or ticked; it counts once
	SHA        string      `json:"sha,omitempty"`    // commit that it is bound to
	Note       string      `json:"note,omitempty"`
	Clock      time.Time   `json:"clock,omitzero"`  // when it was taken, as GitHub has it; zero: as the event says
	Lease      *Lease      `json:"lease,omitempty"` // of the process that took it, where effects are pending

	By string `json:"-"` // the event's actor
}

// RunEvent returns the event that records decision d on verdict v.
func RunEvent(caseKey string, v Verdict, d Decision, now time.Time) Event {
	if v.At.IsZero() {
		v.At = now
	}
	return Event{Type: EventRun, At: now, Stream: caseKey, Data: RunRecorded{Verdict: v, Decision: d}}
}

// EffectEvent returns the event that records an effect.
func EffectEvent(caseKey string, done EffectDone, now time.Time) Event {
	return Event{Type: EventEffect, At: now, Stream: caseKey, Data: done}
}

// LeaseEvent returns the event that records a lease on the effects of a case.
func LeaseEvent(caseKey string, l *Lease, now time.Time) Event {
	return Event{Type: EventLease, At: now, Stream: caseKey, Data: LeaseTaken{Lease: l}}
}

// HumanEvent returns the event that records what a person did.
func HumanEvent(caseKey string, act HumanActed, now time.Time) Event {
	return Event{Type: EventHuman, At: now, Stream: caseKey, Actor: act.By, Data: act}
}

// Human returns what a person did, and false for any other event.
func (e Event) Human() (HumanActed, bool) {
	act, err := PayloadOf[HumanActed](e)
	act.By = e.Actor
	return act, err == nil && e.Type == EventHuman
}

// Run returns what was recorded of a run, and false for any other event.
func (e Event) Run() (RunRecorded, bool) {
	run, err := PayloadOf[RunRecorded](e)
	return run, err == nil && e.Type == EventRun
}

// Effect returns the effect that was applied, and false for any other event.
func (e Event) Effect() (EffectDone, bool) {
	done, err := PayloadOf[EffectDone](e)
	return done, err == nil && e.Type == EventEffect
}

// Checkpoint returns the checkpoint that an event of a case is about, "" if it is about none.
func (e Event) Checkpoint() string {
	switch p := e.Data.(type) {
	case RunRecorded:
		return p.Verdict.Checkpoint
	case EffectDone:
		return p.Effect.Checkpoint
	case HumanActed:
		return p.Checkpoint
	case BasePassed:
		return p.Checkpoint
	}
	return ""
}

// WithLease returns an event of a run, a person, a base or a hand-off that takes a lease on the effects as well.
func (e Event) WithLease(l *Lease) Event {
	switch p := e.Data.(type) {
	case RunRecorded:
		p.Lease = l
		e.Data = p
	case HumanActed:
		p.Lease = l
		e.Data = p
	case BasePassed:
		p.Lease = l
		e.Data = p
	case HandoffChanged:
		p.Lease = l
		e.Data = p
	}
	return e
}
