package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// A case that no worker answered to is decided as it was under the policy that it was recorded under,
// and is not escalated under one that tells all workers at once.
func TestReplayOfHandoffs(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	p.Workers = []routing.Worker{{Name: "agent", Ack: time.Minute}, {Name: "fix.yml", Ack: time.Minute}}
	c, at := routing.Case{Key: "acme/app#7"}, time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	var events []routing.Event
	add := func(e routing.Event) {
		next, err := c.Apply(e)
		if err != nil {
			t.Fatal(err)
		}
		c, events = next, append(events, e)
	}
	run := func(n int) {
		at = at.Add(time.Minute)
		v := routing.Verdict{Checkpoint: "ci", Result: routing.Fail, Class: routing.LogicError, At: at, Run: routing.Run{ID: fmt.Sprint(n), SHA: fmt.Sprintf("%040x", n)}}
		add(routing.RunEvent(c.Key, v, routing.Decide(c, v, p, at), at))
	}
	run(1)
	for c.Handoff != nil {
		for len(c.Pending) > 0 {
			add(routing.EffectEvent(c.Key, routing.EffectDone{Effect: c.Pending[0], Ref: "ref", At: at}, at))
		}
		at = at.Add(time.Hour)
		add(routing.HandoffEvent(c.Key, routing.HandoffChanged{Number: c.Handoff.Number, Place: c.Handoff.Place, Change: routing.HandoffExpired, At: at}, at))
	}
	next, more, err := routing.Release(c, func(string) routing.Policy { return p }, at)
	if err != nil || next.Checkpoints["ci"].State != routing.Escalated {
		t.Fatalf("%v %s", err, next.Checkpoints["ci"].State)
	}
	c, events = next, append(events, more...)
	run(2)
	same, err := Case(c.Key, stored(t, events), nil, always(p))
	if err != nil || len(same.Differences)+len(same.Left) > 0 {
		t.Errorf("S5-82: %v %+v", err, same.Differences)
	}
	p.Workers = nil
	other, err := Case(c.Key, stored(t, events), nil, always(p))
	if err != nil || len(other.Differences) == 0 {
		t.Errorf("S5-80: %v, no difference", err)
	}
}
