package plans

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Results takes the results of ports from their journals into the stream of the plan.
type Results struct {
	store    Store
	requests feedbackRequests // that the ports ran for
	plan     plan.Plan
	now      func() time.Time
}

// read reads the journals of those ports that which chooses, and returns those
// about which something new is known, with that.
func (r Results) read(ctx context.Context, reg plan.BuildState, which func(string, plan.Known) bool) (map[string]plan.Known, error) {
	found := map[string]plan.Known{}
	for id, k := range reg.Ports {
		if !which(id, k) {
			continue
		}
		j, err := r.store.Journal(ctx, id)
		if err != nil {
			return nil, err
		}
		now := k.Heard(j)
		if now != k {
			found[id] = now
		}
		if j.Loop != nil && now.Pair == j.Loop.ID {
			if err := r.requests.of(reg).Settle(ctx, *j.Loop, j.Output()); err != nil {
				return nil, fmt.Errorf("the feedback that port %s ran for: %w", id, err)
			}
		}
	}
	return found, nil
}

// record records results, unless the ports were assigned again meanwhile.
func (r Results) record(ctx context.Context, found map[string]plan.Known) (plan.BuildState, error) {
	return r.store.change(ctx, func(s plan.BuildState) ([]routing.Event, error) {
		add := map[string]plan.Known{}
		for id, k := range found {
			if have := s.Ports[id]; have != k && have.Build == k.Build && have.Round == k.Round {
				add[id] = k
			}
		}
		if len(add) == 0 {
			return nil, nil
		}
		return []routing.Event{s.End(r.plan.As(add), r.now())}, nil
	})
}

// Collect records the results of those of the given ports that have ended, and returns which these
// are.
func (r Results) Collect(ctx context.Context, ids []string) ([]string, error) {
	reg, err := r.store.State(ctx)
	if err != nil {
		return nil, err
	}
	found, err := r.read(ctx, reg, func(id string, k plan.Known) bool { return k.Standing == plan.IsRunning && slices.Contains(ids, id) })
	if err != nil {
		return nil, err
	}
	if _, err := r.record(ctx, found); err != nil {
		return nil, err
	}
	var out []string
	for id := range found {
		out = append(out, id)
	}
	slices.Sort(out)
	return out, nil
}

// Fail records that a port could not be run, and why.
func (r Results) Fail(ctx context.Context, id string, why error) error {
	reg, err := r.store.State(ctx)
	if err != nil {
		return err
	}
	k := reg.Ports[id]
	k.Standing, k.Reason, k.Passed = plan.IsFailed, why.Error(), false
	_, err = r.record(ctx, map[string]plan.Known{id: k})
	return err
}

// take records the result of one port.
func (r Results) take(ctx context.Context, end ended) (plan.BuildState, error) {
	reg, err := r.store.State(ctx)
	if err != nil {
		return reg, err
	}
	var found map[string]plan.Known
	if end.err != nil {
		k := reg.Ports[end.id]
		k.Standing, k.Reason, k.Passed = plan.IsFailed, end.err.Error(), false
		found = map[string]plan.Known{end.id: k}
	} else if found, err = r.read(ctx, reg, func(id string, k plan.Known) bool { return id == end.id && k.Standing == plan.IsRunning }); err != nil {
		return reg, err
	}
	return r.record(ctx, found)
}

// Awaited is a port whose worker is a workflow that nobody waits for.
type Awaited struct {
	Port string
	Key  string // of the dispatch
}

// Awaited returns the ports of the plan that are assigned and continue by events.
func (r Results) Awaited(ctx context.Context) ([]Awaited, error) {
	reg, err := r.store.State(ctx)
	if err != nil {
		return nil, err
	}
	var out []Awaited
	for _, id := range r.plan.Order() {
		if reg.Ports[id].Standing != plan.IsRunning {
			continue
		}
		j, err := r.store.Journal(ctx, id)
		if err != nil {
			return nil, err
		}
		if j.Loop != nil && j.Loop.Status == plan.Running && j.Runner != nil && j.Runner.Events && j.Worker != nil && j.Worker.Key != "" {
			out = append(out, Awaited{id, j.Worker.Key})
		}
	}
	return out, nil
}
