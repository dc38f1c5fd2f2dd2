package routing

import "fmt"

// situation is what a rule looks at: the case, the verdict as it came, the
// verdict of its whole run, and what the ledger knows of that run.
type situation struct {
	c     Case
	cp    Checkpoint
	v     Verdict // as it came: one run, or one part
	m     Verdict // of the whole run
	run   RunState
	p     Policy
	limit int
}

func situate(c Case, v Verdict, p Policy) situation {
	cp := c.Checkpoints[v.Checkpoint]
	run := cp.Runs[v.Run.Key()]
	parts := []Verdict{v}
	for _, k := range sortedKeys(run.Parts) {
		if k != v.Run.Part {
			parts = append(parts, run.Parts[k])
		}
	}
	s := situation{c: c, cp: cp, v: v, m: merge(parts), run: run, p: p}
	s.limit = Limit(cp, p)
	if drop := cp.dropped(s.m, p); drop != "" && s.complete() {
		s.m.Unmet = append(append([]string(nil), s.m.Unmet...), drop)
	}
	return s
}

// complete reports whether every part of the run has reported.
func (s situation) complete() bool {
	n := len(s.run.Parts)
	if _, again := s.run.Parts[s.v.Run.Part]; !again {
		n++
	}
	return n >= s.v.Run.Parts
}

// dropped says in words that a green run ran far fewer tests than the last
// green one: tests that vanish are the quietest way to turn a run green.
func (cp Checkpoint) dropped(v Verdict, p Policy) string {
	if v.Result != Pass || p.MaxDrop <= 0 || cp.Rebased {
		return ""
	}
	for i := len(cp.Turns) - 1; i >= 0; i-- {
		t := cp.Turns[i]
		if t.Kind != KindPass {
			continue
		}
		was, is := t.Verdict.Counts.Tests, v.Counts.Tests
		if was > 0 && float64(is) < float64(was)*(1-p.MaxDrop) {
			return fmt.Sprintf("%d tests ran, %d in the last green run (max_drop allows %.0f %% fewer)", is, was, p.MaxDrop*100)
		}
		return ""
	}
	return ""
}
