package failtext

// KeepSome appends s, but no more than MaxOutcomes of them.
func KeepSome(to []string, s string) []string {
	if len(to) < MaxOutcomes && s != "" {
		to = append(to, s)
	}
	return to
}

// MaxOutcomes bounds what is kept of the outcomes of one case.
const MaxOutcomes = 20
