package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
)

// walk plays a build of a plan on a register.
type walk struct {
	t      *testing.T
	p      Plan
	hash   map[string]string
	events []routing.Event
	r      BuildState
	now    time.Time
}

func newWalk(t *testing.T, lines ...string) *walk {
	w := &walk{t: t, p: plan(t, lines...), hash: map[string]string{}, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	for _, id := range w.p.ids {
		w.hash[id] = "h-" + id
	}
	w.r, _ = FoldBuildState(nil)
	w.do(w.r.Begin(Build{ID: "run-1", Run: "1", At: w.now}))
	return w
}

func (w *walk) do(e routing.Event) {
	w.t.Helper()
	w.events = append(w.events, e)
	var err error
	if w.r, err = w.r.Apply(e); err != nil {
		w.t.Fatal(err)
	}
}

// round hands out a round and returns its ports.
func (w *walk) round(n int) string {
	w.t.Helper()
	m := w.p.Round(DefaultSettings(), w.r, w.hash, n, ShardSize)
	var ids []string
	for _, e := range m.Matrix.Include {
		ids = append(ids, e.ID)
	}
	if len(ids) > 0 {
		w.do(w.r.Hand(m.Matrix.Include, n, w.r.Build.Run, "", w.now))
	}
	return strings.Join(ids, " ")
}

func (w *walk) end(id string, s Standing) {
	w.t.Helper()
	k := w.r.Ports[id]
	k.Standing = s
	w.do(w.r.End(map[string]Known{id: k}, w.now))
}

func (w *walk) board() string {
	var out []string
	for _, row := range w.p.Board(DefaultSettings(), w.r, w.hash).Rows {
		out = append(out, row.ID+"="+string(row.Standing))
	}
	return strings.Join(out, " ")
}

func (w *walk) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s: %s, want %s", what, got, want)
	}
}

func TestRegisterOfAPlan(t *testing.T) {
	t.Parallel()
	document := []string{"A:", "B:", "C: A", "D: A B C"}
	t.Run("S2-41 S2-44 a level begins when the one before it has ended", func(t *testing.T) {
		w := newWalk(t, document...)
		w.want("before", w.board(), "A=ready B=ready C=pending D=pending")
		w.want("first", w.round(1), "A B")
		w.end("A", IsPassed)
		w.want("half", w.board(), "A=passed B=running C=ready D=pending")
		w.end("B", IsPassed)
		w.want("second", w.round(2), "C")
		w.end("C", IsPassed)
		w.want("third", w.round(3), "D")
		w.end("D", IsPassed)
		w.want("none", w.round(4), "")
		if done, passed := w.p.Board(DefaultSettings(), w.r, w.hash).Done(); !done || !passed {
			t.Error(done, passed)
		}
	})
	t.Run("S2-48 only what depends on a failed port is blocked, the others go on", func(t *testing.T) {
		for _, s := range []Standing{IsFailed, IsEscalated} {
			w := newWalk(t, document...)
			w.round(1)
			w.end("A", s)
			w.end("B", IsPassed)
			w.want("board", w.board(), fmt.Sprintf("A=%s B=passed C=blocked D=blocked", s))
			w.want("next", w.round(2), "")
		}
	})
	t.Run("the next build tries again what did not pass, and not what has", func(t *testing.T) {
		w := newWalk(t, document...)
		w.round(1)
		w.end("A", IsFailed)
		w.end("B", IsPassed)
		w.do(w.r.Begin(Build{ID: "run-2", Run: "2", At: w.now}))
		w.want("board", w.board(), "A=ready B=passed C=pending D=pending")
		w.hash["B"] = "other"
		w.want("changed", w.round(1), "A B")
	})
	t.Run("what a port changes does not make it run again in its build", func(t *testing.T) {
		w := newWalk(t, document...)
		w.round(1)
		w.end("A", IsPassed)
		w.hash["A"] = "written by its worker"
		w.end("B", IsPassed)
		w.want("next", w.round(2), "C")
	})
	t.Run("a round that is asked for again is the same, without what passed", func(t *testing.T) {
		w := newWalk(t, document...)
		w.round(1)
		w.want("again", w.round(1), "A B")
		w.end("A", IsPassed)
		w.end("B", IsFailed)
		w.want("its job runs again", w.round(1), "B C")
	})
	t.Run("more ports than a matrix takes wait for the next round", func(t *testing.T) {
		var lines []string
		for i := range 300 {
			lines = append(lines, fmt.Sprintf("p%03d:", i))
		}
		w := newWalk(t, lines...)
		if n := len(strings.Fields(w.round(1))); n != ShardSize {
			t.Error(n)
		}
		for id := range maps.Clone(w.r.Ports) {
			w.end(id, IsPassed)
		}
		if n := len(strings.Fields(w.round(2))); n != 300-ShardSize {
			t.Error(n)
		}
	})
	t.Run("S2-47 the longest chain first, whatever the order of files", func(t *testing.T) {
		lines := []string{"a:", "b:", "c:", "d: c", "e: d", "f: b"}
		w := newWalk(t, lines...)
		w.want("order", w.round(1), "c b a")
		slices.Reverse(lines)
		w = newWalk(t, lines...)
		w.want("reversed", w.round(1), "c b a")
	})
	t.Run("a dispatch and an issue are known", func(t *testing.T) {
		w := newWalk(t, document...)
		w.do(w.r.Send("run-1/4", w.now))
		w.do(w.r.Show(7, w.now))
		if !w.r.Sent["run-1/4"].Equal(w.now) || w.r.Issue != 7 {
			t.Errorf("%+v", w.r)
		}
		if folded, err := FoldBuildState(w.events); err != nil || !reflect.DeepEqual(folded, w.r) {
			t.Errorf("%+v %v, step by step %+v", folded, err, w.r)
		}
		w.do(w.r.Begin(Build{ID: "run-2", At: w.now}))
		if len(w.r.Sent) != 0 || w.r.Issue != 7 {
			t.Errorf("%+v", w.r)
		}
	})
}

// TestRegisterFolds is not parallel, as it counts what is allocated.
func TestRegisterFolds(t *testing.T) {
	ends := func(n int) []routing.Event {
		r, _ := FoldBuildState(nil)
		b := Build{ID: "run-1", At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
		events := []routing.Event{r.Begin(b)}
		r.Build = b
		for i := range n {
			events = append(events, r.End(map[string]Known{fmt.Sprintf("p%d", i): {Standing: IsPassed, Build: b.ID, Round: 1}}, b.At))
		}
		return events
	}
	allocated := func(events []routing.Event) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := FoldBuildState(events); err != nil {
				t.Fatal(err)
			}
		})
	}
	t.Run("each event costs the same, however many ports there are", func(t *testing.T) {
		if few, many := allocated(ends(250)), allocated(ends(2000)); many > 16*few {
			t.Errorf("8 times as many events take %.0f allocations instead of %.0f", many, few)
		}
	})
	t.Run("what follows leaves the register as it was", func(t *testing.T) {
		events := ends(3)
		r, err := FoldBuildState(events[:2])
		if err != nil {
			t.Fatal(err)
		}
		next, err := r.With(events[2:])
		if err != nil || len(next.Ports) != 3 || next.Version != 4 || len(r.Ports) != 1 || r.Version != 2 {
			t.Errorf("%v: %+v after %+v", err, next, r)
		}
		if _, err := r.With([]routing.Event{events[2], {Type: "else"}}); err == nil || !strings.Contains(err.Error(), "event 4 ") || len(r.Ports) != 1 {
			t.Errorf("%v", err)
		}
	})
}

func TestRegisterRefuses(t *testing.T) {
	t.Parallel()
	w := newWalk(t, "a:")
	old := w.r
	w.do(w.r.Begin(Build{ID: "run-2", At: w.now}))
	for name, e := range map[string]routing.Event{
		"the same build again":  w.r.Begin(Build{ID: "run-2"}),
		"a build without name":  w.r.Begin(Build{}),
		"an end that runs":      w.r.End(map[string]Known{"a": {Standing: IsRunning}}, w.now),
		"an event of others":    {Type: routing.EventRun},
		"an unknown type":       {Type: "plan.danced", At: w.now, Data: RunSent{Build: "run-2"}},
		"what cannot be read":   {Type: EventEnded, Data: json.RawMessage("[")},
		"a result of old times": old.End(map[string]Known{"a": {Standing: IsPassed}}, w.now),
	} {
		before := w.r
		if r, err := w.r.Apply(e); err == nil || !reflect.DeepEqual(r, before) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.r.Apply(old.Send("x", w.now)); !errors.Is(err, ErrNoBuild) {
		t.Error(err)
	}
}

func TestHeard(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	k := Known{Standing: IsRunning, Hash: "h", Build: "b", Round: 1, Run: "7"}
	loop := func(s LoopStatus, turn int, reason string) *Loop {
		l := &Loop{ID: "b/a", Status: s, Attempt: turn, Reason: reason, StartedAt: at}
		if s != Running {
			l.EndedAt = at.Add(90 * time.Second)
		}
		return l
	}
	ours, theirs := &Runner{Run: "7"}, &Runner{Run: "6"}
	for name, c := range map[string]struct {
		j      Journal
		want   Standing
		turns  int
		reason string
	}{
		"passed":                          {Journal{Loop: loop(Success, 2, ""), Runner: ours, Passed: "h2"}, IsPassed, 2, ""},
		"passed before, and not again":    {Journal{Loop: loop(Success, 1, ""), Runner: theirs, Passed: "h"}, IsPassed, 1, ""},
		"passed before as something else": {Journal{Loop: loop(Success, 1, ""), Runner: theirs, Passed: "old"}, IsFailed, 0, "its job was cancelled, or ended before the port began"},
		"escalated":                       {Journal{Loop: loop(Raised, 4, "used up"), Runner: ours, Passed: "old"}, IsEscalated, 4, "used up"},
		"escalated in an earlier run":     {Journal{Loop: loop(Raised, 4, "used up"), Runner: theirs}, IsFailed, 0, "its job was cancelled, or ended before the port began"},
		"broke":                           {Journal{Loop: loop(Failed, 1, "it was cancelled"), Runner: ours}, IsFailed, 1, "it was cancelled"},
		"killed":                          {Journal{Loop: loop(Running, 2, ""), Runner: ours}, IsFailed, 2, "its job ended in turn 2; the next build goes on from there"},
		"killed at feedback after a pass": {Journal{Loop: loop(Running, 2, ""), Runner: ours, Passed: "h"}, IsFailed, 2, "its job ended in turn 2; the next build goes on from there"},
		"broke at feedback after a pass":  {Journal{Loop: loop(Failed, 1, "it was cancelled"), Runner: ours, Passed: "h"}, IsFailed, 1, "it was cancelled"},
		"no word":                         {Journal{}, IsFailed, 0, "its job was cancelled, or ended before the port began"},
	} {
		got := k.Heard(c.j)
		if got.Standing != c.want || got.Attempts != c.turns || got.Reason != c.reason || got.Round != 1 || got.Run != "7" {
			t.Errorf("%s: %+v", name, got)
		}
		if timed := c.turns > 0 && c.j.Loop.Status != Running; timed != (got.Seconds == 90) {
			t.Errorf("%s: %v s", name, got.Seconds)
		}
	}
}
