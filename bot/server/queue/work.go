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
	AtOnce  int           // deliveries in progress, default 8; a quarter as many jobs of further kinds
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
	inHand       = 4                // deliveries that a process has taken from River for each that is in progress
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
	db        *database.DB
	changes   *changes
	how       Work
	slots     *semaphore.Weighted // one for each delivery in progress, all for one that runs in isolation
	accepting context.Context     // ends when no more deliveries are begun
}

// NextRetry implements river.Worker. It is asked only where the database failed.
func (w *worker) NextRetry(job *river.Job[deliveryArgs]) time.Time {
	return time.Now().UTC().Add(min(w.how.Backoff(job.Attempt), longestDelay))
}

// Timeout implements river.Worker: a delivery waits for its turn at most as long as it may take.
func (w *worker) Timeout(*river.Job[deliveryArgs]) time.Duration { return 2 * w.how.Timeout }

// Work implements river.Worker. It records the delivery's state before it returns to River: after a
// crash in between, River runs the job again, which finds the delivery finished. River counts none
// of the attempts: they are counted with the delivery.
func (w *worker) Work(ctx context.Context, job *river.Job[deliveryArgs]) error {
	b, err := w.begin(ctx, job.Args.Delivery)
	if err != nil || b.slots == 0 {
		return err
	}
	err = w.handle(ctx, b.Delivery)
	w.slots.Release(b.slots) // the next one need not wait for the commit
	return w.settle(ctx, job, b, err)
}

// settle records what came of an attempt at a delivery, and returns what River is to do.
func (w *worker) settle(ctx context.Context, job *river.Job[deliveryArgs], b begun, err error) error {
	id := job.Args.Delivery
	if err == nil {
		return w.record(ctx, id, Done, nil, time.Time{})
	}
	what := w.how.Advise(err)
	after, later := what.After, what.Kind == advice.Later || what.Kind == advice.NotYet || what.Kind == advice.Blocked
	now := time.Now()
	switch {
	case what.Kind == advice.Gone:
		return errors.Join(w.record(ctx, id, Gone, err, time.Time{}), river.JobCancel(err))
	case what.Kind == advice.Invalid, later && now.Sub(job.CreatedAt) > patience, !later && b.failures+1 >= Attempts:
		return errors.Join(w.record(ctx, id, DeadLetter, err, time.Time{}), river.JobCancel(err))
	}
	state := Waiting
	switch {
	case !later:
		state, after = Failed, w.how.Backoff(b.failures+1)
	case after <= 0:
		after = min(w.how.Backoff(b.delays+1), longestDelay)
		err = &delayed{err}
	}
	if err := w.record(ctx, id, state, err, now.Add(after)); err != nil {
		return err
	}
	return river.JobSnooze(after)
}

// delayed is an error without advice on how long to wait.
type delayed struct{ error }

// begun is an attempt at a delivery.
type begun struct {
	Delivery
	failures, delays int   // earlier attempts that did
	slots            int64 // that the attempt holds; 0: there is nothing to do
}

// begin waits for the turn of a delivery, and records that an attempt begins.
func (w *worker) begin(ctx context.Context, id string) (begun, error) {
	b, err := w.attempt(ctx, id, 1, suspicious)
	if err != nil || b.slots > 0 {
		return b, err
	}
	kills, err := w.kills(ctx, id)
	if err != nil || kills < suspicious {
		return begun{}, err // it is finished
	}
	if kills >= Attempts {
		err := fmt.Errorf("the process ended %d times while it was worked on", kills)
		return begun{}, errors.Join(w.record(ctx, id, DeadLetter, err, time.Time{}), river.JobCancel(err))
	}
	// A delivery during which processes crashed runs in isolation, which shows whether it causes
	// the crash, and lets those that merely ran beside it finish.
	return w.attempt(ctx, id, int64(w.how.AtOnce), Attempts)
}

// attempt waits for slots, and begins an attempt at a delivery during whose attempts the process crashed
// less than most times. Without an attempt it holds no slots.
func (w *worker) attempt(ctx context.Context, id string, slots int64, most int) (begun, error) {
	waiting, cancel := context.WithTimeout(ctx, w.how.Timeout)
	defer cancel()
	defer context.AfterFunc(w.accepting, cancel)()
	if w.accepting.Err() != nil || w.slots.Acquire(waiting, slots) != nil {
		if w.accepting.Err() != nil {
			return begun{}, river.JobSnooze(0)
		}
		return begun{}, river.JobSnooze(time.Second)
	}
	b, err := w.recordBegin(ctx, id, most)
	if err != nil || b.slots == 0 {
		w.slots.Release(slots)
		return begun{}, err
	}
	b.slots = slots
	return b, nil
}

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

// recordBegin records that an attempt begins. It has no slots if there is nothing left to do, or if the
// process crashed most times or more.
func (w *worker) recordBegin(ctx context.Context, id string, most int) (begun, error) {
	b := begun{Delivery: Delivery{ID: id}}
	var received int64
	var encoding string
	c := &change{
		text: `UPDATE delivery SET state = 'working', attempts = attempts + 1,
			kills = kills + CASE WHEN state = 'working' THEN 1 ELSE 0 END, next_at = NULL, changed_at = $2
			WHERE id = $1 AND state NOT IN ('done', 'gone', 'dead_letter') AND kills + CASE WHEN state = 'working' THEN 1 ELSE 0 END < $3
			RETURNING hook, installation, event, action, received_at, payload, encoding, serialization_key, failures, delays`,
		args: []any{id, millis(time.Now()), most},
		into: []any{&b.Hook, &b.Installation, &b.Event, &b.Action, &received, &b.Payload, &encoding, &b.Key, &b.failures, &b.delays},
	}
	if err := w.changes.do(ctx, c); err != nil || !c.found {
		return begun{}, told("beginning a delivery", err)
	}
	var err error
	b.ReceivedAt, b.slots = fromMillis(received), 1
	b.Payload, err = unpack(b.Payload, encoding)
	return b, err
}

// handle calls Handle and turns a panic into an error.
func (w *worker) handle(ctx context.Context, d Delivery) (err error) {
	ctx, cancel := context.WithTimeout(ctx, w.how.Timeout)
	defer cancel()
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
	err := w.changes.do(ctx, &change{
		text: `UPDATE delivery SET state = $2, error = $3, next_at = $4, changed_at = $5, failures = failures + $6, delays = delays + $7
			WHERE id = $1 AND state NOT IN ('done', 'gone', 'dead_letter')`,
		args: []any{id, string(state), text, at, millis(time.Now()), failed, put},
	})
	if err != nil {
		return fmt.Errorf("recording the state of the delivery: %w", err)
	}
	return nil
}
