package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/routing"
)

// errWaits says that an effect is not to be carried out yet.
var errWaits = errors.New("not yet")

// tries is how often an effect is tried in one call of Apply.
const tries = 4

// Apply applies every pending effect of a case: those of rec and those
// that others left behind. It returns when nothing is pending, so that an
// effect is lost neither with the process that decided it nor with this one.
func (l *Pipeline) Apply(ctx context.Context, rec Recorded) (routing.Case, error) {
	if l.Effector == nil {
		return rec.Case, nil
	}
	c, fresh := rec.Case, rec.fresh
	limit, done, cut := l.MaxActions, 0, 0
	if limit <= 0 {
		limit = routing.DefaultMaxActions
	}
	for len(c.Pending) > 0 {
		var err error
		if l.lease().Taken(c.Lease) {
			if c, err = l.caseLease(c.Key).await(ctx, c); err != nil {
				return c, err
			}
			fresh = nil
			continue
		}
		if !l.lease().Mine(c.Lease) {
			if c, err = l.caseLease(c.Key).takeOver(ctx); err != nil {
				return c, err
			}
			fresh = nil
			continue
		}
		if done >= limit {
			return c, &StuckError{c.Pending, ErrActionLimit}
		}
		var n int
		waits := map[string]bool{}
		c, n, err = l.round(ctx, c, fresh, limit-done, waits)
		if errors.Is(err, ledger.ErrLeaseEnded) && cut < tries {
			cut, done, fresh = cut+1, done+n, nil // what was cut off may be on GitHub
			continue
		}
		if err != nil {
			return c, err
		}
		if len(c.Pending) > 0 && !slices.ContainsFunc(c.Pending, func(e routing.Effect) bool { return !waits[e.Key] }) {
			return l.caseLease(c.Key).release(ctx)
		}
		done += n
		fresh = nil
	}
	return c, nil
}

// round carries out the effects pending now and records them in one append. It
// adds the keys of those that are to wait to waits.
func (l *Pipeline) round(ctx context.Context, c routing.Case, fresh map[string]bool, limit int, waits map[string]bool) (routing.Case, int, error) {
	var events []routing.Event
	var stuck error
	silent := map[string]bool{} // checkpoints whose feedback could not be posted
	for _, e := range c.Pending {
		if len(events) >= limit || !l.lease().Mine(c.Lease) {
			break
		}
		if e.Kind == routing.EffectHandoff && silent[e.Checkpoint] {
			continue // the worker is not started before the feedback is there
		}
		ev, err := l.held(ctx, c, e, fresh[e.Key])
		if errors.Is(err, errWaits) {
			waits[e.Key] = true
			continue
		}
		if err != nil {
			stuck = errors.Join(stuck, &StuckError{[]routing.Effect{e}, err})
			silent[e.Checkpoint] = silent[e.Checkpoint] || e.Kind == routing.EffectComment
			continue
		}
		events = append(events, ev)
		if c, err = c.Apply(ev); err != nil {
			return c, len(events), err
		}
	}
	if len(events) > 0 {
		var err error
		key := c.Key
		stream := ledger.Case(l.Ledger, key)
		if l.Policies != nil && slices.ContainsFunc(events, routing.Event.RefusedEffect) {
			c, err = stream.Update(ctx, func(c routing.Case) ([]routing.Event, error) { return l.release(c, events, l.Policies) })
		} else {
			c, err = stream.Add(ctx, events)
		}
		if err != nil {
			return c, len(events), err
		}
	}
	return c, len(events), stuck
}

// held is once, while this process's lease is renewed, and no longer than that succeeds.
func (l *Pipeline) held(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (routing.Event, error) {
	held, release := l.caseLease(c.Key).hold(ctx, c.Lease)
	defer release()
	ev, err := l.once(held, c, e, fresh)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(held), ledger.ErrLeaseEnded) {
		err = ledger.ErrLeaseEnded
	}
	return ev, err
}

// superseded reports whether an effect that waited starts work that is over:
// a rework of a turn that was passed or counted anew, a review of a red commit,
// another attempt of a run that is not the newest.
func superseded(c routing.Case, e routing.Effect) bool {
	cp := c.Checkpoints[e.Checkpoint]
	switch e.Kind {
	case routing.EffectHandoff:
		return cp.State != routing.InProgress || e.Iteration != cp.Retries || !routing.TellsHolder(c, e)
	case routing.EffectRerun:
		return cp.State == routing.Completed || e.Target != fmt.Sprintf("%s/%d", cp.Last.ID, max(cp.Last.Attempt, 1))
	case routing.EffectReview:
		return cp.State != routing.Completed
	case routing.EffectUpdate:
		n := len(cp.Attempts)
		return n == 0 || cp.Attempts[n-1].BaseFixed != e.Target || cp.Last.SHA != e.SHA
	}
	return false
}

// once carries out one effect, waiting and trying again as the error says.
func (l *Pipeline) once(ctx context.Context, c routing.Case, e routing.Effect, fresh bool) (routing.Event, error) {
	done := routing.EffectDone{Effect: e}
	event := func() routing.Event { return routing.EffectEvent(c.Key, done, l.now()) }
	if superseded(c, e) {
		done.Note = "superseded"
		return event(), nil
	}
	for try := 1; ; try++ {
		ref, err := l.Effector.Do(ctx, c, e, fresh && try == 1)
		if done.Ref = ref; e.Kind == routing.EffectHandoff && e.Target != "" {
			done.At = githubTime(l)
		}
		if err == nil {
			return event(), nil
		}
		what := advice.Advice{Kind: advice.Fail}
		if l.Advise != nil {
			what = l.Advise(err)
		}
		wait := what.After
		if what.Kind == advice.NotYet {
			l.log().Info("effect waits", "case", c.Key, "effect", e.Key, "for", err)
			return routing.Event{}, errWaits
		}
		l.log().Warn("effect not carried out", "case", c.Key, "effect", e.Key, "try", try, "err", err)
		switch {
		case what.Kind == advice.Gone:
			done.Note = "gone: " + err.Error()
			return event(), nil
		case what.Kind != advice.Later || try == tries || ctx.Err() != nil:
			return routing.Event{}, err
		}
		if wait <= 0 {
			wait = time.Duration(try) * time.Second
		}
		if err := l.sleep(ctx, wait); err != nil {
			return routing.Event{}, err
		}
	}
}
