package server

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/server/queue"
)

// reconcileAll makes a job for each repository. The queue inserts one per period, whatever the number
// of processes.
type reconcileAll struct{}

// Kind implements river.JobArgs.
func (reconcileAll) Kind() string { return "reconcile" }

// reconcileOne reconciles one repository.
type reconcileOne struct {
	Repository int64 `json:"repository"`
}

// Kind implements river.JobArgs.
func (reconcileOne) Kind() string { return "reconcile_repository" }

// InsertOpts implements river.JobArgsWithInsertOpts: there is at most one that is not done, and what
// it does not do is left to the next period.
func (reconcileOne) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: 1, Priority: 3, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: notDone}}
}

// notDone are the states of a job that is not done.
var notDone = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning,
	rivertype.JobStateRetryable, rivertype.JobStateScheduled}

// timers are the periodic jobs. The process that River elects as leader inserts them.
func timers(s Settings) []*river.PeriodicJob {
	all := []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(s.Reconcile), func() (river.JobArgs, *river.InsertOpts) {
		return reconcileAll{}, &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: s.Reconcile}}
	}, nil)}
	if s.Recover > 0 {
		all = append(all, river.NewPeriodicJob(river.PeriodicInterval(s.Recover), func() (river.JobArgs, *river.InsertOpts) {
			return recoverAll{}, nil
		}, &river.PeriodicJobOpts{RunOnStart: true}))
	}
	return all
}

// reconcilers are the workers of the periodic jobs.
func (w *worker) reconcilers() *river.Workers {
	all := river.NewWorkers()
	river.AddWorker(all, river.WorkFunc(func(ctx context.Context, _ *river.Job[reconcileAll]) error {
		live, err := w.store.Repositories.List(ctx)
		if err != nil {
			return err
		}
		jobs := make([]river.JobArgs, len(live))
		for i, r := range live {
			jobs[i] = reconcileOne{r.ID}
		}
		return w.store.Jobs.Enqueue(ctx, jobs...)
	}))
	river.AddWorker(all, river.WorkFunc(func(ctx context.Context, job *river.Job[reconcileOne]) error {
		return w.reconcile(ctx, job.Args.Repository)
	}))
	river.AddWorker(all, river.WorkFunc(w.recover))
	river.AddWorker(all, river.WorkFunc(w.notified.send))
	return all
}

// reconcile finishes interrupted work in one repository, and looks for what no event said.
func (w *worker) reconcile(ctx context.Context, repository int64) error {
	r, known, err := w.store.Repositories.Get(ctx, repository)
	if err != nil || !known || r.Gone {
		return err
	}
	log := w.log.With("repository", r.Name, "work", "reconcile")
	o, err := w.contexts.context(ctx, r, time.Now())
	if err == nil && o.acts {
		var d handler.Deps
		if d, err = o.deps(delivery{Delivery: queue.Delivery{ID: "reconcile"}, event: &handler.Event{}}, &waiter{now: time.Now}, log); err == nil {
			err = handler.Reconcile(ctx, d)
		}
	}
	if err == nil {
		err = w.live.look(ctx, repository)
	}
	if w.contexts.removed(ctx, r, err) {
		log.Info("the App was removed from the repository, and no event said so", "err", err)
		return nil
	}
	if err != nil {
		kind := advise(err).Name()
		w.metrics.errors.WithLabelValues(kind).Inc()
		log.Warn("not done; the next reconcile tries again", "err", err, "kind", kind)
	}
	return nil
}
