package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/action"
	"github.com/switchback-ci/switchback/bot/store"
)

// worker works on deliveries.
type worker struct {
	store   *store.Store
	offices *offices
	metrics *metrics
	log     *slog.Logger

	mu    sync.Mutex
	lanes map[string]bool // being worked in by this process
}

// most is how many runs of one case are taken together.
const most = 50

// busyError says that another delivery of a lane is being worked on.
type busyError struct{ lane string }

func (e *busyError) Error() string { return "another delivery of " + e.lane + " is being worked on" }

// handle works on one delivery. What its error means, verdict says.
func (w *worker) handle(ctx context.Context, s store.Delivery) error {
	d := opened(s)
	if !w.enter(d.Lane) {
		return &busyError{d.Lane}
	}
	defer w.leave(d.Lane)
	began := time.Now()
	log := w.log.With("delivery", d.ID, "event", d.Event, "action", d.Action, "repository", d.repository, "lane", d.Lane)
	note, err := w.carryOut(ctx, d, log)
	took := time.Since(began)
	if err == nil {
		w.metrics.worked(d.Event, "done", took)
		log.Info("done", "note", note, "took", took)
		return nil
	}
	v, after, kind := verdict(err)
	w.metrics.worked(d.Event, string(v), took)
	w.metrics.errors.WithLabelValues(kind).Inc()
	log.Warn("not done", "err", err, "kind", kind, "verdict", v, "after", after)
	return err
}

func (w *worker) carryOut(ctx context.Context, d delivery, log *slog.Logger) (note string, err error) {
	if d.Action == unreadable {
		return "", fmt.Errorf("%w: no JSON object of GitHub's", action.ErrMalformed)
	}
	if done, err := w.offices.administer(ctx, d); err != nil || done {
		return "", err
	}
	o, err := w.offices.open(ctx, d)
	if err != nil {
		return "", err
	}
	if !o.acts {
		return "the Action acts here", nil
	}
	batch := []delivery{d}
	if d.Event == "workflow_run" {
		if batch, err = w.together(ctx, d); err != nil {
			return "", err
		}
	}
	return "", w.deliver(ctx, o, d, batch, log)
}

// together returns d with the other runs of its lane that wait, oldest first.
func (w *worker) together(ctx context.Context, d delivery) ([]delivery, error) {
	waiting, err := w.store.Lane(ctx, d.Lane, d.Event, most)
	if err != nil {
		return nil, err
	}
	var batch []delivery
	for _, s := range waiting {
		x := opened(s)
		if x.ID != d.ID && x.repositoryID == d.repositoryID && x.Installation == d.Installation && x.Action != unreadable {
			batch = append(batch, x)
		}
	}
	at := slices.IndexFunc(batch, func(x delivery) bool { return x.ReceivedAt.After(d.ReceivedAt) })
	if at < 0 {
		at = len(batch)
	}
	return slices.Insert(batch, at, d), nil
}

// deliver hands a batch to the core. All but the last run are recorded only;
// what they left to be posted is posted once, in its newest state. Nothing is
// done before that: a process that ends in between begins again, and what is
// recorded is not recorded twice. What goes wrong with another than d is left to
// its own job.
func (w *worker) deliver(ctx context.Context, o *office, d delivery, batch []delivery, log *slog.Logger) error {
	var done, left []string
	var failed error
	for _, x := range batch {
		job := o.work(x, log)
		job.Hold = len(batch) > 1
		keys, err := action.Deliver(ctx, job, x.Event, x.Payload)
		for _, k := range keys {
			if !slices.Contains(left, k) {
				left = append(left, k)
			}
		}
		switch {
		case err == nil:
			done = append(done, x.ID)
		case x.ID == d.ID:
			failed = err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, key := range left {
		if err := action.Finish(ctx, o.work(d, log.With("case", key)), key); err != nil {
			return errors.Join(failed, err)
		}
	}
	if len(left) > 0 && len(done) > 1 {
		w.metrics.coalesced.Add(float64(len(done) - len(left)))
	}
	if len(done) == 0 {
		return failed
	}
	return errors.Join(failed, w.store.Finish(ctx, done...))
}

// enter takes a lane for this process, unless it is taken.
func (w *worker) enter(lane string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lane == "" {
		return true
	}
	if w.lanes[lane] {
		return false
	}
	if w.lanes == nil {
		w.lanes = map[string]bool{}
	}
	w.lanes[lane] = true
	return true
}

func (w *worker) leave(lane string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.lanes, lane)
}
