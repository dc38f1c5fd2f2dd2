package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan/feedback"
)

// requestWalk plays a build whose ports send feedback.
type requestWalk struct {
	*walk
	reg feedback.State
}

func newRequestWalk(t *testing.T, lines ...string) *requestWalk {
	return &requestWalk{walk: newWalk(t, lines...)}
}

func (w *requestWalk) record(events []routing.Event, err error) {
	w.t.Helper()
	for _, e := range events {
		if err == nil {
			w.reg, err = w.reg.Apply(e)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.r.Requests = FeedbackRequestsOf(w.reg, "b")
}

func (w *requestWalk) send(from, to string, kind feedback.Type) string {
	w.t.Helper()
	s, err := w.reg.Outbox("b", w.p, w.now).Send(feedback.Message{From: from, To: to, Type: kind, Text: "wrong", Priority: feedback.Medium,
		SuggestedFix: "fix it", SuggestedAction: "plan it", RequestedInfo: "its name"})
	w.record(s.Events, err)
	return s.ID
}

// runs hands out a round after feedback was delivered, and lets each of its ports
// receive.
func (w *requestWalk) runs(n int) string {
	w.t.Helper()
	for {
		x, ok := w.reg.Of("b").Next()
		if !ok {
			break
		}
		w.record(w.reg.Lifecycle(nil, w.now).Deliver(x.ID))
	}
	ids := w.round(n)
	for _, id := range strings.Fields(ids) {
		w.record(w.reg.Lifecycle(nil, w.now).Receive("b", id))
	}
	return ids
}

// ends ends the pair of a port as a loop of a status, and settles what it ran for.
func (w *requestWalk) ends(id string, s LoopStatus) {
	w.t.Helper()
	l := Loop{ID: fmt.Sprintf("run-1~%d/%s", w.r.Version, id), Port: id, Status: s, Attempt: 1, Reason: "as it is", Requests: WorkerRequestsOf(w.reg, "b", id)}
	k := w.r.Ports[id].Heard(Journal{Loop: &l, Passed: map[bool]string{true: "h-" + id}[s == Success], Runner: &Runner{Run: "1"}})
	w.do(w.r.End(w.p.As(map[string]Known{id: k}), w.now))
	w.record(Settle(l, w.reg, w.p, "", w.now))
}

func (w *requestWalk) stands(want ...string) {
	w.t.Helper()
	var got []string
	for _, r := range w.p.Board(DefaultSettings(), w.r, w.hash).Rows {
		got = append(got, r.ID+"="+string(r.Standing))
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%q, want %q", got, want)
	}
}

func (w *requestWalk) is(n int, want string) {
	w.t.Helper()
	if got := w.runs(n); got != want {
		w.t.Errorf("round %d: %q, want %q", n, got, want)
	}
}

func TestFeedbackRequestsOfABuild(t *testing.T) {
	t.Parallel()
	t.Run("one branch is paused, the target runs again, then the sender (S3-44 S3-46 S3-47 S3-68 S3-70)", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model", "report: check", "view: model", "list: view")
		w.is(1, "model")
		w.ends("model", Success)
		w.is(2, "check view")
		id := w.send("check", "model", feedback.FixRequest)
		w.ends("check", Paused)
		w.stands("model=passed", "check=paused", "view=running", "list=pending", "report=paused")
		w.ends("view", Success)
		w.is(3, "model list") // the target's other dependents go on (S3-69)
		w.stands("model=running", "check=paused", "view=passed", "list=running", "report=paused")
		if b := w.p.Board(DefaultSettings(), w.r, w.hash); b.Rows[4].Waits[0].From != "check" || b.Rows[0].For[0].ID != id {
			t.Errorf("%+v", b.Rows)
		}
		w.ends("list", Success)
		w.ends("model", Success)
		w.stands("model=passed", "check=ready", "view=passed", "list=passed", "report=paused")
		w.is(4, "check")
		w.ends("check", Success)
		if x, _ := w.reg.ByID(id); x.Status != feedback.Resolved || x.ResolvedAt.IsZero() {
			t.Errorf("%+v", x)
		}
		w.is(5, "report")
		w.ends("report", Success)
		if done, passed := w.p.Board(DefaultSettings(), w.r, w.hash).Done(); !done || !passed {
			t.Error("not done")
		}
	})
	t.Run("the failure of the target ends it, and its branch is blocked (S3-45)", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.is(1, "model")
		w.ends("model", Success)
		w.is(2, "check")
		id := w.send("check", "model", feedback.FixRequest)
		w.ends("check", Paused)
		w.is(3, "model")
		w.ends("model", Raised)
		w.stands("model=escalated", "check=blocked")
		if x, _ := w.reg.ByID(id); x.Status != feedback.Failed {
			t.Errorf("%+v", x)
		}
		w.is(4, "")
	})
	t.Run("a target whose end is not taken in yet holds up its sender (S3-45)", func(t *testing.T) {
		for status, want := range map[LoopStatus]string{Raised: "", Success: "check"} {
			w := newRequestWalk(t, "model", "check: model")
			w.is(1, "model")
			w.ends("model", Success)
			w.is(2, "check")
			w.send("check", "model", feedback.FixRequest)
			w.ends("check", Paused)
			w.is(3, "model")
			l := Loop{ID: "run-1~9/model", Port: "model", Status: status, Attempt: 1, Requests: WorkerRequestsOf(w.reg, "b", "model")}
			w.record(Settle(l, w.reg, w.p, "", w.now)) // by the process that ran the pair
			w.is(4, "")
			k := w.r.Ports["model"].Heard(Journal{Loop: &l, Passed: "h-model", Runner: &Runner{Run: "1"}})
			w.do(w.r.End(w.p.As(map[string]Known{"model": k}), w.now))
			w.is(4, want)
		}
	})
	t.Run("a failed verification begins round 2, and its failure is the root's (S3-48 S3-49 S3-39)", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.is(1, "model")
		w.ends("model", Success)
		w.is(2, "check")
		id := w.send("check", "model", feedback.FixRequest)
		w.ends("check", Paused)
		for n := 3; n < 7; n += 2 {
			w.is(n, "model")
			w.ends("model", Success)
			w.is(n+1, "check")
			w.ends("check", Raised)
			w.stands("model=passed", "check=paused") // although its pair is escalated
		}
		x, _ := w.reg.ByID(id)
		if x.Status != feedback.Failed || x.Round != 2 || x.Escalated == nil || x.Escalated.Node != w.p.Root() {
			t.Errorf("%+v", x)
		}
		w.stands("model=passed", "check=paused") // until the plan is changed
		root := x.Escalated.Feedback
		w.record(w.reg.Lifecycle(nil, w.now).Receive("b", w.p.Root()))
		w.record(w.reg.Lifecycle(w.p, w.now).Processed(root, feedback.Outcome{OK: true, Summary: "planned anew"}))
		w.is(8, "check")
		w.ends("check", Success)
		if x, _ := w.reg.ByID(root); x.Status != feedback.Resolved {
			t.Errorf("%+v", x)
		}
	})
	t.Run("a question that is not answered fails, and the sender runs again", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.is(1, "model")
		w.ends("model", Success)
		w.is(2, "check")
		id := w.send("check", "model", feedback.ContextRequest)
		w.ends("check", Paused)
		w.is(3, "model")
		w.ends("model", Success)
		if x, _ := w.reg.ByID(id); x.Status != feedback.Failed || !strings.Contains(x.Attempts[0].Fix.Trace, "no answer") {
			t.Errorf("%+v", x)
		}
		w.is(4, "check")
	})
	t.Run("a job that ends before its port began is no pass of the run before", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.is(1, "model")
		w.ends("model", Success)
		before := w.r.Ports["model"].Pair
		w.is(2, "check")
		w.send("check", "model", feedback.FixRequest)
		w.ends("check", Paused)
		w.is(3, "model")
		k := w.r.Ports["model"].Heard(Journal{Loop: &Loop{ID: before, Status: Success}, Passed: "h-model", Runner: &Runner{Run: "1"}})
		if k.Standing != IsFailed {
			t.Errorf("%+v", k)
		}
		w.do(w.r.End(map[string]Known{"model": k}, w.now))
		w.stands("model=failed", "check=paused")
		w.is(4, "") // not in this build
	})
	t.Run("a port that is written anew during a build runs again, others do not", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.is(1, "model")
		w.ends("model", Success)
		w.is(2, "check")
		w.ends("check", Success)
		w.p.specs[w.p.number["model"]].Brief = "otherwise"
		w.is(3, "model")
		w.ends("model", Success)
		w.is(4, "")
	})
	t.Run("a target that its file calls completed waits for people", func(t *testing.T) {
		w := newRequestWalk(t, "model", "check: model")
		w.p.specs[w.p.number["model"]].Status = Completed
		w.is(1, "check")
		w.send("check", "model", feedback.FixRequest)
		w.ends("check", Paused)
		w.is(2, "")
		w.stands("model=passed", "check=paused")
	})
}

func TestOutcomeOfARun(t *testing.T) {
	failed := &TestFeedback{FailedTests: []FailedTest{{Name: "T", StackTrace: "at x"}, {Name: "U"}}}
	for _, c := range []struct {
		name   string
		l      Loop
		output string
		want   feedback.Outcome
	}{
		{"it passed", Loop{Port: "a", Status: Success, Attempt: 2}, " \n", feedback.Outcome{OK: true, Summary: "a passed in turn 2"}},
		{"it passed and said something", Loop{Port: "a", Status: Success, Attempt: 2}, " done\n", feedback.Outcome{OK: true, Summary: "a passed in turn 2: done"}},
		{"it failed", Loop{Status: Raised, Reason: "no", Last: failed}, "x", feedback.Outcome{Summary: "no", Trace: "T\nat x"}},
		{"it failed without a test", Loop{Status: Raised, Reason: "no", Last: &TestFeedback{}}, "", feedback.Outcome{Summary: "no"}},
		{"it failed without a report", Loop{Status: Raised, Reason: "no"}, "", feedback.Outcome{Summary: "no"}},
	} {
		if got := outcomeFor(c.l, c.output); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestSettlesItsRounds: a run settles the rounds that it was for, and no others.
func TestSettlesItsRounds(t *testing.T) {
	w := newRequestWalk(t, "model", "check: model")
	w.is(1, "model")
	w.ends("model", Success)
	w.is(2, "check")
	id := w.send("check", "model", feedback.FixRequest)
	w.ends("check", Paused)
	w.is(3, "model")
	l := Loop{Port: "model", Status: Success, Requests: WorkerRequestsOf(w.reg, "b", "model")}
	if got, err := Settle(l, w.reg, w.p, "", w.now); len(got) == 0 || err != nil {
		t.Fatalf("%d events of %s: %v", len(got), id, err)
	}
	for name, change := range map[string]func(*WorkerRequest){
		"another round":  func(r *WorkerRequest) { r.Round++ },
		"unknown":        func(r *WorkerRequest) { r.Feedback = "FB-999" },
		"to be verified": func(r *WorkerRequest) { r.Do = feedback.Verify },
	} {
		other := l
		other.Requests = slices.Clone(l.Requests)
		change(&other.Requests[0])
		if got, err := Settle(other, w.reg, w.p, "", w.now); len(got) != 0 || err != nil {
			t.Errorf("%s: %d events, %v", name, len(got), err)
		}
	}
}

// TestPausedIsHeld compares the one walk of a plan with what the engine says of
// each port by itself.
func TestPausedIsHeld(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var lines []string
		n := 3 + rnd.IntN(12)
		for i := range n {
			line := fmt.Sprintf("p%d:", i)
			for j := range i {
				if rnd.IntN(4) == 0 {
					line += fmt.Sprintf(" p%d", j)
				}
			}
			lines = append(lines, line)
		}
		w := newRequestWalk(t, lines...)
		for i := range w.p.specs {
			if rnd.IntN(4) == 0 {
				w.p.specs[i].Parent = fmt.Sprintf("p%d", rnd.IntN(n))
			}
		}
		for range 4 {
			from := fmt.Sprintf("p%d", rnd.IntN(n))
			if up := feedback.Ancestors(w.p, from); len(up) > 0 {
				w.send(from, up[rnd.IntN(len(up))], feedback.FixRequest)
			}
		}
		paused := w.p.paused(w.r.Requests)
		for i, id := range w.p.ids {
			var got, want []string
			for _, e := range paused[int32(i)] {
				got = append(got, e.ID)
			}
			for _, x := range w.reg.Of("b").Held(w.p, id) {
				want = append(want, x.ID)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s of %q: %v, want %v", id, lines, got, want)
			}
		}
	}
}

// TestBuildsWithFeedbackEnd plays random plans whose ports send random feedback.
// Whatever they do a build comes to an end, and what it leaves waits for people,
// or for a port that did not pass.
func TestBuildsWithFeedbackEnd(t *testing.T) {
	t.Parallel()
	kinds := feedback.Types()
	sent := 0
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var lines []string
		n := 2 + rnd.IntN(9)
		for i := range n {
			line := fmt.Sprintf("p%d:", i)
			for j := range i {
				if rnd.IntN(3) == 0 {
					line += fmt.Sprintf(" p%d", j)
				}
			}
			lines = append(lines, line)
		}
		w := newRequestWalk(t, lines...)
		for i := range w.p.specs {
			if at := w.p.number[fmt.Sprintf("p%d", rnd.IntN(n))]; int(at) != i && rnd.IntN(3) == 0 {
				w.p.specs[i].Parent = w.p.ids[at]
			}
		}
		round, runs := 1, map[string]int{}
		for {
			ids := strings.Fields(w.runs(round))
			if len(ids) == 0 {
				break
			}
			if round++; round > 2000 {
				t.Fatalf("seed %d does not end: %v", seed, runs)
			}
			for _, id := range ids {
				runs[id]++
				if up := feedback.Ancestors(w.p, id); len(up) > 0 && rnd.IntN(3) == 0 {
					s, err := w.reg.Outbox("b", w.p, w.now).Send(feedback.Message{From: id, To: up[rnd.IntN(len(up))], Type: kinds[rnd.IntN(len(kinds))], Text: fmt.Sprint(runs), Priority: feedback.Low,
						SuggestedFix: "x", SuggestedAction: "x", RequestedInfo: "x"})
					if w.record(s.Events, err); s.Refusal == nil {
						sent++
					}
				}
				switch {
				case len(w.reg.Of("b").Waiting(id)) > 0:
					w.ends(id, Paused)
				case rnd.IntN(5) == 0:
					w.ends(id, []LoopStatus{Raised, Failed}[rnd.IntN(2)])
				default:
					w.ends(id, Success)
				}
			}
		}
		standing := map[string]Standing{w.p.Root(): IsPaused}
		blocked := map[string][]string{}
		board := w.p.Board(DefaultSettings(), w.r, w.hash)
		for _, r := range board.Rows {
			standing[r.ID], blocked[r.ID] = r.Standing, r.By
		}
		notPassed := func(id string) bool { return standing[id] != IsPassed }
		for _, r := range board.Rows {
			switch r.Standing {
			case IsPending, IsReady, IsRunning:
				t.Errorf("seed %d: %s is left %s", seed, r.ID, r.Standing)
			case IsPaused:
				for _, x := range r.Waits {
					if x.From == r.ID && x.Status != feedback.Verifying && standing[x.To] == IsPassed && len(blocked[x.To]) == 0 && !slices.ContainsFunc(w.p.DependsOn(x.To), notPassed) {
						t.Errorf("seed %d: %s waits for what may run: %+v", seed, r.ID, x)
					}
				}
				if !slices.ContainsFunc(r.Waits, func(x FeedbackRequest) bool {
					return x.Status != feedback.Verifying || standing[x.From] != IsPassed && x.From != r.ID
				}) {
					if len(r.By) == 0 && !slices.ContainsFunc(r.DependsOn, notPassed) {
						t.Errorf("seed %d: %s waits for nothing: %+v", seed, r.ID, r.Waits)
					}
				}
			}
		}
	}
	if sent < 100 {
		t.Errorf("only %d feedbacks were sent", sent)
	}
}
