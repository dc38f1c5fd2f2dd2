package escalation

import "time"

// Condition is what a trigger compares.
type Condition string

// The conditions. A limit of 0 disables its condition.
const (
	RetriesUsed Condition = "retries >= max"
	TokensUsed  Condition = "tokens >= 95 % of budget"
	TimeOver    Condition = "elapsed > timeout"
)

// Trigger opens an escalation when its condition holds.
type Trigger struct {
	Type        Type      `json:"type"`
	Condition   Condition `json:"condition"`
	Severity    Severity  `json:"severity"`
	AutoResolve bool      `json:"auto_resolve"` // the escalation ends when the condition clears
}

// Usage is what a session has used of its limits.
type Usage struct {
	Retries, Max     int
	Tokens, Budget   int64
	Elapsed, Timeout time.Duration
}

// DefaultTriggers returns the triggers in the order they are looked at.
func DefaultTriggers() []Trigger {
	return []Trigger{
		{TestFailure, RetriesUsed, High, true},
		{TokenExhausted, TokensUsed, Medium, true},
		{TimedOut, TimeOver, High, true},
	}
}

// Evaluate returns the first of the triggers whose condition holds.
func Evaluate(u Usage, triggers []Trigger) (Trigger, bool) {
	for _, t := range triggers {
		if t.Holds(u) {
			return t, true
		}
	}
	return Trigger{}, false
}

// Holds reports whether the trigger's condition holds. An unknown one never does.
func (t Trigger) Holds(u Usage) bool {
	switch t.Condition {
	case RetriesUsed:
		return u.Max > 0 && u.Retries >= u.Max
	case TokensUsed: // in shares, as a product of large numbers would overflow
		return u.Budget > 0 && u.Tokens >= u.Budget-u.Budget/20
	case TimeOver:
		return u.Timeout > 0 && u.Elapsed > u.Timeout
	}
	return false
}

// Clears reports whether an escalation that t opened ends by itself at u.
func (t Trigger) Clears(u Usage) bool { return t.AutoResolve && !t.Holds(u) }
