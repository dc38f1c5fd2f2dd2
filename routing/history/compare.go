package history

import "slices"

// Standing says whose a failure is.
type Standing string

// The standings of a failure against the base.
const (
	StandingNew         Standing = "new"
	StandingPreExisting Standing = "pre_existing"
	StandingFlaky       Standing = "flaky"       // it failed and passed on one commit
	StandingQuarantined Standing = "quarantined" // it does not count, for some time
)

// Finding is what the base says of one failure.
type Finding struct {
	Standing Standing
	Since    string // first commit of the base that fails like this without a pass since; "" if new
	Later    bool   // the base fails like this only since the merge base
	Differs  bool   // new, though the base fails the same test in another way
}

// Known reports whether there is any run to compare with.
func (b Base) Known() bool { return len(b.Before)+len(b.After) > 0 }

// Compared returns the commit of the run that decides: the newest at or before the merge base, or
// where there is none the newest of all.
func (b Base) Compared() string {
	if n := len(b.Before); n > 0 {
		return b.Before[n-1].SHA
	}
	if n := len(b.After); n > 0 {
		return b.After[n-1].SHA
	}
	return ""
}

// window is how many runs up to the one that decides, and up to the newest, are searched for other
// evidence: as many as keep their inventories.
const window = 20

// Look returns what the base says of a failure. Without a fingerprint a failure is always new.
func (b Base) Look(test ID, fingerprint uint64) Finding {
	all := append(append([]Run(nil), b.Before...), b.After...)
	found := Finding{Standing: StandingNew}
	for _, newest := range []int{len(b.Before) - 1, len(all) - 1} {
		if newest < 0 {
			continue
		}
		if !fails(all[newest], test, fingerprint) {
			found.Differs = found.Differs || failsAnyhow(all[newest], test)
			continue
		}
		near := within(all, newest)
		if flaky(near, test) && failing(near, test, fingerprint) < 2 {
			continue // one failure of a test that also passes on the same commit proves nothing
		}
		first := newest
		for first > 0 && fails(all[first-1], test, fingerprint) {
			first--
		}
		return Finding{Standing: StandingPreExisting, Since: all[first].SHA, Later: newest >= len(b.Before)}
	}
	return found
}

// within returns the runs of the windows that end with a run and with the newest.
func within(all []Run, newest int) []Run {
	var out []Run
	for i, r := range all {
		if i <= newest && i > newest-window || i >= len(all)-window {
			out = append(out, r)
		}
	}
	return out
}

func fails(r Run, test ID, fingerprint uint64) bool {
	for _, t := range r.Inventory.Of(test) {
		if t.Status == Failed && t.Fingerprint == fingerprint && fingerprint != 0 {
			return true
		}
	}
	return false
}

func failsAnyhow(r Run, test ID) bool {
	for _, t := range r.Inventory.Of(test) {
		if t.Status == Failed {
			return true
		}
	}
	return false
}

// failing counts the runs in which a test fails in one way.
func failing(runs []Run, test ID, fingerprint uint64) int {
	n := 0
	for _, r := range runs {
		if fails(r, test, fingerprint) {
			n++
		}
	}
	return n
}

// flaky reports whether a test failed and passed on one commit of the base, or may have: what a lost
// inventory said of it is taken for evidence, so that less data never excuses more. A test that ends
// differently in the legs of one run fails in that run.
func flaky(runs []Run, test ID) bool {
	failed, passed := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		has, flips := false, false
		for _, t := range r.Inventory.Of(test) {
			has, flips = true, flips || t.Status == Flaky
		}
		switch {
		case failsAnyhow(r, test):
			failed[r.SHA] = true
		case flips, r.Lost:
			return true
		case has && !skipped(r, test), !has && r.Inventory.Partial:
			passed[r.SHA] = true
		}
		if r.SHA != "" && failed[r.SHA] && passed[r.SHA] {
			return true
		}
	}
	return false
}

// skipped reports whether a test was skipped wherever it stands in a run.
func skipped(r Run, test ID) bool {
	return !slices.ContainsFunc(r.Inventory.Of(test), func(t Test) bool { return t.Status != Skipped })
}
