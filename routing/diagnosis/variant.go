package diagnosis

// Alternative names one alternative of the pattern of a built-in rule.
type Alternative struct {
	Rule string
	Part int // counted from 0
}

// Variant is a change of the built-in rules, for measuring what parts of them contribute.
type Variant struct {
	Without map[Alternative]bool // alternatives that match nothing
	Matched func(Alternative)    // called for each match; not at once if the rules are used by one goroutine
}

// Rules returns the built-in rules with the change v.
func (v Variant) Rules() *Rules { return &Rules{variant: v} }

func (v Variant) without(r *Rule) func(int) bool {
	if len(v.Without) == 0 || r.user {
		return nil
	}
	return func(part int) bool { return v.Without[Alternative{r.ID, part}] }
}
