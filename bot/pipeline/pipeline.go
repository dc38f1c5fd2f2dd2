// Package pipeline is the one straight line from a verdict to its effects:
// decide, record, carry out. The command line, the Action and the App are
// faces of it.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/sleep"
	"github.com/switchback-ci/switchback/routing"
)

// Effector carries out one effect outside and returns a reference to what
// stands there. It is idempotent by the effect's key; fresh says that no one
// can have carried it out before, which saves looking.
type Effector interface {
	Do(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (ref string, err error)
}

// Pipeline records verdicts in a ledger and carries out what was decided.
type Pipeline struct {
	Ledger   ledger.Ledger
	Effector Effector
	// Advise says what to do about an error of the Effector: Later is tried again by this process,
	// NotYet is left to a later run without being an error of this one, Gone counts as done, and
	// anything else stays pending and ends this process's work. nil: all is advice.Fail.
	Advise func(error) advice.Advice
	// Policies decide anew what follows from an effect that was refused; nil leaves that to the next
	// event of the case.
	Policies Policies
	// Compare completes a verdict by what is recorded of its case, before it is decided on; nil: nothing
	// is to be added.
	Compare func(ctx context.Context, c routing.Case, v routing.Verdict) (routing.Verdict, error)
	// Deferred says that the effects of what is recorded are left to whoever applies them later, as
	// soon as that may be: no lease is taken on them.
	Deferred bool
	// Owner names this process among those that may carry out effects.
	Owner string
	// LeaseTTL is how long a lease on the effects of a case lasts, 0: ledger.DefaultLease. It is
	// renewed as long as the process works.
	LeaseTTL time.Duration
	Now      func() time.Time
	// Clock returns the time as GitHub has it, by which the times of workers pass who are told in
	// turn: the clocks of processes differ. nil: Now.
	Clock func() time.Time
	Sleep func(context.Context, time.Duration) error
	Log   *slog.Logger
	// MaxActions bounds the effects of one call of Apply, 0: routing's default.
	MaxActions int
}

// Policies gives the policy of a checkpoint of the case.
type Policies func(checkpoint string) routing.Policy

// Recorded is what Record did.
type Recorded struct {
	Decision routing.Decision
	Case     routing.Case
	Repeated bool            // Act: the answer was taken before; BasePassed, Incident, Handoff, GroupRan: it is known. Nothing was appended
	fresh    map[string]bool // keys of effects that no one else can have begun
}

// Record decides on v against the newest state of the case and appends the
// decision, in one atomic step; a conflict decides again. Verdicts that waited
// for what v completed are decided in the same step. A run decided before
// appends nothing.
func (l *Pipeline) Record(ctx context.Context, key string, v routing.Verdict, policy Policies) (Recorded, error) {
	var rec Recorded
	c, err := ledger.Case(l.Ledger, key).Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		rec = Recorded{fresh: map[string]bool{}}
		now, v := l.now(), v
		if l.Compare != nil {
			var err error
			if v, err = l.Compare(ctx, c, v); err != nil {
				return nil, err
			}
		}
		d := routing.Decide(c, v, policy(v.Checkpoint), now)
		rec.Decision = d
		if d.Repeated {
			return nil, nil
		}
		events := []routing.Event{routing.RunEvent(key, v, d, now)}
		events, err := l.release(c, events, policy)
		if err != nil {
			return nil, err
		}
		return events, l.leaseInto(c, events, rec.fresh)
	})
	rec.Case = c
	return rec, err
}

// Act appends what a human did, and decides in the same atomic step what it
// released. An answer that was taken before appends nothing; one that cannot be
// taken is a *routing.StaleAnswerError or a *routing.RefusedError.
func (l *Pipeline) Act(ctx context.Context, key string, act routing.HumanActed, policy Policies) (Recorded, error) {
	return l.news(ctx, key, func(c routing.Case) ([]routing.Event, error) {
		if _, known := c.Answered[act.Answer]; known {
			return nil, nil
		}
		if err := c.Admit(act); err != nil {
			return nil, err
		}
		return l.release(c, []routing.Event{routing.HumanEvent(key, act, l.now())}, policy)
	})
}

// BasePassed records that the base passes what a checkpoint is on hold for. It appends nothing where
// that is known, or no longer holds: only the first of those who see it asks for what follows.
func (l *Pipeline) BasePassed(ctx context.Context, key string, e routing.BasePassed) (Recorded, error) {
	return l.news(ctx, key, func(c routing.Case) ([]routing.Event, error) {
		if !routing.OnHoldForBase(c.Checkpoints[e.Checkpoint]) {
			return nil, nil
		}
		return []routing.Event{routing.BaseEvent(key, e, l.now())}, nil
	})
}

// Handoff records what happened to the active hand-off of a case, and decides in the same step what
// follows. It appends nothing where that is known, or is of a hand-off that is over: of many processes
// that see a worker's time run out one tells the next.
func (l *Pipeline) Handoff(ctx context.Context, key string, p routing.HandoffChanged, policy Policies) (Recorded, error) {
	return l.news(ctx, key, func(c routing.Case) ([]routing.Event, error) {
		if !p.Changes(c) {
			return nil, nil
		}
		return l.release(c, []routing.Event{routing.HandoffEvent(key, p, l.now())}, policy)
	})
}

// Incident records what an incident does to a checkpoint. It appends nothing where that is known, or
// no longer holds, or comes too early: only the first of those who see it asks for what follows.
func (l *Pipeline) Incident(ctx context.Context, key string, e routing.IncidentChanged) (Recorded, error) {
	return l.news(ctx, key, func(c routing.Case) ([]routing.Event, error) {
		if !e.Changes(c.Checkpoints[e.Checkpoint]) || e.TooEarly(c) {
			return nil, nil
		}
		return []routing.Event{routing.IncidentEvent(key, e, l.now())}, nil
	})
}

// GroupRan records in the case of a pull request what a merge group came to that it was in. It appends
// nothing where that is known, or a later group is.
func (l *Pipeline) GroupRan(ctx context.Context, key string, e routing.GroupRan) (Recorded, error) {
	return l.news(ctx, key, func(c routing.Case) ([]routing.Event, error) {
		if !e.NewsOf(c) {
			return nil, nil
		}
		return []routing.Event{routing.GroupRanEvent(key, e, l.now())}, nil
	})
}

// news appends the events that decide returns for the newest state of a case, none where all is known.
func (l *Pipeline) news(ctx context.Context, key string, decide func(routing.Case) ([]routing.Event, error)) (Recorded, error) {
	var rec Recorded
	c, err := ledger.Case(l.Ledger, key).Update(ctx, func(c routing.Case) ([]routing.Event, error) {
		rec = Recorded{fresh: map[string]bool{}}
		events, err := decide(c)
		if rec.Repeated = err == nil && len(events) == 0; err != nil || rec.Repeated {
			return nil, err
		}
		return events, l.leaseInto(c, events, rec.fresh)
	})
	rec.Case = c
	return rec, err
}

// release appends what follows from events by itself.
func (l *Pipeline) release(c routing.Case, events []routing.Event, policy Policies) ([]routing.Event, error) {
	for _, e := range events {
		next, err := c.Apply(e)
		if err != nil {
			return nil, err
		}
		c = next
	}
	_, more, err := routing.Release(c, policy, l.now())
	return append(events, more...), err
}

// leaseInto puts this process's lease on the first event if the events leave
// anything to carry out and neither others are at it nor is it deferred, and notes which effects are
// fresh: decided by these events, where nothing of their slot stands outside.
func (l *Pipeline) leaseInto(c routing.Case, events []routing.Event, fresh map[string]bool) error {
	if l.Effector == nil || l.Deferred || l.lease().Taken(c.Lease) {
		return nil
	}
	after := c
	for _, e := range events {
		var err error
		if after, err = after.Apply(e); err != nil {
			return err
		}
		run, ok := e.Run()
		if !ok || len(c.Pending) > 0 {
			continue
		}
		for _, ef := range run.Decision.Effects {
			fresh[ef.Key] = ef.Kind != routing.EffectCheck || c.Done[ef.Slot] == ""
		}
	}
	if len(after.Pending) > 0 {
		events[0] = events[0].WithLease(l.lease().Take())
	}
	return nil
}

func (l *Pipeline) lease() ledger.Lease {
	return ledger.Lease{Owner: l.Owner, TTL: l.LeaseTTL, Now: l.Now}
}

// caseLease returns this process's lease on the effects of a case.
func (l *Pipeline) caseLease(key string) caseLease {
	return caseLease{key: key, lease: l.lease(), stream: ledger.Case(l.Ledger, key), now: l.now, sleep: l.sleep, log: l.log()}
}

func (l *Pipeline) now() time.Time {
	if l.Now != nil {
		return l.Now().UTC()
	}
	return time.Now().UTC()
}

// githubTime returns the time as GitHub has it.
func githubTime(l *Pipeline) time.Time {
	if l.Clock != nil {
		return l.Clock().UTC()
	}
	return l.now()
}

func (l *Pipeline) sleep(ctx context.Context, d time.Duration) error {
	if l.Sleep != nil {
		return l.Sleep(ctx, d)
	}
	return sleep.For(ctx, d)
}

func (l *Pipeline) log() *slog.Logger {
	if l.Log != nil {
		return l.Log
	}
	return slog.New(slog.DiscardHandler)
}

// ErrActionLimit says that a run of the program has carried out as many effects
// as it may; the rest waits for the next.
var ErrActionLimit = errors.New("the limit of actions for one run is reached; what is left is carried out by the next run")

// StuckError says that effects stay pending, and why.
type StuckError struct {
	Pending []routing.Effect
	Err     error
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("%d effect(s) wait, the first is %s: %v", len(e.Pending), e.Pending[0].Key, e.Err)
}

// Unwrap returns the cause.
func (e *StuckError) Unwrap() error { return e.Err }
