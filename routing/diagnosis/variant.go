package diagnosis

import "github.com/switchback-ci/switchback/routing/diagnosis/rank"

// Alternative names one alternative of the pattern of a built-in rule.
type Alternative struct {
	Rule string
	Part int // counted from 0
}

// Variant is a change of the built-in rules, for measuring what parts of them contribute.
type Variant struct {
	Without map[Alternative]bool // alternatives that match nothing
	Matched func(Alternative)    // called for each match; not at once if the rules are used by one goroutine
	Ranked  func([]Candidate)    // called with the candidates of a run that did not pass, best first
	Weights *rank.Weights        // of the features of lines; nil: those of the release
}

// Candidate is a line that may state why a run failed.
type Candidate struct {
	Line
	Features rank.Vector
}

// Rules returns the built-in rules with the change v.
func (v Variant) Rules() *Rules { return &Rules{variant: v} }

func (v Variant) without(r *Rule) func(int) bool {
	if len(v.Without) == 0 || r.user {
		return nil
	}
	return func(part int) bool { return v.Without[Alternative{r.ID, part}] }
}
