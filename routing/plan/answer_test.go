package plan

import (
	"errors"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/escalation"
)

// raised is a journal whose pair used up its reworks.
func raised(t *testing.T) Journal {
	t.Helper()
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	l, _ := NewLoop("run-1", Spec{ID: "a"}, Settings{MaxIterations: 1}, now)
	for l.Status == Running {
		var err error
		if l, _, err = l.ImplEnded(Worked{OK: true}, now); err == nil {
			l, _, err = l.TestEnded(TestFeedback{FailedTests: []FailedTest{{Name: "T"}}}, 0, now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	call := Escalation{ID: l.ID + "/escalation"}
	var j Journal
	for _, e := range []Event{{Kind: PairChanged, Pair: &l}, {Kind: EscalationNew, Escalation: &call}} {
		if err := j.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func (j *Journal) must(t *testing.T, a Answer) {
	t.Helper()
	events, err := j.Decide(a)
	if err != nil || len(events) == 0 {
		t.Fatalf("%v %v", events, err)
	}
	for _, e := range events {
		if err := j.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	t.Run("S2-71 an answer resolves the call once, and says who", func(t *testing.T) {
		j := raised(t)
		a := Answer{ID: "x", Action: routing.HumanExtend, N: 2, By: "ann", At: now}
		if c, ok := EscalationRequestOf("k", j, ""); !ok || c.Member.Type != escalation.TestFailure || c.Member.First != "T" {
			t.Errorf("%+v", c)
		}
		j.must(t, a)
		if again, err := j.Decide(a); err != nil || again != nil || j.Escalations[0].ResolvedBy != "ann" || len(j.Waiting()) != 0 {
			t.Errorf("%v %v %+v", again, err, j.Escalations)
		}
		if _, ok := EscalationRequestOf("k", j, ""); ok {
			t.Error("what is answered calls again")
		}
		l, _ := NewLoop("run-2", Spec{ID: "a"}, Settings{MaxIterations: 1}, now)
		l = j.GoOn(l)
		if l.Attempt != 3 || l.CurrentTry != 2 || l.Last == nil {
			t.Errorf("%+v", l)
		}
		turns := 0
		for ; l.Status == Running; turns++ {
			var err error
			if l, _, err = l.ImplEnded(Worked{OK: true}, now); err == nil {
				l, _, err = l.TestEnded(TestFeedback{FailedTests: []FailedTest{{Name: "T"}}}, 0, now)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if turns != 2 {
			t.Errorf("%d turns where 2 were given", turns)
		}
	})
	t.Run("S2-71 a port calls once its pair has escalated, and until a human answers", func(t *testing.T) {
		for name, c := range map[string]struct {
			change func(*Journal)
			calls  bool
			first  string
		}{
			"escalated":                      {func(*Journal) {}, true, "T"},
			"no test says why":               {func(j *Journal) { j.Loop.Last = &TestFeedback{} }, true, ""},
			"nothing says why":               {func(j *Journal) { j.Loop.Last = nil }, true, ""},
			"an answer to an earlier pair":   {func(j *Journal) { j.Answers = []Answer{{Pair: "run-0/a"}} }, true, "T"},
			"an answer to this pair":         {func(j *Journal) { j.Answers = []Answer{{Pair: j.Loop.ID}} }, false, ""},
			"a pair that runs":               {func(j *Journal) { j.Loop.Status = Running }, false, ""},
			"a pair that called nobody":      {func(j *Journal) { j.Loop.Escalation = nil }, false, ""},
			"a port that has not been begun": {func(j *Journal) { j.Loop = nil }, false, ""},
		} {
			j := raised(t)
			c.change(&j)
			if got, ok := EscalationRequestOf("k", j, "u"); ok != c.calls || got.Member.First != c.first || ok && (got.ID != "k/"+string(got.Facts.Type) || got.Member.Gen != 2) {
				t.Errorf("%s: %v %+v", name, ok, got)
			}
		}
	})
	t.Run("S2-71 as many turns as may be given are taken, and are counted on from those taken", func(t *testing.T) {
		most := raised(t).Loop.MostTurns()
		for n, taken := range map[int]bool{0: false, 1: true, most: true, most + 1: false} {
			j := raised(t)
			if events, err := j.Decide(Answer{ID: "x", Action: routing.HumanExtend, N: n, At: now}); (err == nil) != taken || taken && len(events) != 2 {
				t.Errorf("%d: %v", n, err)
			}
		}
		for n, retries := range map[int]int{1: 2, 3: 4, 99: routing.HardCap} {
			j := raised(t)
			j.Answers = []Answer{{Action: routing.HumanExtend, N: n, Pair: j.Loop.ID}}
			if l := j.GoOn(Loop{}); l.MaxRetries != retries || l.CurrentTry != 2 || l.Attempt != 3 {
				t.Errorf("%d: %+v", n, l)
			}
		}
		for name, change := range map[string]func(*Journal){
			"of another pair": func(j *Journal) { j.Answers[0].Pair = "run-0/a" },
			"and a reset":     func(j *Journal) { j.Answers = append(j.Answers, Answer{Action: routing.HumanReset, Pair: j.Loop.ID}) },
			"that runs":       func(j *Journal) { j.Loop.Status = Running },
			"of none":         func(j *Journal) { j.Loop = nil },
			"of nobody":       func(j *Journal) { j.Answers = nil },
		} {
			j := raised(t)
			j.Answers = []Answer{{Action: routing.HumanExtend, N: 3, Pair: j.Loop.ID}}
			change(&j)
			if l := j.GoOn(Loop{}); l.MaxRetries != 0 || l.CurrentTry != 0 {
				t.Errorf("turns given to a pair %s: %+v", name, l)
			}
		}
	})
	t.Run("a reset begins to count anew", func(t *testing.T) {
		j := raised(t)
		j.must(t, Answer{ID: "x", Action: routing.HumanReset, By: "ann", At: now})
		if l, _ := NewLoop("run-2", Spec{ID: "a"}, Settings{MaxIterations: 1}, now); j.GoOn(l).CurrentTry != 0 {
			t.Errorf("%+v", j.GoOn(l))
		}
	})
	for name, c := range map[string]struct {
		do func(*Journal)
		a  Answer
	}{
		"more turns than there may be": {func(*Journal) {}, Answer{Action: routing.HumanExtend, N: 10}},
		"no turns":                     {func(*Journal) {}, Answer{Action: routing.HumanExtend}},
		"what is none of a port's":     {func(*Journal) {}, Answer{Action: routing.HumanPhase}},
		"a port that runs":             {func(j *Journal) { j.Loop.Status = Running }, Answer{Action: routing.HumanReset}},
		"a port that has passed":       {func(j *Journal) { j.Loop.Status = Success }, Answer{Action: routing.HumanReset}},
		"a port that never ran":        {func(j *Journal) { j.Loop = nil }, Answer{Action: routing.HumanReset}},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			j := raised(t)
			c.do(&j)
			var refused *routing.RefusedError
			if got, err := j.Decide(c.a); !errors.As(err, &refused) || got != nil {
				t.Errorf("%v %v", got, err)
			}
		})
	}
}

func TestDecidedBoard(t *testing.T) {
	t.Parallel()
	p, err := Compile([]File{{Name: "p.yml", Data: []byte("- {id: a}\n- {id: b, depends_on: a}\n")}})
	if err != nil {
		t.Fatal(err)
	}
	hash := map[string]string{"a": "1", "b": "2"}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	reg := func(action routing.HumanAction) BuildState {
		r, _ := FoldBuildState(nil)
		for _, fn := range []func() []routing.Event{
			func() []routing.Event { return []routing.Event{r.Begin(Build{ID: "run-1", At: now})} },
			func() []routing.Event { return r.Read(p.Links(), now) },
			func() []routing.Event { return []routing.Event{r.Hand([]Entry{{ID: "a", Hash: "1"}}, 1, "1", "", now)} },
			func() []routing.Event { return r.Turned("a", "1", 2, now) },
			func() []routing.Event {
				k := r.Ports["a"]
				k.Standing = IsEscalated
				return []routing.Event{r.End(map[string]Known{"a": k}, now)}
			},
			func() []routing.Event {
				return r.Decided("a", Answer{ID: "x", Action: action, By: "ann", At: now, Hash: "1"})
			},
		} {
			for _, e := range fn() {
				if r, err = r.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r.Read(p.Links(), now) != nil || r.Decided("a", r.Answers["a"]) != nil || r.Turned("a", "1", 1, now) != nil || r.Ports["a"].Attempts != 2 {
			t.Error("what is known is recorded again")
		}
		return r
	}
	stands := func(r BuildState) string {
		b := p.Board(DefaultSettings(), r, hash)
		return string(b.Rows[0].Standing) + " " + string(b.Rows[1].Standing)
	}
	if got := stands(reg(routing.HumanSkip)); got != "passed ready" {
		t.Errorf("skipped: %s", got)
	}
	if got := stands(reg(routing.HumanWontFix)); got != "held blocked" {
		t.Errorf("left as it is: %s", got)
	}
	r := reg(routing.HumanWontFix)
	r, err = r.Apply(r.Begin(Build{ID: "run-2", At: now}))
	if got := stands(r); err != nil || got != "held blocked" {
		t.Errorf("left as it is, in the next build: %s", got)
	}
	hash["a"] = "changed"
	if got := stands(r); got != "ready pending" {
		t.Errorf("its content has changed: %s", got)
	}
}

// TestTurnOfAnotherRun: a turn counts for the run and build that the port was handed out in, while it
// runs, and forwards only.
func TestTurnOfAnotherRun(t *testing.T) {
	t.Parallel()
	known := Known{Standing: IsRunning, Build: "b", Run: "7", Attempts: 2}
	for _, c := range []struct {
		name   string
		turned PortTurned
		as     Standing
		want   int
	}{
		{"the next", PortTurned{"b", "a", "7", 3}, IsRunning, 3},
		{"the same", PortTurned{"b", "a", "7", 2}, IsRunning, 2},
		{"an earlier one", PortTurned{"b", "a", "7", 1}, IsRunning, 2},
		{"of another run", PortTurned{"b", "a", "8", 3}, IsRunning, 2},
		{"of another build", PortTurned{"c", "a", "7", 3}, IsRunning, 2},
		{"of another port", PortTurned{"b", "x", "7", 3}, IsRunning, 2},
		{"after its end", PortTurned{"b", "a", "7", 3}, IsPassed, 2},
	} {
		k := known
		k.Standing = c.as
		r := BuildState{Build: Build{ID: "b"}, Ports: map[string]Known{"a": k}}
		if got := len(r.Turned(c.turned.Port, c.turned.Run, c.turned.Iteration, time.Time{})); c.turned.Build == "b" && (got > 0) != (c.want == 3) {
			t.Errorf("%s: %d events", c.name, got)
		}
		if err := c.turned.apply(&r, time.Time{}); err != nil || r.Ports["a"].Attempts != c.want || len(r.Ports) != 1 {
			t.Errorf("%s: %d attempts, %v", c.name, r.Ports["a"].Attempts, err)
		}
	}
}

func TestAnswerStands(t *testing.T) {
	t.Parallel()
	r := BuildState{Answers: map[string]Answer{
		"left": {Action: routing.HumanWontFix, Hash: "h"}, "skipped": {Action: routing.HumanSkip, Hash: "h"}, "reset": {Action: routing.HumanReset, Hash: "h"},
	}}
	for _, c := range []struct {
		id, hash string
		want     bool
	}{{"left", "h", true}, {"skipped", "h", true}, {"reset", "h", false}, {"left", "other", false}, {"unknown", "", false}} {
		if _, got := r.stands(c.id, c.hash); got != c.want {
			t.Errorf("%s of %q stands: %v", c.id, c.hash, got)
		}
	}
}
