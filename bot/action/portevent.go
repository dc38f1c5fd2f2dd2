package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/routing/plan"
)

// portEvent goes on with ports whose workers are workflows and whose jobs do not
// wait: with the one whose workflow the event says has ended, or, if it is another
// event, with all that are due. What ended is taken in, and the plan's workflow is
// started if there is something to do then.
func (f *face) portEvent(ctx context.Context) (int, error) {
	_, name := f.planPath()
	e := f.event.WorkflowRun
	var heard plan.Dispatch
	if e != nil {
		ours := false
		heard, ours = plan.FindDispatch(e.Title)
		switch {
		case e.Event != "workflow_dispatch" || !ours:
			f.notice("run %q is no worker of a port", e.Title)
			return 0, nil
		case heard.Plan != name:
			f.notice("run %q is a worker of the plan %s, not of %s", e.Title, heard.Plan, name)
			return 0, nil
		case f.event.Action != "completed":
			f.notice("run %q has not ended; use `types: [completed]`", e.Title)
			return 0, nil
		}
	}
	d, err := f.builder()
	if err != nil {
		return 2, err
	}
	ref := f.env.Getenv("GITHUB_REF")
	var went []string
	if e == nil {
		went, err = f.awaited(ctx, d)
	} else {
		ref, went = e.HeadBranch, []string{heard.Port}
		err = f.goOnWith(ctx, d, plans.Awaited{Port: heard.Port, Key: heard.Key()}, "--heard-run", strconv.FormatInt(e.ID, 10))
	}
	return 0, errors.Join(err, f.portsEnded(ctx, d, went, ref))
}

// awaited goes on with all ports whose workflow has ended or whose time is over:
// an event may be lost, and time makes none.
func (f *face) awaited(ctx context.Context, d *plans.Desk) ([]string, error) {
	all, err := d.Awaited(ctx)
	if err != nil {
		return nil, err
	}
	var went []string
	for _, a := range all {
		err = errors.Join(err, f.goOnWith(ctx, d, a))
		went = append(went, a.Port)
	}
	return went, err
}

func (f *face) goOnWith(ctx context.Context, d *plans.Desk, a plans.Awaited, more ...string) error {
	if _, ok := d.Plan.Port(a.Port); !ok {
		f.notice("port %s is no longer in the plan", a.Port)
		return nil
	}
	reg, err := d.Register(ctx)
	if err != nil {
		return err
	}
	if _, err := f.runPort(ctx, a.Port, reg.Ports[a.Port].Build, nil, append([]string{"--heard", a.Key}, more...)...); err != nil {
		return fmt.Errorf("going on with port %s: %w", a.Port, err)
	}
	return nil
}

// portsEnded takes in which ports have ended, shows the plan, and starts its workflow
// for what is ready then.
func (f *face) portsEnded(ctx context.Context, d *plans.Desk, went []string, ref string) error {
	ended, err := d.Ended(ctx, went)
	if err != nil || len(ended) == 0 {
		return err
	}
	if _, err := d.Show(ctx); err != nil {
		fmt.Fprintf(f.env.Stdout, "::warning title=Switchback::%s\n", escapeData("the plan's issue: "+err.Error()))
	}
	file, err := d.Resume(ctx, ended[0], f.in.Ports.Dispatch, ref)
	if err != nil {
		return fmt.Errorf("ports are ready, and going on in another run failed; the workflow of the plan needs `workflow_dispatch` with the input build, and this job `actions: write`: %w", err)
	}
	if file != "" {
		f.notice("port %s has ended; %s goes on with the plan", ended[0], file)
	}
	return nil
}
