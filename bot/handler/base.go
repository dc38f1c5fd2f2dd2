package handler

import (
	"context"
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

// baseOf returns the base of a pull request: one read of the ledger. That of a branch is zero.
func baseOf(ctx context.Context, d Deps, t CheckpointRun) (base, error) {
	if t.Subject.Number == 0 || t.Subject.Base == "" || t.Review != nil {
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
