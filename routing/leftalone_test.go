package routing

import "testing"

// A human who does without a checkpoint, or leaves it as it is, is not called
// again because somebody said something of one of its failures, perhaps for
// another checkpoint.
func TestLeftAlone(t *testing.T) {
	for _, how := range []HumanAction{HumanSkip, HumanWontFix} {
		for _, c := range []struct {
			name string
			act  HumanActed
			want State
		}{
			{"a test of several in quarantine", HumanActed{Action: HumanQuarantine, Test: "T1"}, Escalated},
			{"that test in quarantine for another checkpoint", HumanActed{Action: HumanQuarantine, Test: "T1", Checkpoint: "lint"}, Escalated},
			{"another class", HumanActed{Action: HumanWrong, Class: EnvIssue}, Escalated},
		} {
			t.Run("S0-48 "+string(how)+" and "+c.name, func(t *testing.T) {
				w := newWorld(t)
				w.p.Max = 0
				w.analyze(broken(1, LogicError, "T1", "T2"))
				lint := broken(2, LogicError, "T1")
				lint.Checkpoint = "lint"
				w.analyze(lint)
				w.must(HumanActed{Action: how, By: "mona"})
				turns, gen := len(w.unit().Attempts), w.c.Generation
				w.must(c.act)
				cp := w.unit()
				if cp.State != c.want || cp.Skipped != (how == HumanSkip) || (cp.WontFix != nil) != (how == HumanWontFix) || len(cp.Attempts) != turns || cp.Redo != nil {
					t.Errorf("%s, skipped %v, won't fix %v, %d turns more, %+v", cp.State, cp.Skipped, cp.WontFix, len(cp.Attempts)-turns, cp.Redo)
				}
				for _, e := range w.c.Pending {
					if e.Kind == EffectIssue && e.Checkpoint == "unit" && e.Gen > gen && how == HumanSkip {
						t.Errorf("an escalation opens: %+v", e)
					}
				}
				w.must(HumanActed{Action: HumanQuarantine, Test: "T1"})
				w.must(HumanActed{Action: HumanQuarantine, Test: "T2"})
				if cp := w.unit(); c.act.Action == HumanQuarantine && cp.State != Completed {
					t.Errorf("nothing of it counts any more: %s", cp.State)
				}
			})
		}
	}
}
