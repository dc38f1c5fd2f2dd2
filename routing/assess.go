package routing

import "fmt"

// ActionKind is what a checkpoint needs next.
type ActionKind string

// The actions: the phases, and what is done between them.
const (
	ActionResearch  ActionKind = "research"
	ActionPlan      ActionKind = "plan"
	ActionImplement ActionKind = "implement"
	ActionReview    ActionKind = "review"
	ActionRework    ActionKind = "rework"
	ActionManual    ActionKind = "manual"
	ActionDone      ActionKind = "done"
)

// Priorities of actions; a lower number runs first.
const (
	PriorityRework = 450
	PriorityPhase  = 500
	PriorityManual = 9000
)

// Action is the next step of a checkpoint.
type Action struct {
	Kind     ActionKind `json:"kind"`
	Priority int        `json:"priority"`
	Phase    Phase      `json:"phase,omitempty"`
	Reason   string     `json:"reason"`
}

// Assess returns what the checkpoint needs next: only its newest verdict
// counts, and the breaker is asked before any rework.
func Assess(cp Checkpoint, p Policy) Action {
	limit := Limit(cp, p)
	switch {
	case cp.State == Completed || cp.Skipped:
		return Action{ActionDone, PriorityManual, "", "passed"}
	case cp.State == Escalated || cp.Paused:
		return Action{ActionManual, PriorityManual, "", orElse(cp.LastError, "waits for a human")}
	case cp.Waiting:
		return Action{ActionRework, PriorityRework, lastPhase(cp), fmt.Sprintf("fix attempt %d of %d waits for its call", cp.Retries, limit)}
	case lastFailed(cp) && cp.Attempts[len(cp.Attempts)-1].Kind == KindPreExisting:
		return Action{ActionManual, PriorityManual, "", "its failures also stand on the base"}
	case lastFailed(cp) && cp.Attempts[len(cp.Attempts)-1].Verdict.Group != nil:
		return Action{ActionManual, PriorityManual, "", "its merge group failed; nothing is returned to the branch of a queue"}
	case lastFailed(cp) && cp.Attempts[len(cp.Attempts)-1].Kind == KindIncident:
		return Action{ActionManual, PriorityManual, "", "an incident explains its failures"}
	case lastFailed(cp) && cp.Attempts[len(cp.Attempts)-1].Kind == KindRerun:
		return Action{ActionReview, PriorityPhase + 300, Review, "its failed jobs are run again"}
	case lastFailed(cp) && !reworked(cp) && cp.Retries >= limit:
		return Action{ActionManual, PriorityManual, "", fmt.Sprintf("reached max refinement attempts (%d/%d)", cp.Retries, limit)}
	case lastFailed(cp) && !reworked(cp):
		return Action{ActionRework, PriorityRework, lastPhase(cp), "the last verdict is a failure"}
	}
	for i, ph := range Phases() {
		if !cp.Phases[ph] {
			return Action{ActionKind(ph), PriorityPhase + i*100, ph, "not done yet"}
		}
	}
	return Action{ActionReview, PriorityPhase + 300, Review, "delivered and not yet analyzed"}
}

// lastFailed reports whether the newest attempt of the streak failed.
func lastFailed(cp Checkpoint) bool {
	n := len(cp.Attempts)
	return n > 0 && cp.Attempts[n-1].Kind != KindPass && cp.Attempts[n-1].Streak == cp.Streak
}

// reworked reports whether the last failing verdict has been returned for a fix.
func reworked(cp Checkpoint) bool {
	n := len(cp.Attempts)
	return n > 0 && cp.Attempts[n-1].Kind == KindRetry
}

func lastPhase(cp Checkpoint) Phase {
	if n := len(cp.Attempts); n > 0 && cp.Attempts[n-1].Phase != "" {
		return cp.Attempts[n-1].Phase
	}
	return Implement
}
