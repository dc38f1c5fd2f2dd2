package routing

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// inTurn is a world whose workers are told in turn: an agent, a workflow, and the author, who has no
// limits unless last has.
func inTurn(t *testing.T, last Worker) *world {
	w := newWorld(t)
	w.p.NoProgress = 0
	w.p.Workers = []Worker{{"@agent", 10 * time.Minute, time.Hour}, {"fix.yml", 5 * time.Minute, 0}, last}
	return w
}

var author = Worker{Name: "@octocat"}

// tell carries out what is pending, at a time of GitHub's.
func (w *world) tell(at time.Time) {
	w.t.Helper()
	for len(w.c.Pending) > 0 {
		w.add(EffectEvent("", EffectDone{Effect: w.c.Pending[0], Ref: "ref", At: at}, w.now))
	}
}

// changes records what happened to the hand-off, if that is news, and what follows.
func (w *world) changes(p HandoffChanged) bool {
	w.t.Helper()
	if h := w.c.Handoff; h != nil && p.Number == 0 {
		p.Number, p.Place = h.Number, h.Place
	}
	if !p.Changes(w.c) {
		return false
	}
	w.add(HandoffEvent(w.c.Key, p, w.now))
	w.settle()
	return true
}

func (w *world) expires(at time.Time) bool {
	w.t.Helper()
	return w.changes(HandoffChanged{Change: HandoffExpired, At: at})
}

func TestHandoffInTurn(t *testing.T) {
	t.Parallel()
	git := t0.Add(time.Hour) // GitHub's clock, which is not the process's
	t.Run("S5-80 without workers in turn a failure is handed off to all at once", func(t *testing.T) {
		w := newWorld(t)
		w.analyze(run(1, Fail, LogicError))
		if e, ok := w.pending(EffectHandoff); !ok || e.Target != "" || w.c.Handoff != nil {
			t.Errorf("%+v %+v", e, w.c.Handoff)
		}
	})
	t.Run("S5-80 S5-82 the first worker is told, and the next when its time is over", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		first, _ := w.pending(EffectHandoff)
		if first.Target != "1" || !strings.HasSuffix(first.Key, "/handoff/1") || w.c.Handoff.Worker().Name != "@agent" {
			t.Fatalf("%+v", first)
		}
		if w.expires(git.Add(24 * time.Hour)) {
			t.Fatal("the time of a worker passes before it is told")
		}
		w.tell(git)
		if w.expires(git.Add(10*time.Minute - time.Second)) {
			t.Fatal("it expires before its time")
		}
		if !w.expires(git.Add(10 * time.Minute)) {
			t.Fatal("it does not expire")
		}
		e, ok := w.pending(EffectHandoff)
		_, shown := w.pending(EffectComment)
		if !ok || !shown || e.Target != "2" || e.Key == first.Key || w.c.Handoff.Worker().Name != "fix.yml" || !w.c.Handoff.Told.IsZero() {
			t.Fatalf("%+v %+v", e, w.c.Handoff)
		}
		if p := w.c.Handoff.Passed; len(p) != 1 || p[0].Worker.Name != "@agent" || p[0].Why != ExpiredAck {
			t.Errorf("%+v", p)
		}
		w.tell(git.Add(11 * time.Minute))
		w.expires(git.Add(16 * time.Minute))
		w.tell(git.Add(17 * time.Minute))
		if w.c.Handoff.Worker().Name != "@octocat" || w.expires(git.Add(1000*time.Hour)) {
			t.Errorf("a worker without limits: %+v", w.c.Handoff)
		}
	})
	t.Run("S5-82 behind the last worker a maintainer is asked, and no fix attempt is spent on that", func(t *testing.T) {
		w := inTurn(t, Worker{Name: "@octocat", Deliver: time.Hour})
		w.analyze(run(1, Fail, LogicError))
		for n := range 3 {
			w.tell(git.Add(time.Duration(n) * 2 * time.Hour))
			if !w.expires(git.Add(time.Duration(n)*2*time.Hour + time.Hour)) {
				t.Fatalf("worker %d does not expire: %+v", n+1, w.c.Handoff)
			}
		}
		e, asked := w.pending(EffectIssue)
		if !asked || e.Target != string(KindNoAnswer) || w.c.Handoff != nil || w.unit().State != Escalated || w.unit().Retries != 1 {
			t.Fatalf("%+v %+v", w.c.Pending, w.unit())
		}
		if why := w.unit().Escalation.Reason; why != "@agent did not acknowledge within 10m; fix.yml did not acknowledge within 5m; @octocat did not push within 1h" {
			t.Errorf("%s", why)
		}
		if _, handed := w.pending(EffectHandoff); handed {
			t.Error("and somebody is told besides")
		}
		t.Run("S5-83 and who pushes then has it decided, and the question closed", func(t *testing.T) {
			d := w.analyze(run(2, Fail, LogicError))
			_, closed := w.pending(EffectClose)
			if d.Kind != KindRetry || d.Iteration != 2 || !closed || w.unit().State != InProgress || w.c.Handoff.Number != 2 || w.c.Handoff.Place != 0 {
				t.Errorf("%+v %+v", d, w.c.Handoff)
			}
		})
	})
	t.Run("S5-82 the same commit run again while a maintainer is asked tells nobody", func(t *testing.T) {
		w := inTurn(t, author)
		w.p.Workers = w.p.Workers[:1]
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.expires(git.Add(time.Hour))
		v := run(1, Fail, LogicError)
		v.Run.Attempt = 2
		if d := w.analyze(v); d.Kind != KindNone || w.c.Handoff != nil {
			t.Errorf("%+v", d)
		}
		w.must(HumanActed{Action: HumanExtend, N: 1})
		if e, ok := w.pending(EffectHandoff); !ok || e.Target != "1" || w.c.Handoff.Number != 2 || w.unit().Retries != 2 {
			t.Errorf("an answer begins again: %+v", w.c.Pending)
		}
	})
	t.Run("S5-82 a worker who cannot be told is passed over at once", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		e, _ := w.pending(EffectHandoff)
		w.add(EffectEvent("", EffectDone{Effect: e, Note: "gone: no such workflow", At: git}, w.now))
		if !w.expires(git) || w.c.Handoff.Place != 1 || w.c.Handoff.Passed[0].Why != ExpiredAtOnce {
			t.Errorf("%+v", w.c.Handoff)
		}
	})
	for _, how := range []AckHow{AckRun, AckReaction, AckComment, AckCommand} {
		t.Run(fmt.Sprintf("S5-81 acknowledged by %s a worker has until deliver_within", how), func(t *testing.T) {
			w := inTurn(t, author)
			w.analyze(run(1, Fail, LogicError))
			w.tell(git)
			if how == AckCommand {
				w.must(HumanActed{Action: HumanAck, Clock: git.Add(time.Minute)})
			} else if !w.changes(HandoffChanged{Change: HandoffAcknowledged, How: how, By: "agent[bot]", At: git.Add(time.Minute)}) {
				t.Fatal("it is not taken")
			}
			if a := w.c.Handoff.Acknowledge; a == nil || a.How != how || !a.At.Equal(git.Add(time.Minute)) {
				t.Fatalf("%+v", a)
			}
			if _, shown := w.pending(EffectComment); !shown || w.changes(HandoffChanged{Change: HandoffAcknowledged, How: AckComment, At: git}) {
				t.Error("it is not shown, or taken twice")
			}
			w.tell(git)
			if w.expires(git.Add(59*time.Minute)) || !w.expires(git.Add(time.Hour)) || w.c.Handoff.Passed[0].Why != ExpiredDeliver {
				t.Errorf("%+v", w.c.Handoff)
			}
		})
	}
	t.Run("S5-81 a push acknowledges, and no time passes until its run", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.changes(HandoffChanged{Change: HandoffAcknowledged, How: AckPush, SHA: "b", At: git.Add(time.Minute)})
		if w.c.Handoff.Acknowledge == nil || w.expires(git.Add(1000*time.Hour)) {
			t.Fatalf("%+v", w.c.Handoff)
		}
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindPass || w.c.Handoff != nil {
			t.Errorf("%s %+v", d.Kind, w.c.Handoff)
		}
	})
	t.Run("S5-81 only what is handed off can be acknowledged, and once", func(t *testing.T) {
		w := inTurn(t, author)
		w.p.Workers = nil
		w.analyze(run(1, Fail, LogicError))
		var refused *RefusedError
		if err := w.act(HumanActed{Action: HumanAck}); !errors.As(err, &refused) || refused.ID != "no-handoff" {
			t.Errorf("%v", err)
		}
		w.p.Workers = []Worker{author}
		w.analyze(run(2, Fail, LogicError))
		w.must(HumanActed{Action: HumanAck})
		if err := w.act(HumanActed{Action: HumanAck}); !errors.As(err, &refused) || refused.ID != "acknowledged" {
			t.Errorf("%v", err)
		}
	})
	t.Run("S5-83 a delivery after the worker's time counts, and ends the hand-off", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.expires(git.Add(time.Hour))
		if d := w.analyze(run(2, Fail, LogicError)); d.Kind != KindRetry || d.Iteration != 2 || w.c.Handoff.Number != 2 || w.c.Handoff.Place != 0 {
			t.Fatalf("%+v %+v", d, w.c.Handoff)
		}
		for _, e := range w.c.Pending {
			if e.Kind == EffectHandoff && (e.Target != "1" || e.Iteration != 2) {
				t.Errorf("%+v", e)
			}
		}
		if d := w.analyze(run(3, Pass, "")); d.Kind != KindPass || d.Iteration != 2 || w.c.Handoff != nil {
			t.Errorf("%+v", d)
		}
	})
	t.Run("S5-83 two checkpoints of a commit are in one worker's hands", func(t *testing.T) {
		w := inTurn(t, author)
		lint := func(n int, r Result, c Class) Verdict {
			v := run(n, r, c)
			v.Checkpoint, v.Run.ID = "lint", fmt.Sprint(100+n)
			return v
		}
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.expires(git.Add(time.Hour))
		w.tell(git.Add(time.Hour))
		w.analyze(lint(1, Fail, Quality))
		e, _ := w.pending(EffectHandoff)
		if e.Checkpoint != "lint" || e.Target != "2" || w.c.Handoff.Number != 1 || !slices.Equal(w.c.Handoff.Checkpoints, []string{"unit", "lint"}) {
			t.Fatalf("%+v %+v", e, w.c.Handoff)
		}
		w.tell(git.Add(time.Hour + time.Minute))
		if !w.c.Handoff.Told.Equal(git.Add(time.Hour)) {
			t.Errorf("the second checkpoint gives more time: %v", w.c.Handoff.Told)
		}
		w.expires(git.Add(2 * time.Hour))
		n := 0
		for _, e := range w.c.Pending {
			if e.Kind == EffectHandoff {
				n++
			}
		}
		if n != 2 || w.c.Handoff.Place != 2 {
			t.Errorf("%d hand-offs, %+v", n, w.c.Handoff)
		}
		again := *w
		again.must(HumanActed{Action: HumanExtend, N: 1})
		if h := again.c.Handoff; h.Number != 2 || h.Place != 0 || !slices.Equal(h.Checkpoints, []string{"unit", "lint"}) {
			t.Errorf("begun again for one, the other is nobody's: %+v", h)
		}
		v := lint(1, Pass, "")
		v.Run.Attempt = 2
		if w.analyze(v); !slices.Equal(w.c.Handoff.Checkpoints, []string{"unit"}) {
			t.Errorf("what passes is still handed off: %+v", w.c.Handoff)
		}
		w.must(HumanActed{Action: HumanSkip})
		if w.c.Handoff != nil {
			t.Errorf("what is skipped is still handed off: %+v", w.c.Handoff)
		}
	})
	t.Run("S5-84 while a run waits for an approval no time passes", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.changes(HandoffChanged{Change: HandoffWaits, URL: "https://run", At: git.Add(5 * time.Minute)})
		if _, shown := w.pending(EffectComment); !shown || w.expires(git.Add(100*time.Hour)) {
			t.Fatalf("%+v", w.c.Handoff)
		}
		w.changes(HandoffChanged{Change: HandoffContinues, At: git.Add(65 * time.Minute)})
		if w.expires(git.Add(70*time.Minute-time.Second)) || !w.expires(git.Add(70*time.Minute)) {
			t.Errorf("%+v", w.c.Handoff)
		}
	})
	t.Run("S5-84 S5-95 a pushed commit whose run waits for an approval is not held against the worker", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.analyze(run(2, Awaiting, ""))
		_, shown := w.pending(EffectComment)
		if h := w.c.Handoff; !shown || h == nil || h.Waits == nil || h.Acknowledge == nil || w.expires(git.Add(1000*time.Hour)) {
			t.Fatalf("%+v", h)
		}
		if d := w.analyze(run(2, Pass, "")); d.Kind != KindPass || w.c.Handoff != nil {
			t.Errorf("%s %+v", d.Kind, w.c.Handoff)
		}
	})
	t.Run("while people paused it no time passes, and it begins anew", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		w.human(HumanPause, 0)
		if w.expires(git.Add(100 * time.Hour)) {
			t.Fatal("it expires")
		}
		w.must(HumanActed{Action: HumanResume, Clock: git.Add(100 * time.Hour)})
		if w.expires(git.Add(100*time.Hour+9*time.Minute)) || !w.expires(git.Add(100*time.Hour+10*time.Minute)) {
			t.Errorf("%+v", w.c.Handoff)
		}
	})
	t.Run("a hand-off that waits for a command goes to the first worker when it is given", func(t *testing.T) {
		w := inTurn(t, author)
		w.p.Manual = true
		w.analyze(run(1, Fail, LogicError))
		if _, told := w.pending(EffectHandoff); told || w.c.Handoff != nil {
			t.Fatalf("%+v", w.c.Handoff)
		}
		w.human(HumanHandoff, 0)
		if e, ok := w.pending(EffectHandoff); !ok || e.Target != "1" || len(w.c.Handoff.Workers) != 3 {
			t.Errorf("%+v %+v", e, w.c.Handoff)
		}
	})
	t.Run("the hand-off of a closed pull request is over", func(t *testing.T) {
		w := inTurn(t, author)
		w.analyze(run(1, Fail, LogicError))
		w.tell(git)
		if !w.changes(HandoffChanged{Change: HandoffEnded, At: git}) || w.c.Handoff != nil {
			t.Errorf("%+v", w.c.Handoff)
		}
	})
}

// Whatever happens in whatever order, one worker holds the case, nobody is told twice by one key, and
// what expired of another worker, or twice, changes nothing.
func TestHandoffHasOneHolder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := inTurn(t, Worker{Name: "@octocat", Deliver: time.Hour})
		git, told, n := t0, map[string]bool{}, 0
		for range 40 {
			git = git.Add(time.Duration(r.IntN(50)) * time.Minute)
			switch r.IntN(7) {
			case 0:
				n++
				w.analyze(run(n, Fail, LogicError))
			case 1:
				if r.IntN(4) == 0 {
					n++
					w.analyze(run(n, Pass, ""))
				}
			case 2, 3:
				for _, e := range slices.Clone(w.c.Pending) {
					if e.Kind == EffectHandoff && TellsHolder(w.c, e) {
						if told[e.Key] {
							t.Fatalf("S5-86: seed %d: %s is told twice", seed, e.Key)
						}
						told[e.Key] = true
					}
					w.add(EffectEvent("", EffectDone{Effect: e, Ref: "ref", At: git}, w.now))
				}
			case 4:
				p := HandoffChanged{Change: HandoffExpired, At: git, Number: 1 + r.IntN(max(1, w.c.Handoffs)), Place: r.IntN(3)}
				before := w.c.Handoff
				if first, again := w.changes(p), w.changes(p); again || first && (before.Number != p.Number || before.Place != p.Place) {
					t.Fatalf("S5-86: seed %d: %+v of %+v", seed, p, before)
				}
			case 5:
				w.expires(git)
			case 6:
				w.changes(HandoffChanged{Change: HandoffAcknowledged, How: AckRun, At: git})
			}
			handed := 0
			for _, e := range w.c.Pending {
				if e.Kind == EffectHandoff && TellsHolder(w.c, e) {
					handed++
				}
			}
			if h := w.c.Handoff; handed > 1 || h == nil && handed > 0 || h != nil && handed == 0 && h.Told.IsZero() || h != nil && w.unit().State != InProgress {
				t.Fatalf("S5-83: seed %d: %d told, %+v, %s", seed, handed, h, w.unit().State)
			}
		}
		again, err := Fold(w.c.Key, w.events)
		if err != nil || fmt.Sprint(again.Handoff) != fmt.Sprint(w.c.Handoff) && (again.Handoff == nil || again.Handoff.Place != w.c.Handoff.Place) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
