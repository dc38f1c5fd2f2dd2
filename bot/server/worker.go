package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/server/queue"
	"github.com/switchback-ci/switchback/bot/server/recovery"
)

// worker works on deliveries.
type worker struct {
	store    *queue.Store
	live     *notifier
	contexts *contexts
	metrics  *metrics
	log      *slog.Logger
	rec      *recovery.Recovery // looks for what was missed
	serving  context.Context    // ends with the first signal to stop

	mu    sync.Mutex
	lanes map[string]bool // being worked in by this process
}

// most is how many runs of one case are taken together.
const most = 50

// busyError says that another delivery of a lane is being worked on.
type busyError struct {
	lane   string
	spread time.Duration // over which those that wait come back
}

func (e *busyError) Error() string { return "another delivery of " + e.lane + " is being worked on" }

// handle works on one delivery. What its error means, verdict says.
func (w *worker) handle(ctx context.Context, s queue.Delivery) error {
	d := decode(s)
	if !w.enter(d.Lane) {
		spread := time.Second
		if d.Event == "workflow_run" {
			spread = 10 * time.Second // whoever works there does this one as well
		}
		return &busyError{d.Lane, spread}
	}
	defer w.leave(d.Lane)
	began := time.Now()
	log := w.log.With("delivery", d.ID, "event", d.Event, "action", d.Action, "repository", d.repository(), "lane", d.Lane)
	note, err := w.carryOut(ctx, d, log)
	took := time.Since(began)
	if err == nil {
		w.metrics.worked(d.Event, "done", took)
		log.Info("done", "note", note, "took", took)
		return nil
	}
	v, after, kind := advice(err)
	w.metrics.worked(d.Event, string(v), took)
	w.metrics.errors.WithLabelValues(kind).Inc()
	log.Warn("not done", "err", err, "kind", kind, "verdict", v, "after", after)
	return err
}

func (w *worker) carryOut(ctx context.Context, d delivery, log *slog.Logger) (note string, err error) {
	if d.Action == unreadable {
		return "", fmt.Errorf("%w: no JSON object of GitHub's", handler.ErrMalformed)
	}
	if done, err := w.contexts.administer(ctx, d); err != nil || done {
		return "", err
	}
	if err := w.contexts.installations.writable(ctx, d.Installation); err != nil {
		return "", err
	}
	o, err := w.contexts.open(ctx, d)
	if err != nil {
		return "", err
	}
	if !o.acts {
		return "the Action acts here", nil
	}
	if d.Event == "workflow_run" {
		return "", w.runs(ctx, o, d, log)
	}
	return "", w.deliver(ctx, o, d, []delivery{d}, nil, log)
}

// runs works on a run with all others of its lane that wait, and on those that
// came meanwhile, until none is left: their own jobs find the lane taken.
func (w *worker) runs(ctx context.Context, o *repoContext, d delivery, log *slog.Logger) error {
	seen := map[string]bool{d.ID: true} // what failed is for its own job
	batch, err := w.together(ctx, d, seen)
	for err == nil && len(batch) > 0 {
		if err = w.deliver(ctx, o, d, batch, seen, log); err == nil {
			d.ID = "" // it is done
			batch, err = w.together(ctx, d, seen)
		}
	}
	return err
}

// together returns d, unless it is done, with the other runs of its lane that
// wait and were not seen yet, oldest first.
func (w *worker) together(ctx context.Context, d delivery, seen map[string]bool) ([]delivery, error) {
	waiting, err := w.store.Lane(ctx, d.Lane, d.Event, most)
	if err != nil {
		return nil, err
	}
	var batch []delivery
	for _, s := range waiting {
		if seen[s.ID] {
			continue
		}
		x := decode(s)
		if x.event.Repository.ID == d.event.Repository.ID && x.Installation == d.Installation && x.Action != unreadable {
			batch = append(batch, x)
			seen[x.ID] = true
		}
	}
	if d.ID == "" {
		return batch, nil
	}
	at := slices.IndexFunc(batch, func(x delivery) bool { return x.ReceivedAt.After(d.ReceivedAt) })
	if at < 0 {
		at = len(batch)
	}
	return slices.Insert(batch, at, d), nil
}

// deliver hands a batch to the core. Where there are several, or others write,
// they are recorded only; what they left to be posted is posted once, in its
// newest state, when it is its turn: what came of the lane meanwhile, and was
// not seen yet, is recorded before. Nothing is done before that: a process that
// ends in between begins again, and what is recorded is not recorded twice. What
// goes wrong with another than d is left to its own job.
func (w *worker) deliver(ctx context.Context, o *repoContext, d delivery, batch []delivery, seen map[string]bool, log *slog.Logger) error {
	t := catch{hold: len(batch) > 1 || seen != nil && o.hub.Busy()}
	if err := w.record(ctx, o, d, batch, &t, log); err != nil {
		return err
	}
	if len(t.left) > 0 {
		if err := w.post(ctx, o, d, seen, &t, log); err != nil {
			return errors.Join(t.failed, err)
		}
	}
	if len(t.left) > 0 && len(t.done) > 1 {
		w.metrics.coalesced.Add(float64(len(t.done) - len(t.left)))
	}
	if len(t.done) == 0 {
		return t.failed
	}
	return errors.Join(t.failed, w.store.Finish(ctx, t.done...))
}

// catch is what came of deliveries that were taken together.
type catch struct {
	hold       bool
	done, left []string // deliveries; cases with effects to be posted
	failed     error    // of the one that they were taken with
}

// record hands deliveries to the core. It fails if the process is told to stop.
func (w *worker) record(ctx context.Context, o *repoContext, d delivery, batch []delivery, t *catch, log *slog.Logger) error {
	for _, x := range batch {
		wait := &waiter{received: x.ReceivedAt, now: time.Now, hold: t.hold}
		deps, err := o.deps(x, wait, log)
		if err == nil {
			err = handler.Deliver(ctx, deps, x.event)
		}
		for _, k := range wait.left {
			if !slices.Contains(t.left, k) {
				t.left = append(t.left, k)
			}
		}
		switch {
		case err == nil:
			t.done = append(t.done, x.ID)
		case x.ID == d.ID:
			t.failed = err
		default:
			log.Info("not done together with others; its own job tries again", "of", x.ID, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// post posts what was left, and what was left by those that came until now.
func (w *worker) post(ctx context.Context, o *repoContext, d delivery, seen map[string]bool, t *catch, log *slog.Logger) error {
	leave, err := o.hub.Desk(ctx)
	if err != nil {
		return err
	}
	defer leave()
	for seen != nil {
		x := d
		x.ID = "" // it is recorded
		more, err := w.together(ctx, x, seen)
		if err != nil {
			return err
		}
		if len(more) == 0 {
			break
		}
		if err := w.record(ctx, o, d, more, t, log); err != nil {
			return err
		}
	}
	for _, key := range t.left {
		deps, err := o.deps(d, &waiter{received: d.ReceivedAt, now: time.Now}, log.With("case", key))
		if err == nil {
			err = handler.Finish(ctx, deps, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
