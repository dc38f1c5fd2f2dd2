package routing

import "fmt"

// Budget names fix attempts by what they are for.
type Budget string

// The budgets.
const (
	BudgetLogic   Budget = "logic"
	BudgetBuild   Budget = "build"
	BudgetQuality Budget = "quality"
	BudgetTimeout Budget = "timeout"
)

// budgetOf returns the budget that a fix attempt for a verdict is taken from.
func budgetOf(v Verdict) Budget {
	switch {
	case v.Result == TimedOut || v.Class == Timeout:
		return BudgetTimeout
	case v.Class == TypeError:
		return BudgetBuild
	case v.Class == Quality:
		return BudgetQuality
	}
	return BudgetLogic
}

// overBudget returns why no fix attempt for s is left in its budget, "" if there is one. An
// escalation that was answered begins the budget anew; the limit holds for all together.
func overBudget(s input) (Budget, string) {
	b := budgetOf(s.m)
	most, limited := s.p.Budgets[b]
	if !limited {
		return "", ""
	}
	used := 0
	for i := len(s.cp.Attempts) - 1; i >= 0; i-- {
		t := s.cp.Attempts[i]
		if t.Streak != s.cp.Streak || t.answered() {
			break
		}
		if t.Kind == KindRetry && !t.Undone && budgetOf(t.Verdict) == b {
			used++
		}
	}
	if used < most {
		return "", ""
	}
	return b, fmt.Sprintf("the budget %s is used up: %d of %d fix attempts (budgets.%s)", b, used, most, b)
}

// decideBudget stops where the attempts for one kind of failure are used up.
func decideBudget(s input) (Decision, bool) {
	b, why := overBudget(s)
	if b == "" || s.cp.Retries >= s.limit {
		return Decision{}, false
	}
	d := escalate(KindMaxRetry, why)
	d.Budget = b
	return d, true
}
