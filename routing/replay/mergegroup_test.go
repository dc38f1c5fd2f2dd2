package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// TestS5_92_MergeGroupReplay is S5-92: what was decided of a merge group is decided again, though its
// pull requests have other results by then.
func TestS5_92_MergeGroupReplay(t *testing.T) {
	t.Parallel()
	c := routing.Case{Key: "acme/app@gh-readonly-queue/main/pr-12-4b6fe3a"}
	var events []routing.Event
	add := func(e routing.Event) {
		t.Helper()
		var err error
		if c, err = c.Apply(e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	add(routing.GroupEvent(c.Key, routing.GroupNoted{Base: "main"}, time.Unix(1, 0)))
	for id, passes := range []bool{true, false, true} {
		v := routing.Verdict{
			Checkpoint: "ci", Run: routing.Run{ID: fmt.Sprint(id + 1), SHA: "g"}, Result: routing.Fail, Class: routing.LogicError,
			Failures: []routing.Failure{{Name: "x", Fingerprint: "x", Class: routing.LogicError}}, Counts: routing.Counts{Tests: 2, Passed: 1, Failed: 1},
			Group: &routing.MergeGroup{Branch: "gh-readonly-queue/main/pr-12-4b6fe3a", Base: "main", Pulls: []routing.GroupPull{{Number: 12, Passes: passes, Told: true}}},
		}
		if id == 2 {
			add(routing.GroupEvent(c.Key, routing.GroupNoted{Ended: routing.GroupInvalidated}, time.Unix(8, 0)))
		}
		add(routing.RunEvent(c.Key, v, routing.Decide(c, v, routing.DefaultPolicy(), time.Unix(9, 0)), time.Unix(9, 0)))
	}
	kinds := map[routing.Kind]int{}
	for _, e := range stored(t, events) {
		if run, ok := e.Run(); ok {
			kinds[run.Decision.Kind]++
		}
	}
	if kinds[routing.KindInteraction] != 1 || kinds[routing.KindGroupFailed] != 1 || kinds[routing.KindNone] != 1 {
		t.Fatalf("S5-92: %v", kinds)
	}
	res, err := Case(c.Key, stored(t, events), nil, always(routing.DefaultPolicy()))
	if err != nil || res.Runs != 3 || len(res.Differences) != 0 {
		t.Errorf("S5-92: %+v, %v", res, err)
	}
}
