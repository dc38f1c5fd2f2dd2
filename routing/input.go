package routing

import (
	"fmt"
	"time"
)

// input is what a rule looks at: the case, the verdict as it came, the
// verdict of its whole run, and what the ledger knows of that run.
type input struct {
	c     Case
	cp    Checkpoint
	v     Verdict // as it came: one run, or one part
	m     Verdict // of the whole run
	run   RunState
	have  int // parts of the run that have a verdict, this one included
	parts []Verdict
	p     Policy
	limit int
	now   time.Time

	redo    *Redo      // v is decided anew, for what a human did
	before  Checkpoint // cp before what was decided on it was taken back
	flakes  flakes
	excused []string // tests of the policy's quarantine that are among the failures
}

func newInput(c Case, v Verdict, p Policy, now time.Time) input {
	cp := c.Checkpoints[v.Checkpoint]
	s := input{v: v, p: p, before: cp, now: now}
	if redoes(cp, v) {
		s.redo = cp.Redo
		cp = cp.undone(cp.Redo.Action)
		c = c.clone()
		c.Checkpoints[v.Checkpoint] = cp
	}
	parts := append([]Verdict{v}, otherParts(cp.Runs, v)...)
	s.excused = excused(p.quarantined(now), parts)
	t := c.treatment(now, s.excused)
	parts = t.all(parts)
	s.flakes = flakesOf(cp, parts)
	s.c, s.cp, s.v, s.m, s.have = c, cp, parts[0], merge(parts).markFlaky(s.flakes.names()), len(parts)
	s.parts = parts
	s.run = t.run(cp.Runs[v.Run.Key()])
	s.limit = Limit(cp, p)
	if drop := dropped(cp, s.m, p); drop != "" && s.complete() {
		s.m.Unmet = append(append([]string(nil), s.m.Unmet...), drop)
	}
	return s
}

// run returns what is known of a run with its parts treated.
func (t treatment) run(rs RunState) RunState {
	parts := make(map[string]Verdict, len(rs.Parts))
	for k, v := range rs.Parts {
		parts[k] = t.of(v)
	}
	rs.Parts = parts
	return rs
}

// otherParts returns the verdicts of the other parts of v's run among runs. Where only some
// legs of a matrix were run again, those are joined by the green legs of the
// newest attempt before it that had them.
func otherParts(runs map[string]RunState, v Verdict) []Verdict {
	newest := map[string]Verdict{}
	for _, rs := range runs {
		for part, p := range rs.Parts {
			before, seen := newest[part]
			if part != v.Run.Part && v.Run.again(p.Run) && (!seen || before.Run.olderThan(p.Run)) {
				newest[part] = p
			}
		}
	}
	out := make([]Verdict, 0, len(newest))
	for _, part := range sortedKeys(newest) {
		if p := newest[part]; p.Run.Key() == v.Run.Key() || gravity(p) == gravity(Verdict{Result: Pass}) {
			out = append(out, p)
		}
	}
	return out
}

// again reports whether r is the run of p, or a later attempt of its matrix on
// the same commit.
func (r Run) again(p Run) bool {
	return r.Key() == p.Key() ||
		r.Repository == p.Repository && r.ID == p.ID && r.SHA == p.SHA && r.Parts > 1 && p.olderThan(r)
}

// complete reports whether every part of the run has reported.
func (s input) complete() bool { return s.have >= s.v.Run.Parts }

// dropped says in words that a green run ran far fewer tests than the last
// green one: tests that vanish are the quietest way to turn a run green.
func dropped(cp Checkpoint, v Verdict, p Policy) string {
	if v.Result != Pass || p.MaxDrop <= 0 || cp.Rebased {
		return ""
	}
	for i := len(cp.Attempts) - 1; i >= 0; i-- {
		t := cp.Attempts[i]
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
