package plans

import (
	"context"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// ServedBuild is a build that a server drives: it has no rounds for which a run waits. Many
// processes may drive it at once: each of their steps is one append, and whoever comes second finds
// it done.
type ServedBuild struct {
	store    Store
	results  Results
	requests feedbackRequests
	schedule schedule
	next     plan.Build // what is known of a build that it begins
	now      func() time.Time
}

// Begin begins a build that a server drives, under a name that no build had
// before, unless refuse says that it is not wanted; it is asked with the newest state
// of the plan. The results of the build before are recorded first; ports that
// are in progress continue.
func (b ServedBuild) Begin(ctx context.Context, id string, refuse func(plan.BuildState) bool) error {
	if err := b.RecordResults(ctx); err != nil {
		return err
	}
	reg, err := b.store.State(ctx)
	if err != nil {
		return err
	}
	feedback, err := b.requests.nameFor(ctx, reg, id)
	if err != nil {
		return err
	}
	_, err = b.store.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if r.Begun[id] || refuse != nil && refuse(r) {
			return nil, nil
		}
		next := b.next
		next.ID, next.At, next.Feedback, next.Start, next.Plan, next.Served = id, b.now(), feedback, r.Build.Start, b.schedule.plan.Digest(), true
		return []routing.Event{r.Begin(next)}, nil
	})
	return err
}

// ServedPort is a port of a build that a server drives, as it was assigned, with its journal.
type ServedPort struct {
	ID      string
	Known   plan.Known
	Journal plan.Journal
}

// Ended reports whether the loop that the port was assigned to has ended.
func (s ServedPort) Ended() bool {
	return s.Known.Begun(s.Journal) && s.Journal.Loop.Status != plan.Running
}

// Ports returns the ports that are assigned and have no result yet, in the
// order of the plan; none if no server drives the newest build.
func (b ServedBuild) Ports(ctx context.Context) (plan.BuildState, []ServedPort, error) {
	reg, err := b.store.State(ctx)
	if err != nil || !reg.Build.Served {
		return reg, nil, err
	}
	var out []ServedPort
	for _, id := range b.schedule.plan.Order() {
		k := reg.Ports[id]
		if k.Standing != plan.IsRunning || k.Build != reg.Build.ID {
			continue
		}
		j, err := b.store.Journal(ctx, id)
		if err != nil {
			return reg, nil, err
		}
		out = append(out, ServedPort{id, k, j})
	}
	return reg, out, nil
}

// RecordResults records the results of the ports that have ended, and in which attempt the others
// are.
func (b ServedBuild) RecordResults(ctx context.Context) error {
	_, all, err := b.Ports(ctx)
	if err != nil {
		return err
	}
	var ended []string
	turns := map[string]ServedPort{}
	for _, s := range all {
		switch {
		case s.Ended():
			ended = append(ended, s.ID)
		case s.Known.Begun(s.Journal) && s.Journal.Loop.Attempt > s.Known.Attempts:
			turns[s.ID] = s
		}
	}
	if len(ended) > 0 {
		if _, err := b.results.Collect(ctx, ended); err != nil {
			return err
		}
	}
	if len(turns) == 0 {
		return nil
	}
	_, err = b.store.change(ctx, func(r plan.BuildState) (add []routing.Event, _ error) {
		for id, s := range turns {
			add = append(add, r.Turned(id, s.Known.Run, s.Journal.Loop.Attempt, b.now())...)
		}
		return add, nil
	})
	return err
}

// AssignReady assigns the ports that are ready in a build that a server drives, no more than may
// run at once, and returns how many these are.
func (b ServedBuild) AssignReady(ctx context.Context) (int, error) {
	reg, err := b.store.State(ctx)
	if err != nil || !reg.Build.Served {
		return 0, err
	}
	build := reg.Build.ID
	open, err := b.requests.deliver(ctx, reg)
	if err != nil {
		return 0, err
	}
	assigned := 0
	_, err = b.store.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if assigned = 0; r.Build.ID != build {
			return nil, nil // the process that began it assigns
		}
		r.Requests = open
		free := b.schedule.settings.Concurrency()
		for id, k := range r.Ports {
			if k.Standing == plan.IsRunning && k.Build == build && b.schedule.plan.Has(id) {
				free--
			}
		}
		level := r.Build.Rounds + 1
		add := r.Read(b.schedule.plan.Links(), b.now())
		if ready := b.schedule.plan.Round(b.schedule.settings, r, b.schedule.hashes, level, max(0, free)).Matrix.Include; len(ready) > 0 {
			assigned = len(ready)
			add = append(add, r.Hand(ready, level, build, "", b.now()))
		}
		return add, nil
	})
	return assigned, err
}
