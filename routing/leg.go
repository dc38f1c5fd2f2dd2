package routing

// What a test does in one leg of a matrix says nothing of it in another: the legs of a change are
// compared with the same legs of its base.

// ofLeg returns a checkpoint of a base with what its runs say of the leg that a run is of: all that
// they say where the run is of no leg, or the base names none. Where the base does not have the leg,
// its names have changed if it has as many, and then any leg may be the one; with fewer of them the
// leg is new, and no run says anything of it.
func ofLeg(cp Checkpoint, run Run) Checkpoint {
	if run.Part == "" {
		return cp
	}
	runs := map[string]RunState{}
	named := 0 // legs of the newest run that names any
	for _, key := range recordedRuns(cp) {
		rs := cp.Runs[key]
		if v, has := rs.Parts[run.Part]; has && !v.Result.Silent() {
			rs.Parts = map[string]Verdict{run.Part: v}
			runs[key] = rs
		}
		if n := rs.legs(); n > 0 {
			named = n
		}
	}
	if len(runs) == 0 && (named == 0 || run.Parts <= named) {
		return cp
	}
	cp.Runs = runs
	return cp
}

// legs returns how many legs a run has, 0 for one that is no matrix.
func (r RunState) legs() int {
	n := 0
	for part, v := range r.Parts {
		if part != "" {
			n = max(n, len(r.Parts), v.Run.Parts)
		}
	}
	return n
}

// failingIn returns the legs of a run in which a test failed, by one of their runs each.
func (r RunState) failingIn(f Failure) []Run {
	var out []Run
	for _, part := range sortedKeys(r.Parts) {
		v := r.Parts[part]
		for _, x := range v.Failures {
			if x.Suite == f.Suite && x.Name == f.Name {
				out = append(out, v.Run)
				break
			}
		}
	}
	return out
}
