package plans

import (
	"context"
	"fmt"
	"slices"

	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Awaited is a port whose worker is a workflow that nobody waits for.
type Awaited struct {
	Port string
	Key  string // of the dispatch
}

// Awaited returns the ports of the plan that were handed out and go on by events.
func (d *Runner) Awaited(ctx context.Context) ([]Awaited, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	var out []Awaited
	for _, id := range d.Plan.Order() {
		if reg.Ports[id].Standing != plan.IsRunning {
			continue
		}
		j, err := d.Journal(ctx, id)
		if err != nil {
			return nil, err
		}
		if j.Loop != nil && j.Loop.Status == plan.Running && j.Runner != nil && j.Runner.Events && j.Worker != nil && j.Worker.Key != "" {
			out = append(out, Awaited{id, j.Worker.Key})
		}
	}
	return out, nil
}

// Journal reads the journal of a port.
func (d *Runner) Journal(ctx context.Context, id string) (plan.Journal, error) {
	events, _, err := d.Ledger.Load(ctx, routing.PortKey(d.Repo.String(), d.Name, id))
	if err != nil {
		return plan.Journal{}, fmt.Errorf("the journal of port %s: %w", id, err)
	}
	j, err := plan.FoldJournal(events)
	if err != nil {
		return j, fmt.Errorf("the journal of port %s: %w", id, err)
	}
	return j, nil
}

// Ended takes in what came of ports that went on by events, those of them that
// have ended, and returns which these are.
func (d *Runner) Ended(ctx context.Context, ids []string) ([]string, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	heard, err := d.hear(ctx, reg, func(id string, k plan.Known) bool { return k.Standing == plan.IsRunning && slices.Contains(ids, id) })
	if err != nil {
		return nil, err
	}
	if _, err := d.end(ctx, heard); err != nil {
		return nil, err
	}
	var out []string
	for id := range heard {
		out = append(out, id)
	}
	slices.Sort(out)
	return out, nil
}

// Resume starts a workflow that goes on with the build, if the end of a port left
// something to do: the one that began the build, as it did, unless another is
// given. It returns its file, "" if nothing is to do. For one end it is started
// once.
func (d *Runner) Resume(ctx context.Context, id, workflow, ref string) (string, error) {
	reg, err := d.State(ctx)
	if err != nil {
		return "", err
	}
	if reg.Requests, err = d.deliver(ctx, reg); err != nil {
		return "", err
	}
	if d.round(reg, reg.Build.Rounds+1).Empty {
		return "", nil
	}
	var inputs map[string]string
	if s := reg.Build.Start; workflow == "" && s != nil {
		workflow, ref, inputs = s.Workflow, s.Ref, s.Inputs
	}
	if workflow == "" {
		return "", nil // it is not known how: the next build goes on
	}
	return workflow, d.start(ctx, reg, fmt.Sprintf("%s/%s-%d", reg.Build.ID, id, reg.Ports[id].Round), workflow, ref, inputs)
}
