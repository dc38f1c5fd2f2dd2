package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// ended is a run of a worker of which the App has heard that it has ended.
type ended struct {
	plan.Dispatch
	run github.WorkflowRun
}

// workerEnded goes on with the port whose worker's run the event says has ended. It is
// false for a run that is none of a port's.
func (f *face) workerEnded(ctx context.Context) (bool, error) {
	e := f.event.WorkflowRun
	d, ours := plan.FindDispatch(e.Title)
	if !ours || e.Event != "workflow_dispatch" || f.event.Action != "completed" {
		return false, nil
	}
	reg, err := f.planRegister(ctx, d.Plan)
	if err != nil {
		return true, err
	}
	if _, known := reg.Ports[d.Port]; !known {
		return false, nil
	}
	if _, name := f.planPath(); d.Plan != name {
		return true, nil // a worker all the same, and no run to analyze
	}
	h := &ended{Dispatch: d}
	if h.run, err = f.hub.Run(ctx, f.repo, e.ID, 0); err != nil {
		return true, err
	}
	s, err := f.servedPlan(ctx, branchOf(reg))
	if err != nil {
		return true, err
	}
	if reg.Build.Served {
		return true, f.drive(ctx, s, h, false)
	}
	return true, f.goOnWithBuild(ctx, s, reg, h)
}

// branchOf is the branch that the workflow of a plan runs on, "" for the default one.
func branchOf(reg plan.Register) string {
	if s := reg.Build.Start; s != nil && !reg.Build.Served {
		return strings.TrimPrefix(s.Ref, "refs/heads/")
	}
	return ""
}

// goOnWithBuild takes a port on that the workflow of the plan has handed out, and
// starts that workflow if the port's end left something to do.
func (f *face) goOnWithBuild(ctx context.Context, s *served, reg plan.Register, h *ended) error {
	j, err := s.Journal(ctx, h.Port)
	if err != nil {
		return err
	}
	if j.Worker != nil && j.Worker.Key == h.Key() {
		if err := f.stepPort(ctx, s, reg, plans.Served{ID: h.Port, Known: reg.Ports[h.Port], Journal: j}, h); err != nil {
			return err
		}
	}
	if err := f.portsEnded(ctx, s.Desk, []string{h.Port}, s.branch); err != nil {
		return err
	}
	// Killed before, it is known to have ended, and the plan's workflow was not started.
	if reg, err = s.Register(ctx); err != nil || reg.Ports[h.Port].Standing == plan.IsRunning || reg.Ports[h.Port].Build != reg.Build.ID {
		return err
	}
	_, err = s.Resume(ctx, h.Port, "", "")
	return err
}

// drive goes on with a build that the App drives: with the port of which it has heard,
// and with look with all that are at work; it begins what was handed out, takes in what
// has ended, and hands out what is ready then, until nothing is. Whatever of that was
// done before, or is being done by another process, is left alone.
func (f *face) drive(ctx context.Context, s *served, h *ended, look bool) error {
	var failed error
	show := !look
	for {
		reg, all, err := s.Served(ctx)
		if err != nil || !reg.Build.Served {
			return errors.Join(failed, err)
		}
		for _, x := range all {
			if x.Ended() || !f.wants(x, h, look) {
				show = show || x.Ended()
				continue
			}
			failed = errors.Join(failed, f.stepPort(ctx, s, reg, x, h))
		}
		if err := s.TakeIn(ctx); err != nil {
			return errors.Join(failed, err)
		}
		n, err := s.HandReady(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		after, err := s.Register(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		if show = show || after.Version != reg.Version; n == 0 {
			break
		}
		h, look = nil, false
	}
	if show {
		_, err := s.Show(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}

// wants reports whether a port that is handed out is to be gone on with: it was not
// begun, or its worker not dispatched, or its worker has ended, or may have.
func (f *face) wants(x plans.Served, h *ended, look bool) bool {
	w := x.Journal.Worker
	return look || !x.Known.Begun(x.Journal) || w == nil || !w.Sent || h != nil && w.Key == h.Key()
}

// stepPort takes a port on by one step: it begins its pair, or takes in what its worker
// left, and dispatches the next worker. It waits for none.
func (f *face) stepPort(ctx context.Context, s *served, reg plan.Register, x plans.Served, h *ended) error {
	spec, ok := s.Plan.Port(x.ID)
	if !ok {
		return nil // what is no longer in the plan is not gone on with
	}
	if !worker.Away(spec) {
		return s.Broke(ctx, x.ID, errors.New("its workers are commands, for which a runner is needed; the workflow of the plan runs them with the next build"))
	}
	p := f.pair(s, reg, x, spec)
	heard := h != nil && x.Journal.Worker != nil && x.Journal.Worker.Key == h.Key()
	switch w := x.Journal.Worker; {
	case !x.Known.Begun(x.Journal):
		p.Handed = &x.Known
	case w != nil && w.Key != "":
		p.Expect = w.Key
	}
	if heard {
		p.Expect, p.Heard = h.Key(), &h.run
	}
	// It is ended by the end of the process alone: cancelled, the port would have failed.
	_, err := p.Run(context.WithoutCancel(ctx))
	switch {
	case errors.Is(err, worker.ErrBusy) && heard:
		return &github.Error{Kind: advice.Later, After: f.claimTTL(), Op: "go on with port " + x.ID, Message: "another process is at it"}
	case errors.Is(err, worker.ErrBusy), errors.Is(err, worker.ErrNotAwaited), errors.Is(err, worker.ErrTaken), errors.Is(err, worker.ErrLost):
		f.log.Info("the port is another's to go on with", "port", x.ID, "why", err)
		return nil
	case err != nil:
		return fmt.Errorf("going on with port %s: %w", x.ID, err)
	}
	return nil
}

// pair is the pair of a port whose workers are workflows, as this process takes it on.
func (f *face) pair(s *served, reg plan.Register, x plans.Served, spec plan.Spec) *worker.Pair {
	me := worker.Self(f.env.Getenv)
	me.Run = x.Known.Run
	ref := cmp.Or(branchOf(reg), s.branch)
	return &worker.Pair{
		Desk:  &worker.Desk{Ledger: f.led, Key: routing.PortKey(f.repo.String(), s.Name, x.ID), Port: x.ID, Now: f.now},
		Edges: &requests.Book{Ledger: f.led, Repo: f.repo.String(), Build: reg.Build.Feedback, Plan: s.Plan, Now: f.now},
		Plan:  s.Name, Spec: spec, Settings: s.Settings, Build: reg.Build.ID, Hash: s.files.Hash, Me: me, Silent: f.claimTTL(),
		Root: f.temp(), Dir: filepath.Join(f.temp(), "port", x.ID), Rules: f.rules, Criteria: f.config.CriteriaOf(x.ID), Language: f.config.Language,
		Workflows: &worker.Workflows{Remote: f.hub, Repo: f.repo, Ref: "refs/heads/" + ref, Claim: f.claimTTL(), Leave: true, Patience: patience},
	}
}
