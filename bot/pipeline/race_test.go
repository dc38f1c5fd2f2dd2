package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// theatre runs processes one step at a time in an order that chance decides:
// before every append, load and effect, and while it sleeps, a process waits
// for its turn. A process may be killed whenever its turn comes.
type theatre struct {
	t     *testing.T
	rnd   *rand.Rand
	clock *clock
	back  chan event
	procs []*process
	kills int
}

type event struct {
	p    *process
	over bool
}

type process struct {
	name  string
	turn  chan bool // false: die
	until time.Time // sleeps until then
	over  bool
	doing string // the effect it is in the middle of
}

// step hands the turn back and waits for the next.
func (th *theatre) step(p *process) {
	th.back <- event{p: p}
	if !<-p.turn {
		panic(crash{})
	}
}

func (th *theatre) start(p *process, life func()) {
	p.turn = make(chan bool)
	th.procs = append(th.procs, p)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				if _, ok := r.(crash); !ok {
					th.t.Errorf("%s: %v", p.name, r)
				}
			}
			th.back <- event{p, true}
		}()
		if !<-p.turn {
			return
		}
		life()
	}()
}

// play gives turns until every process is over.
func (th *theatre) play() {
	for steps := 0; ; steps++ {
		var ready []*process
		var soonest time.Time
		alive := 0
		for _, p := range th.procs {
			if p.over {
				continue
			}
			alive++
			if !th.clock.Now().Before(p.until) {
				ready = append(ready, p)
			} else if soonest.IsZero() || p.until.Before(soonest) {
				soonest = p.until
			}
		}
		if alive == 0 {
			return
		}
		if steps > 20_000 {
			th.t.Fatal("no end is reached")
		}
		if len(ready) == 0 {
			_ = th.clock.Sleep(context.Background(), soonest.Sub(th.clock.Now()))
			continue
		}
		if th.rnd.IntN(4) == 0 {
			_ = th.clock.Sleep(context.Background(), time.Second)
		}
		p := ready[th.rnd.IntN(len(ready))]
		live := th.kills == 0 || th.rnd.IntN(25) > 0
		if !live {
			th.kills--
		}
		p.turn <- live
		if e := <-th.back; e.over {
			e.p.over = true
			e.p.doing = ""
		}
	}
}

// actor is one process's view of the ledger and the world.
type actor struct {
	ledger.Ledger
	*world
	th *theatre
	p  *process
}

func (a *actor) Load(ctx context.Context, key string) ([]routing.Event, ledger.Version, error) {
	a.th.step(a.p)
	return a.Ledger.Load(ctx, key)
}

func (a *actor) Append(ctx context.Context, key string, seen ledger.Version, ev []routing.Event) (ledger.Version, error) {
	a.th.step(a.p)
	v, err := a.Ledger.Append(ctx, key, seen, ev)
	a.th.step(a.p)
	return v, err
}

func (a *actor) Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (string, error) {
	for _, other := range a.th.procs {
		if other != a.p && !other.over && other.doing == e.Slot {
			a.wrong = append(a.wrong, fmt.Sprintf("%s and %s carry out %s at once", a.p.name, other.name, e.Slot))
		}
	}
	a.p.doing = e.Slot
	a.th.step(a.p)
	ref, err := a.world.Do(ctx, c, e, fresh)
	a.th.step(a.p)
	a.p.doing = ""
	return ref, err
}

func (a *actor) sleep(_ context.Context, d time.Duration) error {
	a.p.until = a.th.clock.Now().Add(d)
	a.th.step(a.p)
	return nil
}

// Three processes at once over one case, with runs delivered in any order and
// more than once, killed here and there and started again: the limit holds, no
// run is counted twice, nobody is started twice for one turn, and in the end
// nothing is left to do and what is posted is the newest state.
func TestAnyInterleaving(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		interleave(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func interleave(t *testing.T, seed uint64) {
	th := &theatre{t: t, rnd: rand.New(rand.NewPCG(seed, 7)), clock: newClock(), back: make(chan event), kills: int(seed % 4)}
	w, led := newWorld(), &ledger.Memory{}
	var runs []routing.Verdict
	for i := 1; i <= 6; i++ {
		v := failing(i)
		if th.rnd.IntN(5) == 0 {
			v = passing(i)
		}
		if th.rnd.IntN(6) == 0 {
			v = verdict(i, routing.Fail, routing.EnvIssue)
		}
		runs = append(runs, v)
	}
	work := func(name string, vs []routing.Verdict) {
		p := &process{name: name}
		th.start(p, func() {
			a := &actor{Ledger: led, world: w, th: th, p: p}
			l := &Pipeline{Ledger: a, Effector: a, Owner: name, Now: th.clock.Now, Sleep: a.sleep}
			for _, v := range vs {
				if _, _, err := deliver(context.Background(), l, v); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for n := range 3 {
		vs := slices.Clone(runs)
		th.rnd.Shuffle(len(vs), func(i, j int) {
			if th.rnd.IntN(3) == 0 {
				vs[i], vs[j] = vs[j], vs[i]
			}
		})
		work(fmt.Sprint("worker ", n), vs[:4+th.rnd.IntN(3)])
	}
	th.play()
	// GitHub delivers again what a killed process left: the next of any run carries it.
	work("last", []routing.Verdict{runs[len(runs)-1]})
	th.kills = 0
	th.play()
	checkEnd(t, led, w)
}

func checkEnd(t *testing.T, led ledger.Ledger, w *world) {
	events, c := load(t, led)
	if len(c.Pending) != 0 || c.Lease != nil {
		t.Errorf("left: %v, lease %+v", c.Pending, c.Lease)
	}
	counted, reworks := map[string]int{}, 0
	for _, e := range events {
		run, ok := e.Run()
		if !ok {
			continue
		}
		counted[run.Verdict.Run.Key()]++
		if run.Decision.Kind == routing.KindRetry && !run.Decision.Again {
			reworks++
		}
		if run.Decision.Iteration > run.Decision.Max {
			t.Errorf("turn %d of %d", run.Decision.Iteration, run.Decision.Max)
		}
	}
	for run, n := range counted {
		if n != 1 {
			t.Errorf("run %s was recorded %d times", run, n)
		}
	}
	for k, n := range w.starts {
		if n != 1 {
			t.Errorf("%s started %d times", k, n)
		}
	}
	if len(w.starts) > reworks {
		t.Errorf("%d starts for %d reworks", len(w.starts), reworks)
	}
	cp := c.Checkpoints["ci"]
	want := fmt.Sprintf("comment %s %d/%d turns %d", cp.State, cp.Retries, cp.Limit, len(cp.Attempts))
	if got := w.posts["ci/comment"]; got != want {
		t.Errorf("the comment shows %q, the case is %q", got, want)
	}
	for _, s := range w.wrong {
		t.Error(s)
	}
}
