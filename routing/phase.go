package routing

import "strings"

// words of a review's categories that send work back further than to the
// implementation. A category is compared by its words, so "missing
// information" and "missing-information" are one.
var phaseWords = []struct {
	phase Phase
	words []string
}{
	{Research, []string{"requirement", "requirements", "understanding", "missing information", "missing info", "research"}},
	{Plan, []string{"architecture", "architectural", "design", "approach", "plan", "planning"}},
}

// TargetPhase returns the phase that a verdict sends work back to: of a review
// by the categories of its issues, the earliest phase of any; of tests by the
// class, a design mismatch to the plan, all else to the implementation.
func TargetPhase(v Verdict) Phase {
	if v.Review != nil {
		return reviewPhase(v.Review.Issues)
	}
	if v.Class == DesignMismatch {
		return Plan
	}
	return Implement
}

func reviewPhase(issues []ReviewIssue) Phase {
	for _, pw := range phaseWords {
		for _, is := range issues {
			if hasWords(is.Category, pw.words) {
				return pw.phase
			}
		}
	}
	return Implement
}

func hasWords(category string, words []string) bool {
	c := " " + strings.Join(strings.FieldsFunc(strings.ToLower(category), func(r rune) bool {
		return strings.ContainsRune(" -_/,:", r)
	}), " ") + " "
	for _, w := range words {
		if strings.Contains(c, " "+w+" ") {
			return true
		}
	}
	return false
}

// from returns p and the phases after it.
func (p Phase) from() []Phase {
	all := Phases()
	for i, q := range all {
		if q == p {
			return all[i:]
		}
	}
	return nil
}
