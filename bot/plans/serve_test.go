package plans

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

const wide = "- {id: a, test: {workflow: w.yml}}\n- {id: b, test: {workflow: w.yml}}\n- {id: c, test: {workflow: w.yml}}\n- {id: d, depends_on: [a], test: {workflow: w.yml}}\n"

// Many processes assign at once: together no more than may run, and each port once.
func TestAssignReadyTogether(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t, wide)
	runners := make([]*Runner, 8)
	for i := range runners {
		runners[i] = s.runner("", 1)
		runners[i].Settings.MaxConcurrency = 2
	}
	var all sync.WaitGroup
	handed := make([]int, len(runners))
	for i, d := range runners {
		all.Go(func() {
			if err := d.Served().Begin(ctx, "push-1", nil); err != nil {
				t.Error(err)
			}
			var err error
			if handed[i], err = d.Served().AssignReady(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range handed {
		sum += n
	}
	reg, out, err := runners[0].Served().Ports(ctx)
	if err != nil || sum != 2 || len(out) != 2 || len(reg.Begun) != 1 || !reg.Build.Served || reg.Build.Plan != s.plan.Digest() {
		t.Fatalf("%v: %d handed out, %+v, builds %v", err, sum, out, reg.Begun)
	}
}

func TestBeginServedOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := newSite(t, wide).runner("", 1)
	for _, id := range []string{"push-1", "push-1", "next-2", "push-1", "next-2"} {
		if err := d.Served().Begin(ctx, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Served().Begin(ctx, "push-3", func(r plan.BuildState) bool { return r.Build.ID == "next-2" }); err != nil {
		t.Fatal(err)
	}
	reg, err := d.Store().State(ctx)
	if err != nil || reg.Build.ID != "next-2" || len(reg.Begun) != 2 {
		t.Errorf("%v %+v", err, reg.Build)
	}
}

// What goes on from a build before is not begun again, and a port that is no longer in
// the plan takes nobody's place.
func TestServedAfterAnotherBuild(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t, wide)
	d := s.runner("", 1)
	d.Settings.MaxConcurrency = 1
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(d.Served().Begin(ctx, "push-1", nil))
	if n, err := d.Served().AssignReady(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	_, out, err := d.Served().Ports(ctx)
	must(err)
	loop, _ := plan.NewLoop("push-1", plan.Spec{ID: "a"}, d.Settings, s.now)
	record := func(events ...plan.Event) {
		t.Helper()
		_, err := ledger.Of(s.led, d.Store().portKey("a"), plan.JournalProjection).Update(ctx, func(plan.Journal) (add []routing.Event, _ error) {
			for _, e := range events {
				add = append(add, e.Record())
			}
			return add, nil
		})
		must(err)
	}
	record(plan.Event{Kind: plan.RunnerChanged, Runner: &plan.Runner{ID: "1", Run: out[0].Known.Run, Events: true}}, plan.Event{Kind: plan.PairChanged, Pair: &loop})
	if _, out, err = d.Served().Ports(ctx); err != nil || len(out) != 1 || !out[0].Known.Begun(out[0].Journal) || out[0].Ended() {
		t.Fatalf("%v %+v", err, out)
	}
	must(d.Served().Begin(ctx, "push-2", nil))
	if n, err := d.Served().AssignReady(ctx); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if _, out, err = d.Served().Ports(ctx); err != nil || len(out) != 1 || out[0].ID != "a" || out[0].Known.Begun(out[0].Journal) || out[0].Journal.Loop.Status != plan.Running {
		t.Fatalf("%v %+v", err, out)
	}
	without, err := plan.Compile([]plan.File{{Name: "ports.yml", Data: []byte(strings.Replace(wide[strings.Index(wide, "\n")+1:], "depends_on: [a], ", "", 1))}})
	must(err)
	d.Plan = without
	if n, err := d.Served().AssignReady(ctx); n != 1 || err != nil {
		t.Error(n, err)
	}
}

// What a process has begun on GitHub is left to it for the time of a lease.
func TestDispatchIsLeftToItsProcess(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newSite(t, wide)
	d := s.runner("", 1)
	d.LeaseTTL, d.Issues = time.Minute, nil
	s.world.lost = &github.Error{Kind: advice.Later, Message: "cut off"}
	var e *github.Error
	if _, err := d.Starter().Build(ctx, "push-1/x", "plan.yml", "main"); !errors.As(err, &e) || e.After != 0 {
		t.Fatal(err)
	}
	s.world.lost = nil
	if _, err := d.Starter().Build(ctx, "push-1/x", "plan.yml", "main"); !errors.As(err, &e) || e.Kind != advice.Later || e.After <= 0 || len(s.world.starts) != 1 {
		t.Fatalf("%v %q", err, s.world.starts)
	}
	s.now = s.now.Add(time.Minute)
	s.world.shown = []string{"push-1/x"}
	if file, err := d.Starter().Build(ctx, "push-1/x", "plan.yml", "main"); err != nil || file != "plan.yml" || len(s.world.starts) != 1 {
		t.Errorf("%v %q", err, s.world.starts)
	}
	if file, err := d.Starter().Build(ctx, "push-2/x", "", "main"); err != nil || file != "" {
		t.Errorf("%s %v", file, err)
	}
}
