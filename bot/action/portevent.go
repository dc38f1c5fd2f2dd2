package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/switchback-ci/switchback/bot/handler"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/routing/plan"
)

// portEvent continues ports whose workers are workflows and whose jobs do not wait: with the one
// whose workflow has ended by the event, or, on another event, with all that are due. What ended is
// taken in, and the plan's workflow is started if there is something to do then.
func (p planCommands) portEvent(ctx context.Context) (int, error) {
	name := p.deps.Options.PlanName
	e := p.event.WorkflowRun
	var heard plan.Dispatch
	if e != nil {
		ours := false
		heard, ours = plan.FindDispatch(e.Title)
		switch {
		case e.Event != "workflow_dispatch" || !ours:
			p.notice("run %q is no worker of a port", e.Title)
			return 0, nil
		case heard.Plan != name:
			p.notice("run %q is a worker of the plan %s, not of %s", e.Title, heard.Plan, name)
			return 0, nil
		case p.event.Action != "completed":
			p.notice("run %q has not ended; use `types: [completed]`", e.Title)
			return 0, nil
		}
	}
	d, err := p.build()
	if err != nil {
		return 2, err
	}
	ref := p.Getenv("GITHUB_REF")
	var went []string
	if e == nil {
		went, err = p.advanceDue(ctx, d)
	} else {
		ref, went = e.HeadBranch, []string{heard.Port}
		err = p.advance(ctx, d, plans.Awaited{Port: heard.Port, Key: heard.Key()}, "--heard-run", strconv.FormatInt(e.ID, 10))
	}
	return 0, errors.Join(err, handler.PortsEnded(ctx, p.deps, d, went, ref))
}

// advanceDue continues all ports whose workflow has ended or whose time is over: an event may be
// lost, and time causes none.
func (p planCommands) advanceDue(ctx context.Context, d *plans.Runner) ([]string, error) {
	all, err := d.Results().Awaited(ctx)
	if err != nil {
		return nil, err
	}
	var went []string
	for _, a := range all {
		err = errors.Join(err, p.advance(ctx, d, a))
		went = append(went, a.Port)
	}
	return went, err
}

// advance continues one port.
func (p planCommands) advance(ctx context.Context, d *plans.Runner, a plans.Awaited, more ...string) error {
	if _, ok := d.Plan.Port(a.Port); !ok {
		p.notice("port %s is no longer in the plan", a.Port)
		return nil
	}
	reg, err := d.Store().State(ctx)
	if err != nil {
		return err
	}
	if _, err := p.port.run(ctx, a.Port, reg.Ports[a.Port].Build, p.attempts(a.Port, reg.Ports[a.Port].Build), nil, append([]string{"--heard", a.Key}, more...)...); err != nil {
		return fmt.Errorf("going on with port %s: %w", a.Port, err)
	}
	return nil
}
