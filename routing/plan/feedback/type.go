// Package feedback is the engine of feedback requests: messages along a plan's
// graph from a node to one of its ancestors, what bounds them, and the cycle of
// fix and verification that each goes through.
//
// Every change is a function of the newest register that returns events to
// append; the caller appends them by compare-and-swap and decides anew if the
// register has moved on.
package feedback

import "slices"

// Type is what a feedback asks for.
type Type string

// The types.
const (
	FixRequest        Type = "FIX_REQUEST"        // fix earlier work
	ContextRequest    Type = "CONTEXT_REQUEST"    // answer a question
	DependencyMissing Type = "DEPENDENCY_MISSING" // plan what is missing
	ArchitectureIssue Type = "ARCHITECTURE_ISSUE" // plan anew
)

// Types lists all types.
func Types() []Type {
	return []Type{FixRequest, ContextRequest, DependencyMissing, ArchitectureIssue}
}

// Valid reports whether t is one of the types.
func (t Type) Valid() bool { return slices.Contains(Types(), t) }

// Do is what a node is to do for a feedback.
type Do string

// What the target does, by type, and what the sender does afterwards.
const (
	Rework Do = "rework" // run again with the feedback
	Reply  Do = "reply"  // answer it
	Replan Do = "replan" // change the plan, which is then read again
	Verify Do = "verify" // run again, as the sender, without the feedback
)

// Asks returns what a feedback of type t has its target do.
func (t Type) Asks() Do {
	switch t {
	case ContextRequest:
		return Reply
	case DependencyMissing, ArchitectureIssue:
		return Replan
	}
	return Rework
}

// Priority orders what is queued.
type Priority string

// The priorities.
const (
	Critical Priority = "critical"
	High     Priority = "high"
	Medium   Priority = "medium"
	Low      Priority = "low"
)

// Priorities lists the priorities, most urgent first.
func Priorities() []Priority { return []Priority{Critical, High, Medium, Low} }

// Valid reports whether p is one of the priorities.
func (p Priority) Valid() bool { return slices.Contains(Priorities(), p) }

// rank is 0 for the most urgent.
func (p Priority) rank() int { return slices.Index(Priorities(), p) }

// Raised returns the next more urgent priority; critical stays.
func (p Priority) Raised() Priority { return Priorities()[max(0, p.rank()-1)] }

// Status is how far a feedback has come.
type Status string

// The states, in their order. Rejected, resolved and failed are final.
const (
	Queued     Status = "queued"
	Delivered  Status = "delivered"  // it stands with its target
	Processing Status = "processing" // the target is at it
	Verifying  Status = "verifying"  // the sender is to run again
	Resolved   Status = "resolved"
	Failed     Status = "failed"
	Rejected   Status = "rejected" // never queued
)

// Statuses lists the states.
func Statuses() []Status {
	return []Status{Queued, Delivered, Processing, Verifying, Resolved, Failed, Rejected}
}

// ParseStatus reads a state. "routed" is read as delivered.
func ParseStatus(s string) (Status, bool) {
	if s == "routed" {
		return Delivered, true
	}
	return Status(s), slices.Contains(Statuses(), Status(s))
}

// Open reports whether something is still to be done.
func (s Status) Open() bool {
	return s == Queued || s == Delivered || s == Processing || s == Verifying
}

// transitions lists where a state may go; anything else is refused. From
// processing nothing leads to resolved: what was fixed is always verified.
var transitions = map[Status][]Status{
	"":         {Queued, Rejected},
	Queued:     {Delivered, Failed},
	Delivered:  {Processing, Failed},
	Processing: {Verifying, Failed},
	Verifying:  {Resolved, Queued, Failed},
}

// What bounds feedback.
const (
	MaxRounds = 2 // between a sender and a target, whatever the issue
	MaxDepth  = 3 // hops of a chain of open feedback
)
