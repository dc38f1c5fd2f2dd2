package routing

import (
	"encoding/json"
	"errors"
	"testing"
)

// An event tells what it is about by its type: a payload that happens to fit is not enough, and one
// that cannot be read is none.
func TestEventsTellTheirPayload(t *testing.T) {
	t.Parallel()
	acted := HumanEvent("k", HumanActed{Checkpoint: "unit", Action: HumanSkip, By: "mona"}, t0)
	ran := RunEvent("k", Verdict{Checkpoint: "unit", Result: Pass}, Decision{Kind: KindPass}, t0)
	done := EffectEvent("k", EffectDone{Effect: Effect{Kind: EffectComment, Checkpoint: "unit"}}, t0)
	lease := LeaseEvent("k", &Lease{Owner: "p"}, t0)
	broken, other := json.RawMessage(`[`), json.RawMessage(`{}`)
	for _, c := range []struct {
		name       string
		e          Event
		says       string // human, run or effect
		checkpoint string
	}{
		{"an act", acted, "human", "unit"},
		{"a run", ran, "run", "unit"},
		{"an effect", done, "effect", "unit"},
		{"a lease", lease, "", ""},
		{"an act that is not readable", Event{Type: EventHuman, Data: broken}, "", ""},
		{"a run that is not readable", Event{Type: EventRun, Data: broken}, "", ""},
		{"an effect that is not readable", Event{Type: EventEffect, Data: broken}, "", ""},
		{"another type, with a payload that fits all", Event{Type: "another", Data: other}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			act, human := c.e.Human()
			run, ran := c.e.Run()
			effect, done := c.e.Effect()
			if human != (c.says == "human") || ran != (c.says == "run") || done != (c.says == "effect") || c.e.Checkpoint() != c.checkpoint {
				t.Errorf("human %v, run %v, effect %v, checkpoint %q", human, ran, done, c.e.Checkpoint())
			}
			if human && (act.By != "mona" || act.Action != HumanSkip) || ran && run.Decision.Kind != KindPass || done && effect.Effect.Kind != EffectComment {
				t.Errorf("%+v %+v %+v", act, run, effect)
			}
		})
	}
	if run, _ := ran.Run(); !run.Verdict.At.Equal(t0) {
		t.Errorf("a verdict without a time is of %s", run.Verdict.At)
	}
	at := Verdict{At: t0.Add(1)}
	if run, _ := RunEvent("k", at, Decision{}, t0).Run(); !run.Verdict.At.Equal(at.At) {
		t.Errorf("the time of a verdict is %s", run.Verdict.At)
	}
}

func TestFoldCounts(t *testing.T) {
	t.Run("what is shown changes with each run and act, and not with an effect", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, EnvIssue))
		w.human(HumanPause, 0)
		w.add(EffectEvent("", EffectDone{Effect: w.c.Pending[0]}, w.now))
		w.add(LeaseEvent("", &Lease{Owner: "p"}, w.now))
		if w.c.Generation != 2 || w.c.Version != 4 || !w.c.Opened.Equal(w.events[0].At) {
			t.Errorf("generation %d, version %d, opened %s", w.c.Generation, w.c.Version, w.c.Opened)
		}
	})
	t.Run("an effect that is done leaves the others, and itself where it was asked for again since", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		w.add(LeaseEvent("", &Lease{Owner: "p"}, w.now))
		begun := w.c.Pending
		later := run(1, Fail, LogicError)
		later.Run.Part = "b"
		w.analyze(later) // asks for the comment and the check again
		for i, left := range []int{3, 3, 2} {
			if w.add(EffectEvent("", EffectDone{Effect: begun[i], Ref: "r"}, w.now)); len(w.c.Pending) != left || w.c.Done[begun[i].Slot] != "r" {
				t.Fatalf("after %s: %+v", begun[i].Kind, w.c.Pending)
			}
		}
		for _, e := range w.c.Pending {
			if w.c.Lease == nil {
				t.Error("the lease ends before the effects do")
			}
			w.add(EffectEvent("", EffectDone{Effect: e}, w.now))
		}
		if len(w.c.Pending) != 0 || w.c.Lease != nil {
			t.Errorf("%+v %+v", w.c.Pending, w.c.Lease)
		}
	})
	t.Run("events that say too little are refused", func(t *testing.T) {
		for name, e := range map[string]Event{
			"no checkpoint": RunEvent("", Verdict{Result: Pass}, Decision{Kind: KindPass}, t0),
			"no result":     RunEvent("", Verdict{Checkpoint: "unit"}, Decision{Kind: KindPass}, t0),
			"no decision":   RunEvent("", Verdict{Checkpoint: "unit", Result: Pass}, Decision{}, t0),
			"no effect":     EffectEvent("", EffectDone{}, t0),
			"no action":     HumanEvent("", HumanActed{Checkpoint: "unit"}, t0),
		} {
			w := newWorld(t)
			w.analyze(run(1, Fail, LogicError))
			if _, err := w.c.Apply(e); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
	})
	t.Run("a case stays complete over a run that changes nothing, and not over one that fails", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Pass, ""))
		same := run(2, Fail, LogicError)
		same.Run.SHA = run(1, Pass, "").Run.SHA
		if w.analyze(same); !w.c.Complete {
			t.Error("a failure of the commit that passed reopens it")
		}
		if w.analyze(run(3, Fail, LogicError)); w.c.Complete {
			t.Error("complete although it fails")
		}
	})
}

func TestRefusedListsOnlyWhatApplies(t *testing.T) {
	w := newWorld(t)
	w.analyze(run(1, Fail, LogicError))
	var refused *RefusedError
	err := w.act(HumanActed{Action: HumanWrong, Class: "NONSENSE"})
	if want := `"NONSENSE" is not a class; known are DESIGN_MISMATCH, ENV_ISSUE, TIMEOUT, TYPE_ERROR, NOT_IMPLEMENTED, LOGIC_ERROR, QUALITY`; !errors.As(err, &refused) || err.Error() != want {
		t.Error(err)
	}
}
