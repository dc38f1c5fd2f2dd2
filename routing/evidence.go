package routing

import "fmt"

// evidence brings the escalation issue of a checkpoint up to date with a
// failing run that came while a human is awaited.
func (s situation) evidence() []Effect {
	e := s.cp.Escalation
	if e == nil || s.cp.State != Escalated || s.m.Result == Pass {
		return nil
	}
	kind := string(e.Kind)
	return []Effect{{
		Kind: EffectIssue, Key: fmt.Sprintf("%s/%s/%d/issue/%s/%s/%s", s.c.Key, s.cp.Name, s.cp.Lineage, kind, s.v.Run.Key(), s.v.Run.Part),
		Slot: fmt.Sprintf("%s/%s/%s", s.cp.Name, EffectIssue, kind), Checkpoint: s.cp.Name, Iteration: s.cp.Reworks, SHA: s.v.Run.SHA, Target: kind,
	}}
}
