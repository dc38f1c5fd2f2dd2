package eventstream

import (
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// A failure that a run has by its name alone still fails; one that it has not at all is fixed, unless
// some of its failures are not known.
func TestFailuresByName(t *testing.T) {
	t.Parallel()
	failure := func(name string) routing.Failure { return routing.Failure{Name: name, Fingerprint: "v1:" + name} }
	run := func(id string, dropped int, cut []routing.Failure, fs ...routing.Failure) routing.Event {
		v := routing.Verdict{Checkpoint: "unit", Result: routing.Fail, Run: routing.Run{ID: id}, Failures: fs, Dropped: dropped}
		for _, f := range cut {
			v.Cut = append(v.Cut, f.Cut())
		}
		return routing.RunEvent("a/b#1", v, routing.Decision{Kind: routing.KindRetry, Iteration: 1, Verdict: v}, time.Unix(1, 0))
	}
	a, b, c := failure("a"), failure("b"), failure("c")
	for name, x := range map[string]struct {
		next  routing.Event
		fixed map[string]bool
		runs  map[string]int
	}{
		"one by name and one not at all": {run("2", 2, []routing.Failure{b, failure("unseen")}, a), map[string]bool{"c": true}, map[string]int{"a": 2, "b": 2, "c": 1}},
		"some are not known":             {run("2", 3, []routing.Failure{b, failure("unseen")}, a), nil, map[string]int{"a": 2, "b": 2, "c": 1}},
		"all in full":                    {run("2", 0, nil, a, c), map[string]bool{"b": true}, map[string]int{"a": 2, "b": 1, "c": 2}},
	} {
		k := failures{map[place]failing{}, map[place]failing{}}
		k.see(routing.Case{}, run("1", 0, nil, a, b, c))
		k.see(routing.Case{}, x.next)
		for _, f := range []string{"a", "b", "c"} {
			got := k.is[place{"v1:" + f, "unit"}]
			if got.fixed.IsZero() == x.fixed[f] || got.runs != x.runs[f] {
				t.Errorf("%s: %s is fixed at %v, after %d runs", name, f, got.fixed, got.runs)
			}
		}
		if len(k.is) != 3 {
			t.Errorf("%s: %d failures", name, len(k.is))
		}
	}
}
