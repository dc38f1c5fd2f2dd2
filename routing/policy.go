package routing

import "time"

// OnMax says what happens to a checkpoint that has no fix attempts left.
type OnMax string

// The ways. Each opens the escalation; they differ in what happens to the case.
const (
	OnMaxManual OnMax = "manual" // paused until a human acts
	OnMaxError  OnMax = "error"  // the check fails for good
	OnMaxSkip   OnMax = "skip"   // the checkpoint is skipped, others continue
)

// Scope says what an escalation pauses.
type Scope string

// The scopes.
const (
	ScopeCheckpoint Scope = "checkpoint" // the checkpoint and what depends on it
	ScopeCase       Scope = "case"       // every checkpoint of the case
)

// HardCap is the number of reworks that no configuration exceeds: it holds
// even with the circuit breaker off.
const HardCap = 10

// Policy is what Decide goes by. DefaultPolicy gives the defaults.
type Policy struct {
	Max               int           // reworks returned for a fix, 0 to HardCap
	Override          *int          // of this case (a label or configuration), replaces Max and the snapshot
	Labelled          bool          // Override is a label's, which no configuration holds
	OnMax             OnMax         // what happens when no fix attempts are left
	Breaker           bool          // false: HardCap instead of Max
	EscalateOnDesign  bool          // false: a design mismatch is returned for a fix like a logic error
	Reviewer          bool          // a reviewer is configured
	RunReviewerOnPass bool          // start it when a checkpoint passes
	Notify            bool          // false silences the notification, not the report
	RetryDelay        time.Duration // waited before each hand-off
	Scope             Scope
	Needs             map[string][]string // checkpoint → checkpoints that must be completed first
	Checkpoints       []string            // all that the case must complete; empty: those seen
	FailOn            FailOn              // from how many issues a review fails
	MaxDrop           float64             // share of tests that a green run may lack against the last green one, 0: any
	Manual            bool                // a rework waits for a call of its own
	ApproveHandoff    bool                // a hand-off to anybody but the author waits for a maintainer's approval of the commit
	ApproveStart      map[string]bool     // dependents whose start waits for that approval; "" is the reviewer
	Workers           []Worker            // who is told in turn about a failure; none: all workers are told at once
	Quarantine        []NamedTest         // tests whose failures count in no case
	NoProgress        int                 // new commits in a row that change nothing, from which attempts stop before Max; 0: never
	BaseCheck         string              // conclusion of the check where only what stands on the base failed
	Rerun             RerunOn             // for which failures failed jobs run again before they are returned
	MaxReruns         int                 // reruns of a case
	Budgets           map[Budget]int      // fix attempts by what they are for, beside Max for all together
	Green             GreenMode           // what edits of a change to tests and to what runs them are good for
	GreenDrop         Drop                // how many fewer tests than its base, or an earlier run, a green run may run
	MaxActions        int                 // effects carried out in one run of the program, 0: DefaultMaxActions
}

// DefaultMaxActions bounds the effects of one run of the program (S4-24).
const DefaultMaxActions = 50

// DefaultPolicy returns the policy of an empty configuration.
func DefaultPolicy() Policy {
	return Policy{
		Max: 3, OnMax: OnMaxManual, Breaker: true, EscalateOnDesign: true,
		RunReviewerOnPass: true, Notify: true, RetryDelay: 5 * time.Second,
		Scope: ScopeCheckpoint, FailOn: FailOn{Blocker: 1, Critical: 1}, MaxDrop: 0.5,
		BaseCheck: "neutral", NoProgress: 3, Rerun: RerunFlaky, MaxReruns: 3, Green: GreenReport, GreenDrop: 0.2,
	}
}

// limit returns the number of reworks for a checkpoint that opens now.
func (p Policy) limit() int {
	n := p.Max
	if p.Override != nil {
		n = *p.Override
	}
	if !p.Breaker {
		n = HardCap
	}
	return max(0, min(n, HardCap))
}

// dependents returns the checkpoints that need name, directly.
func (p Policy) dependents(name string) []string {
	var out []string
	for _, d := range sortedKeys(p.Needs) {
		for _, n := range p.Needs[d] {
			if n == name {
				out = append(out, d)
				break
			}
		}
	}
	return out
}
