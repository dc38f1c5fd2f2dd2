package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

func TestOrderOfEffects(t *testing.T) {
	t.Parallel()
	max1 := routing.DefaultPolicy()
	max1.Max = 0
	for _, c := range []struct {
		name   string
		policy routing.Policy
		v      routing.Verdict
		kind   routing.Kind
		want   string
	}{
		{"S0-11 the feedback is sent before the worker is started", routing.DefaultPolicy(), failing(1), routing.KindRetry, "comment 1,check 1,handoff 1"},
		{"a pass", routing.DefaultPolicy(), passing(1), routing.KindPass, "comment 0,check 0,label 0,close 0"},
		{"an escalation writes its report before the comment links it", routing.DefaultPolicy(), verdict(1, routing.Fail, routing.EnvIssue), routing.KindEnv, "issue 0,comment 0,check 0,label 0"},
		{"no turns at all", max1, failing(1), routing.KindMaxRetry, "issue 0,comment 0,check 0,label 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, led := newWorld(), &counted{Ledger: &ledger.Memory{}}
			l := line(led, w, newClock(), "a")
			rec, err := l.Record(t.Context(), key, c.v, func(string) routing.Policy { return c.policy })
			if err != nil || rec.Decision.Kind != c.kind {
				t.Fatalf("%v %v", rec.Decision.Kind, err)
			}
			if len(w.calls) != 0 {
				t.Error("an effect was carried out before the decision was recorded")
			}
			after, err := l.Apply(t.Context(), rec)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(w.calls, ","); got != c.want {
				t.Errorf("effects %s, want %s", got, c.want)
			}
			if len(after.Pending) != 0 || after.Lease != nil {
				t.Errorf("left behind: %v, lease %v", after.Pending, after.Lease)
			}
			if fmt.Sprint(led.appends) != fmt.Sprintf("[1 %d]", len(w.calls)) {
				t.Errorf("appends of %v events; the decision is one, all effects another", led.appends)
			}
			if _, stored := load(t, led); stored.Generation != after.Generation || len(stored.Pending) != 0 {
				t.Error("the ledger does not hold what was returned")
			}
		})
	}
}

func TestDeliveredAgain(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	first, _ := mustDeliver(t, line(led, w, k, "a"), failing(1))
	before, state := len(w.calls), w.state()
	events, _ := load(t, led)
	for i := range 4 {
		rec, c := mustDeliver(t, line(led, w, k, fmt.Sprint("again", i)), failing(1))
		if !rec.Decision.Repeated || rec.Decision.Kind != first.Decision.Kind || rec.Decision.Iteration != 1 || c.Checkpoints["ci"].Retries != 1 {
			t.Errorf("delivery %d: %+v", i+2, rec.Decision)
		}
	}
	after, _ := load(t, led)
	if len(w.calls) != before || w.state() != state || len(after) != len(events) {
		t.Errorf("a further delivery of one run did something: %v", w.calls)
	}
}

// A further part of a run asks for the comment and the check again: they are
// updated, not made a second time, and nobody is started again.
func TestFurtherPartIsNotFresh(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	l := line(led, w, k, "a")
	for _, part := range []string{"linux", "windows"} {
		v := failing(1)
		v.Run.Part, v.Run.Parts = part, 2
		mustDeliver(t, l, v)
	}
	if got := strings.Join(w.calls, ","); got != "comment 1,check 1,handoff 1,comment 1,check 1" {
		t.Error(got)
	}
	for _, s := range w.wrong {
		t.Error(s)
	}
}

// A second escalation of a commit that a human resumed asks for the same check.
func TestSameCommitAfterResumeIsNotFresh(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	l := line(led, w, k, "a")
	mustDeliver(t, l, verdict(1, routing.Fail, routing.EnvIssue))
	if _, err := l.Act(t.Context(), key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanResume}, defaults); err != nil {
		t.Fatal(err)
	}
	v := verdict(1, routing.Fail, routing.EnvIssue)
	v.Run.Attempt = 2
	mustDeliver(t, l, v)
	for _, s := range w.wrong {
		t.Error(s)
	}
	if n := strings.Count(strings.Join(w.calls, ","), "check"); n != 2 {
		t.Errorf("%d check effects: %v", n, w.calls)
	}
}

// A lease stands only while there is something to carry out: others would
// wait for nothing.
func TestNothingToDoClaimsNothing(t *testing.T) {
	t.Parallel()
	led, k, w := &ledger.Memory{}, newClock(), newWorld()
	l := line(led, w, k, "a")
	mustDeliver(t, l, failing(2))
	stale := failing(1)
	stale.Head = strings.Repeat("f", 40)
	rec, err := l.Record(t.Context(), key, stale, defaults)
	if err != nil || rec.Decision.Kind != routing.KindNone || rec.Case.Lease != nil {
		t.Errorf("%+v, lease %+v, err %v", rec.Decision, rec.Case.Lease, err)
	}
	rec, err = l.Act(t.Context(), key, routing.HumanActed{Checkpoint: "ci", Action: routing.HumanPause}, defaults)
	if err != nil || (rec.Case.Lease != nil) != (len(rec.Case.Pending) > 0) {
		t.Errorf("lease %+v with pending %v, err %v", rec.Case.Lease, rec.Case.Pending, err)
	}
	if c, err := l.Apply(t.Context(), rec); err != nil || c.Lease != nil {
		t.Errorf("lease %+v, err %v", c.Lease, err)
	}
}

// What was held is decided in the append that released it.
func TestHeldIsReleasedInTheSameAppend(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	p.Needs, p.Checkpoints = map[string][]string{"e2e": {"unit"}, "deploy": {"e2e"}}, []string{"unit", "e2e", "deploy"}
	policy := func(string) routing.Policy { return p }
	w, led := newWorld(), &counted{Ledger: &ledger.Memory{}}
	l := line(led, w, newClock(), "a")
	for i, cp := range []string{"deploy", "e2e", "unit"} {
		v := passing(i + 1)
		v.Checkpoint, v.Run.SHA = cp, "one commit"
		rec, err := l.Record(t.Context(), key, v, policy)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Apply(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		if cp != "unit" && (!rec.Decision.Held || len(w.calls) != 0) {
			t.Errorf("%s was not held: %+v", cp, rec.Decision)
		}
	}
	if led.appends[2] != 3 {
		t.Errorf("appends of %v events, want the third to hold all three decisions", led.appends)
	}
	_, c := load(t, led)
	for _, n := range []string{"unit", "e2e", "deploy"} {
		if c.Checkpoints[n].State != routing.Completed {
			t.Errorf("%s is %s", n, c.Checkpoints[n].State)
		}
	}
	if !c.Complete {
		t.Error("the case is not complete")
	}
}

func TestManualMode(t *testing.T) {
	t.Parallel()
	p := routing.DefaultPolicy()
	p.Manual = true
	policy := func(string) routing.Policy { return p }
	w := newWorld()
	l := line(&ledger.Memory{}, w, newClock(), "a")
	t.Run("S4-23 in manual mode each rework needs its own call", func(t *testing.T) {
		for turn := 1; turn <= 2; turn++ {
			rec, err := l.Record(t.Context(), key, failing(turn), policy)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Apply(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if len(w.starts) != turn-1 {
				t.Fatalf("turn %d was handed over without a call: %v", turn, w.starts)
			}
			call := routing.HumanActed{Checkpoint: "ci", Action: routing.HumanHandoff, By: "me"}
			if rec, err = l.Act(t.Context(), key, call, policy); err != nil {
				t.Fatal(err)
			}
			if _, err = l.Apply(t.Context(), rec); err != nil || len(w.starts) != turn {
				t.Fatalf("turn %d: err %v, started %v", turn, err, w.starts)
			}
			if _, err = l.Act(t.Context(), key, call, policy); err == nil {
				t.Error("one rework was called twice")
			}
		}
	})
	for k, n := range w.starts {
		if n != 1 {
			t.Errorf("%s started %d times", k, n)
		}
	}
}

func TestLimitOfActions(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	l := line(led, w, k, "a")
	l.MaxActions = 2
	t.Run("S4-24 a run carries out as many actions as it may and leaves the rest to the next", func(t *testing.T) {
		_, c, err := deliver(t.Context(), l, failing(1))
		var stuck *StuckError
		if !errors.Is(err, ErrActionLimit) || !errors.As(err, &stuck) || len(stuck.Pending) != 1 || len(w.calls) != 2 {
			t.Fatalf("err %v, calls %v", err, w.calls)
		}
		if len(c.Pending) != 1 || !strings.Contains(err.Error(), "handoff") {
			t.Errorf("pending %v; the error does not name what waits: %v", c.Pending, err)
		}
		_ = k.Sleep(t.Context(), time.Hour)
		if _, c = mustDeliver(t, line(led, w, k, "b"), failing(1)); len(c.Pending) != 0 || len(w.starts) != 1 {
			t.Errorf("the next run left %v; started %v", c.Pending, w.starts)
		}
	})
	t.Run("S4-24 the limit is 50 without configuration", func(t *testing.T) {
		if routing.DefaultMaxActions != 50 {
			t.Errorf("it is %d", routing.DefaultMaxActions)
		}
	})
}

// scripted answers an effect's tries in turn.
type scripted struct {
	*world
	fail map[routing.EffectKind][]error
}

func (s *scripted) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if list := s.fail[e.Kind]; len(list) > 0 {
		s.fail[e.Kind] = list[1:]
		if list[0] != nil {
			s.calls = append(s.calls, string(e.Kind)+" failed")
			if fresh && slices.Contains(s.calls[:len(s.calls)-1], string(e.Kind)+" failed") {
				s.wrong = append(s.wrong, "a second try is said to be fresh")
			}
			return "", list[0]
		}
	}
	return s.world.Do(ctx, c, e, fresh)
}

func TestErrorsOfEffects(t *testing.T) {
	t.Parallel()
	later, gone, stop := errors.New("later"), errors.New("gone"), errors.New("stop")
	outcome := func(err error) advice.Advice {
		switch {
		case errors.Is(err, gone):
			return advice.Advice{Kind: advice.Gone}
		case errors.Is(err, stop):
			return advice.Advice{Kind: advice.Fail}
		}
		return advice.Advice{Kind: advice.Later, After: 7 * time.Second}
	}
	for _, c := range []struct {
		name    string
		kind    routing.EffectKind
		errs    []error
		calls   string
		pending string
		waited  time.Duration
	}{
		{"later, then well", routing.EffectCheck, []error{later, later}, "comment 1,check failed,check failed,check 1,handoff 1", "", 14 * time.Second},
		{"later for good", routing.EffectCheck, []error{later, later, later, later, later}, "comment 1,check failed,check failed,check failed,check failed,handoff 1", "check", 21 * time.Second},
		{"gone is done", routing.EffectCheck, []error{gone}, "comment 1,check failed,handoff 1", "", 0},
		{"stop keeps it and goes on with the others", routing.EffectCheck, []error{stop}, "comment 1,check failed,handoff 1", "check", 0},
		{"without feedback nobody is started", routing.EffectComment, []error{stop}, "comment failed,check 1", "comment handoff", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{newWorld(), map[routing.EffectKind][]error{c.kind: c.errs}}
			led, k := &ledger.Memory{}, newClock()
			start := k.Now()
			l := line(led, s, k, "a")
			l.Advise = outcome
			_, _, err := deliver(t.Context(), l, failing(1))
			if (err != nil) != (c.pending != "") {
				t.Errorf("err %v", err)
			}
			if got := strings.Join(s.calls, ","); got != c.calls {
				t.Errorf("calls %s, want %s", got, c.calls)
			}
			_, stored := load(t, led)
			var pending []string
			for _, e := range stored.Pending {
				pending = append(pending, string(e.Kind))
			}
			if got := strings.Join(pending, " "); got != c.pending {
				t.Errorf("pending %q, want %q", got, c.pending)
			}
			if got := k.Now().Sub(start); got != c.waited {
				t.Errorf("waited %s, want %s", got, c.waited)
			}
			_ = k.Sleep(t.Context(), time.Hour)
			next := line(led, s, k, "b")
			s.fail = nil
			if _, after := mustDeliver(t, next, failing(1)); len(after.Pending) != 0 {
				t.Errorf("the next run left %v", after.Pending)
			}
			for _, wrong := range s.wrong {
				t.Error(wrong)
			}
		})
	}
}

func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &scripted{newWorld(), map[routing.EffectKind][]error{routing.EffectCheck: {errors.New("later")}}}
	led, k := &ledger.Memory{}, newClock()
	l := line(led, s, k, "a")
	l.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.Later, After: time.Second} }
	l.Sleep = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if _, _, err := deliver(ctx, l, failing(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("err %v", err)
	}
	_ = k.Sleep(t.Context(), time.Hour)
	if _, c := mustDeliver(t, line(led, s, k, "b"), failing(1)); len(c.Pending) != 0 {
		t.Errorf("left: %v", c.Pending)
	}
}

// waiting is an effector that stops in the middle of an effect until it may go on.
type waiting struct {
	*world
	begun, go_ chan struct{}
	once       bool
}

func (w *waiting) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	if !w.once {
		w.once = true
		close(w.begun)
		<-w.go_
	}
	return w.world.Do(ctx, c, e, fresh)
}

// While one process holds the lease another carries out nothing; it waits
// until the work is done, and what it asked for meanwhile is carried out too.
func TestClaim(t *testing.T) {
	t.Parallel()
	led, k := &ledger.Memory{}, newClock()
	w := newWorld()
	a := &waiting{world: w, begun: make(chan struct{}), go_: make(chan struct{})}
	done := make(chan error, 1)
	go func() {
		_, _, err := deliver(t.Context(), line(led, a, k, "a"), failing(1))
		done <- err
	}()
	<-a.begun
	b := line(led, w, k, "b")
	slept := 0
	b.Sleep = func(ctx context.Context, d time.Duration) error {
		if slept++; slept == 3 {
			close(a.go_)
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if slept < 3 && len(w.calls) != 0 {
			t.Error("something was carried out while the lease was another's")
		}
		return nil
	}
	rec, c, err := deliver(t.Context(), b, failing(2))
	if err != nil || rec.Decision.Iteration != 2 || len(c.Pending) != 0 {
		t.Fatalf("err %v, %+v, pending %v", err, rec.Decision, c.Pending)
	}
	if slept != 3 {
		t.Errorf("waited %d times", slept)
	}
	// a ended its round, then saw what b had asked for and did that.
	if got := strings.Join(w.calls, ","); got != "comment 1,check 1,handoff 1,comment 2,check 2,handoff 2" {
		t.Error(got)
	}
	if !strings.Contains(w.posts["ci/comment"], "2/3 turns 2") {
		t.Errorf("the comment shows %q", w.posts["ci/comment"])
	}
}

func TestTakeOverAfterExpiry(t *testing.T) {
	t.Parallel()
	led, k, w := &ledger.Memory{}, newClock(), newWorld()
	if _, err := line(led, w, k, "dead").Record(t.Context(), key, failing(1), defaults); err != nil {
		t.Fatal(err)
	}
	before := k.Now()
	_, c := mustDeliver(t, line(led, w, k, "b"), failing(1))
	if len(c.Pending) != 0 || strings.Join(w.calls, ",") != "comment 1,check 1,handoff 1" {
		t.Errorf("pending %v, calls %v", c.Pending, w.calls)
	}
	if waited := k.Now().Sub(before); waited < 2*time.Minute || waited > 3*time.Minute {
		t.Errorf("taken over after %s; the lease holds two minutes", waited)
	}
	events, _ := load(t, led)
	if lease, err := routing.PayloadOf[routing.LeaseTaken](events[1]); err != nil || lease.Lease.Owner != "b" {
		t.Errorf("the take-over is not recorded: %+v", events[1])
	}
}

// Effects that are deferred wait for nobody's lease: whoever applies them begins at once.
func TestDeferredEffectsAreNotLeased(t *testing.T) {
	t.Parallel()
	led, k, w := &ledger.Memory{}, newClock(), newWorld()
	recorded := line(led, w, k, "recorded")
	recorded.Deferred = true
	for n := 1; n <= 2; n++ {
		if rec, err := recorded.Record(t.Context(), key, failing(n), defaults); err != nil || rec.Case.Lease != nil || len(rec.Case.Pending) == 0 {
			t.Fatalf("%v, lease %+v, pending %v", err, rec.Case.Lease, rec.Case.Pending)
		}
	}
	_, recordedCase := load(t, led)
	before := k.Now()
	c, err := line(led, w, k, "applies").Apply(t.Context(), Recorded{Case: recordedCase})
	if err != nil || len(c.Pending) != 0 || len(w.calls) == 0 {
		t.Errorf("%v, pending %v, calls %v", err, c.Pending, w.calls)
	}
	if waited := k.Now().Sub(before); waited > 0 {
		t.Errorf("waited %v for a lease that nobody needs", waited)
	}
}

// A process whose lease runs out while it works prolongs it before it begins
// another effect.
func TestClaimIsProlonged(t *testing.T) {
	t.Parallel()
	led, k := &ledger.Memory{}, newClock()
	w := newWorld()
	slow := effector(func(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
		if c.Lease == nil || c.Lease.Owner != "a" || !k.Now().Before(c.Lease.Until) {
			t.Errorf("%s is begun without a lease: %+v at %s", e.Key, c.Lease, k.Now())
		}
		_ = k.Sleep(ctx, 100*time.Second)
		return w.Do(ctx, c, e, fresh)
	})
	mustDeliver(t, line(led, slow, k, "a"), failing(1))
	if strings.Join(w.calls, ",") != "comment 1,check 1,handoff 1" {
		t.Error(w.calls)
	}
}

// While an effect takes long its lease is renewed, so that nobody else begins it; once
// it is over nothing is renewed any more.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		led, w := &ledger.Memory{}, newWorld()
		slow := effector(func(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
			if e.Kind == routing.EffectComment {
				time.Sleep(2 * time.Minute)
				if _, now := load(t, led); !now.Lease.HeldBy("a", time.Now()) {
					t.Errorf("the lease is %+v", now.Lease)
				}
			}
			return w.Do(ctx, c, e, fresh)
		})
		mustDeliver(t, &Pipeline{Ledger: led, Effector: slow, Owner: "a", LeaseTTL: time.Minute}, failing(1))
		if strings.Join(w.calls, ",") != "comment 1,check 1,handoff 1" {
			t.Error(w.calls)
		}
		events, c := load(t, led)
		if c.Lease != nil || events[len(events)-1].Type != routing.EventEffect {
			t.Errorf("at its end: %+v", events[len(events)-1])
		}
	})
}

// unwritable is a ledger that cannot be written for a while.
type unwritable struct {
	ledger.Ledger
	until time.Time
}

func (u unwritable) Append(ctx context.Context, key string, seen ledger.Version, events []routing.Event) (ledger.Version, error) {
	if time.Now().Before(u.until) {
		return "", errors.New("read-only file system")
	}
	return u.Ledger.Append(ctx, key, seen, events)
}

// An effect whose lease cannot be renewed is cut off before another process may begin it, and then
// looked for, because it may be done.
func TestLeaseEndsBeforeTheEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		led, w, began := &unwritable{Ledger: &ledger.Memory{}}, newWorld(), time.Now()
		tries := 0
		slow := effector(func(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
			if e.Kind != routing.EffectComment {
				return w.Do(ctx, c, e, fresh)
			}
			if tries++; tries == 1 {
				led.until = began.Add(59 * time.Second)
				<-ctx.Done()
				if took := time.Since(began); took >= time.Minute {
					t.Errorf("another process could begin before it was cut off after %v", took)
				}
				time.Sleep(10 * time.Second)
				return "", ctx.Err()
			}
			if fresh {
				t.Error("what was cut off is not looked for")
			}
			return w.Do(ctx, c, e, fresh)
		})
		mustDeliver(t, &Pipeline{Ledger: led, Effector: slow, Owner: "a", LeaseTTL: time.Minute, Advise: advice.Of}, failing(1))
		if got := strings.Join(w.calls, ","); got != "comment 1,check 1,handoff 1" || tries != 2 {
			t.Errorf("%s after %d tries", got, tries)
		}
	})
}

type effector func(context.Context, routing.Case, routing.Effect, bool) (string, error)

func (f effector) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	return f(ctx, c, e, fresh)
}

// What is asked for again while it is being done is done again afterwards.
func TestAskedForAgainInFlight(t *testing.T) {
	t.Parallel()
	led, k, w := &ledger.Memory{}, newClock(), newWorld()
	asked := false
	eff := effector(func(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
		ref, err := w.Do(ctx, c, e, fresh)
		if e.Kind == routing.EffectComment && !asked {
			asked = true
			v := failing(1)
			v.Run.Part, v.Failures[0].Name = "windows", "another"
			if _, err := line(led, w, k, "b").Record(ctx, key, v, defaults); err != nil {
				t.Error(err)
			}
		}
		return ref, err
	})
	v := failing(1)
	v.Run.Part = "linux"
	_, c := mustDeliver(t, line(led, eff, k, "a"), v)
	if got := strings.Join(w.calls, ","); len(c.Pending) != 0 || got != "comment 1,check 1,handoff 1,comment 1,check 1" {
		t.Errorf("pending %v, calls %s", c.Pending, got)
	}
	for _, s := range w.wrong {
		t.Error(s)
	}
}

// A rework that waited is not started any more once the commit behind it passed.
func TestSupersededHandoff(t *testing.T) {
	t.Parallel()
	led, k, w := &ledger.Memory{}, newClock(), newWorld()
	if _, err := line(led, w, k, "dead").Record(t.Context(), key, failing(1), defaults); err != nil {
		t.Fatal(err)
	}
	_ = k.Sleep(t.Context(), time.Hour)
	_, c := mustDeliver(t, line(led, w, k, "b"), passing(2))
	if len(c.Pending) != 0 || len(w.starts) != 0 {
		t.Errorf("pending %v, started %v", c.Pending, w.starts)
	}
	events, _ := load(t, led)
	if !slices.ContainsFunc(events, func(e routing.Event) bool {
		done, ok := e.Effect()
		return ok && done.Note == "superseded" && done.Effect.Kind == routing.EffectHandoff
	}) {
		t.Error("the ledger does not say that the hand-off was superseded")
	}
}

func TestWithoutEffectorNothingIsCarried(t *testing.T) {
	t.Parallel()
	led := &ledger.Memory{}
	l := &Pipeline{Ledger: led}
	_, c, err := deliver(t.Context(), l, failing(1))
	if err != nil || len(c.Pending) != 3 || c.Lease != nil {
		t.Errorf("%v %v %v", err, c.Pending, c.Lease)
	}
}

// An effect whose time has not come fails nothing, stays, and holds up neither
// the others nor whoever comes next.
func TestEffectThatWaits(t *testing.T) {
	t.Parallel()
	w, led, k := newWorld(), &ledger.Memory{}, newClock()
	early := true
	eff := effectorFunc(func(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
		if e.Kind == routing.EffectIssue && early {
			return "", errStorage
		}
		return w.Do(ctx, c, e, fresh)
	})
	run := func(owner string) *Pipeline {
		l := line(led, eff, k, owner)
		l.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.NotYet} }
		return l
	}
	_, c := mustDeliver(t, run("a"), verdict(1, routing.Fail, routing.EnvIssue))
	if got := strings.Join(w.calls, ","); got != "comment 0,check 0,label 0" || len(c.Pending) != 1 || c.Pending[0].Kind != routing.EffectIssue {
		t.Fatalf("%s, pending %v", got, c.Pending)
	}
	if c.Lease != nil && k.Now().Before(c.Lease.Until) {
		t.Errorf("the lease is kept: %+v", c.Lease)
	}
	early = false
	before := k.Now()
	if c, err := run("b").Apply(t.Context(), Recorded{Case: c}); err != nil || len(c.Pending) != 0 || !k.Now().Equal(before) {
		t.Errorf("%v, pending %v, waited %v", err, c.Pending, k.Now().Sub(before))
	}
}

// effectorFunc is a function as an Effector.
type effectorFunc func(context.Context, routing.Case, routing.Effect, bool) (string, error)

func (f effectorFunc) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	return f(ctx, c, e, fresh)
}
