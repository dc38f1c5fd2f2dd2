package github

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github/ratelimit"
)

// unasked is when those come back who could not ask for leave, and as much
// again by chance.
const unasked = 5 * time.Second

// detached bounds what is still told to the ration when nobody waits for it.
const detached = 5 * time.Second

// governor asks the ration for leave before anything is sent: for reads a
// portion of points at a time, for each write the turn. Writes of a process go
// out one at a time, and so do those of all who share the ration.
type governor struct {
	ration ratelimit.Keeper
	limits ratelimit.Limits
	holder string
	now    func() time.Time
	sleep  func(context.Context, time.Duration) error

	turn   chan struct{} // of this process's writes
	asking chan struct{} // one asks for points, for all
	desk   chan struct{} // see Hub.Desk

	mu      sync.Mutex
	blocked time.Time     // nothing is sent before
	left    int           // points
	until   time.Time     // they are good
	spent   int           // of the last portion
	seats   int           // requests that may be under way
	under   int           // requests that are
	freed   chan struct{} // closed when one ends
	writers int           // that have the turn or wait for it
}

func newGovernor(o Options) *governor {
	g := &governor{ration: o.Ration, limits: o.Rates, holder: o.Holder, now: o.Now, sleep: o.Sleep,
		turn: make(chan struct{}, 1), asking: make(chan struct{}, 1), desk: make(chan struct{}, 1), freed: make(chan struct{})}
	if g.limits == (ratelimit.Limits{}) {
		g.limits = ratelimit.GitHub()
	}
	g.limits.Interval = max(0, o.ContentInterval)
	if g.ration == nil {
		g.ration = &ratelimit.Local{Now: o.Now}
	}
	if g.holder == "" {
		g.holder = ratelimit.Alone
	}
	return g
}

// creates reports whether GitHub may count a request as one that creates
// content. It does not say which it does: taken for it is every write but those
// that take away, or that only start something.
func creates(method, path string) bool {
	if !writes(method) || method == http.MethodDelete {
		return false
	}
	for _, start := range []string{"/rerun", "/rerun-failed-jobs", "/dispatches", "/attempts"} {
		if strings.HasSuffix(path, start) {
			return false
		}
	}
	return true
}

// enter waits until a request may be sent, at most budget beyond the writes of
// this process before it, and returns how long it waited, and what is to be
// called when the request was answered.
func (g *governor) enter(ctx context.Context, method, path string, budget time.Duration) (leave func(), waited time.Duration, err error) {
	if writes(method) && !strings.HasSuffix(path, "/graphql") {
		return g.write(ctx, creates(method, path), budget)
	}
	return g.read(ctx, budget)
}

func (g *governor) read(ctx context.Context, budget time.Duration) (leave func(), waited time.Duration, err error) {
	for {
		wait, freed, ok := g.take()
		if ok {
			return g.leave, waited, nil
		}
		if freed != nil {
			select {
			case <-freed:
				continue
			case <-ctx.Done():
				return nil, waited, ctx.Err()
			}
		}
		if wait == 0 {
			if wait, err = g.refill(ctx); err != nil {
				return nil, waited, err
			}
		}
		if err := g.wait(ctx, wait, budget, &waited); err != nil {
			return nil, waited, err
		}
	}
}

// take takes a point and a seat of what this process has. If it has none it
// says how long all are held back, or what is closed when a seat is free;
// neither if it has to ask.
func (g *governor) take() (wait time.Duration, freed <-chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	switch {
	case now.Before(g.blocked):
		return g.blocked.Sub(now), nil, false
	case g.left < ratelimit.Point || !now.Before(g.until):
		return 0, nil, false
	case g.under >= g.seats:
		return 0, g.freed, false
	}
	g.left -= ratelimit.Point
	g.spent += ratelimit.Point
	g.under++
	return 0, nil, true
}

// refill asks for points, unless another has just done so. It returns how long
// there are none.
func (g *governor) refill(ctx context.Context) (wait time.Duration, err error) {
	select {
	case g.asking <- struct{}{}:
		defer func() { <-g.asking }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	g.mu.Lock()
	began := g.now()
	if g.left >= ratelimit.Point && began.Before(g.until) {
		g.mu.Unlock()
		return 0, nil
	}
	// As many again as were used: who reads a little leaves the others theirs.
	ask := ratelimit.Ask{Holder: g.holder, Spent: g.spent, InUse: g.under, Want: max(2*g.spent, 2*ratelimit.WritePoints)}
	g.left = 0
	g.mu.Unlock()
	var l ratelimit.Leave
	if err := g.update(ctx, func(now time.Time, s *ratelimit.State) { l = s.Read(now, g.limits, ask) }); err != nil {
		return 0, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spent, g.left, g.until, g.seats = 0, l.Points, began.Add(l.Life), l.Seats
	return l.Wait, nil
}

// leave ends a request.
func (g *governor) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.under--
	close(g.freed)
	g.freed = make(chan struct{})
}

func (g *governor) write(ctx context.Context, content bool, budget time.Duration) (leave func(), waited time.Duration, err error) {
	g.writing(1)
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		g.writing(-1)
		return nil, 0, ctx.Err()
	}
	for {
		wait, err := g.askTurn(ctx, content)
		if err == nil && wait == 0 {
			stop := make(chan struct{})
			go g.renew(stop)
			return func() {
				close(stop)
				g.done(ctx)
				g.leave()
				<-g.turn
				g.writing(-1)
			}, waited, nil
		}
		if err == nil {
			err = g.wait(ctx, wait, budget, &waited)
		}
		if err != nil {
			<-g.turn
			g.writing(-1)
			return nil, waited, err
		}
	}
}

// askTurn takes a seat and asks for the turn among all who share the ration.
func (g *governor) askTurn(ctx context.Context, content bool) (wait time.Duration, err error) {
	g.mu.Lock()
	if now := g.now(); now.Before(g.blocked) {
		defer g.mu.Unlock()
		return g.blocked.Sub(now), nil
	}
	g.under++
	ask := ratelimit.Ask{Holder: g.holder, InUse: g.under, Content: content}
	g.mu.Unlock()
	var l ratelimit.Leave
	err = g.update(ctx, func(now time.Time, s *ratelimit.State) { l = s.Write(now, g.limits, ask) })
	if err != nil || l.Wait > 0 {
		g.leave()
		return l.Wait, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seats = l.Seats
	return 0, nil
}

// renew prolongs the turn until stop is closed.
func (g *governor) renew(stop <-chan struct{}) {
	t := time.NewTicker(ratelimit.TurnLease / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			g.tell(context.Background(), func(now time.Time, s *ratelimit.State) { s.Renew(now, g.holder) })
		case <-stop:
			return
		}
	}
}

// done gives the turn back. If that fails it ends by itself.
func (g *governor) done(ctx context.Context) {
	g.tell(ctx, func(now time.Time, s *ratelimit.State) { s.Done(now, g.limits, g.holder) })
}

func (g *governor) writing(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writers += n
}

// wait waits for d, or returns the error that says when to come back if it has
// waited for more than budget then.
func (g *governor) wait(ctx context.Context, d, budget time.Duration, waited *time.Duration) error {
	if d == 0 {
		return nil
	}
	if *waited+d > budget {
		return g.putOff(ctx, d)
	}
	if err := g.sleep(ctx, d); err != nil {
		return err
	}
	*waited += d
	return nil
}

// putOff returns the error of who does not wait for d.
func (g *governor) putOff(ctx context.Context, d time.Duration) error {
	e := &Error{Kind: advice.Later, After: d, Message: fmt.Sprintf("the limits are used up: %v", g.limits)}
	g.mu.Lock()
	if g.now().Before(g.blocked) {
		e.Message = "rate limit"
	}
	g.mu.Unlock()
	if err := g.update(ctx, func(now time.Time, s *ratelimit.State) { e.After = s.PutOff(now, g.limits, d) }); err != nil {
		return err
	}
	return e
}

// block holds all requests back for d, those of others who share the ration, too.
func (g *governor) block(ctx context.Context, d time.Duration) {
	g.mu.Lock()
	if until := g.now().Add(d); until.After(g.blocked) {
		g.blocked = until
	}
	g.mu.Unlock()
	g.tell(ctx, func(now time.Time, s *ratelimit.State) { s.Block(now, d) })
}

// tell is update for what is said and not asked for.
func (g *governor) tell(ctx context.Context, step func(time.Time, *ratelimit.State)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detached)
	defer cancel()
	_ = g.ration.Update(ctx, step) // whoever asks next learns that it does not answer
}

// update asks the ration. Who cannot ask is to come back.
func (g *governor) update(ctx context.Context, step func(time.Time, *ratelimit.State)) error {
	err := g.ration.Update(ctx, step)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Error{Kind: advice.Later, After: unasked + rand.N(unasked), Message: tidy("nobody can be asked for leave to send: " + err.Error())}
}
