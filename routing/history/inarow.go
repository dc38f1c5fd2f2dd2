package history

// Consistent is how many runs in a row a test fails in that fails consistently.
const Consistent = 3

// FailsConsistently reports whether a test failed in each of the newest runs that ran it: such a test
// is broken, not flaky. A run that may have passed it is evidence to the contrary.
func FailsConsistently(runs []Run, test ID) bool {
	n := 0
	for i := len(runs) - 1; i >= 0 && n < Consistent; i-- {
		switch ended(runs[i], test) {
		case broke:
			n++
		case held, wavered, unknown:
			return false
		}
	}
	return n == Consistent
}

// PassesInARow counts the newest runs in a row that passed a test. Runs that did not run it, and those
// of which nothing is known, count neither way.
func PassesInARow(runs []Run, test ID) int {
	n := 0
	for i := len(runs) - 1; i >= 0; i-- {
		switch ended(runs[i], test) {
		case broke, wavered:
			return n
		case held:
			n++
		}
	}
	return n
}

// ending is how a test ended in a run as a whole.
type ending int

const (
	absent  ending = iota // it did not run
	unknown               // it may have run
	held                  // it passed
	wavered               // it failed and passed
	broke                 // it failed
)

func ended(r Run, test ID) ending {
	out := absent
	for _, t := range r.Inventory.Of(test) {
		switch t.Status {
		case Failed:
			return broke
		case Flaky:
			out = wavered
		case Passed:
			out = max(out, held)
		}
	}
	switch {
	case out != absent || !r.Inventory.Partial && !r.Lost:
		return out
	case len(r.Inventory.Of(test)) > 0: // skipped
		return absent
	case r.Passed && !r.Lost:
		return held
	}
	return unknown
}
