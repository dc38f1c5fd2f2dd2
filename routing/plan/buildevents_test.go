package plan

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// buildEvents are one event of every type, as a build writes them.
func buildEvents(r BuildState, at time.Time) []routing.Event {
	known := Known{Standing: IsRunning, Hash: "h", Build: r.Build.ID, Round: 1, Run: "7", Runs: 1}
	r.Ports = map[string]Known{"a": known}
	out := []routing.Event{
		r.Hand([]Entry{{ID: "a", Hash: "h"}}, 1, "7", "", at),
		r.Send("key", at),
		r.Show(12, at),
		r.End(map[string]Known{"a": {Standing: IsPassed, Build: r.Build.ID}}, at),
	}
	out = append(out, r.Read(map[string]feedback.Links{"a": {DependsOn: []string{"b"}}}, at)...)
	return append(out, r.Turned("a", "7", 2, at)...)
}

func TestBuildEvents(t *testing.T) {
	t.Parallel()
	w := newWalk(t, "a:")
	events := buildEvents(w.r, w.now)
	if len(events) != 6 {
		t.Fatalf("%d events", len(events))
	}
	t.Run("what another build writes is refused", func(t *testing.T) {
		r, err := w.r.Apply(w.r.Begin(Build{ID: "run-2", At: w.now}))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if next, err := r.Apply(e); !errors.Is(err, ErrNoBuild) || !reflect.DeepEqual(next, r) {
				t.Errorf("%s: %v", e.Type, err)
			}
		}
	})
	t.Run("a decision about a port outlives the build", func(t *testing.T) {
		e := w.r.Decided("a", Answer{ID: "c1", Action: routing.HumanSkip, By: "ada"})[0]
		next, err := w.r.With([]routing.Event{w.r.Begin(Build{ID: "run-2", At: w.now}), e})
		if err != nil || next.Answers["a"].By != "ada" {
			t.Errorf("%v, %+v", err, next.Answers)
		}
		for name, p := range map[string]PortDecided{"about nothing": {Answer: &Answer{}}, "of nobody": {Port: "a"}} {
			if _, err := w.r.Apply(routing.Event{Type: EventDecided, Data: p}); err == nil {
				t.Errorf("a decision %s", name)
			}
		}
	})
	t.Run("a stored event says the same", func(t *testing.T) {
		for _, e := range events {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var back routing.Event
			if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back.Data, e.Data) {
				t.Errorf("%s: %v, %+v is not %+v", e.Type, err, back.Data, e.Data)
			}
		}
	})
	t.Run("a port turns only in the run that it was handed out to", func(t *testing.T) {
		r, err := w.r.With(events[:1])
		if err != nil {
			t.Fatal(err)
		}
		turn := func(p PortTurned) int {
			next, err := r.Apply(routing.Event{Type: EventTurned, Data: p})
			if err != nil {
				t.Fatal(err)
			}
			return next.Ports["a"].Attempts
		}
		for p, want := range map[PortTurned]int{
			{w.r.Build.ID, "a", "7", 2}: 2,
			{w.r.Build.ID, "a", "8", 2}: 0,
			{w.r.Build.ID, "b", "7", 2}: 0,
		} {
			if n := turn(p); n != want {
				t.Errorf("%+v: iteration %d, want %d", p, n, want)
			}
		}
		if r, err = r.With(events[5:6]); err != nil || turn(PortTurned{w.r.Build.ID, "a", "7", 1}) != 2 {
			t.Errorf("%v: an earlier iteration follows a later one", err)
		}
	})
}
