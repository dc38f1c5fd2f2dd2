package plans

import (
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Walk runs a plan to its end on one machine: each port as soon as what it depends
// on has passed, as many at once as the settings allow, and feedback between them
// as soon as its target is free.
type Walk struct {
	Runner *Runner
	// Run runs the pair of a port. The error says that it could not be run.
	Run func(ctx context.Context, build string, spec plan.Spec, book requests.Store) error
	// Read returns the plan as it is written now, and the hashes of its ports.
	Read func() (plan.Plan, map[string]string, error)
	Tell func(plan.Board) // told how the plan stands after each change; may be nil
}

// ended is a port whose pair has ended, or could not be run.
type ended struct {
	id  string
	err error
}

// Go begins a build, goes on with what an earlier one left, and returns how the
// plan stands once nothing is left that may run. When ctx ends the ports that run
// are ended, and nothing else begins. An error leaves nothing running.
func (w *Walk) Go(ctx context.Context) (plan.Board, error) {
	d := w.Runner
	most := d.Settings.Concurrency()
	recorded := context.WithoutCancel(ctx) // what happened is to be known
	d.Most = most
	r, err := d.Begin(recorded, "")
	if err != nil {
		return plan.Board{}, err
	}
	running := 0
	done := make(chan ended)
	for {
		if err == nil {
			w.tell(r.Board)
			build := r.Build // r moves on while they run
			for _, e := range r.Matrix.Matrix.Include {
				spec, _ := d.Plan.Port(e.ID) // of the plan that the round was made of
				book := requests.Store{Ledger: d.Ledger, Repo: d.Repo.String(), Build: r.Feedback, Plan: d.Plan, Now: d.Now}
				running++
				go func() { done <- ended{spec.ID, w.Run(ctx, build, spec, book)} }()
			}
		}
		if running == 0 {
			return r.Board, err
		}
		end := <-done
		running--
		var took Round
		if took, err = w.next(recorded, end, most-running, err == nil && ctx.Err() == nil, err); err == nil {
			r = took
		}
	}
}

func (w *Walk) tell(b plan.Board) {
	if w.Tell != nil {
		w.Tell(b)
	}
}

// next takes in a port that ended, and hands out what is ready, at most so many.
// An error before stays.
func (w *Walk) next(ctx context.Context, end ended, free int, further bool, before error) (Round, error) {
	reg, err := w.Runner.take(ctx, end)
	if before != nil {
		return Round{}, before
	}
	if err != nil {
		return Round{}, err
	}
	if p, hashes, err := w.Read(); err != nil {
		return Round{}, fmt.Errorf("the plan was changed, and is wrong: %w", err)
	} else {
		w.Runner.Plan, w.Runner.Hashes = p, hashes
	}
	w.Runner.Most = free
	if !further {
		return w.Runner.stands(ctx, reg)
	}
	return w.Runner.hand(ctx, reg, reg.Build.Rounds+1)
}

// take takes in what came of one port.
func (d *Runner) take(ctx context.Context, end ended) (plan.BuildState, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return reg, err
	}
	var heard map[string]plan.Known
	if end.err != nil {
		k := reg.Ports[end.id]
		k.Standing, k.Reason, k.Passed = plan.IsFailed, end.err.Error(), false
		heard = map[string]plan.Known{end.id: k}
	} else if heard, err = d.hear(ctx, reg, func(id string, k plan.Known) bool { return id == end.id && k.Standing == plan.IsRunning }); err != nil {
		return reg, err
	}
	return d.end(ctx, heard)
}

// stands returns how the plan stands, and hands out nothing.
func (d *Runner) stands(ctx context.Context, reg plan.BuildState) (r Round, err error) {
	if reg.Requests, err = d.open(ctx, reg); err != nil {
		return Round{}, err
	}
	r = Round{Build: reg.Build.ID, Feedback: reg.Build.Feedback, Board: d.Plan.Board(d.Settings, reg, d.Hashes)}
	return r, nil
}

// Stands returns how the plan stands in its newest build.
func (d *Runner) Stands(ctx context.Context) (plan.Board, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return plan.Board{}, err
	}
	r, err := d.stands(ctx, reg)
	return r.Board, err
}

// LocalBuild names a build that no run of GitHub Actions begins.
func LocalBuild(now time.Time, process int) string {
	return fmt.Sprintf("local-%s-%d", now.UTC().Format("20060102-150405"), process)
}
