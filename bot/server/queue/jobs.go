package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/semaphore"

	"github.com/switchback-ci/switchback/bot/database"
)

// Jobs runs the jobs of a Store: one for each delivery, and those of Enqueue.
type Jobs struct {
	db         *database.DB
	queue      queue
	deliveries *Deliveries
	changes    *changes

	mu         sync.Mutex
	client     client // that works, nil if none does
	maintained func() // ends the maintenance that Start began
	endIntake  func() // begins no delivery any more that waits for its turn
}

// Start processes deliveries in the background until Stop or Close, also after ctx ends. Work that
// a killed process had begun begins again.
func (j *Jobs) Start(ctx context.Context, w Work) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client != nil {
		return errors.New("the jobs are already started")
	}
	w = w.withDefaults()
	accepting, stop := context.WithCancel(context.WithoutCancel(ctx))
	deliveries := &worker{db: j.db, changes: j.changes, how: w, slots: semaphore.NewWeighted(int64(w.AtOnce)), accepting: accepting}
	if err := river.AddWorkerSafely(w.Workers, deliveries); err != nil {
		stop()
		return err
	}
	queues := map[string]river.QueueConfig{deliveryQueue: {MaxWorkers: inHand * w.AtOnce}, river.QueueDefault: {MaxWorkers: max(1, w.AtOnce/inHand)}}
	for name, n := range w.Aside {
		queues[name] = river.QueueConfig{MaxWorkers: n}
	}
	id := "switchback-" + rand.Text()
	if err := j.queue.present(ctx, id); err != nil {
		stop()
		return fmt.Errorf("the queue: %w", err)
	}
	if err := j.maintain(ctx, w); err != nil {
		stop()
		j.queue.leave()
		return err
	}
	c, err := j.queue.work(context.WithoutCancel(ctx), &river.Config{
		ID: id, Logger: w.Log, RetryPolicy: w, Workers: w.Workers, PeriodicJobs: w.Periodic,
		Middleware: []rivertype.Middleware{river.WorkerMiddlewareFunc(storable)},
		Queues:     queues,
		JobTimeout: w.Timeout, RescueStuckJobsAfter: 2*w.Timeout + time.Minute,
		FetchCooldown: 25 * time.Millisecond, FetchPollInterval: 250 * time.Millisecond,
		CompletedJobRetentionPeriod: time.Hour, // the table of deliveries keeps the state
	})
	if err != nil {
		stop()
		j.queue.leave()
		return fmt.Errorf("the queue: %w", err)
	}
	stopped := make(chan struct{})
	var maintenance sync.WaitGroup
	maintenance.Go(func() { j.maintainUntil(w, stopped) })
	j.client, j.endIntake, j.maintained = c, stop, func() {
		close(stopped)
		maintenance.Wait()
		j.queue.leave()
	}
	return nil
}

// Stop begins no more work and waits for the work in progress. When ctx ends first, that work is
// cancelled, its state is recorded, and it begins again later.
func (j *Jobs) Stop(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client == nil {
		return nil
	}
	j.endIntake()
	err := j.client.Stop(ctx)
	if ctx.Err() != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err = j.client.StopAndCancel(last)
	}
	j.maintained()
	j.client = nil
	return err
}

// maintainUntil calls maintain every maintenanceInterval until stopped is closed.
func (j *Jobs) maintainUntil(w Work, stopped <-chan struct{}) {
	t := time.NewTicker(maintenanceInterval)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-stopped:
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), maintenanceInterval)
		if err := j.maintain(ctx, w); err != nil {
			w.Log.Error("queue maintenance failed", "error", err)
		}
		cancel()
	}
}

// maintain returns the jobs of killed processes to the queue, marks deliveries whose job River
// discarded as dead letters, and prunes.
func (j *Jobs) maintain(ctx context.Context, w Work) error {
	if err := j.queue.revive(ctx); err != nil {
		return fmt.Errorf("the queue: %w", err)
	}
	now := time.Now()
	err := j.queue.tx(ctx, func(t tx) error {
		_, err := t.exec(ctx, `UPDATE delivery SET state = 'dead_letter', next_at = NULL, changed_at = $1,
			error = CASE WHEN error = '' THEN 'River discarded its job and recorded no error' ELSE error END
			WHERE state IN ('received', 'working', 'later', 'failed') AND id IN (
				SELECT args ->> 'delivery' FROM river_job WHERE kind = 'delivery' AND state IN ('discarded', 'cancelled'))
			AND NOT EXISTS (SELECT 1 FROM river_job WHERE kind = 'delivery' AND args ->> 'delivery' = delivery.id
				AND state NOT IN ('discarded', 'cancelled', 'completed'))`, millis(now))
		return err
	})
	if err != nil {
		return fmt.Errorf("deliveries: %w", err)
	}
	return j.deliveries.Prune(ctx, now.Add(-w.KeepPayloads), now.Add(-w.KeepRows))
}

// Enqueue inserts jobs, all or none, each with its own options.
func (j *Jobs) Enqueue(ctx context.Context, jobs ...river.JobArgs) error {
	if len(jobs) == 0 {
		return nil
	}
	many := make([]river.InsertManyParams, len(jobs))
	for i, args := range jobs {
		many[i].Args = args
	}
	if err := j.queue.enqueue(ctx, many); err != nil {
		return fmt.Errorf("the queue: %w", err)
	}
	return nil
}
