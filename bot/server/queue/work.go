package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/semaphore"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/database"
)

// Work configures how deliveries are processed. Zero fields have defaults.
type Work struct {
	// Handle processes one delivery. It is called concurrently, and again for a delivery that it
	// has finished if the process is killed at that moment.
	Handle func(ctx context.Context, d Delivery) error
	// Advise returns the advice on an error of Handle. Later, NotYet and Blocked are retried for up
	// to three days, Fail is tried Attempts times in all, Gone and Invalid are not retried. nil:
	// every error is advice.Fail.
	Advise  func(error) advice.Advice
	Workers *river.Workers // of further kinds of jobs; nil: none
	// Periodic jobs, each with a worker among Workers.
	Periodic []*river.PeriodicJob
	// Aside are further queues, each with so many jobs at a time in addition to those of AtOnce, so
	// that a long job delays no delivery.
	Aside   map[string]int
	AtOnce  int           // jobs, default 8
	Timeout time.Duration // of one attempt, default 5 minutes
	// Backoff is how long to wait after the n-th attempt, 1 for the first.
	// Default: n⁴ seconds, at most an hour, and a tenth of it by chance.
	Backoff func(n int) time.Duration
	// How long the payloads of finished deliveries are kept, default 7 days, and how long their
	// rows, default 90 days.
	KeepPayloads, KeepRows time.Duration
	Log                    *slog.Logger // default: none
}

const (
	day                 = 24 * time.Hour
	patience            = 3 * day          // of Later, from when the delivery was received
	maintenanceInterval = 15 * time.Second // between checks for jobs that killed processes left
	grace               = 10 * time.Second // for recording the result of interrupted work
	maxError            = 4 << 10          // bytes of an error that is stored

	longestDelay = 10 * time.Minute // between attempts that GitHub or the network may allow at any time
	suspicious   = 3                // crashes of a process during a delivery, after which it runs in isolation
	everyone     = 1 << 20          // more than run at once
)

func (w Work) withDefaults() Work {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	def(&w.Timeout, 5*time.Minute)
	def(&w.KeepPayloads, 7*day)
	def(&w.KeepRows, 90*day)
	if w.AtOnce == 0 {
		w.AtOnce = 8
	}
	if w.Backoff == nil {
		w.Backoff = backoff
	}
	if w.Advise == nil {
		w.Advise = func(error) advice.Advice { return advice.Advice{Kind: advice.Fail} }
	}
	if w.Workers == nil {
		w.Workers = river.NewWorkers()
	}
	if w.Log == nil {
		w.Log = silent
	}
	return w
}

func backoff(n int) time.Duration {
	d := min(time.Duration(n*n*n*n)*time.Second, time.Hour)
	return d + mathrand.N(d/10+1)
}

// NextRetry implements river.ClientRetryPolicy.
func (w Work) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().UTC().Add(w.Backoff(job.Attempt))
}

// worker is River's worker for deliveries.
type worker struct {
	river.WorkerDefaults[deliveryArgs]
	db    *database.DB
	how   Work
	slots *semaphore.Weighted // one each, everyone for a delivery that runs in isolation
}

// NextRetry implements river.Worker. It is asked only where the database failed.
func (w *worker) NextRetry(job *river.Job[deliveryArgs]) time.Time {
	return time.Now().UTC().Add(min(w.how.Backoff(job.Attempt), longestDelay))
}

// Timeout implements river.Worker: as the client's configuration says.
func (w *worker) Timeout(*river.Job[deliveryArgs]) time.Duration { return 0 }

// Work implements river.Worker. It records the delivery's state before it returns to River: after a
// crash in between, River runs the job again, which finds the delivery finished. River counts none
// of the attempts: they are counted with the delivery.
func (w *worker) Work(ctx context.Context, job *river.Job[deliveryArgs]) error {
	id := job.Args.Delivery
	kills, err := w.kills(ctx, id)
	if err != nil {
		return err
	}
	if kills >= Attempts {
		err := fmt.Errorf("the process ended %d times while it was worked on", kills)
		return errors.Join(w.record(ctx, id, DeadLetter, err, time.Time{}), river.JobCancel(err))
	}
	// A delivery during which processes crashed runs in isolation, which shows whether it causes
	// the crash, and lets those that merely ran beside it finish.
	part := int64(1)
	if kills >= suspicious {
		part = everyone
	}
	if w.slots.Acquire(ctx, part) != nil {
		return river.JobSnooze(time.Second)
	}
	defer w.slots.Release(part)
	d, n, ok, err := w.begin(ctx, id)
	if err != nil || !ok {
		return err
	}
	err = w.handle(ctx, d)
	if err == nil {
		return w.record(ctx, id, Done, nil, time.Time{})
	}
	what := w.how.Advise(err)
	after, later := what.After, what.Kind == advice.Later || what.Kind == advice.NotYet || what.Kind == advice.Blocked
	now := time.Now()
	switch {
	case what.Kind == advice.Gone:
		return errors.Join(w.record(ctx, id, Gone, err, time.Time{}), river.JobCancel(err))
	case what.Kind == advice.Invalid, later && now.Sub(job.CreatedAt) > patience, !later && n.failures+1 >= Attempts:
		return errors.Join(w.record(ctx, id, DeadLetter, err, time.Time{}), river.JobCancel(err))
	}
	state := Waiting
	switch {
	case !later:
		state, after = Failed, w.how.Backoff(n.failures+1)
	case after <= 0:
		after = min(w.how.Backoff(n.delays+1), longestDelay)
		err = &delayed{err}
	}
	if err := w.record(ctx, id, state, err, now.Add(after)); err != nil {
		return err
	}
	return river.JobSnooze(after)
}

// delayed is an error without advice on how long to wait.
type delayed struct{ error }

// counts are the results of the attempts at a delivery.
type counts struct{ failures, delays int }

// kills returns during how many attempts at a delivery the process crashed: an attempt without a
// result, when the next one begins, is one.
func (w *worker) kills(ctx context.Context, id string) (n int, err error) {
	err = w.db.Read.QueryRowContext(ctx, "SELECT kills + CASE WHEN state = 'working' THEN 1 ELSE 0 END FROM delivery WHERE id = $1", id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, told("delivery", err)
}

// storable makes the error of any worker storable: on PostgreSQL a U+0000 in one error keeps River
// from recording the results of the whole batch of jobs.
func storable(ctx context.Context, _ *rivertype.JobRow, work func(context.Context) error) error {
	err := work(ctx)
	if err == nil || clean(err.Error()) == err.Error() {
		return err
	}
	said := errors.New(clean(err.Error()))
	if cancelled := (*rivertype.JobCancelError)(nil); errors.As(err, &cancelled) {
		return river.JobCancel(said)
	}
	if snoozed := (*rivertype.JobSnoozeError)(nil); errors.As(err, &snoozed) {
		return snoozed
	}
	return said
}

// clean returns s as both databases accept it, at most 4 KiB.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s[:min(len(s), maxError)], ""), "\x00", "")
}

// begin records that an attempt begins, and returns the delivery and the results of the earlier
// attempts. ok is false if there is nothing left to do.
func (w *worker) begin(ctx context.Context, id string) (d Delivery, n counts, ok bool, err error) {
	var received int64
	var encoding string
	d.ID = id
	err = w.db.Write.QueryRowContext(ctx, `UPDATE delivery SET state = 'working', attempts = attempts + 1,
		kills = kills + CASE WHEN state = 'working' THEN 1 ELSE 0 END, next_at = NULL, changed_at = $2
		WHERE id = $1 AND state NOT IN ('done', 'gone', 'dead_letter')
		RETURNING hook, installation, event, action, received_at, payload, encoding, serialization_key, failures, delays`, id, millis(time.Now())).
		Scan(&d.Hook, &d.Installation, &d.Event, &d.Action, &received, &d.Payload, &encoding, &d.Key, &n.failures, &n.delays)
	if errors.Is(err, sql.ErrNoRows) {
		return d, n, false, nil
	}
	if err == nil {
		d.ReceivedAt = fromMillis(received)
		d.Payload, err = unpack(d.Payload, encoding)
	}
	return d, n, err == nil, err
}

// handle calls Handle and turns a panic into an error.
func (w *worker) handle(ctx context.Context, d Delivery) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.how.Log.Error("panic", "delivery", d.ID, "value", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return w.how.Handle(ctx, d)
}

// record records the state of a delivery, also if ctx has ended.
func (w *worker) record(ctx context.Context, id string, state State, cause error, next time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	text, at := "", sql.NullInt64{}
	if cause != nil {
		text = clean(cause.Error())
	}
	if !next.IsZero() {
		at = sql.NullInt64{Int64: millis(next), Valid: true}
	}
	failed, put := 0, 0
	if state == Failed {
		failed = 1
	}
	if late := (*delayed)(nil); errors.As(cause, &late) {
		put = 1
	}
	_, err := w.db.Write.ExecContext(ctx, `UPDATE delivery SET state = $2, error = $3, next_at = $4, changed_at = $5, failures = failures + $6, delays = delays + $7
		WHERE id = $1 AND state NOT IN ('done', 'gone', 'dead_letter')`, id, string(state), text, at, millis(time.Now()), failed, put)
	if err != nil {
		return fmt.Errorf("recording the state of the delivery: %w", err)
	}
	return nil
}
