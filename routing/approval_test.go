package routing

import "testing"

func TestApproval(t *testing.T) {
	t.Parallel()
	t.Run("S6-4 a hand-off of a stranger's change waits, and for each commit anew", func(t *testing.T) {
		w := newWorld(t)
		w.p.ApproveHandoff = true
		for n := 1; n <= 2; n++ {
			d := w.analyze(run(n, Fail, LogicError))
			if _, handed := w.pending(EffectHandoff); handed || !d.Approval || !w.unit().Waiting || !w.unit().Approval || w.unit().Approved(w.unit().Last.SHA) {
				t.Fatalf("commit %d: %+v", n, d)
			}
			w.human(HumanHandoff, 0)
			e, ok := w.pending(EffectHandoff)
			if _, shown := w.pending(EffectComment); !ok || !shown || e.SHA != w.unit().Last.SHA || w.unit().Approval || !w.unit().Approved(e.SHA) {
				t.Fatalf("approved %d: %+v", n, w.c.Pending)
			}
			for _, e := range w.c.Pending {
				w.add(EffectEvent("", EffectDone{Effect: e}, w.now))
			}
		}
	})
	t.Run("S6-4 a retry that a maintainer grants still waits: it names no commit", func(t *testing.T) {
		w := newWorld(t)
		w.p.ApproveHandoff, w.p.Max = true, 0
		w.analyze(run(1, Fail, LogicError))
		w.human(HumanExtend, 1)
		if _, handed := w.pending(EffectHandoff); handed || !w.unit().Approval || w.unit().Retries != 1 {
			t.Errorf("%+v", w.unit())
		}
	})
	t.Run("S6-4 a green run withholds the reviewer and the dependents that it would start", func(t *testing.T) {
		w := newWorld(t)
		w.p.Reviewer, w.p.Needs = true, map[string][]string{"e2e": {"unit"}, "docs": {"unit"}}
		w.p.ApproveStart = map[string]bool{"": true, "e2e": true}
		w.analyze(run(1, Pass, ""))
		_, reviewed := w.pending(EffectReview)
		ready, ok := w.pending(EffectReady)
		if reviewed || !ok || ready.Target != "docs" || !w.unit().Approval || len(w.unit().Withheld) != 2 || w.unit().State != Completed {
			t.Fatalf("%+v", w.c.Pending)
		}
		w.human(HumanHandoff, 0)
		if _, ok := w.pending(EffectReview); !ok || w.unit().Waiting || len(w.unit().Withheld) != 0 {
			t.Errorf("%+v", w.c.Pending)
		}
		if _, again := w.pending(EffectHandoff); again {
			t.Error("a green run is handed off")
		}
	})
	t.Run("S6-4 a red run forgets what a green one withheld", func(t *testing.T) {
		w := newWorld(t)
		w.p.Reviewer, w.p.ApproveStart = true, map[string]bool{"": true}
		w.analyze(run(1, Pass, ""))
		w.analyze(run(2, Fail, LogicError))
		if w.unit().Waiting || len(w.unit().Withheld) != 0 {
			t.Errorf("%+v", w.unit().Withheld)
		}
	})
}
