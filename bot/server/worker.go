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

// worker handles deliveries.
type worker struct {
	notified *notifications
	store    *queue.Store
	live     *notifier
	contexts *contexts
	metrics  *metrics
	log      *slog.Logger
	rec      *recovery.Recovery // looks for what was missed
	serving  context.Context    // ends with the first signal to stop

	mu   sync.Mutex
	busy map[string]bool // serialization keys that this process works on
}

// most is how many runs of one case are handled together.
const most = 50

// busyError says that another delivery with the same serialization key is being handled.
type busyError struct {
	key    string
	spread time.Duration // over which those that wait are tried again
}

func (e *busyError) Error() string { return "another delivery of " + e.key + " is being handled" }

// handle handles one delivery. advise says what to do about its error.
func (w *worker) handle(ctx context.Context, s queue.Delivery) error {
	d := decode(s)
	if !w.enter(d.Key) {
		spread := time.Second
		if d.Event == "workflow_run" {
			spread = 10 * time.Second // the one in progress handles this one as well
		}
		return &busyError{d.Key, spread}
	}
	defer w.leave(d.Key)
	began := time.Now()
	log := w.log.With("delivery", d.ID, "event", d.Event, "action", d.Action, "repository", d.repository(), "key", d.Key)
	note, err := w.carryOut(ctx, d, log)
	took := time.Since(began)
	if err == nil {
		w.metrics.worked(d.Event, "done", took)
		log.Info("done", "note", note, "took", took)
		return nil
	}
	what := advise(err)
	w.metrics.worked(d.Event, string(what.Kind), took)
	w.metrics.errors.WithLabelValues(what.Name()).Inc()
	log.Warn("not done", "err", err, "kind", what.Name(), "advice", what.Kind, "after", what.After)
	return err
}

func (w *worker) carryOut(ctx context.Context, d delivery, log *slog.Logger) (note string, err error) {
	if d.Action == unreadable {
		return "", fmt.Errorf("%w: no JSON object of GitHub's", handler.ErrMalformed)
	}
	if done, err := (administration{w.contexts}).administer(ctx, d); err != nil || done {
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

// runs handles a run with all waiting ones of its serialization key, and those that come meanwhile,
// until none is left: their own jobs find the key busy.
func (w *worker) runs(ctx context.Context, o *repoContext, d delivery, log *slog.Logger) error {
	seen := map[string]bool{d.ID: true} // a failed one is left to its own job
	batch, err := w.together(ctx, d, seen)
	for err == nil && len(batch) > 0 {
		if err = w.deliver(ctx, o, d, batch, seen, log); err == nil {
			d.ID = "" // d is done
			batch, err = w.together(ctx, d, seen)
		}
	}
	return err
}

// together returns d, unless it is done, with the other runs of its serialization key that wait and
// were not seen yet, oldest first.
func (w *worker) together(ctx context.Context, d delivery, seen map[string]bool) ([]delivery, error) {
	waiting, err := w.store.Deliveries.PendingWithKey(ctx, d.Key, d.Event, most)
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

// deliver handles a batch. If it has several deliveries, or the installation is writing, they are
// only recorded; their effects are applied once, in the newest state, when the write queue lets
// them. What came of the key meanwhile is recorded before. Only then deliveries are done: a process
// that is killed before begins again, and no run is recorded twice. An error of another delivery
// than d is left to its own job.
func (w *worker) deliver(ctx context.Context, o *repoContext, d delivery, batch []delivery, seen map[string]bool, log *slog.Logger) error {
	t := batchResult{hold: len(batch) > 1 || seen != nil && o.gh.Busy()}
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
	if len(t.done) == 0 || seen == nil {
		return t.failed // of a single delivery the queue records the end
	}
	return errors.Join(t.failed, w.store.Deliveries.Finish(ctx, t.done...))
}

// batchResult is what came of deliveries that were handled together.
type batchResult struct {
	hold       bool
	done, left []string // deliveries; cases with pending effects
	failed     error    // of the delivery that the others were added to
}

// record calls the handlers of deliveries. It fails if the process is stopping.
func (w *worker) record(ctx context.Context, o *repoContext, d delivery, batch []delivery, t *batchResult, log *slog.Logger) error {
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
			log.Info("not handled together with others; its own job tries again", "of", x.ID, "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// post applies the effects that were left, and those of deliveries that came until now.
func (w *worker) post(ctx context.Context, o *repoContext, d delivery, seen map[string]bool, t *batchResult, log *slog.Logger) error {
	leave, err := o.gh.EnterWriteQueue(ctx)
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

// enter marks a serialization key busy in this process. It is false if it was.
func (w *worker) enter(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if key == "" {
		return true
	}
	if w.busy[key] {
		return false
	}
	if w.busy == nil {
		w.busy = map[string]bool{}
	}
	w.busy[key] = true
	return true
}

func (w *worker) leave(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, key)
}
