package handler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/pipeline/effect"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/history"
)

// mostMergeBases is how many merge bases a MergeBaseCache keeps: a run of many jobs asks for one
// again and again.
const mostMergeBases = 256

// MergeBaseCache keeps merge bases between events. The zero value is empty; it is safe for
// concurrent use.
type MergeBaseCache struct {
	mu    sync.Mutex
	known map[string]history.MergeBase
	order []string
}

// of returns the merge base of a key, which read reads if it is not kept.
func (c *MergeBaseCache) of(key string, read func() (history.MergeBase, error)) (history.MergeBase, error) {
	if c == nil {
		return read()
	}
	c.mu.Lock()
	at, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return at, nil
	}
	at, err := read()
	if err != nil {
		return at, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.known[key]; !ok {
		if c.known == nil {
			c.known = map[string]history.MergeBase{}
		}
		if len(c.order) >= mostMergeBases {
			delete(c.known, c.order[0])
			c.order = slices.Delete(c.order, 0, 1)
		}
		c.order = append(c.order, key)
		c.known[key] = at
	}
	return at, nil
}

// base is the branch that a pull request is to be merged into, with the runs that were recorded of
// it. The zero base is that of a run without one.
type base struct {
	branch string
	cases  routing.Case
	lost   error // why its runs cannot be read
}

// baseOf returns the base of a pull request whose run failed or passed, or of a merge group whose run
// failed: one read of the ledger. That of a branch, or of a run that says neither, is zero.
func baseOf(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (base, error) {
	if t.Subject.Base == "" || t.Review != nil || len(v.Failures) == 0 && v.Result != routing.Pass || t.Subject.Group() && v.Result == routing.Pass {
		return base{}, nil
	}
	b := base{branch: t.Subject.Base}
	var err error
	b.cases, err = load(ctx, d, effect.Subject{Branch: b.branch}.Key(d.Repo))
	b.lost, err = permanent(err)
	return b, err
}

// permanent divides errors into those that stay, and those that may be over when the event is
// handled again.
func permanent(err error) (stays, over error) {
	switch advice.Of(err).Kind {
	case "", advice.Later, advice.NotYet:
		return nil, err
	}
	return err, nil
}

// compare returns v with the standing of its failures against the base. Where GitHub does not say
// at which commit the change left the base, every failure is new.
func (b base) compare(ctx context.Context, d Deps, t CheckpointRun, v routing.Verdict) (routing.Verdict, error) {
	if b.branch == "" || len(v.Failures) == 0 {
		return v, nil
	}
	why := b.lost
	var at history.MergeBase
	if why == nil {
		var err error
		if b.cases, err = withInventories(ctx, d, b.cases, t.Checkpoint); err != nil {
			return v, err
		}
	}
	if why == nil && v.FailsSometimes(b.cases) {
		var err error
		at, err = b.mergeBase(ctx, d, t)
		if why, err = permanent(err); err != nil {
			return v, err
		}
	}
	if why != nil {
		d.Log.Warn("the run is not compared with its base", "repository", d.Repo.String(), "base", b.branch, "err", why)
		v = v.Uncompared(b.branch)
		v.Base.Unread = true
		return v, nil
	}
	return v.Against(b.cases, at, nil), nil
}

// mergeBase returns the commit at which a pull request left its base. It is asked again once a
// further commit of the base has run, as that may have taken over what the change is made from.
func (b base) mergeBase(ctx context.Context, d Deps, t CheckpointRun) (history.MergeBase, error) {
	key := fmt.Sprint(d.Repo, " ", b.branch, " ", b.cases.Checkpoints[t.Checkpoint].Last.SHA, " ", t.Run.SHA)
	return d.MergeBases.of(key, func() (at history.MergeBase, err error) {
		at.SHA, at.At, err = d.GitHub.Commits.MergeBase(ctx, d.Repo, b.branch, t.Run.SHA)
		return at, err
	})
}

// resume asks for what follows for a checkpoint of a case that is on hold, if its base passes. It may
// be done again.
func (b base) resume(ctx context.Context, d Deps, c routing.Case) error {
	if b.branch == "" {
		return nil
	}
	var failed error
	for _, name := range c.Names() {
		sha, ok := routing.BaseFixed(c.Checkpoints[name], b.cases)
		if !ok {
			continue
		}
		s, err := effect.ParseSubject(d.Repo, c.Key)
		if err != nil || s.Number == 0 {
			return err
		}
		pr, err := d.GitHub.PullRequests.Get(ctx, d.Repo, s.Number)
		if err != nil {
			return errors.Join(failed, d.gone(ctx, err))
		}
		subject := effect.PullRequest(pr, d.DefaultBranch)
		line := newLine(d, subject, d.Effects(subject, ""))
		rec, err := line.BasePassed(ctx, c.Key, routing.BasePassed{Checkpoint: name, Base: b.branch, SHA: sha, Closed: pr.State != "open"})
		if err == nil && !rec.Repeated && !d.Waiter.Defer(c.Key) {
			_, err = line.Apply(ctx, rec)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// resumeOnHold resumes the open pull requests that are on hold for a branch whose newest run fixes
// something. What is interrupted is finished when the event is handled again, or by reconcile.
func resumeOnHold(ctx context.Context, d Deps, branch string, c routing.Case, checkpoint string) error {
	if branch == "" || !routing.Fixes(c.Checkpoints[checkpoint]) {
		return nil
	}
	pulls, err := d.GitHub.PullRequests.ListOpen(ctx, d.Repo)
	if err != nil {
		return err
	}
	keys, err := d.Ledger.Keys(ctx)
	if err != nil {
		return err
	}
	b := base{branch: branch, cases: c}
	for _, pr := range pulls {
		key := effect.PullRequest(pr, d.DefaultBranch).Key(d.Repo)
		if pr.BaseRef != branch || !slices.Contains(keys, key) {
			continue
		}
		waits, failed := load(ctx, d, key)
		switch {
		case failed != nil:
		case slices.ContainsFunc(waits.Pending, func(e routing.Effect) bool { return e.Kind == routing.EffectUpdate }):
			failed = finish(ctx, d, waits) // whoever recorded it was interrupted
		default:
			failed = b.resume(ctx, d, waits)
		}
		err = errors.Join(err, failed)
	}
	return err
}

// bases are the bases that were read while many cases are looked at.
type bases map[string]base

// resume resumes what is on hold in a case.
func (known bases) resume(ctx context.Context, d Deps, c routing.Case) error {
	var failed error
	for _, name := range c.Names() {
		cp := c.Checkpoints[name]
		if !routing.OnHoldForBase(cp) {
			continue
		}
		compared := cp.Attempts[len(cp.Attempts)-1].Verdict.Base
		if compared == nil {
			continue
		}
		b, ok := known[compared.Name]
		if !ok {
			b.branch = compared.Name
			var err error
			if b.cases, err = load(ctx, d, effect.Subject{Branch: b.branch}.Key(d.Repo)); err != nil {
				return err
			}
			known[compared.Name] = b
		}
		failed = errors.Join(failed, b.resume(ctx, d, routing.Case{Key: c.Key, Checkpoints: map[string]routing.Checkpoint{name: cp}}))
	}
	return failed
}
