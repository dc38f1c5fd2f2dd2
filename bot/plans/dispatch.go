package plans

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// Starter starts the workflow of a plan.
type Starter struct {
	store      Store
	requests   feedbackRequests
	schedule   schedule
	dispatcher dispatcher
}

// Build starts the workflow of the plan, which begins a build by itself, once by its
// key. It returns the file, "" if it is not known which one that is: file says so, else
// the newest build that a workflow began.
func (s Starter) Build(ctx context.Context, key, file, ref string) (string, error) {
	reg, err := s.store.State(ctx)
	if err != nil {
		return "", err
	}
	var inputs map[string]string
	if begun := reg.Build.Start; begun != nil {
		if file == "" || file == begun.Workflow {
			inputs = begun.Inputs
		}
		file = cmp.Or(file, begun.Workflow)
	}
	if file == "" {
		return "", nil
	}
	if err := s.dispatcher.start(ctx, reg, key, file, ref, inputs); err != nil {
		return file, fmt.Errorf("starting the workflow of plan %s: %w", s.store.plan, err)
	}
	return file, nil
}

// Resume starts a workflow that goes on with the build, if the end of a port left
// something to do: the one that began the build, as it did, unless another is
// given. It returns its file, "" if nothing is to do. For one end it is started
// once.
func (s Starter) Resume(ctx context.Context, id, workflow, ref string) (string, error) {
	reg, err := s.store.State(ctx)
	if err != nil {
		return "", err
	}
	if reg.Requests, err = s.requests.deliver(ctx, reg); err != nil {
		return "", err
	}
	if s.schedule.round(reg, reg.Build.Rounds+1).Empty {
		return "", nil
	}
	var inputs map[string]string
	if begun := reg.Build.Start; workflow == "" && begun != nil {
		workflow, ref, inputs = begun.Workflow, begun.Ref, begun.Inputs
	}
	if workflow == "" {
		return "", nil // it is not known how: the next build continues
	}
	return workflow, s.dispatcher.start(ctx, reg, fmt.Sprintf("%s/%s-%d", reg.Build.ID, id, reg.Ports[id].Round), workflow, ref, inputs)
}

// dispatcher does on GitHub what one process is to do once: it is recorded before.
type dispatcher struct {
	store  Store
	starts Starts
	repo   github.Repo
	// leaseTTL is how long others leave to a process what it recorded, even to an earlier attempt of
	// their own: GitHub may list a dispatch late.
	leaseTTL time.Duration
	now      func() time.Time
}

// start starts the workflow that goes on with a build, once by its key.
func (d dispatcher) start(ctx context.Context, reg plan.BuildState, key, workflow, ref string, inputs map[string]string) error {
	if before, asked := reg.Sent[key]; asked {
		if err := d.wait(before, "start "+workflow); err != nil {
			return err
		}
		if there, err := d.starts.HasRunSince(ctx, d.repo, "workflow_dispatch", before, key); err != nil || there {
			return err
		}
	}
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	if err := d.reserve(ctx, key, "start "+workflow); err != nil {
		return err
	}
	all := map[string]string{"build": key}
	for k, v := range inputs {
		all[k] = v
	}
	return d.starts.StartWorkflow(ctx, d.repo, workflow, ref, all)
}

// bounded returns the context of what is recorded next and then done on GitHub: it ends before others
// may do that, so that they see what came of it.
func (d dispatcher) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if d.leaseTTL <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d.leaseTTL*3/4)
}

// wait returns an error that says when to come back, while another process may still do what it
// recorded at a time.
func (d dispatcher) wait(since time.Time, what string) error {
	if left := d.leaseTTL - d.now().Sub(since); left > 0 {
		return &github.Error{Kind: advice.Later, After: left, Op: what, Message: "another process may have begun that"}
	}
	return nil
}

// reserve records that this process is about to do something on GitHub, unless another one may be
// doing it.
func (d dispatcher) reserve(ctx context.Context, key, what string) error {
	_, err := d.store.change(ctx, func(r plan.BuildState) ([]routing.Event, error) {
		if at, taken := r.Sent[key]; taken {
			if err := d.wait(at, what); err != nil {
				return nil, err
			}
		}
		return []routing.Event{r.Send(key, d.now())}, nil
	})
	return err
}
