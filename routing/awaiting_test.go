package routing

import "testing"

func TestAwaitingApprovalS5_95(t *testing.T) {
	t.Parallel()
	awaiting := func(n int) Verdict { return run(n, Awaiting, "") }
	t.Run("the later result of the same id and attempt counts", func(t *testing.T) {
		for result, want := range map[Result]Kind{Pass: KindPass, Fail: KindRetry} {
			w := newWorld(t)
			d := w.analyze(awaiting(1))
			if d.Kind != KindNone || d.Rule != "waits-for-approval" || len(d.Effects) != 1 || d.Effects[0].Kind != EffectCheck {
				t.Fatalf("S5-95: %s (%s), %v", d.Kind, d.Rule, d.Effects)
			}
			if again := w.analyze(awaiting(1)); !again.Repeated {
				t.Errorf("S5-95: told twice: %+v", again)
			}
			if d := w.analyze(run(1, result, LogicError)); d.Kind != want || d.Repeated {
				t.Errorf("S5-95: %s is %s, repeated %v", result, d.Kind, d.Repeated)
			}
			if late := w.analyze(awaiting(1)); !late.Repeated {
				t.Errorf("S5-95: an event that comes late decides: %+v", late)
			}
		}
	})
	t.Run("it changes nothing about what stands", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		before := w.c.Checkpoints["unit"]
		w.analyze(awaiting(2))
		after := w.c.Checkpoints["unit"]
		if after.Retries != 1 || after.State != before.State || after.Last != before.Last || len(after.Attempts) != 1 {
			t.Errorf("S5-95: %+v", after)
		}
		if d := w.analyze(run(2, Fail, LogicError)); d.Kind != KindRetry || d.Iteration != 2 {
			t.Errorf("S5-95: %s, iteration %d", d.Kind, d.Iteration)
		}
	})
}
