package routing

import "testing"

// Globs that match nothing on a first run are a mistake in the set-up: the check says so, and nothing
// is opened or put on hold. From the second run on the run is unclear.
func TestReportsUnmatched(t *testing.T) {
	unmatched := func(n int) Verdict {
		v := run(n, Unclear, Unknown)
		v.Unmatched, v.Reason = true, "no file matches"
		return v
	}
	t.Run("of a first run the check alone tells", func(t *testing.T) {
		w := newWorld(t)
		d := w.analyze(unmatched(1))
		if d.Kind != KindNone || d.Rule != RuleReportsUnmatched || d.Reason != "no file matches" || len(d.Effects) != 1 || d.Effects[0].Kind != EffectCheck {
			t.Errorf("%s (%s) %q, %+v", d.Kind, d.Rule, d.Reason, d.Effects)
		}
		if cp := w.c.Checkpoints["unit"]; cp.Escalation != nil || cp.State == Escalated {
			t.Errorf("on hold: %+v", cp)
		}
		if d := w.analyze(unmatched(1)); !d.Repeated {
			t.Errorf("the same run is decided again: %+v", d)
		}
	})
	t.Run("S0-21 the second run is unclear and escalates", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(unmatched(1))
		if d := w.analyze(unmatched(2)); d.Kind != KindUnclear {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("a run that waited for an approval is none before", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Awaiting, ""))
		if d := w.analyze(unmatched(2)); d.Rule != RuleReportsUnmatched {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("after a run with a report it is unclear", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		if d := w.analyze(unmatched(2)); d.Kind != KindUnclear {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("a run that says what failed is decided by that", func(t *testing.T) {
		v := unmatched(1)
		v.Result, v.Class = Fail, LogicError
		if d := newWorld(t).analyze(v); d.Kind != KindRetry {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
	t.Run("the next run with a report passes", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(unmatched(1))
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindPass {
			t.Errorf("%s (%s)", d.Kind, d.Rule)
		}
	})
}
