package plan

import (
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// exhausted returns the trigger that ends the pair after a failure. A limit of 0
// disables a trigger, but no reworks means that the first failure is the last.
func (l Loop) exhausted(reworks int, now time.Time) (escalation.Trigger, bool) {
	triggers := escalation.DefaultTriggers()
	if l.MaxRetries == 0 {
		return triggers[0], true
	}
	u := usageOf(l, now)
	u.Retries, u.Max = reworks, l.MaxRetries
	return escalation.Evaluate(u, triggers)
}

// overLimits returns the trigger that holds while a turn runs: tokens or time.
func overLimits(l Loop, now time.Time) (escalation.Trigger, bool) {
	return escalation.Evaluate(usageOf(l, now), escalation.DefaultTriggers())
}

func usageOf(l Loop, now time.Time) escalation.Usage {
	return escalation.Usage{Tokens: l.Tokens, Budget: l.TokenBudget, Elapsed: now.Sub(l.StartedAt), Timeout: l.Timeout}
}

func outcomeOf(t escalation.Trigger) Outcome {
	switch t.Type {
	case escalation.TimedOut:
		return TimedOut
	case escalation.TokenExhausted:
		return OutOfTokens
	}
	return UsedUp
}

// exhaustionFacts are what the escalation of a trigger says.
func exhaustionFacts(l Loop, t escalation.Trigger) escalation.Facts {
	f := escalation.Facts{Type: t.Type, Severity: t.Severity, Context: fmt.Sprintf("%s after %d failing turns", l.Port, l.CurrentTry)}
	switch t.Type {
	case escalation.TimedOut:
		f.Kind = routing.KindTimeout
		f.Title = fmt.Sprintf("Port %s ran out of time", l.Port)
		f.Description = fmt.Sprintf("The pair was given %s for all turns, which are over.", l.Timeout)
		f.Suggested = []string{"Raise the port's timeout.", "Cut the port into smaller ones."}
	case escalation.TokenExhausted:
		f.Kind = routing.KindMaxRetry
		f.Title = fmt.Sprintf("Port %s used its tokens", l.Port)
		f.Description = fmt.Sprintf("%d tokens of a budget of %d are used.", l.Tokens, l.TokenBudget)
		f.Suggested = []string{"Raise the port's token_budget.", "Make its brief shorter or more exact."}
	default:
		f.Kind = routing.KindMaxRetry
		f.Title = fmt.Sprintf("Port %s still fails after %s", l.Port, count(l.MaxRetries, "fix attempt"))
		f.Description = "The last turn failed: " + l.Last.summary()
		f.Suggested = []string{"Read the last feedback, and make the brief say what it lacks.", "Ask whether the test asks for what the port is about."}
	}
	return f
}

// MostTurns is how many further turns the pair of a port may be given.
func (l Loop) MostTurns() int { return max(0, routing.HardCap-l.CurrentTry+1) }
