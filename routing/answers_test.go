package routing

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
)

// TestPropertyOfAnswers plays runs and everything a human can do in any order.
// Granted is what the limit may be at most: what the streak began with, and
// what humans granted.
func TestPropertyOfAnswers(t *testing.T) {
	t.Parallel()
	results := []Result{Pass, Fail, Fail, Fail, Fail, TimedOut, Unclear, Errored}
	acts := []HumanAction{HumanResume, HumanReset, HumanPause, HumanExtend, HumanSkip, HumanPhase, HumanRerun, HumanQuarantine, HumanWontFix, HumanWrong, HumanHandoff}
	for seed := range 250 {
		rng := rand.New(rand.NewSource(int64(seed)))
		w := newWorld(t)
		w.p.Max, w.p.Manual = rng.Intn(5), rng.Intn(4) == 0
		w.p.OnMax = []OnMax{OnMaxManual, OnMaxError, OnMaxSkip}[rng.Intn(3)]
		w.p.Scope = []Scope{ScopeCheckpoint, ScopeCase}[rng.Intn(2)]
		w.p.Needs = map[string][]string{"lint": {"unit"}}
		granted, spent := map[string]int{}, map[string]int{}
		for step := range 80 {
			before, recorded := w.c, len(w.events)
			if rng.Intn(3) == 0 && len(w.c.Checkpoints) > 0 {
				names := w.c.Names()
				e := HumanActed{Checkpoint: names[rng.Intn(len(names))], Action: acts[rng.Intn(len(acts))], N: 1 + rng.Intn(3), Phase: []Phase{Research, Plan, Implement}[rng.Intn(3)],
					Test: fmt.Sprint("T", rng.Intn(3)), Class: Classes()[rng.Intn(len(Classes()))], Answer: fmt.Sprint("comment/", rng.Intn(40), "/1")}
				if e.Action == HumanHandoff && !w.c.Checkpoints[e.Checkpoint].Waiting {
					continue
				}
				_, known := w.c.Answered[e.Answer]
				if w.act(e) == nil && !known {
					granted[e.Checkpoint] += map[HumanAction]int{HumanExtend: e.N, HumanPhase: 1}[e.Action]
				}
				if known && w.c.Generation != before.Generation {
					t.Fatalf("seed %d step %d: an answer counted twice", seed, step)
				}
			} else {
				v := broken(1+rng.Intn(14), Classes()[rng.Intn(len(Classes()))], fmt.Sprint("T", rng.Intn(3)), fmt.Sprint("T", rng.Intn(3)))
				if v.Result = results[rng.Intn(len(results))]; v.Result == Pass {
					v.Failures, v.Class = nil, ""
				}
				v.Run.Attempt, v.Run.Parts = 1+rng.Intn(2), 1+rng.Intn(2)
				v.Run.Part = string(rune('a' + rng.Intn(v.Run.Parts)))
				v.Checkpoint = []string{"unit", "unit", "lint"}[rng.Intn(3)]
				if d := w.analyze(v); d.Kind == KindRetry && d.Iteration > d.Max {
					t.Fatalf("seed %d step %d: turn %d of %d", seed, step, d.Iteration, d.Max)
				}
				w.settle()
			}
			at := fmt.Sprintf("seed %d step %d", seed, step)
			checkSpent(t, at, w.events[recorded:], spent)
			checkStep(t, at, w, before, granted)
		}
		again, err := Fold(w.c.Key, stored(t, w.events))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if a, b := asJSON(t, again), asJSON(t, w.c); a != b {
			t.Fatalf("seed %d: folding the ledger again gives another case:\n%s\n%s", seed, a, b)
		}
	}
}

// settle is what the pipeline does behind a run: what it released is decided.
func (w *world) settle() {
	next, events, err := Release(w.c, func(string) Policy { return w.p }, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	w.c, w.events = next, append(w.events, events...)
}

// checkSpent counts in spent the iterations that each run has used, and takes no second one without
// a human's act. events are those that were recorded last.
func checkSpent(t *testing.T, at string, events []Event, spent map[string]int) {
	t.Helper()
	for _, e := range events {
		run, ok := e.Run()
		if !ok {
			continue
		}
		switch d, key := run.Decision, e.Checkpoint()+"|"+run.Verdict.Run.Key(); {
		case d.Redo != "": // a human's act
			spent[key] = 0
		case d.Kind == KindRetry && !d.Again:
			if spent[key]++; spent[key] > 1 {
				t.Fatalf("%s: run %s spent %d iterations without a human's act", at, key, spent[key])
			}
		}
	}
}

func checkStep(t *testing.T, at string, w *world, before Case, granted map[string]int) {
	t.Helper()
	for _, name := range w.c.Names() {
		cp, old := w.c.Checkpoints[name], before.Checkpoints[name]
		if cp.Streak != old.Streak {
			granted[name] = 0
		}
		if cp.Retries > HardCap || cp.Retries > w.p.Max+granted[name] {
			t.Fatalf("%s: %d reworks of %s, %d allowed and %d granted", at, cp.Retries, name, w.p.Max, granted[name])
		}
		if cp.Redo != nil && !cp.Paused && w.c.holder(name, w.p) == "" && len(w.c.unmetNeeds(name, w.p)) == 0 {
			t.Fatalf("%s: %s is left to be decided anew: %+v", at, name, cp.Redo)
		}
		if cp.Retries != len(ofStreak(cp.Iterations, cp.Streak)) {
			t.Fatalf("%s: %d reworks of %s, %d iterations", at, cp.Retries, name, len(ofStreak(cp.Iterations, cp.Streak)))
		}
	}
}

func ofStreak(its []Iteration, n int) []Iteration {
	var out []Iteration
	for _, it := range its {
		if it.Streak == n {
			out = append(out, it)
		}
	}
	return out
}

func stored(t *testing.T, events []Event) []Event {
	var out []Event
	if err := json.Unmarshal([]byte(asJSON(t, events)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
