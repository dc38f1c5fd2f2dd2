package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchback-ci/switchback/bot/advice"
	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/plans"
	"github.com/switchback-ci/switchback/bot/plans/requests"
	"github.com/switchback-ci/switchback/bot/plans/worker"
	"github.com/switchback-ci/switchback/routing"
	"github.com/switchback-ci/switchback/routing/plan"
)

// planDriver drives the builds of the repository's plan without a runner: its workers are workflows.
type planDriver struct{ Deps }

// Builds continues the builds of plans of ports after what people decided.
type Builds interface {
	// Next begins the next build of a plan unless begun, and continues it. done is false where
	// the plan's workflow has to do that.
	Next(ctx context.Context, d Deps, plan string, reg plan.BuildState, key string, begun bool) (done bool, err error)
	// Sending returns an error that says when to come back while another process may still send the
	// dispatch of a workflow that it recorded at a time.
	Sending(d Deps, workflow string, at time.Time) error
	// Reconcile continues ports whose workers ended without an event.
	Reconcile(ctx context.Context, d Deps) error
}

// WorkflowBuilds implements Builds where workflows run all plans.
type WorkflowBuilds struct{}

// Next implements Builds.
func (WorkflowBuilds) Next(context.Context, Deps, string, plan.BuildState, string, bool) (bool, error) {
	return false, nil
}

// Sending implements Builds. A run of the Action has no other process beside it.
func (WorkflowBuilds) Sending(Deps, string, time.Time) error { return nil }

// Reconcile implements Builds.
func (WorkflowBuilds) Reconcile(context.Context, Deps) error { return nil }

// ServedBuilds implements Builds where a server drives the plans that need no runner.
type ServedBuilds struct{}

// Next implements Builds.
func (ServedBuilds) Next(ctx context.Context, d Deps, name string, reg plan.BuildState, key string, begun bool) (bool, error) {
	return planDriver{d}.next(ctx, name, reg, key, begun)
}

// Sending implements Builds.
func (ServedBuilds) Sending(d Deps, workflow string, at time.Time) error {
	if left := d.LeaseTTL - d.Now().Sub(at); left > 0 {
		return &github.Error{Kind: advice.Later, After: left, Op: "start " + workflow, Message: "another process may have begun that"}
	}
	return nil
}

// Reconcile implements Builds.
func (ServedBuilds) Reconcile(ctx context.Context, d Deps) error {
	return planDriver{d}.reconcile(ctx)
}

// portWorker continues the port whose worker's run has ended.
type portWorker struct{ planDriver }

// endedWorker is the run of a port's worker that an event says has ended.
type endedWorker struct {
	plan.Dispatch
	run github.WorkflowRun
}

// Handle implements Handler. It is done with an event only if the run is a port's.
func (h portWorker) Handle(ctx context.Context, event *Event) (bool, error) {
	e := event.WorkflowRun
	d, ours := plan.FindDispatch(e.Title)
	if !ours || e.Event != "workflow_dispatch" || event.Action != "completed" {
		return false, nil
	}
	reg, err := planRegister(ctx, h.Deps, d.Plan)
	if err != nil {
		return true, err
	}
	if _, known := reg.Ports[d.Port]; !known {
		return false, nil
	}
	if d.Plan != h.Options.PlanName {
		return true, nil // a worker all the same, and no run to analyze
	}
	w := &endedWorker{Dispatch: d}
	if w.run, err = h.GitHub.Runs.Get(ctx, h.Repo, e.ID, 0); err != nil {
		return true, err
	}
	s, err := h.read(ctx, branchOf(reg))
	if err != nil {
		return true, err
	}
	if reg.Build.Served {
		return true, h.drive(ctx, s, w, false)
	}
	return true, h.resumeBuild(ctx, s, reg, w)
}

// branchOf is the branch that the workflow of a plan runs on, "" for the default one.
func branchOf(reg plan.BuildState) string {
	if s := reg.Build.Start; s != nil && !reg.Build.Served {
		return strings.TrimPrefix(s.Ref, "refs/heads/")
	}
	return ""
}

// resumeBuild continues a port that the workflow of the plan has assigned, and starts that workflow
// if the port's end left something to do.
func (h planDriver) resumeBuild(ctx context.Context, s *served, reg plan.BuildState, w *endedWorker) error {
	j, err := s.Store().Journal(ctx, w.Port)
	if err != nil {
		return err
	}
	if j.Worker != nil && j.Worker.Key == w.Key() {
		if err := h.stepPort(ctx, s, reg, plans.ServedPort{ID: w.Port, Known: reg.Ports[w.Port], Journal: j}, w); err != nil {
			return err
		}
	}
	if err := PortsEnded(ctx, h.Deps, s.Runner, []string{w.Port}, s.branch); err != nil {
		return err
	}
	// A process that was killed before may have recorded the end without starting the workflow.
	if reg, err = s.Store().State(ctx); err != nil || reg.Ports[w.Port].Standing == plan.IsRunning || reg.Ports[w.Port].Build != reg.Build.ID {
		return err
	}
	_, err = s.Starter().Resume(ctx, w.Port, "", "")
	return err
}

// drive continues a build that the App drives: with the port of an ended worker, or, with look, with
// all that are in progress. It begins what was assigned, takes in what has ended, and assigns what is
// ready then, until nothing is. What another process does, or did before, is left alone.
func (h planDriver) drive(ctx context.Context, s *served, w *endedWorker, look bool) error {
	var failed error
	show := !look
	for {
		reg, all, err := s.Served().Ports(ctx)
		if err != nil || !reg.Build.Served {
			return errors.Join(failed, err)
		}
		for _, x := range all {
			if x.Ended() || !wants(x, w, look) {
				show = show || x.Ended()
				continue
			}
			failed = errors.Join(failed, h.stepPort(ctx, s, reg, x, w))
		}
		if err := s.Served().RecordResults(ctx); err != nil {
			return errors.Join(failed, err)
		}
		n, err := s.Served().AssignReady(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		after, err := s.Store().State(ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		if show = show || after.Version != reg.Version; n == 0 {
			break
		}
		w, look = nil, false
	}
	if show {
		_, err := s.Issue().Show(ctx)
		failed = errors.Join(failed, err)
	}
	return failed
}

// wants reports whether an assigned port needs a step: it was not begun, or its worker not dispatched,
// or its worker has ended, or may have.
func wants(x plans.ServedPort, w *endedWorker, look bool) bool {
	sent := x.Journal.Worker
	return look || !x.Known.Begun(x.Journal) || sent == nil || !sent.Sent || w != nil && sent.Key == w.Key()
}

// stepPort advances a port by one step: it begins its loop of implementer and tester, or takes in what
// its worker left, and dispatches the next worker. It waits for none.
func (h planDriver) stepPort(ctx context.Context, s *served, reg plan.BuildState, x plans.ServedPort, w *endedWorker) error {
	spec, ok := s.Plan.Port(x.ID)
	if !ok {
		return nil // a port that left the plan
	}
	if !worker.Away(spec) {
		return s.Results().Fail(ctx, x.ID, errors.New("its workers are commands, for which a runner is needed; the workflow of the plan runs them with the next build"))
	}
	dir, err := os.MkdirTemp(h.Options.Temp, "switchback-port-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := h.pair(s, reg, x, spec, dir)
	heard := w != nil && x.Journal.Worker != nil && x.Journal.Worker.Key == w.Key()
	switch sent := x.Journal.Worker; {
	case !x.Known.Begun(x.Journal):
		p.Handed = &x.Known
	case sent != nil && sent.Key != "":
		p.Expect = sent.Key
	}
	if heard {
		p.Expect, p.Heard = w.Key(), &w.run
	}
	// Only the end of the process ends it: if it were cancelled, the port would fail.
	_, err = p.Run(context.WithoutCancel(ctx))
	switch {
	case errors.Is(err, worker.ErrBusy) && heard:
		return &github.Error{Kind: advice.Later, After: h.LeaseTTL, Op: "go on with port " + x.ID, Message: "another process is at it"}
	case errors.Is(err, worker.ErrBusy), errors.Is(err, worker.ErrNotAwaited), errors.Is(err, worker.ErrTaken), errors.Is(err, worker.ErrLost):
		h.Log.Info("the port is another's to go on with", "port", x.ID, "why", err)
		return nil
	case err != nil:
		return fmt.Errorf("going on with port %s: %w", x.ID, err)
	}
	return nil
}

// pair is the loop of a port whose workers are workflows, as this process advances it.
func (h planDriver) pair(s *served, reg plan.BuildState, x plans.ServedPort, spec plan.Spec, dir string) *worker.Pair {
	me := worker.Self(func(string) string { return "" }) // no runner of GitHub Actions
	me.Run = x.Known.Run
	ref := cmp.Or(branchOf(reg), s.branch)
	return &worker.Pair{
		Journal:  &worker.Journal{Ledger: h.Ledger, Key: routing.PortKey(h.Repo.String(), s.Name, x.ID), Port: x.ID, Now: h.Now},
		Requests: &requests.Store{Ledger: h.Ledger, Repo: h.Repo.String(), Build: reg.Build.Feedback, Plan: s.Plan, Now: h.Now},
		Plan:     s.Name, Spec: spec, Settings: s.Settings, Build: reg.Build.ID, Hash: s.files.Hash, Me: me, Silent: h.LeaseTTL,
		Root: dir, Dir: filepath.Join(dir, "port", x.ID), Rules: h.Rules, Criteria: h.Config.CriteriaOf(x.ID), Language: h.Config.Language,
		Workflows: &worker.Workflows{GitHub: h.GitHub, Repo: h.Repo, Ref: "refs/heads/" + ref, LeaseTTL: h.LeaseTTL, Leave: true, Patience: Patience},
	}
}

// next begins the next build of a plan that the App drives, unless one has begun since what was
// decided, and drives it. done is false if the App does not drive it.
func (h planDriver) next(ctx context.Context, name string, reg plan.BuildState, key string, begun bool) (done bool, err error) {
	if !reg.Build.Served || name != h.Options.PlanName {
		return false, nil
	}
	s, err := h.read(ctx, "")
	if err != nil || !h.drives(s.Plan) {
		return false, err
	}
	if !begun {
		if err := s.Served().Begin(ctx, key, nil); err != nil {
			return true, err
		}
	}
	return true, h.drive(ctx, s, nil, false)
}

// reconcile looks after the ports of the plan: those whose workers have ended or are over their time
// without an event, those that were assigned and not begun, and those that are ready.
func (h planDriver) reconcile(ctx context.Context) error {
	reg, err := planRegister(ctx, h.Deps, h.Options.PlanName)
	if err != nil || reg.Build.ID == "" || !reg.Build.Served && h.Config.Ports.Drive != "events" {
		return err
	}
	s, err := h.read(ctx, branchOf(reg))
	if err != nil {
		return err
	}
	if reg.Build.Served {
		return h.drive(ctx, s, nil, true)
	}
	all, err := s.Results().Awaited(ctx)
	if err != nil {
		return err
	}
	var went []string
	for _, a := range all {
		j, jerr := s.Store().Journal(ctx, a.Port)
		if jerr == nil {
			jerr = h.stepPort(ctx, s, reg, plans.ServedPort{ID: a.Port, Known: reg.Ports[a.Port], Journal: j}, nil)
		}
		err, went = errors.Join(err, jerr), append(went, a.Port)
	}
	return errors.Join(err, PortsEnded(ctx, h.Deps, s.Runner, went, s.branch))
}

// PortsEnded takes in which ports have ended, shows the plan, and starts its workflow for what is ready
// then; ref is the branch that it runs on, "" for the default one.
func PortsEnded(ctx context.Context, d Deps, build *plans.Runner, advanced []string, ref string) error {
	ended, err := build.Results().Collect(ctx, advanced)
	if err != nil || len(ended) == 0 {
		return err
	}
	if _, err := build.Issue().Show(ctx); err != nil {
		d.Reporter.Warning("the plan's issue: " + err.Error())
	}
	file, err := build.Starter().Resume(ctx, ended[0], d.Options.Resume, ref)
	if err != nil {
		return fmt.Errorf("ports are ready, and going on in another run failed; the workflow of the plan needs `workflow_dispatch` with the input build, and this job `actions: write`: %w", err)
	}
	if file != "" {
		d.notice("port %s has ended; %s goes on with the plan", ended[0], file)
	}
	return nil
}
