package plans

import (
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Scheduler runs a plan to its end on one machine: each port as soon as what it depends
// on has passed, as many at once as the settings allow, and feedback between them
// as soon as its target is free.
type Scheduler struct {
	Runner *Runner
	// RunPort runs a port. The error says that it could not be run.
	RunPort func(ctx context.Context, build string, spec plan.Spec, book requests.Store) error
	// Reload returns the plan as it is written now, and the hashes of its ports.
	Reload   func() (plan.Plan, map[string]string, error)
	OnChange func(plan.Board) // receives the status of the plan after each change; may be nil
}

// ended is a port whose pair has ended, or could not be run.
type ended struct {
	id  string
	err error
}

// Run begins a build, continues what an earlier one left, and returns the status
// of the plan once nothing is left that may run. When ctx ends the ports that run
// are ended, and nothing else begins. An error leaves nothing running.
func (w *Scheduler) Run(ctx context.Context) (plan.Board, error) {
	d := w.Runner
	most := d.Settings.Concurrency()
	recorded := context.WithoutCancel(ctx) // what happened is to be known
	d.Shard = most
	r, err := d.Begin(recorded, "")
	if err != nil {
		return plan.Board{}, err
	}
	running := 0
	done := make(chan ended)
	for {
		if err == nil {
			w.changed(r.Board)
			build := r.Build // r moves on while they run
			for _, e := range r.Matrix.Matrix.Include {
				spec, _ := d.Plan.Port(e.ID) // of the plan that the round was made of
				book := requests.Store{Ledger: d.Ledger, Repo: d.Repo.String(), Build: r.Feedback, Plan: d.Plan, Now: d.Now}
				running++
				go func() { done <- ended{spec.ID, w.RunPort(ctx, build, spec, book)} }()
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

func (w *Scheduler) changed(b plan.Board) {
	if w.OnChange != nil {
		w.OnChange(b)
	}
}

// next records the result of a port, and assigns those that are ready, at most so many.
// An error before stays.
func (w *Scheduler) next(ctx context.Context, end ended, free int, further bool, before error) (Round, error) {
	reg, err := w.Runner.Results().take(ctx, end)
	if before != nil {
		return Round{}, before
	}
	if err != nil {
		return Round{}, err
	}
	if p, hashes, err := w.Reload(); err != nil {
		return Round{}, fmt.Errorf("the plan was changed, and is wrong: %w", err)
	} else {
		w.Runner.Plan, w.Runner.Hashes = p, hashes
	}
	w.Runner.Shard = free
	if !further {
		return w.Runner.status(ctx, reg)
	}
	return w.Runner.assign(ctx, reg, reg.Build.Rounds+1)
}

// LocalBuild names a build that no run of GitHub Actions begins.
func LocalBuild(now time.Time, process int) string {
	return fmt.Sprintf("local-%s-%d", now.UTC().Format("20060102-150405"), process)
}
